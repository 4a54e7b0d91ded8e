"""AddHeaderCalculator: gives a stream the header of another stream, or of a side packet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class AddHeaderCalculator(penstock.Calculator):
    """Forwards the packets of DATA, on a stream that has the header given by HEADER.

    HEADER is either an input, whose own header is taken and which must not carry any packet, or a side
    packet, which becomes the header. If the input has no header, the output has none. A header of DATA is
    not forwarded. As an input, HEADER must also settle before a packet of DATA is forwarded: by its end or
    by bounds. The timestamp offset is 0, and the output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/add_header_calculator.cc`.

    Example config::

        node {
          calculator: "AddHeaderCalculator"
          input_stream: "DATA:samples"
          input_side_packet: "HEADER:sample_format"
          output_stream: "samples_with_format"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept one of the two headers.

        Raises:
            InvalidArgumentError: both are connected, or neither.
        """
        cc.inputs["DATA"].set_any("the packets to forward")
        cc.outputs[0].set_same_as(cc.inputs["DATA"], "the same packets, under the header")
        cc.inputs["HEADER"].set_any("a stream without packets, whose header is taken").optional()
        cc.input_side_packets["HEADER"].set_any("the header").optional()
        cc.set_timestamp_offset(0)
        if ("HEADER" in cc.inputs) == ("HEADER" in cc.input_side_packets):
            found = "both connected" if "HEADER" in cc.inputs else "neither connected"
            raise InvalidArgumentError(f"input HEADER and side packet HEADER are {found}; connect one")
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Set the header, if there is one."""
        if "HEADER" in cc.inputs:
            header = cc.inputs["HEADER"].header
            if not header.is_empty():
                cc.outputs[0].set_header(header)
        elif "HEADER" in cc.input_side_packets:
            cc.outputs[0].set_header(cc.input_side_packets["HEADER"])

    def process(self, cc: CalculatorContext) -> None:
        """Forward a packet.

        Raises:
            InvalidArgumentError: HEADER has a packet.
        """
        if "HEADER" in cc.inputs and not cc.inputs["HEADER"].is_empty():
            raise InvalidArgumentError(
                f"input HEADER has a packet at {cc.input_timestamp}, but only the header of its stream "
                f"{cc.inputs['HEADER'].name!r} counts; connect a stream without packets",
                stream=cc.inputs["HEADER"].name,
                timestamp=cc.stamp,
            )
        cc.outputs[0].add_packet(cc.inputs["DATA"].packet)
