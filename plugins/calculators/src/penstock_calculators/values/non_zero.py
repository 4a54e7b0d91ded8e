"""NonZeroCalculator: whether an int is not 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop


class NonZeroCalculator(penstock.Calculator):
    """Writes for each int of INPUT whether it is not 0: to OUTPUT as 0 or 1, to OUTPUT_BOOL as a bool.

    Either output may be left out. INPUT is an input or a side packet. For a side packet there is one
    result, at timestamp 0, and the outputs end. The timestamp offset is 0, and the output does not depend
    on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/non_zero_calculator.cc`. The reference writes the
    result of a side packet again, and the second one ends the run with an error.

    Example config::

        node {
          calculator: "NonZeroCalculator"
          input_stream: "INPUT:count_of_hands"
          output_stream: "OUTPUT_BOOL:somebody_is_there"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept an int as an input or as a side packet.

        Raises:
            InvalidArgumentError: INPUT is connected as both, or not at all.
        """
        cc.inputs["INPUT"].set(int, "the numbers").optional()
        side = cc.input_side_packets["INPUT"].set(int, "the only number")
        cc.outputs["OUTPUT"].set(int, "0 where the number is 0, else 1").optional()
        cc.outputs["OUTPUT_BOOL"].set(bool, "whether the number is not 0").optional()
        cc.set_timestamp_offset(0)
        if "INPUT" not in cc.input_side_packets:
            side.optional()
        if ("INPUT" in cc.inputs) == ("INPUT" in cc.input_side_packets):
            found = "both connected" if "INPUT" in cc.inputs else "neither connected"
            raise InvalidArgumentError(
                f"zeros are looked for in input INPUT or side packet INPUT, which are {found}; connect one"
            )
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write the result for one number."""
        is_stream = "INPUT" in cc.inputs
        number = cc.inputs["INPUT"].payload if is_stream else cc.input_side_packets["INPUT"].payload
        if "OUTPUT" in cc.outputs:
            cc.outputs["OUTPUT"].add(int(number != 0), cc.stamp)
        if "OUTPUT_BOOL" in cc.outputs:
            cc.outputs["OUTPUT_BOOL"].add(number != 0, cc.stamp)
        return None if is_stream else penstock.STOP
