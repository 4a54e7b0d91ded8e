"""ImageTransformationCalculator: sizes, turns, flips, padding, and which setting overrides which."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Timestamp
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_formats.image_format import LAYOUTS
from penstock_formats.messages.rotation_mode_pb2 import RotationMode
from penstock_formats.messages.scale_mode_pb2 import ScaleMode
from penstock_image.geometry.image_transformation import ImageTransformationCalculator
from penstock_image.geometry.orientation import Transformation
from penstock_image.messages.image_transformation_pb2 import ImageTransformationCalculatorOptions as Options
from penstock_testing import run_calculator

#: A picture of MediaPipe's tests, white on black.
MASK = Path(__file__).resolve().parents[4] / "shared/data/reference/calculators/image/binary_mask.png"
PIXELS = np.random.default_rng(5).integers(0, 256, (6, 10, 3)).astype(np.uint8)
FRAME = ImageFrame(PIXELS)


def run(inputs=None, outputs=("IMAGE",), side_packets=None, headers=None, **options):
    return run_calculator(
        ImageTransformationCalculator,
        {"IMAGE": [(1, FRAME)]} if inputs is None else inputs,
        outputs=list(outputs),
        options=Options(**options),
        side_packets=side_packets,
        headers=headers,
    )


def image(**options) -> np.ndarray:
    (packet,) = run(**options).outputs["IMAGE"]
    assert packet.timestamp == 1
    return packet.payload.array


@pytest.mark.reference(
    "calculators/image/image_transformation_calculator_test.cc",
    "ImageTransformationCalculatorTest.NearestNeighborResizing",
    "ImageTransformationCalculatorTest.NearestNeighborResizingWorksForFloatInput",
)
@pytest.mark.parametrize("kind", [ImageFormat.GRAY8, ImageFormat.VEC32F1])
@pytest.mark.parametrize("mode", [ScaleMode.FIT, ScaleMode.STRETCH])
@pytest.mark.parametrize("size", [(256, 333), (512, 512), (1024, 1024)])
def test_the_nearest_pixel_is_one_of_the_frame(kind, mode, size):
    if not MASK.exists():
        pytest.skip(f"the reference's picture is not here: {MASK}")
    pixels = cv2.cvtColor(cv2.imread(str(MASK)), cv2.COLOR_BGR2GRAY)
    if kind is ImageFormat.VEC32F1:
        pixels = pixels.astype(np.float32) / np.float32(255)

    found = run(
        {"IMAGE": [(0, ImageFrame(pixels, kind))], "OUTPUT_DIMENSIONS": [(0, size)]},
        scale_mode=mode,
        interpolation_mode=Options.NEAREST,
    )

    (packet,) = found.outputs["IMAGE"]
    frame = packet.payload
    assert (frame.width, frame.height, frame.format) == (*size, kind)
    assert np.unique(frame.array).tolist() == np.unique(pixels).tolist()


def test_without_options_the_frame_itself_comes_out():
    assert run().outputs["IMAGE"][0].payload is FRAME


@pytest.mark.parametrize(
    ("mode", "turns"), [("ROTATION_90", 1), ("ROTATION_180", 2), ("ROTATION_270", 3), ("ROTATION_0", 0)]
)
@pytest.mark.parametrize("horizontally", [False, True])
@pytest.mark.parametrize("vertically", [False, True])
def test_turns_go_counterclockwise_and_flips_come_after_them(mode, turns, horizontally, vertically):
    found = image(
        rotation_mode=RotationMode.Mode.Value(mode),
        flip_horizontally=horizontally,
        flip_vertically=vertically,
    )

    want = np.rot90(PIXELS, turns)
    want = want[:, ::-1] if horizontally else want
    want = want[::-1] if vertically else want
    assert np.array_equal(found, want)


@pytest.mark.parametrize("kind", LAYOUTS, ids=lambda kind: kind.name)
def test_every_format_keeps_its_layout(kind):
    layout = LAYOUTS[kind]
    shape = (4, 6) if layout.channels == 1 else (4, 6, layout.channels)
    pixels = np.random.default_rng(1).integers(0, 99, shape).astype(layout.dtype)

    found = run(
        {"IMAGE": [(1, ImageFrame(pixels, kind))]},
        output_width=12,
        output_height=8,
        rotation_mode=RotationMode.ROTATION_180,
        scale_mode=ScaleMode.FIT,
        interpolation_mode=Options.NEAREST,
    )

    (packet,) = found.outputs["IMAGE"]
    assert packet.payload.format is kind
    assert np.array_equal(packet.payload.array, np.rot90(pixels, 2).repeat(2, 0).repeat(2, 1))


def test_stretching_takes_the_mean_of_the_area_when_it_shrinks_both_ways():
    found = image(output_width=5, output_height=3)

    want = PIXELS.reshape(3, 2, 5, 2, 3).mean(axis=(1, 3))
    assert np.abs(found - want).max() <= 0.51


@pytest.mark.parametrize(("width", "height"), [(20, 12), (5, 12), (10, 3)])
def test_stretching_is_linear_otherwise(width, height):
    found = image(output_width=width, output_height=height)

    assert np.array_equal(found, cv2.resize(PIXELS, (width, height), interpolation=cv2.INTER_LINEAR))


def test_a_size_with_one_side_left_out_changes_nothing():
    assert run(output_width=5).outputs["IMAGE"][0].payload is FRAME


def test_fitting_keeps_the_proportions_and_fills_with_the_colour():
    result = run(
        outputs=("IMAGE", "LETTERBOX_PADDING"),
        output_width=20,
        output_height=40,
        scale_mode=ScaleMode.FIT,
        padding_color={"red": 1, "green": 2, "blue": 3},
        interpolation_mode=Options.NEAREST,
    )

    found = result.outputs["IMAGE"][0].payload.array
    assert found.shape == (40, 20, 3)
    assert (found[:14] == (1, 2, 3)).all()
    assert (found[26:] == (1, 2, 3)).all()
    assert np.array_equal(found[14:26], PIXELS.repeat(2, 0).repeat(2, 1))
    assert result.outputs["LETTERBOX_PADDING"][0].payload == pytest.approx((0, 0.35, 0, 0.35))


def test_fitting_can_repeat_the_outermost_pixels():
    found = image(output_width=10, output_height=8, scale_mode=ScaleMode.FIT, constant_padding=False)

    assert np.array_equal(found, np.pad(PIXELS, ((1, 1), (0, 0), (0, 0)), mode="edge"))


@pytest.mark.parametrize(
    ("mode", "method"),
    [
        (Options.DEFAULT, cv2.INTER_AREA),
        (Options.LINEAR, cv2.INTER_AREA),
        (Options.NEAREST, cv2.INTER_NEAREST),
    ],
)
@pytest.mark.parametrize("scale_mode", [ScaleMode.FIT, ScaleMode.FILL_AND_CROP])
def test_an_image_that_is_fitted_into_less_gets_the_means_of_areas_or_nearest_pixels(
    mode, method, scale_mode
):
    found = image(output_width=5, output_height=30, scale_mode=scale_mode, interpolation_mode=mode)

    inner = found[13:16] if scale_mode == ScaleMode.FIT else found
    assert np.array_equal(inner, cv2.resize(PIXELS, (5, 3), interpolation=method))


def test_an_image_that_is_fitted_into_more_is_linear():
    found = image(output_width=15, output_height=9, scale_mode=ScaleMode.FIT)

    assert np.array_equal(found, cv2.resize(PIXELS, (15, 9), interpolation=cv2.INTER_LINEAR))


def test_the_default_of_the_scale_mode_is_to_stretch():
    assert np.array_equal(
        image(output_width=7, output_height=7),
        image(output_width=7, output_height=7, scale_mode=ScaleMode.STRETCH),
    )


@pytest.mark.parametrize(
    ("format_", "filled"),
    [
        (ImageFormat.SRGBA, (9, 80, 200, 0)),
        (ImageFormat.GRAY8, 9),
        (ImageFormat.GRAY16, 9),
        (ImageFormat.VEC32F1, 9),
    ],
)
def test_the_padding_of_formats_without_three_colours_is_as_in_the_reference(format_, filled):
    layout = LAYOUTS[format_]
    shape = (6, 10) if layout.channels == 1 else (6, 10, layout.channels)

    result = run(
        {"IMAGE": [(1, ImageFrame(np.ones(shape, layout.dtype), format_))]},
        output_width=10,
        output_height=8,
        scale_mode=ScaleMode.FIT,
        padding_color={"red": 9, "green": 80, "blue": 200},
    )

    found = result.outputs["IMAGE"][0].payload.array
    assert (found[0] == filled).all()
    assert (found[7] == filled).all()
    assert (found[1:7] == 1).all()


def test_filling_keeps_the_proportions_inside_the_size_as_in_the_reference():
    assert image(output_width=20, output_height=40, scale_mode=ScaleMode.FILL_AND_CROP).shape == (12, 20, 3)


def test_a_turned_image_gets_exactly_the_requested_size():
    result = run(
        outputs=("IMAGE", "LETTERBOX_PADDING"),
        output_width=12,
        output_height=10,
        rotation_mode=RotationMode.ROTATION_90,
        scale_mode=ScaleMode.FIT,
    )

    found = result.outputs["IMAGE"][0].payload.array
    assert np.array_equal(found[:, 3:9], np.rot90(PIXELS))
    assert not found[:, :3].any()
    assert not found[:, 9:].any()
    assert result.outputs["LETTERBOX_PADDING"][0].payload == pytest.approx((0.25, 0, 0.25, 0))


def test_padding_is_zero_where_nothing_is_fitted():
    result = run(outputs=("IMAGE", "LETTERBOX_PADDING"), output_width=20, output_height=40)

    assert result.outputs["LETTERBOX_PADDING"][0].payload == (0.0, 0.0, 0.0, 0.0)


def test_streams_override_side_packets_and_side_packets_override_options():
    sides = {
        "OUTPUT_DIMENSIONS": (4, 4),
        "ROTATION_DEGREES": 180,
        "FLIP_VERTICALLY": False,
        "FLIP_HORIZONTALLY": False,
    }
    by_side = run(side_packets=sides, output_width=9, output_height=9, flip_vertically=True)
    by_stream = run(
        {
            "IMAGE": [(t, FRAME) for t in (1, 2, 3)],
            "OUTPUT_DIMENSIONS": [(1, (10, 6)), (3, [6, 10])],
            "ROTATION_DEGREES": [(3, -90)],
        },
        side_packets=sides,
    )

    assert np.array_equal(
        by_side.outputs["IMAGE"][0].payload.array,
        np.rot90(cv2.resize(PIXELS, (4, 4), interpolation=cv2.INTER_AREA), 2),
    )
    assert [int(p.timestamp) for p in by_stream.outputs["IMAGE"]] == [1, 3]
    assert np.array_equal(by_stream.outputs["IMAGE"][0].payload.array, np.rot90(PIXELS, 2))
    assert np.array_equal(by_stream.outputs["IMAGE"][1].payload.array, np.rot90(PIXELS, 3))


def test_the_last_value_of_a_stream_stays_in_effect():
    result = run({"IMAGE": [(1, FRAME), (2, FRAME)], "FLIP_HORIZONTALLY": [(1, True)]})

    assert all(np.array_equal(p.payload.array, PIXELS[:, ::-1]) for p in result.outputs["IMAGE"])


def test_headers_get_the_new_size():
    header = VideoHeader(ImageFormat.SRGB, 10, 6, 25.0)

    result = run(
        {"IMAGE": [(1, FRAME)], "VIDEO_PRESTREAM": [(Timestamp.PRESTREAM, header)]},
        outputs=("IMAGE", "VIDEO_PRESTREAM"),
        headers={"IMAGE": header},
        rotation_mode=RotationMode.ROTATION_270,
    )

    (packet,) = result.outputs["VIDEO_PRESTREAM"]
    assert packet.timestamp == Timestamp.PRESTREAM
    assert packet.payload == VideoHeader(ImageFormat.SRGB, 6, 10, 25.0)
    assert result.headers["IMAGE"] == VideoHeader(ImageFormat.SRGB, 6, 10, 25.0)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (["IMAGE", "VIDEO_PRESTREAM"], ["IMAGE"], r"VIDEO_PRESTREAM is connected at one side only"),
        (
            ["IMAGE", "VIDEO_PRESTREAM", "ROTATION_DEGREES"],
            ["IMAGE", "VIDEO_PRESTREAM"],
            r"ROTATION_DEGREES may transform frames to changing",
        ),
        (["IMAGE_GPU"], ["IMAGE_GPU"], r"IMAGE_GPU is connected, but this calculator works in main memory"),
    ],
)
def test_ports_that_do_not_go_together_are_refused_when_the_graph_loads(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run({tag: [] for tag in inputs}, outputs=outputs)


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ({"ROTATION_DEGREES": 45}, r"the orientation is turned by 45 degrees, but must be a multiple of 90"),
        (
            {"OUTPUT_DIMENSIONS": (4, -1)},
            r"output dimensions of the transformation are \(4, -1\), but must be \(width, height\)",
        ),
        (
            {"OUTPUT_DIMENSIONS": (4,)},
            r"output dimensions of the transformation are \(4,\), but must be \(width, height\)",
        ),
    ],
)
def test_settings_out_of_range_are_refused(sides, message):
    with pytest.raises(GraphRunError, match=message):
        run(side_packets=sides)


@given(
    st.tuples(*[st.integers(1, 12)] * 4),
    st.sampled_from([0, 90, 180, 270]),
    st.sampled_from([ScaleMode.STRETCH, ScaleMode.FIT, ScaleMode.FILL_AND_CROP]),
)
def test_the_promised_size_is_the_size_that_comes_out(sizes, degrees, mode):
    width, height, wanted_width, wanted_height = sizes
    change = Transformation(wanted_width, wanted_height, degrees, mode=mode)

    found = change.apply(np.zeros((height, width, 3), np.uint8))

    assert found.shape[1::-1] == change.size_of(width, height)
    left, top, right, bottom = change.letterbox(width, height)
    assert (left, top) == (right, bottom)
    assert min(left, top) == 0 <= max(left, top) < 0.5
