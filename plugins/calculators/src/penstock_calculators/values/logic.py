"""LogicCalculator: bools joined by and, or, exclusive or."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.messages.logic_pb2 import LogicCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import CalculatorContext, CalculatorContract

_OPERATIONS: Final[dict[int, Callable[[bool, bool], bool]]] = {
    LogicCalculatorOptions.AND: operator.and_,
    LogicCalculatorOptions.OR: operator.or_,
    LogicCalculatorOptions.XOR: operator.xor,
}


class LogicCalculator(penstock.Calculator):
    """Joins the bools of its inputs, of side packets and of the options by one operation.

    Inputs 0, 1, ... (bool), one at least; side packets 0, 1, ... (bool, optional). Output 0 (bool): `op` over
    all of them, turned around with `negate`. Every input needs a packet at each timestamp. The timestamp
    offset is 0::

        HANDS      0 true   1 false  2 true
        FACES      0 true   1 false  2 false
        AND        0 true   1 false  2 false

    Options `LogicCalculatorOptions`: `op` (AND; OR, XOR: whether an odd number of them is true), `negate`
    (false), `input_value` (further bools).

    Raises in the contract: InvalidArgumentError without an input. In `process`: the same for an input without
    a packet.

    Source of the behaviour: MediaPipe `calculators/util/logic_calculator.cc`; there an input without a packet
    ends the process.

    Example config::

        node {
          calculator: "LogicCalculator"
          input_stream: "has_hands"
          input_stream: "has_faces"
          output_stream: "is_empty"
          options { [penstock.LogicCalculatorOptions.ext] { op: OR negate: true } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare bools in, a bool out.

        Raises:
            InvalidArgumentError: there is no input.
        """
        if not cc.inputs.count(""):
            raise InvalidArgumentError(
                "the logic operation has 0 untagged inputs, but its result has their timestamps; connect at "
                "least one"
            )
        for ports in (cc.inputs, cc.input_side_packets):
            for i in range(ports.count("")):
                ports[i].set(bool, "one of the values")
        cc.outputs[0].set(bool, "all values joined")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Join what does not change."""
        options = cc.options(LogicCalculatorOptions)
        self._join = _OPERATIONS[options.op]
        self._turns = options.negate
        start = options.op == LogicCalculatorOptions.AND
        fixed = (*options.input_value, *(bool(port.get(bool)) for port in cc.input_side_packets))
        self._start = reduce(self._join, fixed, start)

    def process(self, cc: CalculatorContext) -> None:
        """Join the values of one timestamp."""
        result = self._start
        for port in cc.inputs:
            if port.is_empty():
                raise InvalidArgumentError(
                    f"the logic operation's input {port.name!r} has no packet at timestamp {cc.stamp}, but "
                    "others have one; send a bool at each timestamp, for example by a "
                    "PacketPresenceCalculator or a PacketClonerCalculator"
                )
            result = self._join(result, bool(port.payload))
        cc.output.add(result != self._turns, cc.stamp)
