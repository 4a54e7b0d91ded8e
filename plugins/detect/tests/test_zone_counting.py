"""Lines and zones: the geometry, and what counts, against slow and independent ways."""

from __future__ import annotations

from collections import Counter as Tally
from itertools import pairwise

import pytest
import slow_counting as slow
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from penstock_detect.zones.counting_rules import Counter, Rules, Seen
from penstock_detect.zones.events import ZoneEventKind
from penstock_detect.zones.geometry import crossing, distance, is_inside, side
from penstock_detect.zones.lines_and_zones import Line, Places, Zone

NOW = Rules(margin=0.0, hold_us=0, lost_us=10**9)
#: Few places, so that points are often on lines and moves often go through corners.
CELLS = st.tuples(*[st.integers(0, 6).map(float)] * 2)
#: Places that no binary fraction is, all over the plane.
REALS = st.tuples(*[st.floats(-3, 3, allow_nan=False, width=64)] * 2)
POINTS = CELLS | REALS


@settings(max_examples=120, deadline=None)
@given(POINTS, POINTS, POINTS, POINTS)
def test_a_move_crosses_a_segment_as_fractions_say(start, end, before, after):
    assume(start != end)

    assert crossing(start, end, before, after) == slow.crossed(start, end, before, after)


@settings(max_examples=60, deadline=None)
@given(CELLS, CELLS, CELLS, CELLS, st.integers(1, 7))
def test_a_move_in_parts_crosses_as_often_as_the_whole(start, end, before, after, part):
    assume(start != end)
    middle = tuple(b + (a - b) * part / 8 for b, a in zip(before, after, strict=True))  # exact

    parts = crossing(start, end, before, middle) + crossing(start, end, middle, after)

    assert parts == crossing(start, end, before, after)


@settings(max_examples=60, deadline=None)
@given(POINTS, POINTS, POINTS, POINTS)
def test_a_move_back_takes_a_crossing_back(start, end, before, after):
    assume(start != end)

    assert crossing(start, end, before, after) == -crossing(start, end, after, before)
    assert crossing(start, end, before, before) == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((0.5, 0.2), (0.5, 0.8), 1),
        ((0.5, 0.8), (0.5, 0.2), -1),
        ((0.1, 0.2), (0.1, 0.8), 0),  # beside the left end
        ((0.85, 0.2), (0.85, 0.8), 0),  # beside the right end
        ((0.1, 0.2), (0.9, 0.8), 1),  # in, by a slanting way
        ((0.0, 0.45), (0.3, 0.9), 0),  # through the line, but outside of the segment
        ((0.25, 0.2), (0.25, 0.8), 1),  # through the end itself
    ],
)
def test_a_crossing_beside_the_ends_is_none(before, after, expected):
    assert crossing((0.25, 0.5), (0.75, 0.5), before, after) == expected


def test_signs_are_exact_where_rounding_decides():
    start, end = (0.1, 0.1), (0.3, 0.3)
    for step in range(-3, 4):
        point = (0.2 + step * 2**-54, 0.2)
        rounded = (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
        expected = (point[0] < point[1]) - (point[0] > point[1])
        assert side(start, end, point) == expected, rounded


@settings(max_examples=60, deadline=None)
@given(st.lists(POINTS, min_size=3, max_size=7), POINTS)
def test_a_point_is_inside_as_fractions_say(polygon, point):
    assert is_inside(polygon, point) == slow.inside(polygon, point)


@settings(max_examples=60, deadline=None)
@given(POINTS, POINTS, POINTS)
def test_distances_are_the_ones_of_fractions(start, end, point):
    assume(start != end)

    assert distance(start, end, point) == pytest.approx(float(slow.apart(start, end, point)) ** 0.5, abs=1e-9)


# --- what counts ------------------------------------------------------------------------------------


def steps(counter, paths):
    """Give a counter the frames of some paths, track → {time: point}, and return all events."""
    found = []
    for at in sorted({at for path in paths.values() for at in path}):
        seen = [Seen(track, "car", 1.0, path[at]) for track, path in paths.items() if at in path]
        found += counter.step(at, seen)
    return found


LINE = Line(name="gate", start=(2.0, 3.0), end=(5.0, 3.0))
SQUARE = Zone(name="yard", points=((2.0, 2.0), (5.0, 2.0), (4.0, 5.0), (2.0, 4.0)))
PATHS = st.dictionaries(
    st.integers(1, 3),
    st.dictionaries(st.integers(0, 14).map(lambda i: i * 100), CELLS | REALS, min_size=1, max_size=12),
    min_size=1,
    max_size=3,
)


@settings(max_examples=120, deadline=None)
@given(
    PATHS,
    st.sampled_from([0.0, 0.5, 1.0, 9.0]),
    st.sampled_from([0, 100, 300, 10_000]),
    st.sampled_from([100, 250, 10_000]),
)
@example({1: {0: (3.0, 2.0), 100: (3.0, 4.0), 200: (3.0, 2.0)}}, 9.0, 300, 250)
def test_lines_and_zones_count_as_the_slow_way_does(paths, margin, hold, lost):
    rules = Rules(margin=margin, hold_us=hold, lost_us=lost)
    end = 2000
    counter = Counter(Places(lines=(LINE,), zones=(SQUARE,)), rules)

    events = steps(counter, paths) + counter.step(end, [])

    for track, path in paths.items():
        times = sorted(path.items())
        mine = [one for one in events if one.track == track]
        crossings = [(one.direction == "in", one.timestamp) for one in mine if one.place == "gate"]
        assert crossings == slow.line_events(times, (LINE.start, LINE.end), rules, end)
        zone = [
            (one.kind.value, one.timestamp, *([] if one.dwell_us is None else [one.dwell_us]))
            for one in mine
            if one.place == "yard"
        ]
        assert zone == slow.zone_events(times, SQUARE.points, rules, end)
    counts = counter.counts
    ways = Tally(one.direction for one in events if one.place == "gate")
    assert counts.lines[0].totals == (ways["in"], ways["out"])
    entered = sum(one.kind is ZoneEventKind.ENTER for one in events)
    assert sum(counts.zones[0].entered.values()) == entered
    left = [one.dwell_us for one in events if one.kind is ZoneEventKind.LEAVE]
    assert (counts.zones[0].left, counts.zones[0].dwell_us) == (len(left), sum(left))
    assert sum(counts.zones[0].present.values()) == entered - len(left)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-0.9, 0.9), max_size=20), st.booleans())
def test_a_track_that_trembles_on_a_line_counts_once_or_never(offsets, goes_over):
    line = Line(name="gate", start=(0.0, 0.0), end=(9.0, 0.0))
    counter = Counter(Places(lines=(line,)), Rules(margin=1.0, hold_us=10**9, lost_us=10**9))
    path = [(4.0, -2.0), *((4.0, one) for one in offsets), (4.0, 2.0 if goes_over else -2.0)]

    events = steps(counter, {7: dict(enumerate(path))})

    assert [one.direction for one in events] == ["in"] * goes_over


@settings(max_examples=60, deadline=None)
@given(st.lists(CELLS, min_size=2, max_size=8), st.data())
def test_frames_that_are_missing_on_a_straight_way_change_nothing(corners, data):
    every = {}
    for i, (before, after) in enumerate(pairwise(corners)):
        for part in range(4):
            every[i * 4 + part] = tuple(b + (a - b) * part / 4 for b, a in zip(before, after, strict=True))
    every[len(corners) * 4] = corners[-1]
    kept = {
        at: point
        for at, point in every.items()
        if at % 4 == 0 or data.draw(st.booleans(), label=f"frame {at} is there")
    }

    def net(path):
        counter = Counter(Places(lines=(LINE,)), NOW)
        steps(counter, {1: path})
        there, back = counter.counts.lines[0].totals
        return there - back

    assert net(every) == net(kept)


def test_a_jump_over_a_missing_frame_counts_once():
    counter = Counter(Places(lines=(LINE,)), Rules(margin=0.5, hold_us=1000, lost_us=1000))

    events = steps(counter, {1: {0: (3.0, 1.0), 500: (3.0, 5.0), 600: (3.0, 6.0)}})

    assert [(one.timestamp, one.direction, one.x, one.y) for one in events] == [(500, "in", 3.0, 5.0)]


def test_a_way_round_the_end_takes_back_no_crossing():
    counter = Counter(Places(lines=(LINE,)), NOW)
    way = [(3.0, 2.0), (3.0, 4.0), (6.0, 4.0), (6.0, 2.0), (3.0, 2.0), (3.0, 4.0)]

    events = steps(counter, {1: dict(enumerate(way))})

    assert [one.direction for one in events] == ["in", "in"]


def test_a_lost_track_leaves_when_it_was_seen_last():
    counter = Counter(Places(zones=(SQUARE,)), Rules(margin=0.1, hold_us=500, lost_us=200))
    steps(counter, {4: {0: (3.0, 3.0), 100: (3.0, 3.0)}})
    assert counter.counts.zones[0].present == {"car": 1}

    assert counter.step(300, []) == []
    (left,) = counter.step(301, [])

    assert (left.kind, left.timestamp, left.dwell_us) == (ZoneEventKind.LEAVE, 100, 100)
    assert counter.counts.zones[0].present == {}
    assert counter.counts.zones[0].mean_dwell_s == pytest.approx(1e-4)
    (again,) = counter.step(400, [Seen(4, "car", 1.0, (3.0, 3.0))])
    assert again.kind is ZoneEventKind.ENTER


def test_the_class_is_the_one_with_the_largest_sum_of_scores():
    counter = Counter(Places(lines=(LINE,)), NOW)
    labels = [("van", 0.9), ("car", 0.5), ("car", 0.6), ("van", 0.1)]
    for at, (label, score) in enumerate(labels):
        events = counter.step(at, [Seen(1, label, score, (3.0, 2.0 + (at > 2) * 2))])

    assert [one.label for one in events] == ["car"]
    assert counter.counts.lines[0].by_label == {"car": (1, 0)}


def test_other_classes_do_not_count():
    line = Line(name="gate", start=(2.0, 3.0), end=(5.0, 3.0), classes=frozenset(["bus"]))
    zone = Zone(name="yard", points=SQUARE.points, classes=frozenset(["car"]))
    counter = Counter(Places(lines=(line,), zones=(zone,)), NOW)
    way = [(3.0, 1.0), (3.0, 4.0), (3.0, 1.0)]

    events = steps(counter, {1: dict(enumerate(way))})

    assert [(one.place, one.kind.value) for one in events] == [("yard", "enter"), ("yard", "leave")]
