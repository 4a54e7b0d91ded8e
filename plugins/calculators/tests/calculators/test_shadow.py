"""Shadow: a candidate beside a calculator neither delays it nor ends its run, and reports differences."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import penstock
from penstock import CalculatorGraph, GraphConfigError, Packet
from penstock.packs import default_registry
from penstock_calculators.watching.shadow import Shadow
from penstock_calculators.watching.shadow_diff import ShadowDifference
from penstock_calculators.watching.shadow_pairs import ShadowPair, ShadowPairCalculator
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, node, run_calculator, wired

WAIT = 20


class Twice(penstock.Calculator):
    """Doubles numbers and arrays."""

    factor = 2

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.outputs[0].add(self.factor * cc.inputs[0].payload, cc.stamp)


class SixDiffers(Twice):
    """Doubles, but 6 becomes 13."""

    def process(self, cc):
        six = cc.inputs[0].payload == 6
        cc.outputs[0].add(13 if six else 2 * cc.inputs[0].payload, cc.stamp)


class OddOnly(Twice):
    """Doubles odd numbers, and fails at 4."""

    def process(self, cc):
        number = cc.inputs[0].payload
        if number == 4:
            raise ValueError("four")
        if number % 2:
            super().process(cc)


class Nearly(Twice):
    factor = 2.01


class Held(Twice):
    """Works when the test lets it."""

    go = threading.Event()
    began = threading.Event()

    def process(self, cc):
        self.began.set()
        assert self.go.wait(WAIT)
        super().process(cc)


class Worse(Twice):
    """Writes a packet behind its bound, which is an error."""

    def process(self, cc):
        cc.outputs[0].add(0, cc.stamp - 1000)


@pytest.fixture
def registry():
    Held.go.clear()
    Held.began.clear()
    registry = default_registry().child()
    for one in (Twice, SixDiffers, OddOnly, Nearly, Held, Worse):
        registry.add("calculator", one.__name__, one)
    yield registry
    Held.go.set()


GRAPH = """
input_stream: "in"
output_stream: "out"
output_stream: "differences"
max_queue_size: 4
executor {{ name: "shadow" type: "LowPriorityThreadPoolExecutor" }}
node {{
  calculator: "Shadow"
  name: "both"
  input_stream: "in"
  output_stream: "out"
  output_stream: "DIFF:differences"
  node_options {{
    [type.googleapis.com/penstock.ShadowOptions] {{
      primary {{ calculator: "Twice" }}
      candidate {{ calculator: "{}" }}
      executor: "shadow"
      {}
    }}
  }}
}}
"""


def need_failures():
    """Skip the test where the layer is missing that lets a candidate fail."""
    pytest.importorskip("penstock_failures", reason="penstock-failures is not installed")


class Run:
    """A run that is fed one packet at a time."""

    def __init__(self, registry, candidate, more=""):
        need_failures()
        self.graph = CalculatorGraph(GRAPH.format(candidate, more), registry=registry)
        self.out, self.differences = [], []
        self.passed = threading.Semaphore(0)
        self.graph.observe_output_stream("out", self._passes)
        self.graph.observe_output_stream("differences", self._differs)
        self.graph.start_run()

    def _passes(self, _, packet):
        self.out.append(packet.payload)
        self.passed.release()

    def _differs(self, _, packet):
        self.differences.append((int(packet.timestamp), packet.payload))

    def feed(self, *numbers):
        for number in numbers:
            stamp = int(number) if np.isscalar(number) else int(number.flat[0])
            self.graph.add_packet_to_input_stream("in", Packet(number, stamp))
            self.graph.wait_until_idle(WAIT)
        return self

    def close(self):
        self.graph.close(WAIT)
        return self

    def counter(self, name):
        return self.graph.counters.get(f"both__ShadowDiffCalculator-{name}", 0)


def test_equal_outputs_give_no_difference(registry):
    run = Run(registry, "Twice").feed(*range(1, 9)).close()

    assert run.out == [2 * n for n in range(1, 9)]
    assert run.differences == []
    assert run.counter("compared") == 8
    assert run.counter("differing") == 0
    assert run.graph.ledger().adds_up


def test_what_differs_is_told_with_its_timestamp_and_amount(registry):
    run = Run(registry, "SixDiffers").feed(*range(1, 9)).close()

    assert run.out == [2 * n for n in range(1, 9)]
    assert run.differences == [(6, [ShadowDifference(0, "12 and 13", 1.0)])]
    assert run.counter("differing") == 1


def test_a_call_that_fails_or_writes_nothing_is_a_difference_and_the_run_goes_on(registry):
    run = Run(registry, "OddOnly").feed(1, 2, 3, 4, 5).close()

    assert run.out == [2, 4, 6, 8, 10]
    (two, (skipped,)), (four, (failed,)) = run.differences
    assert (two, skipped.words) == (2, "only the primary wrote a packet")
    assert four == 4
    assert failed.words.startswith("the candidate failed: node 'both__OddOnly'")
    assert "ValueError: four" in failed.words
    assert run.counter("failed") == 1


def test_a_candidate_that_breaks_the_rules_of_streams_does_not_end_the_run(registry):
    run = Run(registry, "Worse").feed(1, 2, 3).close()

    assert run.out == [2, 4, 6]
    assert run.counter("failed") == 3


def test_a_slow_candidate_holds_up_nothing_and_misses_what_it_cannot_take(registry):
    run = Run(registry, "Held")
    run.graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    run.graph.add_packet_to_input_stream("in", Packet(1, 1))
    assert Held.began.wait(WAIT)
    assert run.passed.acquire(timeout=WAIT)
    for number in range(2, 101):  # 25 times what a queue holds, while the candidate is at the first one
        run.graph.add_packet_to_input_stream("in", Packet(number, number))
        assert run.passed.acquire(timeout=WAIT)
    before = (len(run.out), run.counter("compared"))
    Held.go.set()
    run.close()

    assert before == (100, 0)
    assert run.counter("compared") == 1
    assert run.differences == []
    left_out = [drop for drop in run.graph.ledger().drops if drop.reason == "limiter full (max_in_queue)"]
    assert sum(drop.count for drop in left_out) == 99


@pytest.mark.parametrize(("tolerance", "differing"), [(0, 1), (1, 0)])
def test_numbers_and_arrays_may_differ_by_a_tolerance(registry, tolerance, differing):
    run = Run(registry, "Nearly", f"tolerance: {tolerance}").feed(np.array([10.0, 20.0])).close()

    assert run.counter("differing") == differing
    if differing:
        ((_, (found,)),) = run.differences
        assert found.largest == pytest.approx(0.2)
        assert found.words.startswith("2 of 2 elements differ")


def test_payloads_that_cannot_be_compared_are_told_and_end_nothing():
    pair = ShadowPair((Packet([np.zeros(2)], 1),), (Packet([np.zeros(2)], 1),))

    run = run_calculator("ShadowDiffCalculator", {"PAIR": [(1, pair)]}, outputs=["DIFF"])

    (packet,) = run.outputs["DIFF"]
    (found,) = packet.payload
    assert found.words.startswith("cannot be compared: ValueError")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('primary { calculator: "Twice" }', "", "option primary names no calculator"),
        ('candidate { calculator: "Twice" }', "", "option candidate names no calculator"),
        ('executor: "shadow"\n', "", "the shadow has no option executor"),
        ('executor: "shadow"\n', 'executor: "shadow" max_in_flight: 0\n', "max_in_flight is 0, but must be"),
        ('executor: "shadow"\n', 'executor: "shadow" tolerance: -1\n', "tolerance is -1, but must be"),
        (
            '  output_stream: "out"\n  output_stream: "DIFF',
            '  output_stream: "DIFF',
            "1 inputs and 0 outputs",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused_when_the_graph_is_loaded(registry, old, new, message):
    text = GRAPH.format("Twice", "")
    assert old in text

    with pytest.raises(GraphConfigError, match=message):
        CalculatorGraph(text.replace(old, new), registry=registry)


class Sum(penstock.Calculator):
    """Adds two inputs and a side packet."""

    more = 0

    @classmethod
    def get_contract(cls, cc):
        for port in (cc.inputs["A"], cc.inputs["B"], cc.outputs["SUM"], cc.outputs["A"]):
            port.set(int)
        cc.input_side_packets["PLUS"].set(int)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        numbers = [cc.inputs[tag].payload for tag in "AB"]
        plus = cc.input_side_packets["PLUS"].payload
        cc.outputs["SUM"].add(sum(numbers) + plus + self.more, cc.stamp)
        cc.outputs["A"].add(numbers[0], cc.stamp)


class OneMore(Sum):
    more = 1


def test_ports_with_tags_and_side_packets_go_to_both(registry):
    need_failures()
    registry.add("calculator", "Sum", Sum)
    registry.add("calculator", "OneMore", OneMore)
    rows = penstock.run(
        """
        executor { name: "shadow" type: "LowPriorityThreadPoolExecutor" }
        node {
          calculator: "Shadow"
          name: "both"
          input_stream: "A:a"
          input_stream: "B:b"
          input_side_packet: "PLUS:plus"
          output_stream: "SUM:sum"
          output_stream: "A:same"
          output_stream: "DIFF:differences"
          node_options {
            [type.googleapis.com/penstock.ShadowOptions] {
              primary { calculator: "Sum" } candidate { calculator: "OneMore" } executor: "shadow"
            }
          }
        }
        input_stream: "a" input_stream: "b" input_side_packet: "plus"
        output_stream: "sum" output_stream: "same" output_stream: "differences"
        """,
        {"a": [(1, 10)], "b": [(1, 20)]},
        side_packets={"plus": 100},
        registry=registry,
    )

    assert [packet.payload for packet in rows["sum"]] == [130]
    assert [packet.payload for packet in rows["same"]] == [10]
    ((found,),) = [packet.payload for packet in rows["differences"]]
    ports = ["A", "SUM"]  # outputs count in the order of their tags
    assert (ports[found.output], found.words, found.largest) == ("SUM", "130 and 131", 1.0)


def test_the_example_of_the_docstring_runs_as_part_of_a_graph():
    need_failures()
    example = Shadow.__doc__.partition("Example config::")[2]
    found = penstock.run(
        f'input_stream: "frames" output_stream: "shown" output_stream: "differences"\n{example}',
        {"frames": [(1, "a")]},
    )

    assert [packet.payload for packet in found["shown"]] == ["a"]
    (packet,) = found["differences"]
    assert packet.payload == [ShadowDifference(0, "only the primary wrote a packet")]


def test_packets_of_the_primary_are_released_when_no_pair_needs_them(kept):
    plan = wired(
        node(
            ShadowPairCalculator,
            "ALLOW:allow PRIMARY:primary CANDIDATE:candidate",
            "PAIR:pairs",
            handler=ImmediateInputStreamHandler,
        ),
        inputs="allow primary candidate",
    )
    harness = ScheduleHarness(plan).start()
    objects = []
    for stamp in range(1000, 1200):
        harness.add("primary", stamp, stamp)
        harness.add("allow", stamp == 1000, stamp)  # the candidate is at the first one for ever
        harness.run()
        objects.append(kept(harness.node("ShadowPairCalculator").calculator))

    assert objects[-1] <= objects[9]
    harness.add("candidate", "late", 1000)
    harness.set_bound("candidate", 1200)
    harness.run()

    ((stamp, pair),) = harness.carried("pairs")
    assert (stamp, pair.primary[0].payload, pair.candidate[0].payload) == (1000, 1000, "late")
    assert kept(harness.node("ShadowPairCalculator").calculator) <= objects[9]
