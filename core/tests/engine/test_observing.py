from __future__ import annotations

import gc
import weakref

import pytest

from penstock.engine.packet import Packet
from penstock.engine.stream import UNLIMITED, StreamObserver
from penstock.timestamp import DONE, MAX, MIN, ONE_OVER_POSTSTREAM, POSTSTREAM, PRESTREAM
from penstock_testing import ScheduleHarness, calculator, node, wired

Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


def watched(observer: StreamObserver, *, inputs: str = "in"):
    """Start a graph whose only graph input has this one observer."""
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), inputs=inputs))
    stream = harness.stream("in")
    observer.throttles = stream.readers[0].throttles
    stream.observers = (observer,)
    harness.start()
    harness.run()
    return harness


def queued(observer: StreamObserver) -> list[tuple[int, object]]:
    return [(packet.stamp, packet.payload) for packet in observer.queue]


# --- callbacks --------------------------------------------------------------------------------


def test_an_observer_gets_every_packet_in_order_and_no_bounds_unless_it_asks() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), inputs="in"), bounds_of=["out"]).start()
    for stamp in (1, 5):
        harness.add("in", stamp, stamp)
        harness.run()
    harness.set_bound("in", 9)
    harness.run()

    assert harness.carried("in") == [(1, 1), (5, 5)]
    assert harness.carried("out") == [(1, 1), (5, 5), (8, None)]
    harness.finish()
    assert harness.carried("out")[-1] == (8, None)


@pytest.mark.parametrize(
    ("bound", "settled"),
    [
        (PRESTREAM, None),
        (MIN, None),
        (MIN + 1, MIN),
        (10, 9),
        (MAX, MAX - 1),
        (POSTSTREAM, POSTSTREAM),
        (ONE_OVER_POSTSTREAM, MAX),
    ],
)
def test_a_settled_bound_is_reported_once(bound, settled) -> None:
    harness = ScheduleHarness(wired(inputs="in"), bounds_of=["in"]).start()
    harness.set_bound("in", bound)
    harness.set_bound("in", bound)
    harness.run()

    assert harness.carried("in") == ([] if settled is None else [(settled, None)])


def test_a_bound_that_comes_with_a_packet_is_reported_only_where_it_goes_beyond_it() -> None:
    def jump(cc):
        cc.output.add("x", cc.input_timestamp)
        if cc.input_timestamp == 5:
            cc.output.set_next_timestamp_bound(100)

    harness = ScheduleHarness(
        wired(node(calculator(jump), "in", "out"), inputs="in"), bounds_of=["out"]
    ).start()
    for stamp in (1, 5):
        harness.add("in", stamp, stamp)
    harness.finish()

    assert harness.carried("out") == [(1, "x"), (5, "x"), (99, None)]


def test_a_run_is_not_idle_and_not_over_before_observers_have_seen_everything() -> None:
    observer = StreamObserver("in", None)
    harness = watched(observer)
    harness.add("in", 1, 1)
    harness.close_input()
    while (step := harness.take()) is not None:
        harness.complete(harness.call(step))
    assert harness.schedule.busy
    assert not harness.is_over
    assert harness.schedule.deliveries.count(observer) == 1

    harness.schedule.deliveries.remove(observer)
    observer.queue.clear()
    harness.change(lambda schedule: schedule.delivered(observer))
    harness.run()
    assert harness.is_over


def test_an_observer_is_claimed_by_one_thread_until_it_is_drained() -> None:
    observer = StreamObserver("in", None)
    harness = watched(observer)
    harness.add("in", 1, 1)
    harness.add("in", 2, 2)
    assert harness.schedule.deliveries.count(observer) == 1
    harness.schedule.deliveries.remove(observer)

    harness.add("in", 3, 3)
    assert observer not in harness.schedule.deliveries
    harness.change(lambda schedule: schedule.delivered(observer))
    assert harness.schedule.deliveries.count(observer) == 1
    assert queued(observer) == [(1, 1), (2, 2), (3, 3)]


def test_several_observers_of_a_stream_each_get_everything() -> None:
    first, second = StreamObserver("in", None), StreamObserver("in", None, wants_bounds=True)
    harness = ScheduleHarness(wired(inputs="in"))
    harness.stream("in").observers = (first, second)
    harness.start()
    harness.add("in", "x", 3)
    harness.set_bound("in", 8)

    assert queued(first) == [(3, "x")]
    assert queued(second) == [(3, "x"), (7, None)]


def test_observers_of_a_stream_are_due_in_the_order_in_which_they_were_attached() -> None:
    observers = tuple(StreamObserver("in", None) for _ in range(4))
    harness = ScheduleHarness(wired(inputs="in"))
    harness.stream("in").observers = observers
    harness.start()
    harness.add("in", "x", 3)

    assert tuple(harness.schedule.deliveries) == observers


def test_observers_with_more_to_see_are_due_again_in_the_order_in_which_they_were_attached() -> None:
    observers = tuple(StreamObserver("in", None) for _ in range(4))
    harness = ScheduleHarness(wired(inputs="in"))
    harness.stream("in").observers = observers
    harness.start()
    harness.add("in", "x", 3)
    claimed, harness.schedule.deliveries = harness.schedule.deliveries, []
    harness.add("in", "y", 4)
    for observer in claimed:  # while the thread was calling them, "y" came
        harness.schedule.delivered(observer)

    assert tuple(harness.schedule.deliveries) == observers


@pytest.mark.parametrize("by", [1, 2, 1000])
def test_an_observer_hears_of_each_bound_even_one_that_moves_by_one(by) -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), inputs="in"), bounds_of=["in", "out"]).start()
    settled = []
    for bound in (10, 10 + by, 10 + 2 * by):
        harness.set_bound("in", bound)
        harness.run()
        settled.append((bound - 1, None))

    assert harness.carried("in") == settled
    assert harness.carried("out") == settled


def test_packets_that_one_call_wrote_are_not_followed_by_a_bound_that_says_the_same() -> None:
    def twice(cc):
        for later in (0, 3):
            cc.output.add("x", cc.input_timestamp + later)

    harness = ScheduleHarness(
        wired(node(calculator(twice), "in", "out"), inputs="in"), bounds_of=["out"]
    ).start()
    for stamp in (1, 7):
        harness.add("in", stamp, stamp)
        harness.run()

    assert harness.carried("out") == [(1, "x"), (4, "x"), (7, "x"), (10, "x")]


def test_news_for_waiting_applications_is_flagged() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), inputs="in")).start()
    harness.run()
    harness.schedule.has_news = harness.schedule.was_observed = False
    harness.add("in", 1, 1)

    assert not harness.schedule.was_observed
    harness.serve_observers()
    assert harness.schedule.was_observed
    assert harness.schedule.has_news


def test_an_observed_packet_is_news_only_to_a_wait_that_began_since() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), node(Pass, "other", "else"), inputs="in other"))
    harness.start()
    harness.run()
    harness.add("in", 1, 1)
    harness.add("other", 1, 1)  # keeps the run from becoming idle, which is news
    first, second = harness.take(), harness.take()
    harness.complete(harness.call(first))
    harness.schedule.has_news = False
    harness.schedule.was_observed = True

    harness.serve_observers()
    assert not harness.schedule.has_news

    harness.schedule.was_observed = False
    harness.add("other", 2, 2)
    harness.complete(harness.call(harness.take()))
    harness.serve_observers()
    assert harness.schedule.has_news
    harness.complete(harness.call(second))


# --- pollers ----------------------------------------------------------------------------------


def poller(limit: int = UNLIMITED) -> StreamObserver:
    made = StreamObserver("in", None, is_poller=True)
    made.max_size = limit
    return made


def test_a_poller_keeps_no_run_from_being_over() -> None:
    observer = poller()
    harness = watched(observer)
    harness.add("in", 1, 1)
    harness.finish()

    assert harness.is_over
    assert queued(observer) == [(1, 1)]
    assert observer.is_done


def test_a_full_poller_throttles_and_never_grows() -> None:
    observer = poller(limit=2)
    harness = watched(observer)
    for stamp in range(2):
        harness.add("in", stamp, stamp)
    harness.run()
    assert harness.is_throttled("in")
    assert observer.max_size == 2

    harness.change(lambda schedule: schedule.polled(observer))
    assert not harness.is_throttled("in")
    assert queued(observer) == [(1, 1)]


def test_a_full_poller_is_no_deadlock_to_report() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), inputs="in", report_deadlock=True))
    observer = poller(limit=1)
    observer.throttles = harness.stream("in").readers[0].throttles
    harness.stream("in").observers = (observer,)
    harness.start()
    harness.add("in", 1, 1)
    harness.run()

    assert harness.errors == []


def test_the_limit_of_a_poller_can_change_while_it_waits() -> None:
    observer = poller()
    harness = watched(observer)
    for stamp in range(3):
        harness.add("in", stamp, stamp)
    harness.change(lambda schedule: schedule.limit(observer, 2))
    assert harness.is_throttled("in")

    harness.change(lambda schedule: schedule.limit(observer, 10))
    assert not harness.is_throttled("in")


def test_a_poller_is_news_at_once() -> None:
    harness = watched(poller())
    harness.schedule.was_observed = harness.schedule.has_news = False
    harness.add("in", 1, 1)

    assert harness.schedule.was_observed
    assert harness.schedule.has_news


def bounded_poller() -> StreamObserver:
    return StreamObserver("in", None, is_poller=True, wants_bounds=True)


def test_bounds_that_a_poller_takes_count_as_no_packets() -> None:
    observer = bounded_poller()
    harness = watched(observer)
    harness.add("in", 1, 1)
    harness.set_bound("in", 9)
    for _ in range(2):
        harness.change(lambda schedule: schedule.polled(observer))

    assert observer.delivered == 1


def test_what_a_poller_forgets_is_counted_without_bounds_and_freed_outside_the_lock() -> None:
    observer = bounded_poller()
    harness = watched(observer)
    for stamp in (1, 2):
        harness.add("in", Payload(), stamp)
    harness.set_bound("in", 9)
    harness.run()
    harness.schedule.garbage.clear()
    harness.schedule.forget(observer)

    assert observer.dropped == {"the poller was reset": 2}
    assert [type(packet.payload) for packet in harness.schedule.garbage] == [Payload, Payload, type(None)]
    assert not observer.queue


def test_forgetting_what_is_only_bounds_drops_nothing() -> None:
    observer = bounded_poller()
    harness = watched(observer)
    harness.set_bound("in", 9)
    harness.change(lambda schedule: schedule.forget(observer))

    assert observer.dropped == {}


def test_the_end_of_a_stream_is_news_also_while_the_run_goes_on() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "out"), node(Pass, "other", "else"), inputs="in other"))
    harness.start()
    harness.run()
    harness.add("other", 1, 1)  # keeps the run from becoming idle, which is news
    harness.schedule.has_news = False
    harness.schedule.close_input(0)

    assert harness.schedule.has_news


def test_a_bound_is_an_observed_output_only_to_a_poller_that_asked_for_bounds() -> None:
    for wants_bounds in (False, True):
        harness = watched(StreamObserver("in", None, is_poller=True, wants_bounds=wants_bounds))
        harness.schedule.was_observed = False
        harness.set_bound("in", 5)
        assert harness.schedule.was_observed is wants_bounds


def test_an_observed_output_is_not_forgotten_when_a_bound_follows_that_nobody_asked_for() -> None:
    harness = watched(poller())
    harness.schedule.was_observed = False
    harness.add("in", 1, 1)
    harness.set_bound("in", 5)

    assert harness.schedule.was_observed


def test_polling_after_the_end_still_gives_what_is_left() -> None:
    observer = poller(limit=1)
    harness = watched(observer)
    harness.add("in", 1, 1)
    harness.finish()
    taken: list[Packet] = []
    harness.change(lambda schedule: taken.append(schedule.polled(observer)))

    assert [packet.payload for packet in taken] == [1]


# --- payloads that are freed ------------------------------------------------------------------


class Payload:
    pass


def test_a_payload_is_freed_when_the_last_node_that_needs_it_has_run() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "in"), node(Nothing, "in"), inputs="in"))
    harness.stream("in").observers = ()
    harness.start()
    harness.run()
    payload = Payload()
    alive = weakref.ref(payload)
    harness.add("in", payload, 1)
    del payload
    gc.collect()
    assert alive() is not None

    harness.run()
    gc.collect()
    assert alive() is None


def test_the_engine_lets_no_payload_die_inside_an_event() -> None:
    deaths = []

    class Loud:
        def __del__(self):
            deaths.append("died")

    harness = ScheduleHarness(wired(node(Nothing, "a"), inputs="a b"))
    for stream in harness.schedule.streams:
        stream.observers = ()
    harness.start()
    harness.schedule.add_packet(1, Packet(Loud(), 1))

    assert deaths == []
    assert len(harness.schedule.garbage) == 1
    harness.schedule.garbage.clear()
    assert deaths == ["died"]


def test_packets_of_a_failing_call_and_of_closed_readers_go_to_the_garbage() -> None:
    def fail(cc):
        cc.output.add(Payload(), cc.input_timestamp)
        raise ValueError("no")

    harness = ScheduleHarness(wired(node(calculator(fail), "in", "out"), node(Nothing, "out"), inputs="in"))
    harness.stream("in").observers = ()
    harness.start()
    harness.run()
    harness.add("in", 1, 1)
    step = harness.take()
    held = harness.call(step)
    harness.schedule.complete(held.step, held.error)

    assert [type(packet.payload) for packet in harness.schedule.garbage] == [Payload]
    assert harness.schedule.streams[1].bound != DONE
