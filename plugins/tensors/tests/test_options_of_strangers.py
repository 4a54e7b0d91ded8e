"""Numbers of options that would take the machine's memory or time are refused before any is taken."""

from __future__ import annotations

import time

import numpy as np
import pytest

import penstock
from penstock.errors import GraphRunError, StatusCode
from penstock_formats import Image, ImageFrame

#: Far above what a refusal takes (10 ms).
SOON_S = 5.0
SSD = "min_scale: 0.1 max_scale: 0.9 aspect_ratios: 1"
ONE = "num_layers: 1 strides: 1"
SCALES = "multiscale_anchor_generation: true min_level: 1 max_level: 2 strides: 2 strides: 4 num_layers: 2"
CASES = {
    "a large input": ("SsdAnchors", f"input_size_width: 20000 input_size_height: 20000 {ONE} {SSD}"),
    "the largest input": (
        "SsdAnchors",
        f"input_size_width: 2147483647 input_size_height: 2147483647 {ONE} {SSD}",
    ),
    "many scales": (
        "SsdAnchors",
        f"input_size_width: 64 input_size_height: 64 {SCALES} scales_per_octave: 2147483647 {SSD}",
    ),
    "a large tensor": (
        "ImageToTensor",
        "output_tensor_width: 16000 output_tensor_height: 16000 output_tensor_float_range { min: 0 max: 1 }",
    ),
    "many classes": ("TensorsToDetections", "num_classes: 2147483647 num_boxes: 2 num_coords: 4"),
    "many boxes": ("TensorsToDetections", "num_classes: 1 num_boxes: 2147483647 num_coords: 4"),
}
PORTS = {
    "SsdAnchors": 'output_side_packet: "x"',
    "ImageToTensor": 'input_stream: "IMAGE:in" output_stream: "TENSORS:o"',
    "TensorsToDetections": 'input_stream: "TENSORS:in" output_stream: "DETECTIONS:o"',
}


@pytest.mark.parametrize("case", CASES)
def test_a_number_that_asks_for_too_much_is_refused(case):
    kind, options = CASES[case]
    text = f"""input_stream: "in" node {{ calculator: "{kind}Calculator" {PORTS[kind]}
        options {{ [penstock.{kind}CalculatorOptions.ext] {{ {options} }} }} }}"""
    begin = time.process_time()
    graph = penstock.CalculatorGraph(text)
    graph.start_run()
    with pytest.raises(GraphRunError, match="but at most") as caught:
        graph.wait_until_idle(30)
    assert caught.value.code is StatusCode.RESOURCE_EXHAUSTED
    assert time.process_time() - begin < SOON_S


def test_classes_that_are_allowed_are_those_of_the_model_in_order_and_once():
    from penstock_tensors.messages.tensors_to_detections_pb2 import TensorsToDetectionsCalculatorOptions
    from penstock_tensors.outputs.tensors_to_detections import _allowed_classes

    options = TensorsToDetectionsCalculatorOptions(num_classes=5, allow_classes=[7, 3, 1, 3])
    assert _allowed_classes(options, ()).tolist() == [1, 3]
    assert _allowed_classes(TensorsToDetectionsCalculatorOptions(num_classes=4), (2, 9)).tolist() == [0, 1, 3]


def test_a_size_that_comes_with_the_image_is_taken():
    text = """input_stream: "in" node { calculator: "ImageToTensorCalculator"
        input_stream: "IMAGE:in" output_stream: "TENSORS:o" options {
        [penstock.ImageToTensorCalculatorOptions.ext] { output_tensor_float_range { min: 0 max: 1 } } } }"""
    with penstock.CalculatorGraph(text) as graph:
        graph.start_run()
        frame = Image(ImageFrame(np.zeros((6, 8, 3), np.uint8)))
        graph.add_packet_to_input_stream("in", penstock.Packet(frame, 0))
