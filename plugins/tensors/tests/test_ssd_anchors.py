"""SsdAnchorsCalculator: numbers, places and sizes of anchors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import penstock
from penstock.config import CalculatorGraphConfig, read_graph, to_binary
from penstock.errors import GraphConfigError
from penstock.plugins.default_registry import default_registry
from penstock_tensors import Anchor
from penstock_tensors.messages.ssd_anchors_pb2 import SsdAnchorsCalculatorOptions as Options
from penstock_tensors.outputs.ssd_anchors import SsdAnchorsCalculator
from penstock_testing import run_calculator

PALM = {
    "num_layers": 4, "min_scale": 0.1484375, "max_scale": 0.75,
    "input_size_width": 192, "input_size_height": 192,
    "strides": [8, 16, 16, 16], "aspect_ratios": [1.0], "fixed_anchor_size": True,
}  # fmt: skip
#: One cell.
ONE = {
    "num_layers": 1, "min_scale": 0.2, "max_scale": 0.6, "input_size_width": 8, "input_size_height": 8,
    "strides": [8], "aspect_ratios": [1.0, 4.0],
}  # fmt: skip


def made(**options):
    done = run_calculator(SsdAnchorsCalculator, output_side_packets=[0], options=Options(**options))
    found = done.output_side_packets[0]
    found = getattr(found, "payload", found)
    assert all(type(anchor) is Anchor for anchor in found)
    return np.array([(one.x_center, one.y_center, one.w, one.h) for one in found])


@pytest.mark.parametrize(
    ("changed", "count"),
    [
        ({}, 2016),
        ({"input_size_width": 128, "input_size_height": 128}, 896),
        ({"num_layers": 1, "strides": [4], "interpolated_scale_aspect_ratio": 0.0}, 2304),
        (
            {
                "num_layers": 5,
                "strides": [8, 16, 32, 32, 32],
                "input_size_width": 224,
                "input_size_height": 224,
            },
            2254,
        ),
    ],
)
def test_the_models_of_mediapipe_have_as_many_anchors_as_results(changed, count):
    assert len(made(**{**PALM, **changed})) == count


def test_fixed_anchors_have_size_1_and_lie_row_by_row():
    found = made(**PALM)

    assert (found[:, 2:] == 1).all()
    step = np.float32(0.5) / np.float32(24)
    assert found[0].tolist() == found[1].tolist() == [step, step, 1, 1]
    assert found[2, 0] == np.float32(1.5) / np.float32(24)
    assert found[2, 1] == step
    # layers of the same stride are taken together: six anchors a cell
    assert len({tuple(one) for one in found[1152:1158].tolist()}) == 1
    assert found[1158, 0] == np.float32(1.5) / np.float32(12)


def test_sizes_follow_scale_and_ratio_and_one_more_is_between_the_scales():
    assert made(**ONE)[:, 2:] == pytest.approx(
        np.array([(0.4, 0.4), (0.8, 0.2), (math.sqrt(0.4), math.sqrt(0.4))])
    )
    two = {**ONE, "num_layers": 2, "strides": [8, 16], "aspect_ratios": [1.0]}
    assert made(**two)[:, 2] == pytest.approx([0.2, math.sqrt(0.2 * 0.6), 0.6, math.sqrt(0.6)])


def test_the_first_layer_may_have_three_fixed_shapes():
    found = made(**ONE, reduce_boxes_in_lowest_layer=True)

    root = math.sqrt(2)
    assert found[:, 2:] == pytest.approx(
        np.array([(0.1, 0.1), (0.4 * root, 0.4 / root), (0.4 / root, 0.4 * root)])
    )


def test_maps_of_given_sizes_and_sides_that_the_stride_does_not_divide():
    assert len(made(**{**ONE, "input_size_width": 9})) == 2 * 3
    found = made(**ONE, feature_map_width=[2], feature_map_height=[1], anchor_offset_x=0.25)
    assert found[::3, 0].tolist() == [0.125, 0.625]


def test_a_pyramid_has_scales_between_its_levels():
    pyramid = {
        "multiscale_anchor_generation": True, "min_level": 3, "max_level": 4, "strides": [8, 16],
        "input_size_width": 16, "input_size_height": 12, "aspect_ratios": [1.0, 4.0], "scales_per_octave": 2,
    }  # fmt: skip
    found = made(**pyramid, normalize_coordinates=False)

    root = math.sqrt(2)
    assert len(found) == (2 * 2 + 1) * 4
    # 12 rows are no multiple of 8, so the first row is at 0
    assert found[0] == pytest.approx([4, 0, 32, 32])
    assert found[1] == pytest.approx([4, 0, 32 * root, 32 * root])
    assert found[2] == pytest.approx([4, 0, 64, 16])
    assert found[4, :2] == pytest.approx([12, 0])
    assert made(**pyramid)[2] == pytest.approx([4 / 16, 0, 64 / 16, 16 / 12])


def test_fixed_anchors_are_given_as_they_are():
    assert made(fixed_anchors=[Anchor(x_center=0.5, y_center=0.25, w=1, h=2)]).tolist() == [[0.5, 0.25, 1, 2]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"fixed_anchors": [Anchor(x_center=1, y_center=1, w=1, h=1)], "num_layers": 1},
            "beside num_layers, which",
        ),
        ({"num_layers": 1}, "neither strides nor feature_map_height of the anchors is set"),
        ({**PALM, "num_layers": 3}, "strides has 4 numbers, but there are 3 layers"),
        ({**ONE, "strides": [0]}, r"strides is \[0\], but must be 1 or more"),
        ({**ONE, "feature_map_height": [1]}, "feature_map_width has 0 numbers, but there are 1 layers"),
        ({"num_layers": 1, "feature_map_height": [1], "feature_map_width": [1]}, "no strides of the"),
        ({**ONE, "input_size_width": 0}, "input_size_width is 0, but must be 1 or more"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message):
    with pytest.raises(GraphConfigError, match=message):
        made(**options)


def test_a_graph_with_an_incomplete_anchor_can_be_read_and_written():
    text = (
        'node { calculator: "SsdAnchorsCalculator" output_side_packet: "a" '
        "options { [penstock.SsdAnchorsCalculatorOptions.ext] { fixed_anchors { x_center: 1 } } } }"
    )
    registry = default_registry()

    config = read_graph(text, registry)

    assert read_graph_bytes(to_binary(config)) == config
    assert penstock.CalculatorGraph(config).binary_config


def read_graph_bytes(data):
    found = CalculatorGraphConfig()
    found.MergeFromString(data)
    return found


@pytest.mark.parametrize(
    ("file", "options"),
    [
        pytest.param(
            "anchor_golden_file_0.txt",
            {
                "num_layers": 5, "min_scale": 0.1171875, "max_scale": 0.75,
                "input_size_height": 256, "input_size_width": 256,
                "anchor_offset_x": 0.5, "anchor_offset_y": 0.5,
                "strides": [8, 16, 32, 32, 32], "aspect_ratios": [1.0], "fixed_anchor_size": True,
            },
            marks=pytest.mark.reference(
                "calculators/tflite/ssd_anchors_calculator_test.cc",
                "SsdAnchorCalculatorTest.FaceDetectionConfig",
            ),
        ),
        pytest.param(
            "anchor_golden_file_1.txt",
            {
                "num_layers": 6, "min_scale": 0.2, "max_scale": 0.95,
                "input_size_height": 300, "input_size_width": 300,
                "anchor_offset_x": 0.5, "anchor_offset_y": 0.5,
                "strides": [16, 32, 64, 128, 256, 512], "aspect_ratios": [1.0, 2.0, 0.5, 3.0, 0.3333],
                "reduce_boxes_in_lowest_layer": True,
            },
            marks=pytest.mark.reference(
                "calculators/tflite/ssd_anchors_calculator_test.cc",
                "SsdAnchorCalculatorTest.MobileSSDConfig",
            ),
        ),
        pytest.param(
            "anchor_golden_file_2.txt",
            {
                "input_size_height": 640, "input_size_width": 640,
                "strides": [64, 128], "aspect_ratios": [1.0, 2.0, 0.5],
                "multiscale_anchor_generation": True, "min_level": 6, "max_level": 7,
                "anchor_scale": 3.0, "scales_per_octave": 3,
            },
            marks=pytest.mark.reference(
                "calculators/tflite/ssd_anchors_calculator_test.cc",
                "SsdAnchorCalculatorTest.RetinaNetSSDConfig",
            ),
        ),
    ],
)  # fmt: skip
def test_anchors_are_as_in_the_references_files(reference_file, file, options):
    lines = reference_file(f"calculators/tflite/{file}").read_text().splitlines()

    found = made(**options)

    np.testing.assert_allclose(found, [list(map(float, line.split())) for line in lines], rtol=0, atol=1e-5)
