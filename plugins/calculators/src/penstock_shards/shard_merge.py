"""ShardMergeCalculator: joins what a ShardCalculator has split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, MIN
from penstock_shards.shard_options import Order, ShardMergeCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Input


class ShardMergeCalculator(penstock.Calculator):
    """Joins the results of shards into one stream, in order of timestamp or of key.

    With `order: TIMESTAMP`, the default, the packets come out in the order of their timestamps, the same in
    every run. The node waits until no shard can have an earlier packet, so one slow shard holds up all::

        SHARD:0  1 . 3 . .
        SHARD:1  . 2 . 4 5
        out      1 2 3 4 5

    With `order: PER_KEY` each packet is forwarded when it comes. Packets of one shard keep their order, so
    those of one key do; a slow or silent shard holds up nobody. A packet behind the output moves to the next
    free timestamp, and the optional output TIMESTAMP has, at the same timestamp, the one that it had. What
    comes out then depends on when packets arrive, by design::

        arrive     SHARD:0:1@1  SHARD:0:3@3  SHARD:1:2@2  SHARD:1:4@4
        out        1@1          3@3          2@4          4@5
        TIMESTAMP  1            3            2            4

    Inputs: SHARD:0 and on, of one type. Outputs: one untagged, of the same type; TIMESTAMP, of
    `penstock.Timestamp`, optional. With TIMESTAMP the timestamp offset is 0. With PER_KEY there is none, and
    the contract asks for ImmediateInputStreamHandler. Headers are not forwarded.

    Raises in `process`: InvalidArgumentError if two shards have a packet at one timestamp with order
    TIMESTAMP; or, with PER_KEY, if a packet has none of the timestamps from MIN to MAX, or none is left.

    Example config::

        node {
          calculator: "ShardMergeCalculator"
          input_stream: "SHARD:0:results_0"
          input_stream: "SHARD:1:results_1"
          output_stream: "results"
          node_options {
            [type.googleapis.com/penstock_shards.ShardMergeCalculatorOptions] { order: PER_KEY }
          }
        }
    """

    Options = ShardMergeCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give all data ports one type.

        Raises:
            InvalidArgumentError: there is no SHARD.
        """
        count = cc.inputs.count("SHARD")
        if not count:
            raise InvalidArgumentError("the shard merge has no input SHARD; connect at least one, SHARD:0")
        first = cc.inputs["SHARD", 0].set_any("results of shard 0")
        for i in range(1, count):
            cc.inputs["SHARD", i].set_same_as(first, f"results of shard {i}")
        cc.outputs[0].set_same_as(first, "the results of all shards")
        cc.outputs["TIMESTAMP"].set(penstock.Timestamp, "the timestamp that each packet had").optional()
        if cc.options(ShardMergeCalculatorOptions).order is Order.PER_KEY:
            cc.set_input_stream_handler("ImmediateInputStreamHandler")
        else:
            cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the option."""
        self._is_per_key = cc.options(ShardMergeCalculatorOptions).order is Order.PER_KEY

    def process(self, cc: CalculatorContext) -> None:
        """Forward what has come.

        Raises:
            InvalidArgumentError: a timestamp has two packets, or there is none for a packet.
        """
        packets = [port for port in cc.inputs if not port.is_empty()]
        if len(packets) > 1 and not self._is_per_key:
            names = ", ".join(repr(port.name) for port in packets)
            raise InvalidArgumentError(
                f"streams {names} to merge each have a packet at {cc.input_timestamp}; a shard may only "
                "write at timestamps of its own packets, or the order must be PER_KEY"
            )
        for port in packets:
            stamp = self._free_stamp(cc, port) if self._is_per_key else cc.stamp
            if "TIMESTAMP" in cc.outputs:
                cc.outputs["TIMESTAMP"].add(port.packet.timestamp, stamp)
            cc.outputs[0].add_packet(port.packet.at(stamp))

    @staticmethod
    def _free_stamp(cc: CalculatorContext, port: Input) -> int:
        """Return the timestamp of a packet, or the next that is free."""
        stamp = max(port.packet.stamp, cc.outputs[0].bound)
        if not MIN <= port.packet.stamp <= MAX:
            raise InvalidArgumentError(
                f"stream {port.name!r} has a packet at {port.packet.timestamp}, which a merge cannot send "
                "after others; with order PER_KEY timestamps go from MIN to MAX"
            )
        if stamp > MAX:
            raise InvalidArgumentError(
                f"stream {port.name!r}: no timestamp is left in the merge of shards for the packet at "
                f"{port.packet.timestamp}, since one at Timestamp.MAX has been forwarded"
            )
        return stamp
