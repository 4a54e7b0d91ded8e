"""DetectionsToRenderDataCalculator: boxes, key points and texts of detections."""

from __future__ import annotations

import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Detection, DetectionList, LocationData, RenderData
from penstock_testing import run_calculator
from penstock_vision.drawing.detections_to_render_data import DetectionsToRenderDataCalculator
from penstock_vision.messages.detections_to_render_data_pb2 import DetectionsToRenderDataCalculatorOptions


def relative(**changes: object) -> Detection:
    return Detection(
        **{
            "label": ["cat"],
            "score": [0.876],
            "location_data": {
                "format": LocationData.RELATIVE_BOUNDING_BOX,
                "relative_bounding_box": {"xmin": 0.25, "ymin": 0.5, "width": 0.5, "height": 0.25},
            },
            **changes,
        }
    )


def drawing(*detections: Detection, **options: object) -> RenderData:
    run = run_calculator(
        DetectionsToRenderDataCalculator,
        {"DETECTIONS": [(7, list(detections))]},
        outputs=["RENDER_DATA"],
        options=DetectionsToRenderDataCalculatorOptions(**options),
    )
    (packet,) = run.outputs["RENDER_DATA"]
    assert packet.timestamp == 7
    return packet.payload


def tags(data: RenderData) -> list[str]:
    return [annotation.scene_tag for annotation in data.render_annotations]


def test_a_relative_box_gives_label_feature_and_rectangle():
    label, feature, box = drawing(
        relative(feature_tag="tail"), thickness=3, color={"r": 1, "g": 2, "b": 3}
    ).render_annotations

    assert label.text.display_text == "cat,0.88,"
    assert label.text.normalized
    assert label.text.left == 0.25
    assert label.text.baseline == pytest.approx(0.525, abs=1e-7)
    assert label.text.font_height == pytest.approx(0.025 * 0.9, abs=1e-8)
    assert feature.text.display_text == "tail"
    assert feature.text.baseline == 0.75
    assert (box.rectangle.left, box.rectangle.top) == (0.25, 0.5)
    assert (box.rectangle.right, box.rectangle.bottom) == (0.75, 0.75)
    assert box.rectangle.normalized
    for annotation in (label, feature, box):
        assert annotation.thickness == 3
        assert (annotation.color.r, annotation.color.g, annotation.color.b) == (1, 2, 3)


def test_a_box_in_pixels_has_the_font_of_the_options():
    detection = Detection(
        label_id=[7],
        score=[0.5],
        location_data={
            "format": LocationData.BOUNDING_BOX,
            "bounding_box": {"xmin": 10, "ymin": 20, "width": 30, "height": 40},
        },
    )

    label, feature, box = drawing(detection, text={"font_height": 12, "font_face": 3}).render_annotations

    assert label.text.display_text == "7,0.5,"
    assert (label.text.left, label.text.baseline) == (10, 32)
    assert (label.text.font_height, label.text.font_face) == (12, 3)
    assert not label.text.normalized
    assert feature.text.baseline == 60
    assert (box.rectangle.right, box.rectangle.bottom) == (40, 60)


def test_key_points_of_a_relative_box_are_points():
    detection = relative()
    detection.location_data.relative_keypoints.add(x=0.25, y=0.75)

    data = drawing(detection)

    assert tags(data) == ["LABEL", "FEATURE", "LOCATION", "KEYPOINT"]
    point = data.render_annotations[3].point
    assert (point.x, point.y, point.normalized) == (0.25, 0.75, True)


def test_a_relative_box_is_cut_at_the_borders_of_the_image():
    detection = relative()
    box = detection.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = -0.5, 0.75, 2, 0.5

    label, feature, shape = drawing(detection).render_annotations

    assert (shape.rectangle.left, shape.rectangle.right) == (0, 1)
    assert (shape.rectangle.top, shape.rectangle.bottom) == (0.75, 1)
    assert label.text.left == 0
    assert feature.text.baseline == 1


def test_a_box_outside_of_the_image_has_an_empty_rectangle():
    detection = relative()
    detection.location_data.relative_bounding_box.xmin = 1.5

    shape = drawing(detection).render_annotations[2]

    assert shape.WhichOneof("data") == "rectangle"
    assert not shape.rectangle.HasField("right")


@pytest.mark.parametrize(
    ("options", "texts"),
    [
        ({}, ["cat,0.88,dog,0.12,"]),
        ({"one_label_per_line": True}, ["cat,0.88,", "dog,0.12,"]),
        ({"render_detection_id": True, "text_delimiter": "|"}, ["Id: 5", "cat|0.88|dog|0.12|"]),
    ],
)
def test_labels_are_in_one_line_or_in_several(options, texts):
    detection = relative(label=["cat", "dog"], score=[0.876, 0.1249], detection_id=5)

    data = drawing(detection, **options)

    shown = [one.text.display_text for one in data.render_annotations if one.scene_tag == "LABEL"]
    lines = [one.text.baseline for one in data.render_annotations if one.scene_tag == "LABEL"]
    assert shown == texts
    assert lines == pytest.approx([0.5 + 0.025 * (i + 1) for i in range(len(texts))], abs=1e-6)


def test_many_labels_share_the_height_of_the_box():
    detection = relative(label=["a"] * 19, score=[1.0] * 19)

    data = drawing(detection, one_label_per_line=True)

    assert data.render_annotations[18].text.baseline == pytest.approx(0.5 + 19 * 0.25 / 20, abs=1e-6)


def test_lists_are_drawn_before_single_detections_and_missing_packets_count_as_none():
    run = run_calculator(
        DetectionsToRenderDataCalculator,
        {
            "DETECTION": [(1, relative(label=["single"])), (2, relative(label=["late"]))],
            "DETECTIONS": [(1, [relative(label=["vector"])])],
            "DETECTION_LIST": [(1, DetectionList(detection=[relative(label=["list"])]))],
        },
        outputs=["RENDER_DATA"],
    )

    shown = [
        [one.text.display_text for one in packet.payload.render_annotations if one.scene_tag == "LABEL"]
        for packet in run.outputs["RENDER_DATA"]
    ]
    assert shown == [["list,0.88,", "vector,0.88,", "single,0.88,"], ["late,0.88,"]]


def test_without_detections_an_empty_drawing_is_sent_unless_the_options_say_no():
    assert drawing().scene_class == "DETECTION"
    assert not drawing().render_annotations

    run = run_calculator(
        DetectionsToRenderDataCalculator,
        {"DETECTIONS": [(1, []), (2, [relative()])]},
        outputs=["RENDER_DATA"],
        options=DetectionsToRenderDataCalculatorOptions(produce_empty_packet=False),
    )
    assert [packet.timestamp for packet in run.outputs["RENDER_DATA"]] == [2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": []}, "a detection has 0 scores and 1 labels, but must have a score for each label"),
        ({"label_id": [1, 2]}, "a detection has 1 labels and 2 label_ids, but must have as many of both"),
        ({"location_data": {"format": LocationData.MASK}}, "has format MASK, but only BOUNDING_BOX and"),
    ],
)
def test_detections_that_cannot_be_drawn_are_refused(changes, message):
    with pytest.raises(GraphRunError, match=message):
        drawing(relative(**changes))


def test_a_node_without_an_input_is_refused():
    with pytest.raises(GraphConfigError, match="no input with detections is connected; connect one of"):
        run_calculator(DetectionsToRenderDataCalculator, {}, outputs=["RENDER_DATA"])


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------


def in_pixels(box, label, score, feature):
    names = ("xmin", "ymin", "width", "height")
    place = {"format": LocationData.BOUNDING_BOX, "bounding_box": dict(zip(names, box, strict=True))}
    return Detection(label=[label], score=[score], feature_tag=feature, location_data=place)


def annotations(feeds, **options):
    """Return the annotations of each packet that payloads at POSTSTREAM give."""
    run = run_calculator(
        DetectionsToRenderDataCalculator,
        {tag: [Packet(payload, Timestamp.POSTSTREAM)] for tag, payload in feeds.items()},
        outputs=["RENDER_DATA"],
        options=DetectionsToRenderDataCalculatorOptions(**options),
    )
    return [packet.payload.render_annotations for packet in run.outputs["RENDER_DATA"]]


@pytest.mark.reference(
    "calculators/util/detections_to_render_data_calculator_test.cc",
    "DetectionsToRenderDataCalculatorTest.OnlyDetecctionList",
    "DetectionsToRenderDataCalculatorTest.OnlyDetecctionVector",
)
@pytest.mark.parametrize("is_list", [False, True])
def test_a_box_in_pixels_of_either_kind_of_list_gives_three_annotations(is_list):
    given = [in_pixels((100, 200, 300, 400), "label1", 0.3, "feature_tag")]
    feeds = {"DETECTION_LIST": DetectionList(detection=given)} if is_list else {"DETECTIONS": given}

    ((label, feature, box),) = annotations(feeds)

    assert (label.text.display_text, feature.text.display_text) == ("label1,0.3,", "feature_tag")
    shape = box.rectangle
    assert (shape.left, shape.right, shape.top, shape.bottom) == (100, 400, 200, 600)


@pytest.mark.reference(
    "calculators/util/detections_to_render_data_calculator_test.cc",
    "DetectionsToRenderDataCalculatorTest.BothDetecctionListAndVector",
)
def test_annotations_of_a_message_come_before_a_lists():
    listed = DetectionList(detection=[in_pixels((100, 200, 300, 400), "label1", 0.3, "feature_tag1")])
    given = [in_pixels((600, 700, 800, 900), "label2", 0.6, "feature_tag2")]

    (found,) = annotations({"DETECTION_LIST": listed, "DETECTIONS": given})

    assert [found[i].text.display_text for i in (1, 4)] == ["feature_tag1", "feature_tag2"]


@pytest.mark.reference(
    "calculators/util/detections_to_render_data_calculator_test.cc",
    "DetectionsToRenderDataCalculatorTest.ProduceEmptyPacket",
)
@pytest.mark.parametrize(("is_asked", "expected"), [(False, []), (True, [[]])])
def test_two_empty_lists_give_an_empty_drawing_only_if_it_is_asked_for(is_asked, expected):
    feeds = {"DETECTION_LIST": DetectionList(), "DETECTIONS": []}

    assert annotations(feeds, produce_empty_packet=is_asked) == expected
