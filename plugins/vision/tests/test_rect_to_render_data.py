"""RectToRenderDataCalculator: which shapes rectangles become."""

from __future__ import annotations

import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import NormalizedRect, Rect, RenderAnnotation, RenderData
from penstock_testing import run_calculator
from penstock_vision.drawing.rect_to_render_data import RectToRenderDataCalculator
from penstock_vision.messages.rect_to_render_data_pb2 import RectToRenderDataCalculatorOptions


def drawing(tag: str, payload: object, **options: object) -> RenderData:
    run = run_calculator(
        RectToRenderDataCalculator,
        {tag: [(7, payload)]},
        outputs=["RENDER_DATA"],
        options=RectToRenderDataCalculatorOptions(**options),
    )
    (packet,) = run.outputs["RENDER_DATA"]
    assert packet.timestamp == 7
    return packet.payload


def sides(rectangle: RenderAnnotation.Rectangle) -> tuple[float, float, float, float]:
    return rectangle.left, rectangle.top, rectangle.right, rectangle.bottom


SQUARE = NormalizedRect(x_center=0.5, y_center=0.25, width=0.25, height=0.125, rotation=0.5)


def test_a_normalised_rect_is_an_outline_with_its_rotation():
    (annotation,) = drawing(
        "NORM_RECT", SQUARE, thickness=3, color={"r": 1, "g": 2, "b": 3}
    ).render_annotations

    assert sides(annotation.rectangle) == (0.375, 0.1875, 0.625, 0.3125)
    assert annotation.rectangle.normalized
    assert annotation.rectangle.rotation == 0.5
    assert not annotation.rectangle.HasField("top_left_thickness")
    assert annotation.thickness == 3
    assert (annotation.color.r, annotation.color.g, annotation.color.b) == (1, 2, 3)


def test_a_rect_in_pixels_may_begin_at_half_a_pixel():
    (annotation,) = drawing("RECT", Rect(x_center=10, y_center=20, width=5, height=8)).render_annotations

    assert sides(annotation.rectangle) == (7.5, 16, 12.5, 24)
    assert not annotation.rectangle.normalized


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"filled": True}, "filled_rectangle.rectangle"),
        ({"oval": True}, "oval.rectangle"),
        ({"filled": True, "oval": True}, "filled_oval.oval.rectangle"),
    ],
)
def test_the_options_choose_the_shape(options, path):
    (annotation,) = drawing("NORM_RECT", SQUARE, **options).render_annotations

    shape = annotation
    for name in path.split("."):
        assert shape.HasField(name)
        shape = getattr(shape, name)
    assert sides(shape) == (0.375, 0.1875, 0.625, 0.3125)


def test_the_top_left_corner_is_marked_on_request():
    (annotation,) = drawing("NORM_RECT", SQUARE, top_left_thickness=4).render_annotations

    assert annotation.rectangle.top_left_thickness == 4


@pytest.mark.parametrize(
    ("tag", "payload"),
    [("NORM_RECTS", [SQUARE, SQUARE]), ("RECTS", [Rect(width=4, height=4), Rect(width=2, height=2)])],
)
def test_lists_give_a_shape_for_each_rect_and_none_for_an_empty_list(tag, payload):
    assert len(drawing(tag, payload).render_annotations) == 2
    assert not drawing(tag, []).render_annotations


@pytest.mark.parametrize("rotation", [0, 0.5])
def test_a_rect_outside_of_the_image_has_sides_only_if_it_is_turned(rotation):
    outside = NormalizedRect(x_center=2, y_center=0.5, width=0.5, height=0.5, rotation=rotation)

    (annotation,) = drawing("NORM_RECT", outside).render_annotations

    assert annotation.WhichOneof("data") == "rectangle"
    assert annotation.rectangle.HasField("left") == bool(rotation)


@pytest.mark.parametrize("shape", ["filled", "oval"])
def test_only_the_corner_of_an_outline_is_marked(shape):
    with pytest.raises(GraphRunError, match=f"top_left_thickness is 4 and {shape} is true, but of a rect"):
        drawing("NORM_RECT", SQUARE, top_left_thickness=4, **{shape: True})


@pytest.mark.parametrize(("ports", "found"), [([], "none"), (["RECT", "RECTS"], "RECT, RECTS")])
def test_exactly_one_input_is_needed(ports, found):
    with pytest.raises(GraphConfigError, match=f"inputs with rects to render are {found}; connect exactly"):
        run_calculator(RectToRenderDataCalculator, {port: [] for port in ports}, outputs=["RENDER_DATA"])
