"""Nodes that functions of MediaPipe's builder add: Penstock's builder gives the same configs, and they load.

MediaPipe has a C++ function for each, such as `Concatenate(streams, graph)`; here a node is added by its
calculator's name. Streams have the names that MediaPipe gives.
"""

from __future__ import annotations

from typing import Final

import pytest

from penstock import CalculatorGraph
from penstock.config import read_graph
from penstock.packs import default_registry
from penstock_builder import Graph

KEYPOINTS: Final = {
    "rotation_vector_start_keypoint_index": 0,
    "rotation_vector_end_keypoint_index": 100,
    "rotation_vector_target_angle_degrees": 200,
}
#: Calculators that use the options of another one.
OPTIONS: Final = {
    "AlignmentPointsRectsCalculator": "DetectionsToRectsCalculatorOptions",
    "MultiLandmarksSmoothingCalculator": "LandmarksSmoothingCalculatorOptions",
    "MultiWorldLandmarksSmoothingCalculator": "LandmarksSmoothingCalculatorOptions",
}


def ranges(*pairs):
    return [{"begin": begin, "end": end} for begin, end in pairs]


def text_of(fields):
    """Return the fields of a message as graph files have them."""
    lines = []
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                lines.append(f"{name} {{ {text_of(one)} }}")
            else:
                lines.append(f"{name}: {str(one).lower() if isinstance(one, bool) else one}")
    return " ".join(lines)


def node_text(calculator, inputs, outputs, options):
    """Return a node as a graph file of MediaPipe has it."""
    if calculator.startswith("Concatenate"):
        name = "ConcatenateVectorCalculatorOptions"
    elif calculator.startswith("Split"):
        name = "SplitVectorCalculatorOptions"
    else:
        name = OPTIONS.get(calculator, f"{calculator}Options")
    ports = [f'input_stream: "{port}"' for port in inputs.split()]
    ports += [f'output_stream: "{port}"' for port in outputs.split()]
    own = f"options {{ [mediapipe.{name}.ext] {{ {text_of(options)} }} }}" if options else ""
    return f'node {{ calculator: "{calculator}" {" ".join(ports)} {own} }}'


def add_node(g, streams, calculator, inputs, outputs, options):  # noqa: PLR0913, PLR0917  # parts of a node
    """Add a node to a builder's graph; its inputs are among the streams."""
    ports = [port.rpartition(":") for port in inputs.split()]
    made = [port.rpartition(":") for port in outputs.split()]
    return g.node(
        calculator,
        {tag or i: streams[name] for i, (tag, _, name) in enumerate(ports)},
        outputs={tag or i: name for i, (tag, _, name) in enumerate(made)},
        **options,
    )


def loaded(source):
    """Return the inputs and nodes of a graph, with options as (name, bytes) in whichever of their forms."""
    config = read_graph(CalculatorGraph(source).text_config, default_registry())
    nodes = [
        (
            node.calculator,
            list(node.input_stream),
            list(node.output_stream),
            [(one.DESCRIPTOR.full_name, one.SerializeToString()) for _, one in node.options.ListFields()]
            + [(one.type_url.rpartition("/")[2], one.value) for one in node.node_options],
        )
        for node in config.node
    ]
    return list(config.input_stream), nodes


def both(graph_inputs, *nodes):
    """Return what a builder's graph and what MediaPipe's text are once loaded."""
    g = Graph()
    streams = {}
    for entry in graph_inputs.split():
        tag, *_, name = entry.split(":")
        streams[name] = g.input(name, tag=tag)
    for node in nodes:
        add_node(g, streams, *node)
    text = " ".join(
        [
            *(f'input_stream: "{entry}"' for entry in graph_inputs.split()),
            *(node_text(*node) for node in nodes),
        ]
    )
    return loaded(g), loaded(text)


@pytest.mark.parametrize(
    ("graph_inputs", "calculator", "inputs", "outputs", "options"),
    [
        pytest.param(
            "LMK_LIST:0:__stream_0 LMK_LIST:1:__stream_1",
            "ConcatenateLandmarkListCalculator",
            "__stream_0 __stream_1",
            "landmark_list",
            {"only_emit_if_all_present": False},
            marks=pytest.mark.reference(
                "framework/api2/stream/concatenate_test.cc", "Concatenate.ConcatenateLandmarkList"
            ),
        ),
        pytest.param(
            "LMK_LIST:0:__stream_0 LMK_LIST:1:__stream_1",
            "ConcatenateLandmarkListCalculator",
            "__stream_0 __stream_1",
            "landmark_list",
            {"only_emit_if_all_present": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/concatenate_test.cc",
                "Concatenate.ConcatenateLandmarkList_IfAllPresent",
            ),
        ),
        pytest.param(
            "JT_LIST:0:__stream_0 JT_LIST:1:__stream_1",
            "ConcatenateJointListCalculator",
            "__stream_0 __stream_1",
            "joint_list",
            {"only_emit_if_all_present": False},
            marks=pytest.mark.reference(
                "framework/api2/stream/concatenate_test.cc", "Concatenate.ConcatenateJointList"
            ),
        ),
        pytest.param(
            "JT_LIST:0:__stream_0 JT_LIST:1:__stream_1",
            "ConcatenateJointListCalculator",
            "__stream_0 __stream_1",
            "joint_list",
            {"only_emit_if_all_present": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/concatenate_test.cc", "Concatenate.ConcatenateJointList_IfAllPresent"
            ),
        ),
        pytest.param(
            "VT_LIST:0:__stream_0 VT_LIST:1:__stream_1",
            "ConcatenateTensorVectorCalculator",
            "__stream_0 __stream_1",
            "joint_list",
            {"only_emit_if_all_present": False},
            marks=pytest.mark.reference(
                "framework/api2/stream/concatenate_test.cc", "Concatenate.ConcatenateTensorVectorList"
            ),
        ),
        pytest.param(
            "VT_LIST:0:__stream_0 VT_LIST:1:__stream_1",
            "ConcatenateTensorVectorCalculator",
            "__stream_0 __stream_1",
            "joint_list",
            {"only_emit_if_all_present": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/concatenate_test.cc",
                "Concatenate.ConcatenateTensorVectorList_IfAllPresent",
            ),
        ),
        pytest.param(
            "IDX:__stream_0 ITEMS:__stream_1",
            "GetNormalizedLandmarkListVectorItemCalculator",
            "INDEX:__stream_0 VECTOR:__stream_1",
            "ITEM:item",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/get_vector_item_test.cc", "GetItem.GetNormalizedLandmarkListVectorItem"
            ),
        ),
        pytest.param(
            "IDX:__stream_0 ITEMS:__stream_1",
            "GetLandmarkListVectorItemCalculator",
            "INDEX:__stream_0 VECTOR:__stream_1",
            "ITEM:item",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/get_vector_item_test.cc", "GetItem.GetLandmarkListVectorItem"
            ),
        ),
        pytest.param(
            "IDX:__stream_0 ITEMS:__stream_1",
            "GetClassificationListVectorItemCalculator",
            "INDEX:__stream_0 VECTOR:__stream_1",
            "ITEM:item",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/get_vector_item_test.cc", "GetItem.GetClassificationListVectorItem"
            ),
        ),
        pytest.param(
            "IDX:__stream_0 ITEMS:__stream_1",
            "GetNormalizedRectVectorItemCalculator",
            "INDEX:__stream_0 VECTOR:__stream_1",
            "ITEM:item",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/get_vector_item_test.cc", "GetItem.GetNormalizedRectVectorItem"
            ),
        ),
        pytest.param(
            "IDX:__stream_0 ITEMS:__stream_1",
            "GetRectVectorItemCalculator",
            "INDEX:__stream_0 VECTOR:__stream_1",
            "ITEM:item",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/get_vector_item_test.cc", "GetItem.GetRectVectorItem"
            ),
        ),
        pytest.param(
            "INPUT_A:__stream_0 INPUT_B:__stream_1",
            "MergeCalculator",
            "__stream_0 __stream_1",
            "input",
            {},
            marks=pytest.mark.reference("framework/api2/stream/merge_test.cc", "Merge.VerifyConfig"),
        ),
        pytest.param(
            "STREAM:stream_to_check",
            "PacketPresenceCalculator",
            "PACKET:stream_to_check",
            "PRESENCE:is_present_stream",
            {},
            marks=pytest.mark.reference("framework/api2/stream/presence_test.cc", "Presence.VerifyConfig"),
        ),
        pytest.param(
            "TENSORS:__stream_0",
            "SplitTensorVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((0, 1), (1, 2))},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitToRanges2Ranges"
            ),
        ),
        pytest.param(
            "TENSORS:__stream_0",
            "SplitTensorVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((0, 1), (1, 2)), "element_only": True},
            marks=pytest.mark.reference("framework/api2/stream/split_test.cc", "SplitTest.Split2Items"),
        ),
        pytest.param(
            "IDS:__stream_0",
            "SplitUint64tVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((0, 1), (1, 2)), "element_only": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.Split2Uint64tItems"
            ),
        ),
        pytest.param(
            "RECTS:__stream_0",
            "SplitNormalizedRectVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2 __stream_3 __stream_4 __stream_5",
            {"ranges": ranges((0, 1), (1, 2), (2, 3), (3, 4), (4, 5))},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitToRanges5Ranges"
            ),
        ),
        pytest.param(
            "RECTS:__stream_0",
            "SplitNormalizedRectVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2 __stream_3 __stream_4 __stream_5",
            {"ranges": ranges((0, 1), (1, 2), (2, 3), (3, 4), (4, 5)), "element_only": True},
            marks=pytest.mark.reference("framework/api2/stream/split_test.cc", "SplitTest.Split5Items"),
        ),
        pytest.param(
            "RECTS:__stream_0",
            "SplitNormalizedRectVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((250, 251), (300, 301)), "element_only": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitPassingVectorIndices"
            ),
        ),
        pytest.param(
            "RECTS:__stream_0",
            "SplitNormalizedRectVectorCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((250, 255), (300, 301))},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitToRangesPassingVectorRanges"
            ),
        ),
        pytest.param(
            "LM_LIST:__stream_0",
            "SplitNormalizedLandmarkListCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((250, 255), (300, 301))},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitToRangesNormalizedLandmarkList"
            ),
        ),
        pytest.param(
            "LM_LIST:__stream_0",
            "SplitNormalizedLandmarkListCalculator",
            "__stream_0",
            "__stream_1 __stream_2",
            {"ranges": ranges((250, 251), (300, 301)), "element_only": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitNormalizedLandmarkList"
            ),
        ),
        pytest.param(
            "TENSORS:__stream_0",
            "SplitTensorVectorCalculator",
            "__stream_0",
            "tensors_split_and_combined",
            {"ranges": ranges((0, 1), (2, 5), (70, 75)), "combine_outputs": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitAndCombineRanges"
            ),
        ),
        pytest.param(
            "TENSORS:__stream_0",
            "SplitTensorVectorCalculator",
            "__stream_0",
            "tensors_split_and_combined",
            {"ranges": ranges((0, 1), (2, 3), (70, 71), (100, 101)), "combine_outputs": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitAndCombineIndividualIndices"
            ),
        ),
        pytest.param(
            "LM_LIST:__stream_0",
            "SplitLandmarkListCalculator",
            "__stream_0",
            "landmark_list",
            {"ranges": ranges((250, 255), (300, 301)), "combine_outputs": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitAndCombineLandmarkList"
            ),
        ),
        pytest.param(
            "LM_LIST:__stream_0",
            "SplitLandmarkListCalculator",
            "__stream_0",
            "landmark_list",
            {"ranges": ranges((250, 251), (300, 301)), "combine_outputs": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc",
                "SplitTest.SplitAndCombineLandmarkListIndividualIndices",
            ),
        ),
        pytest.param(
            "JT_LIST:__stream_0",
            "SplitJointListCalculator",
            "__stream_0",
            "joint_list",
            {"ranges": ranges((250, 255), (300, 301)), "combine_outputs": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitAndCombineJointList"
            ),
        ),
        pytest.param(
            "LM_LIST:__stream_0",
            "SplitJointListCalculator",
            "__stream_0",
            "joint_list",
            {"ranges": ranges((250, 251), (300, 301)), "combine_outputs": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/split_test.cc", "SplitTest.SplitAndCombineJointListIndividualIndices"
            ),
        ),
        pytest.param(
            "DETECTION:detection SIZE:size",
            "AlignmentPointsRectsCalculator",
            "DETECTION:detection IMAGE_SIZE:size",
            "NORM_RECT:rect",
            KEYPOINTS,
            marks=pytest.mark.reference(
                "framework/api2/stream/detections_to_rects_test.cc",
                "DetectionsToRects.ConvertAlignmentPointsDetectionToRect",
            ),
        ),
        pytest.param(
            "DETECTIONS:detections SIZE:size",
            "AlignmentPointsRectsCalculator",
            "DETECTIONS:detections IMAGE_SIZE:size",
            "NORM_RECT:rect",
            KEYPOINTS,
            marks=pytest.mark.reference(
                "framework/api2/stream/detections_to_rects_test.cc",
                "DetectionsToRects.ConvertAlignmentPointsDetectionsToRect",
            ),
        ),
        pytest.param(
            "DETECTION:detection SIZE:size",
            "DetectionsToRectsCalculator",
            "DETECTION:detection IMAGE_SIZE:size",
            "NORM_RECT:rect",
            KEYPOINTS,
            marks=pytest.mark.reference(
                "framework/api2/stream/detections_to_rects_test.cc",
                "DetectionsToRects.ConvertDetectionToRect",
            ),
        ),
        pytest.param(
            "DETECTIONS:detections SIZE:size",
            "DetectionsToRectsCalculator",
            "DETECTIONS:detections IMAGE_SIZE:size",
            "NORM_RECTS:rects",
            KEYPOINTS,
            marks=pytest.mark.reference(
                "framework/api2/stream/detections_to_rects_test.cc",
                "DetectionsToRects.ConvertDetectionsToRects",
            ),
        ),
        pytest.param(
            "DETECTIONS:detections SIZE:size",
            "DetectionsToRectsCalculator",
            "DETECTIONS:detections IMAGE_SIZE:size",
            "NORM_RECT:rect",
            {**KEYPOINTS, "conversion_mode": "USE_KEYPOINTS"},
            marks=pytest.mark.reference(
                "framework/api2/stream/detections_to_rects_test.cc",
                "DetectionsToRects.ConvertDetectionsToRectUsingKeypoints",
            ),
        ),
        pytest.param(
            "NORM_LANDMARKS:__stream_0 PROJECTION_MATRIX:__stream_1",
            "LandmarkProjectionCalculator",
            "NORM_LANDMARKS:__stream_0 PROJECTION_MATRIX:__stream_1",
            "NORM_LANDMARKS:landmarks_value",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/landmarks_projection_test.cc", "LandmarksProjection.ProjectLandmarks"
            ),
        ),
        pytest.param(
            "LANDMARKS:__stream_0",
            "LandmarksToDetectionCalculator",
            "NORM_LANDMARKS:__stream_0",
            "DETECTION:detection",
            {},
            marks=pytest.mark.reference(
                "framework/api2/stream/landmarks_to_detection_test.cc", "LandmarksToDetection.VerifyConfig"
            ),
        ),
        pytest.param(
            "LANDMARKS:__stream_0",
            "LandmarksToTensorCalculator",
            "LANDMARKS:__stream_0",
            "TENSORS:tensors",
            {"attributes": ["X", "Y", "Z"], "flatten": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/landmarks_to_tensor_test.cc",
                "ConvertLandmarksToTensor.ConvertLandmarksToTensor",
            ),
        ),
        pytest.param(
            "IMAGE_SIZE:__stream_0 LANDMARKS:__stream_1",
            "LandmarksToTensorCalculator",
            "IMAGE_SIZE:__stream_0 NORM_LANDMARKS:__stream_1",
            "TENSORS:tensors",
            {"attributes": ["X", "Y", "Z"], "flatten": False},
            marks=pytest.mark.reference(
                "framework/api2/stream/landmarks_to_tensor_test.cc",
                "ConvertLandmarksToTensor.ConvertNormalizedLandmarksToTensor",
            ),
        ),
        pytest.param(
            "RECT:__stream_0 SIZE:__stream_1",
            "RectTransformationCalculator",
            "IMAGE_SIZE:__stream_1 NORM_RECT:__stream_0",
            "transformed_rect",
            {"scale_x": 2, "scale_y": 7, "square_long": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/rect_transformation_test.cc", "RectTransformation.ScaleAndMakeSquare"
            ),
        ),
        pytest.param(
            "RECT:__stream_0 SIZE:__stream_1",
            "RectTransformationCalculator",
            "IMAGE_SIZE:__stream_1 NORM_RECT:__stream_0",
            "transformed_rect",
            {"scale_x": 2, "scale_y": 7},
            marks=pytest.mark.reference(
                "framework/api2/stream/rect_transformation_test.cc", "RectTransformation.Scale"
            ),
        ),
        pytest.param(
            "RECT:__stream_0 SIZE:__stream_1",
            "RectTransformationCalculator",
            "IMAGE_SIZE:__stream_1 NORM_RECT:__stream_0",
            "transformed_rect",
            {"scale_x": 2, "scale_y": 7, "shift_x": 10, "shift_y": 0.5},
            marks=pytest.mark.reference(
                "framework/api2/stream/rect_transformation_test.cc", "RectTransformation.ScaleAndShift"
            ),
        ),
        pytest.param(
            "RECT:__stream_0 SIZE:__stream_1",
            "RectTransformationCalculator",
            "IMAGE_SIZE:__stream_1 NORM_RECT:__stream_0",
            "transformed_rect",
            {"scale_x": 2, "scale_y": 7, "shift_x": 10, "shift_y": 0.5, "square_long": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/rect_transformation_test.cc",
                "RectTransformation.ScaleAndShiftAndMakeSquareLong",
            ),
        ),
        pytest.param(
            "RECTS:__stream_0 SIZE:__stream_1",
            "RectTransformationCalculator",
            "IMAGE_SIZE:__stream_1 NORM_RECTS:__stream_0",
            "transformed_rects",
            {"scale_x": 2, "scale_y": 7, "shift_x": 10, "shift_y": 0.5},
            marks=pytest.mark.reference(
                "framework/api2/stream/rect_transformation_test.cc",
                "RectTransformation.ScaleAndShiftMultipleRects",
            ),
        ),
        pytest.param(
            "RECTS:__stream_0 SIZE:__stream_1",
            "RectTransformationCalculator",
            "IMAGE_SIZE:__stream_1 NORM_RECTS:__stream_0",
            "transformed_rects",
            {"scale_x": 2, "scale_y": 7, "shift_x": 10, "shift_y": 0.5, "square_long": True},
            marks=pytest.mark.reference(
                "framework/api2/stream/rect_transformation_test.cc",
                "RectTransformation.ScaleAndShiftAndMakeSquareLongMultipleRects",
            ),
        ),
        pytest.param(
            "TENSOR:__stream_0",
            "TensorToJointsCalculator",
            "TENSOR:__stream_0",
            "JOINTS:joints",
            {"num_joints": 56, "start_index": 0},
            marks=pytest.mark.reference(
                "framework/api2/stream/tensor_to_joints_test.cc",
                "ConvertTensorToJoints.ConvertTensorToJoints",
            ),
        ),
        pytest.param(
            "TENSOR:__stream_0",
            "TensorToJointsCalculator",
            "TENSOR:__stream_0",
            "JOINTS:joints",
            {"num_joints": 56, "start_index": 3},
            marks=pytest.mark.reference(
                "framework/api2/stream/tensor_to_joints_test.cc",
                "ConvertTensorToJointsAtIndex.ConvertTensorToJointsAtIndex",
            ),
        ),
        pytest.param(
            "MASK:__stream_0 PREV_MASK:__stream_1",
            "SegmentationSmoothingCalculator",
            "MASK:__stream_0 MASK_PREVIOUS:__stream_1",
            "MASK_SMOOTHED:smoothed_mask",
            {"combine_with_previous_ratio": 0.1},
            marks=pytest.mark.reference(
                "framework/api2/stream/segmentation_smoothing_test.cc", "SegmentationSmoothing.VerifyConfig"
            ),
        ),
        pytest.param(
            "IMAGE_SIZE:__stream_0 NORM_LANDMARKS:__stream_1 SCALE_ROI:__stream_2",
            "LandmarksSmoothingCalculator",
            "IMAGE_SIZE:__stream_0 NORM_LANDMARKS:__stream_1 OBJECT_SCALE_ROI:__stream_2",
            "NORM_FILTERED_LANDMARKS:smoothed_norm_landmarks",
            {
                "one_euro_filter": {
                    "min_cutoff": 0.5,
                    "beta": 100,
                    "derivate_cutoff": 20,
                    "disable_value_scaling": False,
                }
            },
            marks=pytest.mark.reference("framework/api2/stream/smoothing_test.cc", "Smoothing.NormLandmarks"),
        ),
        pytest.param(
            "LANDMARKS:__stream_0",
            "LandmarksSmoothingCalculator",
            "LANDMARKS:__stream_0",
            "FILTERED_LANDMARKS:smoothed_landmarks",
            {
                "one_euro_filter": {
                    "min_cutoff": 1.5,
                    "beta": 90,
                    "derivate_cutoff": 10,
                    "disable_value_scaling": True,
                }
            },
            marks=pytest.mark.reference("framework/api2/stream/smoothing_test.cc", "Smoothing.Landmarks"),
        ),
        pytest.param(
            "IMAGE_SIZE:__stream_0 NORM_LANDMARKS:__stream_1 SCALE_ROI:__stream_2 TRACKING_IDS:__stream_3",
            "MultiLandmarksSmoothingCalculator",
            "IMAGE_SIZE:__stream_0 NORM_LANDMARKS:__stream_1 OBJECT_SCALE_ROI:__stream_2"
            " TRACKING_IDS:__stream_3",
            "NORM_FILTERED_LANDMARKS:smoothed_norm_landmarks",
            {"no_filter": {}},
            marks=pytest.mark.reference(
                "framework/api2/stream/smoothing_test.cc", "Smoothing.MultiLandmarks"
            ),
        ),
        pytest.param(
            "LANDMARKS:__stream_0 TRACKING_IDS:__stream_1",
            "MultiWorldLandmarksSmoothingCalculator",
            "LANDMARKS:__stream_0 TRACKING_IDS:__stream_1",
            "FILTERED_LANDMARKS:smoothed_landmarks",
            {"no_filter": {}},
            marks=pytest.mark.reference(
                "framework/api2/stream/smoothing_test.cc", "Smoothing.MultiWorldLandmarks"
            ),
        ),
        pytest.param(
            "NORM_LANDMARKS:__stream_0",
            "VisibilitySmoothingCalculator",
            "NORM_LANDMARKS:__stream_0",
            "NORM_FILTERED_LANDMARKS:smoothed_norm_landmarks",
            {"low_pass_filter": {"alpha": 0.9}},
            marks=pytest.mark.reference(
                "framework/api2/stream/smoothing_test.cc", "Smoothing.NormLandmarksVisibility"
            ),
        ),
        pytest.param(
            "LANDMARKS:__stream_0",
            "VisibilitySmoothingCalculator",
            "LANDMARKS:__stream_0",
            "FILTERED_LANDMARKS:smoothed_landmarks",
            {"low_pass_filter": {"alpha": 0.9}},
            marks=pytest.mark.reference(
                "framework/api2/stream/smoothing_test.cc", "Smoothing.LandmarksVisibility"
            ),
        ),
        pytest.param(
            "SCORE:__stream_0",
            "ThresholdingCalculator",
            "FLOAT:__stream_0",
            "FLAG:flag",
            {"threshold": 0.5},
            marks=pytest.mark.reference(
                "framework/api2/stream/threshold_test.cc", "ThresholdTest.IsOverThresholdTest"
            ),
        ),
    ],
)
def test_a_node_of_the_builder_is_that_of_the_reference(graph_inputs, calculator, inputs, outputs, options):
    built, written = both(graph_inputs, (calculator, inputs, outputs, options))

    assert built == written


@pytest.mark.reference("framework/api2/stream/image_size_test.cc", "GetImageSize.VerifyConfig")
def test_three_kinds_of_images_have_sizes():
    built, written = both(
        "GPU_BUFFER:gpu_buffer IMAGE:image IMAGE_FRAME:image_frame",
        ("ImagePropertiesCalculator", "IMAGE:image_frame", "SIZE:image_frame_size", {}),
        ("ImagePropertiesCalculator", "IMAGE_GPU:gpu_buffer", "SIZE:gpu_buffer_size", {}),
        ("ImagePropertiesCalculator", "IMAGE:image", "SIZE:image_size", {}),
    )

    assert built == written
