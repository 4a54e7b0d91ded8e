"""ImageOverlayCalculator: which pixels are painted, which stay, and which frames are forwarded."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.errors import GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.messages.image_overlay_pb2 import ImageOverlayCalculatorOptions
from penstock_image.painting.image_overlay import ImageOverlayCalculator
from penstock_testing import run_calculator

PIXELS = np.random.default_rng(11).integers(0, 256, (6, 8, 4)).astype(np.uint8)
MASK = np.zeros((6, 8), np.uint8)
MASK[1:4, 2:5] = 255
MASK[5, 7] = 1


def overlay(
    frame: ImageFrame, mask: ImageFrame, options: ImageOverlayCalculatorOptions | None = None
) -> np.ndarray:
    run = run_calculator(
        ImageOverlayCalculator,
        {"VIDEO": [(9, frame)], "MASK": [(9, mask)]},
        outputs=["VIDEO"],
        options=options,
    )
    (packet,) = run.outputs["VIDEO"]
    assert packet.timestamp == 9
    assert packet.payload.format is frame.format
    return packet.payload.array


def test_masked_pixels_become_green_and_the_rest_stays():
    pixels = PIXELS[:, :, :3].copy()

    painted = overlay(ImageFrame(pixels), ImageFrame(MASK))

    assert np.array_equal(painted, np.where(MASK[:, :, None] != 0, np.uint8([0, 255, 0]), pixels))
    assert np.array_equal(pixels, PIXELS[:, :, :3])


def test_colour_and_alpha_blend_with_the_frame_below():
    options = ImageOverlayCalculatorOptions(color={"r": 200, "g": 100, "b": 0}, alpha=0.25)

    painted = overlay(ImageFrame(PIXELS, ImageFormat.SRGBA), ImageFrame(MASK), options)

    blend = 0.75 * PIXELS + 0.25 * np.array([200, 100, 0, 255])
    want = np.where(MASK[:, :, None] != 0, blend, PIXELS)
    assert np.abs(painted - want).max() <= 0.51


@pytest.mark.parametrize("alpha", [1.0, 0.25])
@pytest.mark.parametrize("channels", [3, 4])
def test_only_the_region_is_darkened_and_painted(alpha, channels):
    pixels = PIXELS[:, :, :channels]
    options = ImageOverlayCalculatorOptions(
        color={"r": 200, "g": 100, "b": 0},
        alpha=alpha,
        darkening=0.65,
        region={"xmin": 0.5, "ymin": 0.3, "width": 0.5, "height": 0.5},
    )

    painted = overlay(ImageFrame(pixels), ImageFrame(MASK), options)

    dark = pixels * np.array([0.35, 0.35, 0.35, 1])[:channels]
    blend = (1 - alpha) * dark + alpha * np.array([200, 100, 0, 255])[:channels]
    want = pixels.astype(float)
    inside = slice(2, 5), slice(4, 8)  # 1.8 to 4.8, 4 to 8
    want[inside] = np.where(MASK[:, :, None] != 0, blend, dark)[inside]
    assert np.abs(painted - want).max() <= 1
    outside = np.ones((6, 8), bool)
    outside[inside] = False
    assert np.array_equal(painted[outside], pixels[outside])


def test_darkened_values_are_rounded_and_alpha_is_kept():
    options = ImageOverlayCalculatorOptions(darkening=0.25)

    painted = overlay(ImageFrame(PIXELS, ImageFormat.SRGBA), ImageFrame(np.zeros_like(MASK)), options)

    assert np.array_equal(painted[:, :, :3], np.rint(PIXELS[:, :, :3] * 0.75))
    assert np.array_equal(painted[:, :, 3], PIXELS[:, :, 3])


def test_the_region_follows_the_size_of_the_frames():
    sizes = [(6, 8), (12, 4), (12, 8), (6, 8)]
    frames = [ImageFrame(np.zeros((*size, 3), np.uint8)) for size in sizes]
    masks = [ImageFrame(np.ones(size, np.uint8)) for size in sizes]

    run = run_calculator(
        ImageOverlayCalculator,
        {"VIDEO": list(enumerate(frames)), "MASK": list(enumerate(masks))},
        outputs=["VIDEO"],
        options=ImageOverlayCalculatorOptions(region={"xmin": 0.5, "width": 0.5, "height": 0.5}),
    )

    for (height, width), packet in zip(sizes, run.outputs["VIDEO"], strict=True):
        wanted = np.zeros((height, width), bool)
        wanted[: height // 2, width // 2 :] = True
        assert np.array_equal(packet.payload.array.any(axis=2), wanted)


def test_a_region_of_less_than_half_a_pixel_changes_nothing():
    options = ImageOverlayCalculatorOptions(darkening=0.5, region={"xmin": 0.51, "width": 0.01})

    painted = overlay(ImageFrame(PIXELS, ImageFormat.SRGBA), ImageFrame(MASK), options)

    assert np.array_equal(painted, PIXELS)


def test_a_partly_set_colour_has_zeros_for_the_rest():
    options = ImageOverlayCalculatorOptions(color={"r": 9})

    painted = overlay(ImageFrame(PIXELS, ImageFormat.SRGBA), ImageFrame(MASK), options)

    assert (painted[MASK != 0] == (9, 0, 0, 255)).all()


def test_frames_of_changing_size_are_painted():
    frames = [ImageFrame(np.zeros((h, w, 3), np.uint8)) for h, w in ((4, 6), (2, 2), (4, 6))]
    masks = [ImageFrame(np.full((f.height, f.width), 255, np.uint8)) for f in frames]

    run = run_calculator(
        ImageOverlayCalculator,
        {"VIDEO": list(enumerate(frames)), "MASK": list(enumerate(masks))},
        outputs=["VIDEO"],
    )

    assert [p.payload.array.shape for p in run.outputs["VIDEO"]] == [(4, 6, 3), (2, 2, 3), (4, 6, 3)]
    assert all((p.payload.array == (0, 255, 0)).all() for p in run.outputs["VIDEO"])


def test_a_frame_without_a_mask_passes_and_a_mask_without_a_frame_gives_nothing():
    frame = ImageFrame(PIXELS[:, :, :3])

    run = run_calculator(
        ImageOverlayCalculator,
        {"VIDEO": [(1, frame), (3, frame)], "MASK": [(2, ImageFrame(MASK)), (3, ImageFrame(MASK))]},
        outputs=["VIDEO"],
        headers={"VIDEO": VideoHeader(ImageFormat.SRGB, 8, 6, 25.0), "MASK": VideoHeader()},
    )

    assert [int(p.timestamp) for p in run.outputs["VIDEO"]] == [1, 3]
    assert run.outputs["VIDEO"][0].payload is frame
    assert run.headers["VIDEO"] == VideoHeader(ImageFormat.SRGB, 8, 6, 25.0)


def test_a_mask_of_another_size_is_refused_with_both_sizes():
    message = r"input 'MASK' holds <ImageFrame GRAY8 8x6>, but input 'VIDEO' <ImageFrame SRGB 8x5>; make both"
    with pytest.raises(GraphRunError, match=message):
        overlay(ImageFrame(PIXELS[:5, :, :3]), ImageFrame(MASK))


@pytest.mark.parametrize(
    ("frame", "mask", "message"),
    [
        (
            ImageFrame(MASK),
            ImageFrame(MASK),
            r"input 'VIDEO' holds <ImageFrame GRAY8 8x6>, but takes frames of SRGB or SRGBA",
        ),
        (
            ImageFrame(PIXELS),
            ImageFrame(PIXELS),
            r"input 'MASK' holds <ImageFrame SRGBA 8x6>, but takes frames of GRAY8",
        ),
    ],
)
def test_other_formats_are_refused(frame, mask, message):
    with pytest.raises(GraphRunError, match=message):
        overlay(frame, mask)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"color": {"g": 256}}, r"color is \(0, 256, 0\), but each part must be 0 to 255"),
        ({"alpha": 1.5}, r"alpha is 1.5, but must be 0 to 1"),
        ({"darkening": -0.5}, r"darkening is -0.5, but must be 0 to 1"),
        (
            {"region": {"xmin": 0.5}},
            r"region has xmin 0.5, ymin 0, width 1 and height 1, but must be inside the frame, 0 to 1",
        ),
        ({"region": {"ymin": -0.25, "height": 0.5}}, r"ymin -0.25"),
        ({"region": {"width": 0}}, r"width 0 and height 1, but must be inside"),
    ],
)
def test_options_out_of_range_are_refused_in_open(options, message):
    with pytest.raises(GraphRunError, match=message):
        overlay(ImageFrame(PIXELS), ImageFrame(MASK), ImageOverlayCalculatorOptions(**options))
