"""The newest frame waits and the others are counted; or the node waits."""

from __future__ import annotations

import threading
from time import monotonic

from penstock_video.streaming.desk import LOST, NEWER, NOT_CONNECTED, OVER, Desk


def times(desk, count):
    return [desk.take().time for _ in range(count)]


def test_a_newer_frame_takes_the_place_of_the_one_that_waits(aid):
    desk = Desk()
    desk.set_connected(True)

    waits = [desk.offer(*one) for one in aid.frames(5)]

    assert waits == [None] * 5
    assert times(desk, 1) == [160_000]
    assert desk.drops() == {NEWER: 4}
    assert desk.drops() == {}


def test_the_reason_says_that_there_is_no_connection(aid):
    desk = Desk()
    for one in aid.frames(3):
        desk.offer(*one)
    desk.drop(LOST)

    assert desk.drops() == {NOT_CONNECTED: 2, LOST: 1}


def test_kept_frames_all_go_and_the_node_waits_for_each(aid):
    desk = Desk(is_kept=True)

    waits = [desk.offer(*one) for one in aid.frames(3)]

    assert [one.done() for one in waits] == [False] * 3
    assert times(desk, 2) == [0, 40_000]
    assert [one.done() for one in waits] == [True, True, False]
    assert desk.drops() == {}


def test_a_node_that_no_longer_waits_loses_its_frame(aid):
    desk = Desk(is_kept=True)
    first, second = [desk.offer(*one) for one in aid.frames(2)]
    first.cancel()

    assert times(desk, 1) == [40_000]
    assert second.done()
    assert desk.drops() == {OVER: 1}


def test_paced_frames_go_at_their_times(aid):
    desk = Desk(is_paced=True)
    for one in aid.frames(4, fps=40):
        desk.offer(*one)
    began = monotonic()

    assert times(desk, 4) == [0, 25_000, 50_000, 75_000]
    assert 0.07 < monotonic() - began < 0.5


def test_a_pace_that_was_lost_begins_again(aid):
    desk = Desk(is_paced=True)
    (one, _), (two, _), (three, _) = aid.frames(3)
    desk.offer(one, 0)
    desk.offer(two, 50_000)
    desk.offer(three, 70_000)
    desk.take()
    desk._origin_s -= 60  # as after a minute without a connection
    began = monotonic()

    assert times(desk, 2) == [50_000, 70_000]
    assert 0.015 < monotonic() - began < 0.5


def test_the_end_lets_everybody_go(aid):
    desk = Desk(is_kept=True)
    frame, _ = next(aid.frames(1))
    wait = desk.offer(frame, 0)
    found = []
    taker = threading.Thread(target=lambda: found.extend([desk.take(), desk.take(), desk.peek()]))
    taker.start()

    desk.end()
    taker.join(5)

    assert [None if one is None else one.time for one in found] == [0, None, None]
    assert wait.done()
    assert desk.offer(frame, 40_000) is None
    assert desk.drops() == {OVER: 1}


def test_the_end_does_not_wait_for_a_time(aid):
    desk = Desk(is_paced=True)
    frame, _ = next(aid.frames(1))
    desk.offer(frame, 0)
    desk.take()
    wait = desk.offer(frame, 3_600_000_000)
    desk.end()

    assert desk.take().time == 3_600_000_000
    assert wait.done()


def test_what_waits_when_the_stream_is_given_up_is_counted_and_its_node_goes_on(aid):
    desk = Desk(is_kept=True)
    wait = desk.offer(*next(aid.frames(1)))

    desk.clear()
    desk.clear()

    assert wait.done()
    assert desk.drops() == {OVER: 1}
