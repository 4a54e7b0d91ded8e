"""SidePacketsToStreamsCalculator: writes side packets that hold whole streams to streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock import Packet, Timestamp
from penstock.errors import InvalidArgumentError
from penstock_calculators.messages.side_packets_to_streams_pb2 import SidePacketsToStreamsCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop

_Options = SidePacketsToStreamsCalculatorOptions
#: Mode → the timestamp of every packet, where it is the same for all.
_FIXED: Final = {_Options.PRE_STREAM: Timestamp.PRESTREAM, _Options.WHOLE_STREAM: Timestamp.POSTSTREAM}


class SidePacketsToStreamsCalculator(penstock.Calculator):
    """Writes the packets in the list of side packet i to output i, one after the other, and ends.

    For graphs that run over a batch. The lists must be of one length, and hold `Packet`s. Each call writes
    one packet to every output, so full queues downstream throttle the source. An empty packet in a list
    becomes a bound. There are no inputs, so nothing depends on arrival.

    Options: `set_timestamp` says which timestamps the packets get: with VECTOR_INDEX (the default) their
    place in the list; with PRE_STREAM or WHOLE_STREAM `Timestamp.PRESTREAM` or `POSTSTREAM`, where a stream
    can have only one packet; with NONE they keep their own. `vectors_of_packets` false: each side packet is
    itself the one packet of its stream (VECTOR_INDEX: at 0), and NONE is an error. `num_inputs`, if given:
    how many side packets and outputs there must be.

    Source of the behaviour: MediaPipe `framework/tool/source.cc`.

    Example config::

        node {
          calculator: "SidePacketsToStreamsCalculator"
          input_side_packet: "all_images"
          input_side_packet: "all_labels"
          output_stream: "images"
          output_stream: "labels"
          options {
            [penstock.SidePacketsToStreamsCalculatorOptions.ext] { num_inputs: 2 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept as many outputs as side packets.

        Raises:
            InvalidArgumentError: the numbers differ, or single packets are to keep timestamps.
        """
        options = cc.options(_Options)
        sides, outputs = cc.input_side_packets.count(""), cc.outputs.count("")
        if options.HasField("num_inputs") and not sides == outputs == options.num_inputs:
            raise InvalidArgumentError(
                f"there are {sides} untagged side packets and {outputs} untagged outputs, but the option "
                f"num_inputs is {options.num_inputs}; make the three equal, or leave out num_inputs"
            )
        if sides != outputs:
            raise InvalidArgumentError(
                f"the side packets cannot go to streams: there are {sides} untagged side packets, but "
                f"{outputs} untagged outputs; each side packet needs an output"
            )
        if not options.vectors_of_packets and options.set_timestamp == _Options.NONE:
            raise InvalidArgumentError(
                "set_timestamp is NONE and vectors_of_packets false, but a side packet has no timestamp "
                "to keep; choose another set_timestamp"
            )
        for i in range(sides):
            if options.vectors_of_packets:
                cc.input_side_packets[i].set(list[Packet], "the packets of a stream")
                cc.outputs[i].set_any("those packets")
            else:
                cc.input_side_packets[i].set_any("the packet of a stream")
                cc.outputs[i].set_same_as(cc.input_side_packets[i], "that packet")
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Check the lists.

        Raises:
            InvalidArgumentError: the lists differ in length, or hold an object that is not a packet.
        """
        options = cc.options(_Options)
        self._mode = options.set_timestamp
        sides = [cc.input_side_packets[i] for i in range(len(cc.outputs))]
        lists = [side.get(list) if options.vectors_of_packets else [side] for side in sides]
        self._written = 0
        self._lists: list[list[Packet]] = lists
        lengths = [len(packets) for packets in lists]
        if len(set(lengths)) > 1:
            raise InvalidArgumentError(
                f"the side packets hold lists of {', '.join(map(str, lengths))} packets; make "
                "them equally long"
            )
        for i, packets in enumerate(lists):
            wrong = next((one for one in packets if not isinstance(one, Packet)), None)
            if wrong is not None:
                raise InvalidArgumentError(
                    f"side packet {i} holds a list with a {type(wrong).__name__!r}, but must hold packets; "
                    "wrap the payloads, as penstock.Packet(payload)"
                )

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write the next packet of each list; end after the last."""
        at = self._written
        if not self._lists or at >= len(self._lists[0]):
            return penstock.STOP
        for output, packets in zip(cc.outputs, self._lists, strict=True):
            packet = packets[at]
            if self._mode != _Options.NONE:
                packet = packet.at(_FIXED.get(self._mode, at))
            output.add_packet(packet)
        self._written = at + 1
        return penstock.STOP if self._written == len(self._lists[0]) else None
