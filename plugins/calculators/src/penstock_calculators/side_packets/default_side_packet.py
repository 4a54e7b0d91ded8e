"""DefaultSidePacketCalculator: a side packet that the application may leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class DefaultSidePacketCalculator(penstock.Calculator):
    """Forwards side packet OPTIONAL_VALUE if it is given, else DEFAULT_VALUE, as side packet VALUE.

    This gives a graph a setting with a default: the nodes downstream read VALUE, wherever it comes from.
    All three have one type. OPTIONAL_VALUE counts as left out if the application does not give it, or if
    the node does not connect it. If another node makes it, the calculator waits for it. The object itself
    is forwarded. There are no streams, so nothing depends on arrival.

    Source of the behaviour: MediaPipe `calculators/core/default_side_packet_calculator.cc`.

    Example config::

        node {
          calculator: "DefaultSidePacketCalculator"
          input_side_packet: "OPTIONAL_VALUE:model_given"
          input_side_packet: "DEFAULT_VALUE:small_model"
          output_side_packet: "VALUE:model"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give all three one type."""
        default = cc.input_side_packets["DEFAULT_VALUE"].set_any("the value without OPTIONAL_VALUE")
        cc.input_side_packets["OPTIONAL_VALUE"].set_same_as(default, "replaces the default").optional()
        cc.output_side_packets["VALUE"].set_same_as(default, "the value of the two that applies")
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Choose the value."""
        sides = cc.input_side_packets
        chosen = sides["OPTIONAL_VALUE" if "OPTIONAL_VALUE" in sides else "DEFAULT_VALUE"]
        cc.output_side_packets["VALUE"].set(chosen)
