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


@pytest.mark.reference(
    "calculators/util/collection_has_min_size_calculator_test.cc",
    "TestIntCollectionHasMinSizeCalculator.DoesHaveMinSize",
    "TestIntCollectionHasMinSizeCalculator.DoesHaveMinSize_MinSizeAsSidePacket",
    "TestIntCollectionHasMinSizeCalculator.DoesNotHaveMinSize",
    "TestIntCollectionHasMinSizeCalculator.DoesNotHaveMinSize_MinSizeAsSidePacket",
)
@pytest.mark.parametrize(
    ("least", "lists", "is_enough"), [(2, [[1, 2], [1, 2, 3]], True), (3, [[1], [1, 2]], False)]
)
@pytest.mark.parametrize("by_side_packet", [False, True])
def test_lists_of_a_new_type_are_counted_too(least, lists, is_enough, by_side_packet):
    calculator = has_min_size.HasMinSizeCalculator.named("IntVectorHasMinSizeCalculator", int)
    options = CollectionHasMinSizeCalculatorOptions() if by_side_packet else None

    run = run_calculator(
        calculator,
        {"ITERABLE": list(enumerate(lists, 1))},
        outputs=[0],
        side_packets={0: least} if by_side_packet else {},
        options=options or CollectionHasMinSizeCalculatorOptions(min_size=least),
    )

    assert [(int(one.timestamp), one.payload) for one in run.outputs[0]] == [(1, is_enough), (2, is_enough)]
