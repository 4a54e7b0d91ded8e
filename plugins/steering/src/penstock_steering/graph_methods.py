"""`set_options`, `swap` and `reset`, to which the methods of a graph lead; a graph's changes, made again."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

from penstock import Packet, Timestamp
from penstock.errors import TimestampError, WaitTimeoutError
from penstock.lowlevel import MAX, PRESTREAM, UNSTARTED, show
from penstock.runs import runs_of
from penstock_steering.change import CHANGES, Change, ChangeKind, Changes
from penstock_steering.steering import Steering

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    from penstock import CalculatorGraph
    from penstock.runs import GraphRuns


def set_options(runs: GraphRuns, node: str, options: object, at: SupportsIndex | None = None) -> Timestamp:
    """Give a node other options while its calculator works; `CalculatorGraph.set_options` calls it.

    The calculator must have a method `options_changed(cc)`. It is called on the node's executor, between two
    calls of `process`, before the first whose input timestamp is not below `at`; `cc` is the context of that
    call: its timestamp and inputs can be read, `cc.options(...)` returns the new options, and nothing can be
    written. It may be `async`. What it raises ends the run, as an error of that call. For a source, `at` is
    compared with the bound of its outputs when `process` is called.

    Without a run under way the options count from the start of the next run, which opens the calculator with
    them, or, with `at`, from then on in the next run. Options that have come into effect stay for later runs.

    Args:
        runs: of the graph.
        node: its name in the graph.
        options: an options message of the calculator, or an instance of its attrs class, which replaces the
            options of that class; or a dict of fields, which replace those fields in what the node has just
            before `at` now. They are checked as when a graph is loaded.
        at: a timestamp, also below those of changes that wait already; None: the next call that has not
            begun.

    Returns:
        The timestamp from which the options count: with it the same change can be made again, in another run.
        UNSTARTED: from the start of the next run.

    Raises:
        NotFoundError: the graph has no such node; names the most similar one.
        InvalidArgumentError, GraphConfigError: the options are none of the calculator's, or are refused.
        TimestampError: no packet can have the timestamp `at`.
        TimestampOrderError: `process` has begun for `at` or later; says for which timestamp.
        FailedPreconditionError: the calculator has no `options_changed`; or calls of the node may overlap
            (`max_in_flight`), it has a failure policy, works in another process, or has closed; or the run is
            recorded, and the recorded streams have ended. Says what to do. In each of these cases nothing has
            changed, and the graph goes on.
        GraphRunError: the run has failed.
    """
    return _steering(runs).change(runs, node, ChangeKind.SET_OPTIONS, options, None, _stamp(at))


def swap(
    runs: GraphRuns,
    node: str,
    options: object = None,
    calculator: str | None = None,
    at: SupportsIndex | None = None,
) -> Timestamp:
    """Open another calculator beside that of a node, and let it take over; `CalculatorGraph.swap` calls it.

    `open` of the new object runs on the calling thread, a coroutine of it on the graph's event loop, while
    the graph goes on with the old one. It gets the node's side packets and headers; it may write no packets,
    and its headers, offsets and process bounds must be those that the node has. From the first call on whose
    input timestamp is not below `at` the new object gets the calls, each input set once. The old one is
    closed after its last call, on the node's executor. What it writes in `close` is delivered before what the
    new one writes, and must have timestamps below that call's; with `max_in_flight` above 1 it may write
    nothing there.

    Without a run under way the next run begins with the other calculator; or, with `at`, opens it at its
    start, beside the node's own. What has taken over stays for later runs.

    Args:
        runs: of the graph.
        node: its name in the graph.
        options: as for `set_options`; None: those that the node has, or the defaults of another calculator.
        calculator: registered name of another one, with the same ports and types; None: the same.
        at: as for `set_options`.

    Returns:
        As `set_options`.

    Raises:
        CalculatorError: the new object cannot be made, or its `open` failed. The graph goes on with the old
            one, and nothing of the new one stays open.
        UnknownNameError, PluginError: there is no such calculator.
        WaitTimeoutError: the node was not opened within 30 s, for want of a header or side packet, say.
        As `set_options`; FailedPreconditionError also where the node makes side packets, or runs on a thread
            of a service, or the call comes from inside of the run.
    """
    return _steering(runs).change(runs, node, ChangeKind.SWAP, options, calculator, _stamp(at))


def reset(
    runs: GraphRuns,
    side_packets: Mapping[str, Any] | None = None,
    stream_headers: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> None:
    """End the run under way, and start the next with the same calculators; `CalculatorGraph.reset` calls it.

    Graph inputs and sources end as by `close_all_packet_sources`, and the end of the run is waited for. Then
    a run begins as by `start_run`: timestamps start anew, observers and pollers stay. Calculators that have a
    method `reset(cc)` are not closed in between, and `reset(cc)` is called in the place of `open` in the next
    run, with a context as `open` has: it must set headers and offsets, and forget what it remembers of the
    last run. All others are closed, made again and opened. Without a run under way it starts one: where the
    first run is started so, too, all runs leave their calculators to the next, also those that ended by
    themselves.

    A kept calculator is closed when the graph is closed or dropped, when `start_run` starts a run, or when
    its own run fails. It cannot write in `close` then. Calculators of nodes in other processes, with a
    failure policy, or on threads of a service are not kept.

    Args:
        runs: of the graph.
        side_packets: of the next run, as for `start_run`.
        stream_headers: likewise.
        timeout: how long to wait for the end of the run under way, in seconds; None for no limit.

    Raises:
        GraphRunError: the run under way has failed. It is over, kept calculators are closed, and no run
            begins.
        WaitTimeoutError: it did not end in time; it goes on to its end, and no run begins.
        CalculatorError: a calculator that is not kept for the next run failed to close.
        As `start_run`; kept calculators stay then, for the next call.
    """
    steering = _steering(runs)
    runner = runs.runner
    if runner is not None and runs.is_running:
        runner.refuse_inside("reset()")
        runner.change(steering.keep_all, runner)
        runner.change(lambda schedule: schedule.close_sources())
        try:
            runs.wait_until_done(timeout, runner)  # not of one that another thread has begun since
        except WaitTimeoutError:
            raise
        except BaseException as error:
            steering.kept.close_after(error)
            raise
    with steering.keeping():
        runs.start(side_packets, stream_headers)


def changes(graph: CalculatorGraph) -> tuple[Change, ...]:
    """Return the changes of the run under way, or of the last one.

    Those that count from the start of the run come first, the others follow in the order of the calls; also
    those whose time has not come. `apply` makes them again.
    """
    log = graph.get_service(CHANGES)
    return () if log is None else log.made


def apply(graph: CalculatorGraph, change: Change) -> Timestamp:
    """Make a change of another run again, before a run; raises as `set_options` and `swap`."""
    runs = runs_of(graph)
    at = None if change.at == UNSTARTED else int(change.at)
    return _steering(runs).change(runs, change.node, change.kind, change.options, None, at)


def _steering(runs: GraphRuns) -> Steering:
    """Return what steers a graph, from its first change on."""
    steering = runs.steering
    if not isinstance(steering, Steering):
        steering = runs.steer(Steering(runs.plan, _log(runs)))
    assert isinstance(steering, Steering)  # there is one layer of this name  # noqa: S101
    return steering


def _log(runs: GraphRuns) -> Changes:
    log = runs.services.setdefault(CHANGES, Changes())
    assert isinstance(log, Changes)  # the key says so  # noqa: S101
    return log


def _stamp(at: SupportsIndex | None) -> int | None:
    """Return a timestamp as an int; None for UNSTARTED, the start of a run.

    Raises:
        TimestampError: no packet can have it.
    """
    if at is None or index(at) == UNSTARTED:
        return None
    stamp = Packet(timestamp=at).stamp
    if not PRESTREAM <= stamp <= MAX:
        raise TimestampError(
            f"the graph's methods take no at={show(stamp)}: it must be a timestamp that a packet in a stream "
            "can have, or None"
        )
    return stamp


class SteeringLayer:
    """The layer "steering"; see `penstock.lowlevel.SteeringLayer`."""

    set_options = staticmethod(set_options)
    swap = staticmethod(swap)
    reset = staticmethod(reset)
