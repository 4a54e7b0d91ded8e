"""AnnotationOverlayCalculator: what it draws, on which images, and what it refuses.

`recorded_drawings.json` has drawings of the reference (mediapipe 0.10.21, OpenCV 4.10) on a grey image.
"""

from __future__ import annotations

import json
import zlib
from base64 import b85decode
from pathlib import Path

import cv2
import numpy as np
import pytest
from google.protobuf import text_format

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Image, ImageFormat, ImageFrame, RenderData, VideoHeader
from penstock_testing import run_calculator
from penstock_vision.drawing.annotation_overlay import AnnotationOverlayCalculator
from penstock_vision.messages.annotation_overlay_pb2 import AnnotationOverlayCalculatorOptions

RECORDED = json.loads(Path(__file__).with_name("recorded_drawings.json").read_text(encoding="utf-8"))
#: From 4.13 on OpenCV draws the edges of thick lines, ovals and letters in other pixels.
DRAWS_AS_RECORDED = tuple(map(int, cv2.__version__.split(".")[:2])) < (4, 13)
#: What no line of OpenCV is part of.
OF_ANY_VERSION = ("point", "scribble", "gradient", "filled", "empty")
#: The greatest difference seen with OpenCV 4.14, in pixels, and a reserve.
MOST_OTHER_PIXELS = 60


def data(*annotations: str) -> RenderData:
    text = "\n".join(f"render_annotations {{ {annotation} }}" for annotation in annotations)
    return text_format.Parse(text, RenderData())


def grey(*shape: int) -> np.ndarray:
    return np.full(shape, 40, np.uint8)


def drawn(image: ImageFrame, *drawings: RenderData, **options: object) -> ImageFrame:
    run = run_calculator(
        AnnotationOverlayCalculator,
        {"IMAGE": [(5, image)], **{i: [(5, drawing)] for i, drawing in enumerate(drawings)}},
        outputs=["IMAGE"],
        options=AnnotationOverlayCalculatorOptions(**options),
    )
    (packet,) = run.outputs["IMAGE"]
    assert packet.timestamp == 5
    return packet.payload


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_shapes_are_drawn_as_the_reference_draws_them(case):
    want = np.frombuffer(zlib.decompress(b85decode(case["pixels"])), np.uint8).reshape(48, 64, 3)

    got = drawn(ImageFrame(grey(48, 64, 3)), data(case["annotation"])).array

    others = int((got != want).any(axis=2).sum())
    if DRAWS_AS_RECORDED or any(word in case["name"] for word in OF_ANY_VERSION):
        assert others == 0
    else:
        assert others <= MOST_OTHER_PIXELS
        assert (want != 40).any()


def test_later_drawings_cover_earlier_ones_untagged_streams_first_then_vectors():
    square = "filled_rectangle { rectangle { right: 4 bottom: 4 } }"
    red, green, blue = (data(f"{square} color {{ {part}: 255 }}") for part in "rgb")

    run = run_calculator(
        AnnotationOverlayCalculator,
        {
            "IMAGE": [(0, ImageFrame(grey(8, 8, 3))), (1, ImageFrame(grey(8, 8, 3)))],
            0: [(0, red)],
            1: [(0, green)],
            "VECTOR:0": [(0, [blue, red]), (1, [green, blue])],
        },
        outputs=["IMAGE"],
    )

    first, second = (packet.payload.array[0, 0].tolist() for packet in run.outputs["IMAGE"])
    assert first == [255, 0, 0]
    assert second == [0, 0, 255]


def test_an_image_without_drawings_is_copied_and_drawings_without_an_image_are_dropped():
    image = ImageFrame(np.arange(48, dtype=np.uint8).reshape(4, 4, 3))

    run = run_calculator(
        AnnotationOverlayCalculator,
        {"IMAGE": [(1, image)], 0: [(2, data("point { x: 1 y: 1 }"))]},
        outputs=["IMAGE"],
    )

    (packet,) = run.outputs["IMAGE"]
    assert packet.timestamp == 1
    assert packet.payload is not image
    assert np.array_equal(packet.payload.array, image.array)


def test_the_image_that_came_in_is_not_written_to():
    pixels = grey(8, 8, 3)

    after = drawn(ImageFrame(pixels), data("point { x: 4 y: 4 } color { r: 255 }"))

    assert (pixels == 40).all()
    assert (after.array != 40).any()


def test_a_grey_image_becomes_a_colour_image_and_so_does_its_header():
    run = run_calculator(
        AnnotationOverlayCalculator,
        {"IMAGE": [(0, ImageFrame(grey(8, 8)))], 0: [(0, data("point { x: 4 y: 4 } color { r: 255 }"))]},
        outputs=["IMAGE"],
        headers={"IMAGE": VideoHeader(ImageFormat.GRAY8, 8, 8, 25.0)},
    )

    frame = run.outputs["IMAGE"][0].payload
    assert frame.format is ImageFormat.SRGB
    assert frame.array[0, 0].tolist() == [40, 40, 40]
    assert frame.array[4, 4].tolist() == [255, 0, 0]
    assert run.headers["IMAGE"] == VideoHeader(ImageFormat.SRGB, 8, 8, 25.0)


def test_alpha_becomes_0_where_something_is_drawn():
    frame = drawn(ImageFrame(grey(8, 8, 4)), data("point { x: 4 y: 4 } color { g: 9 }"))

    assert frame.format is ImageFormat.SRGBA
    assert frame.array[4, 4].tolist() == [0, 9, 0, 0]
    assert frame.array[0, 0].tolist() == [40, 40, 40, 40]


def test_an_image_handle_stays_an_image_handle():
    run = run_calculator(
        AnnotationOverlayCalculator,
        {
            "UIMAGE": [(3, Image(ImageFrame(grey(8, 8, 3))))],
            0: [(3, data("point { x: 4 y: 4 } color { b: 9 }"))],
        },
        outputs=["UIMAGE"],
    )

    image = run.outputs["UIMAGE"][0].payload
    assert isinstance(image, Image)
    assert image.array[4, 4].tolist() == [0, 0, 9]


def test_without_an_image_each_drawing_gets_a_new_canvas():
    run = run_calculator(
        AnnotationOverlayCalculator,
        {
            0: [
                (1, data("point { x: 2 y: 3 } color { r: 255 }")),
                (2, data("point { x: 7 y: 3 } color { r: 255 }")),
            ]
        },
        outputs=["IMAGE"],
        options=AnnotationOverlayCalculatorOptions(
            canvas_width_px=10, canvas_height_px=6, canvas_color={"r": 300, "g": 7, "b": -1}
        ),
    )

    first, second = (packet.payload.array for packet in run.outputs["IMAGE"])
    assert first.shape == (6, 10, 3)
    assert second[0, 0].tolist() == [255, 7, 0]
    assert second[3, 2].tolist() == [255, 7, 0]
    assert second[3, 7].tolist() == [255, 0, 0]


def test_text_is_drawn_upside_down_on_request():
    words = data('text { display_text: "L" left: 8 baseline: 20 font_height: 30 } color { r: 255 }')

    upright = drawn(ImageFrame(grey(40, 40, 3)), words).array
    turned = drawn(ImageFrame(grey(40, 40, 3)), words, flip_text_vertically=True).array

    assert (upright[:20] != 40).sum() > (upright[20:] != 40).sum()
    assert (turned[:20] != 40).sum() < (turned[20:] != 40).sum()


def test_a_filled_rounded_rectangle_is_filled_but_for_its_corners():
    annotation = (
        "filled_rounded_rectangle { rounded_rectangle { corner_radius: 6 line_type: 8 "
        "rectangle { left: 4 top: 5 right: 36 bottom: 25 } } } color { r: 255 }"
    )

    is_drawn = (drawn(ImageFrame(grey(40, 48, 3)), data(annotation)).array != 40).any(axis=2)

    assert is_drawn[5:26, 12:30].all()
    assert is_drawn[12:19, 4:37].all()
    assert not is_drawn[5, 4]
    assert not is_drawn[25, 36]
    assert not is_drawn[:5].any()
    assert not is_drawn[:, 37:].any()


def test_places_that_no_image_reaches_are_drawn_nowhere():
    far = data(
        "point { x: 1e300 y: -1e300 }",
        "line { x_start: nan y_start: 0 x_end: nan y_end: inf }",
        "rectangle { left: 1e12 top: 1e12 right: 1e13 bottom: 1e13 }",
        "gradient_line { x_start: 1e12 y_start: 1e12 x_end: 1e13 y_end: 1e13 }",
    )

    assert (drawn(ImageFrame(grey(8, 8, 3)), far).array == 40).all()


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("thickness: 2", r"render annotation 0 has no shape; set one of rectangle, filled_rectangle, "),
        ('text { display_text: "a" font_face: 9 }', r"font_face of a text is 9, but must be one of OpenCV's"),
        ("oval { rectangle { left: 9 right: 2 } }", r"an oval goes from \(9, 0\) to \(2, 0\), but its right"),
        (
            "rounded_rectangle { rectangle { right: 20 bottom: 20 } corner_radius: -3 }",
            r"corner_radius of a rounded rectangle is -3, but must be 0 or more",
        ),
        (
            "rounded_rectangle { rectangle { right: 20 bottom: 20 } line_type: 3 }",
            r"line_type of a rounded rectangle is 3, but must be 4, 8 or 16",
        ),
        (
            "rounded_rectangle { rectangle { left: 9 right: 20 } corner_radius: 2147483647 }",
            r"render annotation 0: OpenCV refuses to draw the rounded_rectangle: ",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_its_stream(annotation, message):
    with pytest.raises(GraphRunError, match=r"input '\w+': " + message):
        drawn(ImageFrame(grey(8, 8, 3)), data(annotation))


def test_an_image_of_another_format_is_refused():
    with pytest.raises(GraphRunError, match=r"input 'IMAGE' holds .*GRAY16.*, but SRGB, SRGBA and GRAY8 are"):
        drawn(ImageFrame(np.zeros((4, 4), np.uint16)), data("point { x: 1 y: 1 }"))


@pytest.mark.parametrize(
    ("inputs", "outputs", "options", "message"),
    [
        (
            [0],
            ["IMAGE"],
            {},
            "canvas_width_px is not set, but the overlay has no image to draw on; connect IMAGE",
        ),
        ([0], ["IMAGE"], {"canvas_width_px": 5}, "canvas_height_px is not set"),
        (
            [0],
            ["IMAGE"],
            {"canvas_width_px": 0, "canvas_height_px": 5},
            "canvas_width_px is 0, but must be 1 or",
        ),
        (["IMAGE"], ["UIMAGE"], {}, "image inputs are IMAGE and image outputs UIMAGE; connect one output"),
        (["IMAGE", "UIMAGE"], ["IMAGE"], {}, "image inputs are IMAGE, UIMAGE and"),
        (["IMAGE_GPU"], ["IMAGE_GPU"], {}, "IMAGE_GPU is connected, but this overlay draws on the CPU"),
    ],
)
def test_ports_and_canvas_are_checked_when_the_graph_is_loaded(inputs, outputs, options, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            AnnotationOverlayCalculator,
            {port: [] for port in inputs},
            outputs=outputs,
            options=AnnotationOverlayCalculatorOptions(**options),
        )


def test_a_canvas_with_too_many_pixels_is_refused():
    with pytest.raises(GraphRunError, match="canvas_width_px and canvas_height_px: a frame of 100000x100000"):
        run_calculator(
            AnnotationOverlayCalculator,
            {0: [(1, RenderData())]},
            outputs=["IMAGE"],
            options=AnnotationOverlayCalculatorOptions(canvas_width_px=100_000, canvas_height_px=100_000),
        )


@pytest.mark.parametrize(("height", "wanted"), [(360, 2), (720, 4), (2160, 12)])
def test_thickness_can_follow_the_height_of_the_image(height, wanted):
    line = data(
        "line { x_start: 0 y_start: 0.5 x_end: 1 y_end: 0.5 normalized: true } thickness: 4 color { r: 255 }"
    )

    image = drawn(ImageFrame(grey(height, 40, 3)), line, height_of_thickness_px=720).array

    assert (image[:, 20, 0] == 255).sum() == pytest.approx(wanted, abs=1)
    usual = drawn(ImageFrame(grey(height, 40, 3)), line).array
    assert (usual[:, 20, 0] == 255).sum() == pytest.approx(4, abs=1)


def test_a_negative_height_of_thickness_is_refused():
    with pytest.raises(GraphRunError, match="height_of_thickness_px is -1, but must be 0 or more"):
        drawn(ImageFrame(grey(4, 4, 3)), height_of_thickness_px=-1)
