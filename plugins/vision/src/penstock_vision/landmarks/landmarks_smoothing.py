"""LandmarksSmoothingCalculator: smooths landmarks over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_formats import NormalizedRect, Rect
from penstock_vision.geometry.image_size import image_size
from penstock_vision.landmarks.landmark_ports import FILTERED, TYPES, declare_filter
from penstock_vision.landmarks.landmarks_smoother import smoother_of
from penstock_vision.messages.landmarks_smoothing_pb2 import LandmarksSmoothingCalculatorOptions
from penstock_vision.ports import input_or_none

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class LandmarksSmoothingCalculator(penstock.Calculator):
    """Smooths x, y and z of each landmark, each alone.

    Input NORM_LANDMARKS (NormalizedLandmarkList) with IMAGE_SIZE (tuple of width and height in pixels) to
    output NORM_FILTERED_LANDMARKS, which is filtered in pixels; or LANDMARKS (LandmarkList) to
    FILTERED_LANDMARKS. Optional OBJECT_SCALE_ROI (NormalizedRect, or Rect with LANDMARKS): how large the
    thing is; without it the box around the landmarks tells. Timestamp offset 0. The time is that of the
    packets, in microseconds. A call without landmarks, which another input can cause, forgets all values.

    Options `LandmarksSmoothingCalculatorOptions`, exactly one:

    - `no_filter {}`: nothing is smoothed;
    - `one_euro_filter {}`: `frequency` (30 Hz, until timestamps tell), `min_cutoff` (1 Hz; less is smoother),
      `beta` (0; more follows faster), `derivate_cutoff` (1 Hz);
    - `velocity_filter {}`: `window_size` (5 changes), `velocity_scale` (10; more follows faster).

    Both filters have `min_allowed_object_scale` (1e-6): landmarks of a smaller thing stay as they are; and
    `disable_value_scaling` (false): speeds do not depend on the size of the thing.

    An empty list is an error, unless `empty_landmarks_policy` is EMPTY_LANDMARKS_POLICY_RESET: then it is
    forwarded, and all values are forgotten. `no_filter` forwards it in any case.

    Raises in the contract: InvalidArgumentError for no input, both, the output of the other kind, or
    NORM_LANDMARKS without IMAGE_SIZE. In `open`: the same without a filter and for numbers that no filter can
    have. In `process`: the same for a size that is none, if the number of landmarks changes, and for an
    empty list.

    Source of the behaviour: MediaPipe `calculators/util/landmarks_smoothing_calculator.cc` and
    `landmarks_smoothing_calculator_utils.cc`.

    Config::

        node {
          calculator: "LandmarksSmoothingCalculator"
          input_stream: "NORM_LANDMARKS:pose_landmarks"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "NORM_FILTERED_LANDMARKS:smooth_landmarks"
          options {
            [penstock.LandmarksSmoothingCalculatorOptions.ext] {
              one_euro_filter { min_cutoff: 0.05 beta: 80.0 derivate_cutoff: 1.0 }
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out, and what is known of their size.

        Raises:
            InvalidArgumentError: the ports do not fit together.
        """
        tag = declare_filter(cc, "smooth landmarks")
        is_normalized = tag == "NORM_LANDMARKS"
        size = cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels")
        if not is_normalized:
            size.optional()
        kind = NormalizedRect if is_normalized else Rect
        cc.inputs["OBJECT_SCALE_ROI"].set(kind, "how large the thing is").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Determine the filter.

        Raises:
            InvalidArgumentError: there is none, or its numbers are out of range.
        """
        options = cc.options(LandmarksSmoothingCalculatorOptions)
        self._smoother = smoother_of(options)
        self._tag = next(tag for tag in TYPES if tag in cc.inputs)
        self._output = cc.outputs[FILTERED[self._tag]]
        self._roi = input_or_none(cc.inputs, "OBJECT_SCALE_ROI")

    def process(self, cc: CalculatorContext) -> None:
        """Smooth one list of landmarks."""
        port = cc.inputs[self._tag]
        if port.is_empty():
            self._smoother.reset()
            return
        size = image_size(cc.inputs["IMAGE_SIZE"]) if self._tag == "NORM_LANDMARKS" else None
        roi = None if self._roi is None else self._roi.payload
        made = self._smoother.smoothed(port.payload, cc.stamp, size=size, roi=roi, stream=port.name)
        if made is port.payload:
            self._output.add_packet(port.packet)
        else:
            self._output.add(made, cc.stamp)
