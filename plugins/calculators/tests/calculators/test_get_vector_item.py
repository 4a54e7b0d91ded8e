"""Expected values from the reference's description and its recorded runs."""

from __future__ import annotations

import pytest

import penstock
from penstock import GraphConfigError, GraphRunError
from penstock_calculators.lists import get_vector_item
from penstock_calculators.lists.get_vector_item import GetDetectionVectorItemCalculator
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
GRAPH = """
input_stream: "found" input_stream: "which" output_stream: "chosen"
node {
  calculator: "GetDetectionVectorItemCalculator"
  input_stream: "VECTOR:found" input_stream: "INDEX:which" output_stream: "ITEM:chosen"
  options { [mediapipe.GetVectorItemCalculatorOptions.ext] { %s } }
}
"""


def items(inputs, **options):
    run = run_calculator(
        GetDetectionVectorItemCalculator,
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
    with pytest.raises(GraphRunError, match=f"stream 'in_0': the index is {index}, but the list has 3 el"):
        items({"VECTOR": [(1, DETECTIONS)], "INDEX": [(1, index)]}, **options)


def test_without_index_and_option_the_graph_does_not_load():
    with pytest.raises(
        GraphConfigError, match="neither input INDEX nor the option item_index is given; conn"
    ):
        items({"VECTOR": []})


def test_a_negative_option_is_refused_when_the_graph_loads():
    with pytest.raises(GraphConfigError, match="item_index is -1, but elements count from 0"):
        items({"VECTOR": []}, item_index=-1)


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
