"""Timed boxes: made of detections, labelled, drawn."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import GraphConfigError
from penstock_formats import Detection, DetectionList, LocationData, TimedBoxProto, TimedBoxProtoList
from penstock_testing import run_calculator
from penstock_vision.detections.label_file import RESOURCES
from penstock_vision.detections.timed_boxes import (
    DetectionsToTimedBoxListCalculator,
    TimedBoxListIdToLabelCalculator,
)
from penstock_vision.drawing.timed_box_list_to_render_data import TimedBoxListToRenderDataCalculator
from penstock_vision.messages.timed_box_list_to_render_data_pb2 import (
    TimedBoxListToRenderDataCalculatorOptions,
)


def detection(x, y, width, height, **more):
    made = Detection(**more)
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = x, y, width, height
    return made


def boxes(**feeds):
    run = run_calculator(DetectionsToTimedBoxListCalculator, feeds, outputs=["BOXES"])
    return [(int(packet.timestamp), list(packet.payload.box)) for packet in run.outputs["BOXES"]]


def test_a_detection_becomes_a_box_with_its_edges_id_and_time():
    found = boxes(DETECTIONS=[(5_999, [detection(0.25, 0.5, 0.5, 0.125, detection_id=7)])])

    expected = TimedBoxProto(left=0.25, right=0.75, top=0.5, bottom=0.625, id=7, time_msec=5)
    assert found == [(5_999, [expected])]


def test_edges_are_added_in_32_bits():
    ((_, (box,)),) = boxes(DETECTIONS=[(0, [detection(0.1, 0.2, 0.7, 0.1)])])

    assert box.right == np.float32(0.1) + np.float32(0.7)
    assert box.bottom == np.float32(0.2) + np.float32(0.1)


def test_times_are_cut_towards_0_and_ids_to_32_bits():
    ((_, (box,)),) = boxes(DETECTIONS=[(-1_500, [detection(0, 0, 1, 1, detection_id=2**32 + 2**31)])])

    assert (box.time_msec, box.id) == (-1, -(2**31))


def test_both_inputs_give_one_list():
    lists = DetectionList(detection=[detection(0, 0, 1, 1, detection_id=1)])

    found = boxes(
        DETECTIONS=[(1, [detection(0, 0, 1, 1, detection_id=2)]), (2, [])], DETECTION_LIST=[(1, lists)]
    )

    assert [(t, [box.id for box in some]) for t, some in found] == [(1, [1, 2]), (2, [])]


def test_an_input_is_needed():
    with pytest.raises(GraphConfigError, match="none of the inputs DETECTION_LIST, DETECTIONS, but at least"):
        run_calculator(DetectionsToTimedBoxListCalculator, {}, outputs=["BOXES"])


class Files:
    """A finder that has one file."""

    data = b"cup\ncan\n"

    def find(self, name, access):
        assert name == "labels.txt"
        return self


def test_known_ids_get_labels():
    config = """
        input_stream: "in" output_stream: "out"
        node {
          calculator: "TimedBoxListIdToLabelCalculator" input_stream: "in" output_stream: "out"
          options { [penstock.TimedBoxListIdToLabelCalculatorOptions.ext] { label_map_path: "labels.txt" } }
        }
    """
    given = TimedBoxProtoList(box=[{"id": 1, "left": 0.5}, {"id": 2}, {"id": -1}, {"id": 0, "label": "old"}])
    graph, seen = CalculatorGraph(config), []
    graph.set_service(RESOURCES, Files())
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(given, 1))
    graph.close(60)

    expected = [{"id": 1, "left": 0.5, "label": "can"}, {"id": 2}, {"id": -1}, {"id": 0, "label": "cup"}]
    assert seen == [TimedBoxProtoList(box=expected)]
    assert given.box[3].label == "old"


def test_a_file_of_labels_is_needed():
    with pytest.raises(GraphConfigError, match="label_map_path is empty, but names the file with the labels"):
        run_calculator(TimedBoxListIdToLabelCalculator, {0: []}, outputs=[0])


def drawing(*given, **options):
    run = run_calculator(
        TimedBoxListToRenderDataCalculator,
        {"BOX_LIST": [(3, TimedBoxProtoList(box=given))]},
        outputs=["RENDER_DATA"],
        options=TimedBoxListToRenderDataCalculatorOptions(**options),
    )
    (packet,) = run.outputs["RENDER_DATA"]
    return list(packet.payload.render_annotations)


def test_a_box_is_drawn_as_a_turned_rectangle():
    box = {"left": 0.25, "top": 0.5, "right": 0.75, "bottom": 0.625, "rotation": 0.5}

    (found,) = drawing(box, box_color={"r": 1, "g": 2, "b": 3}, thickness=4)

    shape = found.rectangle
    assert (shape.left, shape.top, shape.right, shape.bottom) == (0.25, 0.5, 0.75, 0.625)
    assert (shape.normalized, shape.rotation, found.thickness) == (True, 0.5, 4)
    assert (found.color.r, found.color.g, found.color.b) == (1, 2, 3)


def test_corners_are_drawn_by_four_lines_that_close():
    points = [0, 0, 0, 0.5, 0.5, 0.5, 0.5, 0]

    lines = [one.line for one in drawing({"quad": {"vertices": points}})]

    ends = [(line.x_start, line.y_start, line.x_end, line.y_end) for line in lines]
    assert ends == [(0, 0, 0, 0.5), (0, 0.5, 0.5, 0.5), (0.5, 0.5, 0.5, 0), (0.5, 0, 0, 0)]
    assert all(line.normalized for line in lines)


@pytest.mark.parametrize("vertices", [[], [1, 2, 3]])
def test_what_is_no_list_of_corners_is_drawn_by_its_edges(vertices):
    (found,) = drawing({"quad": {"vertices": vertices}, "right": 1})

    assert found.rectangle.right == 1


def test_a_label_is_written_into_its_box():
    box = {"left": 0.1, "top": 0.2, "right": 0.7, "bottom": 0.9, "label": "cup"}

    _, text = drawing(box, thickness=2)

    left, top, right, bottom = (np.float32(box[side]) for side in ("left", "top", "right", "bottom"))
    fifth, three_fifths = np.float32(0.2), np.float32(0.6)
    assert text.text.display_text == "cup"
    assert text.text.normalized
    assert text.text.left == (1 - fifth) * left + fifth * right
    assert text.text.baseline == three_fifths * bottom + (1 - three_fifths) * top
    assert text.text.font_height == (right - left) * np.float32(0.1)
    assert text.thickness == 2


def test_no_boxes_are_an_empty_drawing():
    assert drawing() == []
