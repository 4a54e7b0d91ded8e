"""ShardCalculator: sends each packet to the output that its key belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, next_allowed
from penstock_shards.hashing import shard_of
from penstock_shards.shard_options import ShardCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ShardCalculator(penstock.Calculator):
    """Sends all packets of a key to the same one of its outputs.

    For state that belongs to a key (a sensor, a camera, a customer) and more work than one node can do: each
    output feeds a replica of the nodes, which sees all packets of its keys in order::

        KEY      a b a c b
        in       1 2 3 4 5
        SHARD:0  1 . 3 . .
        SHARD:1  . 2 . 4 5

    Which output it is depends on the key and the number of outputs alone (`penstock_shards.shard_of`), not
    on the machine or the run. With one output more, about one key in that many moves, to the new output.

    Inputs: KEY, str, bytes or integers; one untagged, of any type. Outputs: SHARD:0 and on, of the same type.
    Streams that belong together, as the picture and the pose of one camera, each have a ShardCalculator with
    the same KEY. A key without a packet does nothing. Headers are not forwarded.

    Without options the timestamp offset is 0: each packet settles its timestamp on all outputs, so a
    ShardMergeCalculator waits for none longer than it must. With many outputs these bounds cost more than
    the packet. With `bound_interval_us` there is no offset, and the outputs without a packet get a bound
    only when that much stream time has passed: results that are joined by timestamp wait up to that long,
    and no input queue behind may be shorter than the packets of that time. With -1 they get none, for a
    ShardMergeCalculator that joins by key.

    Raises in `process`: InvalidArgumentError if a packet has no key at its timestamp, or a key is of
    another type.

    Example config::

        node {
          calculator: "ShardCalculator"
          input_stream: "KEY:sensor"
          input_stream: "events"
          output_stream: "SHARD:0:events_0"
          output_stream: "SHARD:1:events_1"
        }
    """

    Options = ShardCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give every output the type of the input.

        Raises:
            InvalidArgumentError: there is no SHARD.
        """
        count = cc.outputs.count("SHARD")
        if not count:
            raise InvalidArgumentError("there is no output SHARD; connect at least one, SHARD:0")
        cc.inputs["KEY"].set_any("what decides about the output: str, bytes or integers")
        data = cc.inputs[0].set_any("packets to split by key")
        for i in range(count):
            cc.outputs["SHARD", i].set_same_as(data, f"packets of the keys that belong to shard {i}")
        if cc.options(ShardCalculatorOptions).bound_interval_us:
            cc.set_process_timestamp_bounds()
        else:
            cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the option."""
        self._outputs = [cc.outputs["SHARD", i] for i in range(cc.outputs.count("SHARD"))]
        self._interval = cc.options(ShardCalculatorOptions).bound_interval_us
        #: Stream time from which the outputs without a packet get a bound; None before the first call.
        self._next_bound: int | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Forward the packet, and settle the other outputs when it is time.

        Raises:
            InvalidArgumentError: there is a packet without a key, or a key of another type.
        """
        port = cc.inputs[0]
        if not port.is_empty():
            key = cc.inputs["KEY"]
            if key.is_empty():
                raise InvalidArgumentError(
                    f"stream {port.name!r} has a packet at {cc.input_timestamp}, but KEY {key.name!r} has "
                    "none; each packet needs a key of its shard at its timestamp"
                )
            self._outputs[shard_of(key.payload, len(self._outputs))].add_packet(port.packet)
        if self._interval > 0:
            self._settle(cc.stamp)

    def _settle(self, stamp: int) -> None:
        """Settle all outputs up to `stamp` if the last time was long ago."""
        if stamp >= MAX:  # nothing can follow but the end, which closes the outputs
            return
        if self._next_bound is not None and stamp < self._next_bound:
            return
        self._next_bound = stamp + self._interval
        bound = next_allowed(stamp)
        for output in self._outputs:
            if output.bound < bound:
                output.set_next_timestamp_bound(bound)
