"""The input packets of the timelines of the reference pages: a few for each input, by its type.

Each input has packets at four of the timestamps 0, 10, ..., 40, and each input's gap is at another one.
Calculators for which these times show little have times of their own in `STAMPS`.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import cv2
import numpy as np

from penstock import Packet, Timestamp
from penstock_formats import (
    ClassificationList,
    Detection,
    Image,
    ImageFrame,
    LandmarkList,
    LocationData,
    Matrix,
    NormalizedLandmarkList,
    NormalizedRect,
    Tensor,
    TimeSeriesHeader,
)
from penstock_gpu import GpuBuffer

if TYPE_CHECKING:
    from penstock.contract import PortSpec
    from penstock.plan import Plan

Packets: TypeAlias = list[tuple[int, object]]

#: Calculator → why its page has no timeline.
WITHOUT_TIMELINE: Final[Mapping[str, str]] = {
    "AnnotationOverlayCalculator": "its packets are drawings",
    "AudioDecoderCalculator": "it reads a file",
    "AudioToTensorCalculator": "its tensors are long",
    "BertPreprocessorCalculator": "it needs a model",
    "BoxFlowCalculator": "it follows the texture of frames",
    "ClockLatencyCalculator": "its packets are times",
    "ClockTimestampCalculator": "it depends on the clock",
    "DetectionsDeduplicateCalculator": "its boxes are in pixels",
    "DetectionsToSupervisionCalculator": "it makes an object of another library",
    "DetectionsToUltralyticsCalculator": "it makes an object of another library",
    "DetectorDecoderCalculator": "it takes what a certain model says",
    "DetectorMasksCalculator": "it takes what a certain model says",
    "DlpackToImageCalculator": "its tensors are another library's",
    "DlpackToImageFrameCalculator": "its tensors are another library's",
    "EventFileSinkCalculator": "it writes a file",
    "EventsToJsonCalculator": "its packets are events",
    "FaceGeometryPipelineCalculator": "its packets are faces in space",
    "FeedbackTensorsCalculator": "it takes what a certain model says",
    "FrameAnnotationToRectCalculator": "its packets are objects in space",
    "ImageFilePropertiesCalculator": "its packets are photos",
    "InferenceCalculatorCpu": "it needs a model",
    "InferenceCalculatorXnnpack": "it needs a model",
    "HeatMapCalculator": "its packets are heat maps",
    "IrisToDepthCalculator": "it takes what a certain model says",
    "IrisToRenderDataCalculator": "it takes what a certain model says",
    "KafkaSinkCalculator": "it writes to a server",
    "KafkaSourceCalculator": "it reads from a server",
    "LabelsToRenderDataCalculator": "its labels and scores must be as many",
    "LandmarkVisibilityCalculator": "it takes what a certain model says",
    "LandmarksRefinementCalculator": "it takes what a certain model says",
    "LandmarksToDetectionCalculator": "it takes what a certain model says",
    "Lift2DFrameAnnotationTo3DCalculator": "its packets are objects in space",
    "LiveVideoCalculator": "it reads a camera",
    "LiveVideoSinkCalculator": "it sends frames elsewhere",
    "LocalFileContentsCalculator": "it reads a file",
    "LocalFilePatternContentsCalculator": "it reads files",
    "McapSinkCalculator": "it writes a file",
    "McapSourceCalculator": "it reads a file",
    "MicrophoneSourceCalculator": "it needs a microphone",
    "MqttSinkCalculator": "it writes to a server",
    "MqttSourceCalculator": "it reads from a server",
    "ObjectDetectionTensorsToDetectionsCalculator": "it takes what a certain model says",
    "OnnxBatchInferenceCalculator": "it needs a model",
    "OnnxInferenceCalculator": "it needs a model",
    "OpenCvVideoDecoderCalculator": "it reads a file",
    "OpenCvVideoEncoderCalculator": "it writes a file",
    "PackMediaSequenceCalculator": "its packets are records",
    "PacketLatencyCalculator": "it depends on the clock",
    "PictureSinkCalculator": "it writes files",
    "PictureSourceCalculator": "it reads files",
    "PillowToImageCalculator": "its images are another library's",
    "PillowToImageFrameCalculator": "its images are another library's",
    "RefineLandmarksFromHeatmapCalculator": "it takes what a certain model says",
    "RegexPreprocessorCalculator": "it needs a model",
    "RerunSinkCalculator": "it writes a file",
    "ResourceProviderCalculator": "it reads a file",
    "RosBagSinkCalculator": "it writes a file",
    "RosBagSourceCalculator": "it reads a file",
    "SegmentationSmoothingCalculator": "its packets are masks",
    "SetLandmarkVisibilityCalculator": "it takes what a certain model says",
    "ShaderCalculator": "its shader needs OpenGL, and this page needs none",
    "ShadowDiffCalculator": "its packets are pairs",
    "TrackSpeedCalculator": "it takes the detections of tracks",
    "ZonesCalculator": "it takes the detections of tracks",
    "ZonesToRenderDataCalculator": "its packets are counts",
    "StringToSequenceExampleCalculator": "its side packet is a record",
    "SupervisionAnnotatorCalculator": "it needs supervision",
    "SupervisionAdapterCalculator": "its input is an object of another library",
    "SupervisionToDetectionsCalculator": "its input is an object of another library",
    "TensorToJointsCalculator": "it takes what a certain model says",
    "TensorsDequantizationCalculator": "its tensors are quantized",
    "TensorsToAudioCalculator": "its tensors are transforms",
    "TensorsToClassificationCalculator": "it takes what a certain model says",
    "TensorsToDetectionsCalculator": "it takes what a certain model says",
    "TensorsToFloatsCalculator": "it takes what a certain model says",
    "TensorsToLandmarksCalculator": "it takes what a certain model says",
    "TensorsToSegmentationCalculator": "it takes what a certain model says",
    "TfLiteInferenceCalculator": "it needs a model",
    "TfLiteModelCalculator": "it needs a model",
    "TfLiteTensorsToClassificationCalculator": "it takes what a certain model says",
    "TfLiteTensorsToDetectionsCalculator": "it takes what a certain model says",
    "TfLiteTensorsToFloatsCalculator": "it takes what a certain model says",
    "TfLiteTensorsToLandmarksCalculator": "it takes what a certain model says",
    "TfLiteTensorsToSegmentationCalculator": "it takes what a certain model says",
    "TimedBoxListIdToLabelCalculator": "it reads a file",
    "Tvl1OpticalFlowCalculator": "it needs another OpenCV",
    "TrackTailsCalculator": "its packets are drawings",
    "TrackerCalculator": "its packets are boxes that move",
    "UltralyticsAdapterCalculator": "its input is an object of another library",
    "UltralyticsToDetectionsCalculator": "its input is an object of another library",
    "UniversalSentenceEncoderPreprocessorCalculator": "it needs a model",
    "UnpackMediaSequenceCalculator": "its side packet is a record",
    "UpdateFaceLandmarksCalculator": "it takes what a certain model says",
    "VectorToTensorCalculator": "its packets are rows of numbers",
    "VideoDecoderCalculator": "it reads a file",
    "VideoEncoderCalculator": "it writes a file",
    "VideoPreStreamCalculator": "its header comes before all frames",
    "WarpAffineCalculatorGpu": "its images are on the GPU",
    "WebhookSinkCalculator": "it sends events to a server",
    "WavSinkCalculator": "it writes a file",
}

#: Pattern of calculators → stream of the example → when it has packets, where the usual times show little.
STAMPS: Final[Mapping[str, Mapping[str, tuple[int, ...]]]] = {
    "AlignHandToPoseInWorldCalculator": {"pose_in_world": (0, 10, 20, 30, 40)},
    "BeginItemLoopCalculator": {"left_hand": (100, 200), "right_hand": (100, 200), "frame": (100, 200)},
    "BeginLoop*": {"items": (100, 200), "frame": (100, 200)},
    "DetectionClassificationsMergerCalculator": {"animal": (0, 20, 40), "breeds": (0, 20, 40)},
    "DetectionTransformationCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "EndItemLoopCalculator": {"gesture": (0, 1, 2, 3), "time_of_the_hands": (1, 3)},
    "EndLoop*": {"result_of_the_item": (0, 1, 2, 3), "time_of_the_items": (1, 3)},
    "BudgetCalculator": {"frames": (0, 10, 20, 30, 40), "overlaid_frames": (0, 20)},
    "*FlowLimiterCalculator": {"frames": (0, 10, 20, 30, 40), "overlaid_frames": (0, 20)},
    "FilterDetectionsCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "GraphProfileCalculator": {"frames": (0, 2_000_000, 5_000_000, 9_000_000, 12_000_000)},
    "HandLandmarksToRectCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "LandmarksToTensorCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "LandmarksSmoothingCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "RoiTrackingCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "Multi*LandmarksSmoothingCalculator": {
        "hand_ids": (0, 10, 20, 30, 40),
        "image_size": (0, 10, 20, 30, 40),
    },
    "LogicCalculator": {"has_hands": (0, 10, 20, 30), "has_faces": (0, 10, 20, 30)},
    "MuxCalculator": {"camera_number": (0, 10, 20, 30, 40)},
    "PacketResamplerCalculator": {"frames": (0, 50_000, 90_000, 200_000)},
    "PacketThinnerCalculator": {"frames": (0, 400_000, 1_300_000, 2_100_000)},
    "RectProjectionCalculator": {"face": (0, 10, 20, 30, 40)},
    "RectToRenderScaleCalculator": {"image_size": (0, 10, 20, 30, 40)},
    "SetJointsVisibilityCalculator": {"pose_in_world": (0, 10, 20, 30, 40)},
    "ShardCalculator": {"sensor": (0, 10, 20, 30, 40)},
    "ShardMergeCalculator": {"results_0": (0, 10, 40), "results_1": (20, 30)},
    "RationalFactorResampleCalculator": {"samples": (0, 10_000, 20_000, 30_000)},
    "ResampleTimeSeriesCalculator": {"samples": (0, 10_000, 20_000, 30_000)},
    "Spectrogram*": {"samples": (0, 10_000, 20_000, 30_000)},
    "StreamToSidePacketCalculator": {"*": (0,)},
    "TimeSeriesFramerCalculator": {"samples": (0, 10_000, 20_000, 30_000)},
}

#: Denote a grey image, and the file of one, among the types.
GRAY: Final = "gray"
PNG: Final = "png"
#: Denote a tensor of two dimensions, one of whole numbers, and an array of texts.
TABLE: Final = "table"
WHOLE: Final = "whole"
TEXTS: Final = "texts"
#: Calculator and tag of inputs that take only such payloads of their type.
_CHOSEN: Final[Mapping[tuple[str, str], str]] = {
    ("CannyEdgeCalculator", "VIDEO"): GRAY,
    ("ColorMapCalculator", ""): GRAY,
    ("ImageOverlayCalculator", "MASK"): GRAY,
    ("OpenCvEncodedImageToImageFrameCalculator", ""): PNG,
    ("SobelEdgesCalculatorCpu", "VIDEO"): GRAY,
    ("TensorToImageFrameCalculator", "TENSOR"): TABLE,
    ("TensorToMatrixCalculator", "TENSOR"): TABLE,
    ("TensorToVectorIntCalculator", ""): WHOLE,
    ("TensorToVectorStringCalculator", ""): TEXTS,
}

#: Denotes matrices of so many rows among the types.
MONO, SPECTRUM = "mono", "spectrum"
_ROWS: Final = {MONO: 1, SPECTRUM: 1025}
#: Pattern of calculators → what their matrices are.
_MATRICES: Final = {
    "Spectrogram*": MONO,
    "SummarySaiToPitchogramCalculator": MONO,
    "MelSpectrumCalculator": SPECTRUM,
    "MfccCalculator": SPECTRUM,
}

_STAMPS: Final = (0, 10, 20, 30, 40)
#: Tags of inputs whose value is an index, from 0, of another input.
_CHOICES: Final = ("SELECT", "INDEX")


def feed_of(name: str, plan: Plan) -> dict[str, Packets]:
    """Return graph input → packets, for a plan of one node."""
    node = plan.nodes[0]
    feed: dict[str, Packets] = {}
    for port, spec in zip(node.inputs, node.contract.inputs, strict=True):
        stream = plan.streams[port.stream].name
        if stream not in feed:
            feed[stream] = _packets(_kind(name, spec), spec.tag, len(feed), _stamps(name, stream, len(feed)))
    return feed


def headers_of(name: str, plan: Plan) -> dict[str, object]:
    """Return graph input → header, for a plan of one node: inputs of matrices are series of two samples."""
    return {
        spec.name: TimeSeriesHeader(
            sample_rate=200,
            num_channels=_ROWS.get(_kind(name, spec), 2),
            num_samples=2,
            packet_rate=100,
            audio_sample_rate=16_000,
        )
        for spec in plan.nodes[0].contract.inputs
        if _type_of(spec) is Matrix
    }


def side_packets_of(plan: Plan) -> dict[str, object]:
    """Return side packet → payload, for a plan of one node."""
    return {spec.name: payload(_type_of(spec), 2, 0) for spec in plan.nodes[0].contract.input_side_packets}


def _stamps(name: str, stream: str, number: int) -> Sequence[int]:
    for pattern, own in STAMPS.items():
        if fnmatchcase(name, pattern) and (stream in own or "*" in own):
            return own.get(stream) or own["*"]
    skipped = (number + 2) % len(_STAMPS)
    return [t for i, t in enumerate(_STAMPS) if i != skipped]


def _packets(kind: Any, tag: str, number: int, stamps: Sequence[int]) -> Packets:
    if tag in _CHOICES:
        return [(t, i % 2) for i, t in enumerate(stamps)]
    if tag in _OF_TAGS:
        return [(t, _OF_TAGS[tag]) for t in stamps]
    return [(t, payload(kind, i, number)) for i, t in enumerate(stamps)]


def _kind(name: str, spec: PortSpec) -> Any:
    kind = _CHOSEN.get((name, spec.tag)) or _type_of(spec)
    if kind is Matrix:
        return next((one for pattern, one in _MATRICES.items() if fnmatchcase(name, pattern)), kind)
    return kind


def _type_of(spec: PortSpec) -> Any:
    return next(iter(spec.root().types), object)


def payload(declared: Any, i: int, stream: int) -> object:
    """Return the payload `i` of a stream, of a declared type.

    Raises:
        TypeError: the type cannot be made without arguments; give it a line in `_MAKERS`.
    """
    origin, inner = typing.get_origin(declared) or declared, typing.get_args(declared)
    if origin is list:
        return [payload(inner[0] if inner else object, i + k, stream) for k in range(3)]
    if origin is tuple and inner[1:] == (...,):  # the only ones are affine matrices
        return tuple(float(k % 5 == 0) for k in range(16))
    if origin is tuple:
        return tuple(payload(one, i, stream) for one in inner) if inner else (6, 4)
    make = _MAKERS.get(origin)
    return _message(origin) if make is None else make(i, stream)


def _detection(i: int, _: int) -> Detection:
    """Return a box with the keypoints of a palm."""
    made = Detection(label_id=[i], score=[0.5])
    place = made.location_data
    place.format = LocationData.RELATIVE_BOUNDING_BOX
    box = place.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = 0.125, 0.25, 0.25, 0.5
    for k in range(7):
        place.relative_keypoints.add(x=0.125 + k / 32, y=0.25 + k / 16)
    return made


def _landmarks(kind: Any) -> Callable[[int, int], object]:
    """Return a maker of the landmarks of a hand."""
    return lambda i, _: kind(landmark=[{"x": k / 32, "y": (k + i) / 64, "z": 0.0} for k in range(21)])


#: Tag → what its streams hold.
_OF_TAGS: Final[Mapping[str, object]] = {
    "LETTERBOX_PADDING": (0.125, 0.0, 0.125, 0.0),
    "MATRIX": tuple(float(k % 5 == 0) for k in range(16)),
    "PROJECTION_MATRIX": tuple(float(k % 5 == 0) for k in range(16)),
}

#: Type → payload `i` of a stream.
_MAKERS: Final[Mapping[object, Callable[[int, int], object]]] = {
    object: lambda i, stream: f"{chr(ord('a') + stream)}{i + 1}",
    bool: lambda i, _: i != 1,
    Timestamp: lambda i, _: Timestamp(100 * (i + 1)),
    int: lambda i, stream: 10 * stream + i,
    float: lambda i, stream: 10.0 * stream + i + 0.5,
    str: lambda i, stream: str(10 * stream + i + 1),
    bytes: lambda i, stream: bytes([i, 100 * stream]),
    Packet: lambda i, _: Packet(i + 1, 10 * i),
    ImageFrame: lambda i, _: ImageFrame(np.full((4, 6, 3), i, dtype=np.uint8)),
    GRAY: lambda i, _: ImageFrame(np.full((4, 6), i, dtype=np.uint8)),
    PNG: lambda i, _: cv2.imencode(".png", np.full((4, 6), i, dtype=np.uint8))[1].tobytes(),
    GpuBuffer: lambda i, _: GpuBuffer.of_frame(ImageFrame(np.full((4, 6, 3), i, dtype=np.uint8))),
    np.ndarray: lambda i, _: np.full((2, 2), i, dtype=np.float32),
    Image: lambda i, _: Image(ImageFrame(np.full((4, 6, 3), i, dtype=np.uint8))),
    TABLE: lambda i, _: Tensor(np.full((2, 2), i, dtype=np.float32)),
    WHOLE: lambda i, _: Tensor(np.full(2, i, dtype=np.int32)),
    TEXTS: lambda i, _: np.array([f"a{i}", f"b{i}"]),
    Tensor: lambda i, _: Tensor(np.full((1, 2, 2), i, dtype=np.float32)),
    Detection: _detection,
    ClassificationList: lambda i, _: ClassificationList(classification=[{"index": i, "score": 0.5}]),
    LandmarkList: _landmarks(LandmarkList),
    NormalizedLandmarkList: _landmarks(NormalizedLandmarkList),
    NormalizedRect: lambda i, _: NormalizedRect(
        x_center=0.5, y_center=0.5, width=0.25, height=0.5, rect_id=i
    ),
    Matrix: lambda i, _: Matrix(np.full((2, 2), i, dtype=np.float32)),
    MONO: lambda i, _: Matrix(np.full((_ROWS[MONO], 2), i, dtype=np.float32)),
    SPECTRUM: lambda i, _: Matrix(np.full((_ROWS[SPECTRUM], 2), i, dtype=np.float32)),
    Callable: lambda *_: lambda *_: None,
}


def _message(cls: Any) -> object:
    """Return a message; a message that is a list of others gets three of them."""
    made = cls()
    for field in made.DESCRIPTOR.fields:
        if field.message_type is not None and isinstance(getattr(made, field.name), Sequence):
            for _ in range(3):
                getattr(made, field.name).add()
    return made
