"""BeginLoop...Calculator: takes a list apart, so the nodes after it see one element at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Timestamp
from penstock.errors import InternalError
from penstock_calculators.lists.containers import FRAMES, IMAGES, TENSORS, ListOf, PerElementType

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: The ledger's reason for a CLONE packet that no element goes with.
NO_ITEM = "no item to go with"


class BeginLoopCalculator(PerElementType):
    """Writes each element of a <T> on its own, for a loop that an EndLoop...Calculator ends.

    The loop has its own clock, which counts 0, 1, 2, ... from the start of the run and does not depend on
    the timestamps of ITERABLE. BATCH_END comes with the last element of each list; it carries the
    timestamp of the list, at which the end of the loop writes the results. A list without elements, and a
    timestamp without a list, use one tick of the clock, which has only BATCH_END::

        ITERABLE   [a b c]@100   []@200   [d]@300
        ITEM       a@0 b@1 c@2   .        d@4
        BATCH_END  100@2         200@3    300@4

    The packets of inputs CLONE are written again with every element, to the output CLONE of the same
    index. A CLONE without a packet at the timestamp of the list gets neither packets nor bounds in the
    loop: a node that reads it there waits for the next packet of CLONE, or the next timestamp without
    elements. A packet of CLONE at a timestamp without elements is dropped, in the ledger as "no item to go
    with". Input TICK is ignored: older graphs connect it to wake the calculator, which now runs at every
    timestamp that its inputs settle.

    ITEM and CLONE of all lists come in order, whatever arrives first. Their ticks depend on arrival in one
    case: timestamps without a list that are settled one after the other use one tick each, those settled
    together use one for all. The output of the end of the loop does not depend on it.

    Source of the behaviour: MediaPipe `calculators/core/begin_loop_calculator.h`.

    Example config::

        node {
          calculator: "<Name>"
          input_stream: "ITERABLE:items"
          input_stream: "CLONE:frame"
          output_stream: "ITEM:item"
          output_stream: "CLONE:frame_of_the_item"
          output_stream: "BATCH_END:time_of_the_items"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each output CLONE the type of its input.

        Raises:
            InternalError: there are more inputs CLONE than outputs, or fewer.
        """
        cc.inputs["ITERABLE"].set(cls.container.type, "the list to iterate over")
        cc.inputs["TICK"].set_any("ignored").optional()
        cc.outputs["ITEM"].set(cls.container.element_type, "one element after the other, at the loop's times")
        declare_loop(cc)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Start the clock of the loop."""
        self._clock = 0
        self._clones = range(cc.inputs.count("CLONE"))

    def process(self, cc: CalculatorContext) -> None:
        """Write all elements of a list, each with the packets of CLONE."""
        items, start = cc.inputs["ITERABLE"].payload or (), self._clock
        for item in items:
            cc.outputs["ITEM"].add(item, self._clock)
            for i in self._clones:
                port = cc.inputs["CLONE", i]
                if not port.is_empty():
                    cc.outputs["CLONE", i].add_packet(port.packet.at(self._clock))
            self._clock += 1
        self._clock = end_batch(cc, start, self._clock)


def declare_loop(cc: CalculatorContract) -> None:
    """Declare the ports of every loop's start, CLONE and BATCH_END, and a call at each settled timestamp.

    Raises:
        InternalError: there are more inputs CLONE than outputs, or fewer.
    """
    count = cc.inputs.count("CLONE")
    if cc.outputs.count("CLONE") != count:
        raise InternalError(
            f"the loop has {cc.outputs.count('CLONE')} outputs CLONE, but {count} inputs CLONE; each input "
            "needs an output"
        )
    for i in range(count):
        cc.inputs["CLONE", i].set_any("packets that every element needs")
        cc.outputs["CLONE", i].set_same_as(cc.inputs["CLONE", i], "the same packet with each element")
    cc.outputs["BATCH_END"].set(Timestamp, "the timestamp of the list, with its last element")
    cc.set_process_timestamp_bounds()


def end_batch(cc: CalculatorContext, start: int, clock: int) -> int:
    """Write BATCH_END, and return the next timestamp of the loop.

    Args:
        cc: the context.
        start: the loop's timestamp at which this batch began.
        clock: the loop's timestamp after its last element; `start` for a batch without elements.
    """
    batch_end = cc.outputs["BATCH_END"]
    if clock == start:
        clock += 1
        for output in cc.outputs:
            if output is not batch_end:
                output.set_next_timestamp_bound(clock)
        for i in range(cc.inputs.count("CLONE")):
            if not cc.inputs["CLONE", i].is_empty():
                cc.inputs["CLONE", i].count_dropped(NO_ITEM)
    batch_end.add(cc.input_timestamp, clock - 1)
    return clock


BeginLoopDetectionCalculator = BeginLoopCalculator.named("BeginLoopDetectionCalculator", ListOf("Detection"))
BeginLoopFloatCalculator = BeginLoopCalculator.named("BeginLoopFloatCalculator", ListOf(float))
BeginLoopImageCalculator = BeginLoopCalculator.named("BeginLoopImageCalculator", IMAGES)
BeginLoopImageFrameCalculator = BeginLoopCalculator.named("BeginLoopImageFrameCalculator", FRAMES)
BeginLoopIntCalculator = BeginLoopCalculator.named("BeginLoopIntCalculator", ListOf(int))
BeginLoopMatrixCalculator = BeginLoopCalculator.named("BeginLoopMatrixCalculator", ListOf("Matrix"))
BeginLoopMatrixVectorCalculator = BeginLoopCalculator.named(
    "BeginLoopMatrixVectorCalculator", ListOf(ListOf("Matrix"))
)
BeginLoopNormalizedLandmarkListVectorCalculator = BeginLoopCalculator.named(
    "BeginLoopNormalizedLandmarkListVectorCalculator", ListOf("NormalizedLandmarkList")
)
BeginLoopNormalizedRectCalculator = BeginLoopCalculator.named(
    "BeginLoopNormalizedRectCalculator", ListOf("NormalizedRect")
)
BeginLoopStringCalculator = BeginLoopCalculator.named("BeginLoopStringCalculator", ListOf(str))
BeginLoopTensorCalculator = BeginLoopCalculator.named("BeginLoopTensorCalculator", TENSORS)
BeginLoopUint64tCalculator = BeginLoopCalculator.named("BeginLoopUint64tCalculator", ListOf(int))
