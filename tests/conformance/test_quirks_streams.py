"""What is easily got wrong about streams and bounds; numbers as in `test_table.py`."""

from __future__ import annotations

import pytest

import penstock
from penstock import STOP, GraphRunError, StatusCode, Timestamp
from penstock.errors import StreamClosedError, TimestampOrderError
from penstock_testing import calculator

T = Timestamp


def test_quirk02_a_calculator_that_catches_its_mistake_goes_on(bench):
    """Decision 1: a mistake raises in the calculator; the reference reports it only to the graph."""

    def add_twice(cc):
        cc.output.add("kept", cc.input_timestamp)
        with pytest.raises(TimestampOrderError):
            cc.output.add("refused", cc.input_timestamp)

    bench.start(bench.net("in", "Twice in -> out"), calculator(add_twice, name="Twice"), watch=["out"])
    bench.add("in", 1, 2)
    bench.end()

    assert bench.seen["out"] == [(1, "kept"), (2, "kept")]


def test_quirk03_the_bound_after_all_packets_is_allowed_and_ends_the_readers(bench):
    say = calculator(lambda cc: cc.set_next_timestamp_bound(T.ONE_OVER_POSTSTREAM), name="SayOver")
    bench.start(bench.net("in", "SayOver in -> over", "Seen over"), say)
    bench.add_one_by_one("in", 1)

    assert bench.calls == ["close"]
    bench.end()


def test_quirk04_a_bound_behind_packets_that_wait_calls_nobody(bench):
    bench.start(bench.net("a b", "SeenBounds a b"))
    bench.add_one_by_one("a", 5)
    bench.bound("a", 100)
    assert bench.calls == []
    bench.bound("b", 3)
    assert bench.calls == ["2: a@4 b@2"]
    bench.bound("b", 6)
    assert bench.calls[1:] == ["5: a=5 b@5"]
    bench.end()


def test_quirk06_an_absent_input_tells_how_far_its_stream_is_settled(bench):
    bench.start(bench.net("a b c", f"Seen a b c | {bench.handler('Immediate')}"))
    bench.add_one_by_one("a", 5)
    bench.bound("b", 9)
    bench.add_one_by_one("a", 7)

    assert bench.calls == ["5: a=5 b@unstarted c@unstarted", "7: a=7 b@8 c@unstarted"]
    bench.end()


def test_quirk07_a_node_that_says_nothing_about_its_output_holds_a_join_up_until_the_end(bench):
    silent = calculator(name="Silent")
    bench.start(bench.net("in", "Silent in -> nothing", "Merge in nothing -> out"), silent, watch=["out"])
    bench.add_one_by_one("in", 1, 2)
    assert bench.seen["out"] == []
    assert bench.stream("nothing").bound == str(T.PRESTREAM)
    bench.end()

    assert bench.seen["out"] == [(1, "1: 1 empty"), (2, "2: 2 empty")]


def test_quirk08_an_offset_forwards_bounds_of_a_node_that_is_not_ready(bench):
    bench.start(bench.net("in0 in1", "OffsetOnly in0 in1 -> out | name: 'n'"))
    bench.bound("in0", 10)
    bench.bound("in1", 20)
    assert bench.stream("out").bound == "10"
    bench.bound("in0", T.POSTSTREAM)
    assert bench.stream("out").bound == "20"
    bench.bound("in1", T.POSTSTREAM)

    assert bench.stream("out").bound == "20"
    bench.end()


class OffsetSource(penstock.Calculator):
    """A source with an offset of 5 that writes what its side packet says, one entry in each call."""

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets[0].set(list)
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(5)

    def open(self, cc):
        self.left = list(cc.input_side_packets[0].payload)

    def process(self, cc):
        at = self.left.pop(0)
        if at is not None:
            cc.output.add("x", at)
        return None if self.left else STOP


def offset_source(bench):
    return bench.net("", 'OffsetSource -> out | input_side_packet: "stamps"')


def test_quirk09_the_offset_of_a_source_counts_from_zero_in_every_call(bench):
    bench.run(offset_source(bench), OffsetSource, sides={"stamps": [5, 6, None, 9]}, watch=["out"])

    assert bench.seen["out"] == [(5, "x"), (6, "x"), (9, "x")]


@pytest.mark.parametrize(("stamps", "bound"), [([4], 5), ([None, 5], 6)])
def test_quirk09_a_source_that_writes_below_its_offset_fails(bench, stamps, bound):
    """Decision 1: it raises where it is written, in the first call already."""
    bench.start(offset_source(bench), OffsetSource, sides={"stamps": stamps})

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, TimestampOrderError)
    assert f"packet at {stamps[-1]} is behind the bound {bound}" in str(error)


def test_quirk11_what_was_written_before_close_is_delivered_and_the_stream_ends_after_the_call(bench):
    def write_and_close(cc):
        if not cc.output.is_closed():
            cc.output.add("last", cc.input_timestamp)
            cc.output.close()
            assert cc.output.is_closed()

    bench.start(bench.net("in", "Closing in -> out", "Seen out"), calculator(write_and_close, name="Closing"))
    bench.add_one_by_one("in", 1, 2)

    assert bench.calls == ["1: out=last", "close"]
    bench.end()


def test_quirk12_packets_for_a_node_that_has_closed_are_dropped_and_counted(bench):
    bench.start(bench.net("a b", f"Seen a b | {bench.handler('EarlyClose')}", "Pass b -> out"), watch=["out"])
    bench.add_one_by_one("b", 1)
    bench.close("a")
    assert bench.calls == ["close"]
    bench.add_one_by_one("b", 2, 3)

    assert bench.drops() == [("b", "the reader had closed", 3)]
    bench.end()
    assert bench.seen["out"] == [(1, 1), (2, 2), (3, 3)]


def test_quirk13_packets_that_wait_survive_the_end_of_their_stream(bench):
    done = []
    look = calculator(lambda cc: done.append([port.is_done() for port in cc.inputs]), name="Look")
    bench.start(bench.net("in0 in1", "Pass in0 in1 -> out0 out1", "Look in0 in1"), look, watch=["out0"])
    bench.add("in0", 1, 2, 3)
    bench.close("in0")
    assert bench.seen["out0"] == []
    bench.add_one_by_one("in1", 2)
    assert bench.seen["out0"] == [(1, 1), (2, 2)]
    bench.end()

    assert bench.seen["out0"] == [(1, 1), (2, 2), (3, 3)]
    assert done[:2] == [[False, False], [False, False]]
    assert done[2][0]


def test_quirk14_64_adding_to_a_closed_graph_input_raises_and_hurts_nobody(bench):
    """Decision 2: in the reference the add succeeds, and the next wait raises."""
    bench.start(bench.net("in other", "Pass in -> out"), watch=["out"])
    bench.add("in", 1)
    bench.graph.close_input_stream("in")
    bench.graph.close_input_stream("in")

    with pytest.raises(StreamClosedError, match="graph input 'in' takes no more: it was closed") as caught:
        bench.add("in", 2)

    assert caught.value.code is StatusCode.FAILED_PRECONDITION
    bench.end()
    assert bench.seen["out"] == [(1, 1)]


def test_quirk15_an_add_tells_of_earlier_errors_not_of_those_that_its_packet_will_cause(bench):
    def fail(cc):
        raise ValueError("not this one")

    bench.start(bench.net("in", "Fails in"), calculator(fail, name="Fails"))
    bench.add("in", 1)
    bench.failure(bench.idle)

    with pytest.raises(GraphRunError, match="not this one"):
        bench.add("in", 2)
    bench.failure(bench.end)
