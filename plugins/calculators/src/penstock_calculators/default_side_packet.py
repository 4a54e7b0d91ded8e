"""DefaultSidePacketCalculator: a side packet that the application may leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class DefaultSidePacketCalculator(penstock.Calculator):
    """Hands on side packet OPTIONAL_VALUE where it was given, else DEFAULT_VALUE, as side packet VALUE.

    So a graph has a setting with a default: the nodes below read VALUE and need not know who gave it.
    All three have one type. OPTIONAL_VALUE counts as left out where the application gives nothing under
    its name, or where the node does not connect it. One that another node makes is waited for.
    The object itself is handed on. There are no streams, so nothing depends on arrival.

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
        default = cc.input_side_packets["DEFAULT_VALUE"].set_any("what holds where nothing else is given")
        cc.input_side_packets["OPTIONAL_VALUE"].set_same_as(default, "what goes before it").optional()
        cc.output_side_packets["VALUE"].set_same_as(default, "the one of the two that holds")

    def open(self, cc: CalculatorContext) -> None:
        """Choose."""
        sides = cc.input_side_packets
        chosen = sides["OPTIONAL_VALUE" if "OPTIONAL_VALUE" in sides else "DEFAULT_VALUE"]
        cc.output_side_packets["VALUE"].set(chosen)
