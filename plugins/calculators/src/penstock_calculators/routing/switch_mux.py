"""SwitchMuxCalculator: forwards the outputs of the channel that is active."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import next_allowed
from penstock_calculators.routing.switch_channels import ChannelHistory, channels_of, declare_controls, relay

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet

    PortId = tuple[str, int]


@attrs.define(eq=False)
class _Lane:
    """One input: its output while its channel is active, and its waiting packets; empty ones are bounds."""

    channel: int
    port: PortId
    output: PortId
    waiting: deque[Packet] = attrs.field(factory=deque)


class SwitchMuxCalculator(penstock.Calculator):
    """Forwards packets of the channel that is active at their timestamp; drops those of the others.

    The mirror of SwitchDemuxCalculator: C0__VIDEO goes to VIDEO while channel 0 is active, C1__VIDEO while
    channel 1 is, and so on; SELECT and ENABLE, as streams, side packets and options, have the same
    meaning in both::

        SELECT     0 . 1 . 0
        C0__VIDEO  a b c . e
        C1__VIDEO  . . C D .
        VIDEO      a b C D e

    The outputs of channels arrive late, and one channel may be slower than another. So a packet waits until
    the control stream is settled at its timestamp, and until all streams of each channel that was active
    before have settled the period in which it was; this keeps outputs in order. Packets of channels that
    are not active appear in the ledger as "channel is not active". A change should follow directly after
    the timestamps that have passed, as PacketSequencerCalculator and SwitchContainer ensure: a channel that
    gets no further timestamps cannot settle them, and delays the next channel until it ends.

    Side packets are forwarded from the channel that is active at first. Headers are not forwarded. There
    is no timestamp offset; the contract asks for ImmediateInputStreamHandler. The output does not depend
    on the order of arrival, only its time of arrival does.

    A SwitchContainer contains one of these.

    Options: those of SwitchContainer, of which only `select` and `enable` are used here.

    Source of the behaviour: MediaPipe `framework/tool/switch_mux_calculator.cc`.

    Example config::

        node {
          calculator: "SwitchMuxCalculator"
          input_stream: "ENABLE:is_dark"
          input_stream: "C0__VIDEO:day_picture"
          input_stream: "C1__VIDEO:night_picture"
          output_stream: "VIDEO:picture"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each output one type with all inputs that go there.

        Raises:
            InvalidArgumentError: a port has no counterpart, or ENABLE and SELECT are both streams.
        """
        declare_controls(cc)
        for outputs, inputs, what in (
            (cc.outputs, cc.inputs, "stream"),
            (cc.output_side_packets, cc.input_side_packets, "side packet"),
        ):
            for key, ports in channels_of(outputs.ids(), inputs.ids(), what).items():
                first = inputs[next(iter(ports.values()))].set_any()
                for channel, port in ports.items():
                    inputs[port].set_same_as(first, f"forwarded while channel {channel} is active")
                outputs[key].set_same_as(first, "the same from the active channel")
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the side packets of the channel that is active at first.

        Raises:
            InvalidArgumentError: that channel does not have them.
        """
        self._history = ChannelHistory(cc)
        self._lanes = [
            _Lane(channel, port, output)
            for output, ports in channels_of(cc.outputs.ids(), cc.inputs.ids(), "stream").items()
            for channel, port in ports.items()
        ]
        channel = self._history.first_period()[0]
        sides = channels_of(cc.output_side_packets.ids(), cc.input_side_packets.ids(), "side packet")
        for key, ports in sides.items():
            if channel not in ports:
                raise InvalidArgumentError(
                    f"the switch's output side packet {cc.output_side_packets[key].name!r} comes from the "
                    f"channel that is active at first, which is {channel}, but only {sorted(ports)} are "
                    "connected; select one of them"
                )
            cc.output_side_packets[key].set(cc.input_side_packets[ports[channel]])

    def process(self, cc: CalculatorContext) -> None:
        """Queue the packets, and forward those whose channel is known, one period after the other."""
        self._history.record(cc)
        for lane in self._lanes:
            packet = cc.inputs[lane.port].packet
            if packet.stamp == cc.stamp:
                lane.waiting.append(packet)
        while self._serve_first_period(cc):
            self._history.forget_first()

    def _serve_first_period(self, cc: CalculatorContext) -> bool:
        """Forward or drop the packets of the oldest period; return whether the period is over."""
        channel, start, end, goes_on = self._history.first_period()
        is_settled = True
        for lane in self._lanes:
            while lane.waiting and lane.waiting[0].stamp < end:
                packet = lane.waiting.popleft()
                if lane.channel == channel and packet.stamp >= start:
                    relay(packet, cc.outputs[lane.output], end)
                elif not packet.is_empty():
                    cc.inputs[lane.port].count_dropped("channel is not active")
            if lane.channel == channel and next_allowed(cc.inputs[lane.port].packet.stamp) < end:
                is_settled = False
        return is_settled and not goes_on
