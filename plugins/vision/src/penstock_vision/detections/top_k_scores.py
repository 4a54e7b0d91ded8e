"""TopKScoresCalculator: the best of some scores."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList
from penstock_vision.detections.label_file import RESOURCES, labels_of
from penstock_vision.geometry.single_precision import f32
from penstock_vision.messages.top_k_scores_pb2 import TopKScoresCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import CalculatorContext, CalculatorContract

_CLASSES: Final = ("CLASSIFICATIONS", "TOP_K_CLASSIFICATION")


class TopKScoresCalculator(penstock.Calculator):
    """Sends the greatest of some scores, the greatest first, with their indices and labels.

    Input SCORES (list[float]). Outputs, each optional: TOP_K_INDEXES (list[int]: the places among the
    scores), TOP_K_SCORES (list[float], rounded to 32 bits), TOP_K_LABELS (list[str]), CLASSIFICATIONS or
    TOP_K_CLASSIFICATION (ClassificationList), SUMMARY (str: `label:score,...`, or indices without labels;
    scores with six digits). A score at the threshold is kept. Of equal scores the one further back comes
    first; where only some of them fit, the ones further ahead are kept. Timestamp offset 0.
    `graph.ledger().cuts` says how many scores at or above the threshold `top_k` left out.

    The reference declares CLASSIFICATIONS and never sends anything there; here it gets the classes.

    Options `TopKScoresCalculatorOptions`: `top_k` (above 0) or `threshold` or both; `label_map_path`: a text
    file with the label of class 0, 1, ... in each line, found as models are (service
    `penstock-tensors.resources`). A class without a line has the label "".

    Raises in the contract: InvalidArgumentError if neither top_k nor threshold is set, top_k is below 1, or
    TOP_K_LABELS is connected without label_map_path. In `open`: NotFoundError for a file that is not found.

    Source of the behaviour: MediaPipe `calculators/util/top_k_scores_calculator.cc`.

    Config::

        node {
          calculator: "TopKScoresCalculator"
          input_stream: "SCORES:scores"
          output_stream: "TOP_K_INDEXES:classes"
          output_stream: "TOP_K_SCORES:best_scores"
          options { [penstock.TopKScoresCalculatorOptions.ext] { top_k: 2 threshold: 0.25 } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare scores in, the best out.

        Raises:
            InvalidArgumentError: the options do not say how many, or there are no labels to send.
        """
        options = cc.options(TopKScoresCalculatorOptions)
        if not options.HasField("top_k") and not options.HasField("threshold"):
            raise InvalidArgumentError(
                "neither top_k nor threshold is set; set at least one of them in the options"
            )
        if options.HasField("top_k") and options.top_k < 1:
            raise InvalidArgumentError(
                f"top_k is {options.top_k}, but must be 1 or more; change it in the options, or leave it out"
            )
        if "TOP_K_LABELS" in cc.outputs and not options.label_map_path:
            raise InvalidArgumentError(
                "the scores' output TOP_K_LABELS is connected, but there are no labels; set label_map_path "
                "in the options"
            )
        if options.label_map_path:
            cc.use_service(RESOURCES)
            cc.declare(reads=[Searched(options.label_map_path)])
        cc.inputs["SCORES"].set(list[float], "a score for each class")
        outputs = cc.outputs
        outputs["TOP_K_INDEXES"].set(list[int], "the best classes, the best first").optional()
        outputs["TOP_K_SCORES"].set(list[float], "their scores").optional()
        outputs["TOP_K_LABELS"].set(list[str], "their labels").optional()
        for tag in _CLASSES:
            outputs[tag].set(ClassificationList, "index, score and label of each").optional()
        outputs["SUMMARY"].set(str, "the same as text").optional()
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the labels."""
        options = cc.options(TopKScoresCalculatorOptions)
        self._count = options.top_k
        self._threshold = f32(options.threshold)
        self._labels: list[str] | None = None
        if options.label_map_path:
            self._labels = labels_of(cc.service(RESOURCES), options.label_map_path, cc.service(ACCESS))

    def process(self, cc: CalculatorContext) -> None:
        """Choose among the scores of one packet."""
        port = cc.inputs["SCORES"]
        if port.is_empty():
            return
        best, left_out = self._best(port.payload)
        port.count_cut(f"top_k is {self._count}", left_out)
        scores, indices = [score for score, _ in best], [i for _, i in best]
        names: list[str] | None = None
        if self._labels is not None:
            names = [self._labels[i] if i < len(self._labels) else "" for i in indices]
        classes = ClassificationList()
        for place, (score, i) in enumerate(best):
            classes.classification.add(index=i, score=score, label=None if names is None else names[place])
        summary = ",".join(f"{what}:{score:g}" for what, score in zip(names or indices, scores, strict=True))
        found = {
            "TOP_K_INDEXES": indices,
            "TOP_K_SCORES": scores,
            "TOP_K_LABELS": names,
            "SUMMARY": summary,
            **dict.fromkeys(_CLASSES, classes),
        }
        for tag in cc.outputs.tags():
            cc.outputs[tag].add(found[tag], cc.stamp)

    def _best(self, scores: Sequence[float]) -> tuple[list[tuple[float, int]], int]:
        """Return score and index of the best, the best first; and how many top_k left out."""
        reached = 0
        kept: list[tuple[float, int]] = []
        for i, given in enumerate(scores):
            score = float(f32(given))
            if score < self._threshold:
                continue
            reached += 1
            if not self._count or len(kept) < self._count:
                heapq.heappush(kept, (score, i))
            elif kept[0][0] < score:
                heapq.heapreplace(kept, (score, i))
        return sorted(kept, reverse=True), reached - len(kept)
