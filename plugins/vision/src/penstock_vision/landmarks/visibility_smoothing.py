"""VisibilitySmoothingCalculator: smooths how visible landmarks are over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_vision.geometry.single_precision import f32
from penstock_vision.landmarks.landmark_ports import FILTERED, TYPES, declare_filter
from penstock_vision.landmarks.landmark_table import VISIBILITY, LandmarkTable
from penstock_vision.landmarks.low_pass import LowPass
from penstock_vision.messages.visibility_smoothing_pb2 import VisibilitySmoothingCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class VisibilitySmoothingCalculator(penstock.Calculator):
    """Smooths the visibility of each landmark with a low pass; all else stays as it is.

    Input NORM_LANDMARKS (NormalizedLandmarkList) to output NORM_FILTERED_LANDMARKS, or LANDMARKS
    (LandmarkList) to FILTERED_LANDMARKS. Timestamp offset 0. The first visibility is kept; each later one
    is `alpha * new + (1 - alpha) * before`. A call without a packet forgets all values.

    Options `VisibilitySmoothingCalculatorOptions`, exactly one: `no_filter {}` (packets are forwarded), or
    `low_pass_filter { alpha }` (0.1; 0 to 1, less is smoother).

    Raises in the contract: InvalidArgumentError for no input, both, or the output of the other kind. In
    `open`: the same without a filter, and for an alpha out of range. In `process`: the same if the number
    of landmarks changes.

    Source of the behaviour: MediaPipe `calculators/util/visibility_smoothing_calculator.cc`.

    Config::

        node {
          calculator: "VisibilitySmoothingCalculator"
          input_stream: "NORM_LANDMARKS:pose_landmarks"
          output_stream: "NORM_FILTERED_LANDMARKS:smooth_landmarks"
          options {
            [penstock.VisibilitySmoothingCalculatorOptions.ext] { low_pass_filter { alpha: 0.1 } }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare landmarks in and out.

        Raises:
            InvalidArgumentError: the ports do not fit together.
        """
        declare_filter(cc, "the same with smooth visibility")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Determine the filter.

        Raises:
            InvalidArgumentError: there is none, or its alpha is out of range.
        """
        options = cc.options(VisibilitySmoothingCalculatorOptions)
        chosen = options.WhichOneof("filter_options")
        if chosen is None:
            raise InvalidArgumentError(
                "no filter smooths the visibility, but one is needed; set no_filter or low_pass_filter in "
                "the options"
            )
        self._alpha = f32(options.low_pass_filter.alpha)
        if not 0 <= self._alpha <= 1:
            raise InvalidArgumentError(
                f"the visibility filter's alpha is {self._alpha:g}, but must be 0 to 1; change it in "
                "low_pass_filter of the options"
            )
        self._filters = chosen == "low_pass_filter"
        self._low_pass = LowPass()
        self._tag = next(tag for tag in TYPES if tag in cc.inputs)
        self._output = cc.outputs[FILTERED[self._tag]]

    def process(self, cc: CalculatorContext) -> None:
        """Smooth the visibility of one list."""
        port = cc.input
        if port.is_empty():
            self._low_pass = LowPass()
            return
        if not self._filters:
            self._output.add_packet(port.packet)
            return
        table = LandmarkTable.of(port.payload)
        before = self._low_pass.smooth
        if before is not None and len(before) not in (0, len(table.values)):
            raise InvalidArgumentError(
                f"input {port.name!r} holds {len(table.values)} landmarks, but {len(before)} before; "
                "smooth the visibility of one model's landmarks only"
            )
        if before is not None and not len(before):
            self._low_pass = LowPass()
        visibility = table.values[:, VISIBILITY].copy()
        table.values[:, VISIBILITY] = self._low_pass.apply(visibility, self._alpha)
        table.have(VISIBILITY)
        self._output.add(table.make(TYPES[self._tag]), cc.stamp)
