"""GpuBufferToImageFrameCalculator: what is read back, what is passed on."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.gpu_buffer_to_image_frame import GpuBufferToImageFrameCalculator
from penstock_gpu.calculators.scaler import GlScalerCalculator
from penstock_gpu.formats import GpuBufferFormat
from penstock_gpu.messages.scaler_pb2 import GlScalerCalculatorOptions

pytestmark = pytest.mark.heavy

FORMATS = [
    (GpuBufferFormat.BGRA32, ImageFormat.SRGBA, (17, 31, 4), np.uint8),
    (GpuBufferFormat.RGB24, ImageFormat.SRGB, (17, 31, 3), np.uint8),
    (GpuBufferFormat.ONE_COMPONENT8, ImageFormat.GRAY8, (5, 7), np.uint8),
    (GpuBufferFormat.GRAY_FLOAT32, ImageFormat.VEC32F1, (5, 7), np.float32),
    (GpuBufferFormat.TWO_COMPONENT_FLOAT32, ImageFormat.VEC32F2, (1, 7, 2), np.float32),
    (GpuBufferFormat.RGBA_FLOAT128, ImageFormat.VEC32F4, (1, 1, 4), np.float32),
]


def read(run, payloads, **named):
    return run(GpuBufferToImageFrameCalculator, {0: list(enumerate(payloads))}, (0,), **named)


def drawn(run, buffer):
    """Return a buffer whose pixels are where a shader has drawn them."""
    options = GlScalerCalculatorOptions(use_input_format_for_output=True)
    result = run(GlScalerCalculator, {"VIDEO": [(0, buffer)]}, options=options)
    return result.outputs["VIDEO"][0].payload


@pytest.mark.parametrize(
    ("kind", "expected", "shape", "dtype"), FORMATS, ids=lambda one: getattr(one, "name", "")
)
def test_drawn_pixels_come_back_exactly(run, random, kind, expected, shape, dtype):  # noqa: PLR0913, PLR0917  # each is one thing that differs
    pixels = random.integers(0, 256, shape).astype(dtype)
    buffer = drawn(run, GpuBuffer.of_array(pixels, kind))

    (packet,) = read(run, [buffer]).outputs[0]

    assert type(packet.payload) is ImageFrame
    assert packet.payload.format is expected
    assert np.array_equal(packet.payload.array, pixels)


def test_a_frame_is_passed_on_as_it_is(run):
    frame = ImageFrame(np.zeros((2, 3, 3), np.uint8))

    assert read(run, [frame]).outputs[0][0].payload is frame


def test_a_wrapped_frame_comes_out_without_a_copy(run_gl):
    frame = ImageFrame(np.zeros((2, 3, 3), np.uint8))
    context = run_gl.resources.context("auto:GpuBufferToImageFrameCalculator")
    before = context.uploads, context.readbacks

    (packet,) = read(run_gl, [GpuBuffer.of_frame(frame)]).outputs[0]

    assert np.shares_memory(packet.payload.array, frame.array)
    assert (context.uploads, context.readbacks) == before


@pytest.mark.parametrize("software", [False, True])
def test_images_are_read_in_a_context_of_their_own_unless_the_cpu_draws(run_gl, monkeypatch, software):
    drawing = run_gl.resources.context()
    monkeypatch.setattr(drawing, "is_software", software)
    buffer = drawn(run_gl, GpuBuffer.of_array(np.zeros((2, 3, 4), np.uint8)))
    reading = run_gl.resources.context("auto:GpuBufferToImageFrameCalculator")
    assert (reading is drawing) is software
    before = reading.readbacks, drawing.readbacks

    first, second = read(run_gl, [buffer, buffer]).outputs[0]

    assert first.payload is second.payload  # read once for each buffer
    assert reading.readbacks == before[0] + 1
    assert software or drawing.readbacks == before[1]


def test_tags_timestamps_and_the_header_stay(run):
    frames = [ImageFrame(np.full((1, n, 4), n, np.uint8)) for n in (1, 2)]

    result = run(
        GpuBufferToImageFrameCalculator,
        {"PICTURE": [(5, GpuBuffer.of_frame(frames[0])), (9, frames[1])]},
        ("FRAME",),
        headers={"PICTURE": VideoHeader(width=2)},
    )

    assert [(int(p.timestamp), p.payload.width) for p in result.outputs["FRAME"]] == [(5, 1), (9, 2)]
    assert result.headers["FRAME"] == VideoHeader(width=2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (GpuBuffer, "under_test"),
        (lambda: GpuBuffer.of_array(np.zeros((2, 2, 2), np.uint8)), "TWO_COMPONENT8"),
    ],
)
def test_what_no_frame_can_hold_is_refused(run, make, message):
    with pytest.raises(GraphRunError, match=message):
        read(run, [make()])
