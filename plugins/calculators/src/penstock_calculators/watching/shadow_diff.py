"""ShadowDiffCalculator: what differs between what two calculators made of the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_calculators.watching.shadow_pairs import ShadowPair
from penstock_formats import payload_difference

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet


@attrs.frozen
class ShadowDifference:
    """One output of a candidate that differs from the primary's."""

    #: Number of the output, from 0, in the order of the outputs of the Shadow.
    output: int
    #: What differs.
    words: str
    #: The largest difference between two numbers; None where the payloads have no numbers to compare.
    largest: float | None = None


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
            raise InvalidArgumentError(
                f"the shadow diff's tolerance is {self.tolerance:g}, but must be a number from 0 on"
            )


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
