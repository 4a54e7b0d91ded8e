"""Expected values from the reference's description of the calculators."""

from __future__ import annotations

import pytest

import penstock
from penstock import GraphConfigError, GraphRunError
from penstock_calculators.lists.clip_vector_size import (
    ClipDetectionVectorSizeCalculator,
    ClipNormalizedRectVectorSizeCalculator,
    ClipVectorSizeCalculator,
)
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.messages.clip_vector_size_pb2 import ClipVectorSizeCalculatorOptions
from penstock_formats import Detection, NormalizedRect
from penstock_testing import run_calculator

DETECTIONS = [Detection(score=[score]) for score in (0.5, 0.25, 0.125)]


class OnlyOne:
    """What cannot be copied."""

    __copy__ = __deepcopy__ = __reduce__ = None


#: The reference's tests register calculators of their own for these types.
ClipInts = ClipVectorSizeCalculator.named("ClipInts", ListOf(int))
ClipOnlyOnes = ClipVectorSizeCalculator.named("ClipOnlyOnes", ListOf(OnlyOne))
RECTS = [NormalizedRect(x_center=x, y_center=0, width=1, height=1) for x in (0.5, 0.25)]


def payloads(run):
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs[0]]


@pytest.mark.parametrize(
    ("calculator", "elements"),
    [(ClipDetectionVectorSizeCalculator, DETECTIONS), (ClipNormalizedRectVectorSizeCalculator, RECTS)],
)
def test_the_first_element_is_kept_where_nothing_else_is_said(calculator, elements):
    run = run_calculator(calculator, {0: [(1, elements), (2, []), (3, elements[1:])]}, outputs=[0])

    assert payloads(run) == [(1, elements[:1]), (2, []), (3, elements[1:2])]


def test_a_list_that_is_short_enough_is_forwarded_and_a_longer_one_stays_whole_for_its_other_readers():
    short, long = DETECTIONS[:2], list(DETECTIONS)

    run = run_calculator(
        ClipDetectionVectorSizeCalculator,
        {0: [(1, short), (2, long)]},
        outputs=[0],
        options=ClipVectorSizeCalculatorOptions(max_vec_size=2),
    )

    assert run.outputs[0][0].payload is short
    assert run.outputs[0][1].payload == DETECTIONS[:2]
    assert long == DETECTIONS


def test_the_side_packet_wins_over_the_option():
    run = run_calculator(
        ClipDetectionVectorSizeCalculator,
        {0: [(1, DETECTIONS)]},
        outputs=[0],
        side_packets={0: 1},
        options=ClipVectorSizeCalculatorOptions(max_vec_size=2),
    )

    assert payloads(run) == [(1, DETECTIONS[:1])]


@pytest.mark.parametrize(
    ("given", "most", "kept"),
    [
        pytest.param(
            [[]],
            1,
            [[]],
            marks=pytest.mark.reference(
                "calculators/core/clip_vector_size_calculator_test.cc",
                "TestClipIntVectorSizeCalculatorTest.EmptyVectorInput",
            ),
        ),
        pytest.param(
            [[0, 1, 2, 3]],
            2,
            [[0, 1]],
            marks=pytest.mark.reference(
                "calculators/core/clip_vector_size_calculator_test.cc",
                "TestClipIntVectorSizeCalculatorTest.OneTimestamp",
            ),
        ),
        pytest.param(
            [[0, 1, 2, 3], [2, 3, 4, 5]],
            3,
            [[0, 1, 2], [2, 3, 4]],
            marks=pytest.mark.reference(
                "calculators/core/clip_vector_size_calculator_test.cc",
                "TestClipIntVectorSizeCalculatorTest.TwoInputsAtTwoTimestamps",
            ),
        ),
    ],
)
def test_lists_of_numbers_keep_their_first_elements(given, most, kept):
    run = run_calculator(
        ClipInts,
        {0: enumerate(given, 1)},
        outputs=[0],
        options=ClipVectorSizeCalculatorOptions(max_vec_size=most),
    )

    assert payloads(run) == list(enumerate(kept, 1))


@pytest.mark.reference(
    "calculators/core/clip_vector_size_calculator_test.cc",
    "TestClipUniqueIntPtrVectorSizeCalculatorTest.ConsumeOneTimestamp",
)
def test_elements_that_cannot_be_copied_are_the_same_objects():
    elements = [OnlyOne() for _ in range(6)]
    run = run_calculator(
        ClipOnlyOnes,
        {0: [(1, elements)]},
        outputs=[0],
        options=ClipVectorSizeCalculatorOptions(max_vec_size=3),
    )

    assert payloads(run) == [(1, elements[:3])]


@pytest.mark.reference(
    "calculators/core/clip_vector_size_calculator_test.cc", "TestClipIntVectorSizeCalculatorTest.SidePacket"
)
def test_the_side_packet_may_ask_for_more_than_the_option():
    run = run_calculator(
        ClipInts,
        {0: [(1, [0, 1, 2, 3])]},
        outputs=[0],
        side_packets={0: 2},
        options=ClipVectorSizeCalculatorOptions(max_vec_size=1),
    )

    assert payloads(run) == [(1, [0, 1])]


def test_an_option_below_one_is_refused_when_the_graph_loads():
    with pytest.raises(
        GraphConfigError, match="max_vec_size is 0, but at least one element of a clipped vector is kept"
    ):
        run_calculator(
            ClipDetectionVectorSizeCalculator,
            {0: []},
            outputs=[0],
            options=ClipVectorSizeCalculatorOptions(max_vec_size=0),
        )


def test_a_side_packet_below_one_ends_the_run():
    with pytest.raises(
        GraphRunError, match="the side packet is -1, but at least one element of a clipped vector is kept"
    ):
        run_calculator(
            ClipDetectionVectorSizeCalculator, {0: [(1, DETECTIONS)]}, outputs=[0], side_packets={0: -1}
        )


@pytest.mark.parametrize("elements", [["no detection"], ["no detection", *DETECTIONS], [*DETECTIONS, "none"]])
def test_an_element_of_another_type_is_refused(elements):
    with pytest.raises(GraphRunError, match=r"element \d of the list is a 'str', not a 'Detection'"):
        run_calculator(ClipDetectionVectorSizeCalculator, {0: [(1, elements)]}, outputs=[0])


@pytest.mark.parametrize(
    ("sides", "reason"),
    [({}, "max_vec_size is 2"), ({"most": 1}, "the side packet, which replaces max_vec_size, is 1")],
)
def test_the_ledger_names_the_limit_and_counts_what_it_cut(sides, reason):
    graph = penstock.CalculatorGraph(f"""
        input_stream: "found"
        {'input_side_packet: "most"' if sides else ""}
        node {{
          calculator: "ClipDetectionVectorSizeCalculator"
          name: "clip"
          input_stream: "found"
          {'input_side_packet: "most"' if sides else ""}
          output_stream: "few"
          options {{ [penstock.ClipVectorSizeCalculatorOptions.ext] {{ max_vec_size: 2 }} }}
        }}
    """)
    graph.start_run(sides)
    for stamp, size in enumerate((3, 0, 1, 3)):
        graph.add_packet_to_input_stream("found", penstock.Packet(DETECTIONS[:size], stamp))
    graph.close(20)

    (cut,) = graph.ledger().cuts
    assert (cut.stream, cut.place, cut.reason) == ("found", "node 'clip' input 0", reason)
    assert cut.count == (4 if sides else 2)
    assert graph.why().cuts == (cut,)
    assert graph.ledger().adds_up
    assert graph.ledger().drops == ()
