"""TensorsToClassificationCalculator: the classes that a model found, with scores and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_formats import ClassificationList, LabelMapItem, Tensor
from penstock_tensors.messages.tensors_to_classification_pb2 import TensorsToClassificationCalculatorOptions
from penstock_tensors.models.resource_finder import RESOURCES
from penstock_tensors.outputs.tensor_numbers import first_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract


class TensorsToClassificationCalculator(penstock.Calculator):
    """Give classes their scores and labels.

    Input: TENSORS (list[Tensor] of exactly one, float32: a score for each class). Output: CLASSIFICATIONS
    (ClassificationList: index, score, and label and display_name where labels are given). Timestamp offset 0.
    `graph.ledger().cuts` says how many classes `top_k` left out.

    Options `TensorsToClassificationCalculatorOptions`: `min_score_threshold` (a class of this score is kept;
    without it all are), `top_k` (0: all; else the best first), `sort_by_descending_score` (false),
    `label_map_path` (a file with a label on each line, found as models are), `label_items` or `label_map`
    (labels by class), `binary_classification` (false: else the tensor has one number, the score of class 0,
    and class 1 has the rest to 1), `ignore_classes` or `allow_classes`.

    Raises in `get_contract`: InvalidArgumentError for options that contradict each other. In `open`:
    NotFoundError for a label file that is not found. In `process`: InvalidArgumentError for several
    tensors, or labels that are not as many as classes.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_to_classification_calculator.cc`.

    Config::

        node {
          calculator: "TensorsToClassificationCalculator"
          input_stream: "TENSORS:handedness_tensor"
          output_stream: "CLASSIFICATIONS:handedness"
          options {
            [penstock.TensorsToClassificationCalculatorOptions.ext] {
              top_k: 1
              label_map {
                entries { id: 0 label: "Left" }
                entries { id: 1 label: "Right" }
              }
              binary_classification: true
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports, and what finds the labels.

        Raises:
            InvalidArgumentError: options contradict each other.
        """
        cc.inputs["TENSORS"].set(list[Tensor], "one tensor: a score for each class")
        cc.outputs["CLASSIFICATIONS"].set(ClassificationList, "the classes")
        options = cls._options_of(cc)
        if len(options.ignore_classes) and len(options.allow_classes):
            raise InvalidArgumentError(
                "both ignore_classes and allow_classes of the classification are set; leave out one of them"
            )
        given = {
            "label_map_path": bool(options.label_map_path),
            "label_items": len(options.label_items) > 0,
            "label_map": len(options.label_map.entries) > 0,
        }
        found = [name for name, is_given in given.items() if is_given]
        if len(found) > 1:
            raise InvalidArgumentError(
                f"{' and '.join(found)} are set, but a classification takes only one; leave out the rest"
            )
        if options.label_map_path:
            cc.use_service(RESOURCES)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True, reads=[Searched(options.label_map_path)])

    def open(self, cc: CalculatorContext) -> None:
        """Read the labels."""
        options = self._options_of(cc)
        self._options = options
        self._is_binary = options.binary_classification
        self._is_sorted = options.top_k > 0 or options.sort_by_descending_score
        self._labels: dict[int, LabelMapItem] = dict(options.label_items.items())
        if options.label_map_path:
            data = cc.service(RESOURCES).find(options.label_map_path, cc.service(ACCESS)).data
            lines = data.decode("utf-8", errors="replace").splitlines()
            if lines and not lines[-1].strip():
                lines.pop()
            self._labels = {i: LabelMapItem(name=line.rstrip()) for i, line in enumerate(lines)}
        for entry in options.label_map.entries:
            self._labels[entry.id] = LabelMapItem(name=entry.label)
        least = options.min_score_threshold
        self._least = np.float32(least) if options.HasField("min_score_threshold") else None

    def process(self, cc: CalculatorContext) -> None:
        """Classify what one tensor says."""
        source = cc.inputs["TENSORS"]
        if source.is_empty():
            return
        if len(source.payload) != 1:
            raise InvalidArgumentError(
                f"input {source.name!r} holds {len(source.payload)} tensors, but a classification takes one; "
                "split the list before"
            )
        scores = first_of(source).ravel()
        count = 2 if self._is_binary else scores.size
        if self._labels and len(self._labels) != count:
            raise InvalidArgumentError(
                f"classification: input {source.name!r} has {count} classes, but there are "
                f"{len(self._labels)} labels; the labels must be the model's"
            )
        if self._is_binary:
            found = self._of_two(scores)
        else:
            indexes = self._allowed(scores)
            if self._is_sorted:
                indexes = indexes[np.argsort(-scores[indexes], kind="stable")]
            found = list(zip(indexes.tolist(), scores[indexes].tolist(), strict=True))
        most = self._options.top_k
        if 0 < most < len(found):
            source.count_cut(f"top_k is {most}", len(found) - most)
            del found[most:]
        made = ClassificationList()
        for i, score in found:
            one = made.classification.add(index=i, score=score)
            label = self._labels.get(i)
            if label is not None:
                one.label = label.name
                if label.HasField("display_name"):
                    one.display_name = label.display_name
        cc.outputs["CLASSIFICATIONS"].add(made, cc.stamp)

    @staticmethod
    def _options_of(cc: CalculatorContract | CalculatorContext) -> TensorsToClassificationCalculatorOptions:
        return cc.options(TensorsToClassificationCalculatorOptions)

    def _of_two(self, scores: NDArray[np.float32]) -> list[tuple[int, float]]:
        """Return both classes and their scores, in the order that the options ask for."""
        if scores.size != 1:
            raise InvalidArgumentError(
                f"the tensor has {scores.size} numbers, but with binary_classification it must have one; "
                "leave out the option"
            )
        score = scores[0]
        rest = np.float32(1) - score
        found = [(0, float(score)), (1, float(rest))]
        if self._is_sorted and rest > score:
            found.reverse()
        return found

    def _allowed(self, scores: NDArray[np.float32]) -> NDArray[np.intp]:
        """Return the classes that count and whose score is high enough, ascending."""
        options = self._options
        is_kept = np.ones(scores.size, bool)
        if len(options.allow_classes):
            is_kept = np.isin(np.arange(scores.size), list(options.allow_classes))
        elif len(options.ignore_classes):
            is_kept = ~np.isin(np.arange(scores.size), list(options.ignore_classes))
        if self._least is not None:
            is_kept &= ~(scores < self._least)
        return np.flatnonzero(is_kept)
