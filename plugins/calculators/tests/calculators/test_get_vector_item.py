"""Expected values from the reference's description and its recorded runs."""

from __future__ import annotations

import pytest

import penstock
from penstock import GraphConfigError, GraphRunError
from penstock_calculators.lists import get_vector_item
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.lists.get_vector_item import (
    GetDetectionVectorItemCalculator,
    GetVectorItemCalculator,
)
from penstock_calculators.messages.get_vector_item_pb2 import GetVectorItemCalculatorOptions
from penstock_formats import (
    ClassificationList,
    Detection,
    LandmarkList,
    NormalizedLandmarkList,
    NormalizedRect,
    Rect,
)
from penstock_testing import run_calculator

DETECTIONS = [Detection(score=[score]) for score in (0.5, 0.25, 0.125)]
#: The reference's tests register such a calculator of their own.
GetIntVectorItemCalculator = GetVectorItemCalculator.named("GetIntVectorItemCalculator", ListOf(int))
GRAPH = """
input_stream: "found" input_stream: "which" output_stream: "chosen"
node {
  calculator: "GetDetectionVectorItemCalculator"
  input_stream: "VECTOR:found" input_stream: "INDEX:which" output_stream: "ITEM:chosen"
  options { [mediapipe.GetVectorItemCalculatorOptions.ext] { %s } }
}
"""


def items(inputs, calculator=GetDetectionVectorItemCalculator, **options):
    run = run_calculator(
        calculator,
        inputs,
        outputs=["ITEM"],
        options=GetVectorItemCalculatorOptions(**options),
    )
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs["ITEM"]]


def test_a_packet_of_index_wins_over_the_option_and_an_index_without_list_gives_no_packet():
    found = items({"VECTOR": [(1, DETECTIONS), (2, DETECTIONS)], "INDEX": [(1, 2), (3, 0)]}, item_index=1)

    assert found == [(1, DETECTIONS[2]), (2, DETECTIONS[1])]


def test_the_option_alone_is_enough():
    assert items({"VECTOR": [(1, DETECTIONS)]}, item_index=0) == [(1, DETECTIONS[0])]


def test_without_option_a_list_without_index_gives_no_packet():
    assert items({"VECTOR": [(1, DETECTIONS), (2, DETECTIONS)], "INDEX": [(2, 1)]}) == [(2, DETECTIONS[1])]


def test_an_index_past_the_last_gives_no_packet_where_that_is_allowed():
    found = items(
        {"VECTOR": [(1, DETECTIONS), (2, [])], "INDEX": [(1, 3)]}, item_index=0, output_empty_on_oob=True
    )

    assert found == []


@pytest.mark.parametrize(
    ("index", "options"), [(3, {}), (-1, {}), (-1, {"output_empty_on_oob": True}), (2**63, {})]
)
def test_an_index_out_of_range_ends_the_run(index, options):
    with pytest.raises(GraphRunError, match=f"stream 'in_0': the index is {index}, but the vector has 3 el"):
        items({"VECTOR": [(1, DETECTIONS)], "INDEX": [(1, index)]}, **options)


def test_without_index_and_option_the_graph_does_not_load():
    with pytest.raises(
        GraphConfigError, match="neither input INDEX nor the option item_index is given; conn"
    ):
        items({"VECTOR": []})


def test_a_negative_option_is_refused_when_the_graph_loads():
    with pytest.raises(GraphConfigError, match="item_index is -1, but elements of the vector count from 0"):
        items({"VECTOR": []}, item_index=-1)


@pytest.mark.parametrize(
    ("lists", "indices", "options", "found"),
    [
        pytest.param(
            [[1, 2, 3]],
            [],
            {},
            [],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.EmptyIndexStreamNoOutput",
            ),
        ),
        pytest.param(
            [[1, 2, 3]],
            [1],
            {},
            [2],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.SuccessfulExtractionIndexStream",
                "TestGetIntVectorItemCalculatorTest.IndexUint64",
            ),
        ),
        pytest.param(
            [[1, 2, 3]],
            None,
            {"item_index": 2},
            [3],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.SuccessfulExtractionIndexProto",
            ),
        ),
        pytest.param(
            [[1, 2, 3]],
            [0],
            {"item_index": 2},
            [1],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.StreamIsPreferred",
            ),
        ),
        pytest.param(
            [[1, 2, 3]],
            None,
            {"item_index": 3, "output_empty_on_oob": True},
            [],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.OptionsIndexBoundsCheckFail3",
            ),
        ),
        pytest.param(
            [[1, 2, 3], [5, 6, 7, 8]],
            [1, 3],
            {},
            [2, 8],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.IndexStreamTwoTimestamps",
            ),
        ),
        pytest.param(
            [[1, 2, 3], [5, 6, 7, 8]],
            None,
            {"item_index": 2},
            [3, 7],
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.IndexOptionsTwoTimestamps",
            ),
        ),
    ],
)
def test_numbers_are_taken_by_index(lists, indices, options, found):
    inputs = {"VECTOR": enumerate(lists, 1)}
    if indices is not None:
        inputs["INDEX"] = enumerate(indices, 1)

    assert items(inputs, GetIntVectorItemCalculator, **options) == list(enumerate(found, 1))


@pytest.mark.parametrize(
    ("indices", "options", "kind", "message"),
    [
        pytest.param(
            None,
            {},
            GraphConfigError,
            "neither input INDEX nor the option item_index is given",
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.NoStreamNorOptionsExpectFail",
            ),
        ),
        pytest.param(
            [-1],
            {},
            GraphRunError,
            "the index is -1, but the vector has 3 elements",
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.StreamIndexBoundsCheckFail1",
            ),
        ),
        pytest.param(
            [3],
            {},
            GraphRunError,
            "the index is 3, but the vector has 3 elements",
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.StreamIndexBoundsCheckFail2",
            ),
        ),
        pytest.param(
            None,
            {"item_index": -1},
            GraphConfigError,
            "item_index is -1, but elements of the vector count from 0",
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.OptionsIndexBoundsCheckFail1",
            ),
        ),
        pytest.param(
            None,
            {"item_index": 3},
            GraphRunError,
            "the index is 3, but the vector has 3 elements",
            marks=pytest.mark.reference(
                "calculators/core/get_vector_item_calculator_test.cc",
                "TestGetIntVectorItemCalculatorTest.OptionsIndexBoundsCheckFail2",
            ),
        ),
    ],
)
def test_a_number_that_the_list_does_not_have_is_refused(indices, options, kind, message):
    inputs = {"VECTOR": [(1, [1, 2, 3])]}
    if indices is not None:
        inputs["INDEX"] = enumerate(indices, 1)

    with pytest.raises(kind, match=message):
        items(inputs, GetIntVectorItemCalculator, **options)


def test_unused_packets_are_in_the_ledger_with_the_reason():
    graph = penstock.CalculatorGraph(GRAPH % "output_empty_on_oob: true")
    graph.start_run()
    for stream, stamp, payload in [
        ("found", 1, DETECTIONS),
        ("which", 2, 0),
        ("found", 3, DETECTIONS),
        ("which", 3, 7),
        ("found", 4, DETECTIONS),
        ("which", 4, 1),
    ]:
        graph.add_packet_to_input_stream(stream, penstock.Packet(payload, stamp))
    graph.close_all_input_streams()
    graph.wait_until_done(60)

    assert sorted((drop.stream, drop.reason, drop.count) for drop in graph.ledger().drops) == [
        ("found", "index out of range", 1),
        ("found", "no index", 1),
        ("which", "no list", 1),
    ]
    assert graph.ledger().adds_up


@pytest.mark.parametrize(
    ("name", "element"),
    [
        ("ClassificationList", ClassificationList()),
        ("Detection", Detection()),
        ("LandmarkList", LandmarkList()),
        ("NormalizedLandmarkList", NormalizedLandmarkList()),
        ("NormalizedRect", NormalizedRect(x_center=0, y_center=0, width=1, height=1)),
        ("Rect", Rect(x_center=0, y_center=0, width=1, height=1)),
    ],
)
def test_each_name_gives_elements_of_its_type_and_no_others(name, element):
    calculator = getattr(get_vector_item, f"Get{name}VectorItemCalculator")
    options = GetVectorItemCalculatorOptions(item_index=0)

    run = run_calculator(calculator, {"VECTOR": [(1, [element])]}, outputs=["ITEM"], options=options)

    assert run.outputs["ITEM"][0].payload is element
    with pytest.raises(GraphRunError, match=f"holds a 'str', but the stream carries .*{name}"):
        run_calculator(calculator, {"VECTOR": [(1, ["x"])]}, outputs=["ITEM"], options=options)
