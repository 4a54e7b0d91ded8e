"""LabelsToRenderDataCalculator: lines of text for labels."""

from __future__ import annotations

import pytest

from penstock import Timestamp
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ClassificationList, RenderData, VideoHeader
from penstock_testing import run_calculator
from penstock_vision.drawing.labels_to_render_data import LabelsToRenderDataCalculator
from penstock_vision.messages.labels_to_render_data_pb2 import LabelsToRenderDataCalculatorOptions


def drawing(inputs: dict[str, object], **options: object) -> RenderData:
    run = run_calculator(
        LabelsToRenderDataCalculator,
        {tag: payload if tag == "VIDEO_PRESTREAM" else [(7, payload)] for tag, payload in inputs.items()},
        outputs=["RENDER_DATA"],
        options=LabelsToRenderDataCalculatorOptions(**options),
    )
    (packet,) = run.outputs["RENDER_DATA"]
    assert packet.timestamp == 7
    return packet.payload


def texts(data: RenderData) -> list[str]:
    return [one.text.display_text for one in data.render_annotations]


def test_labels_with_scores_stand_below_each_other():
    data = drawing(
        {"LABELS": ["cat", "dog", "cow"], "SCORES": [0.875, 1.0, 0.0]},
        max_num_labels=2,
        font_height_px=10,
        font_face=2,
        horizontal_offset_px=3,
        vertical_offset_px=4,
        thickness=5,
    )

    assert texts(data) == ["cat:0.875", "dog:1"]
    assert [(one.text.left, one.text.baseline) for one in data.render_annotations] == [(3, 17), (3, 30)]
    assert {(one.text.font_height, one.text.font_face) for one in data.render_annotations} == {(10, 2)}
    assert {one.thickness for one in data.render_annotations} == {5}
    assert {(one.color.r, one.color.g, one.color.b) for one in data.render_annotations} == {(255, 0, 0)}
    assert not data.render_annotations[0].text.HasField("outline_color")


def test_labels_without_scores_are_shown_alone():
    assert texts(drawing({"LABELS": ["cat", "dog"]})) == ["cat"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "c"),
        ({"use_display_name": True}, "Cat"),
        ({"display_classification_score": True}, "c:0.123457"),
    ],
)
def test_classifications_show_their_label_or_name_and_on_request_the_score(options, text):
    found = ClassificationList(classification=[{"label": "c", "display_name": "Cat", "score": 0.1234567}])

    assert texts(drawing({"CLASSIFICATIONS": found}, **options)) == [text]


def test_colours_are_used_in_turn():
    data = drawing(
        {"LABELS": ["a", "b", "c"]},
        max_num_labels=3,
        color=[{"r": 1}, {"r": 2}],
        outline_thickness=2,
        outline_color=[{"b": 3}],
    )

    assert [one.color.r for one in data.render_annotations] == [1, 2, 1]
    assert {one.text.outline_color.b for one in data.render_annotations} == {3}
    assert {one.text.outline_thickness for one in data.render_annotations} == {2}


def test_an_outline_without_a_colour_is_black():
    outline = drawing({"LABELS": ["a"]}, outline_thickness=1).render_annotations[0].text.outline_color

    assert (outline.r, outline.g, outline.b) == (0, 0, 0)


def test_at_the_bottom_the_last_label_stands_at_the_border():
    data = drawing(
        {
            "LABELS": ["a", "b"],
            "VIDEO_PRESTREAM": [(Timestamp.PRESTREAM, VideoHeader(width=64, height=48))],
        },
        location=LabelsToRenderDataCalculatorOptions.BOTTOM_LEFT,
        max_num_labels=2,
        font_height_px=8,
    )

    assert [one.text.baseline for one in data.render_annotations] == [38, 48]


def test_the_bottom_is_not_known_without_a_header():
    with pytest.raises(GraphRunError, match="location is BOTTOM_LEFT, but the height of the images is not"):
        drawing({"LABELS": ["a"]}, location=LabelsToRenderDataCalculatorOptions.BOTTOM_LEFT)


def test_another_number_of_scores_is_refused():
    with pytest.raises(GraphRunError, match=r"has 1 scores, but there are 2 labels to draw at timestamp 7"):
        drawing({"LABELS": ["a", "b"], "SCORES": [1.0]})


@pytest.mark.parametrize(
    ("ports", "message"), [([], "neither of CLASS"), (["LABELS", "CLASSIFICATIONS"], "both of CLASS")]
)
def test_one_kind_of_labels_is_needed(ports, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(LabelsToRenderDataCalculator, {port: [] for port in ports}, outputs=["RENDER_DATA"])
