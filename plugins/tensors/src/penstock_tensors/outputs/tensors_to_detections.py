"""TensorsToDetectionsCalculator: the boxes that a model found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_formats import Detection, Tensor, check_size_limit
from penstock_formats.api import TABLE_SCORE, detections_of, label_bytes
from penstock_tensors.messages.ssd_anchors_pb2 import Anchor
from penstock_tensors.messages.tensors_to_detections_pb2 import TensorsToDetectionsCalculatorOptions
from penstock_tensors.outputs.ssd_box_decoding import SIZES, Anchors, SsdBoxes
from penstock_tensors.outputs.tensor_numbers import floats_of, sigmoid
from penstock_tensors.ports import only_one

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_tensors.messages.tensors_to_detections_pb2 import (
        TensorsToDetectionsCalculatorOptions as Options,
    )

    #: Which boxes are kept; of each the score and the class.
    _Best: TypeAlias = tuple[NDArray[np.intp], NDArray[np.float32], Sequence[int]]

#: With how many tensors the boxes were decoded by the model itself.
_DECODED: Final = 4
_WITH_ANCHORS: Final = 3
_BOX: Final = 4
#: How far below the threshold a raw score is when the rounding of its sigmoid surely cannot lift it there.
_MARGIN: Final = 0.01
_LOWEST: Final = np.finfo(np.float32).min


class TensorsToDetectionsCalculator(penstock.Calculator):
    """Decode boxes, classes and keypoints of a single-shot detector.

    Input: TENSORS (list[Tensor], float32). Two tensors: boxes of `num_coords` numbers and scores of
    `num_classes` each, (1, n, c) or (1, 1, n, c); a third one holds the anchors (y, x, h, w). Four tensors:
    boxes (1, m, 4), classes, scores, count, as the detection operation of TensorFlow Lite ends a model; they
    are taken as they are. `tensor_mapping` says where each is. Side packets: ANCHORS (list[Anchor]),
    IGNORE_CLASSES (list[int], in place of the option); both optional. Output: DETECTIONS (list[Detection] in
    the order of the model, perhaps empty: score, label_id, a relative bounding box and the keypoints, in
    parts of the model's input). Timestamp offset 0. `graph.ledger().cuts` says how many boxes `max_results`
    left out.

    Options `TensorsToDetectionsCalculatorOptions`: `num_classes`, `num_coords` (required), `num_boxes` (0: as
    many as come), `x_scale`, `y_scale`, `w_scale`, `h_scale` (required where boxes are decoded), `box_format`
    or `reverse_output_order`, `box_coord_offset` (0), `keypoint_coord_offset`, `num_keypoints` (0),
    `apply_exponential_on_box_size` (false), `sigmoid_score` (false), `score_clipping_thresh`,
    `min_score_thresh` (a box of this score is kept; without the option all are), `ignore_classes` or
    `allow_classes`, `flip_vertically` (false), `max_results` (-1: all), `box_boundaries_indices`,
    `max_classes_per_detection` (1), `tensor_mapping`.

    Raises in `open`: InvalidArgumentError for options that contradict each other. In `process`: the same for
    tensors that the options do not describe; UnavailableError where boxes need anchors and none came.

    Source of the behaviour: MediaPipe `calculators/tensor/tensors_to_detections_calculator.cc`; computed in
    float32, so results equal its results bit by bit.

    Config::

        node {
          calculator: "TensorsToDetectionsCalculator"
          input_stream: "TENSORS:detection_tensors"
          input_side_packet: "ANCHORS:anchors"
          output_stream: "DETECTIONS:detections"
          options {
            [penstock.TensorsToDetectionsCalculatorOptions.ext] {
              num_classes: 1
              num_boxes: 896
              num_coords: 16
              x_scale: 128
              y_scale: 128
              w_scale: 128
              h_scale: 128
              num_keypoints: 6
              keypoint_coord_offset: 4
              box_format: XYWH
              sigmoid_score: true
              min_score_thresh: 0.5
            }
          }
        }
    """

    #: The tags of the input, one of which is connected.
    input_tags: ClassVar[Sequence[str]] = ("TENSORS",)
    #: Whether classes that do not count are left out where the model has decoded the boxes.
    filters_decoded: ClassVar = True

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        only_one(cc.inputs, cls.input_tags).set(list[Tensor], "boxes and scores")
        cc.input_side_packets["ANCHORS"].set(list[Anchor], "what boxes are measured from").optional()
        cc.input_side_packets["IGNORE_CLASSES"].set(list[int], "replaces ignore_classes").optional()
        cc.outputs["DETECTIONS"].set(list[Detection], "what was found, in the order of the model")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Check the options; take the anchors.

        Raises:
            InvalidArgumentError: options are missing or contradict each other.
        """
        options = self._options_of(cc)
        sides = cc.input_side_packets
        ignored = sides["IGNORE_CLASSES"].get(list) if "IGNORE_CLASSES" in sides else options.ignore_classes
        _check(options, ignored)
        self._options = options
        self._threshold = np.float32(options.min_score_thresh) if _has(options, "min_score_thresh") else None
        self._allowed = _allowed_classes(options, ignored)
        has_clip = _has(options, "score_clipping_thresh")
        self._clip = np.float32(options.score_clipping_thresh) if has_clip else None
        self._most = options.max_results if options.max_results > 0 else None
        self._best = self._best_of_one if len(self._allowed) == 1 else self._best_of_many
        self._is_sigmoid = options.sigmoid_score
        self._surely_below = _surely_below(self._threshold, self._clip, is_sigmoid=options.sigmoid_score)
        self._at = (0, 1, 2)
        if _has(options, "tensor_mapping"):
            mapping = options.tensor_mapping
            self._at = (
                mapping.detections_tensor_index,
                mapping.scores_tensor_index,
                mapping.anchors_tensor_index,
            )
        self._boxes = SsdBoxes(options)
        self._anchors: Anchors | None = None
        if "ANCHORS" in sides:
            given = [(one.y_center, one.x_center, one.h, one.w) for one in sides["ANCHORS"].get(list)]
            self._anchors = self._boxes.anchors(np.array(given, np.float32).reshape(-1, _BOX))

    def process(self, cc: CalculatorContext) -> None:
        """Decode what the model said of one image."""
        source = cc.input
        if source.is_empty():
            return
        tensors: list[Tensor] = source.payload
        count = len(tensors)
        if count == _DECODED:
            found = self._decoded(tensors, source)
        elif count in (_WITH_ANCHORS - 1, _WITH_ANCHORS):
            found = self._raw(tensors, source)
        else:
            raise InvalidArgumentError(
                f"input {source.name!r} holds {count} tensors, but the calculator takes 2 (boxes, scores), 3 "
                "(and anchors) or 4 (a model that ends with the detection operation); split the list before"
            )
        cc.outputs["DETECTIONS"].add(found, cc.stamp)

    @staticmethod
    def _options_of(cc: CalculatorContext) -> TensorsToDetectionsCalculatorOptions:
        return cc.options(TensorsToDetectionsCalculatorOptions)

    # --- boxes that must be decoded -------------------------------------------------------------------

    def _raw(self, tensors: list[Tensor], port: Input) -> list[Detection]:
        options = self._options
        at_boxes, at_scores, at_anchors = self._at
        boxes = self._table(tensors, at_boxes, options.num_coords, "num_coords", port)
        scores = self._table(tensors, at_scores, options.num_classes, "num_classes", port)
        anchors = self._anchors
        if len(tensors) == _WITH_ANCHORS:
            anchors = self._boxes.anchors(self._table(tensors, at_anchors, _BOX, "the anchors", port))
        if anchors is None:
            raise UnavailableError(
                f"tensors to detections: the boxes of input {port.name!r} are measured from anchors, and "
                "there are none; connect the side packet ANCHORS, for example from a SsdAnchorsCalculator"
            )
        if not len(boxes) == len(scores) == len(anchors.centers):
            raise InvalidArgumentError(
                f"tensors to detections: input {port.name!r} has {len(boxes)} boxes, {len(scores)} scores "
                f"and {len(anchors.centers)} "
                "anchors, but each needs one of each; look at num_boxes and at the options of the "
                "anchors"
            )
        kept, best, classes = self._best(scores)
        if not len(kept):
            return []
        numbers = self._boxes.numbers(boxes, anchors, kept)
        numbers[:, TABLE_SCORE] = best
        chosen = self._with_size(numbers, port)
        if len(chosen) < len(numbers):
            numbers, classes = numbers[chosen], [classes[i] for i in chosen]
        return detections_of(map(label_bytes, classes), numbers.tolist())

    def _table(
        self, tensors: list[Tensor], index: int, width: int, option: str, port: Input
    ) -> NDArray[np.float32]:
        """Return a tensor as (n, width)."""
        if index >= len(tensors):
            raise InvalidArgumentError(
                f"tensor_mapping names tensor {index}, but input {port.name!r} holds {len(tensors)}"
            )
        values = floats_of(tensors[index], port)
        shape = values.shape
        rows = shape[-2] if len(shape) > 1 else 0
        wanted = self._options.num_boxes or rows
        if shape[-1:] != (width,) or values.size != rows * width or rows != wanted:
            raise InvalidArgumentError(
                f"tensors to detections: tensor {index} of input {port.name!r} is {tensors[index]!r}, but by "
                f"num_boxes and {option} "
                f"it must be 1x{wanted or 'n'}x{width}; the options must be the model's"
            )
        return values.reshape(rows, width)

    def _best_of_one(self, scores: NDArray[np.float32]) -> _Best:
        """As `_best`, with one class that counts."""
        best = scores.ravel() if scores.shape[1] == 1 else scores[:, self._allowed[0]]
        lowest, threshold = self._surely_below, self._threshold
        kept = None
        if lowest is not None:  # the sigmoids of a few boxes take less time than those of all
            kept = (~(best < lowest)).nonzero()[0]
            if not len(kept):
                return kept, best[kept], ()
            best = best.take(kept)
        if self._is_sigmoid:
            if self._clip is not None:
                best = np.minimum(best if kept is not None else np.maximum(best, -self._clip), self._clip)
            best = sigmoid(best, lowest)
        if threshold is not None and not (len(best) and best.min() >= threshold):  # not a number is kept
            chosen = (~(best < threshold)).nonzero()[0]
            kept, best = chosen if kept is None else kept[chosen], best[chosen]
        if kept is None:
            kept = np.arange(len(best))
        return kept, best, [int(self._allowed[0])] * len(kept)

    def _best_of_many(self, scores: NDArray[np.float32]) -> _Best:
        """As `_best`, with several classes that count, or none."""
        classes, threshold = self._allowed, self._threshold
        if not len(classes):
            are_kept = threshold is None or not threshold > _LOWEST
            kept = np.arange(len(scores) if are_kept else 0)
            return kept, np.full(len(kept), _LOWEST, np.float32), [-1] * len(kept)
        if len(classes) < scores.shape[1]:
            scores = scores[:, classes]
        kept = np.arange(len(scores))
        if self._surely_below is not None:  # as with one
            kept = (~(scores < self._surely_below)).any(axis=1).nonzero()[0]
            if not len(kept):
                return kept, scores[kept, 0], ()
            scores = scores[kept]
        if self._is_sigmoid:
            if self._clip is not None:
                scores = np.minimum(np.maximum(scores, -self._clip), self._clip)
            scores = sigmoid(scores)
        first = scores.argmax(axis=1)
        best, found = scores[np.arange(len(scores)), first], classes[first]
        if threshold is not None:
            is_kept = ~(best < threshold)
            if not is_kept.all():
                kept, best, found = kept[is_kept], best[is_kept], found[is_kept]
        return kept, best, found.tolist()

    # --- boxes that the model has decoded -------------------------------------------------------------

    def _decoded(self, tensors: list[Tensor], port: Input) -> list[Detection]:
        options = self._options
        order = [0, 1, 2, 3]
        if _has(options, "tensor_mapping"):
            at = options.tensor_mapping
            order = [
                at.detections_tensor_index,
                at.classes_tensor_index,
                at.scores_tensor_index,
                at.num_detections_tensor_index,
            ]
        boxes, classes, scores, number = (floats_of(tensors[i], port) for i in order)
        many = max(options.max_classes_per_detection, 1)
        rows = boxes.shape[-2] if boxes.ndim > 1 else 0
        if number.size != 1 or boxes.size != rows * _BOX or classes.size < rows or scores.size < rows:
            raise InvalidArgumentError(
                f"input {port.name!r} holds {tensors!r}, but four tensors must be boxes 1xmx4, classes, "
                "scores and a count; the model must end with the detection operation"
            )
        count = min(int(number.ravel()[0]), rows, classes.size // many, scores.size // many)
        edges = options.box_boundaries_indices
        corners = boxes.reshape(rows, _BOX)[:count, [edges.ymin, edges.xmin, edges.ymax, edges.xmax]]
        all_scores = scores.ravel()[: count * many].reshape(count, many)
        all_classes = classes.ravel()[: count * many].reshape(count, many).astype(np.intp)
        is_kept = (
            np.isin(all_classes, self._allowed) if self.filters_decoded else np.ones_like(all_classes, bool)
        )
        if self._threshold is not None:
            is_kept &= ~(all_scores < self._threshold)
        some = np.flatnonzero(is_kept.any(axis=1))
        numbers = self._boxes.corners(corners[some, 1::-1], corners[some, 3:1:-1])
        found = []
        for i in self._with_size(numbers, port):
            row = some[i]
            made = detections_of((b"",), (numbers[i].tolist(),))[0]
            made.score[:] = all_scores[row][is_kept[row]].tolist()
            made.label_id.extend(all_classes[row][is_kept[row]].tolist())
            found.append(made)
        return found

    def _with_size(self, numbers: NDArray[np.float32], port: Input) -> Sequence[int]:
        """Return which detections have a size that is no negative number, at most `max_results`."""
        sizes = numbers[:, SIZES]
        found: Sequence[int] = range(len(numbers))
        if not (found and sizes.min() >= 0):
            found = np.flatnonzero((sizes >= 0).all(axis=1)).tolist()
        if self._most is None or len(found) <= self._most:
            return found
        port.count_cut(f"max_results is {self._most}", len(found) - self._most)
        return found[: self._most]


def _surely_below(threshold: np.float32 | None, clip: np.float32 | None, *, is_sigmoid: bool) -> Any:
    """Return a raw score below which no box is kept, whatever is rounded; None where every box may be.

    It is above the least score that clipping leaves.
    """
    if threshold is None or not is_sigmoid:
        return threshold
    if not 0 < threshold < 1:
        return None
    chance = float(threshold)
    found = math.log(chance / (1 - chance)) - _MARGIN
    return None if clip is not None and not found > -clip else np.float32(found)


#: Fields of `box_boundaries_indices`, and of `tensor_mapping` without their ending.
_EDGES: Final = ("ymin", "xmin", "ymax", "xmax")
_ROLES: Final = ("detections", "classes", "scores", "num_detections", "anchors")
#: Each of them is looked at in each frame; the largest models for images have some twenty thousand.
_MOST_CLASSES: Final = 1_000_000


def _has(options: Options, field: Any) -> bool:
    return bool(options.HasField(field))


def _check(options: Options, ignored: Sequence[int]) -> None:
    """Refuse options that contradict each other."""
    for name in ("num_classes", "num_coords"):
        if getattr(options, name) < 1:
            raise InvalidArgumentError(
                f"the detections' {name} is {getattr(options, name)}, but must be 1 or more; set what the "
                "model has"
            )
    check_size_limit(options.num_classes, "num_classes", _MOST_CLASSES)
    check_size_limit(options.num_boxes, "num_boxes")
    if options.max_results == 0:
        raise InvalidArgumentError("the detections' max_results is 0, but must be 1 or more, or -1 for all")
    if options.num_values_per_keypoint != 2:  # noqa: PLR2004  # x and y
        raise InvalidArgumentError(
            f"tensors to detections: num_values_per_keypoint is {options.num_values_per_keypoint}, but must "
            "be 2"
        )
    wanted = options.num_keypoints * options.num_values_per_keypoint + _BOX
    if options.num_coords != wanted:
        raise InvalidArgumentError(
            f"tensors to detections: num_coords is {options.num_coords}, but a box of 4 and "
            f"{options.num_keypoints} keypoints of 2 are {wanted} numbers; change num_coords or num_keypoints"
        )
    _check_places(options)
    if len(ignored) and len(options.allow_classes):
        raise InvalidArgumentError(
            "both ignore_classes and allow_classes of the detections are set; leave out one of them"
        )


def _check_places(options: Options) -> None:
    """Refuse places of numbers and tensors that are not there."""
    edges, mapping = options.box_boundaries_indices, options.tensor_mapping
    places = {
        "box_coord_offset": (options.box_coord_offset, options.num_coords - _BOX),
        "keypoint_coord_offset": (
            options.keypoint_coord_offset if options.num_keypoints else 0,
            options.num_coords - 2 * options.num_keypoints,
        ),
        **{f"box_boundaries_indices.{one}": (getattr(edges, one), _BOX - 1) for one in _EDGES},
        **{
            f"tensor_mapping.{one}_tensor_index": (getattr(mapping, f"{one}_tensor_index"), _DECODED - 1)
            for one in _ROLES
        },
    }
    for name, (place, last) in places.items():
        if not 0 <= place <= last:
            raise InvalidArgumentError(f"the detections' {name} is {place}, but must be from 0 to {last}")


def _allowed_classes(options: Options, ignored: Sequence[int]) -> NDArray[np.intp]:
    """Return the numbers of the classes that count, ascending."""
    every = range(options.num_classes)
    if len(options.allow_classes):
        return np.array(sorted({one for one in options.allow_classes if one in every}), np.intp)
    left_out = set(ignored)
    return np.array([one for one in every if one not in left_out], np.intp)
