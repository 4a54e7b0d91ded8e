"""SwitchDemuxCalculator: forwards its inputs to the channel that is active."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import penstock
from penstock.lowlevel import PRESTREAM, next_allowed
from penstock_calculators.messages.switch_container_pb2 import SwitchContainerOptions
from penstock_calculators.routing.switch_channels import ChannelHistory, channels_of, declare_controls, relay

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet


class SwitchDemuxCalculator(penstock.Calculator):
    """Forwards each packet to the channel that is active at its timestamp, and to no other.

    Input VIDEO goes to C0__VIDEO while channel 0 is active, to C1__VIDEO while channel 1 is, and so on.
    A packet of SELECT changes the channel from its timestamp on; ENABLE does the same as a bool, false for
    channel 0 and true for 1. A packet waits until the control stream is settled at its timestamp::

        SELECT     0 . 1 . 0
        VIDEO      a b c d e
        C0__VIDEO  a b . . e
        C1__VIDEO  . . c d .

    The channel that is active at first comes from side packet SELECT or ENABLE, else from the option
    `select` or `enable`, else it is 0. Without a control stream it does not change. With the number of a
    channel that is not connected no channel is active: packets of that time are dropped, and appear in the
    ledger as "no channel is active".

    Bounds go where packets go: a channel that is not active gets no bounds. Headers and side packets go to
    all channels, since their nodes all open. There is no timestamp offset. The contract asks for
    ImmediateInputStreamHandler, under which no input waits for another, unless the option `synchronize_io`
    is set. The output does not depend on the order of arrival: a packet that arrives after a later change
    of the channel still goes to the channel of its time (the reference may lose it).

    A SwitchContainer contains one of these.

    Options: those of SwitchContainer; `contained_node`, `async_selection` and `tick_input_stream` are
    ignored here.

    Source of the behaviour: MediaPipe `framework/tool/switch_demux_calculator.cc`.

    Example config::

        node {
          calculator: "SwitchDemuxCalculator"
          input_stream: "ENABLE:is_dark"
          input_stream: "VIDEO:frames"
          output_stream: "C0__VIDEO:day_frames"
          output_stream: "C1__VIDEO:night_frames"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give the ports of all channels the types of the inputs and side packets.

        Raises:
            InvalidArgumentError: a port has no counterpart, or ENABLE and SELECT are both streams.
        """
        declare_controls(cc)
        for inputs, outputs, what in (
            (cc.inputs, cc.outputs, "stream"),
            (cc.input_side_packets, cc.output_side_packets, "side packet"),
        ):
            for key, ports in channels_of(inputs.ids(), outputs.ids(), what).items():
                inputs[key].set_any("packets for the active channel")
                for channel, port in ports.items():
                    outputs[port].set_same_as(inputs[key], f"the same for channel {channel}")
        if not cc.options(SwitchContainerOptions).synchronize_io:
            cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Forward headers and side packets to all channels."""
        self._history = ChannelHistory(cc)
        self._channels = channels_of(cc.inputs.ids(), cc.outputs.ids(), "stream")
        #: Packets that are not sent yet; an empty packet is a bound.
        self._waiting: dict[tuple[str, int], deque[Packet]] = {key: deque() for key in self._channels}
        for key, ports in self._channels.items():
            header = cc.inputs[key].header
            for port in ports.values() if not header.is_empty() else ():
                cc.outputs[port].set_header(header)
        sides = channels_of(cc.input_side_packets.ids(), cc.output_side_packets.ids(), "side packet")
        for key, ports in sides.items():
            for port in ports.values():
                cc.output_side_packets[port].set(cc.input_side_packets[key])

    def process(self, cc: CalculatorContext) -> None:
        """Queue the packets, and send those whose channel is known."""
        self._history.record(cc)
        needed_from = self._history.known_below
        for key, waiting in self._waiting.items():
            packet = cc.inputs[key].packet
            if packet.stamp == cc.stamp:
                waiting.append(packet)
            while waiting and waiting[0].stamp < self._history.known_below:
                self._send(cc, key, waiting.popleft())
            # a stream without a settled timestamp may still begin with a packet at PRESTREAM
            next_stamp = next_allowed(packet.stamp) if packet.stamp >= PRESTREAM else PRESTREAM
            needed_from = min(needed_from, next_stamp)  # packets that wait are not below known_below
        self._history.forget_before(needed_from)

    def _send(self, cc: CalculatorContext, key: tuple[str, int], packet: Packet) -> None:
        port = self._channels[key].get(self._history.channel_at(packet.stamp))
        if port is not None:
            relay(packet, cc.outputs[port])
        elif not packet.is_empty():
            cc.inputs[key].count_dropped("no channel is active")
