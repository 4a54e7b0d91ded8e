"""The pictures of the reference pages: what the node of the example took and sent, drawn from a run.

A calculator of `PACKS` has a picture where one of its outputs carries what can be drawn: images, masks,
matrices, tensors, detections, rectangles, landmarks, drawings. `WITHOUT_PICTURE` says why some have none.
The runs are on one thread, and nothing is drawn with OpenGL, so a picture depends on the packs only.
"""

from __future__ import annotations

import tempfile
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drawing.panels import Panel, above, beside, captioned, picture
from drawing.payload_panels import STYLE, is_drawn, panel
from drawing.picture_feeds import FRAME_US, feed_of, headers_of, side_packets_of
from drawing.street_images import FRAMES, street

from penstock_formats import (
    Detection,
    DetectionList,
    FrameAnnotation,
    Image,
    ImageFrame,
    LandmarkList,
    Matrix,
    NormalizedLandmarkList,
    NormalizedRect,
    Rect,
    RenderData,
    Tensor,
    TimedBoxProtoList,
)
from penstock_gpu import GpuBuffer
from penstock_image.messages.image_encoder_pb2 import OpenCvImageEncoderCalculatorResults
from penstock_testing.timeline import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from penstock.plan import Plan
    from penstock_testing.timeline import Row

#: The distributions whose calculators have pictures.
PACKS: Final = {
    "penstock-audio",
    "penstock-gpu",
    "penstock-image",
    "penstock-tensors",
    "penstock-video",
    "penstock-vision",
}

_MODEL: Final = "it needs a model"
_OF_MODEL: Final = "it takes what a certain model says"
#: Calculator → why its page has no picture, though its outputs could be drawn.
WITHOUT_PICTURE: Final[Mapping[str, str]] = {
    "BertPreprocessorCalculator": _MODEL,
    "FaceLandmarksToRenderDataCalculator": _OF_MODEL,
    "FeedbackTensorsCalculator": _OF_MODEL,
    "InferenceCalculatorCpu": _MODEL,
    "InferenceCalculatorXnnpack": _MODEL,
    "LiveVideoCalculator": "it needs a camera",
    "MicrophoneSourceCalculator": "it needs a microphone",
    "ObjectDetectionTensorsToDetectionsCalculator": _OF_MODEL,
    "OnnxInferenceCalculator": _MODEL,
    "RefineLandmarksFromHeatmapCalculator": _OF_MODEL,
    "RegexPreprocessorCalculator": _MODEL,
    "ShaderCalculator": "its shader needs OpenGL, and this page needs none",
    "TensorsDequantizationCalculator": "its tensors are quantized",
    "TensorsToAudioCalculator": "its tensors are transforms",
    "TensorsToDetectionsCalculator": _OF_MODEL,
    "TensorsToLandmarksCalculator": _OF_MODEL,
    "TfLiteInferenceCalculator": _MODEL,
    "TfLiteTensorsToDetectionsCalculator": _OF_MODEL,
    "TfLiteTensorsToLandmarksCalculator": _OF_MODEL,
    "TfLiteTensorsToSegmentationCalculator": _OF_MODEL,
    "TimedBoxListIdToLabelCalculator": "it reads a file",
    "Tvl1OpticalFlowCalculator": "it needs another OpenCV",
    "UniversalSentenceEncoderPreprocessorCalculator": _MODEL,
    "UpdateFaceLandmarksCalculator": _OF_MODEL,
    "VectorToTensorCalculator": "its packets are rows of numbers",
}

#: Types of payloads that are drawn, alone or in lists.
_DRAWN: Final = (
    Detection,
    DetectionList,
    FrameAnnotation,
    GpuBuffer,
    Image,
    ImageFrame,
    LandmarkList,
    Matrix,
    NormalizedLandmarkList,
    NormalizedRect,
    OpenCvImageEncoderCalculatorResults,
    Rect,
    RenderData,
    Tensor,
    TimedBoxProtoList,
)
#: Types of payloads that are places in no certain image, so they are drawn over a plain ground.
_PLACELESS: Final = (LandmarkList, NormalizedLandmarkList, FrameAnnotation)


class PictureError(Exception):
    """A calculator's outputs could be drawn, but its run made nothing to draw; says what to change."""


def has_picture(name: str, distribution: str | None, plan: Plan) -> bool:
    """Return whether the page of a calculator has a picture, for a plan of its example's node."""
    return (
        distribution in PACKS
        and name not in WITHOUT_PICTURE
        and any(_is_drawn_type(spec.root().types) for spec in plan.nodes[0].contract.outputs)
    )


def picture_of(name: str, plan: Plan) -> str:
    """Return the picture of a calculator as an SVG document, for a plan of its example's node.

    Raises:
        PictureError: its run made nothing to draw.
        GraphRunError: its run failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        side_packets = side_packets_of(name, plan, Path(folder))
        rows = record(plan, feed_of(name, plan), side_packets, headers_of(name, plan))
    inputs, outputs = rows[: plan.graph_inputs], rows[plan.graph_inputs :]
    moments = [row.packets[-1][0] for row in outputs if row.packets and is_drawn(_payloads(row, None))]
    if not moments:
        raise PictureError(
            f"the run of {name} made nothing to draw; give its streams other packets in "
            "scripts/drawing/picture_feeds.py, or say why it has no picture in WITHOUT_PICTURE"
        )
    moment = max(moments)
    scene = None if _is_placeless(rows) else street(min(moment // FRAME_US, FRAMES - 1))
    columns = [_column(side, some, moment, scene) for side, some in (("input", inputs), ("output", outputs))]
    return picture(
        beside(*[one for one in columns if one is not None], is_level=True),
        f"what the node of the example took and sent: {name}",
        STYLE,
    )


def _column(side: str, rows: Sequence[Row], moment: int, scene: NDArray[np.uint8] | None) -> Panel | None:
    """Return the streams of a side below each other, as they were at a timestamp; None for none."""
    panels = [
        captioned(panel(payloads, scene), f"{side}: {row.name}")
        for row in rows
        if (payloads := _payloads(row, moment))
    ]
    return above(*panels) if panels else None


def _payloads(row: Row, moment: int | None) -> list[object]:
    """Return what a stream carried up to a timestamp; all of a series, which is drawn as a whole."""
    is_series = bool(row.packets) and isinstance(row.packets[-1][1], Matrix)
    return [payload for stamp, payload in row.packets if is_series or moment is None or stamp <= moment]


def _is_placeless(rows: Sequence[Row]) -> bool:
    kinds = {type(_first(row.packets[-1][1])) for row in rows if row.packets}
    return bool(kinds & set(_PLACELESS)) and not kinds & {ImageFrame, Image}


def _first(payload: object) -> object:
    return payload[0] if isinstance(payload, list) and payload else payload


def _is_drawn_type(types: Any) -> bool:
    """Return whether a port of these types carries what can be drawn."""
    inner = [typing.get_args(one)[0] if typing.get_origin(one) is list else one for one in types]
    return any(one in _DRAWN for one in inner)
