"""ValueOrDefaultCalculator: fills the gaps of a stream with one value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ValueOrDefaultCalculator(penstock.Calculator):
    """At each TICK, forwards the packet of IN, or a default value if there is no packet.

    The default is the untagged side packet, of the type of IN. FLAG has a true where the default was used::

        TICK  * * . * *
        IN    . 1 2 3 .
        OUT   d 1 . 3 d
        FLAG  T . . . T

    Packets of IN without a TICK appear in the ledger as "no tick". The header of IN is forwarded, the
    timestamp offset is 0, and the output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/value_or_default_calculator.cc`.

    Example config::

        node {
          calculator: "ValueOrDefaultCalculator"
          input_stream: "IN:faces"
          input_stream: "TICK:frames"
          input_side_packet: "no_faces"
          output_stream: "OUT:faces_of_each_frame"
          output_stream: "FLAG:nobody_there"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give the output and the default the type of the input."""
        cc.inputs["IN"].set_any("the values")
        cc.inputs["TICK"].set_any("the timestamps at which to write a value")
        cc.input_side_packets[0].set_same_as(cc.inputs["IN"], "the value where IN has no packet")
        cc.outputs["OUT"].set_same_as(cc.inputs["IN"], "a value for each tick")
        cc.outputs["FLAG"].set(bool, "true where the value is the default")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Keep the default, and forward the header."""
        self._default = cc.input_side_packets[0]
        if not cc.inputs["IN"].header.is_empty():
            cc.outputs["OUT"].set_header(cc.inputs["IN"].header)

    def process(self, cc: CalculatorContext) -> None:
        """Write the value for a tick."""
        port = cc.inputs["IN"]
        if cc.inputs["TICK"].is_empty():
            if not port.is_empty():
                port.count_dropped("no tick")
        elif not port.is_empty():
            cc.outputs["OUT"].add_packet(port.packet)
        else:
            cc.outputs["OUT"].add_packet(self._default.at(cc.stamp))
            cc.outputs["FLAG"].add(True, cc.stamp)  # noqa: FBT003  # the payload
