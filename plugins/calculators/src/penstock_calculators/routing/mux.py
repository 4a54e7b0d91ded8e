"""MuxCalculator: forwards the packets of the one input that a number selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet

_NOT_SELECTED = "not selected"


class MuxCalculator(penstock.Calculator):
    """Forwards the packet of the input whose index SELECT gives, as a stream or as a side packet.

    As a stream, SELECT decides at each of its own packets: the selected input's packet of that timestamp
    is forwarded; if it has none, the output gets only a bound::

        INPUT:0  a . c d e
        INPUT:1  A B . D .
        SELECT   0 1 1 1 .
        OUTPUT   a B . D .      (bound at 3)

    As a side packet it decides for the whole run. The packets of the other inputs, and those without a
    SELECT packet, appear in the ledger as "not selected". The timestamp offset is 0.

    Where SELECT is a stream the contract asks for MuxInputStreamHandler, which waits only for the
    selected input. With DefaultInputStreamHandler the output is the same, but each packet waits until all
    inputs have settled. Neither depends on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/mux_calculator.cc`.

    Example config::

        node {
          calculator: "MuxCalculator"
          input_stream: "INPUT:0:frames_of_the_left_camera"
          input_stream: "INPUT:1:frames_of_the_right_camera"
          input_stream: "SELECT:camera_number"
          output_stream: "OUTPUT:frames"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give all data ports one type.

        Raises:
            InvalidArgumentError: there is no INPUT, or SELECT is not connected exactly once.
        """
        count = cc.inputs.count("INPUT")
        if not count:
            raise InvalidArgumentError("the mux has no input INPUT; connect at least one to select from")
        if ("SELECT" in cc.inputs) == ("SELECT" in cc.input_side_packets):
            found = "both connected" if "SELECT" in cc.inputs else "neither connected"
            raise InvalidArgumentError(
                f"the mux's input SELECT and side packet SELECT are {found}; connect one"
            )
        first = cc.inputs["INPUT"].set_any("selected by 0")
        for i in range(1, count):
            cc.inputs["INPUT", i].set_same_as(first, f"selected by {i}")
        cc.outputs["OUTPUT"].set_same_as(first, "the packets of the selected input")
        cc.set_timestamp_offset(0)
        for ports in (cc.inputs, cc.input_side_packets):
            ports["SELECT"].set(int, "index of an INPUT, from 0").optional()
        if "SELECT" in cc.inputs:
            cc.set_input_stream_handler("MuxInputStreamHandler")
        cc.declare(may_skip=True, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Find the data inputs, and the one that a side packet selects.

        Raises:
            InvalidArgumentError: the side packet is not the index of an input.
        """
        self._data = range(cc.inputs.count("INPUT"))
        #: None where a stream selects.
        self._fixed: int | None = None
        if "SELECT" in cc.input_side_packets:
            self._fixed = self._index(cc.input_side_packets["SELECT"])

    def process(self, cc: CalculatorContext) -> None:
        """Forward the selected packet, drop the others.

        Raises:
            InvalidArgumentError: SELECT is not the index of an input.
        """
        selected = self._fixed
        if selected is None and not cc.inputs["SELECT"].is_empty():
            selected = self._index(cc.inputs["SELECT"].packet)
        for i in self._data:
            port = cc.inputs["INPUT", i]
            if port.is_empty():
                continue
            if i == selected:
                cc.outputs["OUTPUT"].add_packet(port.packet)
            else:
                port.count_dropped(_NOT_SELECTED)

    def _index(self, packet: Packet) -> int:
        index = packet.get(int)
        if index not in self._data:
            raise InvalidArgumentError(
                f"SELECT holds {index}, but the mux has inputs INPUT:0 to INPUT:{len(self._data) - 1} only"
            )
        return index
