"""`penstock.run`: runs a graph on given packets and returns the packets of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import GraphRunError, InvalidArgumentError, StreamClosedError, WaitTimeoutError
from penstock.functions.feeding import Feed, check_iterable
from penstock.near_names import did_you_mean
from penstock.runtime.graph import CalculatorGraph
from penstock.shown import shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock.engine.packet import Packet
    from penstock.registry import Registry


class Outputs(dict[str, "list[Packet]"]):
    """What a run has returned: stream → packets. The `KeyError` of another name says which ones there are."""

    def __missing__(self, name: object) -> list[Packet]:
        there = ", ".join(map(repr, self)) or "none"
        meant = did_you_mean(name, self) if isinstance(name, str) else ""
        raise KeyError(
            f"running the graph returned no stream {name!r}{meant}; there are: {there}. An output_stream "
            "that no node writes is left out; `penstock validate` says which one"
        )


def run(  # noqa: PLR0913  # each is one thing that a run can have
    graph_config: str | Path | Any,
    inputs: Mapping[str, Iterable[Packet | tuple[int, object]]] | None = None,
    side_packets: Mapping[str, Any] | None = None,
    streams: Iterable[str] | None = None,
    *,
    paced: bool = True,
    timeout: float | None = None,
    registry: Registry | None = None,
    subgraphs: Mapping[str, object] | Iterable[object] = (),
) -> dict[str, list[Packet]]:
    """Run a graph once and return the packets of its outputs; the run and its threads end with the call.

    The inputs are fed in order of time across all of them, and the bound of each is raised as soon as its
    next packet is known. Inputs may be generators, which are read one packet ahead. If the graph stops by
    itself (a node returned STOP), feeding ends there.

    Args:
        graph_config: as for `CalculatorGraph`.
        inputs: graph input → packets, or pairs of timestamp (microseconds by convention) and payload,
            timestamps increasing. Every graph input must be named; `[]` means no packets.
        side_packets: name → payload (or Packet).
        streams: names of the streams to return; None for all graph outputs.
        paced: whether the packets of a timestamp are added only when the graph is idle, so that limiters
            drop nothing and results do not depend on speed. False: as fast as full queues allow, so that
            nodes work on several timestamps at once. A graph with sources of its own is always fed like
            that, since it may never be idle.
        timeout: how long the whole call may take, in seconds; None for no limit.
        registry: where names are looked up; None for what the installed plugins provide.
        subgraphs: as for `CalculatorGraph`.

    Returns:
        Stream → its packets, in order; all of them are kept in memory. An output that no node writes is left
        out.

    Raises:
        InvalidArgumentError: a graph input is not named in `inputs`, what is given for it is no iterable,
            an item is no packet, or `streams` is a str.
        NotFoundError: there is no such graph input or stream.
        TimestampOrderError: an input goes back in time.
        GraphRunError: the run failed; carries every error of it.
        WaitTimeoutError: it took longer than `timeout`; says what it waited for. The run is cancelled.
        As `CalculatorGraph` and `start_run`, and whatever an iterable raises: the run is cancelled then.
    """
    graph = CalculatorGraph(graph_config, side_packets, registry, subgraphs=subgraphs)
    inputs = {} if inputs is None else inputs
    _check_inputs(graph, inputs)
    collected: dict[str, list[Packet]] = {}
    for name in graph.output_streams if streams is None else _names(streams):
        collected[name] = []
        graph.observe_output_stream(name, lambda name, packet: collected[name].append(packet))
    deadline: Final = None if timeout is None else monotonic() + timeout

    def left() -> float | None:
        return None if deadline is None else max(0.0, deadline - monotonic())

    with graph:
        graph.start_run()
        feed = Feed(graph, inputs, promises=True, paced=paced and not graph.has_sources, left=left)
        try:
            _feed(feed)
            graph.wait_until_done(left())
        except WaitTimeoutError:
            raise WaitTimeoutError(f"run() took longer than {timeout} s\n{graph.why()}") from None
    found = Outputs(collected)
    collected.clear()  # the graph, which may be garbage for a while, keeps no packet
    return found


def _feed(feed: Feed) -> None:
    """Feed until all packets are added, or the run ends by itself; waiting for its end then raises why."""
    try:
        feed.run()
    except (StreamClosedError, GraphRunError):
        if feed.is_reading:  # not of this run: an iterable may get its packets from another run
            raise


def _names(streams: Iterable[str]) -> list[str]:
    if isinstance(streams, str):
        raise InvalidArgumentError(
            f"the run's streams {streams!r}: a str, where several names are meant; write "
            f"streams=[{streams!r}]"
        )
    return list(dict.fromkeys(streams))


def _check_inputs(graph: CalculatorGraph, inputs: object) -> None:
    if not isinstance(inputs, Mapping):
        raise InvalidArgumentError(
            f"run(graph): inputs={shown(inputs)} is a {type(inputs).__name__!r}; name the graph input "
            "that it is for, as in {'in': [(timestamp, payload)]}"
        )
    for name, items in inputs.items():
        graph.check_input_stream(name)
        check_iterable(name, items)
    missing = [name for name in graph.input_streams if name not in inputs]
    if missing:
        names = ", ".join(map(repr, missing))
        raise InvalidArgumentError(
            f"run(graph): nothing is given for graph input {names}; name it in inputs, with [] for no "
            "packets",
            stream=missing[0],
        )
