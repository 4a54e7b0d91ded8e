"""MakePairCalculator: joins two streams into one stream of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_PAIR: Final = 2


class MakePairCalculator(penstock.Calculator):
    """Puts the two packets of each timestamp into a tuple.

    Two untagged inputs of any type to the only output: a tuple of two `Packet`s, not of their payloads;
    an input without a packet at this timestamp has an empty one::

        in 0  a   .
        in 1  x   y
        out   a,x -,y

    The timestamp offset is 0; the output does not depend on the order of arrival, and no packet is
    dropped.

    Source of the behaviour: MediaPipe `calculators/core/make_pair_calculator.cc`.

    Example config::

        node {
          calculator: "MakePairCalculator"
          input_stream: "picture"
          input_stream: "sound"
          output_stream: "picture_and_sound"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take two inputs.

        Raises:
            InvalidArgumentError: there are not exactly two.
        """
        if cc.inputs.count("") != _PAIR:
            raise InvalidArgumentError(
                f"there are {cc.inputs.count('')} untagged inputs, but a pair has two; connect two"
            )
        for i in range(_PAIR):
            cc.inputs[i].set_any("one half")
        cc.outputs[0].set(tuple[Packet, Packet], "both packets, either of which may be empty")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def process(self, cc: CalculatorContext) -> None:
        """Write the pair."""
        cc.outputs[0].add((cc.inputs[0].packet, cc.inputs[1].packet), cc.stamp)
