"""Timestamp bounds as the document on real-time streams has them: which node waits, and the three cures."""

from __future__ import annotations

import pytest

import penstock
from penstock import GraphConfigError, Packet, Timestamp
from penstock.errors import FailedPreconditionError, NotFoundError

INPUTS = 'input_stream: "alpha_in"\ninput_stream: "foo"\n'


class SilentA(penstock.Calculator):
    """Node A: passes even values on; what it does about odd ones is left to subclasses: nothing here."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def process(self, cc):
        if not cc.input.is_empty() and cc.input.payload % 2 == 0:
            cc.output.add(cc.input.payload, cc.input_timestamp)
        else:
            self.say_nothing_comes(cc)

    def say_nothing_comes(self, cc):
        """Leave those below in the dark."""


class BoundA(SilentA):
    def say_nothing_comes(self, cc):
        cc.outputs[0].set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


class BoundForAllOutputsA(SilentA):
    def say_nothing_comes(self, cc):
        cc.set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


class EmptyPacketA(SilentA):
    def say_nothing_comes(self, cc):
        cc.outputs[0].add_packet(Packet().at(cc.input_timestamp))


class OffsetA(SilentA):
    @classmethod
    def get_contract(cls, cc) -> None:
        super().get_contract(cc)
        cc.set_timestamp_offset(0)


class OffsetInOpenA(SilentA):
    def open(self, cc):
        cc.set_offset(0)


class ProcessBoundsA(BoundA):
    @classmethod
    def get_contract(cls, cc) -> None:
        super().get_contract(cc)
        cc.set_process_timestamp_bounds(True)


class B(penstock.Calculator):
    """Node B: writes what it got from both streams."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)
        cc.inputs[1].set(str)
        cc.outputs[0].set(tuple)

    def process(self, cc):
        cc.output.add(tuple(port.payload for port in cc.inputs), cc.input_timestamp)


def as_node_a(calculator):
    return type("A", (calculator,), {})


ALL_ROWS = [(0, (0, "f0")), (1, (None, "f1")), (2, (2, "f2")), (3, (None, "f3"))]


def test_without_a_bound_b_waits_for_alpha_while_foo_piles_up(bench, graph_text):
    bench.start(INPUTS + graph_text("alpha_foo"), as_node_a(SilentA), B, watch=["beta"])

    bench.add("alpha_in", 1, 1)
    for t, waiting in ((1, 1), (2, 2), (3, 3)):
        bench.add("foo", t, f"f{t}")
        bench.idle()
        assert bench.queued("foo") == waiting
        assert bench.seen["beta"] == []

    assert bench.node("B").waits_for == "stream 'alpha' (no packet yet) to settle 1"

    bench.add("alpha_in", 2, 2)
    bench.idle()
    assert bench.seen["beta"] == [(1, (None, "f1")), (2, (2, "f2"))]
    assert bench.node("B").waits_for == "stream 'alpha' (bound 3) to settle 3"
    bench.end()
    assert bench.seen["beta"] == [(1, (None, "f1")), (2, (2, "f2")), (3, (None, "f3"))]


@pytest.mark.parametrize(
    "cure", [BoundA, BoundForAllOutputsA, EmptyPacketA, OffsetA, OffsetInOpenA, ProcessBoundsA]
)
def test_once_alpha_tells_its_bound_b_runs_at_each_time_at_once(bench, graph_text, cure):
    bench.start(INPUTS + graph_text("alpha_foo"), as_node_a(cure), B, watch=["beta"])

    for t in range(4):
        bench.add("foo", t, f"f{t}")
        bench.idle()
        assert bench.seen["beta"] == ALL_ROWS[:t]
        bench.add("alpha_in", t, t)
        bench.idle()
        assert bench.seen["beta"] == ALL_ROWS[: t + 1]
        assert bench.queued("foo") == 0
    bench.end()
    assert bench.seen["beta"] == ALL_ROWS


@pytest.mark.parametrize("cure", [OffsetA, OffsetInOpenA, ProcessBoundsA])
def test_an_offset_or_process_bounds_let_a_bound_through_that_comes_without_a_packet(bench, graph_text, cure):
    bench.start(INPUTS + graph_text("alpha_foo"), as_node_a(cure), B, watch=["beta"])

    bench.add("foo", 10, "f10")
    bench.graph.set_input_stream_timestamp_bound("alpha_in", 11)
    bench.idle()

    assert bench.seen["beta"] == [(10, (None, "f10"))]
    bench.end()


@pytest.mark.parametrize("cure", [SilentA, BoundA, EmptyPacketA])
def test_without_them_process_is_not_called_for_a_bound_alone(bench, graph_text, cure):
    bench.start(INPUTS + graph_text("alpha_foo"), as_node_a(cure), B, watch=["beta"])

    bench.add("foo", 10, "f10")
    bench.graph.set_input_stream_timestamp_bound("alpha_in", 11)
    bench.idle()

    assert bench.node("A").steps == 0
    assert bench.seen["beta"] == []
    bench.end()


def test_the_fragment_alone_is_refused_since_nobody_writes_its_inputs(bench, graph_text):
    with pytest.raises(GraphConfigError) as caught:
        bench.load(graph_text("alpha_foo"), as_node_a(SilentA), B)

    assert len(caught.value.faults) == 2
    assert "'alpha_in'" in str(caught.value.faults[0])
    assert "'foo'" in str(caught.value.faults[1])


# --- the code examples -------------------------------------------------------------------------

ONE_NODE = """
input_stream: "in"
node { calculator: "%s" input_stream: "IN:in" output_stream: "OUT:out" }
"""


class Tagged(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs["IN"].set_any()
        cc.outputs["OUT"].set_same_as(cc.inputs["IN"])


def test_the_next_allowed_timestamp_is_one_later():
    assert Timestamp(1).next_allowed_in_stream() == Timestamp(2)


def test_a_bound_is_set_on_the_output_by_its_tag(bench):
    class FirstExample(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            cc.inputs[0].set_any()
            cc.outputs["OUTPUT_FRAME"].set_any()

        def process(self, cc):
            cc.outputs["OUTPUT_FRAME"].set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())

    bench.start(
        """input_stream: "in"
        node { calculator: "FirstExample" input_stream: "in" output_stream: "OUTPUT_FRAME:output_frame" }""",
        FirstExample,
        watch=["output_frame"],
        bounds=True,
    )
    bench.add("in", 1, "a")
    bench.idle()

    assert bench.seen["output_frame"] == [(1, None)]
    bench.end()


def test_the_lower_case_tag_of_the_example_is_no_tag(bench):
    with pytest.raises(GraphConfigError, match=r"'output_frame:x' is no port: .* the tag in upper case"):
        bench.load(ONE_NODE.replace("OUT:out", "output_frame:x") % "Tagged", Tagged)

    class LowerCase(Tagged):
        def process(self, cc):
            cc.outputs["output_frame"].set_next_timestamp_bound(1)

    bench.start(ONE_NODE % "LowerCase", LowerCase)
    bench.add("in", 1, "a")

    error = bench.failure()
    assert isinstance(error.errors[0].__cause__, NotFoundError)
    assert "there is no output 'output_frame'; connected are: 'OUT'" in str(error)


class BoundOfT(Tagged):
    def process(self, cc):
        t = cc.input_timestamp
        cc.outputs["OUT"].set_next_timestamp_bound(t.next_allowed_in_stream())


class EmptyPacketAtT(Tagged):
    def process(self, cc):
        t = cc.input_timestamp
        cc.outputs["OUT"].add_packet(Packet().at(t))


class OffsetZero(Tagged):
    @classmethod
    def get_contract(cls, cc) -> None:
        super().get_contract(cc)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        """The offset does what there is to do."""


class Replica(Tagged):
    """The document's replica of an offset of 0, line by line."""

    def open(self, cc):
        cc.set_process_timestamp_bounds(True)

    def process(self, cc):
        cc.outputs["OUT"].set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


@pytest.mark.parametrize("calculator", [BoundOfT, EmptyPacketAtT, OffsetZero, Replica])
def test_a_bound_after_t_and_an_empty_packet_at_t_say_the_same(bench, calculator):
    bench.start(ONE_NODE % calculator.__name__, calculator, watch=["out"], bounds=True)

    for t in (5, 8):
        bench.add("in", t, "a")
        bench.idle()

    assert bench.seen["out"] == [(5, None), (8, None)]
    bench.end()


class OffsetZeroPass(OffsetZero):
    def process(self, cc):
        if not cc.inputs["IN"].is_empty():
            cc.outputs["OUT"].add_packet(cc.inputs["IN"].packet)


class ReplicaPass(Replica):
    def process(self, cc):
        if not cc.inputs["IN"].is_empty():
            cc.outputs["OUT"].add_packet(cc.inputs["IN"].packet)
        else:
            super().process(cc)


FEEDS = {
    "bounds and packets": [("bound", 3), ("packet", 5), ("bound", 6), ("bound", 20), ("packet", 20)],
    "bounds only": [("bound", 1), ("bound", 2), ("bound", 1000)],
    "packets only": [("packet", 0), ("packet", 1), ("packet", 7)],
    "from the smallest on": [("packet", Timestamp.MIN), ("bound", 0), ("packet", Timestamp.MAX - 1)],
}
ENDS = {
    "the last": [("packet", Timestamp.MAX)],
    "before all": [("packet", Timestamp.PRESTREAM)],
    "after all": [("packet", Timestamp.POSTSTREAM)],
}


def outputs_of(bench, calculator, feed):
    bench.start(ONE_NODE % calculator.__name__, calculator, watch=["out"], bounds=True)
    for what, t in feed:
        if what == "bound":
            bench.graph.set_input_stream_timestamp_bound("in", t)
        else:
            bench.add("in", t, f"at {t}")
        bench.idle()
    before_the_end = list(bench.seen["out"])
    bench.end()
    return before_the_end, bench.seen["out"]


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize(
    ("original", "replica"), [(OffsetZero, Replica), (OffsetZeroPass, ReplicaPass)], ids=["empty", "pass"]
)
def test_an_offset_of_zero_and_its_replica_put_out_the_same(bench, original, replica, feed):
    expected, at_the_end = outputs_of(bench, original, FEEDS[feed])

    assert expected
    got, _ = outputs_of(bench, replica, FEEDS[feed])
    assert got == expected
    assert [one for one in at_the_end if one[1] is not None] == [one for one in got if one[1] is not None]


@pytest.mark.parametrize("feed", ENDS)
def test_at_the_ends_both_put_out_the_packet(bench, feed):
    [(_, t)] = ENDS[feed]

    for calculator in (OffsetZeroPass, ReplicaPass):
        got, _ = outputs_of(bench, calculator, ENDS[feed])
        assert [one for one in got if one[1] is not None] == [(t, f"at {t}")]


def test_after_a_packet_at_the_ends_the_offset_promises_less_than_the_replica(bench):
    # An offset lets MIN follow on PRESTREAM and POSTSTREAM on MAX; the next allowed timestamp is none.
    assert outputs_of(bench, OffsetZero, ENDS["before all"])[0] == []
    assert outputs_of(bench, Replica, ENDS["before all"])[0] == [(Timestamp.MAX, None)]
    assert outputs_of(bench, OffsetZero, ENDS["the last"])[0] == [(Timestamp.POSTSTREAM, None)]
    assert outputs_of(bench, Replica, ENDS["the last"])[0] == [(Timestamp.MAX, None)]


def test_the_replica_sees_bounds_and_packets_that_come_in(bench):
    expected = [(2, None), (5, "at 5"), (19, None), (20, "at 20")]

    for calculator in (OffsetZeroPass, ReplicaPass):
        got, _ = outputs_of(bench, calculator, FEEDS["bounds and packets"])
        assert got == expected


def test_process_bounds_cannot_be_asked_for_in_process(bench):
    class TooLate(Tagged):
        def process(self, cc):
            cc.set_process_timestamp_bounds(True)

    bench.start(ONE_NODE % "TooLate", TooLate)
    bench.add("in", 1, "a")

    error = bench.failure()
    assert isinstance(error.errors[0].__cause__, FailedPreconditionError)
    assert "belongs in get_contract() or open(), not in process()" in str(error)


def test_an_input_without_a_packet_still_tells_how_far_its_stream_is_settled(bench):
    seen = []

    class Reader(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            cc.inputs["IN"].set_any()
            cc.inputs["TICK"].set_any()

        def process(self, cc):
            bound = cc.inputs["IN"].packet.timestamp
            seen.append((cc.input_timestamp, bound, cc.inputs["IN"].payload))

    bench.start(
        """input_stream: "in" input_stream: "tick"
        node { calculator: "Reader" input_stream: "IN:in" input_stream: "TICK:tick" }""",
        Reader,
    )
    bench.add("in", 3, "a")
    bench.add("tick", 3, True)
    bench.graph.set_input_stream_timestamp_bound("in", 9)
    bench.add("tick", 8, True)
    bench.idle()

    assert seen == [(3, 3, "a"), (8, 8, None)]
    bench.end()
