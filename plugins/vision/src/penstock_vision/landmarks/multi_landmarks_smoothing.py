"""Multi...LandmarksSmoothingCalculator: smooth the landmarks of several objects, each by its id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import LandmarkList, NormalizedLandmarkList, NormalizedRect, Rect
from penstock_vision.geometry.image_size import image_size
from penstock_vision.landmarks.landmark_ports import FILTERED
from penstock_vision.landmarks.landmarks_smoother import smoother_of
from penstock_vision.messages.landmarks_smoothing_pb2 import LandmarksSmoothingCalculatorOptions
from penstock_vision.ports import input_or_none

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_vision.landmarks.landmarks_smoother import LandmarksSmoother


class _MultiSmoothing(penstock.Calculator):
    """Smooths lists of lists of landmarks; subclasses say of which type."""

    tag: ClassVar[str]
    landmarks: ClassVar[type[Any]]
    roi: ClassVar[type[Any]]

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out, their ids, and what is known of their size."""
        kind = list[cls.landmarks]  # type: ignore[name-defined]  # known at run time
        cc.inputs[cls.tag].set(kind, "landmarks of each object")
        cc.inputs["TRACKING_IDS"].set(list[int], "the id of each object")
        if cls.tag == "NORM_LANDMARKS":
            cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        rects = list[cls.roi]  # type: ignore[name-defined]  # known at run time
        cc.inputs["OBJECT_SCALE_ROI"].set(rects, "how large each object is").optional()
        cc.outputs[FILTERED[cls.tag]].set(kind, "smooth landmarks of each object")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Check the filter.

        Raises:
            InvalidArgumentError: there is none, or its numbers are out of range.
        """
        self._options = cc.options(LandmarksSmoothingCalculatorOptions)
        smoother_of(self._options)
        #: Id of an object → what smooths its landmarks.
        self._smoothers: dict[int, LandmarksSmoother] = {}
        self._output = cc.outputs[FILTERED[self.tag]]
        self._roi = input_or_none(cc.inputs, "OBJECT_SCALE_ROI")

    def process(self, cc: CalculatorContext) -> None:
        """Smooth the landmarks of one timestamp."""
        port = cc.inputs[self.tag]
        if port.is_empty():
            self._smoothers.clear()
            return
        ids = _as_many(cc.inputs["TRACKING_IDS"], port)
        self._smoothers = {one: old for one, old in self._smoothers.items() if one in ids}
        size = image_size(cc.inputs["IMAGE_SIZE"]) if self.tag == "NORM_LANDMARKS" else None
        rois = [None] * len(ids)
        if self._roi is not None and not self._roi.is_empty():
            rois = _as_many(self._roi, port)
        made = []
        for identity, landmarks, roi in zip(ids, port.payload, rois, strict=True):
            if identity not in self._smoothers:
                self._smoothers[identity] = smoother_of(self._options)
            smoother = self._smoothers[identity]
            made.append(smoother.smoothed(landmarks, cc.stamp, size=size, roi=roi, stream=port.name))
        self._output.add(made, cc.stamp)


def _as_many(port: Input, landmarks: Input) -> list[Any]:
    """Return a list with an element for each object."""
    found: list[Any] = [] if port.is_empty() else port.payload
    if port.is_empty() or len(found) != len(landmarks.payload):
        has = "has no packet" if port.is_empty() else f"holds {len(found)} elements"
        raise InvalidArgumentError(
            f"input {port.name!r} {has}, but {landmarks.name!r} holds the landmarks of "
            f"{len(landmarks.payload)} objects; send one element for each to be smoothed"
        )
    return found


class MultiLandmarksSmoothingCalculator(_MultiSmoothing):
    """Smooths x, y and z of the landmarks of several objects, each object by its id.

    Inputs NORM_LANDMARKS (list[NormalizedLandmarkList], one for each object), TRACKING_IDS (list[int], as
    long), IMAGE_SIZE (tuple of width and height in pixels), OBJECT_SCALE_ROI (list[NormalizedRect], as long,
    optional). Output NORM_FILTERED_LANDMARKS (list[NormalizedLandmarkList], in the same order). A new id gets
    a filter of its own; an id that does not come is forgotten, and a call without landmarks forgets all.
    Timestamp offset 0.

    Options `LandmarksSmoothingCalculatorOptions`, as those of LandmarksSmoothingCalculator.

    Raises in `open`: InvalidArgumentError without a filter and for numbers that no filter can have. In
    `process`: the same for a list that is shorter or longer, a size that is none, and if the number of an
    object's landmarks changes.

    Source of the behaviour: MediaPipe `calculators/util/multi_landmarks_smoothing_calculator.cc`.

    Config::

        node {
          calculator: "MultiLandmarksSmoothingCalculator"
          input_stream: "NORM_LANDMARKS:hands"
          input_stream: "TRACKING_IDS:hand_ids"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_FILTERED_LANDMARKS:smooth_hands"
          options {
            [penstock.LandmarksSmoothingCalculatorOptions.ext] {
              one_euro_filter { min_cutoff: 0.05 beta: 80 }
            }
          }
        }
    """

    tag: ClassVar = "NORM_LANDMARKS"
    landmarks: ClassVar = NormalizedLandmarkList
    roi: ClassVar = NormalizedRect


class MultiWorldLandmarksSmoothingCalculator(_MultiSmoothing):
    """Smooths x, y and z of the landmarks of several objects in metres, each object by its id.

    Inputs LANDMARKS (list[LandmarkList], one for each object), TRACKING_IDS (list[int], as long),
    OBJECT_SCALE_ROI (list[Rect], as long, optional). Output FILTERED_LANDMARKS (list[LandmarkList], in the
    same order). A new id gets a filter of its own; an id that does not come is forgotten, and a call without
    landmarks forgets all. Timestamp offset 0.

    Options `LandmarksSmoothingCalculatorOptions`, as those of LandmarksSmoothingCalculator.

    Raises in `open`: InvalidArgumentError without a filter and for numbers that no filter can have. In
    `process`: the same for a list that is shorter or longer, and if the number of an object's landmarks
    changes.

    Source of the behaviour: MediaPipe `calculators/util/multi_world_landmarks_smoothing_calculator.cc`.

    Config::

        node {
          calculator: "MultiWorldLandmarksSmoothingCalculator"
          input_stream: "LANDMARKS:hands_in_world"
          input_stream: "TRACKING_IDS:hand_ids"
          output_stream: "FILTERED_LANDMARKS:smooth_hands_in_world"
          options {
            [penstock.LandmarksSmoothingCalculatorOptions.ext] { velocity_filter { window_size: 5 } }
          }
        }
    """

    tag: ClassVar = "LANDMARKS"
    landmarks: ClassVar = LandmarkList
    roi: ClassVar = Rect
