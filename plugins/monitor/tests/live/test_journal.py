"""What has happened in runs, and the numbers of the last minute."""

from __future__ import annotations

from contextlib import closing

import attrs
import pytest

from penstock.log import get_logger, place
from penstock_live.journal import Journal
from penstock_live.log_lines import LogLines
from penstock_monitor import CulpritReading, StallReading


@pytest.fixture
def journal():
    return Journal()


def drops(reading, count, reason="queue full", streams=("between",)):
    """Return a reading in which so many packets of some streams were dropped, all by one node."""
    changed = []
    for one in reading.streams:
        drops = {reason: count} if count and one.name in streams else {}
        at = {"second": drops} if drops else {}
        changed.append(attrs.evolve(one, dropped=sum(drops.values()), drops=drops, dropped_at=at))
    return attrs.evolve(reading, streams=tuple(changed))


def at(reading, elapsed_s, **changes):
    return attrs.evolve(reading, elapsed_s=elapsed_s, **changes)


def events(journal, kind):
    return [one for one in journal.since(0)[2] if one.kind == kind]


def test_drops_without_a_pause_are_one_event_that_grows(hand, journal):
    quiet = drops(hand.READING, 0)
    journal.take(at(quiet, 1.0), {})
    journal.take(at(drops(hand.READING, 2), 2.0), {})
    journal.take(at(drops(hand.READING, 5), 4.0), {})
    (event,) = events(journal, "drop")
    assert (event.stream, event.node, event.words, event.count) == ("between", "second", "queue full", 5)
    assert (event.from_s, event.to_s) == (1.0, 4.0)
    for second in (5.0, 6.0, 7.0, 8.0):
        journal.take(at(drops(hand.READING, 5), second), {})
    journal.take(at(drops(hand.READING, 6), 9.0), {})
    assert [(one.count, one.from_s) for one in events(journal, "drop")] == [(5, 1.0), (1, 9.0)]


def test_what_happened_in_a_long_pause_between_two_readings_fills_the_pause(hand, journal):
    quiet = drops(hand.READING, 0)
    journal.take(at(quiet, 1.0), {"eyes-failures": 0})
    journal.take(at(drops(hand.READING, 2), 1.3), {"eyes-failures": 0})
    journal.take(at(drops(hand.READING, 60), 6.4), {"eyes-failures": 3})  # the machine was busy
    journal.take(at(drops(hand.READING, 64), 6.7), {"eyes-failures": 3})
    (dropped,), (failed,) = events(journal, "drop"), events(journal, "failure")
    assert (dropped.from_s, dropped.to_s, dropped.count) == (1.0, 6.7, 64)
    assert (failed.from_s, failed.to_s, failed.count) == (1.3, 6.4, 3)


def test_a_stall_lasts_from_when_nothing_moved_until_something_does(hand, journal):
    quiet = drops(hand.READING, 0)
    stall = StallReading(1.2, "a story", (CulpritReading("second", "", "second sleeps"),))
    journal.take(at(quiet, 5.0), {})
    journal.take(at(quiet, 6.2, stall=stall), {})
    journal.take(at(quiet, 9.0, stall=attrs.evolve(stall, since_s=4.0)), {})
    journal.take(at(quiet, 9.3), {})
    (event,) = events(journal, "stall")
    assert (event.node, event.words) == ("second", "second sleeps")
    assert (event.from_s, event.to_s) == (pytest.approx(5.0), 9.0)


def test_each_error_of_a_run_is_one_failure_of_its_node(hand, journal):
    quiet = drops(hand.READING, 0)
    error = "node 'first' (Some): process() failed: ValueError: no\nmore lines"
    journal.take(at(quiet, 1.0), {})
    journal.take(at(quiet, 2.0, errors=(error,)), {})
    journal.take(at(quiet, 3.0, errors=(error, "no node is named here")), {})
    assert [(one.node, one.words, one.from_s) for one in events(journal, "failure")] == [
        ("first", "node 'first' (Some): process() failed: ValueError: no", 2.0),
        ("", "no node is named here", 3.0),
    ]


def test_counters_of_reconnects_are_events_of_their_node(hand, journal):
    quiet = drops(hand.READING, 0)
    journal.take(at(quiet, 1.0), {"camera-reconnects": 0, "camera-broken_packets": 7})
    journal.take(at(quiet, 2.0), {"camera-reconnects": 2, "camera-broken_packets": 9})
    journal.take(at(quiet, 3.0), {"camera-reconnects": 2})
    (event,) = events(journal, "reconnect")
    assert (event.node, event.count, event.from_s) == ("camera", 2, 1.0)


def test_failures_that_a_policy_has_answered_are_events_and_those_close_together_one(hand, journal):
    quiet = drops(hand.READING, 0)
    for second, count in ((1.0, 0), (2.0, 1), (3.0, 3), (10.0, 3), (11.0, 4)):
        journal.take(at(quiet, second), {"detector-failures": count, "detector-skipped": count})
    found = events(journal, "failure")
    assert [(one.node, one.count, one.from_s, one.to_s) for one in found] == [
        ("detector", 3, 2.0, 3.0),
        ("detector", 1, 11.0, 11.0),
    ]


@attrs.frozen
class Failed:
    """As `penstock_failures.Failure`."""

    node: str
    error: str
    at_ns: int
    timestamp: int | None = None
    method: str = "process"
    action: str = "skip"


def test_a_failure_has_the_text_of_the_newest_error_and_the_errors_of_a_node_are_kept(hand, journal):
    quiet = drops(hand.READING, 0)
    failed = [Failed("eyes", f"ValueError: no {n}\nbut", n, 1000 + n) for n in range(1, 31)]
    journal.take(at(quiet, 1.0), {"eyes-failures": 1}, lambda: failed[:1])
    journal.take(at(quiet, 1.3), {"eyes-failures": 30}, lambda: failed)
    journal.take(at(quiet, 1.6), {"eyes-failures": 30}, lambda: 1 / 0)  # nothing new, so nobody asks
    (event,) = events(journal, "failure")
    assert (event.node, event.count) == ("eyes", 30)
    assert event.words == "process() failed at 1030: ValueError: no 30 but"
    count, errors = journal.errors_of("eyes")
    assert (count, len(errors)) == (30, 20)
    assert (errors[-1].words, errors[-1].at_s) == (event.words, 30e-9)
    assert journal.errors_of("nobody") == (0, [])


def test_a_failure_that_ends_the_run_is_one_failure(hand, journal):
    quiet = drops(hand.READING, 0)
    failed = [Failed("first", "ValueError: no", 1, action="fail")]
    journal.take(at(quiet, 1.0), {"first-failures": 0})
    error = "node 'first' (Some): process() failed: ValueError: no"
    journal.take(at(quiet, 2.0, errors=(error,)), {"first-failures": 1}, lambda: failed)
    assert [(one.words, one.count) for one in events(journal, "failure")] == [(error, 1)]
    assert journal.errors_of("first")[0] == 1


def test_an_input_set_that_is_skipped_is_one_failure_and_no_drop(hand, journal):
    journal.take(at(drops(hand.READING, 0), 1.0), {"second-failures": 0})
    skipped = drops(hand.READING, 3, "skipped: ValueError", ("in", "between"))
    journal.take(at(skipped, 2.0), {"second-failures": 3})
    assert events(journal, "drop") == []
    assert [one.count for one in events(journal, "failure")] == [3]
    skipped = drops(hand.READING, 2, "skipped: no restart is left", ("in", "between"))
    journal.take(at(skipped, 3.0), {"second-failures": 3})  # which no failure tells
    assert [(one.count, one.node) for one in events(journal, "drop")] == [(2, "second")]


def test_while_a_source_is_lost_there_is_an_outage_with_the_reason_from_its_log(hand):
    log = get_logger("video")
    quiet = drops(hand.READING, 0)
    first, second = quiet.nodes

    def without(lost_s):
        return attrs.evolve(quiet, nodes=(attrs.evolve(first, lost_s=lost_s), second))

    with closing(LogLines(["first", "second"])) as lines:
        journal = Journal(lines)
        log.warning("it is scaled", extra=place(node="first"))
        journal.take(at(quiet, 100.0), {})
        journal.take(at(without(0.0), 200.0), {})
        log.warning("%s cannot be read: 503", "http://ann:secret@cam/video", extra=place(node="first"))
        log.info("something else", extra=place(node="first"))
        log.error("another node's", extra=place(node="second"))
        journal.take(at(without(9.0), 209.0), {})
        (event,) = events(journal, "outage")
        assert (event.node, event.from_s, event.to_s, event.count) == ("first", 200.0, 209.0, 1)
        assert event.words == "http://ann:***@cam/video cannot be read: 503"
        log.warning("it is back", extra=place(node="first"))
        journal.take(at(quiet, 209.3), {"first-reconnects": 1})
        journal.take(at(quiet, 215.0), {"first-reconnects": 1})
        (event,) = events(journal, "outage")
        assert (event.to_s, event.words) == (209.3, "http://ann:***@cam/video cannot be read: 503")
        journal.take(at(without(0.3), 220.0), {"first-reconnects": 1})
        assert [one.from_s for one in events(journal, "outage")] == [200.0, pytest.approx(219.7)]


def test_time_goes_on_from_run_to_run_and_each_begins_and_ends(hand, journal):
    quiet = drops(hand.READING, 0)
    for elapsed_s, state in (
        (0.0, "running"),
        (10.0, "running"),
        (11.0, "over"),
        (0.0, "running"),
        (2.0, "running"),
    ):
        journal.take(at(quiet, elapsed_s, state=state), {})
    assert [(one.words, one.from_s) for one in events(journal, "run")] == [
        ("the run begins", 0.0),
        ("the run is over", 11.0),
        ("the run begins", 11.0),
    ]
    assert journal.since(0)[1] == 13.0


def test_only_what_has_changed_since_a_version_is_given_out(hand, journal):
    quiet = drops(hand.READING, 0)
    assert journal.version == 0
    journal.take(at(quiet, 1.0), {})
    version, _, first = journal.since(0)
    assert [one.kind for one in first] == ["run"]
    assert journal.since(version)[2] == []
    journal.take(at(drops(hand.READING, 1), 2.0), {})
    assert [one.kind for one in journal.since(version)[2]] == ["drop"]


def test_a_minute_has_one_sample_a_second_and_no_more_than_sixty(hand, journal):
    quiet = drops(hand.READING, 0)
    for tenth in range(1000):
        journal.take(at(quiet, tenth / 10), {})
    now_s, samples = journal.minute()
    assert now_s == pytest.approx(99.9)
    assert len(samples) == 60
    assert samples[0][0] == pytest.approx(40.0, abs=1.1)
    assert samples[-1][1]["second"].queued == 3
    assert samples[-1][1]["first"] == type(samples[-1][1]["first"])(29.9, 0.45, 3)


def test_old_events_make_room_for_new_ones(hand, journal):
    quiet = drops(hand.READING, 0)
    for number in range(400):
        journal.take(at(quiet, float(number), errors=(f"error {number}",)), {})
    kept = journal.since(0)[2]
    assert len(kept) == 300
    assert kept[-1].words == "error 399"
