"""The comprehensive graph of the reference's `calculator_graph_test.cc`, on all kinds of executors.

Its packet generators are calculators here (docs/mediapipe.md, difference 20).
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

import penstock
from penstock import (
    STOP,
    GraphConfigError,
    Packet,
    PenstockError,
    StatusCode,
    Timestamp,
)
from penstock_testing import calculator

T = Timestamp
PATIENCE_S = 30


class Split(penstock.Calculator):
    """Makes side packets from a number of 64 bits: its halves."""

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets[0].set(int)
        for port in cc.output_side_packets:
            port.set_any()

    def open(self, cc):
        value = cc.input_side_packets[0].payload
        high, low = value >> 32, value & 0xFFFFFFFF
        made = {"": (high, low), "PAIR": (high, low), "HIGH": high, "LOW": low}
        for (tag, _), port in zip(cc.output_side_packets.ids(), cc.output_side_packets, strict=True):
            port.set(made[tag])


class Range(penstock.Calculator):
    """Writes 100k, 100k + 1, ... at the multiples of k from 0 to n; at the end their sum and their mean."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)
        cc.outputs[1].set(int)
        cc.outputs[2].set(float)
        cc.input_side_packets[0].set(tuple)

    def open(self, cc):
        self.n, self.k = cc.input_side_packets[0].payload
        if self.k == 0:
            raise PenstockError("k is 0", code=StatusCode.CANCELLED)
        self.at, self.written = 0, []
        cc.outputs[0].set_header(Packet(f"RangeCalculator{self.k}"))
        self.write(cc, 0)
        cc.outputs[1].set_next_timestamp_bound(T.POSTSTREAM)
        cc.outputs[2].set_next_timestamp_bound(T.PRESTREAM)

    def write(self, cc, at):
        self.written.append(100 * self.k + len(self.written))
        cc.outputs[0].add(self.written[-1], at)

    def process(self, cc):
        self.at += self.k
        if self.at >= self.n:
            return STOP
        self.write(cc, self.at)
        return None

    def close(self, cc):
        self.write(cc, self.n)
        cc.outputs[1].add(sum(self.written), T.POSTSTREAM)
        cc.outputs[2].add(sum(self.written) / len(self.written), T.PRESTREAM)


class StdDev(penstock.Calculator):
    """Writes 100 times the standard deviation of DATA after all packets; MEAN comes before all packets."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["DATA"].set(int)
        cc.inputs["MEAN"].set(float)
        cc.outputs[0].set(int)

    def open(self, cc):
        self.squares = []
        cc.output.set_next_timestamp_bound(T.POSTSTREAM)

    def process(self, cc):
        data, mean = cc.inputs["DATA"], cc.inputs["MEAN"]
        assert data.is_empty() == (cc.input_timestamp == T.PRESTREAM)
        assert mean.is_empty() == (cc.input_timestamp != T.PRESTREAM)
        if data.is_empty():
            self.mean = mean.payload
        else:
            self.squares.append((data.payload - self.mean) ** 2)

    def close(self, cc):
        cc.output.add(round(100 * math.sqrt(sum(self.squares) / len(self.squares))), T.POSTSTREAM)


class Merged(penstock.Calculator):
    """Writes the timestamp and the numbers at it as text; its header has its inputs' headers."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set(int)
        cc.outputs[0].set(str)

    def open(self, cc):
        headers = [port.header.payload for port in cc.inputs if not port.header.is_empty()]
        cc.output.set_header(Packet(" ".join(headers)))

    def process(self, cc):
        t = cc.input_timestamp
        words = [str(t) if t.is_special_value() else f"Timestamp({t})"]
        words += ["empty" if port.is_empty() else str(port.payload) for port in cc.inputs]
        cc.output.add(" ".join(words), t)


class Saver(penstock.Calculator):
    """Writes all texts, with slashes between them, after all packets."""

    headers: list[object]

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(str)
        cc.outputs[0].set(str)

    def open(self, cc):
        self.texts = []
        self.headers.append(cc.input.header.payload)
        cc.output.set_next_timestamp_bound(T.POSTSTREAM)

    def process(self, cc):
        self.texts.append(cc.input.payload)

    def close(self, cc):
        cc.output.add("/".join(self.texts), T.POSTSTREAM)


WORK = [
    'Range -> range3 range3_sum range3_mean | input_side_packet: "node_3_converted"',
    'Range -> range5 range5_sum range5_mean | input_side_packet: "node_5_converted"',
    "Merged range3 range5_copy -> merge",
    "Merged range3_sum range5_sum -> merge_sum",
    "Pass range3_stddev range5_stddev -> range3_stddev_2 range5_stddev_2",
    "Pass A:range3_stddev_2 range5_stddev_2 -> A:range3_stddev_3 range5_stddev_3",
    "Pass B:range3_stddev_3 B:1:range5_stddev_3 -> B:range3_stddev_4 B:1:range5_stddev_4",
    "Merged range3_stddev_4 range5_stddev_4 -> merge_stddev",
    "StdDev DATA:range3 MEAN:range3_mean -> range3_stddev",
    "StdDev DATA:range5 MEAN:range5_mean -> range5_stddev",
    "Pass range5 -> range5_copy | name: 'copy_range5'",
    "Saver merge -> final",
    "Saver merge_sum -> final_sum",
    "Saver merge_stddev -> final_stddev",
]
SPLITTERS = [
    'Split | input_side_packet: "node_3" output_side_packet: "node_3_converted"',
    (
        'Split | input_side_packet: "node_5" output_side_packet: "HIGH:unused_high" '
        'output_side_packet: "LOW:unused_low" output_side_packet: "PAIR:node_5_converted"'
    ),
]
POOL_OF_ONE = (
    'type: "ThreadPoolExecutor" options { [mediapipe.ThreadPoolExecutorOptions.ext] { num_threads: 1 } }'
)


def spread(lines):
    """Give the nodes the default executor, the second, the third, the default one, ..."""
    names = ["", ' executor: "second"', ' executor: "third"']
    return [f"{line if ' | ' in line else f'{line} | '}{names[i % 3]}" for i, line in enumerate(lines)]


def check_comprehensive(bench, text, *more, hand_in=None, gives_node_5=True):
    """Run the comprehensive graph twice with success, and once with a source that fails in `open`."""
    headers = []
    saver = type("Saver", (Saver,), {"headers": headers})
    finals = ["final", "final_sum", "final_stddev"]
    graph = bench.load(text, Split, Range, StdDev, Merged, saver, *more, watch=finals)
    if hand_in is not None:
        hand_in(graph)
    sides = {"node_3": 15 << 32 | 3}
    if gives_node_5:
        sides["node_5"] = 15 << 32 | 5
    for number in (1, 2):
        for packets in bench.seen.values():
            packets.clear()
        graph.run(sides, timeout=PATIENCE_S)

        [(at, final)] = bench.seen["final"]
        assert at == T.POSTSTREAM
        assert final == (
            "Timestamp(0) 300 500/Timestamp(3) 301 empty/Timestamp(5) empty 501/Timestamp(6) 302 empty/"
            "Timestamp(9) 303 empty/Timestamp(10) empty 502/Timestamp(12) 304 empty/Timestamp(15) 305 503"
        )
        assert headers.count("RangeCalculator3 RangeCalculator5") == number
        assert bench.seen["final_sum"] == [(T.POSTSTREAM, "Timestamp::PostStream() 1815 2006")]
        assert bench.seen["final_stddev"] == [(T.POSTSTREAM, "Timestamp::PostStream() 171 112")]
        assert graph.counters["copy_range5-PassThrough"] == 4 * number
    with pytest.raises(PenstockError, match="k is 0"):
        graph.run({**sides, "node_3": 15 << 32}, timeout=PATIENCE_S)


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectly")
def test_extra_the_comprehensive_graph_runs_twice_and_fails_in_an_orderly_way(bench):
    check_comprehensive(bench, bench.net("", *WORK, *SPLITTERS))


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectlyOnApplicationThread"
)
def test_extra_the_comprehensive_graph_with_a_number_of_threads_of_zero(pool):
    check_comprehensive(pool, pool.net("", *WORK, *SPLITTERS, more="num_threads: 0\n"))


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectlyWithExternalExecutor"
)
def test_extra_the_comprehensive_graph_on_an_executor_of_the_application(pool):
    with ThreadPoolExecutor(1) as threads:
        check_comprehensive(
            pool, pool.net("", *WORK, *SPLITTERS), hand_in=lambda graph: graph.set_executor("", threads)
        )


class Inline(penstock.Executor):
    """Runs the steps of a graph in the thread that has made them ready, inside that call."""

    def lend_to(self, work):
        return _InlineLease(work)


class _InlineLease(penstock.ExecutorLease):
    def __init__(self, work):
        self._work = work
        self._is_running = False
        self._must_run = False

    def wake(self):
        self._must_run = True
        if self._is_running:
            return
        self._is_running = True
        while self._must_run:
            self._must_run = False
            self._work.run()
        self._is_running = False

    def stop(self, timeout=None):
        return True


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectlyWithCurrentThreadExecutor"
)
def test_extra_the_comprehensive_graph_on_an_executor_that_runs_at_once_in_the_thread_that_wakes_it(pool):
    check_comprehensive(
        pool, pool.net("", *WORK, *SPLITTERS), hand_in=lambda graph: graph.set_executor("", Inline())
    )


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectlyWithNonDefaultExecutors"
)
def test_extra_the_comprehensive_graph_on_three_executors_two_of_the_application(pool):
    with ThreadPoolExecutor(1) as second, ThreadPoolExecutor(1) as third:

        def hand_in(graph):
            graph.set_executor("second", second)
            graph.set_executor("third", third)

        check_comprehensive(
            pool,
            pool.net(
                "",
                *spread(WORK),
                *SPLITTERS,
                more='executor { name: "second" }\nexecutor { name: "third" }\n',
            ),
            hand_in=hand_in,
        )


@pytest.mark.reference(
    "framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectlyWithMultipleExecutors"
)
def test_extra_the_comprehensive_graph_on_three_executors_of_its_own(pool):
    declared = "".join(f'executor {{ name: "{name}" {POOL_OF_ONE} }}\n' for name in ("second", "third"))
    check_comprehensive(pool, pool.net("", *spread(WORK), *SPLITTERS, more=declared))


def test_extra_the_comprehensive_graph_with_a_side_packet_that_a_node_without_inputs_makes(bench):
    make = calculator(open=lambda cc: cc.output_side_packets[0].set(15 << 32 | 5), name="Make")
    nodes = [*WORK, *SPLITTERS, 'Make | output_side_packet: "node_5"']
    check_comprehensive(bench, bench.net("", *nodes), make, gives_node_5=False)


STD_DEV = """
input_side_packet: "node_converted"
output_stream: "DATA:range" output_stream: "SUM:range_sum"
output_stream: "MEAN:range_mean" output_stream: "STDDEV:range_stddev"
node {
  calculator: "Range"
  output_stream: "range" output_stream: "range_sum" output_stream: "range_mean"
  input_side_packet: "node_converted"
}
node {
  calculator: "StdDev"
  input_stream: "DATA:range" input_stream: "MEAN:range_mean"
  output_stream: "range_stddev"
}
"""
MERGE_SAVER = """
input_stream: "DATA1:range1" input_stream: "DATA2:range2"
output_stream: "MERGE:merge" output_stream: "FINAL:final"
node {
  name: "merger" calculator: "Merged"
  input_stream: "range1" input_stream: "range2" output_stream: "merge"
}
node { calculator: "Saver" input_stream: "merge" output_stream: "final" }
"""


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.RunsCorrectlyWithSubgraphs")
def test_extra_the_comprehensive_graph_made_of_subgraphs(bench):
    ranges = [
        f"RangeStdDev -> DATA:range{k} SUM:range{k}_sum MEAN:range{k}_mean STDDEV:range{k}_stddev | "
        f'input_side_packet: "node_{k}_converted"'
        for k in (3, 5)
    ]
    text = bench.net(
        "",
        *SPLITTERS,
        *ranges,
        "Pass range5 -> range5_copy | name: 'copy_range5'",
        "MergeSaver DATA1:range3 DATA2:range5_copy -> MERGE:merge FINAL:final",
        "MergeSaver DATA1:range3_sum DATA2:range5_sum -> FINAL:final_sum",
        "MergeSaver DATA1:range3_stddev DATA2:range5_stddev -> FINAL:final_stddev",
        more='output_stream: "MERGE:merge"\n',
    )
    bench.subgraphs = {"RangeStdDev": STD_DEV, "MergeSaver": MERGE_SAVER}
    check_comprehensive(bench, text)


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.BadInitialization")
def test_extra_a_node_without_a_calculator_is_refused(bench):
    text = bench.net("", *WORK, *SPLITTERS)
    before, calculator_line, after = text.partition('calculator: "Range"')
    second = after.replace(calculator_line, "", 1)

    with pytest.raises(GraphConfigError, match="calculator") as caught:
        bench.load(before + calculator_line + second, Split, Range, StdDev, Merged, Saver)

    assert len(caught.value.faults) == 1


@pytest.mark.reference("framework/calculator_graph_test.cc", "CalculatorGraph.BadRun")
def test_extra_a_run_without_the_side_packets_that_the_graph_needs_is_refused(bench):
    graph = bench.load(bench.net("", *WORK, *SPLITTERS), Split, Range, StdDev, Merged, Saver)

    with pytest.raises(GraphConfigError, match="node_3") as caught:
        graph.run(timeout=PATIENCE_S)

    assert "node_5" in str(caught.value)
