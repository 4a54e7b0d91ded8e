"""GlScalerCalculator: sizes, turns, flips, modes, padding, and which option wins."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFormat, VideoHeader
from penstock_formats.messages.scale_mode_pb2 import ScaleMode
from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.calculators.scaler import GlScalerCalculator
from penstock_gpu.formats import GpuBufferFormat
from penstock_gpu.messages.scaler_pb2 import GlScalerCalculatorOptions as Options

pytestmark = pytest.mark.heavy

#: Levels by which linear interpolation may differ from the exact value: drivers weigh with 8 bits.
LINEAR = 2
FIT, FILL, STRETCH = ScaleMode.FIT, ScaleMode.FILL_AND_CROP, ScaleMode.STRETCH
PADDING = ("TOP_BOTTOM_PADDING", "LEFT_RIGHT_PADDING")


def scaled(run, pixels, *, side_packets=None, **options):
    return run.image(
        GlScalerCalculator, {"VIDEO": pixels}, options=Options(**options), side_packets=side_packets
    )


def linear(pixels, width, height):
    """Return the exact value of each pixel of a stretched image, one after the other, as float64."""
    rows, columns = pixels.shape[:2]
    found = np.zeros((height, width, pixels.shape[2]))
    for y in range(height):
        for x in range(width):
            at_x, at_y = (x + 0.5) / width * columns - 0.5, (y + 0.5) / height * rows - 0.5
            left, top = int(np.floor(at_x)), int(np.floor(at_y))
            for row, part_y in ((top, 1 - (at_y - top)), (top + 1, at_y - top)):
                for column, part_x in ((left, 1 - (at_x - left)), (left + 1, at_x - left)):
                    one = pixels[min(max(row, 0), rows - 1), min(max(column, 0), columns - 1)]
                    found[y, x] += part_x * part_y * one
    return found


@pytest.fixture
def pixels(random):
    return random.integers(0, 256, (6, 10, 4), np.uint8)


def test_without_options_the_same_pixels_come_out(run, pixels):
    assert np.array_equal(scaled(run, pixels), pixels)


@pytest.mark.parametrize("degrees", [0, 90, 180, 270, 360, -90, 450])
@pytest.mark.parametrize("horizontal", [False, True])
@pytest.mark.parametrize("vertical", [False, True])
def test_turns_go_against_the_clock_and_flips_come_after_them(run, pixels, degrees, horizontal, vertical):
    found = scaled(run, pixels, rotation=degrees, flip_horizontal=horizontal, flip_vertical=vertical)

    want = np.rot90(pixels, degrees // 90)
    want = want[:, ::-1] if horizontal else want
    want = want[::-1] if vertical else want
    assert np.array_equal(found, want)


@pytest.mark.parametrize(("width", "height"), [(10, 6), (20, 12), (7, 5), (3, 11), (1, 1), (31, 6)])
def test_stretching_is_linear_between_the_pixels_around(run, pixels, width, height):
    found = scaled(run, pixels, output_width=width, output_height=height)

    assert np.abs(found - linear(pixels, width, height)).max() <= LINEAR


def test_an_image_of_one_pixel_can_be_stretched(run):
    found = scaled(run, np.uint8([[[1, 2, 3, 4]]]), output_width=5, output_height=3)

    assert np.array_equal(found, np.full((3, 5, 4), (1, 2, 3, 4)))


@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_nearest_makes_no_value_that_was_not_there(run, pixels, degrees):
    turned = np.rot90(pixels, degrees // 90)

    found = scaled(
        run,
        pixels,
        output_width=3 * turned.shape[1],
        output_height=4 * turned.shape[0],
        rotation=degrees,
        use_nearest_neighbor_interpolation=True,
    )

    assert np.array_equal(found, turned.repeat(4, 0).repeat(3, 1))


def test_a_place_on_the_border_of_two_pixels_takes_the_second(run, pixels):
    found = scaled(run, pixels, output_width=5, output_height=3, use_nearest_neighbor_interpolation=True)

    assert np.array_equal(found, pixels[1::2, 1::2])


@pytest.mark.parametrize(
    ("width", "height", "scale", "want"),
    [
        (10, 6, 2.0, (20, 12)),
        (10, 6, 1.0, (12, 8)),
        (10, 6, 0.5, (4, 4)),
        (3, 1, 0.1, (4, 4)),
        (9, 5, 1.0, (8, 4)),
    ],
)
def test_a_scale_rounds_sides_to_multiples_of_four(run, width, height, scale, want):
    found = scaled(run, np.zeros((height, width, 4), np.uint8), output_scale=scale)

    assert (found.shape[1], found.shape[0]) == want


def test_a_turned_image_has_its_scaled_sides_swapped(run, pixels):
    assert scaled(run, pixels, output_scale=2, rotation=90).shape == (20, 12, 4)


def test_a_size_goes_before_a_scale_and_one_side_alone_does_not_count(run, pixels):
    assert scaled(run, pixels, output_width=7, output_height=3, output_scale=2).shape == (3, 7, 4)
    assert np.array_equal(scaled(run, pixels, output_width=7), pixels)


def test_fitting_keeps_the_proportions_and_leaves_the_rest_transparent_black(run, pixels):
    found = scaled(
        run,
        pixels,
        output_width=20,
        output_height=40,
        scale_mode=FIT,
        use_nearest_neighbor_interpolation=True,
    )

    assert not found[:14].any()
    assert not found[26:].any()
    assert np.array_equal(found[14:26], pixels.repeat(2, 0).repeat(2, 1))


@pytest.mark.parametrize("flipped", [False, True])
def test_half_a_pixel_of_padding_goes_to_the_end(run, pixels, flipped):
    # the image spans rows 0.5 to 6.5, of which the middles of rows 0 to 5 lie inside
    found = scaled(run, pixels, output_width=10, output_height=7, scale_mode=FIT, flip_vertical=flipped)

    assert found[:6].any(axis=(1, 2)).all()
    assert not found[6].any()


def test_half_a_pixel_of_padding_puts_each_pixel_between_two(run, pixels):
    found = scaled(run, pixels, output_width=10, output_height=7, scale_mode=FIT)

    exact = pixels.astype(float)
    assert np.abs(found[0] - exact[0]).max() <= LINEAR
    assert np.abs(found[1:6] - (exact[:-1] + exact[1:]) / 2).max() <= LINEAR


def test_fitting_into_whole_pixels_without_scaling_is_exact(run, pixels):
    found = scaled(run, pixels, output_width=14, output_height=6, scale_mode=FIT)

    assert np.array_equal(found[:, 2:12], pixels)
    assert not found[:, [0, 1, 12, 13]].any()


@pytest.mark.parametrize("degrees", [0, 90])
def test_filling_covers_all_and_cuts_off_what_sticks_out(run, pixels, degrees):
    found = scaled(run, pixels, output_width=6, output_height=6, scale_mode=FILL, rotation=degrees)

    turned = np.rot90(pixels, degrees // 90)
    assert np.array_equal(found, turned[:, 2:8] if degrees == 0 else turned[2:8])


def test_filling_scales_by_the_larger_factor(run, pixels):
    found = scaled(run, pixels, output_width=12, output_height=12, scale_mode=FILL)

    assert np.abs(found - linear(pixels, 20, 12)[:, 4:16]).max() <= LINEAR


@pytest.mark.parametrize(
    ("size", "asked", "degrees", "mode", "want"),
    [
        ((10, 10), (20, 40), 0, FIT, (0.25, 0.0)),
        ((10, 10), (6, 5), 0, FIT, (0.0, 1 / 12)),
        ((10, 5), (10, 10), 0, FIT, (0.25, 0.0)),
        ((10, 5), (10, 10), 90, FIT, (0.0, 0.25)),
        ((10, 5), (20, 10), 180, FIT, (0.0, 0.0)),
        ((10, 5), (10, 10), 0, STRETCH, (0.0, 0.0)),
        ((10, 5), (10, 10), 0, FILL, (0.0, 0.0)),
    ],
)
def test_the_padding_is_told_as_a_part_of_the_result(run, size, asked, degrees, mode, want):  # noqa: PLR0913, PLR0917  # each is one thing that differs
    result = run(
        GlScalerCalculator,
        {"VIDEO": [(4, np.zeros((size[1], size[0], 4), np.uint8))]},
        ("VIDEO", *PADDING),
        options=Options(output_width=asked[0], output_height=asked[1], rotation=degrees, scale_mode=mode),
    )

    assert [result.outputs[tag][0].payload for tag in PADDING] == pytest.approx(want)
    assert [int(result.outputs[tag][0].timestamp) for tag in PADDING] == [4, 4]


def test_either_padding_may_be_asked_for_alone(run, pixels):
    options = Options(output_width=10, output_height=12, scale_mode=FIT)

    result = run(GlScalerCalculator, {"VIDEO": [(4, pixels)]}, ("VIDEO", PADDING[0]), options=options)

    assert result.outputs[PADDING[0]][0].payload == pytest.approx(0.25)


def test_streams_win_over_side_packets_and_these_over_options(run, pixels):
    sides = {"OUTPUT_DIMENSIONS": (4, 4), "ROTATION": 180}
    options = Options(output_width=9, output_height=9, rotation=90)

    by_side = scaled(run, pixels, side_packets=sides, output_width=9, output_height=9, rotation=90)
    by_stream = run(
        GlScalerCalculator,
        {
            "VIDEO": [(t, pixels) for t in (1, 2, 3, 4)],
            "OUTPUT_DIMENSIONS": [(1, (10, 6)), (3, [6, 10]), (4, (6, 10))],
            "ROTATION": [(3, -90)],
        },
        options=options,
        side_packets=sides,
    ).outputs["VIDEO"]

    assert np.abs(by_side - linear(np.rot90(pixels, 2), 4, 4)).max() <= LINEAR
    assert [int(packet.timestamp) for packet in by_stream] == [1, 3, 4]
    assert np.array_equal(by_stream[0].payload.array(), np.rot90(pixels, 2))
    assert np.array_equal(by_stream[1].payload.array(), np.rot90(pixels, 3))
    assert np.array_equal(by_stream[2].payload.array(), np.rot90(pixels, 3))


def test_a_size_without_an_image_gives_nothing(run, pixels):
    result = run(
        GlScalerCalculator,
        {"VIDEO": [(2, pixels)], "OUTPUT_DIMENSIONS": [(1, (4, 4)), (2, (8, 8))]},
    )

    assert [int(packet.timestamp) for packet in result.outputs["VIDEO"]] == [2]


@pytest.mark.parametrize("wrapped", [False, True])
def test_side_packet_options_are_merged_into_the_options(run, pixels, wrapped):
    given = Options(output_width=5)
    if wrapped:
        inside = CalculatorOptions()
        inside.Extensions[Options.ext].CopyFrom(given)
        given = inside

    found = scaled(run, pixels, side_packets={"OPTIONS": given}, output_width=9, output_height=3)

    assert found.shape == (3, 5, 4)


@pytest.mark.parametrize(
    ("kind", "dtype", "channels"),
    [
        (GpuBufferFormat.RGB24, np.uint8, 3),
        (GpuBufferFormat.RGBA32, np.uint8, 4),
        (GpuBufferFormat.ONE_COMPONENT8, np.uint8, 1),
        (GpuBufferFormat.ONE_COMPONENT8_RED, np.uint8, 1),
        (GpuBufferFormat.ONE_COMPONENT8_ALPHA, np.uint8, 1),
        (GpuBufferFormat.TWO_COMPONENT8, np.uint8, 2),
        (GpuBufferFormat.GRAY_FLOAT32, np.float32, 1),
        (GpuBufferFormat.TWO_COMPONENT_FLOAT32, np.float32, 2),
        (GpuBufferFormat.RGBA_FLOAT128, np.float32, 4),
        (GpuBufferFormat.RGBA_HALF64, np.float16, 4),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_format_of_the_input_can_be_kept(run, random, kind, dtype, channels):
    shape = (5, 7) if channels == 1 else (5, 7, channels)
    pixels = random.integers(0, 99, shape).astype(dtype)

    result = run(
        GlScalerCalculator,
        {"VIDEO": [(1, GpuBuffer.of_array(pixels, kind))]},
        options=Options(use_input_format_for_output=True, rotation=90),
    )

    buffer = result.outputs["VIDEO"][0].payload
    assert buffer.format is kind
    assert np.array_equal(buffer.array(), np.rot90(pixels))


def test_without_that_an_image_of_another_format_becomes_rgba(run, random):
    pixels = random.integers(0, 256, (5, 7), np.uint8)

    found = scaled(run, pixels)

    assert np.array_equal(found, np.dstack([pixels, pixels, pixels, np.full((5, 7), 255, np.uint8)]))


@pytest.mark.parametrize("streams", [False, True])
def test_a_header_gets_the_new_size_unless_that_may_change(run, pixels, streams):
    inputs = {"VIDEO": [(1, pixels)]}
    if streams:
        inputs["ROTATION"] = [(1, 0)]

    result = run(
        GlScalerCalculator,
        inputs,
        headers={"VIDEO": VideoHeader(ImageFormat.SRGB, 10, 6, 25.0)},
        options=Options(rotation=90),
    )

    size = (0, 0) if streams else (6, 10)
    assert result.headers["VIDEO"] == VideoHeader(ImageFormat.SRGBA, *size, 25.0)


def test_ports_may_be_untagged(run, pixels):
    result = run(GlScalerCalculator, {0: [(1, pixels)]}, (0,), options=Options(rotation=180))

    assert np.array_equal(result.outputs[0][0].payload.array(), np.rot90(pixels, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rotation": 45}, r"rotation of the placement is 45 degrees, but must be a multiple of 90"),
        (
            {"output_width": -1, "output_height": 4},
            r"output dimensions of the placement are \(-1, 4\), but must be",
        ),
        ({"output_scale": 0}, r"output_scale of the scaler is 0, but must be above 0 and finite"),
        ({"output_scale": float("inf")}, r"output_scale of the scaler is inf"),
    ],
)
def test_options_that_cannot_be_are_refused_in_open(run, pixels, options, message):
    with pytest.raises(GraphRunError, match=rf"under_test.*open\(\) failed.*{message}"):
        scaled(run, pixels, **options)


@pytest.mark.parametrize(
    ("tag", "payload", "message"),
    [("ROTATION", 1, "multiple of 90"), ("OUTPUT_DIMENSIONS", (4.0, 4), r"are \(4.0, 4\), but must be")],
)
def test_streams_that_cannot_be_are_refused(run, pixels, tag, payload, message):
    with pytest.raises(GraphRunError, match=message):
        run(GlScalerCalculator, {"VIDEO": [(1, pixels)], tag: [(1, payload)]})


def test_a_size_above_the_limit_of_gl_is_refused_and_the_next_run_works(run_gl, pixels):
    with pytest.raises(GraphRunError, match="under_test"):
        scaled(run_gl, pixels, output_width=10_000_000, output_height=1)

    assert np.array_equal(scaled(run_gl, pixels), pixels)


def test_image_tags_are_not_taken(run, pixels):
    with pytest.raises(GraphConfigError, match="IMAGE"):
        run(GlScalerCalculator, {"IMAGE": [(1, pixels)]})
