from __future__ import annotations

import threading

import pytest

import penstock
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    PacketTypeError,
    StatusCode,
    StreamClosedError,
    TimestampError,
    TimestampOrderError,
    UnavailableError,
)
from penstock.timestamp import Timestamp
from penstock_testing import calculator

TIMEOUT = 20
Nothing = calculator(name="Nothing")
Ints = calculator(name="Ints", contract=lambda cc: cc.inputs[0].set(int))
Packet = penstock.Packet


@pytest.fixture
def gated(make):
    """A graph of one node with a queue of one, which works only while the gate is open."""
    gate = threading.Semaphore(0)

    def process(cc):
        assert gate.acquire(timeout=TIMEOUT)
        cc.output.add(cc.input.payload, cc.input_timestamp)

    def start(rest: str = "max_queue_size: 1", mode: str = "WAIT_TILL_NOT_FULL"):
        graph = make([(calculator(process, name="Gated"), "in", "out")], "in", rest)
        graph.graph_input_stream_add_mode = mode
        graph.start_run()
        return graph, gate

    yield start
    gate.release(1000)


@pytest.mark.parametrize("stamp", [Timestamp.UNSTARTED, Timestamp.ONE_OVER_POSTSTREAM, Timestamp.DONE])
def test_a_timestamp_that_no_stream_has_is_refused_and_the_graph_stays_healthy(make, stamp) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    with pytest.raises(TimestampError, match=r"stream 'in': Timestamp::\w+\(\) cannot be the timestamp"):
        graph.add_packet_to_input_stream("in", Packet("x", stamp))
    with pytest.raises(
        InvalidArgumentError, match=r"the packet has no timestamp; write Packet\(payload, timestamp\)"
    ):
        graph.add_packet_to_input_stream("in", Packet("x"))

    assert not graph.has_error()
    graph.add_packet_to_input_stream("in", Packet("x", 1))
    graph.close(TIMEOUT)
    assert graph.snapshot().nodes[0].steps == 1


def test_what_is_refused_leaves_the_graph_unchanged(make) -> None:
    graph = make([(Ints, "in")], "in")
    got: list[object] = []
    graph.observe_output_stream("in", lambda _, p: got.append(p.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 10))
    with pytest.raises(TimestampOrderError, match="packet at 10 is behind the bound 11"):
        graph.add_packet_to_input_stream("in", Packet(2, 10))
    with pytest.raises(PacketTypeError, match="packet at 11 holds a 'str', but the stream carries int"):
        graph.add_packet_to_input_stream("in", Packet("two", 11))
    with pytest.raises(InvalidArgumentError, match="'int' is no Packet; write Packet"):
        graph.add_packet_to_input_stream("in", 3)
    with pytest.raises(TimestampOrderError, match="bound 5 is behind the present bound 11; bounds only grow"):
        graph.set_input_stream_timestamp_bound("in", 5)
    graph.add_packet_to_input_stream("in", Packet(2), timestamp=11)
    graph.close(TIMEOUT)

    assert got == [1, 2]


def test_a_stream_that_is_no_graph_input_is_refused_with_a_near_name(make) -> None:
    graph = make([(calculator(lambda cc: None, name="P"), "frames", "out")], "frames")
    graph.start_run()
    with pytest.raises(NotFoundError, match=r"there is no graph input 'frame' \(did you mean 'frames'\?\)"):
        graph.add_packet_to_input_stream("frame", Packet(1, 1))
    with pytest.raises(NotFoundError, match="there is no graph input 'out'; there are: 'frames'"):
        graph.add_packet_to_input_stream("out", Packet(1, 1))
    assert graph.has_input_stream("frames")
    assert not graph.has_input_stream("out")
    graph.close(TIMEOUT)


def test_adding_needs_a_run(make) -> None:
    graph = make([(Nothing, "in")], "in")
    with pytest.raises(
        FailedPreconditionError, match=r"adding to 'in' needs a run under way; call start_run\(\) first"
    ):
        graph.add_packet_to_input_stream("in", Packet(1, 1))


def test_a_closed_input_takes_no_more(make) -> None:
    graph = make([(Nothing, "in")], "in other")
    graph.start_run()
    graph.close_input_stream("in")
    graph.close_input_stream("in")
    with pytest.raises(StreamClosedError, match="graph input 'in' takes no more: it was closed"):
        graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.add_packet_to_input_stream("other", Packet(1, 1))
    graph.close(TIMEOUT)

    assert {stream.name: stream.added for stream in graph.snapshot().streams} == {"in": 0, "other": 1}


def test_after_a_stop_the_error_names_the_node_that_stopped(make) -> None:
    graph = make([(calculator(lambda cc: penstock.STOP, name="Stopper"), "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.wait_until_idle(TIMEOUT)
    with pytest.raises(StreamClosedError, match="the graph is stopping: node 'Stopper' returned STOP"):
        graph.add_packet_to_input_stream("in", Packet(2, 2))
    graph.wait_until_done(TIMEOUT)


def test_adding_to_a_run_that_failed_raises_its_error(make) -> None:
    def fail(cc):
        raise ValueError("no")

    graph = make([(calculator(fail), "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.wait_until_idle(TIMEOUT)
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.add_packet_to_input_stream("in", Packet(2, 2))


# --- throttling -------------------------------------------------------------------------------


def test_with_add_if_not_full_a_throttled_add_raises_and_adds_nothing(gated) -> None:
    graph, gate = gated(mode="ADD_IF_NOT_FULL")
    refused: list[UnavailableError] = []
    for i in range(20):
        try:
            graph.add_packet_to_input_stream("in", Packet(i, i))
        except UnavailableError as error:
            refused.append(error)
    assert len(refused) >= 18
    assert "graph is throttled: input stream 'in' must wait until full queues drain" in str(refused[0])
    assert refused[0].code is StatusCode.UNAVAILABLE
    assert not graph.has_error()

    gate.release(20)
    graph.wait_until_idle(TIMEOUT)
    assert {stream.added for stream in graph.snapshot().streams} == {20 - len(refused)}
    graph.add_packet_to_input_stream("in", Packet(99, 99))
    graph.close(TIMEOUT)


def test_without_a_limit_no_add_is_ever_refused(gated) -> None:
    graph, gate = gated("max_queue_size: -1", "ADD_IF_NOT_FULL")
    for i in range(300):
        graph.add_packet_to_input_stream("in", Packet(i, i))
    assert graph.snapshot().throttled == ()
    gate.release(300)
    graph.close(TIMEOUT)

    assert graph.snapshot().nodes[0].steps == 300


def test_a_waiting_add_goes_on_when_there_is_room(gated) -> None:
    graph, gate = gated()
    done = threading.Event()

    def feed():
        for i in range(10):
            graph.add_packet_to_input_stream("in", Packet(i, i))
        done.set()

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert not done.wait(0.05)
    assert graph.snapshot().throttled == ("in",)
    gate.release(10)
    assert done.wait(TIMEOUT)
    feeder.join()
    graph.close(TIMEOUT)

    assert graph.snapshot().nodes[0].steps == 10


def test_a_waiting_add_ends_when_the_run_fails(gated) -> None:
    graph, gate = gated()
    caught: list[BaseException] = []
    waiting = threading.Event()

    def feed():
        try:
            for i in range(10):
                graph.add_packet_to_input_stream("in", Packet(i, i))
                if i == 1:
                    waiting.set()
        except GraphRunError as error:
            caught.append(error)

    feeder = threading.Thread(target=feed)
    feeder.start()
    assert waiting.wait(TIMEOUT)
    graph.cancel()
    gate.release(10)
    feeder.join(TIMEOUT)
    assert not feeder.is_alive()
    assert "the run was cancelled" in str(caught[0])


@pytest.mark.parametrize("threads", [0, 2])
def test_a_limit_that_a_join_cannot_keep_grows_and_every_add_returns(make, threads) -> None:
    graph = make([(Nothing, "a b")], "a b", "max_queue_size: 1", threads=threads)
    graph.start_run()
    for i in range(50):
        graph.add_packet_to_input_stream("a", Packet(i, i), timeout=TIMEOUT)
    a, b = graph.snapshot().streams
    graph.close(TIMEOUT)

    assert a.queued == 50
    assert a.limit > 49
    assert b.limit == 1
    assert graph.snapshot().nodes[0].steps == 50


def test_a_reported_deadlock_is_raised_by_the_add_and_the_waits(make) -> None:
    graph = make([(Nothing, "in1 in2")], "in1 in2", "max_queue_size: 1 report_deadlock: true")
    graph.start_run()
    graph.add_packet_to_input_stream("in1", Packet(0, 0))
    with pytest.raises(
        GraphRunError, match=r"deadlock: all nodes are idle.*'in1' of node 'Nothing'"
    ) as caught:
        graph.wait_until_idle(TIMEOUT)
    assert caught.value.code is StatusCode.UNAVAILABLE
    with pytest.raises(GraphRunError, match="deadlock"):
        graph.add_packet_to_input_stream("in1", Packet(1, 1))


@pytest.mark.parametrize("mode", [penstock.GraphInputStreamAddMode.ADD_IF_NOT_FULL, "ADD_IF_NOT_FULL", 1])
def test_the_add_mode_can_be_given_by_member_name_or_number(make, mode) -> None:
    graph = make([(Nothing, "in")], "in")
    assert graph.graph_input_stream_add_mode is penstock.GraphInputStreamAddMode.WAIT_TILL_NOT_FULL
    graph.graph_input_stream_add_mode = mode
    assert graph.graph_input_stream_add_mode is penstock.GraphInputStreamAddMode.ADD_IF_NOT_FULL


def test_an_unknown_add_mode_is_refused_with_the_known_ones(make) -> None:
    with pytest.raises(
        InvalidArgumentError, match="add mode 'SOMETIMES': must be WAIT_TILL_NOT_FULL or ADD_IF_NOT_FULL"
    ):
        make([(Nothing, "in")], "in").graph_input_stream_add_mode = "SOMETIMES"


def test_a_graph_input_may_get_a_limit_of_its_own_from_the_next_run_on(gated, make) -> None:
    graph = make([(Nothing, "a b")], "a b", "max_queue_size: 5")
    with pytest.raises(InvalidArgumentError, match="max_queue_size of 'a' to -2: must be at least 0, or -1"):
        graph.set_input_stream_max_queue_size("a", -2)
    with pytest.raises(NotFoundError, match="there is no graph input 'c'"):
        graph.set_input_stream_max_queue_size("c", 2)
    graph.set_input_stream_max_queue_size("a", 2)
    graph.start_run()
    limits = {stream.name: stream.limit for stream in graph.snapshot().streams}
    assert limits == {"a": 2, "b": 5}
    graph.close(TIMEOUT)


def test_several_threads_may_add_at_once_and_nothing_is_lost(make) -> None:
    graph = make([(Nothing, "a"), (Nothing, "b"), (Nothing, "c")], "a b c", "max_queue_size: 3")
    got: dict[str, list[object]] = {name: [] for name in "abc"}
    for name in got:
        graph.observe_output_stream(name, lambda stream, p: got[stream].append(p.payload))
    graph.start_run()

    def feed(name):
        for i in range(200):
            graph.add_packet_to_input_stream(name, Packet(i, i))

    feeders = [threading.Thread(target=feed, args=(name,)) for name in got]
    for feeder in feeders:
        feeder.start()
    for feeder in feeders:
        feeder.join(TIMEOUT)
    graph.close(TIMEOUT)

    assert got == {name: list(range(200)) for name in "abc"}
