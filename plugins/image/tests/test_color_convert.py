"""ColorConvertCalculator: every conversion against arithmetic on the pixels."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.color_convert import ColorConvertCalculator
from penstock_testing import run_calculator

PIXELS = np.random.default_rng(7).integers(0, 256, (5, 7, 4)).astype(np.uint8)
GRAY = PIXELS[:, :, 0]
#: For each input tag a frame, and its pixels as red, green, blue.
SOURCES = {
    "RGBA_IN": (ImageFrame(PIXELS, ImageFormat.SRGBA), PIXELS[:, :, :3]),
    "RGB_IN": (ImageFrame(PIXELS[:, :, :3].copy(), ImageFormat.SRGB), PIXELS[:, :, :3]),
    "BGR_IN": (ImageFrame(PIXELS[:, :, :3].copy(), ImageFormat.SRGB), PIXELS[:, :, 2::-1]),
    "BGRA_IN": (ImageFrame(PIXELS, ImageFormat.SBGRA), PIXELS[:, :, 2::-1]),
    "GRAY_IN": (ImageFrame(GRAY, ImageFormat.GRAY8), np.dstack([GRAY] * 3)),
}


def expected(source: str, target: str) -> np.ndarray:
    frame, rgb = SOURCES[source]
    if target == "GRAY_OUT":
        return GRAY if source == "GRAY_IN" else rgb @ [0.299, 0.587, 0.114]
    if target == "RGB_OUT":
        return frame.array if source == "RGB_IN" else rgb
    alpha = PIXELS[:, :, 3] if source in ("RGBA_IN", "BGRA_IN") else np.full(GRAY.shape, 255, np.uint8)
    return np.dstack([rgb if target == "RGBA_OUT" else rgb[:, :, ::-1], alpha])


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", ["RGBA_OUT", "RGB_OUT", "BGRA_OUT", "GRAY_OUT"])
def test_each_conversion_gives_the_pixels_that_arithmetic_gives(source, target):
    frame, _ = SOURCES[source]

    run = run_calculator(ColorConvertCalculator, {source: [(5, frame)]}, outputs=[target])

    (packet,) = run.outputs[target]
    formats = {"RGBA_OUT": "SRGBA", "RGB_OUT": "SRGB", "BGRA_OUT": "SBGRA", "GRAY_OUT": "GRAY8"}
    assert packet.timestamp == 5
    assert packet.payload.format.name == formats[target]
    assert np.abs(packet.payload.array.astype(float) - expected(source, target)).max() <= 0.51


@pytest.mark.parametrize(("source", "target"), [("RGB_IN", "RGB_OUT"), ("GRAY_IN", "GRAY_OUT")])
def test_a_frame_that_needs_no_conversion_is_forwarded_itself(source, target):
    frame, _ = SOURCES[source]

    run = run_calculator(ColorConvertCalculator, {source: [(1, frame)]}, outputs=[target])

    assert run.outputs[target][0].payload is frame


def test_strided_frames_are_converted_too():
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[::2, ::2] = (10, 20, 30)

    run = run_calculator(
        ColorConvertCalculator, {"BGR_IN": [(0, ImageFrame(pixels[::2, ::2]))]}, outputs=["RGB_OUT"]
    )

    assert (run.outputs["RGB_OUT"][0].payload.array == (30, 20, 10)).all()


def test_the_stream_header_gets_the_new_format():
    header = VideoHeader(ImageFormat.SRGB, 7, 5, 25.0)

    run = run_calculator(
        ColorConvertCalculator, {"RGB_IN": []}, outputs=["GRAY_OUT"], headers={"RGB_IN": header}
    )

    assert run.headers["GRAY_OUT"] == VideoHeader(ImageFormat.GRAY8, 7, 5, 25.0)


def test_a_frame_of_another_format_is_refused():
    with pytest.raises(
        GraphRunError, match=r"input 'RGB_IN' holds <ImageFrame GRAY8 7x5>, but takes frames of SRGB; "
    ):
        run_calculator(ColorConvertCalculator, {"RGB_IN": [(0, SOURCES["GRAY_IN"][0])]}, outputs=["GRAY_OUT"])


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (
            ["RGB_IN", "GRAY_IN"],
            ["RGB_OUT"],
            r"inputs are 'GRAY_IN', 'RGB_IN'; connect exactly one of RGBA_IN, ",
        ),
        (["RGB_IN"], [], r"outputs are none; connect exactly one of RGBA_OUT, "),
        (["VIDEO"], ["RGB_OUT"], r"inputs are 'VIDEO'; connect exactly one of RGBA_IN, "),
    ],
)
def test_other_ports_are_refused_when_the_graph_loads(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(ColorConvertCalculator, {tag: [] for tag in inputs}, outputs=outputs)
