"""The ...VectorHasMinSizeCalculators: whether a list is long enough."""

from __future__ import annotations

import pytest

from penstock.errors import PenstockError
from penstock_formats import ClassificationList, NormalizedLandmarkList, NormalizedRect
from penstock_testing import run_calculator
from penstock_vision import has_min_size
from penstock_vision.messages.has_min_size_pb2 import CollectionHasMinSizeCalculatorOptions

KINDS = {
    has_min_size.NormalizedRectVectorHasMinSizeCalculator: NormalizedRect,
    has_min_size.NormalizedLandmarkListVectorHasMinSizeCalculator: NormalizedLandmarkList,
    has_min_size.ClassificationListVectorHasMinSizeCalculator: ClassificationList,
}


def sizes(calculator, element, side=None, **options):
    run = run_calculator(
        calculator,
        {"ITERABLE": [(n, [element()] * n) for n in range(4)]},
        outputs=[0],
        side_packets={} if side is None else {0: side},
        options=CollectionHasMinSizeCalculatorOptions(**options),
    )
    return [(int(one.timestamp), one.payload) for one in run.outputs[0]]


@pytest.mark.parametrize(("calculator", "element"), KINDS.items())
def test_a_list_of_just_the_size_is_long_enough(calculator, element):
    assert sizes(calculator, element, min_size=2) == [(0, False), (1, False), (2, True), (3, True)]


@pytest.mark.parametrize(("calculator", "element"), KINDS.items())
def test_the_side_packet_wins_over_the_option(calculator, element):
    assert sizes(calculator, element, side=3, min_size=1) == [(0, False), (1, False), (2, False), (3, True)]


def test_without_an_option_an_empty_list_is_long_enough():
    (calculator, element), *_ = KINDS.items()

    assert sizes(calculator, element)[0] == (0, True)


@pytest.mark.parametrize("given", [{"min_size": -1}, {"side": -1}])
def test_a_negative_size_is_refused(given):
    (calculator, element), *_ = KINDS.items()

    with pytest.raises(PenstockError, match=r"-1, but must be 0 or more"):
        sizes(calculator, element, **given)
