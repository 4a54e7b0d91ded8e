from __future__ import annotations

import pytest

from penstock import Packet
from penstock.errors import InternalError
from penstock.runs import StreamObserver
from penstock_testing import ScheduleHarness, calculator, node, wired
from penstock_testing.invariants import check_invariants


@pytest.fixture
def harness() -> ScheduleHarness:
    """A run that is idle with one packet waiting for another."""
    made = ScheduleHarness(
        wired(node(calculator(name="N"), "a b", "c"), inputs="a b", max_queue_size=2)
    ).start()
    made.run()
    made.add("a", 1, 1)
    made.run()
    check_invariants(made.schedule)
    return made


def reader(harness):
    return harness.stream("a").readers[0]


def forget_bound(harness):
    harness.stream("a").bound += 1


def close_without_bound(harness):
    harness.stream("a").is_closed = True


def keep_in_closed_reader(harness):
    reader(harness).is_closed = True


def lie_about_fullness(harness):
    reader(harness).is_full = True


def disorder(harness):
    reader(harness).queue.appendleft(Packet("x", 7))
    reader(harness).max_size = 5


def overtake(harness):
    reader(harness).queue.append(Packet("x", 9))
    reader(harness).max_size = 5


def count_too_much(harness):
    harness.node("N").in_flight = 2


def forget_to_look(harness):
    harness.node("N").is_touched = True


def open_too_often(harness):
    harness.node("N").awaiting = -1


def be_busy_with_nothing(harness):
    harness.schedule.busy = 1


def claim_and_forget(harness):
    observer = StreamObserver("c", None)
    observer.is_claimed = True
    harness.stream("c").observers = (observer,)


def push_twice(harness):
    harness.schedule.queues[0].push(harness.node("N"))


def throttle_nobody_knows(harness):
    harness.schedule.flow.became_full(harness_queue(harness))
    harness.schedule.flow.full.clear()


def list_as_full(harness):
    harness.schedule.flow.full[1] = harness_queue(harness)


def harness_queue(harness):
    queue = StreamObserver("q", None)
    queue.throttles = frozenset((5,))
    return queue


def lose_a_packet(harness):
    harness.stream("a").readers[0].delivered -= 1


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (forget_bound, "stream 'a': bound 3, but a reader knows 2"),
        (close_without_bound, "stream 'a': closed is True, but the bound is 2"),
        (keep_in_closed_reader, "stream 'a': a closed reader holds packets"),
        (lie_about_fullness, "stream 'a': full is True at 1 of 2"),
        (disorder, r"stream 'a': timestamps do not increase: \[7, 1\]"),
        (overtake, "stream 'a': the packet at 9 is not below the bound 2"),
        (count_too_much, "node 'N': 2 steps in flight, allowed 1"),
        (forget_to_look, "node 'N': touched and not looked at"),
        (open_too_often, "node 'N': awaits -1 arrivals"),
        (be_busy_with_nothing, "schedule: busy is 1, but 0 steps and 0 observers are"),
        (claim_and_forget, "schedule: busy is 0, but 0 steps and 1 observers are"),
        (push_twice, "schedule: 1 keys in ready queues for 0 prepared steps"),
        (throttle_nobody_knows, r"flow: \[\] should wait, but \[5\] do"),
        (list_as_full, "queue 'q': listed as full, but it is not"),
        (lose_a_packet, r"stream 'a': \d packets were written, but a reader accounts for \d"),
    ],
)
def test_each_broken_invariant_is_found_and_named(harness, damage, message) -> None:
    damage(harness)

    with pytest.raises(InternalError, match=f"invariant broken: {message}"):
        check_invariants(harness.schedule)
