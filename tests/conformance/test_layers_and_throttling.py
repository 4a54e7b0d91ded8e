"""Scenarios 41-50: which source runs when, and which one waits for full queues."""

from __future__ import annotations

import itertools
import threading

import pytest

import penstock
from penstock import STOP, Packet, StatusCode
from penstock.errors import UnavailableError
from penstock_testing import calculator


class GlobalCount(penstock.Calculator):
    """A source of five packets, i-th at i, whose payloads are drawn from an iterator that sources share."""

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets[0].set_any()
        cc.outputs[0].set(int)

    def open(self, cc):
        self.numbers = cc.input_side_packets[0].payload
        self.sent = 0

    def process(self, cc):
        self.write(cc)
        return STOP if self.sent == 5 else None

    def write(self, cc):
        cc.output.add(next(self.numbers), self.sent)
        self.sent += 1


class EarlyCount(GlobalCount):
    """Writes its first packet in open."""

    def open(self, cc):
        super().open(cc)
        self.write(cc)


def source(name, layer, calculator="GlobalCount"):
    return f'{calculator} -> {name} | source_layer: {layer} input_side_packet: "numbers"'


def payloads(bench, stream):
    return [payload for _, payload in bench.seen[stream]]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.LayerOrdering")
def test_s41_sources_run_layer_by_layer_and_take_turns_within_one(one_thread):
    bench, numbers = one_thread, itertools.count()
    bench.run(
        bench.net("", source("a", 0), source("b", 1), source("c", 1), source("d", 2)),
        GlobalCount,
        watch="abcd",
        sides={"numbers": numbers},
    )

    assert next(numbers) == 20
    assert [[at for at, _ in bench.seen[name]] for name in "abcd"] == 4 * [[0, 1, 2, 3, 4]]
    assert payloads(bench, "a") == [0, 1, 2, 3, 4]
    assert payloads(bench, "d") == [15, 16, 17, 18, 19]
    for i, (b, c) in enumerate(zip(payloads(bench, "b"), payloads(bench, "c"), strict=True)):
        assert {b, c} == {5 + 2 * i, 6 + 2 * i}


def test_s42_a_deadlock_of_full_queues_starts_no_higher_layer_early(one_thread):
    bench = one_thread
    bench.run(
        bench.net(
            "",
            source("first", 0),
            source("second", 1, "EarlyCount"),
            "Merge first second -> out",
            more="max_queue_size: 1\n",
        ),
        GlobalCount,
        EarlyCount,
        watch=["first", "second", "out"],
        sides={"numbers": itertools.count()},
    )

    assert payloads(bench, "second") == [0, 6, 7, 8, 9]
    assert payloads(bench, "first") == [1, 2, 3, 4, 5]
    assert len(bench.seen["out"]) == 5


def test_s43_a_lower_layer_that_waits_for_a_side_packet_of_a_higher_one_is_a_deadlock(bench):
    make = calculator(lambda cc: cc.output_side_packets[0].set(cc.input.payload), name="Make")
    bench.start(
        bench.net(
            "",
            'Emit -> high | source_layer: 1 input_side_packet: "packets"',
            'Make high | output_side_packet: "made"',
            'Emit -> low | source_layer: 0 input_side_packet: "made" name: "low_source"',
        ),
        make,
        sides={"packets": [([("x", 0)], 0)]},
    )

    error = bench.failure()

    assert error.code is StatusCode.UNKNOWN
    assert "deadlock: source node 'Emit' in layer 1 cannot start" in str(error)
    assert "'low_source' in the lower layer 0 is not open" in str(error)


FIVE = {"packets": [(i + 1, i) for i in range(5)]}
EMIT = 'Emit -> ints | input_side_packet: "packets"'


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.OutputPacketInOpen")
def test_s44_a_packet_written_in_open_does_not_block_a_queue_of_one(bench):
    bench.run(
        bench.net("", EMIT, "UnitDelay ints -> delayed", "Pass delayed -> out", more="max_queue_size: 1\n"),
        sides=FIVE,
        watch=["out"],
    )

    assert bench.seen["out"] == [(i, i) for i in range(6)]


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.OutputPacketInOpen2")
def test_s44_a_join_of_a_stream_with_its_delay_does_not_block_queues_of_one(bench):
    bench.run(
        bench.net(
            "", EMIT, "UnitDelay ints -> delayed", "Merge delayed ints -> out", more="max_queue_size: 1\n"
        ),
        sides=FIVE,
        watch=["out"],
    )

    texts = [f"{i}: {i} {i + 1}" for i in range(5)]
    assert bench.seen["out"] == list(enumerate([*texts, "5: 5 empty"]))


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.AddPacketNoBusyLoop")
def test_s45_a_join_with_what_seldom_comes_lets_its_queue_grow_rather_than_block(bench):
    def one_in_101(cc):
        if cc.input_timestamp % 101 == 0:
            cc.output.add_packet(cc.input.packet)

    bench.start(
        bench.net("in", "Decimate in -> seldom", "Merge seldom in -> out", more="max_queue_size: 1\n"),
        calculator(one_in_101, name="Decimate"),
        watch=["out"],
    )
    bench.add("in", *range(202))
    bench.idle()
    bench.graph.pause()
    bench.graph.resume()
    bench.end()

    expected = [f"{t}: {t if t % 101 == 0 else 'empty'} {t}" for t in range(202)]
    assert bench.seen["out"] == list(enumerate(expected))


@pytest.mark.parametrize("limit", [1, 2])
def test_s46_s47_a_deadlock_is_reported_with_stream_and_node_where_the_graph_asks_for_it(bench, limit):
    bench.start(
        bench.net(
            "input1 input2",
            "Pass input1 input2 -> out1 out2",
            more=f"max_queue_size: {limit} report_deadlock: true\n",
        ),
        watch=["out1", "out2"],
    )
    bench.add("input1", *range(limit))

    error = bench.failure(lambda: bench.add("input1", limit))
    assert error.code is StatusCode.UNAVAILABLE
    for part in ("deadlock", "'input1'", "'PassThroughCalculator'"):
        assert part in str(error)
    assert bench.failure(bench.idle).code is StatusCode.UNAVAILABLE
    assert bench.failure(bench.end).code is StatusCode.UNAVAILABLE
    assert bench.seen == {"out1": [], "out2": []}


@pytest.mark.parametrize("asked", [-1, 1, 2])
def test_extra_a_hint_of_any_node_limits_the_queues_of_the_whole_graph_also_where_it_asks_for_no_limit(
    bench, asked
):
    """As recorded from the reference: the limit is the largest of the graph's and the hints."""
    bench.start(
        bench.net(
            "in1 in2 in3",
            "Pass in1 in2 -> out1 out2",
            "Pass in3 -> out3 | buffer_size_hint: 2",
            more=f"max_queue_size: {asked} report_deadlock: true\n",
        ),
        watch=["out1", "out2", "out3"],
    )
    assert bench.graph.max_queue_size == 2
    bench.add_one_by_one("in3", *range(9))
    bench.add_one_by_one("in1", 0)
    bench.add("in1", 1)

    error = bench.failure(bench.idle)
    assert error.code is StatusCode.UNAVAILABLE
    assert "stream 'in1' of node 'PassThroughCalculator_1' (2 packets, limit 2)" in str(error)
    assert bench.seen == {"out1": [], "out2": [], "out3": [(t, t) for t in range(9)]}


def test_extra_without_a_hint_no_limit_means_no_deadlock(bench):
    bench.start(
        bench.net("in1 in2", "Pass in1 in2 -> out1 out2", more="max_queue_size: -1 report_deadlock: true\n"),
        watch=["out1"],
    )
    bench.add_one_by_one("in1", *range(200))
    bench.end()

    assert bench.seen["out1"] == [(t, t) for t in range(200)]


def held_by(permits):
    """Return a calculator that takes a permit before it forwards a packet."""

    def held(cc):
        assert permits.acquire(timeout=30)
        for source_port, target in zip(cc.inputs, cc.outputs, strict=True):
            if not source_port.is_empty():
                target.add_packet(source_port.packet)

    return calculator(held, name="Held", offset=0)


@pytest.mark.reference(
    "framework/calculator_graph_stopping_test.cc", "CalculatorGraphStoppingTest.DeadlockResolution"
)
def test_s48_a_limit_that_has_grown_holds_for_the_run(pool):
    permits = threading.Semaphore(9)
    pool.start(
        pool.net("in_1 in_2", "Held in_1 in_2 -> out_1 out_2", more="max_queue_size: 2\n"),
        held_by(permits),
        watch=["out_1", "out_2"],
    )
    pool.add_one_by_one("in_1", *range(1, 10))
    assert pool.stream("in_1").limit == 10
    permits.release()
    pool.add_one_by_one("in_2", 30)
    assert len(pool.seen["out_1"]) == 9

    pool.add("in_1", *range(11, 23))  # one takes the permit that is left, one waits for its, ten wait in line
    pool.graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    with pytest.raises(UnavailableError, match="'in_1'") as caught:
        pool.add("in_1", 23)
    assert caught.value.code is StatusCode.UNAVAILABLE
    permits.release(12)
    pool.idle()
    pool.end()

    assert pool.seen["out_1"] == [(t, t) for t in [*range(1, 10), *range(11, 23)]]
    assert pool.seen["out_2"] == [(30, 30)]


@pytest.mark.parametrize("limit", [1, -1])
def test_s49_adding_to_a_full_graph_is_refused_at_once_in_each_run_alike(pool, limit):
    permits = threading.Semaphore(0)
    pool.load(
        pool.net("in", "Held in -> out", more=f"max_queue_size: {limit}\n"), held_by(permits), watch=["out"]
    )
    pool.graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    for _ in range(2):
        pool.seen["out"].clear()
        pool.graph.start_run()
        refused = 0
        for t in range(20):
            try:
                pool.add("in", t)
            except UnavailableError as error:
                assert "throttled" in str(error)  # noqa: PT017  # how many are refused is not certain
                refused += 1
        permits.release(20 - refused)
        pool.end()
        if limit < 0:
            assert refused == 0
        else:
            assert refused >= 18
        assert pool.seen["out"][0] == (0, 0)
        assert len(pool.seen["out"]) == 20 - refused


def test_s50_a_full_poller_throttles_until_somebody_takes_from_it(bench):
    graph = bench.load(bench.net("in", "Pass in -> out"))
    poller = graph.add_output_stream_poller("out")
    poller.set_max_queue_size(5)
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    graph.start_run()
    bench.add_one_by_one("in", *range(5))
    with pytest.raises(UnavailableError, match="'in'"):
        bench.add("in", 5)
    bench.idle()
    assert poller.queue_size() == 5

    assert [poller.next(30).payload for _ in range(5)] == [0, 1, 2, 3, 4]
    bench.add_one_by_one("in", 6)
    graph.close_all_input_streams()
    assert poller.next(30) == Packet(6)
    assert poller.next(30) is None
    bench.done()
