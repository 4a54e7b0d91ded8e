"""`LatencyGoal`: when a frame may enter a path, so that it is done within a goal and the path stays busy.

It has no thread and reads no clock: the caller says what time it is. Times are seconds of one clock.

The model of the path has two numbers: `work_s`, how long a frame is in it when none is before it, and
`interval_s`, how far apart frames leave it when it is full. A frame that enters at r behind one that leaves
at d leaves at max(r + work_s, d + interval_s). For stages of constant duration with one frame in each at a
time that is exact, and `interval_s` is the longest stage. What frames take beyond it is kept as a
distribution, whose 99th percentile each decision adds.

`interval_s` cannot be seen while frames enter too far apart. So they enter a little closer than they are
known to leave (`_pace_s`), and closer still while they do not wait for one another inside the path. Where
the model, which begins with `interval_s` = `work_s`, lets no frame in behind another, that would never
begin: so now and then one goes in as a try, as if the path had `max_in_flight` stages of the same length.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from typing import Final

#: The share of frames that are to be done within the goal.
SHARE: Final = 0.99
#: The share that decides which frames are too late where SHARE of them cannot be held.
_MOST: Final = 0.9
#: How many values a distribution has: at 300 the 99th percentile is the third largest, so that two frames
#: that were disturbed do not decide for all others.
WINDOW: Final = 300
#: How long a frame may wait inside the path, in intervals. More makes frames older, less lets the path idle.
_QUEUED: Final = 0.15
#: The weight of a new value in the means, and the weight of a value that says more.
_GAIN: Final = 0.125
_FAST: Final = 0.25
#: By which factor frames enter closer after one that waited for none.
_CLOSER: Final = 0.9
#: A try has taught something if the interval becomes shorter than this share of its former length.
_LESSON: Final = 0.97
#: Which share of the errors the margin of a frame behind another covers: at most, as after one that was
#: late, at least, and by how much less with each that was not. So late frames stay near 1 in 100.
_SAFE: Final = 0.995
_EASY: Final = 0.985
_EASED: Final = 0.0002
#: How many frames must be done between a try that taught nothing and the next one: at first, and at most.
#: The number doubles with each such try, so that a path of one stage has no more than a few late frames.
_TRY_EVERY: Final = 300
_TRY_AT_LEAST_EVERY: Final = 4800
#: How many frames must be done before the first try.
_FIRST_TRY: Final = 10
#: How many tries may be late although they teach something, before others have come in time.
_LATE_TRIES: Final = 8


class Distribution:
    """The last `WINDOW` values of something."""

    __slots__ = ("_as_they_came", "_sorted")

    def __init__(self) -> None:
        self._as_they_came: Final[deque[float]] = deque()
        self._sorted: Final[list[float]] = []

    def add(self, value: float) -> None:
        """Add a value, and forget the oldest of too many."""
        if len(self._as_they_came) == WINDOW:
            del self._sorted[bisect_left(self._sorted, self._as_they_came.popleft())]
        self._as_they_came.append(value)
        insort(self._sorted, value)

    def bound_of(self, share: float) -> float:
        """Return what a further value does not exceed with this probability; 0.0 before the first value.

        That is the value of rank ceil(share * (n + 1)), or the largest where n is too small for that rank.

        Source: Vovk, Gammerman, Shafer, "Algorithmic Learning in a Random World" (2005), chapter 2.
        """
        count = len(self._sorted)
        if not count:
            return 0.0
        return self._sorted[min(math.ceil(share * (count + 1)), count) - 1]


class Frame:
    """A frame inside the path."""

    __slots__ = ("arrived_s", "is_next_of_many", "is_try", "predicted_s", "released_s", "stamp")

    def __init__(self, stamp: int, arrived_s: float, released_s: float, predicted_s: float) -> None:
        #: Its timestamp.
        self.stamp: Final = stamp
        #: When it came to the entrance.
        self.arrived_s: Final = arrived_s
        #: When it went in.
        self.released_s: Final = released_s
        #: When it was expected to leave, as predicted then.
        self.predicted_s: Final = predicted_s
        #: Whether a frame was held up since the one before went in.
        self.is_next_of_many = False
        #: Whether it went in although the model was against it.
        self.is_try = False


class LatencyGoal:
    """What is known of a path, and what follows from it for the next frame.

    Args:
        goal_s: from the arrival of a frame at the entrance to its end, above 0.
        max_in_flight: how many frames may be inside at once, at least 1.
    """

    def __init__(self, goal_s: float, max_in_flight: int) -> None:
        #: `goal_s`, `max_in_flight`: as given.
        self.goal_s: Final = goal_s
        self.max_in_flight: Final = max_in_flight
        #: The frames inside, oldest first. The caller takes those out that have left.
        self.in_flight: Final[deque[Frame]] = deque()
        #: `work_s`, `interval_s`: the model; 0.0 until it is known.
        self.work_s = 0.0
        self.interval_s = 0.0
        #: False while one frame alone is not done within the goal in 99 of 100 cases. Then at most one is
        #: inside.
        self.is_held = True
        self._pace_s = 0.0
        #: How far predictions are off, on average.
        self._spread_s = 0.0
        #: How much longer than predicted frames took: all of them, and those that entered an empty path.
        self._errors: Final = Distribution()
        self._alone: Final = Distribution()
        self._is_warm = False
        self._try_every = _TRY_EVERY
        self._since_try = _TRY_EVERY - _FIRST_TRY
        self._late_tries = float(_LATE_TRIES)
        self._share = _SAFE
        self._is_known = False
        self._is_held_up = False
        self._is_try = False
        self._last_done_s = -math.inf
        self._last_arrival_s = -math.inf
        self._period_s = 0.0

    # --- what has happened --------------------------------------------------------------------

    def arrive(self, now_s: float) -> None:
        """Note that a frame has come to the entrance."""
        since_s = now_s - self._last_arrival_s
        if since_s < math.inf:
            self._period_s += (since_s - self._period_s) * (_GAIN if self._period_s else 1.0)
        self._last_arrival_s = now_s

    def release(self, stamp: int, arrived_s: float, now_s: float) -> None:
        """Note that a frame has gone in."""
        frame = Frame(stamp, arrived_s, now_s, now_s + self._latency_s(now_s, self.interval_s))
        frame.is_next_of_many, frame.is_try = self._is_held_up, self._is_try
        if self._is_try:
            self._since_try = 0
        self._is_held_up = self._is_try = False
        self.in_flight.append(frame)

    def lose(self, now_s: float) -> None:
        """Note that a frame has left the path on its way: nothing is learnt from it."""
        self._last_done_s = now_s

    def finish(self, frame: Frame, now_s: float) -> None:
        """Learn from a frame that has come to the end of the path.

        Nothing is learnt from the first: it has waited for what is made once, as models and threads.

        Args:
            frame: no longer in `in_flight`.
            now_s: when it came.
        """
        previous_s, self._last_done_s = self._last_done_s, now_s
        if not self._is_warm:
            self._is_warm = True
            return
        if self._is_known:
            self._learn(frame, now_s, previous_s)
        else:
            self._is_known = True
            self.work_s = self.interval_s = self._pace_s = now_s - frame.released_s
        self.is_held = self.work_s + self._alone.bound_of(SHARE) <= self.goal_s

    def _learn(self, frame: Frame, now_s: float, previous_s: float) -> None:
        """Correct the model; `previous_s` is when the frame before left."""
        took_s, apart_s = now_s - frame.released_s, now_s - previous_s
        follows = frame.released_s < previous_s  # it was not alone all the time
        is_late = now_s - frame.arrived_s > self.goal_s
        self._share = _SAFE if is_late else max(self._share - _EASED, _EASY)
        self._since_try += 1
        self._late_tries = min(self._late_tries + 1 / _TRY_EVERY, _LATE_TRIES)
        self._note_error(now_s - frame.predicted_s, follows=follows)
        is_queued = took_s - self.work_s > self._queue_s
        if frame.released_s + self.work_s >= previous_s + self.interval_s or took_s < self.work_s:
            self.work_s += _GAIN * (took_s - self.work_s)
        least_s = self.work_s / self.max_in_flight
        before_s = self.interval_s
        if follows and (is_queued or apart_s < self.interval_s):
            self.interval_s += _FAST * (apart_s - self.interval_s)
        self.interval_s = min(max(self.interval_s, least_s), self.work_s)
        if frame.is_try:
            self._note_try(has_taught=self.interval_s < _LESSON * before_s, is_late=is_late)
        if follows and is_queued:
            self._pace_s += _FAST * (self.interval_s - self._pace_s)
        elif follows and frame.is_next_of_many:
            self._pace_s *= _CLOSER
        self._pace_s = min(max(self._pace_s, least_s), self.interval_s)

    def _note_try(self, *, has_taught: bool, is_late: bool) -> None:
        """Let the next try follow at once, or after a while that doubles."""
        if has_taught and (not is_late or self._late_tries >= 1):
            self._since_try, self._try_every = _TRY_AT_LEAST_EVERY, _TRY_EVERY
            self._late_tries -= is_late
        else:
            self._try_every = min(2 * self._try_every, _TRY_AT_LEAST_EVERY)

    def _note_error(self, error_s: float, *, follows: bool) -> None:
        self._errors.add(error_s)
        if not follows:
            self._alone.add(error_s)
        self._spread_s += _GAIN * (abs(error_s) - self._spread_s)

    # --- what follows from it -----------------------------------------------------------------

    @property
    def expected_s(self) -> float:
        """How long a frame takes at most in an empty path, in 99 of 100 cases; 0.0 until it is known."""
        return self.work_s + self._alone.bound_of(SHARE)

    @property
    def longest_s(self) -> float:
        """How much longer a frame has taken than the work of one, at most, and that work."""
        return self.work_s + self._errors.bound_of(1.0)

    def is_too_late(self, arrived_s: float, now_s: float) -> bool:
        """Return whether a frame at the entrance cannot be done within the goal any more.

        Where the goal cannot be held it is what 9 of 10 frames take that decides; where that is more than
        the goal too, no frame is too late.
        """
        margin_s = self._alone.bound_of(SHARE if self.is_held else _MOST)
        left_s = self.goal_s - self.work_s - margin_s
        return self._is_known and 0 <= left_s < now_s - arrived_s

    def may_enter(self, arrived_s: float, now_s: float) -> bool:
        """Return whether the frame at the entrance is to go in now; it is not too late."""
        self._is_try = False
        may = not self.in_flight or (
            self.is_held
            and self._is_known
            and len(self.in_flight) < self.max_in_flight
            and not self._is_overdue(now_s)
            and self._is_in_time_and_needed(arrived_s, now_s)
        )
        self._is_held_up |= not may
        return may

    def _is_overdue(self, now_s: float) -> bool:
        """Return whether the oldest frame inside is later than most: something holds it up, or it is lost."""
        usual_s = max(self._errors.bound_of(_MOST), 0.0) + self._queue_s
        return now_s > self.in_flight[0].predicted_s + usual_s

    def _is_in_time_and_needed(self, arrived_s: float, now_s: float) -> bool:
        """Return whether a frame would be done within the goal behind those inside, and be of use there.

        A try goes by the shortest interval that is possible, of use or not.
        """
        left_s = self.goal_s - (now_s - arrived_s)
        expected_s = self._latency_s(now_s, self.interval_s) + self._errors.bound_of(self._share)
        if expected_s <= left_s and self._is_needed(now_s):
            return True
        hoped_s = self._latency_s(now_s, self.work_s / self.max_in_flight) + self._spread_s
        self._is_try = self._since_try >= self._try_every and hoped_s <= left_s
        return self._is_try

    def _is_needed(self, now_s: float) -> bool:
        """Return whether the path would idle if the frame went in with the next event.

        A later frame is newer, so one enters early only where it waits little inside, or where the next
        arrival or end is expected too late for it.
        """
        queued_s = self._latency_s(now_s, self._pace_s) - self.work_s
        if queued_s <= self._queue_s:
            return True
        next_event_s = min(self._last_arrival_s + self._period_s, self._leaves_s(now_s)[1])
        return next_event_s > now_s + queued_s

    @property
    def _queue_s(self) -> float:
        """How long frames may wait for one another inside the path."""
        return _QUEUED * self.interval_s + self._spread_s

    def _latency_s(self, now_s: float, interval_s: float) -> float:
        """Return how long a frame that goes in now is expected to be inside."""
        return max(self.work_s, self._leaves_s(now_s)[-1] + interval_s - now_s)

    def _leaves_s(self, now_s: float) -> list[float]:
        """Return when the last frame left, and when those inside are expected to leave."""
        found = [self._last_done_s]
        for frame in self.in_flight:
            found.append(max(frame.released_s + self.work_s, found[-1] + self.interval_s, now_s))
        return found
