from __future__ import annotations

import pytest

from penstock import GraphRunError
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.lists.vector_indices import (
    ClassificationListVectorSizeCalculator,
    IntVectorIndicesCalculator,
    LandmarkListVectorSizeCalculator,
    NormalizedLandmarkListVectorIndicesCalculator,
    Uint64tVectorIndicesCalculator,
    VectorSizeCalculator,
)
from penstock_formats import ClassificationList, LandmarkList, NormalizedLandmarkList
from penstock_testing import run_calculator


def values(calculator, vectors, output):
    run = run_calculator(calculator, {"VECTOR": list(enumerate(vectors))}, outputs=[output])
    return [packet.payload for packet in run.outputs[output]]


@pytest.mark.parametrize(
    ("calculator", "element"),
    [
        (IntVectorIndicesCalculator, 7),
        (Uint64tVectorIndicesCalculator, 2**63),
        (NormalizedLandmarkListVectorIndicesCalculator, NormalizedLandmarkList()),
    ],
)
def test_indices_count_from_zero_and_an_empty_list_has_none(calculator, element):
    assert values(calculator, [[element] * 3, [], [element]], "INDICES") == [[0, 1, 2], [], [0]]


@pytest.mark.parametrize(
    ("calculator", "element"),
    [
        (ClassificationListVectorSizeCalculator, ClassificationList()),
        (LandmarkListVectorSizeCalculator, LandmarkList()),
    ],
)
def test_the_size_is_the_number_of_elements(calculator, element):
    assert values(calculator, [[element] * 3, [], [element]], "SIZE") == [3, 0, 1]


@pytest.mark.reference(
    "calculators/core/vector_indices_calculator_test.cc", "IntVectorIndicesCalculatorTest.Succeeds"
)
@pytest.mark.parametrize(("numbers", "indices"), [([1, 2, 3], [0, 1, 2]), ([], [])])
def test_the_indices_of_numbers_do_not_depend_on_the_numbers(numbers, indices):
    assert values(IntVectorIndicesCalculator, [numbers], "INDICES") == [indices]


@pytest.mark.parametrize(
    ("lists", "sizes"),
    [
        pytest.param(
            [[]],
            [0],
            marks=pytest.mark.reference(
                "calculators/core/vector_size_calculator_test.cc",
                "TestIntVectorSizeCalculator.EmptyVectorWithOutputSizeZero",
            ),
        ),
        pytest.param(
            [[1, 2, 3]],
            [3],
            marks=pytest.mark.reference(
                "calculators/core/vector_size_calculator_test.cc",
                "TestIntVectorSizeCalculator.SingleVectorInput",
            ),
        ),
        pytest.param(
            [[1, 2, 3], [5, 6, 7, 8], [9, 10]],
            [3, 4, 2],
            marks=pytest.mark.reference(
                "calculators/core/vector_size_calculator_test.cc",
                "TestIntVectorSizeCalculator.MultipleVectorInputs",
            ),
        ),
    ],
)
def test_the_sizes_come_at_the_times_of_the_lists(lists, sizes):
    # the reference's test registers such a calculator of its own
    calculator = VectorSizeCalculator.named("IntVectorSizeCalculator", ListOf(int))

    run = run_calculator(calculator, {"VECTOR": enumerate(lists, 1)}, outputs=["SIZE"])

    found = [(int(packet.timestamp), packet.payload) for packet in run.outputs["SIZE"]]
    assert found == list(enumerate(sizes, 1))


@pytest.mark.parametrize(
    ("calculator", "output"),
    [(IntVectorIndicesCalculator, "INDICES"), (LandmarkListVectorSizeCalculator, "SIZE")],
)
def test_elements_of_another_type_are_refused(calculator, output):
    with pytest.raises(GraphRunError, match="element 0 of the list is a 'str', not a"):
        values(calculator, [["x"]], output)
