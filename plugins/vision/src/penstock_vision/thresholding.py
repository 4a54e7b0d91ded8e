"""ThresholdingCalculator: whether a number is above another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_vision.messages.thresholding_pb2 import ThresholdingCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ThresholdingCalculator(penstock.Calculator):
    """Say whether a number is above a threshold.

    Inputs: FLOAT (float); THRESHOLD (float, optional: a stream or a side packet, in place of the option; the
    last one of the stream counts). Outputs, each optional: FLAG (bool: above), ACCEPT (True where it is
    above, else no packet), REJECT (False where it is not, else no packet). A number equal to the threshold
    is not above it. Timestamp offset 0.

    Options `ThresholdingCalculatorOptions`: `threshold` (0).

    Raises in `get_contract`: InvalidArgumentError if THRESHOLD comes as a stream and as a side packet, or
    with the option. In `process`: the same where FLOAT has no packet while THRESHOLD has one.

    Source of the behaviour: MediaPipe `calculators/util/thresholding_calculator.cc`.

    Config::

        node {
          calculator: "ThresholdingCalculator"
          input_stream: "FLOAT:score"
          output_stream: "FLAG:is_hand"
          options { [penstock.ThresholdingCalculatorOptions.ext] { threshold: 0.5 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: there are several thresholds.
        """
        cc.inputs["FLOAT"].set(float, "the number")
        cc.inputs["THRESHOLD"].set(float, "replaces the option from now on").optional()
        cc.input_side_packets["THRESHOLD"].set(float, "replaces the option").optional()
        cc.outputs["FLAG"].set(bool, "whether the number is above").optional()
        cc.outputs["ACCEPT"].set(bool, "True, where it is above").optional()
        cc.outputs["REJECT"].set(bool, "False, where it is not").optional()
        given = {
            "the input stream THRESHOLD": "THRESHOLD" in cc.inputs,
            "the side packet THRESHOLD": "THRESHOLD" in cc.input_side_packets,
            "the option threshold": cc.options(ThresholdingCalculatorOptions).HasField("threshold"),
        }
        found = [name for name, is_given in given.items() if is_given]
        if len(found) > 1:
            raise InvalidArgumentError(
                f"{' and '.join(found)} are given, but only one threshold may be; leave out the rest"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Take the threshold."""
        self._threshold = cc.options(ThresholdingCalculatorOptions).threshold
        if "THRESHOLD" in cc.input_side_packets:
            self._threshold = cc.input_side_packets["THRESHOLD"].get(float)
        self._has_stream = "THRESHOLD" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Compare one number."""
        if self._has_stream and not cc.inputs["THRESHOLD"].is_empty():
            self._threshold = cc.inputs["THRESHOLD"].payload
        source = cc.inputs["FLOAT"]
        if source.is_empty():
            raise InvalidArgumentError(
                f"input {source.name!r} has no packet, but THRESHOLD has one; send a number at each of its "
                "timestamps"
            )
        is_above = bool(source.payload > self._threshold)  # NumPy has a bool of its own
        outputs = cc.outputs
        if "FLAG" in outputs:
            outputs["FLAG"].add(is_above, cc.stamp)
        if is_above and "ACCEPT" in outputs:
            outputs["ACCEPT"].add(True, cc.stamp)  # noqa: FBT003  # it is a payload
        if not is_above and "REJECT" in outputs:
            outputs["REJECT"].add(False, cc.stamp)  # noqa: FBT003  # as above
