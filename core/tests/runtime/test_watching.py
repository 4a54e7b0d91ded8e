"""`CalculatorGraph.watch_stream`: observers that come and go while a graph runs."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import penstock
from penstock.engine.node import CLOSED
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    WaitTimeoutError,
)
from penstock.runtime.build import TAKES_SHORT_CUTS
from penstock.tracing import Tracer
from penstock_testing import calculator, testing_registry
from penstock_testing.invariants import check_invariants

TIMEOUT = 20
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Odd = calculator(
    lambda cc: cc.output.add_packet(cc.input.packet) if cc.input.payload % 2 else None, name="Odd", offset=0
)
Packet = penstock.Packet
CHAIN = [(Pass, "in", "a"), (Pass, "a", "b"), (Pass, "b", "out")]
TWICE = 2


def feed(graph, numbers, stream: str = "in") -> None:
    for number in numbers:
        graph.add_packet_to_input_stream(stream, Packet(number, number))


def relays(graph) -> list[bool]:
    return [node.relay is not None for node in graph._runs.runner.schedule.nodes]


@pytest.mark.parametrize("threads", [0, 1, 2, 8])
@pytest.mark.parametrize("stream", ["in", "a", "out"])
def test_a_watcher_sees_exactly_what_is_written_between_the_two_calls(make, threads, stream) -> None:
    seen: list[int] = []
    everything: list[int] = []
    graph = make(CHAIN, "in", threads=threads)
    graph.observe_output_stream("out", lambda _, p: everything.append(p.payload))
    graph.start_run()
    feed(graph, range(50))
    graph.wait_until_idle(TIMEOUT)
    unwatch = graph.watch_stream(stream, lambda name, p: seen.append((name, p.payload)))
    feed(graph, range(50, 120))
    graph.wait_until_idle(TIMEOUT)
    unwatch()
    feed(graph, range(120, 150))
    graph.close(TIMEOUT)

    assert seen == [(stream, number) for number in range(50, 120)]
    assert everything == list(range(150))


@pytest.mark.parametrize("threads", [0, 1, 2, 8])
def test_a_watcher_that_comes_and_goes_in_full_flow_sees_a_contiguous_piece_in_order(make, threads) -> None:
    seen: list[int] = []
    everything: list[int] = []
    graph = make(CHAIN, "in", threads=threads)
    graph.observe_output_stream("out", lambda _, p: everything.append(p.payload))
    graph.start_run()
    unwatch = None
    for number in range(3000):
        if number == 1000:
            unwatch = graph.watch_stream("b", lambda _, p: seen.append(p.payload))
        if number == 2000:
            unwatch()
        feed(graph, [number])
    graph.close(TIMEOUT)

    assert seen
    assert seen == list(range(seen[0], seen[0] + len(seen)))
    assert everything == list(range(3000))


@pytest.mark.parametrize("threads", [0, 1, 2, 8])
def test_a_thousand_watchers_come_and_go_and_no_packet_is_lost_or_doubled(make, threads) -> None:
    everything: list[int] = []
    pieces: list[list[int]] = []
    done = threading.Event()
    failures: list[BaseException] = []
    graph = make(CHAIN, "in", threads=threads)
    graph.observe_output_stream("out", lambda _, p: everything.append(p.payload))
    graph.start_run()

    def watch() -> None:
        try:
            for number in range(1000):
                piece: list[int] = []
                pieces.append(piece)
                unwatch = graph.watch_stream(
                    "ab"[number % 2], lambda _, p, piece=piece: piece.append(p.payload)
                )
                unwatch()
                graph._runs.runner.ask(check_invariants)
        except BaseException as error:  # noqa: BLE001  # shown by the test
            failures.append(error)
        finally:
            done.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    count = 0
    while not done.is_set() or count < 100:
        feed(graph, [count])
        count += 1
    watcher.join(TIMEOUT)
    schedule = graph._runs.runner.schedule
    graph.close(TIMEOUT)

    assert failures == []
    assert everything == list(range(count))
    assert all(piece == list(range(piece[0], piece[0] + len(piece))) for piece in pieces if piece)
    assert [len(stream.observers) for stream in schedule.streams] == [0, 0, 0, 1]
    assert graph.ledger().adds_up


@pytest.mark.skipif(not TAKES_SHORT_CUTS, reason="the environment has PENSTOCK_SHORTCUTS=0")
def test_the_short_cut_past_the_queue_comes_back_when_the_last_watcher_has_left(make) -> None:
    graph = make(CHAIN, "in", threads=0)
    graph.start_run()
    closed = relays(graph)
    graph.wait_until_idle(TIMEOUT)
    before = relays(graph)
    first = graph.watch_stream("a", lambda *_: None)
    second = graph.watch_stream("a", lambda *_: None)
    both = relays(graph)
    first()
    one = relays(graph)
    second()
    second()
    after = relays(graph)
    graph.close(TIMEOUT)

    assert closed == relays(graph) == [False, False, False]  # only nodes that are open have it
    assert before == after == [True, True, False]
    assert both == one == [False, True, False]


@pytest.mark.parametrize("stamp", [penstock.Timestamp.PRESTREAM, penstock.Timestamp.POSTSTREAM])
def test_a_step_at_an_extreme_timestamp_that_writes_an_ordinary_packet_ends_as_others_do(make, stamp) -> None:
    inside, leave = threading.Event(), threading.Event()
    seen: list[int] = []

    def write(cc):
        inside.set()
        assert leave.wait(TIMEOUT)
        cc.output.add(0, 5)

    writes = calculator(write, name="Writes")
    graph = make([(writes, "in", "a"), (Pass, "a", "out")], "in", threads=2)
    graph.observe_output_stream("out", lambda _, packet: seen.append(int(packet.timestamp)))
    graph.start_run()
    unwatch = graph.watch_stream("a", lambda *_: None)
    graph.add_packet_to_input_stream("in", Packet(0, stamp))
    assert inside.wait(TIMEOUT)
    unwatch()  # from here on packets may go past the queue of `a`
    leave.set()
    graph.wait_until_idle(TIMEOUT)

    states = [node.state for node in graph._runs.runner.schedule.nodes]
    assert states == [CLOSED] * 2
    graph.close(TIMEOUT)
    assert seen == [5]


def test_a_watcher_sees_settled_timestamps_if_it_asks_for_them(make) -> None:
    seen: list[tuple[int, bool]] = []
    graph = make([(Odd, "in", "out")], "in", threads=0)
    graph.start_run()
    feed(graph, [0, 1])
    graph.wait_until_idle(TIMEOUT)
    graph.watch_stream(
        "out", lambda _, p: seen.append((int(p.timestamp), p.is_empty())), observe_timestamp_bounds=True
    )
    feed(graph, [2, 3, 4])
    graph.close(TIMEOUT)

    assert seen == [(2, True), (3, False), (4, True)]


def test_a_watcher_may_leave_from_inside_its_own_callback_and_is_called_once(make) -> None:
    seen: list[int] = []
    leave: list[object] = []

    def once(_, packet):
        seen.append(packet.payload)
        leave[0]()

    graph = make(CHAIN, "in", threads=1)
    graph.start_run()
    leave.append(graph.watch_stream("a", once))
    for number in range(5):
        feed(graph, [number])
        graph.wait_until_idle(TIMEOUT)
    schedule = graph._runs.runner.schedule
    graph.close(TIMEOUT)

    assert seen == [0]
    assert all(stream.observers == () for stream in schedule.streams)


def test_a_watcher_that_leaves_while_it_is_called_sees_what_was_written_before(make) -> None:
    inside, leave, written = threading.Event(), threading.Event(), threading.Event()
    seen: list[int] = []

    def slow(_, packet):
        inside.set()
        assert leave.wait(TIMEOUT)
        seen.append(packet.payload)

    graph = make([(Pass, "in", "out"), (Pass, "out", "behind")], "in", threads=2)
    graph.observe_output_stream("behind", lambda _, packet: written.set() if packet.payload else None)
    graph.start_run()
    unwatch = graph.watch_stream("out", slow)
    feed(graph, [0])
    assert inside.wait(TIMEOUT)
    unwatch()
    graph._runs.runner.ask(check_invariants)
    with pytest.raises(WaitTimeoutError):
        graph.wait_until_idle(0.02)  # the run waits for it, as for any observer
    feed(graph, [1])
    assert written.wait(TIMEOUT)
    leave.set()
    schedule = graph._runs.runner.schedule
    graph.close(TIMEOUT)

    assert seen == [0]
    assert [len(stream.observers) for stream in schedule.streams] == [0, 0, 1]


def test_an_exception_of_a_watcher_is_an_error_of_the_run_and_not_of_the_next(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    graph.start_run()
    graph.watch_stream("out", lambda *_: 1 / 0)
    feed(graph, [0])
    with pytest.raises(GraphRunError, match=r"observer of stream 'out'.*ZeroDivisionError"):
        graph.close(TIMEOUT)
    graph.start_run()
    feed(graph, [1])
    graph.close(TIMEOUT)


def test_the_ledger_and_observed_output_take_no_notice_of_a_watcher(make) -> None:
    seen: list[int] = []
    graph = make([(Pass, "in", "out")], "in", threads=0)
    graph.start_run()
    feed(graph, [0])
    graph.wait_until_idle(TIMEOUT)
    without = graph.ledger()
    unwatch = graph.watch_stream("out", lambda _, p: seen.append(p.payload))
    assert graph.ledger() == without
    feed(graph, [1])
    graph.wait_until_idle(TIMEOUT)
    assert graph.ledger().adds_up
    with pytest.raises(WaitTimeoutError):
        graph.wait_for_observed_output(0.02)
    unwatch()
    graph.close(TIMEOUT)

    assert seen == [1]


def test_a_stream_that_has_ended_calls_no_watcher_and_the_run_ends(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    graph.start_run()
    feed(graph, [0])
    graph.close_all_input_streams()
    graph.wait_until_idle(TIMEOUT)
    unwatch = graph.watch_stream("in", lambda *_: pytest.fail("called"), observe_timestamp_bounds=True)
    unwatch()
    graph.wait_until_done(TIMEOUT)
    unwatch()


@pytest.mark.parametrize("how", ["ends", "fails", "is cancelled"])
def test_a_run_ends_with_a_watcher_that_never_leaves(make, how) -> None:
    fails = calculator(lambda cc: [None, None][cc.input.payload], name="Fails", offset=0)
    graph = make([(Pass, "in", "a"), (fails if how == "fails" else Pass, "a", "out")], "in")
    seen: list[int] = []
    graph.start_run()
    unwatch = graph.watch_stream("a", lambda _, p: seen.append(p.payload))
    feed(graph, [0, 1])
    graph.wait_until_idle(TIMEOUT)
    if how == "ends":
        graph.close(TIMEOUT)
    else:
        if how == "fails":
            feed(graph, [2])
        else:
            graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(TIMEOUT)
    unwatch()

    assert seen[:TWICE] == [0, 1]


def test_the_function_that_ends_watching_does_not_keep_a_graph_alive() -> None:
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Pass" input_stream: "in" output_stream: "out" }',
        registry=testing_registry(Pass),
    )
    graph.start_run()
    unwatch = graph.watch_stream("out", lambda *_: None)
    gone = weakref.ref(graph)
    del graph
    gc.collect()
    unwatch()

    assert gone() is None


def test_what_cannot_be_watched_is_refused_and_the_graph_stays_usable(make) -> None:
    graph = make(CHAIN, "in")
    with pytest.raises(FailedPreconditionError, match=r"watch_stream\(\) needs a run under way; call"):
        graph.watch_stream("a", lambda *_: None)
    graph.start_run()
    with pytest.raises(NotFoundError, match=r"there is no stream 'ot' \(did you mean 'out'\?\)"):
        graph.watch_stream("ot", lambda *_: None)
    with pytest.raises(InvalidArgumentError, match=r"watch_stream of 'a': 7 cannot be called"):
        graph.watch_stream("a", 7)
    graph.close(TIMEOUT)


def test_a_traced_run_is_watched_and_its_trace_does_not_show_it(make) -> None:
    methods: list[str] = []

    class Methods(Tracer):
        def step_started(self, step):
            methods.append(step.method)

    graph = make(CHAIN, "in")
    graph.set_tracer(Methods())
    seen: list[int] = []
    graph.start_run()
    unwatch = graph.watch_stream("a", lambda _, p: seen.append(p.payload))
    feed(graph, range(5))
    graph.wait_until_idle(TIMEOUT)
    unwatch()
    graph.close(TIMEOUT)

    assert seen == list(range(5))
    assert set(methods) == {"open", "process", "close"}
