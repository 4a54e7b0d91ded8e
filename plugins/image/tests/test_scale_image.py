"""ScaleImageCalculator: what it crops, to which size it scales, and what it does with headers."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Calculator, CalculatorGraph, Packet, Timestamp
from penstock.errors import GraphRunError, InvalidArgumentError, PenstockError, StatusCode
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_image.geometry.scale_image import ScaleImageCalculator
from penstock_image.geometry.scaling_rules import check, cropped, ratio, scaled
from penstock_image.messages.scale_image_pb2 import ScaleImageCalculatorOptions as Options
from penstock_testing import run_calculator, testing_registry

RANDOM = np.random.default_rng(6)
RGB = RANDOM.integers(0, 256, (24, 32, 3)).astype(np.uint8)
FRAME = ImageFrame(RGB)
RGBA = RANDOM.integers(0, 256, (24, 32, 4)).astype(np.uint8)
PRESTREAM = Timestamp.PRESTREAM


def run(inputs=None, outputs=("FRAMES",), headers=None, **options):
    return run_calculator(
        ScaleImageCalculator,
        {"FRAMES": [(1, FRAME)], **(inputs or {})},
        outputs=list(outputs),
        options=Options(**options),
        headers=headers,
    )


def image(pixels=RGB, **options) -> np.ndarray:
    (packet,) = run({"FRAMES": [(1, ImageFrame(pixels))]}, **options).outputs["FRAMES"]
    assert packet.timestamp == 1
    return packet.payload.array


# --- sizes --------------------------------------------------------------------------------------------


@pytest.mark.reference(
    "calculators/image/scale_image_utils_test.cc", "ScaleImageUtilsTest.FindCropDimensions"
)
@pytest.mark.parametrize(
    ("size", "limits", "want"),
    [
        ((1920, 1080), ("9/16", "16/9"), (0, 0, 1920, 1080)),
        ((640, 1024), ("9/16", "16/9"), (0, 0, 640, 1024)),
        ((640, 320), ("9/16", "16/9"), (36, 0, 568, 320)),
        ((96, 480), ("9/16", "16/9"), (0, 155, 96, 170)),
        ((200, 100), ("1/1", "1/1"), (50, 0, 100, 100)),
        ((50, 100), ("0/1", "1/0"), (0, 0, 50, 100)),
        ((50, 100), ("", ""), (0, 0, 50, 100)),
    ],
)
def test_what_is_left_after_cropping_has_an_aspect_ratio_between_the_two(size, limits, want):
    left, top, wide, high = want

    columns, rows = cropped(*size, *(ratio(limit, "limit") for limit in limits))

    assert (columns, rows) == (slice(left, left + wide), slice(top, top + high))


@pytest.mark.parametrize(
    ("size", "want"),
    [
        ((640, 319), (37, 0, 566, 319)),
        ((319, 640), (0, 37, 319, 566)),
    ],
)
def test_a_side_that_is_cut_becomes_even(size, want):
    left, top, wide, high = want

    columns, rows = cropped(*size, *(ratio(limit, "limit") for limit in ("9/16", "16/9")))

    assert (columns, rows) == (slice(left, left + wide), slice(top, top + high))


@pytest.mark.reference(
    "calculators/image/scale_image_utils_test.cc",
    "ScaleImageUtilsTest.FindOutputDimensionsPreserveRatio",
    "ScaleImageUtilsTest.FindOutputDimensionsNoAspectRatio",
    "ScaleImageUtilsTest.FindOutputDimensionsDownScaleToMultipleOf",
)
@pytest.mark.parametrize(
    ("size", "target", "keeps", "multiple", "want"),
    [
        ((200, 100), (-1, -1), True, 2, (200, 100)),
        ((201, 101), (-1, -1), False, 1, (201, 101)),
        ((200, 100), (100, -1), True, 2, (100, 50)),
        ((200, 100), (-1, 200), True, 2, (400, 200)),
        ((200, 100), (150, 150), True, 2, (150, 74)),
        ((200, 100), (400, 50), True, 2, (100, 50)),
        ((200, 100), (101, -1), True, 2, (100, 50)),
        ((10000, 10), (100, 0), True, 2, (100, 1)),
        ((10, 10000), (0, 100), True, 2, (1, 100)),
        ((200, 100), (100, -1), False, 2, (100, 100)),
        ((200, 100), (-1, 200), False, 2, (200, 200)),
        ((200, 100), (150, 200), False, 2, (150, 200)),
        ((200, 100), (151, 101), False, 1, (151, 101)),
        ((100, 100), (-1, -1), False, 8, (96, 96)),
        ((200, 100), (100, -1), False, 8, (96, 96)),
        ((201, 101), (-1, 201), False, 8, (200, 200)),
        ((200, 100), (150, 200), False, 8, (144, 200)),
        ((200, 100), (400, 200), True, 2, (400, 200)),
        ((200, 100), (400, 200), True, 4, None),
        ((200, 100), (401, 201), False, 1, (401, 201)),
        ((200, 100), (0, 0), False, 0, (200, 100)),
    ],
)
def test_sizes_are_those_of_the_reference(size, target, keeps, multiple, want):
    options = Options(
        target_width=target[0],
        target_height=target[1],
        preserve_aspect_ratio=keeps,
        scale_to_multiple_of=multiple,
    )

    if want is None:
        with pytest.raises(InvalidArgumentError, match="scale_to_multiple_of is 4, but must be 2 where"):
            check(options)
    else:
        check(options)
        assert scaled(*size, options) == want


@pytest.mark.reference(
    "calculators/image/scale_image_utils_test.cc", "ScaleImageUtilsTest.FindOutputDimensionsMaxArea"
)
@pytest.mark.parametrize(
    ("area", "want"),
    [
        (-1, (200, 100)),
        (0, (200, 100)),
        (20001, (200, 100)),
        (20000, (200, 100)),
        (19999, (198, 98)),  # at most 19999 pixels, and nearly 2:1
        (9000, (134, 66)),
        (5000, (100, 50)),
        (999, (44, 22)),
    ],
)
def test_a_frame_of_more_pixels_than_the_area_is_shrunk_to_it(area, want):
    options = Options(target_max_area=area, preserve_aspect_ratio=False)

    assert scaled(200, 100, options) == want


@pytest.mark.reference(
    "calculators/image/scale_image_calculator_test.cc",
    "ScaleImageCalculatorTest.ScaleRegualrSize",
    "ScaleImageCalculatorTest.ScaleRgbaToRgb",
    "ScaleImageCalculatorTest.ScaleRgbaToRgbNoInputFormatInOption",
    "ScaleImageCalculatorTest.ScaleRgbToRgb",
)
@pytest.mark.parametrize(
    ("channels", "given"),
    [
        (3, {"input_format": ImageFormat.SRGB}),
        (4, {"input_format": ImageFormat.SRGBA}),
        (4, {}),
    ],
)
def test_an_upright_video_fits_into_a_square_without_its_alpha(channels, given):
    pixels = (np.arange(720 * 1280 * channels) % 256).astype(np.uint8).reshape(1280, 720, channels)

    result = run_calculator(
        ScaleImageCalculator,
        {0: [(1, ImageFrame(pixels))]},
        outputs=[0],
        options=Options(
            **given,
            output_format=ImageFormat.SRGB,
            target_width=720,
            target_height=720,
            preserve_aspect_ratio=True,
        ),
    )

    (packet,) = result.outputs[0]
    frame = packet.payload
    assert (frame.format, frame.width, frame.height) == (ImageFormat.SRGB, 404, 720)


@pytest.mark.reference(
    "calculators/image/scale_image_calculator_test.cc",
    "ScaleImageCalculatorTest.ScaleOddSize",
    "ScaleImageCalculatorTest.ScaleEmptyImage",
    "ScaleImageCalculatorTest.ScaleImageWithZeroWidth",
    "ScaleImageCalculatorTest.ScaleImageWithZeroHeight",
)
@pytest.mark.parametrize(
    ("width", "height", "words"),
    [
        (1, 512, "a frame of 1x512 would become 1x0, but must have a pixel left"),
        (0, 0, r"an array of \(0, 0, 3\) uint8 is no image"),
        (0, 100, r"an array of \(100, 0, 3\) uint8 is no image"),
        (100, 0, r"an array of \(0, 100, 3\) uint8 is no image"),
    ],
)
def test_a_frame_without_pixels_is_refused_where_it_is_made_or_left_over(width, height, words):
    with pytest.raises(PenstockError, match=words) as caught:
        run(
            {"FRAMES": [(1, ImageFrame(np.zeros((height, width, 3), np.uint8)))]},
            input_format=ImageFormat.SRGB,
            output_format=ImageFormat.SRGB,
            target_width=720,
            target_height=720,
            preserve_aspect_ratio=True,
        )

    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@given(*[st.integers(1, 400)] * 4)
def test_a_size_with_the_proportions_always_fits_into_the_target(width, height, wide, high):
    found = scaled(width, height, Options(target_width=wide, target_height=high))

    assert 1 <= found[0] <= wide
    assert 1 <= found[1] <= high


# --- pixels -------------------------------------------------------------------------------------------


def test_a_frame_that_shrinks_gets_the_means_of_areas():
    found = image(target_width=16, target_height=12)

    want = RGB.reshape(12, 2, 16, 2, 3).mean(axis=(1, 3))
    assert np.abs(found - want).max() <= 0.51


def test_cropping_leaves_the_middle():
    found = image(max_aspect_ratio="1/1")

    assert np.array_equal(found, RGB[:, 4:28])
    assert not np.shares_memory(found, RGB)


def test_a_frame_of_the_right_size_is_forwarded():
    assert run().outputs["FRAMES"][0].payload is FRAME


def linear(srgb):
    """Return sRGB numbers 0 to 255 as light 0 to 1, in double precision."""
    part = srgb / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize(
    ("algorithm", "method"),
    [
        (Options.DEFAULT, cv2.INTER_CUBIC),
        (Options.LINEAR, cv2.INTER_LINEAR),
        (Options.CUBIC, cv2.INTER_CUBIC),
        (Options.AREA, cv2.INTER_AREA),
        (Options.LANCZOS, cv2.INTER_LANCZOS4),
    ],
)
@pytest.mark.parametrize("size", [(64, 48), (64, 12)], ids=["both sides", "one side"])
def test_a_frame_that_grows_is_interpolated_in_linear_light(algorithm, method, size):
    found = image(
        target_width=size[0], target_height=size[1], algorithm=algorithm, preserve_aspect_ratio=False
    )

    light = np.clip(cv2.resize(linear(RGB), size, interpolation=method), 0, 1)
    want = 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    # Half a grey level is rounded away, and one of 65535 steps of light is at most 0.05 of a level.
    assert np.abs(found - want).max() < 0.6


def test_grey_halfway_between_black_and_white_is_that_of_light():
    edge = np.zeros((2, 2, 3), np.uint8)
    edge[:, 1] = 255

    found = image(
        edge, target_width=4, target_height=2, algorithm=Options.LINEAR, preserve_aspect_ratio=False
    )

    assert found[0, :, 0].tolist() == [0, 137, 225, 255]  # a quarter and three quarters of the light


def test_a_frame_keeps_its_size_where_growing_is_not_wanted():
    found = image(target_width=64, target_height=12, preserve_aspect_ratio=False, algorithm=5)

    assert np.array_equal(found, RGB)
    assert image(target_width=16, algorithm=Options.DEFAULT_WITHOUT_UPSCALE).shape == (12, 16, 3)


def test_formats_are_converted():
    added = run(output_format=ImageFormat.SRGBA).outputs["FRAMES"][0].payload
    dropped = run({"FRAMES": [(1, ImageFrame(RGBA))]}, output_format=ImageFormat.SRGB, target_width=64)
    shrunk = image(RGBA, target_width=16)

    assert added.format is ImageFormat.SRGBA
    assert np.array_equal(added.array, np.dstack([RGB, np.full((24, 32), 255, np.uint8)]))
    assert dropped.outputs["FRAMES"][0].payload.format is ImageFormat.SRGB
    assert np.array_equal(dropped.outputs["FRAMES"][0].payload.array, image(RGBA[..., :3], target_width=64))
    assert np.abs(shrunk - RGBA.reshape(12, 2, 16, 2, 4).mean(axis=(1, 3))).max() <= 0.51


# --- headers and options in streams -------------------------------------------------------------------


def test_the_header_of_the_results_comes_with_the_first_frame():
    header = VideoHeader(ImageFormat.SRGB, 5, 5, 25.0, 9.0)

    result = run(
        {"VIDEO_HEADER": [(PRESTREAM, header)], "FRAMES": [(7, FRAME), (8, ImageFrame(RGB[:12, :16]))]},
        outputs=["FRAMES", "VIDEO_HEADER"],
        target_width=16,
        output_format=ImageFormat.SRGBA,
    )

    (packet,) = result.outputs["VIDEO_HEADER"]
    assert packet.timestamp == PRESTREAM
    assert packet.payload == VideoHeader(ImageFormat.SRGBA, 16, 12, 25.0, 9.0)
    assert [p.payload.array.shape for p in result.outputs["FRAMES"]] == [(12, 16, 4), (12, 16, 4)]


def test_the_stream_of_the_header_ends_with_it_so_that_nobody_waits_for_more():
    registry = testing_registry()
    registry.add("calculator", "ScaleImageCalculator", ScaleImageCalculator)
    registry.add("calculator", "Both", Both)
    graph = CalculatorGraph(
        """
        input_stream: "in"
        node {
          calculator: "ScaleImageCalculator"
          input_stream: "FRAMES:in"
          output_stream: "FRAMES:scaled"
          output_stream: "VIDEO_HEADER:header"
        }
        node { calculator: "Both" input_stream: "scaled" input_stream: "header" output_stream: "out" }
        """,
        registry=registry,
    )
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()

    graph.add_packet_to_input_stream("in", Packet(FRAME, 1))
    graph.wait_until_idle()

    assert seen == [FRAME]
    graph.close()


class Both(Calculator):
    """Forwards the first stream where the second is settled."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.inputs[1].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])

    def process(self, cc):
        if not cc.inputs[0].is_empty():
            cc.outputs[0].add_packet(cc.inputs[0].packet)


def test_without_a_header_in_a_header_of_size_and_format_comes_out():
    result = run(outputs=["FRAMES", "VIDEO_HEADER"], target_width=16)

    assert result.outputs["VIDEO_HEADER"][0].payload == VideoHeader(ImageFormat.SRGB, 16, 12)


def test_ports_may_be_untagged_and_a_stream_header_is_forwarded_with_the_new_size():
    result = run_calculator(
        ScaleImageCalculator,
        {0: [(1, FRAME)]},
        outputs=[0, "VIDEO_HEADER"],
        options=Options(target_width=16),
        headers={0: VideoHeader(ImageFormat.SRGB, 32, 24, 25.0)},
    )

    assert result.headers[0] == VideoHeader(ImageFormat.SRGB, 16, 12, 25.0)
    assert result.outputs["VIDEO_HEADER"][0].payload == result.headers[0]
    assert result.outputs[0][0].payload.array.shape == (12, 16, 3)


def test_a_stream_header_that_says_too_little_is_dropped():
    result = run(headers={"FRAMES": VideoHeader(ImageFormat.SRGB, 0, 0, 25.0)}, target_width=16)

    assert result.headers["FRAMES"] is None
    assert result.outputs["FRAMES"][0].payload.width == 16


def test_options_in_a_stream_replace_those_of_the_node():
    result = run(
        {"OVERRIDE_OPTIONS": [(PRESTREAM, Options(target_width=16))]},
        target_width=20,
        min_aspect_ratio="1/1",
        max_aspect_ratio="1/1",
    )

    assert result.outputs["FRAMES"][0].payload.array.shape == (16, 16, 3)


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale_to_multiple_of": 4}, r"scale_to_multiple_of is 4, but must be 2 where proportions are kept"),
        (
            {"scale_to_multiple_of": 4, "preserve_aspect_ratio": False, "target_max_area": 9},
            r"scale_to_multiple_of is 4, but must be 2 where proportions are kept",
        ),
        ({"min_aspect_ratio": "wide"}, r"min_aspect_ratio is 'wide', but must be two numbers such as"),
        ({"max_aspect_ratio": "1/2/3"}, r"max_aspect_ratio is '1/2/3', but must be two numbers such as"),
        ({"max_aspect_ratio": "-1/2"}, r"max_aspect_ratio is '-1/2', but must be two numbers such as"),
        ({"output_format": ImageFormat.GRAY8}, r"output_format is GRAY8, but must be SRGB or SRGBA; change"),
        ({"input_format": ImageFormat.YCBCR420P}, r"input_format is YCBCR420P, but must be SRGB or SRGBA"),
        (
            {"input_format": ImageFormat.SRGBA},
            r"frames to scale, of input 'in_0', have format SRGB, but input_format",
        ),
        (
            {"preserve_aspect_ratio": False, "scale_to_multiple_of": 50},
            r"a frame of 32x24 would become 0x0, but must have a pixel left",
        ),
        ({"max_aspect_ratio": "1/99"}, r"a frame of 32x24 would become 0x24, but must have a pixel left"),
        (
            {"target_width": 1 << 20, "target_height": 1 << 20},
            r"the scaled frame: a frame of 1048576x786432 ha",
        ),
    ],
)
def test_options_that_scale_nothing_are_refused(options, message):
    with pytest.raises(GraphRunError, match=message):
        run(**options)


@pytest.mark.parametrize(
    ("pixels", "options", "message"),
    [
        (
            RGB[..., 0],
            {},
            r"SRGB and SRGBA, but a frame has format GRAY8; put a ColorConvert",
        ),
        (
            RGBA,
            {"target_width": 64},
            r"of 32x24 pixels in SRGBA would grow to 64x48, but only SRGB can; set ou",
        ),
    ],
)
def test_frames_that_cannot_be_scaled_are_refused(pixels, options, message):
    with pytest.raises(GraphRunError, match=message):
        image(pixels, **options)


@pytest.mark.parametrize(
    ("inputs", "headers", "message"),
    [
        (
            {},
            {"FRAMES": VideoHeader(ImageFormat.SRGB, 32, 25)},
            r"holds <ImageFrame SRGB 32x24> to scale, but its header says 32x25 SRGB",
        ),
        (
            {},
            {"FRAMES": VideoHeader(ImageFormat.SRGBA, 32, 24)},
            r", but its header says 32x24 SRGBA; correct",
        ),
        (
            {"OVERRIDE_OPTIONS": []},
            {"FRAMES": VideoHeader(ImageFormat.SRGB, 32, 24)},
            r"has a header, and OVERRIDE_OPTIONS is connected, but the header of the scaled frames must be k",
        ),
        ({"OVERRIDE_OPTIONS": []}, None, r"'OVERRIDE_OPTIONS' is connected, but had no packet at PRESTREAM"),
        (
            {"OVERRIDE_OPTIONS": [(1, Options())]},
            None,
            r"has a packet at 1, but must say how to scale at PRESTREAM",
        ),
        (
            {"VIDEO_HEADER": [(1, VideoHeader())]},
            None,
            r"has a packet at 1, but must say how to scale at PRESTREAM",
        ),
    ],
)
def test_headers_and_options_that_do_not_fit_are_refused(inputs, headers, message):
    with pytest.raises(GraphRunError, match=message):
        run(inputs, headers=headers)
