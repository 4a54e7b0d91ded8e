"""The cycle of the first document: sums of integers through a unit delay, with either edge as back edge."""

from __future__ import annotations

import itertools

import pytest

import penstock
from penstock import STOP, GraphConfigError, StatusCode, Timestamp

SUMS = [(0, 1), (1, 3), (2, 6), (3, 10), (4, 15)]
BACK_EDGE_AT_THE_ADDER = """  input_stream_info: {
    tag_index: ':1'  # 'old_sum'
    back_edge: true
  }
"""
BACK_EDGE_AT_THE_DELAY = "  input_stream_info: { tag_index: ':0' back_edge: true }\n"
EARLY_CLOSE = """  input_stream_handler {
    input_stream_handler: 'EarlyCloseInputStreamHandler'
  }
"""


class GlobalCountSourceCalculator(penstock.Calculator):
    """The next five integers of a counter that all runs share, at 0, 1, 2, ..."""

    opened: list

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.input_side_packets[0].set(itertools.count)
        cc.outputs[0].set(int)

    def open(self, cc):
        self.opened.append("source")
        self.sent = 0

    def process(self, cc):
        cc.output.add(next(cc.input_side_packets[0].payload), self.sent)
        self.sent += 1
        return STOP if self.sent == len(SUMS) else None


class IntAdderCalculator(penstock.Calculator):
    """The sum of all inputs, which must all be there."""

    opened: list

    @classmethod
    def get_contract(cls, cc) -> None:
        for port in cc.inputs:
            port.set(int)
        cc.outputs[0].set(int)
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self.opened.append("adder")

    def process(self, cc):
        cc.output.add(sum(port.packet.get(int) for port in cc.inputs), cc.input_timestamp)


class UnitDelayCalculator(penstock.Calculator):
    opened: list

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int, "An integer.")
        cc.outputs[0].set(int, "The input delayed by one time unit.")

    def open(self, cc):
        self.opened.append("delay")
        cc.output.add(0, Timestamp(0))

    def process(self, cc):
        packet = cc.input.packet
        cc.output.add_packet(packet.at(packet.timestamp.next_allowed_in_stream()))


@pytest.fixture
def calculators():
    """The three calculators; they write down in which order they are opened."""
    opened = []
    kinds = (GlobalCountSourceCalculator, IntAdderCalculator, UnitDelayCalculator)
    return [type(kind.__name__, (kind,), {"opened": opened}) for kind in kinds]


def with_back_edge_at_the_delay(text):
    text = text.replace(BACK_EDGE_AT_THE_ADDER, "")
    return text.replace("  input_stream: 'sum'\n", "  input_stream: 'sum'\n" + BACK_EDGE_AT_THE_DELAY)


@pytest.fixture(params=["old_sum", "sum"])
def cycle(request, graph_text):
    """The document's text with the back edge where it has it, or with the other one."""
    text = graph_text("cycle")
    return text if request.param == "old_sum" else with_back_edge_at_the_delay(text)


def test_the_sums_come_out_with_either_edge_as_back_edge(bench, cycle, calculators):
    bench.load(
        cycle,
        *calculators,
        watch=["integers", "sum", "old_sum"],
        side_packets={"global_counter": itertools.count(1)},
    )
    bench.graph.start_run()
    bench.done()

    assert bench.seen == {
        "integers": [(i, i + 1) for i in range(5)],
        "sum": SUMS,
        "old_sum": [(0, 0), *((t + 1, value) for t, value in SUMS)],
    }


def test_the_cycle_runs_again_and_the_counter_goes_on(bench, cycle, calculators):
    bench.load(cycle, *calculators, watch=["sum"], side_packets={"global_counter": itertools.count(1)})
    for _ in range(2):
        bench.graph.start_run()
        bench.done()

    assert bench.seen["sum"] == [*SUMS, *((i, sum(range(6, 7 + i))) for i in range(5))]


def order(bench):
    return [node.calculator for node in bench.graph.snapshot().nodes]


def test_with_the_old_sum_as_back_edge_the_delay_is_downstream_of_the_adder(
    in_order, graph_text, calculators
):
    in_order.load(graph_text("cycle"), *calculators, side_packets={"global_counter": itertools.count(1)})
    in_order.graph.start_run()
    in_order.done()

    assert order(in_order) == ["GlobalCountSourceCalculator", "IntAdderCalculator", "UnitDelayCalculator"]
    assert calculators[0].opened == ["source", "adder", "delay"]


def test_with_the_sum_as_back_edge_the_delay_is_upstream_of_the_adder(in_order, graph_text, calculators):
    text = with_back_edge_at_the_delay(graph_text("cycle"))
    in_order.load(text, *calculators, side_packets={"global_counter": itertools.count(1)})
    in_order.graph.start_run()
    in_order.done()

    assert order(in_order) == ["GlobalCountSourceCalculator", "UnitDelayCalculator", "IntAdderCalculator"]
    assert calculators[0].opened == ["source", "delay", "adder"]


#: Two nodes that become ready at once, so that the priority shows: the one downstream runs first.
RACE = """
input_stream: "go"
node { calculator: "First" input_stream: "go" input_stream: "b" %s output_stream: "a" }
node { calculator: "Second" input_stream: "go" input_stream: "a" %s output_stream: "b" }
"""


@pytest.mark.parametrize(
    ("at_first", "at_second", "expected"),
    [
        ('input_stream_info { tag_index: ":1" back_edge: true }', "", ["Second", "First"]),
        ("", 'input_stream_info { tag_index: ":1" back_edge: true }', ["First", "Second"]),
    ],
)
def test_of_two_ready_nodes_the_one_downstream_runs_first(in_order, at_first, at_second, expected):
    ran = []

    class First(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            cc.inputs[0].set_any()
            cc.inputs[1].set_any()
            cc.outputs[0].set_any()

        def open(self, cc):
            cc.output.set_next_timestamp_bound(100)

        def process(self, cc):
            ran.append(type(self).__name__)

    class Second(First):
        pass

    in_order.start(RACE % (at_first, at_second), First, Second)
    in_order.idle()
    in_order.add("go", 1, "now")
    in_order.idle()

    assert ran == expected
    in_order.end()


def test_without_the_back_edge_annotation_the_cycle_is_refused_and_named(bench, graph_text, calculators):
    text = graph_text("cycle").replace(BACK_EDGE_AT_THE_ADDER, "")

    with pytest.raises(GraphConfigError, match="cycle: IntAdderCalculator → UnitDelayCalculator") as caught:
        bench.load(text, *calculators)

    assert caught.value.code is StatusCode.UNKNOWN
    assert """input_stream_info { tag_index: ":1" back_edge: true }""" in str(caught.value)


def test_without_early_close_the_adder_meets_the_last_sum_without_an_integer(bench, cycle, calculators):
    text = cycle.replace(EARLY_CLOSE, "")
    assert text != cycle
    bench.load(text, *calculators, watch=["sum"], side_packets={"global_counter": itertools.count(1)})
    bench.graph.start_run()

    error = bench.failure()

    assert (error.node, error.timestamp) == ("IntAdderCalculator", 5)
    assert "expected a packet of type 'int', got an empty packet" in str(error)
    assert bench.seen["sum"] == SUMS


def test_early_close_ends_the_adder_as_soon_as_the_integers_end(bench, cycle, calculators):
    keep_open = """
    input_stream: "other"
    node { calculator: "PassThroughCalculator" input_stream: "other" output_stream: "same_other" }
    """
    bench.start(
        cycle + keep_open, *calculators, watch=["sum"], side_packets={"global_counter": itertools.count(1)}
    )
    bench.idle()

    assert bench.seen["sum"] == SUMS
    for name in ("GlobalCountSourceCalculator", "IntAdderCalculator", "UnitDelayCalculator"):
        assert bench.node(name).state == "closed"
    assert bench.node("PassThroughCalculator").state == "opened"
    bench.end()
