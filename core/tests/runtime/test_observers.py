from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import sys
import threading
import time
import weakref

import pytest

import penstock
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
    WaitTimeoutError,
)
from penstock_testing import calculator

TIMEOUT = 20
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Packet = penstock.Packet


def feed(graph, count: int, stream: str = "in") -> None:
    for i in range(count):
        graph.add_packet_to_input_stream(stream, Packet(i, i))


def feed_one(graph, number: int) -> None:
    graph.add_packet_to_input_stream("in", Packet(number, number))


class Sees:
    """Methods that an observer can be, and cannot be."""

    def both(self, name, packet):
        pass

    def packet(self, packet):
        pass


@pytest.mark.parametrize(
    ("observer", "count"),
    [
        (lambda packet: None, "1 argument"),
        (lambda: None, "0 arguments"),
        (lambda a, b, c: None, "3 arguments"),
        (Sees().packet, "1 argument"),
    ],
)
def test_an_observer_that_takes_no_name_and_packet_is_refused(make, observer, count) -> None:
    graph = make([(Pass, "in", "out")], "in")

    with pytest.raises(
        InvalidArgumentError,
        match=rf"^the graph's observer of 'out': .* takes {count}, but is called with the stream's name",
    ):
        graph.observe_output_stream("out", observer)


@pytest.mark.parametrize(
    "observer",
    [
        lambda name, packet, more=3: None,
        lambda *given: None,
        lambda name, *rest: None,
        Sees().both,
        print,
        [].append,
        functools.partial(print, "seen"),
    ],
)
def test_what_may_take_name_and_packet_is_taken(make, observer) -> None:
    make([(Pass, "in", "out")], "in").observe_output_stream("out", observer)


@pytest.mark.parametrize("threads", [0, 1, 4])
def test_an_observer_sees_everything_in_order_and_is_never_called_twice_at_once(make, threads) -> None:
    busy = threading.Lock()
    seen: list[int] = []
    overlaps: list[int] = []

    def observe(_, packet):
        if not busy.acquire(blocking=False):
            overlaps.append(packet.payload)
            return
        seen.append(packet.payload)
        busy.release()

    graph = make([(Pass, "in", "a"), (Pass, "a", "b"), (Pass, "b", "out")], "in", threads=threads)
    graph.observe_output_stream("out", observe)
    graph.start_run()
    feed(graph, 300)
    graph.close(TIMEOUT)

    assert overlaps == []
    assert seen == list(range(300))


def test_two_observers_of_one_stream_may_be_called_at_the_same_time_and_see_the_same(make) -> None:
    seen: dict[int, list[int]] = {0: [], 1: []}
    graph = make([(Pass, "in", "out")], "in", threads=4)
    for mine in seen.values():
        graph.observe_output_stream("out", lambda _, p, mine=mine: mine.append(p.payload))
    graph.start_run()
    feed(graph, 100)
    graph.close(TIMEOUT)

    assert seen == {0: list(range(100)), 1: list(range(100))}


@pytest.mark.parametrize("stream", ["in", "out"])
@pytest.mark.parametrize("watches", [True, False])
def test_observers_of_one_stream_are_called_in_the_order_in_which_they_were_attached(
    make, watching_threads, watches, stream
) -> None:
    called: list[str] = []
    graph = make([(Pass, "in", "out")], "in", threads=0)
    if watches:
        graph.set_executor("", watching_threads(1))
    for name in "abcd":
        graph.observe_output_stream(stream, lambda _, p, name=name: called.append(f"{name}{p.payload}"))
    graph.start_run()
    for number in range(3):
        feed_one(graph, number)
        graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    assert called == [f"{name}{number}" for number in range(3) for name in "abcd"]


def test_each_run_tells_observers_its_bounds_as_the_first_run_did(make) -> None:
    runs = []
    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream(
        "out", lambda _, p: runs[-1].append(p.timestamp), observe_timestamp_bounds=True
    )
    for _ in range(2):
        runs.append([])
        graph.start_run()
        feed_one(graph, 1)
        graph.set_input_stream_timestamp_bound("in", 5)
        graph.wait_until_idle(TIMEOUT)
        graph.close_all_packet_sources()
        graph.wait_until_done(TIMEOUT)

    assert runs[0] == runs[1] == [1, 4]


def test_a_run_is_idle_and_done_only_when_observers_have_seen_everything(make) -> None:
    entered, leave = threading.Event(), threading.Event()
    seen: list[int] = []

    def observe(_, packet):
        entered.set()
        assert leave.wait(TIMEOUT)
        seen.append(packet.payload)

    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("out", observe)
    graph.start_run()
    feed(graph, 3)
    graph.close_all_input_streams()
    assert entered.wait(TIMEOUT)
    for wait in (graph.wait_until_idle, graph.wait_until_done):
        with pytest.raises(WaitTimeoutError, match=r"took longer than 0.02 s"):
            wait(0.02)
    leave.set()
    graph.wait_until_done(TIMEOUT)

    assert seen == [0, 1, 2]


def test_the_text_of_an_observers_exception_is_asked_for_once_and_without_the_lock(make) -> None:
    owned: list[bool] = []

    class MuteError(Exception):
        def __str__(self) -> str:
            owned.append(graph._runs.runner.lock._is_owned())
            raise RuntimeError("never readable")

    def observe(*_) -> None:
        raise MuteError

    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("out", observe)
    graph.start_run()
    feed(graph, 1)
    with pytest.raises(
        GraphRunError, match=r"'out' failed: MuteError: no text, since its __str__ raised RuntimeError$"
    ):
        graph.close(TIMEOUT)
    assert owned == [False]


def test_a_failing_observer_ends_the_run_and_works_again_in_the_next(make) -> None:
    calls: list[int] = []

    def observe(_, packet):
        calls.append(packet.payload)
        if packet.payload == 5 and len(calls) < 10:
            raise ValueError("the sixth")

    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("out", observe)
    graph.start_run()
    with contextlib.suppress(GraphRunError):  # it may come to know while it feeds
        feed(graph, 50)
    with pytest.raises(
        GraphRunError, match="observer of stream 'out' failed: ValueError: the sixth"
    ) as caught:
        graph.close(TIMEOUT)
    assert calls == [0, 1, 2, 3, 4, 5]
    assert caught.value.stream == "out"
    assert caught.value.errors[0].timestamp == 5

    calls.clear()
    graph.start_run()
    feed(graph, 4)
    graph.close(TIMEOUT)
    assert calls == [0, 1, 2, 3]


def test_an_observer_of_a_graph_input_sees_what_is_added(make) -> None:
    seen: list[tuple[str, int]] = []
    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("in", lambda name, p: seen.append((name, p.payload)))
    graph.start_run()
    feed(graph, 2)
    graph.close(TIMEOUT)

    assert seen == [("in", 0), ("in", 1)]


@pytest.mark.reference("framework/tool/sink_test.cc", "CallbackFromGeneratorTest.TestAddVectorSink")
def test_an_observer_of_a_graph_input_without_a_node_has_each_packet_when_the_graph_is_idle(make) -> None:
    seen: list[tuple[int, int]] = []
    graph = make([], "in")
    graph.observe_output_stream("in", lambda _, p: seen.append((int(p.timestamp), p.payload)))
    graph.start_run()
    for i in range(10):
        graph.add_packet_to_input_stream("in", penstock.Packet(i, i))
        graph.wait_until_idle(TIMEOUT)
        assert seen[-1] == (i, i)
    graph.close(TIMEOUT)

    assert seen == [(i, i) for i in range(10)]


def test_settled_timestamps_come_as_empty_packets_where_they_are_asked_for(make) -> None:
    seen: list[tuple[int, object]] = []
    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream(
        "out", lambda _, p: seen.append((int(p.timestamp), p.payload)), observe_timestamp_bounds=True
    )
    for _ in range(2):
        seen.clear()
        graph.start_run()
        graph.add_packet_to_input_stream("in", Packet("x", 3))
        graph.wait_until_idle(TIMEOUT)
        graph.set_input_stream_timestamp_bound("in", 10)
        graph.close(TIMEOUT)
        assert seen == [(3, "x"), (9, None)]


def test_observers_are_added_before_a_run_to_streams_that_exist(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    with pytest.raises(NotFoundError, match=r"there is no stream 'outt' \(did you mean 'out'\?\)"):
        graph.observe_output_stream("outt", print)
    with pytest.raises(InvalidArgumentError, match="observer of 'out': 3 cannot be called"):
        graph.observe_output_stream("out", 3)
    graph.start_run()
    with pytest.raises(
        FailedPreconditionError, match="observe_output_stream is not possible while the graph runs"
    ):
        graph.observe_output_stream("out", print)
    with pytest.raises(
        FailedPreconditionError, match="add_output_stream_poller is not possible while the graph runs"
    ):
        graph.add_output_stream_poller("out")
    graph.close(TIMEOUT)


def test_an_observer_may_add_packets_without_waiting(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    seen: list[int] = []

    def again(_, packet):
        seen.append(packet.payload)
        if packet.payload < 5:
            graph.add_packet_to_input_stream("in", Packet(packet.payload + 1, packet.timestamp + 1))

    graph.observe_output_stream("out", again)
    graph.start_run()
    feed(graph, 1)
    graph.wait_until_idle(TIMEOUT)
    graph.close(TIMEOUT)

    assert seen == [0, 1, 2, 3, 4, 5]


@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="without the interpreter's lock what another thread drops dies on the thread that made it, at "
    "whatever line that is",
)
@pytest.mark.parametrize("threads", [0, 2])
def test_no_payload_dies_under_the_lock_of_the_run(make, is_locked, threads) -> None:
    deaths: list[bool] = []

    class Payload:
        def __del__(self) -> None:
            deaths.append(is_locked(graph))

    graph = make(
        [(calculator(name="Nothing"), "in"), (calculator(name="Silent"), "in", "out")],
        "in other",
        threads=threads,
    )
    graph.start_run()
    for i in range(20):
        graph.add_packet_to_input_stream("in", Packet(Payload(), i))
        graph.add_packet_to_input_stream("other", Packet(Payload(), i))
    graph.close(TIMEOUT)

    assert deaths == [False] * 40


# --- pollers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 2])
def test_a_poller_gives_packets_one_by_one_and_none_at_the_end(make, threads) -> None:
    graph = make([(Pass, "in", "out")], "in", threads=threads)
    poller = graph.add_output_stream_poller("out")
    for _ in range(2):
        graph.start_run()
        feed(graph, 3)
        assert [poller.next(TIMEOUT).payload for _ in range(3)] == [0, 1, 2]
        graph.close_all_input_streams()
        assert poller.next(TIMEOUT) is None
        graph.wait_until_done(TIMEOUT)
        assert poller.next(TIMEOUT) is None


def test_iterating_over_a_poller_ends_with_the_stream(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    feed(graph, 5)
    graph.close_all_input_streams()

    assert [packet.payload for packet in poller] == [0, 1, 2, 3, 4]
    graph.wait_until_done(TIMEOUT)


@pytest.fixture
def hasty_threads():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_share_a_poller_share_its_packets_and_all_see_the_end(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    got: list[list[int]] = []

    def take() -> None:
        mine = []
        while (packet := poller.next(TIMEOUT)) is not None:
            mine.append(packet.payload)
        assert is_closed.is_set()  # no thread takes the packet of another one for the end
        got.append(mine)

    is_closed = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        threads = [pool.submit(take) for _ in range(4)]
        for start in range(0, 2000, 10):
            for number in range(start, start + 10):
                graph.add_packet_to_input_stream("in", Packet(number, number))
            graph.wait_until_idle(TIMEOUT)
        is_closed.set()
        graph.close_all_input_streams()
        for thread in threads:
            thread.result(TIMEOUT)

    assert sorted(number for mine in got for number in mine) == list(range(2000))
    assert all(mine == sorted(mine) for mine in got)


def test_a_poller_that_waits_too_long_tells_the_story(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    with pytest.raises(
        WaitTimeoutError,
        match=r"the next packet of stream 'out' took longer than 0.02 s\nthe run is running\n  node",
    ):
        poller.next(0.02)
    graph.close(TIMEOUT)


def test_a_poller_needs_a_run(make) -> None:
    poller = make([(Pass, "in", "out")], "in").add_output_stream_poller("out")
    with pytest.raises(FailedPreconditionError, match="stream 'out': no run has begun; call start_run"):
        poller.next()
    assert poller.queue_size() == 0


def test_a_poller_needs_a_run_that_could_begin(make) -> None:
    class Refuses(penstock.Executor):
        def lend_to(self, work):
            raise ArithmeticError("no threads")

    graph = make([(Pass, "in", "out")], "in", threads=0)
    graph.set_executor("", Refuses())
    poller = graph.add_output_stream_poller("out")
    with pytest.raises(PenstockError, match="cannot serve the run: ArithmeticError: no threads"):
        graph.start_run()
    with pytest.raises(FailedPreconditionError, match="stream 'out': no run has begun; call start_run"):
        poller.next(TIMEOUT)


def test_packets_that_came_before_an_error_are_still_given(make) -> None:
    def process(cc):
        if cc.input.payload == 2:
            raise ValueError("no")
        cc.output.add_packet(cc.input.packet)

    graph = make([(calculator(process), "in", "out")], "in", threads=1)
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    try:
        feed(graph, 3)
    except GraphRunError:
        pytest.fail("three packets fit before the error is known")
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.wait_until_done(TIMEOUT)

    assert [packet.payload for packet in poller] == [0, 1]


def test_a_poller_with_a_limit_throttles_and_never_grows(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    poller.set_max_queue_size(5)
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    for _ in range(2):
        graph.start_run()
        for i in range(5):
            graph.add_packet_to_input_stream("in", Packet(i, i))
            graph.wait_until_idle(TIMEOUT)
        with pytest.raises(penstock.PenstockError, match="graph is throttled"):
            graph.add_packet_to_input_stream("in", Packet(5, 5))
        assert poller.queue_size() == 5
        assert [poller.next(TIMEOUT).payload for _ in range(5)] == [0, 1, 2, 3, 4]
        graph.add_packet_to_input_stream("in", Packet(5, 5))
        assert poller.next(TIMEOUT).payload == 5
        graph.close(TIMEOUT)


def test_a_full_poller_holds_a_waiting_add_until_it_is_read(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    poller.set_max_queue_size(1)
    graph.start_run()
    feeder = threading.Thread(target=lambda: (feed(graph, 6), graph.close_all_input_streams()))
    feeder.start()

    assert [packet.payload for packet in poller] == [0, 1, 2, 3, 4, 5]
    feeder.join(TIMEOUT)
    graph.wait_until_done(TIMEOUT)


def test_a_poller_can_be_emptied(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    poller.set_max_queue_size(2)
    graph.start_run()
    feed(graph, 2)
    graph.wait_until_idle(TIMEOUT)
    poller.reset()
    assert poller.queue_size() == 0
    graph.add_packet_to_input_stream("in", Packet(9, 9))
    assert poller.next(TIMEOUT).payload == 9
    graph.close(TIMEOUT)


def test_a_pollers_limit_must_make_sense(make) -> None:
    poller = make([(Pass, "in", "out")], "in").add_output_stream_poller("out")
    with pytest.raises(InvalidArgumentError, match="max_queue_size -2: must be at least 0, or -1"):
        poller.set_max_queue_size(-2)


def test_a_poller_reports_settled_timestamps_where_it_is_asked_to(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out", observe_timestamp_bounds=True)
    graph.start_run()
    graph.set_input_stream_timestamp_bound("in", 10)
    packet = poller.next(TIMEOUT)
    assert (packet.is_empty(), packet.timestamp) == (True, 9)
    graph.close(TIMEOUT)


def test_a_poller_keeps_no_payload_that_was_taken(make) -> None:
    class Held:
        pass

    graph = make([(Pass, "in", "out")], "in")
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    payload = Held()
    alive = weakref.ref(payload)
    graph.add_packet_to_input_stream("in", Packet(payload, 1))
    del payload
    assert poller.next(TIMEOUT).payload is not None
    graph.close(TIMEOUT)

    assert alive() is None


def test_a_wait_of_a_poller_ends_when_the_run_fails_though_its_stream_has_no_end_yet(make, runner_of) -> None:
    deaf: concurrent.futures.Future[None] = concurrent.futures.Future()
    deaf.set_running_or_notify_cancel()  # the run cannot end before it does
    started = threading.Event()

    def defer(cc):
        started.set()
        return deaf

    def fail(cc):
        deadline = time.monotonic() + TIMEOUT
        assert started.wait(TIMEOUT)
        while not runner_of(graph).waiters:
            assert time.monotonic() < deadline
        raise ValueError("elsewhere")

    graph = make(
        [(calculator(fail, name="Fails"), "in"), (calculator(defer, name="Deaf"), "in", "out")], "in"
    )
    poller = graph.add_output_stream_poller("out")
    graph.start_run()
    feed_one(graph, 1)

    assert poller.next(3) is None
    deaf.set_result(None)
    with pytest.raises(GraphRunError, match="ValueError: elsewhere"):
        graph.wait_until_done(TIMEOUT)


def test_bounds_that_a_failed_observer_does_not_hear_count_as_no_dropped_packets(make) -> None:
    entered, leave = threading.Event(), threading.Event()

    def observe(_, packet):
        entered.set()
        assert leave.wait(TIMEOUT)
        raise ValueError("no")

    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("in", observe, observe_timestamp_bounds=True)
    graph.start_run()
    adder = threading.Thread(target=feed_one, args=(graph, 1))
    adder.start()  # may be the thread that the observer is called on
    assert entered.wait(TIMEOUT)
    graph.set_input_stream_timestamp_bound("in", 5)
    feed_one(graph, 7)
    leave.set()
    adder.join(TIMEOUT)
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.wait_until_done(TIMEOUT)

    ledger = graph.ledger()
    assert [drop.count for drop in ledger.drops if drop.reason == "the observer had failed"] == [1]
    assert ledger.adds_up, str(ledger)
