"""PacketClonerCalculator: repeats the latest packet of some streams at each tick of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock_calculators.messages.packet_cloner_pb2 import PacketClonerCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input, Packet


class PacketClonerCalculator(penstock.Calculator):
    """For each packet of the tick stream, writes the latest packet of every other stream again.

    This brings streams of different rates to the timestamps of one of them. Inputs are the untagged
    streams to clone, and the tick: tag TICK, or else the last untagged stream. Output i is input i, with
    the tick's timestamps. Until an input has had a packet, its output gets bounds only. Headers are
    forwarded::

        A     a . . b . .
        B     . c . . . d
        tick  1 . 3 . 5 .
        A'    a . a . b .
        B'    . . c . c .

    Options: `output_only_when_all_inputs_received` writes nothing, not even bounds, until every input
    has had a packet; `output_packets_only_when_all_inputs_received` writes bounds meanwhile.

    Source of the behaviour: MediaPipe `calculators/core/packet_cloner_calculator.cc`.

    Example config::

        node {
          calculator: "PacketClonerCalculator"
          input_stream: "loudness"
          input_stream: "brightness"
          input_stream: "TICK:frames"
          output_stream: "loudness_at_frame"
          output_stream: "brightness_at_frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give every output the type of its input."""
        cloned = cc.inputs.count("") - (0 if "TICK" in cc.inputs else 1)
        for i in range(cloned):
            cc.inputs[i].set_any("the stream to clone")
            cc.outputs[i].set_same_as(cc.inputs[i], "the latest packet of the stream at each tick")
        tick = cc.inputs["TICK"] if "TICK" in cc.inputs else cc.inputs[max(cloned, 0)]
        tick.set_any("when to write")
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Find the tick, and forward headers."""
        options = cc.options(PacketClonerCalculatorOptions)
        self._bounds_meanwhile = options.output_packets_only_when_all_inputs_received
        self._waits_for_all = options.output_only_when_all_inputs_received or self._bounds_meanwhile
        self._cloned = len(cc.outputs)
        self._latest: list[Packet | None] = [None] * self._cloned
        for i in range(self._cloned):
            if not cc.inputs[i].header.is_empty():
                cc.outputs[i].set_header(cc.inputs[i].header)

    def process(self, cc: CalculatorContext) -> None:
        """Keep the latest packets; write them at a tick."""
        for i in range(self._cloned):
            if not cc.inputs[i].is_empty():
                self._latest[i] = cc.inputs[i].packet
        tick: Input = cc.inputs["TICK"] if "TICK" in cc.inputs else cc.inputs[self._cloned]
        has_all = None not in self._latest
        if not tick.is_empty() and (has_all or not self._waits_for_all):
            for output, packet in zip(cc.outputs, self._latest, strict=True):
                if packet is not None:
                    output.add_packet(packet.at(tick.packet.stamp))
        if tick.packet.stamp == cc.stamp and (has_all or self._bounds_meanwhile or not self._waits_for_all):
            following = cc.input_timestamp.next_allowed_in_stream()
            cc.set_next_timestamp_bound(following)
