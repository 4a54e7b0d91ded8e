"""The input packets of the pictures of the reference pages: a street, a hand, a sound, all made by code.

Each calculator gets what its streams are for: frames of the street as images, the car and the house as
detections and rectangles, a hand as landmarks, a rising tone as sound. Where the type of a stream does not
say which of these it is, `_OF_STREAMS` does. Everything is computed, so the same packs give the same packets.
"""

from __future__ import annotations

import typing
import wave
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

import cv2
import numpy as np
from drawing.hand_points import (
    drawn_hand,
    hand,
    hand_in_world,
    irises,
    object_points,
    objects,
    objects_in_space,
    pose_in_world,
    trembling_hand,
)
from drawing.sounds import LENGTH_US, RATE, rate_of, series, sound
from drawing.street_images import (
    FRAMES,
    HEIGHT,
    WIDTH,
    around_car,
    car_box,
    depth_of_street,
    edges_of_street,
    file_of_street,
    gray_street,
    house_box,
    large_street,
    mask_of_car,
    night,
    noisy_street,
    street,
)
from drawing.street_things import (
    detection,
    detections,
    doubled,
    drawing,
    overlapping,
    rect,
    rects,
    timed_boxes,
    with_a_weak_one,
    without_labels,
)
from drawing.timeline_feeds import payload

import penstock
from penstock_formats import (
    Classification,
    ClassificationList,
    Detection,
    FrameAnnotation,
    Image,
    ImageFrame,
    LandmarkList,
    Matrix,
    NormalizedLandmark,
    NormalizedLandmarkList,
    NormalizedRect,
    RenderData,
    Tensor,
    TimedBoxProtoList,
    TimeSeriesHeader,
)
from penstock_gpu import GpuBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from drawing.timeline_feeds import Packets

    from penstock.contract import PortSpec
    from penstock.plan import Plan

#: The microseconds between two frames.
FRAME_US: Final = 40_000


def feed_of(name: str, plan: Plan) -> dict[str, Packets]:
    """Return graph input → packets, for a plan of one node of this calculator."""
    node = plan.nodes[0]
    return {
        plan.streams[port.stream].name: _packets(name, plan.streams[port.stream].name, spec)
        for port, spec in zip(node.inputs, node.contract.inputs, strict=True)
    }


def headers_of(name: str, plan: Plan) -> dict[str, object]:
    """Return graph input → header, for a plan of one node: inputs of matrices are series."""
    found: dict[str, object] = {}
    for spec in plan.nodes[0].contract.inputs:
        if _type_of(spec) is Matrix:
            first = _packets(name, spec.name, spec)[0][1]
            assert isinstance(first, Matrix)  # noqa: S101  # for type checkers
            rows, columns = first.array.shape
            rate = rate_of(name, spec.name)
            found[spec.name] = TimeSeriesHeader(
                sample_rate=rate,
                num_channels=rows,
                num_samples=columns,
                packet_rate=rate / columns,
                audio_sample_rate=RATE,
            )
    return found


def side_packets_of(name: str, plan: Plan, folder: Path) -> dict[str, object]:
    """Return side packet → payload, for a plan of one node of this calculator.

    Args:
        name: of the calculator.
        plan: of one node.
        folder: where files are written that the node reads.
    """
    return {
        spec.name: _FILES[name](folder)
        if name in _FILES
        else _SIDE.get(spec.name, payload(_type_of(spec), 2, 0))
        for spec in plan.nodes[0].contract.input_side_packets
    }


def _packets(name: str, stream: str, spec: PortSpec) -> Packets:
    kind = _type_of(spec)
    if kind is Matrix:
        matrices = list(series(name, stream))
        step = LENGTH_US // len(matrices)
        return [(step * i, made) for i, made in enumerate(matrices)]
    return [(FRAME_US * i, _made(name, stream, kind, i)) for i in range(FRAMES)]


def _type_of(spec: PortSpec) -> Any:
    return next(iter(spec.root().types), object)


def _made(name: str, stream: str, kind: Any, i: int) -> object:
    """Return the payload of frame `i`: what the stream's name stands for, or the usual one of its type."""
    for (pattern, its_stream), make in _OF_STREAMS.items():
        if fnmatchcase(name, pattern) and fnmatchcase(stream, its_stream):
            return make(i)
    origin, inner = typing.get_origin(kind) or kind, typing.get_args(kind)
    if origin is list and inner[0] in _LISTS:
        return _LISTS[inner[0]](i)
    return _MAKERS[origin](i) if origin in _MAKERS else payload(kind, i, 0)


def _logits(i: int) -> list[Tensor]:
    """Return what a segmentation model says of the car: above 0 inside of the mask."""
    small = cv2.resize(around_car(i), (64, 64), interpolation=cv2.INTER_AREA)
    return [Tensor((12 * np.asarray(small, np.float32) - 6)[None, :, :, None])]


def _matrix_of_crop(_: int) -> tuple[float, ...]:
    """Return a matrix that turns by 15 degrees about the middle, row after row, in shares of the sides."""
    turn = np.radians(15)
    a, b = float(np.cos(turn)), float(np.sin(turn))
    aspect = WIDTH / HEIGHT
    across, down = 0.5 - 0.5 * a + 0.5 * b / aspect, 0.5 - 0.5 * b * aspect - 0.5 * a
    return a, -b / aspect, 0.0, across, b * aspect, a, 0.0, down, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0


_FILM_GRAPH: Final = """
input_stream: "frame"
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:frame"
  input_side_packet: "OUTPUT_FILE_PATH:film"
}
"""


def _film(folder: Path) -> str:
    """Write the frames of the street as a video; return its path."""
    path = str(folder / "street.mp4")
    frames = [(FRAME_US * i, ImageFrame(street(i))) for i in range(FRAMES)]
    penstock.run(_FILM_GRAPH, {"frame": frames}, side_packets={"film": path})
    return path


def _pictures(folder: Path) -> str:
    """Write the frames of the street as pictures; return the path of their folder."""
    for i in range(FRAMES):
        (folder / f"street {i}.png").write_bytes(file_of_street(".png", i))
    return str(folder)


def _recording(folder: Path) -> str:
    """Write the sound as a WAV file with 16 bits a sample; return its path."""
    path = str(folder / "sound.wav")
    with wave.open(path, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.rint(sound().T * 32767).astype("<i2").tobytes())
    return path


#: Calculator → function that writes the file that it reads.
_FILES: Final[Mapping[str, Callable[[Path], str]]] = {
    "AudioDecoderCalculator": _recording,
    "OpenCvVideoDecoderCalculator": _film,
    "PictureSourceCalculator": _pictures,
    "VideoDecoderCalculator": _film,
}

#: Side packet → payload, where the type does not say enough.
_SIDE: Final[Mapping[str, object]] = {"allowed_labels": "car", "focal_length": 500.0}

#: Patterns of calculator and stream → payload of frame `i`.
_OF_STREAMS: Final[Mapping[tuple[str, str], Callable[[int], object]]] = {
    ("*", "image_size"): lambda _: (WIDTH, HEIGHT),
    ("*", "padding"): lambda _: (0.0, 0.2, 0.0, 0.2),
    ("*", "image_to_crop"): _matrix_of_crop,
    ("*", "crop_to_image"): _matrix_of_crop,
    ("*", "matrix"): _matrix_of_crop,
    ("AlignHandToPoseInWorldCalculator", "pose_in_world"): pose_in_world,
    ("Association*Calculator", "rects_tracked"): lambda i: [rect(car_box(max(0, i - 1)), 0.15, 7)],
    ("AssociationDetectionCalculator", "detections_tracked"): lambda i: [
        detection(car_box(i), "car", 7, 0.6)
    ],
    ("AnnotationOverlayCalculator", "landmarks_to_draw"): drawn_hand,
    ("BilateralFilterCalculator", "frame"): noisy_street,
    ("BoxFlowCalculator", "object_before"): lambda i: detection(car_box(max(0, i - 1)), "car", 1),
    ("BoxFlowCalculator", "frame_before"): lambda i: ImageFrame(street(max(0, i - 1))),
    ("CannyEdgeCalculator", "gray"): lambda i: ImageFrame(gray_street(i)),
    ("ColorMapCalculator", "depth"): depth_of_street,
    ("DetectionLabelIdToTextCalculator", "detections"): without_labels,
    ("DetectionsDeduplicateCalculator", "detections"): doubled,
    ("FilterDetection*Calculator", "detections"): with_a_weak_one,
    ("Filter*CollectionCalculator", "is_good"): lambda _: [True, False],
    ("FilterNormalizedLandmarkListCollectionCalculator", "found"): lambda i: [hand(i), object_points(i)],
    ("FrameAnnotationToRectCalculator", "objects_in_space"): objects_in_space,
    ("GlOverlayCalculator", "edges"): lambda i: GpuBuffer.of_frame(ImageFrame(edges_of_street(i))),
    ("ImageCroppingCalculator", "hand_rect"): lambda i: rect(car_box(i), 0.15, 1),
    ("ImageOverlayCalculator", "edges"): lambda i: ImageFrame(edges_of_street(i)),
    ("ImageToTensorCalculator", "hand"): lambda i: rect(car_box(i), 0.15, 1),
    ("Iris*", "irises"): irises,
    ("LabelsToRenderDataCalculator", "labels"): lambda _: ["car", "house", "tree"],
    ("LabelsToRenderDataCalculator", "scores"): lambda _: [0.9, 0.7, 0.4],
    ("LandmarksRefinementCalculator", "finer_corner"): lambda i: NormalizedLandmarkList(
        landmark=[NormalizedLandmark(x=0.3 + 0.02 * i, y=0.2)]
    ),
    ("LandmarksRefinementCalculator", "corners"): lambda i: NormalizedLandmarkList(
        landmark=[NormalizedLandmark(x=0.2 + 0.3 * k + 0.02 * i, y=0.3 + 0.2 * k) for k in range(3)]
    ),
    ("*LandmarksSmoothingCalculator", "pose_landmarks"): trembling_hand,
    ("MultiLandmarksSmoothingCalculator", "hands"): lambda i: [trembling_hand(i)],
    ("MultiWorldLandmarksSmoothingCalculator", "hands_in_world"): lambda i: [hand_in_world(i, 0.012)],
    ("Multi*SmoothingCalculator", "hand_ids"): lambda _: [1],
    ("LandmarksToDetectionCalculator", "face_landmarks"): lambda i: NormalizedLandmarkList(
        landmark=[
            NormalizedLandmark(x=0.4 + 0.15 * np.cos(k / 12) + 0.02 * i, y=0.5 + 0.3 * np.sin(k / 12))
            for k in range(300)
        ]
    ),
    ("LandmarksToFrameAnnotationCalculator", "boxes"): lambda i: [object_points(i)],
    ("LandmarksToRenderDataCalculator", "hand"): hand,
    ("MaskOverlayCalculatorCpu", "background"): night,
    ("MaskOverlayCalculatorCpu", "mask"): lambda i: ImageFrame(around_car(i)),
    ("MaskOverlayCalculator", "background"): lambda i: GpuBuffer.of_frame(night(i)),
    ("MaskOverlayCalculator", "mask"): lambda i: GpuBuffer.of_frame(mask_of_car(i)),
    ("NonMaxSuppressionCalculator", "detections"): overlapping,
    ("OpenCvEncodedImageToImageFrameCalculator", "file"): lambda i: file_of_street(".png", i),
    ("OpenCvPutTextCalculator", "text"): lambda i: f"frame {i + 1}",
    ("RecolorCalculator", "hair_mask"): lambda i: ImageFrame(around_car(i)),
    ("RectProjectionCalculator", "face"): lambda i: rect(house_box(i), 0.3, 1),
    ("RectProjectionCalculator", "eye_in_face"): lambda _: rect((0.2, 0.3, 0.3, 0.3), 0.0, 2),
    ("LandmarkProjectionCalculator", "crop"): lambda _: rect((0.4, 0.1, 0.4, 0.7), 0.4, 1),
    ("WorldLandmarkProjectionCalculator", "crop"): lambda _: rect((0.4, 0.1, 0.4, 0.7), 0.6, 1),
    ("RoiTrackingCalculator", "last_hand_rect"): lambda i: rect((0.25 + 0.02 * i, 0.1, 0.4, 0.85), 0.0, 1),
    ("RoiTrackingCalculator", "hand_rect_of_pose"): lambda i: rect((0.28 + 0.02 * i, 0.1, 0.4, 0.85), 0.2, 2),
    ("ScaleImageCalculator", "frame"): large_street,
    ("SetAlphaCalculator", "mask"): mask_of_car,
    ("SegmentationSmoothingCalculator", "mask"): lambda i: Image(ImageFrame(around_car(i))),
    ("SegmentationSmoothingCalculator", "previous_mask"): lambda i: Image(
        ImageFrame(around_car(max(0, i - 1)))
    ),
    ("SetLandmarkVisibilityCalculator", "wrist"): lambda i: NormalizedLandmarkList(
        landmark=[NormalizedLandmark(x=0.46 + 0.02 * i, y=0.88)]
    ),
    ("SobelEdgesCalculator", "gray"): lambda i: GpuBuffer.of_frame(ImageFrame(gray_street(i))),
    ("SobelEdgesCalculatorCpu", "gray"): lambda i: ImageFrame(gray_street(i)),
    ("TensorToImageFrameCalculator", "tensor"): lambda i: Tensor(street(i) / np.float32(255)),
    ("TensorToMatrixCalculator", "tensor"): lambda i: Tensor(gray_street(i)[90] / np.float32(255)),
    ("TensorsToSegmentationCalculator", "segmentation_tensors"): _logits,
    ("WarpAffineCalculator", "crop"): lambda i: Image(ImageFrame(street(i))),
    ("WarpAffineCalculatorCpu", "crop"): lambda i: ImageFrame(street(i)),
    ("WarpAffineCalculatorGpu", "crop"): lambda i: GpuBuffer.of_frame(ImageFrame(street(i))),
}

#: Type of the elements → a list of them, of frame `i`.
_LISTS: Final[Mapping[object, Callable[[int], object]]] = {
    Detection: detections,
    NormalizedRect: rects,
    NormalizedLandmarkList: lambda i: [hand(i)],
    LandmarkList: lambda i: [hand_in_world(i), pose_in_world(i)],
    ClassificationList: lambda i: [payload(ClassificationList, i, 0), payload(ClassificationList, i + 1, 0)],
}

#: Type → payload of frame `i`.
_MAKERS: Final[Mapping[object, Callable[[int], object]]] = {
    ImageFrame: lambda i: ImageFrame(street(i)),
    Image: lambda i: Image(ImageFrame(street(i))),
    GpuBuffer: lambda i: GpuBuffer.of_frame(ImageFrame(street(i))),
    Detection: lambda i: detection(car_box(i), "car", 1),
    NormalizedRect: lambda i: rect(car_box(i), 0.15, 1),
    NormalizedLandmarkList: hand,
    LandmarkList: hand_in_world,
    FrameAnnotation: objects,
    TimedBoxProtoList: timed_boxes,
    RenderData: drawing,
    ClassificationList: lambda _: ClassificationList(
        classification=[Classification(index=0, label="red", score=0.8)]
    ),
}
