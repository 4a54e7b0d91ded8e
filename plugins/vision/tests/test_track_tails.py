"""TrackTailsCalculator: how long tails are, and what happens to the ones that are away."""

from __future__ import annotations

import pytest

from penstock.errors import GraphRunError
from penstock_formats import Detection, LocationData
from penstock_testing import run_calculator
from penstock_vision.drawing.plates import PALETTE
from penstock_vision.drawing.track_tails import TrackTailsCalculator, TrackTailsCalculatorOptions


def at(number, x, y=0.5):
    box = {"xmin": x - 0.05, "ymin": y - 0.1, "width": 0.1, "height": 0.2}
    place = {"format": LocationData.RELATIVE_BOUNDING_BOX, "relative_bounding_box": box}
    return Detection(detection_id=number, location_data=place)


def tails(frames, **options):
    """Return for each timestamp the lines of the drawing."""
    done = run_calculator(
        TrackTailsCalculator,
        {"DETECTIONS": [(round(1e6 * time), found) for time, found in frames.items()]},
        outputs=["RENDER_DATA"],
        options=TrackTailsCalculatorOptions(**options),
    )
    return [list(packet.payload.render_annotations) for packet in done.outputs["RENDER_DATA"]]


def colour(line):
    return line.color.r, line.color.g, line.color.b


def test_a_tail_goes_through_where_the_object_stood():
    drawn = tails({t / 10: [at(3, 0.1 * t)] for t in range(5)}, seconds=10)

    assert [len(lines) for lines in drawn] == [0, 1, 2, 3, 4]
    first, *_, last = drawn[-1]
    assert (first.line.x_start, first.line.y_start) == pytest.approx((0, 0.6), abs=1e-6)
    assert (last.line.x_end, last.line.y_end) == pytest.approx((0.4, 0.6), abs=1e-6)
    assert first.line.normalized
    assert first.thickness < last.thickness == 4
    for before, after in zip(drawn[-1], drawn[-1][1:], strict=False):
        assert (before.line.x_end, before.line.y_end) == (after.line.x_start, after.line.y_start)
    assert {colour(line) for line in drawn[-1]} == {PALETTE[3]}


def test_a_tail_has_few_corners_and_ends_where_the_object_is():
    drawn = tails({t / 50: [at(1, t / 100)] for t in range(101)}, seconds=1, step_seconds=0.1, centre=True)

    assert 10 <= len(drawn[-1]) <= 12
    assert (drawn[-1][-1].line.x_end, drawn[-1][-1].line.y_end) == pytest.approx((1, 0.5), abs=1e-6)
    assert drawn[-1][0].line.x_start == pytest.approx(0.5, abs=0.06)


def test_a_tail_goes_on_after_a_gap_and_is_forgotten_after_a_long_one():
    short = tails({0: [at(1, 0.1)], 0.5: [], 1: [at(1, 0.2)]}, seconds=1.5)
    long = tails({0: [at(1, 0.1)], 1.6: [at(2, 0.5)], 2: [at(1, 0.2)]}, seconds=1.5)

    assert [len(lines) for lines in short] == [0, 0, 1]
    assert [len(lines) for lines in long] == [0, 0, 0]


def test_what_has_no_id_has_no_tail():
    one = at(1, 0.5)
    one.ClearField("detection_id")

    assert tails({0: [one], 1: [one]}) == [[], []]


def test_a_place_in_pixels_is_refused():
    place = {
        "format": LocationData.BOUNDING_BOX,
        "bounding_box": {"xmin": 1, "ymin": 1, "width": 1, "height": 1},
    }

    with pytest.raises(GraphRunError, match="of format BOUNDING_BOX, but tails take RELATIVE_BOUNDING_BOX"):
        tails({0: [Detection(detection_id=1, location_data=place)]})
