"""ImmediateMuxCalculator: joins streams into one, and drops packets that arrive too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, POSTSTREAM, next_allowed
from penstock_calculators.messages.immediate_mux_pb2 import ImmediateMuxCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ImmediateMuxCalculator(penstock.Calculator):
    """Forwards every packet that is not behind the output so far, from whichever input it comes.

    For the end of branches that work on different packets of one stream at the same time, as after a
    RoundRobinDemuxCalculator: the result of the fastest is not delayed, and a late one is dropped. Of
    packets of one timestamp that arrive together the one with the lowest index is forwarded::

        arrive  0:a@10  0:b@30  1:c@20  1:d@40
        out     a@10    b@30    .       d@40

    The optional second output has a `true` for each packet that arrived, forwarded or not, at the input
    timestamp, or just after the one before if that is later (and no packet once no timestamp is left). It
    serves as FINISHED of a FlowLimiterCalculator. Dropped packets appear in the ledger as "behind the
    output".

    With ImmediateInputStreamHandler the output depends on when packets arrive, by design, but is always in
    order. With DefaultInputStreamHandler it does not depend on the order of arrival.

    Without options the timestamp offset is 0. Under the immediate policy the end of one input then causes a
    call at the next timestamp of the others, and settles it: a packet at exactly that timestamp is dropped.
    With the option `process_timestamp_bounds`, for inputs that settle timestamps ahead of their packets,
    there is no offset; settled timestamps of an input are forwarded as bounds of all outputs instead, and
    the end of an input ends the outputs. The options extend no message, so they are given as
    `node_options`.

    Source of the behaviour: MediaPipe `calculators/core/immediate_mux_calculator.cc`.

    Example config::

        node {
          calculator: "ImmediateMuxCalculator"
          input_stream: "detections_of_worker_0"
          input_stream: "detections_of_worker_1"
          output_stream: "detections"
          output_stream: "finished"
          input_stream_handler { input_stream_handler: "ImmediateInputStreamHandler" }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give all data ports one type.

        Raises:
            InvalidArgumentError: there is no input, or neither one nor two outputs.
        """
        count = cc.inputs.count("")
        if not count or len(cc.outputs) not in (1, 2):
            raise InvalidArgumentError(
                f"the immediate mux has {count} untagged inputs and {len(cc.outputs)} outputs; connect at "
                "least one input, an output for the packets and, if wanted, one that has a true for each "
                "packet"
            )
        first = cc.inputs[0].set_any("wins over the others where timestamps are equal")
        for i in range(1, count):
            cc.inputs[i].set_same_as(first, "further packets")
        cc.outputs[0].set_same_as(first, "the packets that arrived in time")
        cc.outputs[1].set(bool, "true for each packet that arrived").optional()
        if cc.options(ImmediateMuxCalculatorOptions).process_timestamp_bounds:
            cc.set_process_timestamp_bounds()
        else:
            cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the option."""
        self._with_bounds = cc.options(ImmediateMuxCalculatorOptions).process_timestamp_bounds

    def process(self, cc: CalculatorContext) -> None:
        """Forward packets that are in time; without a packet, forward the settled timestamp."""
        output = cc.outputs[0]
        has_packet = False
        for port in cc.inputs:
            if port.is_empty():
                continue
            has_packet = True
            if port.packet.stamp >= output.bound:
                output.add_packet(port.packet)
            else:
                port.count_dropped("behind the output")
            if 1 in cc.outputs:
                _tell(cc)
        if self._with_bounds and not has_packet and cc.stamp >= output.bound:
            _settle(cc)


def _tell(cc: CalculatorContext) -> None:
    """Write true to the second output for a packet, if there is a timestamp left for it."""
    finished = cc.outputs[1]
    stamp = max(cc.stamp, finished.bound)
    if stamp <= POSTSTREAM:  # beyond: closed, or after a packet at PRESTREAM, MAX or POSTSTREAM
        finished.add(True, stamp)  # noqa: FBT003  # the payload


def _settle(cc: CalculatorContext) -> None:
    """Settle all outputs up to the input timestamp; close them after the last timestamp."""
    bound = next_allowed(cc.stamp)
    for output in cc.outputs:
        if cc.stamp >= MAX:
            output.close()
        elif bound > output.bound:  # the second output may be ahead, see process
            output.set_next_timestamp_bound(bound)
