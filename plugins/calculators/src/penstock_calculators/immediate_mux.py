"""ImmediateMuxCalculator: joins streams to one, dropping what comes too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, POSTSTREAM, next_allowed
from penstock_calculators.immediate_mux_calculator_pb2 import ImmediateMuxCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class ImmediateMuxCalculator(penstock.Calculator):
    """Hands on every packet that is not behind what went out before, whichever input it comes from.

    For the end of branches that work on different packets of one stream at the same time, as behind a
    RoundRobinDemuxCalculator: the result of the fastest is not held up, and a late one is dropped. Of
    packets of one timestamp that come together the one of the lowest index goes on::

        arrive  0:a@10  0:b@30  1:c@20  1:d@40
        out     a@10    b@30    .       d@40

    The optional second output has a `true` for each packet that came in, handed on or not, at the input
    timestamp, or just after the one before where that is later (and none where no timestamp is left): what
    a FlowLimiterCalculator wants as FINISHED. What is dropped stands in the ledger as "behind the output".

    With ImmediateInputStreamHandler what comes out depends on when packets arrive, by design; what holds
    always is the order within the output. With DefaultInputStreamHandler it does not depend on it.

    Without options the timestamp offset is 0. Mind that under the immediate policy the end of one input is
    a call at the next timestamp of the others, which it settles: a packet just there is dropped. With the
    option `process_timestamp_bounds` there is no offset; settled timestamps of an input are handed on as
    bounds of all outputs instead, and the end of an input ends them: for inputs that settle timestamps
    ahead of their packets. Options extend nothing, so they are given as `node_options`.

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
                f"there are {count} untagged inputs and {len(cc.outputs)} outputs; connect at least "
                "one input, an output for the packets and, if wanted, one that tells of each packet"
            )
        first = cc.inputs[0].set_any("goes before the others where timestamps are equal")
        for i in range(1, count):
            cc.inputs[i].set_same_as(first, "further packets")
        cc.outputs[0].set_same_as(first, "the packets that came in time")
        cc.outputs[1].set(bool, "true for each packet that came in").optional()
        if cc.options(ImmediateMuxCalculatorOptions).process_timestamp_bounds:
            cc.set_process_timestamp_bounds()
        else:
            cc.set_timestamp_offset(0)

    def open(self, cc: CalculatorContext) -> None:
        """Look up the option."""
        self._with_bounds = cc.options(ImmediateMuxCalculatorOptions).process_timestamp_bounds

    def process(self, cc: CalculatorContext) -> None:
        """Hand on what is in time; where nothing came, the settled timestamp."""
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
    """Say on the second output that a packet came, if there is a timestamp left for it."""
    finished = cc.outputs[1]
    stamp = max(cc.stamp, finished.bound)
    if stamp <= POSTSTREAM:  # beyond: closed, or after a packet at PRESTREAM, MAX or POSTSTREAM
        finished.add(True, stamp)  # noqa: FBT003  # the payload


def _settle(cc: CalculatorContext) -> None:
    """Promise on all outputs that nothing comes up to the input timestamp; end them after the last."""
    bound = next_allowed(cc.stamp)
    for output in cc.outputs:
        if cc.stamp >= MAX:
            output.close()
        elif bound > output.bound:  # the second output may be ahead, see process
            output.set_next_timestamp_bound(bound)
