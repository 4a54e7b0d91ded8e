"""ImageFrameToGpuBufferCalculator: wrapped without a copy, uploaded when, refused what."""

from __future__ import annotations

import threading
from typing import ClassVar

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError, UnavailableError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.image_frame_to_gpu_buffer import (
    ImageFrameToGpuBufferCalculator,
    ImageFrameToGpuBufferCalculatorOptions,
)
from penstock_gpu.calculators.luminance import LuminanceCalculator
from penstock_gpu.formats import GpuBufferFormat
from penstock_gpu.service import GPU
from penstock_testing import run_calculator, testing_registry

pytestmark = pytest.mark.heavy

CONTEXT = "auto:ImageFrameToGpuBufferCalculator"
EAGER = ImageFrameToGpuBufferCalculatorOptions(eager=True)
FORMATS = [
    (ImageFormat.SRGBA, GpuBufferFormat.BGRA32, (3, 5, 4), np.uint8),
    (ImageFormat.SRGB, GpuBufferFormat.RGB24, (3, 5, 3), np.uint8),
    (ImageFormat.GRAY8, GpuBufferFormat.ONE_COMPONENT8, (3, 5), np.uint8),
    (ImageFormat.VEC32F1, GpuBufferFormat.GRAY_FLOAT32, (3, 5), np.float32),
    (ImageFormat.VEC32F2, GpuBufferFormat.TWO_COMPONENT_FLOAT32, (1, 1, 2), np.float32),
    (ImageFormat.VEC32F4, GpuBufferFormat.RGBA_FLOAT128, (3, 5, 4), np.float32),
]


def wrapped(run, *frames, **named):
    result = run(ImageFrameToGpuBufferCalculator, {0: list(enumerate(frames))}, (0,), **named)
    return [packet.payload for packet in result.outputs[0]]


@pytest.mark.parametrize(
    ("kind", "expected", "shape", "dtype"), FORMATS, ids=lambda one: getattr(one, "name", "")
)
@pytest.mark.parametrize("options", [(), EAGER], ids=["lazy", "eager"])
def test_pixels_are_shared_with_the_frame(run, random, kind, expected, shape, dtype, options):  # noqa: PLR0913, PLR0917  # each is one thing that differs
    frame = ImageFrame(random.integers(0, 256, shape).astype(dtype), kind)

    (buffer,) = wrapped(run, frame, options=options)

    assert buffer.format is expected
    assert (buffer.width, buffer.height) == (frame.width, frame.height)
    assert np.shares_memory(buffer.array(), frame.array)


def test_nothing_is_uploaded_before_a_shader_reads_it(run_gl):
    frame = ImageFrame(np.zeros((2, 3, 4), np.uint8))
    main = run_gl.resources.context()
    before = main.uploads

    (buffer,) = wrapped(run_gl, frame)
    after_wrapping = main.uploads
    run_gl(LuminanceCalculator, {"VIDEO": [(0, buffer), (1, buffer)]})

    assert after_wrapping == before
    assert main.uploads == before + 1


@pytest.mark.parametrize("software", [False, True])
def test_eager_uploads_at_once_in_a_context_of_its_own_unless_the_cpu_draws(
    run_gl, random, monkeypatch, software
):
    frame = ImageFrame(random.integers(0, 256, (4, 3, 4), np.uint8))
    main = run_gl.resources.context()
    monkeypatch.setattr(main, "is_software", software)
    own = run_gl.resources.context(CONTEXT)
    assert (own is main) is software
    before = main.uploads, own.uploads

    (buffer,) = wrapped(run_gl, frame, options=EAGER)
    after_wrapping = own.uploads
    found = run_gl.image(LuminanceCalculator, {"VIDEO": buffer})

    assert after_wrapping == own.uploads == before[1] + 1
    assert software or main.uploads == before[0]
    assert np.array_equal(found[..., 3], frame.array[..., 3])


class Place(penstock.Calculator):
    """Records the thread on which frames are wrapped, which a payload cannot do."""

    threads: ClassVar[list[str]] = []

    @classmethod
    def get_contract(cls, cc):
        ImageFrameToGpuBufferCalculator.get_contract.__func__(cls, cc)

    def process(self, cc):
        self.threads.append(threading.current_thread().name)


@pytest.mark.parametrize("gpu", ["set", "unset"])
def test_frames_are_wrapped_beside_the_nodes_of_the_main_context_where_there_is_one(run_gl, gpu):
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Place" input_stream: "in" output_stream: "out" }',
        registry=testing_registry(Place),
    )
    if gpu == "set":
        graph.set_service(GPU, run_gl.resources)
    Place.threads.clear()
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(ImageFrame(np.zeros((1, 1, 3), np.uint8)), 1))
    graph.close(20)

    (name,) = Place.threads
    assert (name == "penstock-gpu main") == (gpu == "set")


def test_only_eager_asks_for_the_service(monkeypatch):
    frame = ImageFrame(np.zeros((1, 1, 3), np.uint8))
    monkeypatch.setenv("PENSTOCK_GPU", "no such policy")

    lazy = run_calculator(ImageFrameToGpuBufferCalculator, {0: [(0, frame)]}, outputs=[0])
    with pytest.raises(UnavailableError, match="no such policy"):
        run_calculator(ImageFrameToGpuBufferCalculator, {0: [(0, frame)]}, outputs=[0], options=EAGER)

    assert isinstance(lazy.outputs[0][0].payload, GpuBuffer)


def test_tags_timestamps_and_the_header_stay(run):
    result = run(
        ImageFrameToGpuBufferCalculator,
        {"FRAME": [(n, ImageFrame(np.zeros((1, n, 4), np.uint8))) for n in (3, 8)]},
        ("PICTURE",),
        headers={"FRAME": VideoHeader(width=2)},
    )

    assert [(int(p.timestamp), p.payload.width) for p in result.outputs["PICTURE"]] == [(3, 3), (8, 8)]
    assert result.headers["PICTURE"] == VideoHeader(width=2)


def test_frames_of_a_format_that_no_buffer_has_are_refused(run):
    with pytest.raises(GraphRunError, match=r"under_test.*image format GRAY16 has no GPU buffer format"):
        wrapped(run, ImageFrame(np.zeros((2, 2), np.uint16)))
