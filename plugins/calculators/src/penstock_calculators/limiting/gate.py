"""GateCalculator: lets packets through while something allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InternalError
from penstock_calculators.messages.gate_pb2 import GateCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_CONTROLS = ("ALLOW", "DISALLOW")
_UNINITIALIZED = GateCalculatorOptions.GATE_UNINITIALIZED
_ALLOWING = GateCalculatorOptions.GATE_ALLOW
_DISALLOWING = GateCalculatorOptions.GATE_DISALLOW


class GateCalculator(penstock.Calculator):
    """Forwards the packets of each timestamp at which the gate is open, and drops the others.

    Untagged input i goes to output i. One bool decides: ALLOW, or DISALLOW, which closes the gate where it
    is true; either is an input, which decides at each timestamp, or a side packet. The option `allow`
    decides if neither is connected, or if the side packet is not given. A gate closed by a side packet
    stays closed, so it ends its data outputs at the first packet::

        frames  1 2 3 . 5
        ALLOW   T F . T T
        out     1 . . . 5       (bounds at 2, 3, 4)

    Output STATE_CHANGE, if it is connected, has the new state at each timestamp at which it differs
    from the one before. Headers are forwarded. Packets that are dropped appear in the ledger as "gate
    closed". The timestamp offset is 0, and the output does not depend on the order of arrival.

    Options: `empty_packets_as_allow`: whether the gate is open at a timestamp without a control packet
    (default false); `allow`: see above (default false); `initial_gate_state`: the state before the first
    decision, for STATE_CHANGE (by default there is none, and the first decision is no change).

    Source of the behaviour: MediaPipe `calculators/core/gate_calculator.cc`.

    Example config::

        node {
          calculator: "GateCalculator"
          input_stream: "frames"
          input_stream: "ALLOW:somebody_is_there"
          output_stream: "frames_with_somebody"
          output_stream: "STATE_CHANGE:came_or_went"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept as many data outputs as data inputs, and one control.

        Raises:
            InternalError: there are several controls, or the numbers differ.
        """
        controls = [f"input {tag}" for tag in _CONTROLS if tag in cc.inputs]
        controls += [f"side packet {tag}" for tag in _CONTROLS if tag in cc.input_side_packets]
        if len(controls) > 1:
            raise InternalError(
                f"the gate is controlled by {' and '.join(controls)}; connect one of them only"
            )
        count = cc.inputs.count("")
        if cc.outputs.count("") != count:
            raise InternalError(
                f"the gate has {cc.outputs.count('')} untagged outputs, but {count} untagged inputs; each "
                "input needs an output"
            )
        for i in range(count):
            cc.inputs[i].set_any("packets to let through")
            cc.outputs[i].set_same_as(cc.inputs[i], "the same packets, while the gate is open")
        for ports in (cc.inputs, cc.input_side_packets):
            ports["ALLOW"].set(bool, "whether the gate is open").optional()
            ports["DISALLOW"].set(bool, "whether the gate is closed").optional()
        cc.outputs["STATE_CHANGE"].set(bool, "the new state, where it changes").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find the control of the gate, and forward headers."""
        options = cc.options(GateCalculatorOptions)
        self._data = range(cc.inputs.count(""))
        self._state: int = options.initial_gate_state
        self._without_packet = options.empty_packets_as_allow
        self._control = next((tag for tag in _CONTROLS if tag in cc.inputs), "")
        side = next((tag for tag in _CONTROLS if tag in cc.input_side_packets), "")
        #: The decision for the whole run; None where a control stream decides.
        self._fixed: bool | None = None if self._control else options.allow
        self._stays_closed = False
        if side:
            self._fixed = cc.input_side_packets[side].get(bool) == (side == "ALLOW")
            self._stays_closed = not self._fixed
        for i in self._data:
            if not cc.inputs[i].header.is_empty():
                cc.outputs[i].set_header(cc.inputs[i].header)

    def process(self, cc: CalculatorContext) -> None:
        """Decide, then forward or drop."""
        is_open = self._decide(cc)
        state = _ALLOWING if is_open else _DISALLOWING
        if "STATE_CHANGE" in cc.outputs and self._state not in (_UNINITIALIZED, state):
            cc.outputs["STATE_CHANGE"].add(is_open, cc.stamp)
        self._state = state
        for i in self._data:
            port = cc.inputs[i]
            if not port.is_empty():
                if is_open:
                    cc.outputs[i].add_packet(port.packet)
                else:
                    port.count_dropped("gate closed")
            if self._stays_closed:
                cc.outputs[i].close()

    def _decide(self, cc: CalculatorContext) -> bool:
        if self._fixed is not None:
            return self._fixed
        control = cc.inputs[self._control]
        if control.is_empty():
            return self._without_packet
        allowed: bool = control.payload
        return allowed == (self._control == "ALLOW")
