"""Multi...LandmarksSmoothingCalculator: as many filters as there are ids."""

from __future__ import annotations

import pytest

from penstock.errors import GraphRunError
from penstock_formats import LandmarkList, NormalizedLandmarkList, NormalizedRect, Rect
from penstock_testing import run_calculator
from penstock_vision.landmarks.landmarks_smoothing import LandmarksSmoothingCalculator
from penstock_vision.landmarks.multi_landmarks_smoothing import (
    MultiLandmarksSmoothingCalculator,
    MultiWorldLandmarksSmoothingCalculator,
)
from penstock_vision.messages.landmarks_smoothing_pb2 import LandmarksSmoothingCalculatorOptions

EURO = {"one_euro_filter": {"min_cutoff": 0.1, "beta": 5.0}}
#: of each world: calculator, tags, types, more inputs
NORMALIZED = (MultiLandmarksSmoothingCalculator, "NORM_LANDMARKS", NormalizedLandmarkList, NormalizedRect)
WORLD = (MultiWorldLandmarksSmoothingCalculator, "LANDMARKS", LandmarkList, Rect)
FILTERED = {"NORM_LANDMARKS": "NORM_FILTERED_LANDMARKS", "LANDMARKS": "FILTERED_LANDMARKS"}
STEP = 33_333


def points(kind, i, offset):
    return kind(landmark=[{"x": offset + ((i * 7 + k) % 5) / 16, "y": k / 8, "z": i / 32} for k in range(4)])


def single(kind, tag, series, rois=None):
    """Return what the calculator for one object makes of a series of landmarks."""
    feeds = {tag: series}
    if tag == "NORM_LANDMARKS":
        feeds["IMAGE_SIZE"] = [(t, (640, 480)) for t, _ in series]
    if rois:
        feeds["OBJECT_SCALE_ROI"] = rois
    options = LandmarksSmoothingCalculatorOptions(**EURO)
    run = run_calculator(LandmarksSmoothingCalculator, feeds, outputs=[FILTERED[tag]], options=options)
    return {int(packet.timestamp): packet.payload for packet in run.outputs[FILTERED[tag]]}


def multi(world, rows, rois=None, options=EURO):
    """Return what comes out, by timestamp; `rows` are (timestamp, {id: landmarks} or None)."""
    calculator, tag, _, _ = world
    feeds = {
        tag: [(t, list(row.values())) for t, row in rows if row is not None],
        "TRACKING_IDS": [(t, list(row or {})) for t, row in rows],
    }
    if tag == "NORM_LANDMARKS":
        feeds["IMAGE_SIZE"] = [(t, (640, 480)) for t, _ in rows]
    if rois:
        feeds["OBJECT_SCALE_ROI"] = rois
    given = LandmarksSmoothingCalculatorOptions(**options)
    run = run_calculator(calculator, feeds, outputs=[FILTERED[tag]], options=given)
    return {int(packet.timestamp): packet.payload for packet in run.outputs[FILTERED[tag]]}


@pytest.mark.parametrize("world", [NORMALIZED, WORLD])
def test_each_id_is_smoothed_as_if_it_were_alone_whatever_its_place(world):
    _, tag, kind, _ = world
    a = [(STEP * i, points(kind, i, 0)) for i in range(5)]
    b = [(STEP * i, points(kind, 3 * i, 0.5)) for i in range(5)]
    rows = [
        (t, {7: one, 9: other} if t % 2 else {9: other, 7: one})
        for (t, one), (_, other) in zip(a, b, strict=True)
    ]

    found = multi(world, rows)

    alone = single(kind, tag, a), single(kind, tag, b)
    for t, row in rows:
        assert found[t] == [alone[0 if identity == 7 else 1][t] for identity in row]
    assert found[STEP * 4] != [dict(rows)[STEP * 4][9], dict(rows)[STEP * 4][7]]


@pytest.mark.parametrize("gap", [{}, None])
def test_an_id_that_was_away_begins_again(gap):
    kind = NormalizedLandmarkList
    a = [(STEP * i, points(kind, i, 0)) for i in range(5)]
    rows = [(t, {7: one}) for t, one in a]
    rows[2] = (rows[2][0], gap)

    found = multi(NORMALIZED, rows)

    later = single(kind, "NORM_LANDMARKS", a[3:])
    assert [found[t][0] for t in later] == list(later.values())


@pytest.mark.parametrize("world", [NORMALIZED, WORLD])
def test_each_object_may_have_a_size_of_its_own(world):
    _, tag, kind, roi = world
    sizes = [roi(width=1, height=1), roi(width=0 if roi is NormalizedRect else 4, height=3)]
    series = [(STEP * i, points(kind, i, 0)) for i in range(3)]

    found = multi(world, [(t, {1: one, 2: one}) for t, one in series], rois=[(t, sizes) for t, _ in series])

    for i, size in enumerate(sizes):
        alone = single(kind, tag, series, rois=[(t, size) for t, _ in series])
        assert [found[t][i] for t, _ in series] == [alone[t] for t, _ in series]
    assert found[STEP][0] != found[STEP][1]


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        (
            {"TRACKING_IDS": [(0, [1])]},
            "holds 1 elements, but 'in_.' holds the landmarks of 2 objects",
        ),
        ({"TRACKING_IDS": []}, "has no packet, but"),
        ({"TRACKING_IDS": [(0, [1, 2])], "OBJECT_SCALE_ROI": [(0, [Rect()])]}, "holds 1 elements, but"),
    ],
)
def test_each_object_has_an_id(feeds, message):
    given = {"LANDMARKS": [(0, [LandmarkList(), LandmarkList()])], **feeds}
    options = LandmarksSmoothingCalculatorOptions(**EURO)
    with pytest.raises(GraphRunError, match=message):
        run_calculator(
            MultiWorldLandmarksSmoothingCalculator, given, outputs=["FILTERED_LANDMARKS"], options=options
        )


def test_a_filter_is_needed():
    with pytest.raises(GraphRunError, match="no filter, but one is needed"):
        multi(WORLD, [], options={})
