"""GlOverlayCalculator: each mode, images and masks, what is passed on, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, VideoHeader
from penstock_gpu import gl
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.overlay import (
    GlOverlayCalculator,
    GlOverlayCalculatorOptions,
    OverlayColor,
    OverlayMode,
    OverlayRegion,
)
from penstock_gpu.formats import GpuBufferFormat

pytestmark = pytest.mark.heavy

#: Levels by which the result may differ from the exact value, rounded.
TOLERANCE = 1
OVER, NONZERO, ADD, MIX = OverlayMode
SIZES = [(1, 1), (31, 17), (40, 3)]
ORANGE = OverlayColor(250, 128, 6)


def overlaid(run, frame, overlay, mode=OVER, alpha=1.0, color=None):  # noqa: PLR0913, PLR0917  # each is one thing that differs
    return run.image(
        GlOverlayCalculator,
        {"VIDEO": frame, "OVERLAY": overlay},
        options=GlOverlayCalculatorOptions(mode, alpha, color),
    )


def differ(found, exact):
    assert found.shape == exact.shape
    return np.abs(found - np.rint(np.clip(exact, 0, 1) * 255)).max()


def unit(pixels):
    return pixels.astype(np.float64) / 255


def exactly(frame, overlay, mode, alpha):
    """Return the combination of two images of four channels, given as bytes, in 0 to 1."""
    below, above = unit(frame), unit(overlay)
    share = above[..., 3:] * alpha
    opaque = np.dstack([above[..., :3], np.ones(above.shape[:2])])
    if mode is OVER:
        return below * (1 - share) + opaque * share
    if mode is NONZERO:
        covers = overlay[..., :3].any(axis=2, keepdims=True)
        return np.where(covers, below * (1 - alpha) + above * alpha, below)
    if mode is ADD:
        return np.dstack([below[..., :3] + above[..., :3] * share, below[..., 3]])
    return below * (1 - alpha) + above * alpha


def masked(frame, mask, mode, alpha, color):
    """Return what a mask paints, in 0 to 1."""
    below, value = unit(frame), unit(mask)[..., None]
    paint = np.ones(3) if color is None else np.array([color.r, color.g, color.b]) / 255
    opaque = np.ones_like(value)
    if mode is OVER:
        share = value * alpha
        return below * (1 - share) + np.append(paint, 1) * share
    grey = np.concatenate([paint * value, opaque], axis=2)
    if mode is NONZERO:
        above = grey if color is None else np.broadcast_to(np.append(paint, 1), below.shape)
        return np.where(value != 0, below * (1 - alpha) + above * alpha, below)
    if mode is ADD:
        return np.dstack([below[..., :3] + paint * value * alpha, below[..., 3]])
    return below * (1 - alpha) + grey * alpha


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("mode", OverlayMode)
@pytest.mark.parametrize("alpha", [1.0, 0.3, 0.0])
def test_an_image_lies_over_another_in_each_mode(run, random, width, height, mode, alpha):  # noqa: PLR0913, PLR0917  # each is one thing that differs
    frame, overlay = random.integers(0, 256, (2, height, width, 4), np.uint8)
    overlay[random.random((height, width)) < 0.3] = (0, 0, 0, 200)

    found = overlaid(run, frame, overlay, mode, alpha)

    assert differ(found, exactly(frame, overlay, mode, alpha)) <= TOLERANCE


@pytest.mark.parametrize("mode", OverlayMode)
@pytest.mark.parametrize("color", [None, ORANGE], ids=["white", "orange"])
@pytest.mark.parametrize("alpha", [1.0, 0.6])
def test_a_mask_paints_its_colour_in_each_mode(run, random, mode, color, alpha):
    frame = random.integers(0, 256, (17, 31, 4), np.uint8)
    mask = random.integers(0, 256, (17, 31), np.uint8)
    mask[random.random((17, 31)) < 0.4] = 0

    found = overlaid(run, frame, mask, mode, alpha, color)

    assert differ(found, masked(frame, mask, mode, alpha, color)) <= TOLERANCE


@pytest.mark.parametrize("mode", OverlayMode)
@pytest.mark.parametrize("channels", [1, 4], ids=["mask", "image"])
def test_only_the_region_is_darkened_and_laid_over(run, random, mode, channels):
    frame = random.integers(0, 256, (9, 21, 4), np.uint8)
    overlay = random.integers(0, 256, (9, 21, channels), np.uint8).squeeze()
    overlay[random.random((9, 21)) < 0.4] = 0
    options = GlOverlayCalculatorOptions(mode, 0.6, ORANGE, 0.65, OverlayRegion(0.5, 0.25, 0.5, 0.5))

    found = run.image(GlOverlayCalculator, {"VIDEO": frame, "OVERLAY": overlay}, options=options)

    dark = np.dstack([frame[..., :3] * 0.35, frame[..., 3]])
    over = exactly(dark, overlay, mode, 0.6) if channels == 4 else masked(dark, overlay, mode, 0.6, ORANGE)
    inside = slice(2, 7), slice(10, 21)  # 2.25 to 6.75, 10.5 to 21, rounded
    assert differ(found[inside], over[inside]) <= TOLERANCE
    outside = np.ones((9, 21), bool)
    outside[inside] = False
    assert np.array_equal(found[outside], frame[outside])


def test_darkening_is_exact_and_keeps_alpha_where_nothing_is_laid_over(run, random):
    frame, mask = random.integers(0, 256, (5, 6, 4), np.uint8), np.zeros((5, 6), np.uint8)
    options = GlOverlayCalculatorOptions(NONZERO, darkening=0.5)

    found = run.image(GlOverlayCalculator, {"VIDEO": frame, "OVERLAY": mask}, options=options)

    assert differ(found, unit(frame) * (0.5, 0.5, 0.5, 1)) <= TOLERANCE
    assert np.array_equal(found[..., 3], frame[..., 3])


def test_green_edges_replace_exactly_what_they_cover(run, random):
    frame = random.integers(0, 256, (9, 12, 3), np.uint8)
    edges = np.where(random.random((9, 12)) < 0.2, 255, 0).astype(np.uint8)

    found = overlaid(run, frame, edges, NONZERO, color=OverlayColor(g=255))

    assert np.array_equal(found[..., :3], np.where(edges[..., None] != 0, np.uint8([0, 255, 0]), frame))
    assert (found[..., 3] == 255).all()


def test_the_faintest_level_replaces_too(run):
    frame, overlay = np.full((1, 2, 4), 9, np.uint8), np.uint8([[[0, 0, 1, 0], [0, 0, 0, 255]]])

    found = overlaid(run, frame, overlay, NONZERO)

    assert found[0].tolist() == [[0, 0, 1, 0], [9, 9, 9, 9]]


def test_an_overlay_without_alpha_covers_all(run, random):
    frame, overlay = random.integers(0, 256, (2, 5, 6, 3), np.uint8)

    assert np.array_equal(overlaid(run, frame, overlay)[..., :3], overlay)


@pytest.mark.parametrize("kind", [GpuBufferFormat.ONE_COMPONENT8_ALPHA, GpuBufferFormat.ONE_COMPONENT8_RED])
def test_every_format_of_one_channel_is_a_mask(run, random, kind):
    frame, mask = random.integers(0, 256, (5, 6, 4), np.uint8), random.integers(0, 256, (5, 6), np.uint8)

    found = overlaid(run, frame, GpuBuffer.of_array(mask, kind), color=ORANGE)

    assert differ(found, masked(frame, mask, OVER, 1.0, ORANGE)) <= TOLERANCE


def test_a_mask_of_floats_counts_between_its_levels(run, random):
    frame, mask = random.integers(0, 256, (5, 6, 4), np.uint8), random.random((5, 6)).astype(np.float32)

    found = overlaid(run, frame, mask, color=ORANGE)

    assert differ(found, masked(frame, mask * 255.0, OVER, 1.0, ORANGE)) <= TOLERANCE


def test_a_grey_image_can_be_painted_on(run, random):
    frame, mask = random.integers(0, 256, (2, 5, 6), np.uint8)

    found = overlaid(run, frame, mask, color=ORANGE)

    coloured = np.dstack([frame, frame, frame, np.full((5, 6), 255, np.uint8)])
    assert differ(found, masked(coloured, mask, OVER, 1.0, ORANGE)) <= TOLERANCE


def test_an_image_without_an_overlay_passes_and_an_overlay_alone_gives_nothing(run):
    frame = GpuBuffer.of_array(np.zeros((2, 3, 3), np.uint8))
    mask = np.full((2, 3), 255, np.uint8)

    result = run(
        GlOverlayCalculator,
        {"VIDEO": [(1, frame), (3, frame)], "OVERLAY": [(2, mask), (3, mask)]},
        headers={"VIDEO": VideoHeader(ImageFormat.SRGB, 3, 2, 25.0), "OVERLAY": VideoHeader()},
    )

    first, second = result.outputs["VIDEO"]
    assert [int(first.timestamp), int(second.timestamp)] == [1, 3]
    assert first.payload is frame
    assert (second.payload.array() == 255).all()
    assert result.headers["VIDEO"] == VideoHeader(ImageFormat.SRGB, 3, 2, 25.0)


def test_sizes_and_kinds_of_overlay_may_change_midway(run, random):
    frames = [random.integers(0, 256, (h, w, 4), np.uint8) for w, h in ((4, 6), (3, 1), (4, 6))]
    overlays = [random.integers(0, 256, (6, 4), np.uint8), frames[1][:, ::-1], frames[0]]

    result = run(GlOverlayCalculator, {"VIDEO": enumerate(frames), "OVERLAY": enumerate(overlays)})

    found = [packet.payload.array() for packet in result.outputs["VIDEO"]]
    assert differ(found[0], masked(frames[0], overlays[0], OVER, 1.0, None)) <= TOLERANCE
    assert differ(found[1], exactly(frames[1], overlays[1], OVER, 1.0)) <= TOLERANCE
    assert differ(found[2], exactly(frames[2], overlays[2], OVER, 1.0)) <= TOLERANCE


def test_a_program_is_made_once_for_each_kind_of_overlay(run_gl, monkeypatch):
    compiled = []
    compile_program = gl.compile_program
    monkeypatch.setattr(gl, "compile_program", lambda *a: compiled.append(a) or compile_program(*a))
    frame, mask = np.zeros((2, 3, 4), np.uint8), np.zeros((2, 3), np.uint8)

    run_gl(
        GlOverlayCalculator,
        {"VIDEO": [(n, frame) for n in range(4)], "OVERLAY": enumerate([mask, frame, mask, frame])},
    )

    assert len(compiled) == 2


def test_programs_are_deleted_at_the_end(run_gl, monkeypatch):
    handles = []
    compile_program = gl.compile_program
    monkeypatch.setattr(gl, "compile_program", lambda *a: handles.append(compile_program(*a)) or handles[-1])

    overlaid(run_gl, np.zeros((2, 3, 4), np.uint8), np.zeros((2, 3), np.uint8))

    assert handles
    context = run_gl.resources.context()
    assert not any(context.run(lambda one=one: gl.glIsProgram(one)) for one in handles)


def test_one_buffer_may_be_both(run, random):
    buffer = GpuBuffer.of_array(random.integers(0, 100, (4, 5, 3), np.uint8))

    found = overlaid(run, buffer, buffer, ADD)

    assert np.abs(found[..., :3].astype(int) - 2 * buffer.array().astype(int)).max() <= TOLERANCE


def test_an_overlay_of_another_size_is_refused_with_both_and_the_cure(run):
    message = r"input 'OVERLAY' holds .*3x2.*, but input 'VIDEO' .*4x2.*GlScalerCalculator"

    with pytest.raises(GraphRunError, match=message):
        overlaid(run, np.zeros((2, 4, 4), np.uint8), np.zeros((2, 3), np.uint8))


def test_an_overlay_of_two_channels_is_refused(run):
    with pytest.raises(
        GraphRunError, match=r"GPU overlay: input 'OVERLAY' holds .*of two channels, but it takes one"
    ):
        overlaid(run, np.zeros((2, 3, 4), np.uint8), np.zeros((2, 3, 2), np.uint8))


def test_an_empty_buffer_is_refused(run):
    with pytest.raises(GraphRunError, match="an empty GpuBuffer, but an image at an input has a size"):
        overlaid(run, np.zeros((2, 3, 4), np.uint8), GpuBuffer())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GlOverlayCalculatorOptions(alpha=1.5), r"alpha is 1.5, but must be 0 to 1"),
        (lambda: GlOverlayCalculatorOptions(alpha=float("nan")), r"alpha is nan"),
        (lambda: OverlayColor(g=256), r"g is 256, but each part of a colour must be 0 to 255"),
        (lambda: GlOverlayCalculatorOptions(darkening=-0.1), r"darkening is -0.1, but must be 0 to 1"),
        (
            lambda: OverlayRegion(xmin=0.5, width=0.6),
            r"region has xmin 0.5, ymin 0, width 0.6 and height 1, but must be inside the image, 0 to 1",
        ),
        (lambda: OverlayRegion(ymin=-0.1), r"ymin -0.1"),
        (lambda: OverlayRegion(height=0), r"height 0, but must be inside"),
    ],
)
def test_options_that_cannot_be_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_graph_with_such_options_does_not_load():
    with pytest.raises(GraphConfigError, match=r"alpha is 1\.5.*must be 0 to 1"):
        penstock.CalculatorGraph(
            """
            input_stream: "v"
            input_stream: "o"
            node {
              calculator: "GlOverlayCalculator"
              input_stream: "VIDEO:v"
              input_stream: "OVERLAY:o"
              output_stream: "VIDEO:out"
              node_options { [type.googleapis.com/penstock_gpu.GlOverlayCalculatorOptions] { alpha: 1.5 } }
            }
            """
        )
