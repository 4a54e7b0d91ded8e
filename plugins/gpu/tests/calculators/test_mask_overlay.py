"""MaskOverlayCalculator: mixing by an image or a number, and what is stretched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.errors import GraphConfigError, StatusCode
from penstock.packs import default_registry
from penstock_formats import VideoHeader
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.mask_overlay import MaskOverlayCalculator
from penstock_gpu.formats import GpuBufferFormat
from penstock_gpu.messages.mask_overlay_pb2 import MaskOverlayCalculatorOptions as Options
from penstock_views.describe import describe

pytestmark = pytest.mark.heavy

#: Pictures of MediaPipe's tests.
PICTURES = Path(__file__).resolve().parents[5] / "shared/data/reference/calculators/image"
#: Levels by which the result may differ from the exact value, rounded.
TOLERANCE = 1
#: The same where something is stretched: drivers weigh with 8 bits.
STRETCHED = 3


def mixed(run, first, second, mask, **named):
    tag = "CONST_MASK" if isinstance(mask, float) else "MASK"
    return run.image(
        MaskOverlayCalculator, {"VIDEO:0": first, "VIDEO:1": second, tag: mask}, output="OUTPUT", **named
    )


def exactly(first, second, weight):
    mix = first + (second.astype(float) - first) * weight
    return np.rint(np.clip(mix, 0, 255))


def differ(found, exact):
    assert found.shape == exact.shape
    return np.abs(found - exact).max()


@pytest.mark.parametrize(("width", "height"), [(1, 1), (31, 17)])
def test_red_of_the_mask_says_how_much_the_second_shows(run, random, width, height):
    first, second, mask = random.integers(0, 256, (3, height, width, 4), np.uint8)

    found = mixed(run, first, second, mask)

    assert differ(found, exactly(first, second, mask[..., :1] / 255)) <= TOLERANCE


def test_a_grey_mask_counts_as_its_value_and_its_limits_are_exact(run, random):
    first, second = random.integers(0, 256, (2, 4, 6, 4), np.uint8)
    mask = np.where(random.random((4, 6)) < 0.5, 255, 0).astype(np.uint8)

    assert np.array_equal(mixed(run, first, second, mask), np.where(mask[..., None] > 0, second, first))


@pytest.mark.parametrize("channel", [Options.UNKNOWN, Options.RED, Options.ALPHA])
def test_the_channel_can_be_chosen(run, random, channel):
    first, second, mask = random.integers(0, 256, (3, 5, 7, 4), np.uint8)

    found = mixed(run, first, second, mask, options=Options(mask_channel=channel))

    weight = mask[..., 3:] if channel == Options.ALPHA else mask[..., :1]
    assert differ(found, exactly(first, second, weight / 255)) <= TOLERANCE


def test_a_mask_of_alpha_only_is_read_as_alpha(run, random):
    first, second = random.integers(0, 256, (2, 5, 7, 4), np.uint8)
    mask = random.integers(0, 256, (5, 7), np.uint8)
    buffer = GpuBuffer.of_array(mask, GpuBufferFormat.ONE_COMPONENT8_ALPHA)

    found = mixed(run, first, second, buffer, options=Options(mask_channel=Options.ALPHA))

    assert differ(found, exactly(first, second, mask[..., None] / 255)) <= TOLERANCE


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0, 1.5])
def test_a_number_counts_for_all_pixels(run, random, share):
    first, second = random.integers(0, 256, (2, 6, 3, 4), np.uint8)

    assert differ(mixed(run, first, second, share), exactly(first, second, share)) <= TOLERANCE


def test_a_mask_of_half_the_size_is_stretched_linearly(run, random):
    first, second = random.integers(0, 256, (2, 8, 12, 4), np.uint8)
    mask = random.integers(0, 256, (4, 6), np.uint8)

    found = mixed(run, first, second, mask)

    ends = np.pad(mask.astype(float), 1, mode="edge")
    tall = np.stack([0.25 * ends[:-2] + 0.75 * ends[1:-1], 0.75 * ends[1:-1] + 0.25 * ends[2:]], 1)
    tall = tall.reshape(8, 8)
    whole = np.stack(
        [0.25 * tall[:, :-2] + 0.75 * tall[:, 1:-1], 0.75 * tall[:, 1:-1] + 0.25 * tall[:, 2:]], 2
    )
    assert differ(found, exactly(first, second, whole.reshape(8, 12, 1) / 255)) <= STRETCHED


def test_the_result_has_the_size_of_the_first_and_the_second_is_stretched(run):
    first, second = np.zeros((6, 4, 4), np.uint8), np.full((1, 2, 4), 80, np.uint8)

    found = mixed(run, first, second, 0.5)

    assert found.shape == (6, 4, 4)
    assert np.abs(found.astype(int) - 40).max() <= TOLERANCE


def test_images_of_any_format_are_mixed(run, random):
    first = random.integers(0, 256, (5, 4, 3), np.uint8)
    second = random.random((5, 4, 4)).astype(np.float32)

    found = mixed(run, first, second, 0.5)

    opaque = np.dstack([first, np.full((5, 4), 255)])
    assert differ(found, exactly(opaque, second * 255.0, 0.5)) <= TOLERANCE


def test_without_a_mask_the_second_passes_and_without_an_image_nothing_comes(run):
    one, two = (GpuBuffer.of_array(np.full((2, 2, 4), n, np.uint8)) for n in (1, 2))

    result = run(
        MaskOverlayCalculator,
        {
            "VIDEO:0": [(t, one) for t in (1, 2, 4, 5)],
            "VIDEO:1": [(t, two) for t in (1, 3, 4, 6)],
            "CONST_MASK": [(t, 0.0) for t in (2, 3, 4)],
        },
        ("OUTPUT",),
        headers={"VIDEO:0": VideoHeader(width=2), "VIDEO:1": VideoHeader(width=3)},
    )

    packets = result.outputs["OUTPUT"]
    assert [int(packet.timestamp) for packet in packets] == [1, 4, 6]
    assert packets[0].payload is two
    assert (packets[1].payload.array() == 1).all()
    assert packets[2].payload is two
    assert result.headers["OUTPUT"] == VideoHeader(width=2)


def test_both_masks_are_listed_whichever_is_connected():
    about = describe("MaskOverlayCalculator", default_registry())

    assert {"MASK", "CONST_MASK"} <= {port.tag for port in about.inputs}


@pytest.mark.reference(
    "calculators/image/mask_overlay_calculator_test.cc", "MaskOverlayCalculatorTest.NoMaskInputFails"
)
@pytest.mark.parametrize(
    ("masks", "message", "code"),
    [
        ({}, "no mask is connected; connect either MASK or CONST_MASK", StatusCode.NOT_FOUND),
        (
            {"MASK": [], "CONST_MASK": []},
            "MASK and CONST_MASK is connected; connect either",
            StatusCode.INVALID_ARGUMENT,
        ),
    ],
)
def test_exactly_one_mask_must_be_connected(run, masks, message, code):
    with pytest.raises(GraphConfigError, match=message) as caught:
        run(MaskOverlayCalculator, {"VIDEO:0": [], "VIDEO:1": [], **masks}, ("OUTPUT",))

    assert caught.value.code is code


def picture(name):
    """Return a picture of the reference's tests, (H, W, 4); skip the test where it or OpenCV is missing."""
    cv2 = pytest.importorskip("cv2", reason="opencv-python-headless is not installed")
    path = PICTURES / name
    if not path.exists():
        pytest.skip(f"the reference's picture is not here: {path}")
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    code = cv2.COLOR_BGRA2RGBA if pixels.shape[2] == 4 else cv2.COLOR_BGR2RGBA
    return cv2.cvtColor(pixels, code)


@pytest.mark.reference(
    "calculators/image/mask_overlay_calculator_test.cc", "MaskOverlayCalculatorTest.TestConstantMask"
)
@pytest.mark.parametrize(
    ("colour", "channel", "golden"),
    [
        ((0, 0, 0), Options.RED, "googlelogo_maskoverlay_0.png"),
        ((255, 255, 255), Options.RED, "googlelogo_maskoverlay_255.png"),
        ((0, 0, 0, 0), Options.ALPHA, "googlelogo_maskoverlay_alpha_0.png"),
    ],
)
def test_half_of_a_picture_of_the_reference_and_half_of_a_colour(run, colour, channel, golden):
    first, expected = picture("googlelogo.png"), picture(golden)
    second = np.full((*first.shape[:2], len(colour)), colour, np.uint8)

    found = mixed(run, first, second, 0.5, options=Options(mask_channel=channel))

    difference = np.abs(found.astype(float) - expected)
    assert difference.max() <= 1
    # OpenGL leaves to a driver whether 127.5 becomes 127, as in that picture, or 128
    opaque = np.dstack([second, np.full(first.shape[:2], 255)])[..., :4]
    is_half = (first.astype(int) + opaque) % 2 == 1
    assert difference[~is_half].mean() <= 0.1


@pytest.mark.reference(
    "calculators/image/mask_overlay_calculator_test.cc",
    "MaskOverlayCalculatorTestRegularMask.TestRegularMask",
)
@pytest.mark.parametrize("upper_left", [0.0, 0.5])
def test_a_mask_of_floats_says_for_each_pixel_how_much_of_the_second_shows(run, upper_left):
    mask = np.zeros((4, 4), np.float32)
    mask[1:3, 1:3] = 1
    if upper_left:
        mask[0, 0] = mask[1, 1] = upper_left
    first, second = (np.full((4, 4, 3), value, np.uint8) for value in (100, 200))

    found = mixed(run, first, second, mask, options=Options(mask_channel=Options.RED))

    assert found[..., 0].tolist() == (100 + 100 * mask).tolist()
