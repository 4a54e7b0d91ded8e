"""LuminanceCalculator: the weights, alpha, all formats and sizes, on GL and on NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.luminance import LuminanceCalculator
from penstock_gpu.formats import GpuBufferFormat

pytestmark = pytest.mark.heavy

#: Levels by which the result may differ from the exact value, rounded.
TOLERANCE = 1
SIZES = [(1, 1), (1, 7), (33, 1), (31, 17), (64, 48), (127, 3)]


def grey(pixels):
    """Return the exact luminance of RGBA bytes, alpha kept, as float64."""
    value = pixels[..., 0] * 0.2125 + pixels[..., 1] * 0.7154 + pixels[..., 2] * 0.0721
    return np.dstack([value, value, value, pixels[..., 3]])


def differ(found, exact):
    assert found.shape == exact.shape
    return np.abs(found.astype(float) - np.rint(exact)).max()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_red_green_and_blue_become_their_weighted_sum_and_alpha_stays(run, random, width, height):
    pixels = random.integers(0, 256, (height, width, 4), np.uint8)
    before = pixels.copy()

    found = run.image(LuminanceCalculator, {"VIDEO": pixels})

    assert found.dtype == np.uint8
    assert differ(found, grey(pixels)) <= TOLERANCE
    assert np.array_equal(found[..., 3], pixels[..., 3])
    assert np.array_equal(pixels, before)


def test_values_are_rounded_not_cut_off(run, random):
    pixels = random.integers(0, 256, (60, 80, 4), np.uint8)

    found = run.image(LuminanceCalculator, {"VIDEO": pixels})

    assert abs((found.astype(float) - grey(pixels)).mean()) < 0.05


def test_each_weight_is_that_of_the_reference(run):
    primaries = np.uint8([[[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 255, 0]]])

    found = run.image(LuminanceCalculator, {"VIDEO": primaries})

    assert found[0, :, 0].tolist() == pytest.approx([54, 182, 18, 255], abs=TOLERANCE)


def test_images_without_alpha_become_opaque(run, random):
    pixels = random.integers(0, 256, (9, 13, 3), np.uint8)

    found = run.image(LuminanceCalculator, {"VIDEO": pixels})

    exact = grey(np.dstack([pixels, np.full((9, 13), 255)]))
    assert differ(found, exact) <= TOLERANCE


def test_a_grey_image_stays_as_it_is(run, random):
    pixels = random.integers(0, 256, (5, 11), np.uint8)

    found = run.image(LuminanceCalculator, {"VIDEO": pixels})

    exact = np.dstack([pixels, pixels, pixels, np.full((5, 11), 255)]).astype(float)
    assert differ(found, exact) <= TOLERANCE


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_floats_are_read_and_what_lies_outside_is_cut_off(run, random, dtype):
    pixels = random.uniform(-0.2, 1.3, (7, 10, 4)).astype(dtype)
    exact = np.clip(grey(pixels.astype(float)), 0, 1) * 255

    found = run.image(LuminanceCalculator, {"VIDEO": pixels})

    assert differ(found, exact) <= TOLERANCE


def test_the_result_is_an_rgba_buffer_whatever_came_in(run):
    result = run(LuminanceCalculator, {"VIDEO": [(3, np.zeros((2, 4, 3), np.uint8))]})

    buffer = result.outputs["VIDEO"][0].payload
    assert isinstance(buffer, GpuBuffer)
    assert (buffer.width, buffer.height, buffer.format) == (4, 2, GpuBufferFormat.BGRA32)


def test_sizes_may_change_and_timestamps_stay(run, random):
    images = [random.integers(0, 256, (h, w, 4), np.uint8) for w, h in ((6, 4), (3, 9), (6, 4), (1, 1))]

    result = run(LuminanceCalculator, {"VIDEO": [(10 * n, one) for n, one in enumerate(images)]})

    packets = result.outputs["VIDEO"]
    assert [int(one.timestamp) for one in packets] == [0, 10, 20, 30]
    assert all(
        differ(one.payload.array(), grey(p)) <= TOLERANCE for one, p in zip(packets, images, strict=True)
    )


def test_ports_may_be_untagged_and_the_header_is_passed_on(run):
    header = VideoHeader(ImageFormat.SRGBA, 4, 2, 25.0)

    result = run(LuminanceCalculator, {0: [(1, np.zeros((2, 4, 4), np.uint8))]}, (0,), headers={0: header})

    assert len(result.outputs[0]) == 1
    assert result.headers[0] == header


def test_a_frame_of_main_memory_is_uploaded_once_and_read_back_once(run_gl, random):
    frame = ImageFrame(random.integers(0, 256, (4, 4, 4), np.uint8))
    context = run_gl.resources.context()
    before = context.uploads, context.readbacks

    run_gl.image(LuminanceCalculator, {"VIDEO": GpuBuffer.of_frame(frame)})

    assert (context.uploads, context.readbacks) == (before[0] + 1, before[1] + 1)


def test_an_empty_buffer_is_refused_with_the_node_named(run):
    with pytest.raises(GraphRunError, match=r"under_test.*GpuBuffer is no image"):
        run(LuminanceCalculator, {"VIDEO": [(0, GpuBuffer())]})
