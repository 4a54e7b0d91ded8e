"""FilterDetectionCalculator: keeps detections with allowed labels and scores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection
from penstock_vision.messages.filter_detection_pb2 import FilterDetectionCalculatorOptions
from penstock_vision.ports import only_one

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_TYPES: Final = {"DETECTION": Detection, "DETECTIONS": list[Detection]}
_SIDES: Final = {"LABELS": list[str], "LABELS_CSV": str, "LABEL_MAP": dict}
_SPACE: Final = " \t\n\v\f\r"


class FilterDetectionCalculator(penstock.Calculator):
    """Keeps of each detection the allowed labels; one without any is dropped.

    Input and output DETECTIONS (list[Detection]), a list even if it is empty; or DETECTION (Detection), no
    packet where it is dropped. Optional side packets, of which at most one says which labels are allowed:
    LABELS (list[str]), LABELS_CSV (str, labels between commas; spaces around them and empty ones do not
    count), LABEL_MAP (dict of int to str; its values). Without one all labels are. Timestamp offset 0.

    A label is allowed if it is one of them, or if one of them as a regular expression matches all of it.
    What is kept are the allowed labels with scores in range, the highest score first, with their scores,
    and the place of the detection; everything else, label ids too, is left out.

    Options `FilterDetectionCalculatorOptions`: `min_score`, `max_score` (not set: no limit; both included);
    what an empty list of allowed labels means: `fail_on_empty_labels` (false), an error in
    `open`; `empty_allowed_labels_means_allow_everything` (false); with neither nothing is ever sent.

    Raises in the contract: InvalidArgumentError for no input, both, an output of the other kind, or several
    side packets. In `open`: the same for an empty list that must not be. In `process`: the same for a
    detection with fewer scores than labels.

    Source of the behaviour: MediaPipe `modules/objectron/calculators/filter_detection_calculator.cc`.

    Config::

        node {
          calculator: "FilterDetectionCalculator"
          input_stream: "DETECTIONS:detections"
          output_stream: "DETECTIONS:shoes"
          input_side_packet: "LABELS_CSV:allowed_labels"
          options {
            [penstock.FilterDetectionCalculatorOptions.ext] { min_score: 0.5 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out, and the allowed labels.

        Raises:
            InvalidArgumentError: the ports do not fit together.
        """
        tag = only_one(cc.inputs, tuple(_TYPES), "input")
        cc.inputs[tag].set(_TYPES[tag], "detections with labels and scores")
        cc.outputs[tag].set(_TYPES[tag], "those with an allowed label")
        if sum(side in cc.input_side_packets for side in _SIDES) > 1:
            only_one(cc.input_side_packets, tuple(_SIDES), "side packet")
        for side, kind in _SIDES.items():
            cc.input_side_packets[side].set(kind, "the allowed labels").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip="DETECTION" in cc.inputs, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Determine which labels are allowed.

        Raises:
            InvalidArgumentError: none is, and the options forbid that.
        """
        options = cc.options(FilterDetectionCalculatorOptions)
        self._least = options.min_score if options.HasField("min_score") else None
        self._greatest = options.max_score if options.HasField("max_score") else None
        side = next((side for side in _SIDES if side in cc.input_side_packets), None)
        self._allowed: dict[str, bool] | None = None
        self._patterns: list[re.Pattern[str]] = []
        if side is None:
            return
        labels = _labels(side, cc.input_side_packets[side].payload)
        if not labels:
            if options.fail_on_empty_labels:
                raise InvalidArgumentError(
                    f"the filter's side packet {side} allows no label, which fail_on_empty_labels forbids; "
                    "give labels, or change the options"
                )
            if options.empty_allowed_labels_means_allow_everything:
                return
        # of each label that was asked for, whether it is allowed
        self._allowed = dict.fromkeys(labels, True)
        self._patterns = [pattern for label in labels if (pattern := _pattern(label)) is not None]

    def process(self, cc: CalculatorContext) -> None:
        """Filter the detections of one packet."""
        port = cc.input
        if port.is_empty() or (self._allowed is not None and not self._allowed):
            return
        if isinstance(port.payload, list):
            kept = [made for one in port.payload if (made := self._kept(one, port.name)) is not None]
            cc.output.add(kept, cc.stamp)
            return
        made = self._kept(port.payload, port.name)
        if made is not None:
            cc.output.add(made, cc.stamp)

    def _kept(self, detection: Detection, name: str) -> Detection | None:
        labels, scores = detection.label, detection.score
        if len(scores) < len(labels):
            raise InvalidArgumentError(
                f"input {name!r} holds a detection with {len(labels)} labels and {len(scores)} scores, but "
                "the filter needs a score for each label; connect detections with scores"
            )
        found = [
            (label, score)
            for label, score in zip(labels, scores, strict=False)
            if self._is_allowed(label) and self._is_in_range(score)
        ]
        if not found:
            return None
        found.sort(key=lambda pair: -pair[1])
        kept = Detection(label=[label for label, _ in found], score=[score for _, score in found])
        if detection.HasField("location_data"):
            kept.location_data.CopyFrom(detection.location_data)
        return kept

    def _is_allowed(self, label: str) -> bool:
        if self._allowed is None:
            return True
        known = self._allowed.get(label)
        if known is None:
            known = any(pattern.fullmatch(label) for pattern in self._patterns)
            self._allowed[label] = known
        return known

    def _is_in_range(self, score: float) -> bool:
        is_low = self._least is not None and score < self._least
        return not is_low and not (self._greatest is not None and score > self._greatest)


def _labels(side: str, payload: object) -> list[str]:
    if isinstance(payload, str):
        return [label for part in payload.split(",") if (label := part.strip(_SPACE))]
    if isinstance(payload, dict):
        return [str(label) for label in payload.values()]
    if isinstance(payload, list):
        return payload
    raise InvalidArgumentError(
        f"the filter's side packet {side} is {payload!r}, but holds labels; give a list of str"
    )


def _pattern(label: str) -> re.Pattern[str] | None:
    """Return a label as a regular expression; None where it is none, so that it only stands for itself."""
    try:
        return re.compile(label)
    except re.error:
        return None
