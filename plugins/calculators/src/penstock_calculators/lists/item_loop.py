"""BeginItemLoopCalculator and EndItemLoopCalculator: a loop over inputs that each hold one item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock import Timestamp
from penstock.errors import InternalError
from penstock.lowlevel import next_allowed
from penstock_calculators.lists.begin_loop import declare_loop, end_batch
from penstock_calculators.lists.end_loop import NO_BATCH_END

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet


class BeginItemLoopCalculator(penstock.Calculator):
    """Writes the packets of all inputs ITEM one after the other, for a loop with an EndItemLoop.

    No list is needed where the number of items is known. The loop has its own clock, which counts 0, 1, 2,
    ... from the start of the run; BATCH_END comes with the last item, and carries the input timestamp of
    the items. At each timestamp either all inputs ITEM must have a packet, or none of them; a timestamp
    without items uses one tick of the clock, which has only BATCH_END::

        ITEM:0     a@10       .        c@30
        ITEM:1     b@10       .        d@30
        ITEM       a@0 b@1    .        c@3 d@4
        BATCH_END  10@1       20@2     30@4

    The packets of inputs CLONE are written again with every item, to the output CLONE of the same index; a
    CLONE without a packet gets bounds in the loop. A packet of CLONE at a timestamp without items is
    dropped, in the ledger as "no item to go with". There is no offset.

    Items come in order, whatever arrives first. Their ticks depend on arrival in one case: timestamps
    without items that are settled one after the other use one tick each, those settled together use one
    for all. The output of the end of the loop does not depend on it.

    Source of the behaviour: MediaPipe `calculators/core/begin_item_loop_calculator.cc`.

    Example config::

        node {
          calculator: "BeginItemLoopCalculator"
          input_stream: "ITEM:0:left_hand"
          input_stream: "ITEM:1:right_hand"
          input_stream: "CLONE:frame"
          output_stream: "ITEM:hand"
          output_stream: "CLONE:frame_of_the_hand"
          output_stream: "BATCH_END:time_of_the_hands"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give ITEM the type of the first item, and each output CLONE that of its input.

        Raises:
            InternalError: there are more inputs CLONE than outputs, or fewer.
        """
        first = cc.inputs["ITEM", 0].set_any("the items to go through")
        for i in range(1, cc.inputs.count("ITEM")):
            cc.inputs["ITEM", i].set_any("the items to go through")
        cc.outputs["ITEM"].set_same_as(first, "one item after the other, at the loop's times")
        declare_loop(cc)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Start the clock of the loop."""
        self._clock = 0
        self._items = range(cc.inputs.count("ITEM"))
        self._clones = range(cc.inputs.count("CLONE"))

    def process(self, cc: CalculatorContext) -> None:
        """Write all items, each with the packets of CLONE.

        Raises:
            InternalError: some inputs ITEM have a packet and others have none.
        """
        start, absent = self._clock, [i for i in self._items if cc.inputs["ITEM", i].is_empty()]
        if len(absent) < len(self._items):
            if absent:
                raise InternalError(
                    f"inputs ITEM {absent} have no packet where others have one; all inputs ITEM must have "
                    "packets at the same timestamps"
                )
            for i in self._items:
                self._write(cc, cc.inputs["ITEM", i].packet)
        self._clock = end_batch(cc, start, self._clock)

    def _write(self, cc: CalculatorContext, item: Packet) -> None:
        cc.outputs["ITEM"].add_packet(item.at(self._clock))
        for i in self._clones:
            cc.outputs["CLONE", i].add_packet(cc.inputs["CLONE", i].packet.at(self._clock))
        self._clock += 1


class EndItemLoopCalculator(penstock.Calculator):
    """Writes the items since the last BATCH_END, one to each output, at the timestamp that it carries.

    The other end of BeginItemLoop: the first item of a batch goes to output ITEM:0, the second to ITEM:1,
    and so on. A batch must have as many items as there are outputs, or no items, which gives bounds::

        ITEM       a@0 b@1   .       c@3 d@4
        BATCH_END  10@1      20@2    30@4
        ITEM:0     a@10      .       c@30        (bound at 20)
        ITEM:1     b@10      .       d@30        (bound at 20)

    There is no offset, since outputs and inputs have different clocks. The output does not depend on the
    order of arrival. Items that no BATCH_END follows before the run ends appear in the ledger as "no batch
    end followed".

    Source of the behaviour: MediaPipe `calculators/core/end_item_loop_calculator.cc`.

    Example config::

        node {
          calculator: "EndItemLoopCalculator"
          input_stream: "ITEM:gesture"
          input_stream: "BATCH_END:time_of_the_hands"
          output_stream: "ITEM:0:left_gesture"
          output_stream: "ITEM:1:right_gesture"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each output the type of the items."""
        cc.inputs["ITEM"].set_any("the loop's result for an item")
        cc.inputs["BATCH_END"].set(Timestamp, "the timestamp of the items, at the end of a batch")
        for i in range(max(cc.outputs.count("ITEM"), 1)):
            cc.outputs["ITEM", i].set_same_as(cc.inputs["ITEM"], "the item at this place in the batch")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the signature of open
        """Begin without items."""
        self._items: list[Packet] = []

    def process(self, cc: CalculatorContext) -> None:
        """Take an item; at the end of a batch, write the items.

        Raises:
            InternalError: there are more items than outputs, or fewer.
        """
        if not cc.inputs["ITEM"].is_empty():
            self._items.append(cc.inputs["ITEM"].packet)
        if cc.inputs["BATCH_END"].is_empty():
            return
        began: Timestamp = cc.inputs["BATCH_END"].payload
        if not self._items:
            cc.set_next_timestamp_bound(next_allowed(int(began)))
            return
        if len(self._items) != len(cc.outputs):
            raise InternalError(
                f"the batch of {began} ends with {len(self._items)} items, but there are {len(cc.outputs)} "
                "outputs ITEM; the loop must forward all items of a batch, or none of them"
            )
        for output, item in zip(cc.outputs, self._items, strict=True):
            output.add_packet(item.at(began))
        self._items = []

    def close(self, cc: CalculatorContext) -> None:
        """Count the items that were not written as dropped."""
        cc.inputs["ITEM"].count_dropped(NO_BATCH_END, len(self._items))
        self._items = []
