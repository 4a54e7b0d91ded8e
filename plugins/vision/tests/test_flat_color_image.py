"""FlatColorImageCalculator: one colour, of a size that is set or comes."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import CalculatorGraph
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import Color, Image, ImageFormat, ImageFrame
from penstock_testing import run_calculator
from penstock_vision.images.flat_color_image import FlatColorImageCalculator
from penstock_vision.messages.flat_color_image_pb2 import FlatColorImageCalculatorOptions

RED = {"r": 300, "g": -1, "b": 7}


def images(feeds, **options):
    run = run_calculator(
        FlatColorImageCalculator, feeds, outputs=["IMAGE"], options=FlatColorImageCalculatorOptions(**options)
    )
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs["IMAGE"]]


def image(width, height):
    return Image(ImageFrame(np.zeros((height, width), np.uint8)))


def test_images_have_the_size_of_those_that_come_and_colours_are_cut():
    ((stamp, found),) = images({"IMAGE": [(3, image(5, 2))]}, color=RED)

    assert (stamp, found.format) == (3, ImageFormat.SRGB)
    assert np.array_equal(found.array, np.full((2, 5, 3), (255, 0, 7), np.uint8))


def test_colours_may_come_and_the_size_may_be_set():
    feeds = {"COLOR": [(1, Color(r=1, g=2, b=3)), (2, Color(r=4, g=5, b=6))]}

    found = images(feeds, output_width=3, output_height=2)

    assert [one.array[1, 2].tolist() for _, one in found] == [[1, 2, 3], [4, 5, 6]]


def test_both_come_together():
    feeds = {"IMAGE": [(1, image(1, 1)), (2, image(2, 2))], "COLOR": [(2, Color(r=9)), (3, Color())]}

    assert [stamp for stamp, _ in images(feeds)] == [2]


def test_a_side_packet_is_made_at_once():
    graph = CalculatorGraph("""
        node {
          calculator: "FlatColorImageCalculator" output_side_packet: "IMAGE:blank"
          options {
            [penstock.FlatColorImageCalculatorOptions.ext] {
              output_width: 4 output_height: 3 color { g: 9 }
            }
          }
        }
    """)
    graph.start_run()
    graph.close(60)

    assert graph.get_output_side_packet("blank").payload.array.tolist() == [[[0, 9, 0]] * 4] * 3


@pytest.mark.parametrize(
    ("tags", "options", "message"),
    [
        ([], {"color": RED}, "neither output_width and output_height nor the input IMAGE; exactly one"),
        (["IMAGE"], {"color": RED, "output_width": 1}, "output_width and output_height and the input IMAGE"),
        (["IMAGE"], {}, "neither color nor the input COLOR"),
        (["IMAGE", "COLOR"], {"color": RED}, "color and the input COLOR"),
    ],
)
def test_size_and_colour_come_in_one_way_each(tags, options, message):
    with pytest.raises(GraphConfigError, match=message):
        images({tag: [] for tag in tags}, **options)


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"output_width": 1}, "output_height 0, but both must be 1 or more"),
        ({"output_width": 2**15, "output_height": 2**15}, "a frame of 32768x32768 has"),
    ],
)
def test_sizes_that_no_image_has_are_refused(size, message):
    with pytest.raises(GraphRunError, match=message):
        images({"COLOR": []}, **size)


def test_a_side_packet_needs_everything_set():
    with pytest.raises(
        GraphConfigError,
        match="the flat image at the output side packet IMAGE is made before any packet comes",
    ):
        CalculatorGraph("""
            input_stream: "image"
            node {
              calculator: "FlatColorImageCalculator" input_stream: "IMAGE:image"
              output_side_packet: "IMAGE:blank"
              options { [penstock.FlatColorImageCalculatorOptions.ext] { color {} } }
            }
        """)


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------

SHADE = {"r": 100, "g": 200, "b": 255}


@pytest.mark.reference(
    "calculators/util/flat_color_image_calculator_test.cc",
    "FlatColorImageCalculatorTest.SpecifyColorThroughOptions",
    "FlatColorImageCalculatorTest.SpecifyDimensionThroughOptions",
)
@pytest.mark.parametrize(
    ("tag", "payload", "options", "size", "shade"),
    [
        ("IMAGE", image(256, 256), {"color": SHADE}, (256, 256), [100, 200, 255]),
        ("COLOR", Color(r=0, g=5, b=0), {"output_width": 7, "output_height": 13}, (7, 13), [0, 5, 0]),
    ],
)
def test_each_packet_gives_an_image(tag, payload, options, size, shade):
    found = images({tag: [(at, payload) for at in range(3)]}, **options)

    assert [stamp for stamp, _ in found] == [0, 1, 2]
    for _, one in found:
        assert (one.width, one.height) == size
        assert one.array[0, 0].tolist() == shade


@pytest.mark.reference(
    "calculators/util/flat_color_image_calculator_test.cc",
    "FlatColorImageCalculatorTest.ProducesOutputSidePacket",
)
def test_a_side_packet_of_one_pixel():
    run = run_calculator(
        FlatColorImageCalculator,
        output_side_packets=["IMAGE"],
        options=FlatColorImageCalculatorOptions(output_width=1, output_height=1, color=SHADE),
    )

    assert run.output_side_packets["IMAGE"].array.tolist() == [[[100, 200, 255]]]


SMALL, LARGER = {"output_width": 1, "output_height": 1}, {"output_width": 7, "output_height": 13}


@pytest.mark.reference(
    "calculators/util/flat_color_image_calculator_test.cc",
    "FlatColorImageCalculatorTest.FailureMissingDimension",
    "FlatColorImageCalculatorTest.FailureMissingColor",
    "FlatColorImageCalculatorTest.FailureDuplicateDimension",
    "FlatColorImageCalculatorTest.FailureDuplicateColor",
    "FlatColorImageCalculatorTest.FailureDuplicateOutputs",
    "FlatColorImageCalculatorTest.FailureSettingInputImageOnOutputSidePacket",
)
@pytest.mark.parametrize(
    ("tags", "outputs", "side_packets", "options", "message"),
    [
        (["COLOR"], ["IMAGE"], [], {}, "neither output_width and output_height nor the input IMAGE"),
        (["IMAGE"], ["IMAGE"], [], {}, "neither color nor the input COLOR"),
        (["IMAGE", "COLOR"], ["IMAGE"], [], LARGER, "output_width and output_height and the input IMAGE"),
        (["IMAGE", "COLOR"], ["IMAGE"], [], {"color": SHADE}, "color and the input COLOR"),
        ([], ["IMAGE"], ["IMAGE"], {**SMALL, "color": SHADE}, "IMAGE either as an output or as an output"),
        (["IMAGE"], [], ["IMAGE"], {"color": SHADE}, "IMAGE is made before any packet comes"),
    ],
)
def test_ports_and_options_that_do_not_fit_are_refused(tags, outputs, side_packets, options, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(
            FlatColorImageCalculator,
            {tag: [] for tag in tags},
            outputs=outputs,
            output_side_packets=side_packets,
            options=FlatColorImageCalculatorOptions(**options),
        )
