"""PacketThinnerCalculator: lets at most one packet pass in each period."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import attrs

import penstock
from penstock import Packet
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, MIN, shifted
from penstock_calculators.messages.packet_thinner_pb2 import PacketThinnerCalculatorOptions
from penstock_calculators.side_packets.options_packet import TAG, declare_options_packet, merged_options

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_ASYNC = PacketThinnerCalculatorOptions.ASYNC
#: Microseconds in a second: timestamps count these.
_SECOND = 1_000_000


class PacketThinnerCalculator(penstock.Calculator):
    """Thins a stream out, in one of two ways.

    ASYNC: a packet passes when the one that passed before it is at least a period old. SYNC: time is
    divided into periods around start_time, start_time + period, ...; in each period the packet nearest to
    the middle passes, the later one of two, at the timestamp of the middle or, with
    `sync_output_timestamps: false`, at its own. With period 5::

        in          2 4 6 8 10 12 14
        ASYNC       2 . . 8 .  .  14
        SYNC, own   2 . 6 . 10 .  14
        SYNC        2@0 6@5 10@10 14@15

    Packets before start_time are dropped; the first at or after end_time ends the output. Dropped
    packets appear in the ledger as "before start_time", "at or after end_time" or "period has another".

    ASYNC has a timestamp offset of 0. SYNC has none, and sets bounds as early as possible: a packet is kept
    until one of a later period arrives, or one at or after end_time, or the input ends. The output does
    not depend on the order of arrival. The header is forwarded.

    Options: `thinner_type` (default ASYNC); `period`, in microseconds (default 1); `start_time` (default:
    MIN for ASYNC, 0 for SYNC); `end_time` (default MAX); `sync_output_timestamps` (default true);
    `update_frame_rate` (default false): the header, a VideoHeader, is forwarded with the rate that the
    option `period` gives. Side packet OPTIONS, a PacketThinnerCalculatorOptions or a CalculatorOptions,
    replaces options of the node, and side packet PERIOD, an int, replaces their period.

    Source of the behaviour: MediaPipe `calculators/core/packet_thinner_calculator.cc`. In the reference a
    SYNC packet that is kept until end_time fails the run; here it is written.

    Example config::

        node {
          calculator: "PacketThinnerCalculator"
          input_stream: "frames"
          output_stream: "a_frame_each_second"
          options {
            [penstock.PacketThinnerCalculatorOptions.ext] { thinner_type: SYNC period: 1000000 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give the output the type of the input.

        Raises:
            InvalidArgumentError: the period is not positive, or start_time not before end_time.
        """
        cc.inputs[0].set_any("packets to thin out")
        cc.outputs[0].set_same_as(cc.inputs[0], "the packets that pass")
        declare_options_packet(cc, PacketThinnerCalculatorOptions)
        sides = cc.input_side_packets
        sides["PERIOD"].set(int, "microseconds; replaces the option period").optional()
        if TAG not in sides and "PERIOD" not in sides:
            options = cc.options(PacketThinnerCalculatorOptions)
            _Limits.of(options, options.period)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Gather the options, forward the header, and settle the time before start_time.

        Raises:
            InvalidArgumentError: the period is not positive, or start_time not before end_time.
            PacketTypeError: the frame rate of a header that is not a VideoHeader is to be updated.
        """
        options = merged_options(cc, PacketThinnerCalculatorOptions)
        period = options.period
        if "PERIOD" in cc.input_side_packets:
            period = cc.input_side_packets["PERIOD"].get(int)
        self._limits = _Limits.of(options, period)
        self._is_async = options.thinner_type == _ASYNC
        self._on_grid = options.sync_output_timestamps
        #: ASYNC: packets before this do not pass.
        self._next = self._limits.start
        #: SYNC: the best packet of its period so far.
        self._saved: Packet | None = None
        if self._is_async:
            cc.set_offset(0)
        _pass_header(cc, options)
        cc.outputs[0].set_next_timestamp_bound(self._limits.start)

    def process(self, cc: CalculatorContext) -> None:
        """Let a packet pass, drop it, or save it."""
        port, output = cc.inputs[0], cc.outputs[0]
        packet = port.packet
        if packet.is_empty():
            return
        if packet.stamp < self._limits.start:
            port.count_dropped("before start_time")
        elif packet.stamp >= self._limits.end:
            port.count_dropped("at or after end_time")
            if not output.is_closed():
                self._write_saved(cc)
                output.close()
        elif self._is_async:
            self._thin(cc, packet)
        else:
            self._save(cc, packet)

    def close(self, cc: CalculatorContext) -> None:
        """Write the packet that is still kept."""
        self._write_saved(cc)

    def _thin(self, cc: CalculatorContext, packet: Packet) -> None:
        if packet.stamp < self._next:
            cc.inputs[0].count_dropped("period has another")
            return
        self._next = shifted(packet.stamp, self._limits.period)
        cc.outputs[0].add_packet(packet)
        cc.outputs[0].set_next_timestamp_bound(self._next)

    def _save(self, cc: CalculatorContext, packet: Packet) -> None:
        middle = self._limits.middle(packet.stamp)
        saved = self._saved
        if saved is not None:
            if self._limits.middle(saved.stamp) == middle:
                cc.inputs[0].count_dropped("period has another")
                if abs(packet.stamp - middle) <= abs(saved.stamp - middle):
                    self._saved = packet
                return
            self._write_saved(cc)
        self._saved = packet
        cc.outputs[0].set_next_timestamp_bound(middle if self._on_grid else packet.stamp)

    def _write_saved(self, cc: CalculatorContext) -> None:
        saved, self._saved = self._saved, None
        if saved is not None:
            cc.outputs[0].add_packet(saved.at(self._limits.middle(saved.stamp)) if self._on_grid else saved)


@attrs.frozen
class _Limits:
    """The period and the two ends, all in microseconds."""

    start: int
    end: int
    period: int

    @classmethod
    def of(cls, options: PacketThinnerCalculatorOptions, period: int) -> _Limits:
        """Check and return the limits in the options.

        Raises:
            InvalidArgumentError: the period is not positive, or start_time not before end_time.
        """
        start = MIN if options.thinner_type == _ASYNC else 0
        if options.HasField("start_time"):
            start = options.start_time
        end = options.end_time if options.HasField("end_time") else MAX
        if period <= 0:
            raise InvalidArgumentError(
                f"the thinner's period is {period}, but must be above 0 (microseconds)"
            )
        if start >= end:
            raise InvalidArgumentError(
                f"the thinner's start_time is {start}, but must be below end_time, which is {end}"
            )
        return cls(start, end, period)

    def middle(self, stamp: int) -> int:
        """Return the middle of the period that a timestamp, not before `start`, belongs to."""
        return (stamp - self.start + self.period // 2) // self.period * self.period + self.start


def _pass_header(cc: CalculatorContext, options: PacketThinnerCalculatorOptions) -> None:
    header = cc.inputs[0].header
    if header.is_empty():
        return
    if options.update_frame_rate:
        from penstock_formats import VideoHeader  # imports NumPy

        known = header.get(VideoHeader)
        rate = known.frame_rate
        if options.thinner_type != _ASYNC:
            rate = min(rate, _SECOND / options.period)
        elif rate > 0:
            rate /= math.ceil(rate * options.period / _SECOND)
        header = Packet(attrs.evolve(known, frame_rate=rate))
    cc.outputs[0].set_header(header)
