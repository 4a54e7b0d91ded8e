"""DetectionUniqueIdCalculator: numbers detections."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, DetectionList

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract

_TYPES: Final[dict[str, Any]] = {"DETECTION_LIST": DetectionList, "DETECTIONS": list[Detection]}


class DetectionUniqueIdCalculator(penstock.Calculator):
    """Gives each detection the next number as its `detection_id`: 1, 2, 3, ...

    Inputs, one or both: DETECTION_LIST (DetectionList), DETECTIONS (list[Detection]); outputs with the same
    tags and types, new messages. At one timestamp those of DETECTION_LIST are counted first. An id that a
    detection already has is replaced. Timestamp offset 0.

    Each node counts for itself, from 1 in each run: the ids of a run are always the same. (The reference has
    one count for all nodes of a process; and it sends nothing where another node reads the same packet.)

    Raises in the contract: InvalidArgumentError if neither input is connected, or one has no output.

    Source of the behaviour: MediaPipe `calculators/util/detection_unique_id_calculator.cc`.

    Config::

        node {
          calculator: "DetectionUniqueIdCalculator"
          input_stream: "DETECTIONS:detections"
          output_stream: "DETECTIONS:detections_with_ids"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out.

        Raises:
            InvalidArgumentError: no input is connected, or one has no output.
        """
        connected = [tag for tag in _TYPES if tag in cc.inputs]
        if not connected:
            raise InvalidArgumentError(
                f"detections come by none of the inputs {', '.join(_TYPES)}, but unique ids need one at "
                "least; connect it"
            )
        for tag in connected:
            if tag not in cc.outputs:
                raise InvalidArgumentError(
                    f"there is no output {tag}, but the detections of the input {tag} leave there with their "
                    "unique ids; connect it"
                )
            cc.inputs[tag].set(_TYPES[tag], "detections")
            cc.outputs[tag].set(_TYPES[tag], "the same, each with a number")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin at 1."""
        self._next = count(1)
        self._tags = [tag for tag in _TYPES if tag in cc.inputs]

    def process(self, cc: CalculatorContext) -> None:
        """Give the detections of one timestamp their numbers."""
        for tag in self._tags:
            port = cc.inputs[tag]
            if port.is_empty():
                continue
            if tag == "DETECTIONS":
                cc.outputs[tag].add(self._numbered(port.payload), cc.stamp)
            else:
                made = DetectionList(detection=self._numbered(port.payload.detection))
                cc.outputs[tag].add(made, cc.stamp)

    def _numbered(self, detections: Iterable[Detection]) -> list[Detection]:
        copies = []
        for detection in detections:
            copy = Detection()
            copy.CopyFrom(detection)
            copy.detection_id = next(self._next)
            copies.append(copy)
        return copies
