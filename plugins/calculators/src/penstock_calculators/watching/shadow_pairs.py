"""ShadowPairCalculator: what two calculators made of the same."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, PRESTREAM, next_allowed

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet

#: Of ports: what the primary wrote, what the candidate wrote.
_SIDES: Final = ("PRIMARY", "CANDIDATE")
_NO_PACKET: Final = penstock.Packet()


@attrs.frozen
class ShadowPair:
    """What two calculators wrote at one timestamp."""

    #: `primary`, `candidate`: a packet for each output, an empty one where none was written.
    primary: tuple[Packet, ...]
    candidate: tuple[Packet, ...]
    #: How the call of the candidate failed; "" where it did not.
    failure: str = ""


class ShadowPairCalculator(penstock.Calculator):
    """Joins what two calculators wrote, at the timestamps that both had, without ever letting one wait.

    A part of Shadow. Inputs PRIMARY:0, 1, ... and as many CANDIDATE:0, 1, ... (anything); ALLOW (bool:
    whether the candidate gets the timestamp); FAILURE (optional: failures of the candidate). Output PAIR
    (ShadowPair) at each allowed timestamp, as soon as all inputs have settled it. All inputs are taken as
    they come, so none fills a queue. Packets of PRIMARY at timestamps that are not allowed are released as
    soon as that is known.

    Raises in the contract: InvalidArgumentError unless there are as many of PRIMARY as of CANDIDATE, at
    least one.

    Example config::

        node {
          calculator: "ShadowPairCalculator"
          input_stream: "ALLOW:goes_to_candidate"
          input_stream: "PRIMARY:boxes"
          input_stream: "CANDIDATE:other_boxes"
          output_stream: "PAIR:pairs"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare what comes from two calculators.

        Raises:
            InvalidArgumentError: the numbers of ports do not fit.
        """
        primary, candidate = (cc.inputs.count(side) for side in _SIDES)
        if not primary or primary != candidate:
            raise InvalidArgumentError(
                f"pairs are made of {primary} inputs PRIMARY and {candidate} inputs CANDIDATE; connect at "
                "least one, and as many of each"
            )
        for i in range(primary):
            for side in _SIDES:
                cc.inputs[side, i].set_any("what it wrote")
        cc.inputs["ALLOW"].set(bool, "whether the candidate gets the timestamp")
        cc.inputs["FAILURE"].set_any("failures of the candidate").optional()
        cc.outputs["PAIR"].set(ShadowPair, "what both wrote")
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin with nothing that waits."""
        self._primary, self._candidate = (
            [_Waiting(side, i) for i in range(cc.inputs.count(side))] for side in _SIDES
        )
        self._failures = [_Waiting("FAILURE")] if "FAILURE" in cc.inputs else []
        self._allow = _Waiting("ALLOW")
        #: Allowed timestamps without a pair yet, in order.
        self._wanted: deque[int] = deque()

    def process(self, cc: CalculatorContext) -> None:
        """Take what has come, release what no pair needs, and write the pairs that are complete."""
        results = [*self._primary, *self._candidate, *self._failures]
        for one in (self._allow, *results):
            one.take(cc)
        self._wanted.extend(packet.stamp for packet in self._allow.new if packet.get(bool))
        self._allow.new.clear()
        for one in results:
            one.sort(self._allow.settled, self._wanted)
        settled = min(one.settled for one in (self._allow, *results))
        while self._wanted and self._wanted[0] < settled:
            stamp = self._wanted.popleft()
            cc.outputs["PAIR"].add(self._pair(stamp), stamp)
        if settled > MAX:
            cc.outputs["PAIR"].close()
        else:
            cc.outputs["PAIR"].set_next_timestamp_bound(settled)

    def _pair(self, stamp: int) -> ShadowPair:
        failed = [one.at(stamp) for one in self._failures]
        return ShadowPair(
            tuple(one.at(stamp) for one in self._primary),
            tuple(one.at(stamp) for one in self._candidate),
            next((str(packet.payload) for packet in failed if not packet.is_empty()), ""),
        )


class _Waiting:
    """What has come on an input and is still needed."""

    def __init__(self, tag: str, index: int = 0) -> None:
        self._key: Final = (tag, index)
        #: Packets at timestamps that are not decided, in order.
        self.new: Final[deque[Packet]] = deque()
        self._wanted: Final[dict[int, Packet]] = {}
        #: The timestamp below which nothing more comes.
        self.settled = PRESTREAM

    def take(self, cc: CalculatorContext) -> None:
        """Take what a call has brought."""
        packet = cc.inputs[self._key].packet
        if not packet.is_empty():
            self.new.append(packet)
        if packet.stamp >= PRESTREAM:
            self.settled = next_allowed(packet.stamp)

    def sort(self, decided: int, wanted: deque[int]) -> None:
        """Keep those of the new packets before `decided` that are wanted, and release the others."""
        while self.new and self.new[0].stamp < decided:
            packet = self.new.popleft()
            if packet.stamp in wanted:
                self._wanted[packet.stamp] = packet

    def at(self, stamp: int) -> Packet:
        """Take the wanted packet of a timestamp; an empty one where there is none."""
        return self._wanted.pop(stamp, _NO_PACKET)
