"""Joined lists of several streams. Expected values from the reference's description and runs of it."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError, Packet
from penstock.errors import PacketTypeError
from penstock_calculators.lists.concatenate import (
    ConcatenateClassificationListCalculator,
    ConcatenateFloatVectorCalculator,
    ConcatenateInt32VectorCalculator,
    ConcatenateLandmarkVectorCalculator,
    ConcatenateNormalizedLandmarkListCalculator,
    ConcatenateStringVectorCalculator,
    ConcatenateVectorCalculator,
)
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.messages.concatenate_pb2 import ConcatenateVectorCalculatorOptions
from penstock_formats import Classification, ClassificationList, NormalizedLandmark, NormalizedLandmarkList
from penstock_testing import ScheduleHarness, explore, node, run_calculator, wired

ALL = ConcatenateVectorCalculatorOptions(only_emit_if_all_present=True)


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def landmarks(*xs):
    return NormalizedLandmarkList(landmark=[NormalizedLandmark(x=x) for x in xs])


def concatenate(first, second, options=None, calculator=ConcatenateFloatVectorCalculator):
    run = run_calculator(calculator, {0: first, 1: second}, outputs=[0], options=options)
    return values(run.outputs[0])


def test_lists_are_joined_in_the_order_of_the_inputs_and_missing_ones_left_out():
    first, second = [(1, [1.0, 2.0]), (2, [4.0])], [(1, [3.0]), (3, [])]

    assert concatenate(first, second) == [(1, [1.0, 2.0, 3.0]), (2, [4.0]), (3, [])]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (1.0, [2.0, 3.0], [1.0, 2.0, 3.0]),
        ([2.0, 3.0], 1.0, [2.0, 3.0, 1.0]),
        (1.0, 2.0, [1.0, 2.0]),
        (0.0, [], [0.0]),
    ],
)
def test_an_input_holds_single_elements_or_lists(first, second, joined):
    assert concatenate([(1, first)], [(1, second)]) == [(1, joined)]


def test_only_a_bound_comes_where_an_input_is_missing_if_the_option_says_so():
    plan = wired(node(ConcatenateFloatVectorCalculator, "a b", "o", options=[ALL]), inputs="a b")
    harness = ScheduleHarness(plan, bounds_of=["o"]).start()
    for timestamp in (1, 2, 3):
        harness.add("a", [float(timestamp)], timestamp)
    for timestamp in (1, 3):
        harness.add("b", 0.5, timestamp)
        harness.run()

    (first,), (second,) = harness.stream("a").readers, harness.stream("b").readers
    assert harness.carried("o") == [(1, [1.0, 0.5]), (2, None), (3, [3.0, 0.5])]
    assert (first.delivered, first.dropped) == (2, {"an input had no packet": 1})
    assert (second.delivered, second.dropped) == (2, {})
    harness.finish()


def test_without_the_option_no_packet_counts_as_dropped():
    harness = ScheduleHarness(wired(node(ConcatenateFloatVectorCalculator, "a b", "o"), inputs="a b")).start()
    harness.add("a", [1.0], 1)
    harness.finish()

    (first,) = harness.stream("a").readers
    assert (first.delivered, first.dropped) == (1, {})


def test_an_empty_packet_makes_no_list():
    harness = ScheduleHarness(
        wired(node(ConcatenateFloatVectorCalculator, "a b", "o"), inputs="a b"), bounds_of=["o"]
    ).start()
    for stream, payload, timestamp in [
        ("a", None, 1), ("b", None, 1), ("a", None, 5), ("b", [1.0], 7), ("a", [2.0], 8),
    ]:  # fmt: skip
        harness.add_packet(
            stream, Packet(timestamp=timestamp) if payload is None else Packet(payload, timestamp)
        )
        harness.run()
    harness.finish()

    assert harness.carried("o")[:4] == [(1, None), (5, None), (7, [1.0]), (8, [2.0])]


def test_the_list_is_a_new_one_and_its_elements_are_the_same():
    one, many = NormalizedLandmark(x=1), [NormalizedLandmark(x=2)]

    ((_, joined),) = concatenate([(1, one)], [(1, many)], calculator=ConcatenateLandmarkVectorCalculator)

    assert joined is not many
    assert joined[0] is one
    assert joined[1] is many[0]


def test_messages_are_joined_into_a_new_one():
    first, second = landmarks(0.25, 0.5), landmarks(0.75)

    joined = concatenate(
        [(1, first), (2, landmarks())],
        [(1, second), (3, second)],
        calculator=ConcatenateNormalizedLandmarkListCalculator,
    )

    assert joined == [(1, landmarks(0.25, 0.5, 0.75)), (2, landmarks()), (3, second)]
    assert first == landmarks(0.25, 0.5)
    assert joined[2][1] is not second


def test_messages_too_wait_for_all_if_the_option_says_so():
    joined = concatenate(
        [(1, landmarks(0.25)), (2, landmarks(0.5))],
        [(2, landmarks())],
        ALL,
        ConcatenateNormalizedLandmarkListCalculator,
    )

    assert joined == [(2, landmarks(0.5))]


class OnlyOne:
    """What cannot be copied."""

    __copy__ = __deepcopy__ = __reduce__ = None


ConcatenateOnlyOnes = ConcatenateVectorCalculator.named("ConcatenateOnlyOnes", ListOf(OnlyOne))


def at_times(calculator, sets, options=None, *, inputs=None):
    """Return the outputs; each set has one timestamp and the packets of the first inputs."""
    given = {i: [] for i in range(inputs or len(sets[0]))}
    for timestamp, payloads in enumerate(sets, 1):
        for i, payload in enumerate(payloads):
            given[i].append((timestamp, payload))
    return values(run_calculator(calculator, given, outputs=[0], options=options).outputs[0])


@pytest.mark.parametrize(
    ("sets", "joined"),
    [
        pytest.param(
            [([], [], [])],
            [(1, [])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.EmptyVectorInputs",
            ),
        ),
        pytest.param(
            [([1, 2, 3], [4], [5, 6])],
            [(1, [1, 2, 3, 4, 5, 6])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.OneTimestamp",
            ),
        ),
        pytest.param(
            [([1, 2, 3], [4], [5, 6]), ([0, 2], [1], [3, 5])],
            [(1, [1, 2, 3, 4, 5, 6]), (2, [0, 2, 1, 3, 5])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.TwoInputsAtTwoTimestamps",
            ),
        ),
        pytest.param(
            [(1, 2, 3)],
            [(1, [1, 2, 3])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.ItemsOneTimestamp",
            ),
        ),
        pytest.param(
            [(1, 2, 3), (4, 5, 6)],
            [(1, [1, 2, 3]), (2, [4, 5, 6])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.ItemsTwoInputsAtTwoTimestamps",
            ),
        ),
        pytest.param(
            [([1, 2], [3, 4, 5], 6, 7)],
            [(1, [1, 2, 3, 4, 5, 6, 7])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.MixedVectorsAndItems",
            ),
        ),
        pytest.param(
            [(1, [2, 3], [4, 5, 6], 7)],
            [(1, [1, 2, 3, 4, 5, 6, 7])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.MixedVectorsAndItemsAnother",
            ),
        ),
    ],
)
def test_lists_of_ints_and_ints_are_joined(sets, joined):
    assert at_times(ConcatenateInt32VectorCalculator, sets) == joined


@pytest.mark.parametrize(
    ("calculator", "sets", "joined"),
    [
        pytest.param(
            ConcatenateFloatVectorCalculator,
            [([], [], [])],
            [(1, [])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "ConcatenateFloatVectorCalculatorTest.EmptyVectorInputs",
            ),
        ),
        pytest.param(
            ConcatenateFloatVectorCalculator,
            [([1.0, 2.0, 3.0], [4.0], [5.0, 6.0])],
            [(1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "ConcatenateFloatVectorCalculatorTest.OneTimestamp",
            ),
        ),
        pytest.param(
            ConcatenateFloatVectorCalculator,
            [([1.0, 2.0, 3.0], [4.0], [5.0, 6.0]), ([0.0, 2.0], [1.0], [3.0, 5.0])],
            [(1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), (2, [0.0, 2.0, 1.0, 3.0, 5.0])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "ConcatenateFloatVectorCalculatorTest.TwoInputsAtTwoTimestamps",
            ),
        ),
        pytest.param(
            ConcatenateStringVectorCalculator,
            [(["a", "b"], ["c"], ["d", "e", "f"])],
            [(1, ["a", "b", "c", "d", "e", "f"])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "ConcatenateStringVectorCalculatorTest.OneTimestamp",
            ),
        ),
    ],
)
def test_lists_of_floats_and_of_strings_are_joined(calculator, sets, joined):
    assert at_times(calculator, sets) == joined


@pytest.mark.parametrize(
    ("calculator", "present", "options", "joined"),
    [
        pytest.param(
            ConcatenateInt32VectorCalculator,
            [[1, 2, 3]],
            None,
            [(1, [1, 2, 3])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.OneEmptyStreamStillOutput",
            ),
        ),
        pytest.param(
            ConcatenateInt32VectorCalculator,
            [[1, 2, 3]],
            ALL,
            [],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.OneEmptyStreamNoOutput",
            ),
        ),
        pytest.param(
            ConcatenateInt32VectorCalculator,
            [1, 2],
            None,
            [(1, [1, 2])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.ItemsOneEmptyStreamStillOutput",
            ),
        ),
        pytest.param(
            ConcatenateInt32VectorCalculator,
            [1, 2],
            ALL,
            [],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateIntVectorCalculatorTest.ItemsOneEmptyStreamNoOutput",
            ),
        ),
        pytest.param(
            ConcatenateFloatVectorCalculator,
            [[1.0, 2.0, 3.0]],
            None,
            [(1, [1.0, 2.0, 3.0])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "ConcatenateFloatVectorCalculatorTest.OneEmptyStreamStillOutput",
            ),
        ),
        pytest.param(
            ConcatenateFloatVectorCalculator,
            [[1.0, 2.0, 3.0]],
            ALL,
            [],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "ConcatenateFloatVectorCalculatorTest.OneEmptyStreamNoOutput",
            ),
        ),
    ],
)
def test_an_input_that_has_no_packet_is_left_out_or_prevents_the_list(calculator, present, options, joined):
    assert at_times(calculator, [present], options, inputs=len(present) + 1) == joined


@pytest.mark.reference(
    "calculators/core/concatenate_vector_calculator_test.cc",
    "TestConcatenateUniqueIntVectorCalculatorTest.ConsumeOneTimestamp",
)
def test_elements_that_cannot_be_copied_are_the_same_objects():
    ones = [OnlyOne() for _ in range(6)]

    assert at_times(ConcatenateOnlyOnes, [(ones[:3], ones[3:4], ones[4:])]) == [(1, ones)]


@pytest.mark.parametrize(
    ("options", "size"),
    [
        pytest.param(
            None,
            1,
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateUniqueIntVectorCalculatorTest.OneEmptyStreamStillOutput",
            ),
        ),
        pytest.param(
            ALL,
            0,
            marks=pytest.mark.reference(
                "calculators/core/concatenate_vector_calculator_test.cc",
                "TestConcatenateUniqueIntVectorCalculatorTest.OneEmptyStreamNoOutput",
            ),
        ),
    ],
)
def test_elements_that_cannot_be_copied_may_come_alone(options, size):
    ones = [OnlyOne() for _ in range(3)]

    assert at_times(ConcatenateOnlyOnes, [(ones,)], options, inputs=2) == [(1, ones)] * size


@pytest.mark.parametrize(
    ("sets", "inputs", "options", "joined"),
    [
        pytest.param(
            [([], [], [])],
            3,
            None,
            [(1, [])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_proto_list_calculator_test.cc",
                "ConcatenateNormalizedLandmarkListCalculatorTest.EmptyVectorInputs",
            ),
        ),
        pytest.param(
            [([0, 0, 0], [3], [6, 6])],
            3,
            None,
            [(1, [0, 0, 0, 3, 6, 6])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_proto_list_calculator_test.cc",
                "ConcatenateNormalizedLandmarkListCalculatorTest.OneTimestamp",
            ),
        ),
        pytest.param(
            [([0, 0, 0], [3], [6, 6])] * 2,
            3,
            None,
            [(1, [0, 0, 0, 3, 6, 6]), (2, [0, 0, 0, 3, 6, 6])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_proto_list_calculator_test.cc",
                "ConcatenateNormalizedLandmarkListCalculatorTest.TwoInputsAtTwoTimestamps",
            ),
        ),
        pytest.param(
            [([0, 0, 0],)],
            2,
            None,
            [(1, [0, 0, 0])],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_proto_list_calculator_test.cc",
                "ConcatenateNormalizedLandmarkListCalculatorTest.OneEmptyStreamStillOutput",
            ),
        ),
        pytest.param(
            [([0, 0, 0],)],
            2,
            ALL,
            [],
            marks=pytest.mark.reference(
                "calculators/core/concatenate_proto_list_calculator_test.cc",
                "ConcatenateNormalizedLandmarkListCalculatorTest.OneEmptyStreamNoOutput",
            ),
        ),
    ],
)
def test_landmarks_are_joined(sets, inputs, options, joined):
    def points(numbers):
        return NormalizedLandmarkList(landmark=[NormalizedLandmark(x=n, y=n, z=n) for n in numbers])

    carried = at_times(
        ConcatenateNormalizedLandmarkListCalculator,
        [[points(numbers) for numbers in one] for one in sets],
        options,
        inputs=inputs,
    )

    assert carried == [(timestamp, points(numbers)) for timestamp, numbers in joined]


@pytest.mark.reference(
    "calculators/core/concatenate_proto_list_calculator_test.cc",
    "ConcatenateClassificationListCalculatorTest.OneTimestamp",
)
def test_classifications_keep_their_order():
    classes = [
        Classification(index=i, score=score, label=f"test_{i}")
        for i, score in enumerate([0.2, 0.3, 0.4, 0.2, 0.3])
    ]

    carried = at_times(
        ConcatenateClassificationListCalculator,
        [(ClassificationList(classification=classes[:3]), ClassificationList(classification=classes[3:]))],
        ALL,
    )

    assert carried == [(1, ClassificationList(classification=classes))]


def test_the_output_does_not_depend_on_the_order_of_arrival():
    plan = wired(node(ConcatenateFloatVectorCalculator, "a b", "o"), inputs="a b")

    def drive(harness):
        harness.start()
        for stream, timestamps in [("a", (1, 2, 4)), ("b", (2, 3, 4))]:
            for timestamp in timestamps:
                harness.add(stream, [float(timestamp)], timestamp)
                harness.step()
        harness.finish()

    assert explore(plan, drive)["o"] == [(1, [1.0]), (2, [2.0, 2.0]), (3, [3.0]), (4, [4.0, 4.0])]


@pytest.mark.parametrize(
    ("calculator", "payload", "message"),
    [
        (ConcatenateFloatVectorCalculator, "1", r"'str'.*float"),
        (ConcatenateInt32VectorCalculator, 1.5, r"'float'.*int"),
        (ConcatenateInt32VectorCalculator, True, r"'bool'.*int"),
        (ConcatenateNormalizedLandmarkListCalculator, NormalizedLandmark(), "NormalizedLandmark"),
    ],
)
def test_a_packet_of_another_type_is_refused(calculator, payload, message):
    with pytest.raises(PacketTypeError, match=message):
        run_calculator(calculator, {0: [(1, payload)]}, outputs=[0])


def test_a_list_of_other_elements_is_refused():
    with pytest.raises(GraphRunError, match=r"'in_1': element 1 of the list is a 'float', not a 'int'"):
        concatenate([(1, 1)], [(1, [2, 0.5])], calculator=ConcatenateInt32VectorCalculator)


def test_a_calculator_without_inputs_is_refused():
    with pytest.raises(GraphConfigError, match="input"):
        run_calculator(ConcatenateFloatVectorCalculator, {}, outputs=[0])
