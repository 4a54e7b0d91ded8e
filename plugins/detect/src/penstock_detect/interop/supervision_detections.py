"""Detections to and from `supervision.Detections`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np

import penstock
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_detect.interop.columns import (
    CLASS_NAMES,
    check_size,
    columns_of,
    detections_of_columns,
    of_supervision,
    size_of,
)
from penstock_formats import Detection, Image, ImageFrame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from penstock import CalculatorContext, CalculatorContract


def supervision_module() -> ModuleType:
    """Return the library.

    Raises:
        FailedPreconditionError: it is not installed.
    """
    try:
        return import_module("supervision")
    except ImportError as error:
        raise FailedPreconditionError(
            'supervision is not installed: pip install "penstock-detect[supervision]"'
        ) from error


def to_supervision(
    detections: Sequence[Detection], width: int, height: int, masks: Sequence[ImageFrame] | None = None
) -> Any:
    """Return detections as a `supervision.Detections`.

    Args:
        detections: with relative boxes. `score`, `label_id` and `label` become `confidence`, `class_id` and
            `data["class_name"]`; `detection_id` becomes `tracker_id` where all have one. `class_id` is -1
            where there is none. Key points are left out: supervision has them apart.
        width: of the image, in pixels.
        height: of it.
        masks: a mask for each detection, GRAY8 of any size; what is not 0 is inside.

    Raises:
        FailedPreconditionError: supervision is not installed.
        InvalidArgumentError: a detection has no relative box, or there are not as many masks as detections.
    """
    check_size(width, height)
    supervision = supervision_module()
    columns = columns_of(detections, width, height)
    given: dict[str, Any] = {}
    if masks is not None:
        if len(masks) != len(detections):
            raise InvalidArgumentError(
                f"there are {len(masks)} masks for supervision, but {len(detections)} detections; give one "
                "for each"
            )
        given["mask"] = np.array(
            [cv2.resize(one.array, (width, height), interpolation=cv2.INTER_NEAREST) > 0 for one in masks],
            bool,
        ).reshape(len(masks), height, width)
    return supervision.Detections(
        xyxy=columns.boxes,
        confidence=columns.scores,
        class_id=columns.classes.astype(int),
        tracker_id=None if columns.ids is None else columns.ids.astype(int),
        data={CLASS_NAMES: np.array(columns.names, dtype=np.str_)},
        **given,
    )


def from_supervision(found: Any, width: int, height: int) -> list[Detection]:
    """Return a `supervision.Detections` as messages with boxes in fractions of the image.

    Args:
        found: `confidence` may be None: the score is 1; `class_id`, `tracker_id` and `data["class_name"]` may
            be missing. Masks are left out.
        width: of the image that it is of, in pixels.
        height: of it.

    Raises:
        InvalidArgumentError: it is something else.
    """
    check_size(width, height)
    return detections_of_columns(of_supervision(found), width, height)


class DetectionsToSupervisionCalculator(penstock.Calculator):
    """Makes a `supervision.Detections` of the detections of each image, for functions that use supervision.

    Inputs: DETECTIONS (list[Detection] with relative boxes), IMAGE (Image or ImageFrame, for its size), MASKS
    (optional, list[ImageFrame], GRAY8, a mask for each). Output: SUPERVISION (supervision.Detections, new, in
    pixels, with `class_id`, `confidence`, `data["class_name"]`, and `tracker_id` where all detections have a
    detection_id). Nothing is sent where DETECTIONS, IMAGE or a connected MASKS is empty. Timestamp offset 0.

    Raises in `open`: FailedPreconditionError where supervision is not installed. In `process`:
    InvalidArgumentError for detections without relative boxes, and for another number of masks.

    Config::

        node {
          calculator: "DetectionsToSupervisionCalculator"
          input_stream: "DETECTIONS:detections"
          input_stream: "IMAGE:frame"
          output_stream: "SUPERVISION:found"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["DETECTIONS"].set(list[Detection], "what was found")
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="the image it was found in")
        cc.inputs["MASKS"].set(list[ImageFrame], "a mask for each detection").optional()
        cc.outputs["SUPERVISION"].set_any("a supervision.Detections")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Look whether the library is there.

        Raises:
            FailedPreconditionError: it is not installed.
        """
        supervision_module()
        self._has_masks = "MASKS" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Make one.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if any(port.is_empty() for port in cc.inputs):
            return
        size = size_of(cc.inputs["IMAGE"].payload)
        masks = cc.inputs["MASKS"].payload if self._has_masks else None
        cc.outputs["SUPERVISION"].add(to_supervision(cc.inputs["DETECTIONS"].payload, *size, masks), cc.stamp)


class SupervisionToDetectionsCalculator(penstock.Calculator):
    """Makes detections of each `supervision.Detections`, such as a model of Roboflow or a function gives.

    Inputs: SUPERVISION (supervision.Detections, in pixels), IMAGE (Image or ImageFrame, for its size).
    Output: DETECTIONS (list[Detection], new, with relative boxes; `score` is 1 where there is no confidence;
    label, label_id and detection_id as far as there are class names, classes and tracks). Masks are left out.
    Nothing is sent where an input is empty. Timestamp offset 0.

    Raises InvalidArgumentError in `process` for a payload that is no supervision.Detections.

    Config::

        node {
          calculator: "SupervisionToDetectionsCalculator"
          input_stream: "SUPERVISION:found"
          input_stream: "IMAGE:frame"
          output_stream: "DETECTIONS:detections"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["SUPERVISION"].set_any("a supervision.Detections")
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="the image it was found in")
        cc.outputs["DETECTIONS"].set(list[Detection], "the same")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Make messages.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if any(port.is_empty() for port in cc.inputs):
            return
        size = size_of(cc.inputs["IMAGE"].payload)
        cc.outputs["DETECTIONS"].add(from_supervision(cc.inputs["SUPERVISION"].payload, *size), cc.stamp)
