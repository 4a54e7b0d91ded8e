"""Policies that wait for some time only, and graph inputs that forgive late packets."""

from __future__ import annotations

import pytest

from penstock.engine.input_stream_handler import NOT_READY, InputStreamHandler
from penstock.engine.packet import Packet
from penstock.engine.schedule import CLAMP_LATE, DROP_LATE
from penstock.errors import FailedPreconditionError, PacketTypeError, TimestampError, TimestampOrderError
from penstock.timestamp import UNSET, Timestamp
from penstock_testing import ScheduleHarness, calculator, node, wired


class Patient(InputStreamHandler):
    """Takes what is there when its patience ends."""

    def __init__(self, options=None) -> None:
        super().__init__(options)
        self.patience_s = 2.0
        self.until = UNSET
        self.told: list[int] = []

    def lose_patience(self, timestamp: int) -> None:
        self.told.append(timestamp)
        self.until = timestamp

    def look(self) -> int:
        t = super().look()
        return self.until if t == NOT_READY and self.waits_with() == self.until else t

    def fill(self, timestamp, inputs) -> None:
        for port in inputs:
            port.fill(port.stream.pop_at(timestamp))


def note(cc) -> None:
    cc.output.add("".join("-" if port.is_empty() else port.payload for port in cc.inputs), cc.input_timestamp)


Note = calculator(note, name="Note")


def joined(**arguments) -> ScheduleHarness:
    plan = wired(node(Note, "a b", "out", handler=Patient, name="n"), inputs="a b", **arguments)
    harness = ScheduleHarness(plan).start()
    harness.run()
    return harness


def test_a_node_that_waits_with_packets_is_named_with_its_timestamp_and_one_that_has_none_is_not() -> None:
    harness = joined()
    assert harness.schedule.waiting() == {}

    harness.add("a", "x", 5)

    assert harness.schedule.waiting() == {harness.node("n").id: 5}
    assert harness.schedule.has_waited


def test_when_patience_ends_the_node_takes_what_is_there() -> None:
    harness = joined()
    harness.add("a", "x", 5)
    harness.add("a", "x", 6)

    harness.time_out("n")
    harness.run()

    assert harness.carried("out") == [(5, "x-")]
    assert harness.schedule.waiting() == {harness.node("n").id: 6}


def test_patience_for_a_set_that_is_no_longer_waited_for_ends_without_effect() -> None:
    harness = joined()
    harness.add("a", "x", 5)
    waiting = dict(harness.schedule.waiting())
    harness.add("b", "y", 5)
    harness.run()
    harness.add("a", "x", 6)

    for number, stamp in waiting.items():
        harness.change(lambda schedule, number=number, stamp=stamp: schedule.time_out(number, stamp))
    harness.run()

    assert harness.node("n").policy.told == []
    assert harness.carried("out") == [(5, "xy")]


def test_a_test_cannot_end_patience_that_nobody_needs() -> None:
    with pytest.raises(FailedPreconditionError, match="node 'n' is not scheduled to wait with packets"):
        joined().time_out("n")


def test_a_full_queue_is_no_deadlock_while_patience_lasts() -> None:
    harness = joined(max_queue_size=1, report_deadlock=True)
    harness.add("a", "x", 5)
    harness.run()
    assert harness.is_throttled("a")
    assert not harness.errors

    harness.time_out("n")
    harness.run()
    assert not harness.is_throttled("a")


def test_a_failed_run_waits_for_nobody() -> None:
    harness = joined()
    harness.add("a", "x", 5)
    harness.cancel()

    assert harness.schedule.waiting() == {}


# --- late packets at graph inputs -----------------------------------------------------------------

Ints = calculator(
    lambda cc: cc.output.add_packet(cc.input.packet), name="Ints", contract=lambda cc: cc.inputs[0].set(int)
)


def forgiving(mode) -> ScheduleHarness:
    harness = ScheduleHarness(wired(node(Ints, "in", "out"), inputs="in")).start()
    harness.schedule.late[0] = mode
    harness.add("in", 1, 10)
    return harness


def test_a_late_packet_is_dropped_and_counted_where_the_input_says_so() -> None:
    harness = forgiving(DROP_LATE)
    harness.add("in", 2, 10)
    harness.add("in", 3, 4)
    harness.add("in", 4, 11)
    harness.finish()

    assert harness.carried("out") == [(10, 1), (11, 4)]
    assert (harness.stream("in").added, harness.stream("in").dropped) == (4, {"late": 2})
    assert harness.freed >= 2


def test_a_late_packet_gets_the_next_free_timestamp_where_the_input_says_so() -> None:
    harness = forgiving(CLAMP_LATE)
    harness.add("in", 2, 10)
    harness.add("in", 3, Timestamp.PRESTREAM)
    harness.finish()

    assert harness.carried("out") == [(10, 1), (11, 2), (12, 3)]
    assert harness.stream("in").dropped == {}


def test_a_late_packet_gets_the_last_timestamp_of_all_where_that_is_still_free() -> None:
    harness = forgiving(CLAMP_LATE)
    harness.set_bound("in", Timestamp.MAX)
    harness.add("in", 3, 5)
    harness.finish()

    assert harness.carried("out") == [(10, 1), (Timestamp.MAX, 3)]
    assert harness.stream("in").dropped == {}


def test_a_late_packet_for_which_no_timestamp_is_left_is_dropped() -> None:
    harness = forgiving(CLAMP_LATE)
    harness.add("in", 2, Timestamp.MAX)
    harness.add("in", 3, 5)
    harness.finish()

    assert harness.carried("out") == [(10, 1), (Timestamp.MAX, 2)]
    assert harness.stream("in").dropped == {"late": 1}


@pytest.mark.parametrize("mode", [DROP_LATE, CLAMP_LATE])
def test_a_late_bound_says_nothing_new_and_counts_as_no_packet(mode) -> None:
    harness = forgiving(mode)
    harness.add_packet("in", Packet(timestamp=3))
    assert harness.stream("in").bound == 11
    harness.finish()

    assert harness.carried("out") == [(10, 1)]
    assert harness.stream("in").dropped == {}


@pytest.mark.parametrize("mode", [DROP_LATE, CLAMP_LATE])
def test_other_mistakes_still_raise(mode) -> None:
    harness = forgiving(mode)
    with pytest.raises((PacketTypeError, TimestampOrderError)):
        harness.add("in", "text", 3)
    with pytest.raises(TimestampError):
        harness.add("in", 3, Timestamp.UNSTARTED)

    harness.add("in", 2, 11)
    harness.finish()
    assert harness.carried("out") == [(10, 1), (11, 2)]
