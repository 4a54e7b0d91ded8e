"""ShadowPairCalculator and ShadowDiffCalculator: what two calculators made of the same, and what differs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, PRESTREAM, next_allowed
from penstock_formats import payload_difference

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


@attrs.frozen
class ShadowDifference:
    """One output of a candidate that differs from the primary's."""

    #: Number of the output, from 0, in the order of the outputs of the Shadow.
    output: int
    #: What differs.
    words: str
    #: The largest difference between two numbers; None where the payloads have no numbers to compare.
    largest: float | None = None


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
                f"there are {primary} inputs PRIMARY and {candidate} inputs CANDIDATE; connect at least one, "
                "and as many of each"
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


@attrs.frozen
class ShadowDiffCalculatorOptions:
    """How exact a comparison is.

    Attributes:
        tolerance: how much numbers may differ: those of images, matrices and arrays, and plain ints and
            floats.
    """

    tolerance: float = 0.0

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.tolerance < float("inf"):
            raise InvalidArgumentError(f"tolerance is {self.tolerance:g}, but must be a number from 0 on")


class ShadowDiffCalculator(penstock.Calculator):
    """Compares what two calculators wrote.

    A part of Shadow. Input PAIR (ShadowPair); output DIFF (list of ShadowDifference, at each timestamp where
    something differs, otherwise a bound). Payloads are compared as `penstock diff` does it, by
    `penstock_formats.payload_difference`. A packet that only one wrote is a difference, and so is a failed
    call. Counters: `compared`, `differing` and `failed` count timestamps. The timestamp offset is 0.

    Options: `tolerance` (0: exactly), how much numbers may differ.

    Example config::

        node {
          calculator: "ShadowDiffCalculator"
          input_stream: "PAIR:pairs"
          output_stream: "DIFF:differences"
          node_options {
            [type.googleapis.com/penstock_calculators.ShadowDiffCalculatorOptions] { tolerance: 0.01 }
          }
        }
    """

    Options = ShadowDiffCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take pairs."""
        cc.inputs["PAIR"].set(ShadowPair, "what both wrote")
        cc.outputs["DIFF"].set(list[ShadowDifference], "what differs")
        cc.options(ShadowDiffCalculatorOptions)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the tolerance."""
        self._tolerance = cc.options(ShadowDiffCalculatorOptions).tolerance
        self._counters = {name: cc.counter(name) for name in ("compared", "differing", "failed")}

    def process(self, cc: CalculatorContext) -> None:
        """Compare."""
        pair = cc.inputs["PAIR"].packet.get(ShadowPair)
        self._counters["compared"].increment()
        if pair.failure:
            self._counters["failed"].increment()
            found = [ShadowDifference(0, f"the candidate failed: {pair.failure}")]
        else:
            both = zip(pair.primary, pair.candidate, strict=True)
            compared = (self._difference(i, *packets) for i, packets in enumerate(both))
            found = [one for one in compared if one is not None]
        if found:
            self._counters["differing"].increment()
            cc.outputs["DIFF"].add(found, cc.stamp)

    def _difference(self, output: int, primary: Packet, candidate: Packet) -> ShadowDifference | None:
        if primary.is_empty() or candidate.is_empty():
            if primary.is_empty() and candidate.is_empty():
                return None
            writer = "candidate" if primary.is_empty() else "primary"
            return ShadowDifference(output, f"only the {writer} wrote a packet")
        try:
            found: Any = payload_difference(primary.payload, candidate.payload, self._tolerance)
        except Exception as error:  # noqa: BLE001  # `==` is code of the payloads, and no fault of the run
            return ShadowDifference(output, f"cannot be compared: {type(error).__name__}: {error}")
        return None if found is None else ShadowDifference(output, found.words, found.largest)
