"""When open and close come, and a summary packet in close, from the document on real-time streams."""

from __future__ import annotations

import pytest

import penstock
from penstock import Timestamp
from penstock.errors import FailedPreconditionError, GraphConfigError

GRAPH = """
input_stream: "in"
node { calculator: "Summary" input_stream: "in" output_stream: "out" }
"""


class Summary(penstock.Calculator):
    """Counts its inputs; the count comes in close, at MAX, which process keeps free."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs[0].set(int)

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        self.count += 1
        cc.output.set_next_timestamp_bound(min(cc.input_timestamp.next_allowed_in_stream(), Timestamp.MAX))

    def close(self, cc):
        cc.output.add(self.count, Timestamp.MAX)


JOIN = 'node { calculator: "Join" input_stream: "in" input_stream: "out" output_stream: "joined" }'


class Join(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        for port in cc.inputs:
            port.set_any()
        cc.outputs[0].set(tuple)

    def process(self, cc):
        cc.output.add(tuple(port.payload for port in cc.inputs), cc.input_timestamp)


def test_the_summary_comes_in_close_at_max(bench):
    bench.start(GRAPH, Summary, watch=["out"])
    for t in (1, 5, 9):
        bench.add("in", t, "x")
    bench.idle()
    assert bench.seen["out"] == []

    bench.end()

    assert bench.seen["out"] == [(Timestamp.MAX, 3)]


@pytest.mark.parametrize("last", [Timestamp.MAX, Timestamp.POSTSTREAM])
def test_the_summary_comes_also_after_an_input_at_the_very_end(bench, last):
    bench.start(GRAPH, Summary, watch=["out"])
    bench.add("in", last, "x")
    bench.end()

    assert bench.seen["out"] == [(Timestamp.MAX, 1)]


def test_the_bounds_of_process_let_those_below_run_before_the_summary(bench):
    bench.start(GRAPH + JOIN, Summary, Join, watch=["joined"])
    for t in (1, 2):
        bench.add("in", t, f"x{t}")
    bench.idle()
    assert bench.seen["joined"] == [(1, ("x1", None)), (2, ("x2", None))]

    bench.end()

    assert bench.seen["joined"][2:] == [(Timestamp.MAX, (None, 2))]


def test_the_summary_comes_in_every_run_and_counts_anew(bench):
    bench.load(GRAPH, Summary, watch=["out"])
    for count in (2, 0):
        bench.graph.start_run()
        for t in range(count):
            bench.add("in", t, "x")
        bench.end()

    assert bench.seen["out"] == [(Timestamp.MAX, 2), (Timestamp.MAX, 0)]


def test_the_summary_comes_when_all_packet_sources_are_closed(bench):
    bench.start(GRAPH, Summary, watch=["out"])
    bench.add("in", 1, "x")
    bench.graph.close_all_packet_sources()
    bench.done()

    assert bench.seen["out"] == [(Timestamp.MAX, 1)]


def test_a_node_with_an_offset_cannot_write_its_summary_and_learns_the_cure(bench):
    class OffsetSummary(Summary):
        @classmethod
        def get_contract(cls, cc) -> None:
            super().get_contract(cc)
            cc.set_timestamp_offset(0)

        def process(self, cc):
            self.count += 1

    bench.start(GRAPH.replace("Summary", "OffsetSummary"), OffsetSummary, watch=["out"])
    bench.add("in", 1, "x")

    error = bench.failure(bench.end)

    [cause] = error.errors
    assert (cause.node, cause.method, cause.stream) == ("OffsetSummary", "close", "out")
    assert isinstance(cause.__cause__, FailedPreconditionError)
    assert "a node with a timestamp offset cannot write in close()" in str(error)
    assert "set bounds in process() instead of the offset, and keep a timestamp (Timestamp.MAX, say)" in str(
        error
    )
    assert bench.seen["out"] == []


LOOP = """
input_stream: "in"
node {
  calculator: "LoopSummary"
  input_stream: "in"
  input_stream: "back"
  input_stream_info: { tag_index: ":1" back_edge: true }
  output_stream: "out"
}
node { calculator: "PassThroughCalculator" input_stream: "out" output_stream: "back" }
"""


def test_nodes_whose_inputs_never_end_are_closed_at_the_end_and_what_they_write_is_delivered(bench):
    class LoopSummary(Summary):
        @classmethod
        def get_contract(cls, cc) -> None:
            cc.inputs[0].set_any()
            cc.inputs[1].set_any()
            cc.outputs[0].set(int)

    bench.start(LOOP, LoopSummary, watch=["out", "back"])
    bench.end()

    assert bench.seen["out"] == [(Timestamp.MAX, 0)]
    assert bench.seen["back"] == [(Timestamp.MAX, 0)]


# --- open, and the side packets that it waits for ----------------------------------------------


class Consumer(penstock.Calculator):
    """Writes down its side packets when it is opened."""

    met: list

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        for port in cc.input_side_packets:
            port.set(str)

    def open(self, cc):
        self.met.append([packet.payload for packet in cc.input_side_packets])

    def process(self, cc):
        """Nothing to do with packets."""


class Maker(penstock.Calculator):
    """Makes a side packet of its first input."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(str)
        cc.output_side_packets[0].set(str)

    def open(self, cc):
        self.is_made = False

    def process(self, cc):
        if not self.is_made:
            cc.output_side_packets[0].set(cc.input.payload)
            self.is_made = True


SIDES = """
input_stream: "in"
input_stream: "other"
node {
  calculator: "Consumer"
  input_stream: "other"
  input_side_packet: "for_all_runs"
  input_side_packet: "for_this_run"
  input_side_packet: "made"
}
node { calculator: "Maker" input_stream: "in" output_side_packet: "made" }
"""


@pytest.fixture
def consumer():
    return type("Consumer", (Consumer,), {"met": []})


def test_open_comes_once_all_side_packets_are_there_wherever_they_come_from(bench, consumer):
    bench.load(SIDES, consumer, Maker, side_packets={"for_all_runs": "a"})
    for run in ("1", "2"):
        consumer.met.clear()
        bench.graph.start_run({"for_this_run": f"b{run}"})
        bench.idle()
        assert consumer.met == []
        assert bench.node("Consumer").waits_for == "side packet 'made'"

        bench.add("in", 0, f"c{run}")
        bench.idle()
        assert consumer.met == [["a", f"b{run}", f"c{run}"]]
        assert bench.graph.get_output_side_packet("made").payload == f"c{run}"
        bench.end()


def test_a_run_does_not_start_without_a_side_packet_that_only_the_application_can_give(bench, consumer):
    bench.load(SIDES, consumer, Maker, side_packets={"for_all_runs": "a"})

    with pytest.raises(GraphConfigError, match="'for_this_run'"):
        bench.graph.start_run()
    assert consumer.met == []


def test_close_comes_when_all_inputs_are_done_by_closing_or_by_a_bound(bench):
    closed = []

    class Watcher(Join):
        def close(self, cc):
            closed.append([port.is_done() for port in cc.inputs])

    bench.start(
        """input_stream: "in" input_stream: "out"
        node { calculator: "Watcher" input_stream: "in" input_stream: "out" output_stream: "joined" }
        input_stream: "other"
        node { calculator: "PassThroughCalculator" input_stream: "other" output_stream: "same" }""",
        Watcher,
    )
    bench.graph.close_input_stream("in")
    bench.idle()
    assert closed == []

    bench.graph.close_input_stream("out")
    bench.idle()
    assert closed == [[True, True]]
    assert bench.node("Watcher").state == "closed"
    bench.end()
