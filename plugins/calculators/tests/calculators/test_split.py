"""Parts of lists by position. Expected values from the reference's description and runs of it."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.lists.split import (
    MovableSplitCalculator,
    MovableSplitImageFrameVectorCalculator,
    SplitAffineMatrixVectorCalculator,
    SplitFloatVectorCalculator,
    SplitLandmarkVectorCalculator,
    SplitNormalizedLandmarkListCalculator,
    SplitTensorVectorCalculator,
    SplitTfLiteTensorVectorCalculator,
    SplitUint64tVectorCalculator,
)
from penstock_calculators.messages.split_pb2 import Range, SplitVectorCalculatorOptions
from penstock_formats import ImageFrame, NormalizedLandmark, NormalizedLandmarkList, Tensor
from penstock_testing import ScheduleHarness, node, run_calculator, wired


def options(*ranges, **more):
    return SplitVectorCalculatorOptions(ranges=[Range(begin=begin, end=end) for begin, end in ranges], **more)


def landmarks(*xs):
    return NormalizedLandmarkList(landmark=[NormalizedLandmark(x=x) for x in xs])


def split(payload, chosen, outputs=None, calculator=SplitFloatVectorCalculator):
    """Return the payload that each output has for an input at 1."""
    count = len(chosen.ranges) if outputs is None else outputs
    run = run_calculator(calculator, {0: [(1, payload)]}, outputs=range(count), options=chosen)
    assert all([int(packet.timestamp) for packet in packets] == [1] for packets in run.outputs.values())
    return [packets[0].payload for packets in run.outputs.values()]


def test_each_output_has_the_elements_of_its_range():
    assert split([1.0, 2.0, 3.0, 4.0], options((0, 1), (1, 3))) == [[1.0], [2.0, 3.0]]


def test_ranges_may_overlap_and_come_in_any_order():
    assert split([1.0, 2.0, 3.0], options((1, 3), (0, 2))) == [[2.0, 3.0], [1.0, 2.0]]


def test_single_elements_come_by_themselves():
    assert split([1.0, 2.0, 3.0, 4.0], options((0, 1), (2, 3), element_only=True)) == [1.0, 3.0]


def test_combined_ranges_come_in_the_order_of_the_ranges():
    values = [0.0, 1.0, 2.0, 3.0, 4.0]

    assert split(values, options((2, 4), (0, 1), combine_outputs=True), outputs=1) == [[2.0, 3.0, 0.0]]


def test_combined_elements_are_a_list_whatever_element_only_says():
    chosen = options((2, 3), (0, 2), combine_outputs=True, element_only=True)

    assert split([0.0, 1.0, 2.0], chosen, outputs=1) == [[2.0, 0.0, 1.0]]


def test_no_ranges_combined_are_an_empty_list():
    assert split([], options(combine_outputs=True), outputs=1) == [[]]


def test_a_combined_range_may_be_empty():
    assert split([0.0, 1.0], options((1, 1), (0, 1), combine_outputs=True), outputs=1) == [[0.0]]


@pytest.mark.parametrize(
    ("chosen", "outputs", "parts"),
    [
        (options((0, 1), (1, 3)), 2, [landmarks(0.125), landmarks(0.25, 0.5)]),
        (options((1, 2), element_only=True), 1, [NormalizedLandmark(x=0.25)]),
        (options((2, 3), (0, 1), combine_outputs=True), 1, [landmarks(0.5, 0.125)]),
    ],
)
def test_messages_are_split_into_new_messages(chosen, outputs, parts):
    whole = landmarks(0.125, 0.25, 0.5)

    assert split(whole, chosen, outputs, SplitNormalizedLandmarkListCalculator) == parts
    assert whole == landmarks(0.125, 0.25, 0.5)


def test_elements_are_forwarded_as_the_same_objects():
    points = [NormalizedLandmark(x=1), NormalizedLandmark(x=2)]

    first, (second,) = (
        split(points, chosen, calculator=SplitLandmarkVectorCalculator)[0]
        for chosen in (options((0, 1), element_only=True), options((1, 2)))
    )

    assert first is points[0]
    assert second is points[1]


def test_a_timestamp_without_input_is_settled():
    plan = wired(node(SplitFloatVectorCalculator, "v", "a b", options=[options((0, 1), (1, 2))]), inputs="v")
    harness = ScheduleHarness(plan, bounds_of=["a", "b"]).start()

    harness.set_bound("v", 8)
    harness.run()

    assert harness.carried("a") == harness.carried("b") == [(7, None)]
    harness.finish()


def test_an_input_that_is_shorter_than_the_furthest_range_is_refused():
    with pytest.raises(GraphRunError, match="the list to split has 2 elements, but a range ends at 3"):
        split([1.0, 2.0], options((0, 1), (1, 3)))


def test_a_message_that_is_shorter_than_the_furthest_range_is_refused():
    with pytest.raises(GraphRunError, match="the list to split has 0 elements, but a range ends at 1"):
        split(landmarks(), options((0, 1)), calculator=SplitNormalizedLandmarkListCalculator)


def test_a_list_of_other_elements_is_refused():
    with pytest.raises(GraphRunError, match="'in_0': element 0 of the list is a 'bool', not a 'int'"):
        split([True, 1], options((1, 2)), calculator=SplitUint64tVectorCalculator)


@pytest.mark.parametrize(
    ("chosen", "outputs", "message"),
    [
        (options((0, 1), (1, 3)), 1, "the split has 1 outputs, but the option ranges has 2"),
        (options((0, 1)), 2, "the split has 2 outputs, but the option ranges has 1"),
        (options(), 0, "the split has 0 outputs, but the option ranges has 0"),
        (options((0, 1), (1, 2), combine_outputs=True), 2, "2 outputs, but combine_outputs asks for 1"),
        (options((1, 1)), 1, "range 1 to 1 of the split: must begin at 0 or later, and end after its begin"),
        (options((2, 1)), 1, "range 2 to 1 of the split: must begin"),
        (options((-1, 1)), 1, "range -1 to 1 of the split: must begin"),
        (options((2, 1), combine_outputs=True), 1, "range 2 to 1 of the split: must begin"),
        (options((-1, 1), combine_outputs=True), 1, "range -1 to 1 of the split: must begin"),
        (
            options((0, 2), element_only=True),
            1,
            "range 0 to 2 of the split: with element_only every range must have size 1",
        ),
        (options((0, 2), (1, 3), combine_outputs=True), 1, "ranges 0 to 2 and 1 to 3 overlap"),
        (options((1, 3), (0, 2), combine_outputs=True), 1, "ranges 1 to 3 and 0 to 2 overlap"),
        (options((0, 1), (4, 5), (0, 1), combine_outputs=True), 1, "ranges 0 to 1 and 0 to 1 overlap"),
    ],
)
@pytest.mark.parametrize("calculator", [SplitFloatVectorCalculator, SplitNormalizedLandmarkListCalculator])
def test_ranges_that_cannot_be_cut_are_refused_before_the_run(calculator, chosen, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(calculator, {0: []}, outputs=range(outputs), options=chosen)


def test_ranges_of_elements_that_are_moved_must_not_overlap():
    images = [ImageFrame(np.full((1, 1), i, np.uint8)) for i in range(3)]
    calculator = MovableSplitImageFrameVectorCalculator

    first, second = split(images, options((0, 1), (1, 3)), calculator=calculator)

    assert (first, second) == (images[:1], images[1:])
    with pytest.raises(GraphConfigError, match="ranges 0 to 2 and 1 to 3 overlap"):
        run_calculator(calculator, {0: []}, outputs=[0, 1], options=options((0, 2), (1, 3)))


def test_tensors_come_apart_as_the_same_objects():
    scores, boxes = Tensor(np.zeros((1, 10), np.float32)), Tensor(np.zeros((1, 10, 4), np.int8))

    first, second = split(
        [scores, boxes], options((1, 2), (0, 1), element_only=True), calculator=SplitTensorVectorCalculator
    )

    assert (first is boxes, second is scores) == (True, True)


def test_tensors_go_to_one_output_each_but_not_those_of_tflite():
    tensors = [Tensor(np.full(1, i, np.float32)) for i in range(3)]
    chosen = options((0, 2), (1, 3))

    with pytest.raises(GraphConfigError, match="ranges 0 to 2 and 1 to 3 overlap"):
        split(tensors, chosen, calculator=SplitTensorVectorCalculator)
    first, second = split(tensors, chosen, calculator=SplitTfLiteTensorVectorCalculator)
    assert first[1] is second[0] is tensors[1]


def test_an_affine_matrix_is_a_tuple():
    identity = tuple(float(i % 5 == 0) for i in range(16))

    assert split([identity], options((0, 1)), calculator=SplitAffineMatrixVectorCalculator) == [[identity]]
    with pytest.raises(GraphRunError, match=r"element 0 of the list is a 'list'"):
        split([list(identity)], options((0, 1)), calculator=SplitAffineMatrixVectorCalculator)


class OnlyOne:
    """What cannot be copied."""

    __copy__ = __deepcopy__ = __reduce__ = None


#: The reference's tests register such a calculator of their own.
SplitOnlyOnes = MovableSplitCalculator.named("SplitOnlyOnes", ListOf(OnlyOne))


def whole_of(calculator, size):
    """Return the elements that a calculator is for, and the input that holds them."""
    if calculator is SplitNormalizedLandmarkListCalculator:
        elements = [NormalizedLandmark(x=3 * i, y=3 * i, z=3 * i) for i in range(size)]
        return elements, NormalizedLandmarkList(landmark=elements)
    if calculator is SplitTfLiteTensorVectorCalculator:
        elements = [Tensor(np.full((1, 1, 1), i, np.float32)) for i in range(size)]
    else:
        elements = [OnlyOne() for _ in range(size)]
    return elements, elements


@pytest.mark.parametrize(
    ("calculator", "size", "ranges", "more", "parts"),
    [
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            5,
            ((0, 1), (1, 4), (4, 5)),
            {},
            [[0], [1, 2, 3], [4]],
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.SmokeTest",
            ),
        ),
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            5,
            ((0, 1), (2, 3), (4, 5)),
            {"element_only": True},
            [0, 2, 4],
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.SmokeTestElementOnly",
            ),
        ),
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            5,
            ((0, 1), (2, 3), (4, 5)),
            {"combine_outputs": True},
            [[0, 2, 4]],
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.SmokeTestCombiningOutputs",
            ),
        ),
        pytest.param(
            SplitOnlyOnes,
            6,
            ((0, 1), (1, 4), (4, 5)),
            {},
            [[0], [1, 2, 3], [4]],
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "MovableSplitUniqueIntPtrCalculatorTest.SmokeTest",
            ),
        ),
        pytest.param(
            SplitOnlyOnes,
            6,
            ((0, 1), (2, 3), (4, 5)),
            {"element_only": True},
            [0, 2, 4],
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "MovableSplitUniqueIntPtrCalculatorTest.SmokeTestElementOnly",
            ),
        ),
        pytest.param(
            SplitOnlyOnes,
            6,
            ((0, 1), (2, 3), (4, 5)),
            {"combine_outputs": True},
            [[0, 2, 4]],
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "MovableSplitUniqueIntPtrCalculatorTest.SmokeTestCombiningOutputs",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            5,
            ((0, 1), (1, 4), (4, 5)),
            {},
            [[0], [1, 2, 3], [4]],
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.SmokeTest",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            5,
            ((0, 1), (2, 3), (4, 5)),
            {"element_only": True},
            [0, 2, 4],
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.SmokeTestElementOnly",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            5,
            ((0, 1), (2, 3), (4, 5)),
            {"combine_outputs": True},
            [[0, 2, 4]],
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.SmokeTestCombiningOutputs",
            ),
        ),
    ],
)
def test_elements_at_given_positions_are_parts(calculator, size, ranges, more, parts):
    elements, whole = whole_of(calculator, size)

    found = split(whole, options(*ranges, **more), len(parts), calculator)

    found = [getattr(part, "landmark", part) for part in found]
    assert len(found) == len(parts)
    for part, positions in zip(found, parts, strict=True):
        single = isinstance(positions, int)
        wanted = [elements[positions]] if single else [elements[i] for i in positions]
        same = map(operator.eq if whole is not elements else operator.is_, [part] if single else part, wanted)
        assert all(same)
        assert single or len(part) == len(wanted)


@pytest.mark.parametrize(
    ("calculator", "ranges", "more", "outputs", "message"),
    [
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            ((0, 0),),
            {},
            1,
            "range 0 to 0 of the split: must begin",
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.InvalidRangeTest",
            ),
        ),
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            ((0, 1),),
            {},
            2,
            "the split has 2 outputs, but the option ranges has 1",
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.InvalidOutputStreamCountTest",
            ),
        ),
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            ((0, 1), (2, 3)),
            {"combine_outputs": True},
            2,
            "2 outputs, but combine_outputs asks for 1",
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.InvalidCombineOutputsMultipleOutputsTest",
            ),
        ),
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            ((0, 3), (1, 4)),
            {"combine_outputs": True},
            1,
            "ranges 0 to 3 and 1 to 4 overlap",
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.InvalidOverlappingRangesTest",
            ),
        ),
        pytest.param(
            SplitTfLiteTensorVectorCalculator,
            ((0, 1), (1, 4), (4, 5)),
            {"element_only": True},
            3,
            "range 1 to 4 of the split: with element_only every range",
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "SplitTfLiteTensorVectorCalculatorTest.ElementOnlyDisablesVectorOutputs",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            ((0, 0),),
            {},
            1,
            "range 0 to 0 of the split: must begin",
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.InvalidRangeTest",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            ((0, 1),),
            {},
            2,
            "the split has 2 outputs, but the option ranges has 1",
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.InvalidOutputStreamCountTest",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            ((0, 1), (2, 3)),
            {"combine_outputs": True},
            2,
            "2 outputs, but combine_outputs asks for 1",
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.InvalidCombineOutputsMultipleOutputsTest",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            ((0, 3), (1, 4)),
            {"combine_outputs": True},
            1,
            "ranges 0 to 3 and 1 to 4 overlap",
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.InvalidOverlappingRangesTest",
            ),
        ),
        pytest.param(
            SplitNormalizedLandmarkListCalculator,
            ((0, 1), (1, 4), (4, 5)),
            {"element_only": True},
            3,
            "range 1 to 4 of the split: with element_only every range",
            marks=pytest.mark.reference(
                "calculators/core/split_proto_list_calculator_test.cc",
                "SplitNormalizedLandmarkListCalculatorTest.ElementOnlyDisablesVectorOutputs",
            ),
        ),
        pytest.param(
            SplitOnlyOnes,
            ((0, 3), (1, 4)),
            {},
            1,
            "1 outputs, but the option ranges has 2",
            marks=pytest.mark.reference(
                "calculators/core/split_vector_calculator_test.cc",
                "MovableSplitUniqueIntPtrCalculatorTest.InvalidOverlappingRangesTest",
            ),
        ),
        (SplitOnlyOnes, ((0, 3), (1, 4)), {}, 2, "ranges 0 to 3 and 1 to 4 overlap"),
    ],
)
def test_ranges_that_the_reference_refuses_are_refused(calculator, ranges, more, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(calculator, {0: []}, outputs=range(outputs), options=options(*ranges, **more))


@pytest.mark.reference(
    "calculators/core/split_vector_calculator_test.cc", "MovableSplitImageFrameVectorCalculatorTest.SmokeTest"
)
def test_a_frame_of_a_list_is_the_same_frame():
    frame = ImageFrame(np.zeros((10, 20, 3), np.uint8))

    (found,) = split(
        [frame], options((0, 1), element_only=True), calculator=MovableSplitImageFrameVectorCalculator
    )

    assert found is frame
    assert (found.format.name, found.width, found.height) == ("SRGB", 20, 10)
