"""The TfLite... calculators: the same machinery behind older names, ports and options."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock.errors import GraphConfigError, GraphRunError
from penstock_formats import ImageFrame, Tensor
from penstock_tensors import Anchor, OpResolver
from penstock_tensors.messages import inference_pb2 as new_inference
from penstock_tensors.messages import tensors_to_classification_pb2 as new_classification
from penstock_tensors.messages import tensors_to_detections_pb2 as new_detections
from penstock_tensors.messages import tensors_to_landmarks_pb2 as new_landmarks
from penstock_tensors.messages import tflite_inference_pb2 as old_inference
from penstock_tensors.messages import tflite_tensors_to_classification_pb2 as old_classification
from penstock_tensors.messages import tflite_tensors_to_detections_pb2 as old_detections
from penstock_tensors.messages import tflite_tensors_to_landmarks_pb2 as old_landmarks
from penstock_tensors.outputs.tensors_to_classification import TensorsToClassificationCalculator
from penstock_tensors.outputs.tensors_to_detections import TensorsToDetectionsCalculator
from penstock_tensors.outputs.tensors_to_landmarks import TensorsToLandmarksCalculator
from penstock_tensors.outputs.tflite_tensors_to_classification import TfLiteTensorsToClassificationCalculator
from penstock_tensors.outputs.tflite_tensors_to_detections import TfLiteTensorsToDetectionsCalculator
from penstock_tensors.outputs.tflite_tensors_to_floats import TfLiteTensorsToFloatsCalculator
from penstock_tensors.outputs.tflite_tensors_to_landmarks import TfLiteTensorsToLandmarksCalculator
from penstock_tensors.same_fields import as_message
from penstock_testing import run_calculator

ONES = np.ones((1, 4), np.float32)
RNG = np.random.default_rng(11)
#: Older options, newer options, fields that only the older ones have.
OPTIONS = [
    (
        old_inference.TfLiteInferenceCalculatorOptions,
        new_inference.InferenceCalculatorOptions,
        {"try_mmap_model"},
    ),
    (
        old_classification.TfLiteTensorsToClassificationCalculatorOptions,
        new_classification.TensorsToClassificationCalculatorOptions,
        set(),
    ),
    (
        old_detections.TfLiteTensorsToDetectionsCalculatorOptions,
        new_detections.TensorsToDetectionsCalculatorOptions,
        set(),
    ),
    (
        old_landmarks.TfLiteTensorsToLandmarksCalculatorOptions,
        new_landmarks.TensorsToLandmarksCalculatorOptions,
        set(),
    ),
]


def fields(descriptor):
    """Return name → (number, type, default) of all fields, those of messages inside too."""
    found = {}
    for field in descriptor.fields:
        found[field.name] = (field.number, field.type, field.default_value)
        if field.message_type is not None:
            found |= {f"{field.name}.{name}": facts for name, facts in fields(field.message_type).items()}
    return found


@pytest.mark.parametrize(("old", "new", "only_old"), OPTIONS)
def test_older_options_have_the_numbers_types_and_defaults_of_the_newer_ones(old, new, only_old):
    older, newer = fields(old.DESCRIPTOR), fields(new.DESCRIPTOR)

    assert {name: facts for name, facts in older.items() if newer.get(name) != facts}.keys() == only_old


def test_what_the_newer_options_do_not_know_is_left_out():
    given = old_inference.TfLiteInferenceCalculatorOptions(model_path="a", try_mmap_model=True)

    made = as_message(given, new_inference.InferenceCalculatorOptions)

    assert (
        made.SerializeToString()
        == new_inference.InferenceCalculatorOptions(model_path="a").SerializeToString()
    )


# --- TfLiteInferenceCalculator -----------------------------------------------------------------------


def infer(model, tensors, tags=("TENSORS", "TENSORS"), sides=None, **options):
    given, made = tags
    run = run_calculator(
        "TfLiteInferenceCalculator",  # by its name, since its input policy is of another pack
        {given: [(3, tensors)]},
        outputs=[made],
        side_packets={"MODEL": model, **(sides or {})},
        options=old_inference.TfLiteInferenceCalculatorOptions(**options),
    )
    (packet,) = run.outputs[made]
    assert packet.timestamp == 3
    return [tensor.array.tolist() for tensor in packet.payload]


@pytest.mark.parametrize("given", ["TENSORS", "TENSORS_GPU"])
@pytest.mark.parametrize("made", ["TENSORS", "TENSORS_GPU"])
def test_a_model_runs_whatever_the_tags(doubling, double, given, made):
    assert infer(double, [Tensor(ONES)], (given, made)) == [[[2, 2, 2, 2]], [[0.5] * 4]]


@pytest.mark.parametrize(
    ("options", "uses_xnnpack", "threads"),
    [
        ({}, False, 1),
        ({"cpu_num_thread": 3}, False, 3),
        ({"delegate": {"xnnpack": {"num_threads": 4}}}, True, 4),
        ({"delegate": {"gpu": {}}, "use_gpu": True}, False, 1),
    ],
)
def test_the_options_decide_on_kernels_and_threads(doubling, double, options, uses_xnnpack, threads):
    infer(double, [Tensor(ONES)], **options)

    assert (doubling.settings.uses_xnnpack, doubling.settings.threads) == (uses_xnnpack, threads)


def test_custom_operations_come_as_a_side_packet(doubling, double):
    infer(double, [Tensor(ONES)], sides={"CUSTOM_OP_RESOLVER": OpResolver({})})

    assert doubling.settings.operations.find("TransformLandmarks", 2) is None


def test_a_path_and_a_model_are_one_too_many(doubling, double):
    with pytest.raises(GraphConfigError, match="both model_path and MODEL"):
        infer(double, [Tensor(ONES)], model_path="x.tflite")


def test_ports_of_the_newer_one_are_refused(doubling, double):
    with pytest.raises(GraphConfigError, match="none of the output ports TENSORS, TENSORS_GPU, but exactly"):
        infer(double, [Tensor(ONES)], ("TENSORS", "TENSOR"))


def test_an_image_goes_through_converter_and_model(doubling, double):
    """A graph as older ones are written: the shape of the converter's tensor is not the model's."""
    graph, seen = (
        penstock.CalculatorGraph("""
            input_stream: "in" output_stream: "out" input_side_packet: "model"
            node {
              calculator: "TfLiteConverterCalculator" input_stream: "IMAGE:in" output_stream: "TENSORS:image"
              options { [mediapipe.TfLiteConverterCalculatorOptions.ext] { zero_center: false } }
            }
            node {
              calculator: "TfLiteInferenceCalculator" input_stream: "TENSORS:image"
              input_side_packet: "MODEL:model" output_stream: "TENSORS:tensors"
            }
            node {
              calculator: "TfLiteTensorsToFloatsCalculator" input_stream: "TENSORS:tensors"
              output_stream: "FLOATS:out"
            }
        """),
        [],
    )
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run({"model": double})
    frame = ImageFrame(np.array([[255, 0], [51, 102]], np.uint8))
    graph.add_packet_to_input_stream("in", penstock.Packet(frame, 1))
    graph.close(60)

    assert seen == [pytest.approx([2, 0, 0.4, 0.8], abs=1e-6)]


# --- decoders ----------------------------------------------------------------------------------------


def decoded(calculator, feeds, output, options, sides=None):
    inputs = feeds if isinstance(feeds, dict) else {"TENSORS": [(3, feeds)]}
    run = run_calculator(calculator, inputs, outputs=[output], side_packets=sides or {}, options=options)
    (packet,) = run.outputs[output]
    return packet.payload


def test_detections_equal_those_of_the_newer_calculator():
    options = {
        "num_classes": 3,
        "num_boxes": 6,
        "num_coords": 8,
        "num_keypoints": 2,
        "keypoint_coord_offset": 4,
        "x_scale": 9,
        "y_scale": 8,
        "w_scale": 7,
        "h_scale": 6,
        "apply_exponential_on_box_size": True,
        "reverse_output_order": True,
        "ignore_classes": [1],
        "sigmoid_score": True,
        "score_clipping_thresh": 2,
        "flip_vertically": True,
        "min_score_thresh": 0.55,
    }
    tensors = [Tensor(RNG.normal(size=(1, 6, n)).astype(np.float32)) for n in (8, 3)]
    anchors = {"ANCHORS": [Anchor(x_center=i / 6, y_center=0.5, w=0.3, h=0.4) for i in range(6)]}
    new = new_detections.TensorsToDetectionsCalculatorOptions(**options)
    old = old_detections.TfLiteTensorsToDetectionsCalculatorOptions(**options)

    expected = decoded(TensorsToDetectionsCalculator, tensors, "DETECTIONS", new, anchors)

    assert 0 < len(expected) < 6
    for tag in ("TENSORS", "TENSORS_GPU"):
        feeds = {tag: [(3, tensors)]}
        found = decoded(TfLiteTensorsToDetectionsCalculator, feeds, "DETECTIONS", old, anchors)
        assert found == expected


def test_detections_of_a_model_that_decodes_are_all_kept_but_for_the_threshold():
    boxes = np.array([[[0, 0, 1, 1], [0.25, 0.5, 0.5, 1], [0, 0, 0.5, 0.5]]], np.float32)
    tensors = [
        Tensor(boxes),
        Tensor(np.array([[7, 0, 1]], np.float32)),
        Tensor(np.array([[0.75, 0.5, 0.25]], np.float32)),
        Tensor(np.array([3], np.float32)),
    ]
    options = {
        "num_classes": 2,
        "num_coords": 4,
        "num_boxes": 3,
        "ignore_classes": [0],
        "min_score_thresh": 0.5,
    }

    found = decoded(
        TfLiteTensorsToDetectionsCalculator,
        tensors,
        "DETECTIONS",
        old_detections.TfLiteTensorsToDetectionsCalculatorOptions(**options),
    )

    assert [(list(one.label_id), list(one.score)) for one in found] == [([7], [0.75]), ([0], [0.5])]
    box = found[1].location_data.relative_bounding_box
    assert [box.xmin, box.ymin, box.width, box.height] == [0.5, 0.25, 0.5, 0.25]
    kept = decoded(
        TensorsToDetectionsCalculator,
        tensors,
        "DETECTIONS",
        new_detections.TensorsToDetectionsCalculatorOptions(**options),
    )
    assert kept == []  # where the newer one leaves out classes


def test_landmarks_equal_those_of_the_newer_calculator():
    options = {
        "num_landmarks": 3,
        "input_image_width": 20,
        "input_image_height": 30,
        "flip_horizontally": True,
        "normalize_z": 0.5,
        "visibility_activation": "SIGMOID",
        "presence_activation": "SIGMOID",
    }
    tensors = [Tensor(RNG.normal(size=(1, 15)).astype(np.float32))]
    new = new_landmarks.TensorsToLandmarksCalculatorOptions(**options)
    old = old_landmarks.TfLiteTensorsToLandmarksCalculatorOptions(**options)

    for output in ("LANDMARKS", "NORM_LANDMARKS"):
        expected = decoded(TensorsToLandmarksCalculator, tensors, output, new)
        assert decoded(TfLiteTensorsToLandmarksCalculator, tensors, output, old) == expected
        assert 0 < expected.landmark[0].visibility < 1


@pytest.mark.parametrize(
    "options", [{}, {"top_k": 2}, {"top_k": 9}, {"min_score_threshold": 0.5}, {"binary_classification": True}]
)
def test_classes_equal_those_of_the_newer_calculator(options):
    count = 1 if "binary_classification" in options else 5
    tensors = [Tensor(RNG.random((1, count)).astype(np.float32))]
    new = new_classification.TensorsToClassificationCalculatorOptions(**options)
    old = old_classification.TfLiteTensorsToClassificationCalculatorOptions(**options)

    expected = decoded(TensorsToClassificationCalculator, tensors, "CLASSIFICATIONS", new)

    assert expected.classification
    assert decoded(TfLiteTensorsToClassificationCalculator, tensors, "CLASSIFICATIONS", old) == expected


def test_floats_leave_by_one_output_or_both():
    run = run_calculator(
        TfLiteTensorsToFloatsCalculator,
        {"TENSORS": [(3, [Tensor(np.array([[0.1]], np.float32))])]},
        outputs=["FLOAT", "FLOATS"],
    )

    number = float(np.float32(0.1))
    assert [run.outputs[tag][0].payload for tag in ("FLOAT", "FLOATS")] == [number, [number]]


def test_several_numbers_are_no_single_one_and_an_output_is_needed():
    feeds = {"TENSORS": [(3, [Tensor(ONES)])]}
    with pytest.raises(GraphRunError, match="a tensor of 4 elements, but FLOAT takes one"):
        run_calculator(TfLiteTensorsToFloatsCalculator, feeds, outputs=["FLOAT"])
    with pytest.raises(
        GraphConfigError,
        match="of a TfLite tensor's floats connect FLOAT or FLOATS; neither output is connected",
    ):
        run_calculator(TfLiteTensorsToFloatsCalculator, feeds, outputs=[])
