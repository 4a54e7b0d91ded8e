"""Detections to and from `ultralytics.engine.results.Results`, which is known by its attributes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_detect.interop.columns import Columns, check_size, columns_of, detections_of_columns
from penstock_formats import Detection, Image, ImageFormat, ImageFrame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


def from_ultralytics(results: Any) -> list[Detection]:
    """Return a `Results` of Ultralytics as messages with boxes in fractions of the image.

    Args:
        results: one image's, as `model(frame)[0]` or `model.track(frame)[0]` gives it; on any device. Its
            tracks become `detection_id`, its key points come with their scores. Masks are left out.

    Raises:
        InvalidArgumentError: it is something else, or has no boxes: it is of a classifier, or of a model for
            turned boxes.
    """
    shape, boxes = getattr(results, "orig_shape", None), getattr(results, "boxes", None)
    if shape is None or not hasattr(results, "boxes"):
        raise InvalidArgumentError(
            f"the payload is a {type(results).__name__!r}, but must be a Results of Ultralytics; take one "
            "element of the list that a model returns"
        )
    if boxes is None:
        raise InvalidArgumentError(
            "the Results has no boxes: it is of a classifier or of a model for turned boxes; give one of a "
            "model that detects, segments or finds key points"
        )
    height, width = shape
    check_size(width, height)
    classes = _array(boxes.cls).astype(np.intp)
    names: Mapping[int, str] = getattr(results, "names", None) or {}
    keypoints = getattr(results, "keypoints", None)
    points = None if keypoints is None else _array(keypoints.data).astype(np.float32)
    return detections_of_columns(
        Columns(
            boxes=_array(boxes.xyxy).astype(np.float32).reshape(-1, 4),
            scores=_array(boxes.conf).astype(np.float32),
            classes=classes,
            names=[names.get(number, "") for number in classes.tolist()],
            ids=None if boxes.id is None else _array(boxes.id).astype(np.intp),
            points=points if points is not None and points.size else None,
        ),
        width,
        height,
    )


def _array(tensor: Any) -> NDArray[Any]:
    """Return a tensor of torch, on any device, or an array, as an array."""
    if hasattr(tensor, "cpu"):
        tensor = tensor.detach().cpu() if hasattr(tensor, "detach") else tensor.cpu()
    return np.asarray(tensor)


def to_ultralytics(detections: Sequence[Detection], image: NDArray[np.uint8]) -> Any:
    """Return detections as a `Results` of Ultralytics, for its `plot`, `save_txt` and `summary`.

    Args:
        detections: with relative boxes. A class without a number has number 0.
        image: that they were found in, (H, W, 3) uint8, blue first, as Ultralytics has images. Borrowed.

    Raises:
        FailedPreconditionError: ultralytics is not installed.
        InvalidArgumentError: a detection has no relative box.
    """
    try:
        module: Any = import_module("ultralytics.engine.results")
    except ImportError as error:
        raise FailedPreconditionError(
            "ultralytics is not installed: pip install ultralytics (its licence is AGPL-3.0)"
        ) from error
    height, width = image.shape[:2]
    columns = columns_of(detections, width, height)
    classes = np.maximum(columns.classes, 0)
    ids = [] if columns.ids is None else [columns.ids[:, None]]
    table = np.concatenate([columns.boxes, *ids, columns.scores[:, None], classes[:, None]], axis=1)
    names = {int(number): str(number) for number in classes}
    names |= {int(number): name for number, name in zip(classes, columns.names, strict=True) if name}
    return module.Results(image, "", names, boxes=table.astype(np.float32), keypoints=columns.points)


class UltralyticsToDetectionsCalculator(penstock.Calculator):
    """Makes detections of each `Results` of Ultralytics: of `model(frame)[0]` or `model.track(frame)[0]`.

    Input: RESULTS (ultralytics.engine.results.Results of one image). Output: DETECTIONS (list[Detection],
    new, with relative boxes, label, label_id and score; detection_id where there are tracks; key points with
    their scores). Masks are left out. Nothing is sent where the input is empty. Timestamp offset 0.
    Ultralytics is not imported.

    Raises InvalidArgumentError in `process` for a payload that is no Results, and for one without boxes.

    Config::

        node {
          calculator: "UltralyticsToDetectionsCalculator"
          input_stream: "RESULTS:results"
          output_stream: "DETECTIONS:detections"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["RESULTS"].set_any("a Results of Ultralytics")
        cc.outputs["DETECTIONS"].set(list[Detection], "the same")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make messages.

        Raises:
            InvalidArgumentError: as the class says.
        """
        port = cc.inputs["RESULTS"]
        if not port.is_empty():
            cc.outputs["DETECTIONS"].add(from_ultralytics(port.payload), cc.stamp)


class DetectionsToUltralyticsCalculator(penstock.Calculator):
    """Makes a `Results` of Ultralytics of the detections of each image, for functions that read it.

    Inputs: DETECTIONS (list[Detection] with relative boxes), IMAGE (Image or ImageFrame, SRGB). Output:
    RESULTS (ultralytics.engine.results.Results, new, with NumPy arrays, and a copy of the image with blue
    first). Nothing is sent where an input is empty. Timestamp offset 0.

    Raises in `process`: FailedPreconditionError where ultralytics is not installed; InvalidArgumentError for
    an image of another format, and for detections without relative boxes.

    Config::

        node {
          calculator: "DetectionsToUltralyticsCalculator"
          input_stream: "DETECTIONS:detections"
          input_stream: "IMAGE:frame"
          output_stream: "RESULTS:results"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["DETECTIONS"].set(list[Detection], "what was found")
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="the image it was found in")
        cc.outputs["RESULTS"].set_any("a Results of Ultralytics")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make one.

        Raises:
            PenstockError: as the class says.
        """
        if any(port.is_empty() for port in cc.inputs):
            return
        image = cc.inputs["IMAGE"].payload
        frame: ImageFrame = image if isinstance(image, ImageFrame) else image.frame
        if frame.format != ImageFormat.SRGB:
            raise InvalidArgumentError(
                f"stream {cc.inputs['IMAGE'].name!r} has an image of format {frame.format.name}, but "
                "Ultralytics takes SRGB; convert it before"
            )
        pixels = np.ascontiguousarray(frame.array[..., ::-1])
        cc.outputs["RESULTS"].add(to_ultralytics(cc.inputs["DETECTIONS"].payload, pixels), cc.stamp)
