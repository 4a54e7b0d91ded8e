"""ClassificationOverlayCalculator: plates in the corner, in the order of the classes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError
from penstock_formats import Classification, ClassificationList, Detection, ImageFrame
from penstock_testing import run_calculator
from penstock_vision.drawing.classification_overlay import (
    ClassificationOverlayCalculator,
    ClassificationOverlayCalculatorOptions,
)
from penstock_vision.drawing.detection_overlay import color_of

FOUND = ClassificationList(
    classification=[
        Classification(index=3, score=0.9, label="dog"),
        Classification(index=1, score=0.08, label="cat"),
        Classification(index=7, score=0.02),
    ]
)


def drawn(image, found=FOUND, **options):
    inputs = {"IMAGE": [(5, ImageFrame(image))], "CLASSIFICATIONS": [] if found is None else [(5, found)]}
    given = ClassificationOverlayCalculatorOptions(**options)
    made = run_calculator(ClassificationOverlayCalculator, inputs, outputs=["IMAGE"], options=given)
    return made.outputs["IMAGE"][0].payload.array


def grey(height, *channels):
    return np.full((height, height * 2, *channels), 127, np.uint8)


def rows_of(image, label):
    color = color_of(Detection(label=[label]))[:3]
    rows = np.flatnonzero((image == color).all(axis=2).any(axis=1))
    return (rows[0], rows[-1]) if len(rows) else None


@pytest.mark.parametrize("height", [360, 720, 2160])
def test_plates_stand_one_below_the_other_and_are_the_same_share_of_every_image(height):
    image = drawn(grey(height, 3))

    places = [rows_of(image, label) for label in ("dog", "cat", "7")]
    assert all(first[1] < second[0] for first, second in itertools.pairwise(places))
    assert places[0][1] - places[0][0] == pytest.approx(0.028 * 2.2 * height, abs=0.012 * height)
    assert (image[:, height:] == 127).all()


def test_only_the_first_classes_are_written_and_scores_can_be_left_out():
    image = drawn(grey(720, 3), max_classes=1)
    plain = drawn(grey(720, 3), max_classes=1, show_score=False)

    assert rows_of(image, "dog")
    assert rows_of(image, "cat") is None
    assert (plain != 127).sum() < (image != 127).sum()


def test_images_without_classes_are_copied_and_grey_ones_get_colours():
    image = grey(90, 3)
    assert (drawn(image, None) == image).all()
    assert (drawn(image, ClassificationList()) == image).all()
    assert drawn(grey(90)).shape == (90, 180, 3)


def test_numbers_out_of_range_are_refused():
    with pytest.raises(InvalidArgumentError, match="max_classes is 0, but must be 1 or more"):
        ClassificationOverlayCalculatorOptions(max_classes=0)
    with pytest.raises(InvalidArgumentError, match="text_height of the plates is 0, but must be above 0"):
        ClassificationOverlayCalculatorOptions(text_height=0)
    with pytest.raises((GraphRunError, GraphConfigError), match="SRGB, SRGBA and GRAY8"):
        drawn(np.zeros((4, 4), np.float32))
