"""TensorsToDetectionsCalculator: the boxes that a model found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_formats import Detection, Tensor
from penstock_formats.location_numbers import set_numbers
from penstock_tensors.anchor_pb2 import Anchor
from penstock_tensors.numbers import exponential, floats_of, sigmoid
from penstock_tensors.ports import only_one
from penstock_tensors.tensors_to_detections_calculator_pb2 import TensorsToDetectionsCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input
    from penstock_tensors.tensors_to_detections_calculator_pb2 import (
        TensorsToDetectionsCalculatorOptions as Options,
    )

#: With how many tensors the boxes were decoded by the model itself.
_DECODED: Final = 4
_WITH_ANCHORS: Final = 3
_BOX: Final = 4
#: Of a box in a message: after xmin and ymin.
_WIDTH, _HEIGHT = 2, 3
_TWO: Final = np.float32(2)
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
    parts of the model's input). Timestamp offset 0.

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
        self._surely_below = _surely_below(self._threshold, self._clip, is_sigmoid=options.sigmoid_score)
        kind = options.box_format or (options.XYWH if options.reverse_output_order else options.YXHW)
        self._columns = _columns(options, kind)
        self._is_xyxy = kind == options.XYXY
        self._scales = np.array(
            [options.x_scale, options.y_scale, options.w_scale, options.h_scale], np.float32
        )
        self._anchors: NDArray[np.float32] | None = None
        if "ANCHORS" in sides:
            given = [(one.y_center, one.x_center, one.h, one.w) for one in sides["ANCHORS"].get(list)]
            self._anchors = np.array(given, np.float32).reshape(-1, _BOX)

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
        mapping = options.tensor_mapping if _has(options, "tensor_mapping") else None
        at_boxes = mapping.detections_tensor_index if mapping else 0
        at_scores = mapping.scores_tensor_index if mapping else 1
        boxes = self._table(tensors, at_boxes, options.num_coords, "num_coords", port)
        scores = self._table(tensors, at_scores, options.num_classes, "num_classes", port)
        anchors = self._anchors
        if len(tensors) == _WITH_ANCHORS:
            at_anchors = mapping.anchors_tensor_index if mapping else _WITH_ANCHORS - 1
            anchors = self._table(tensors, at_anchors, _BOX, "the anchors", port)
        if anchors is None:
            raise UnavailableError(
                f"the boxes of input {port.name!r} are measured from anchors, and there are none; connect "
                "the side packet ANCHORS, for example from a SsdAnchorsCalculator"
            )
        if not len(boxes) == len(scores) == len(anchors):
            raise InvalidArgumentError(
                f"input {port.name!r}: {len(boxes)} boxes, {len(scores)} scores and {len(anchors)} anchors, "
                "but there must be one of each; look at num_boxes and at the options of the anchors"
            )
        kept, best, classes = self._best(scores)
        if not len(kept):
            return []
        low, high, points = self._boxes(boxes[kept], anchors[kept])
        return self._detections(
            low, high, points, [[one] for one in best.tolist()], [[one] for one in classes.tolist()]
        )

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
                f"input {port.name!r}: tensor {index} is {tensors[index]!r}, but by num_boxes and {option} "
                f"it must be 1x{wanted or 'n'}x{width}; the options must be the model's"
            )
        return values.reshape(rows, width)

    def _best(
        self, scores: NDArray[np.float32]
    ) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]:
        """Return which boxes have a score that is high enough; of each the score and the class.

        The score of a box is the greatest among the allowed classes.
        """
        classes, threshold = self._allowed, self._threshold
        if not len(classes):
            are_kept = threshold is None or not threshold > _LOWEST
            kept = np.arange(len(scores) if are_kept else 0)
            return kept, np.full(len(kept), _LOWEST, np.float32), np.full(len(kept), -1)
        if len(classes) < scores.shape[1]:
            scores = scores[:, classes]
        best = scores
        kept = np.arange(len(scores))
        if self._surely_below is not None:  # the sigmoids of a few boxes take less time than those of all
            is_kept = ~(scores < self._surely_below)
            kept = is_kept.ravel().nonzero()[0] if len(classes) == 1 else is_kept.any(axis=1).nonzero()[0]
            if not len(kept):
                return kept, best[kept, 0], kept
            best = best[kept]
        if self._options.sigmoid_score:
            if self._clip is not None:
                best = np.minimum(np.maximum(best, -self._clip), self._clip)
            best = sigmoid(best)
        if len(classes) == 1:
            best, found = best[:, 0], np.full(len(best), classes[0])
        else:
            first = best.argmax(axis=1)
            best, found = best[np.arange(len(best)), first], classes[first]
        if threshold is not None:
            is_kept = ~(best < threshold)
            if not is_kept.all():
                kept, best, found = kept[is_kept], best[is_kept], found[is_kept]
        return kept, best, found

    def _boxes(
        self, raw: NDArray[np.float32], anchors: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return the low and the high edges of boxes, (n, 2), and points, (n, keypoints, 2); each x, y."""
        centers, sides = anchors[:, None, 1::-1], anchors[:, 3:1:-1]
        places = raw[:, self._columns].reshape(len(raw), -1, 2)
        if self._is_xyxy:
            low, high = places[:, 0], places[:, 1]
            sizes = high + low
            places[:, 1] = (high - low) / _TWO
            places = places[:, 1:]
        else:
            sizes = places[:, 0]
            places = places[:, 1:]
        places = places / self._scales[:2] * sides[:, None] + centers
        sizes = sizes / self._scales[2:]
        if self._options.apply_exponential_on_box_size:
            sizes = exponential(sizes)
        half = sizes * sides / _TWO
        return places[:, 0] - half, places[:, 0] + half, places[:, 1:]

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
        if max(order) >= _DECODED:
            raise InvalidArgumentError(f"tensor_mapping names tensor {max(order)}, but there are {_DECODED}")
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
        return self._detections(
            corners[some, 1::-1],
            corners[some, 3:1:-1],
            np.zeros((len(some), 0, 2), np.float32),
            [all_scores[i][is_kept[i]].tolist() for i in some],
            [all_classes[i][is_kept[i]].tolist() for i in some],
        )

    # --- messages -------------------------------------------------------------------------------------

    def _detections(
        self,
        low: NDArray[np.float32],
        high: NDArray[np.float32],
        points: NDArray[np.float32],
        scores: Sequence[list[float]],
        classes: Sequence[list[int]],
    ) -> list[Detection]:
        """Return a message for each box that has a size, at most `max_results`."""
        options = self._options
        sizes = high - low
        if options.flip_vertically:
            low = np.stack((low[:, 0], np.float32(1) - high[:, 1]), axis=1)
            points = points * np.array([1, -1], np.float32) + np.array([0, 1], np.float32)
        found: list[Detection] = []
        numbers = np.concatenate((low, sizes, points.reshape(len(low), 2 * points.shape[1])), axis=1).tolist()
        for row, score, label_id in zip(numbers, scores, classes, strict=True):
            if not (row[_WIDTH] >= 0 and row[_HEIGHT] >= 0):  # not a number, too
                continue
            made = Detection(score=score, label_id=label_id)
            set_numbers(made.location_data, row)
            found.append(made)
            if len(found) == options.max_results:
                break
        return found


def _columns(options: Options, kind: int) -> NDArray[np.intp]:
    """Return which numbers of a raw box are width, height, x, y of the box, and x, y of each keypoint.

    Of XYXY, the first four are its numbers in their order.
    """
    at = options.box_coord_offset
    places = [at + 2, at + 3, at, at + 1]
    if kind == options.XYXY:
        places = [at, at + 1, at + 2, at + 3]
    keypoints = range(
        options.keypoint_coord_offset, options.keypoint_coord_offset + 2 * options.num_keypoints
    )
    places.extend(keypoints)
    if kind == options.YXHW:
        places = [place for pair in zip(places[1::2], places[::2], strict=True) for place in pair]
    return np.array(places, np.intp)


def _surely_below(threshold: np.float32 | None, clip: np.float32 | None, *, is_sigmoid: bool) -> Any:
    """Return a raw score below which no box is kept, whatever is rounded; None where every box may be."""
    if threshold is None or not is_sigmoid:
        return threshold
    if not 0 < threshold < 1:
        return None
    chance = float(threshold)
    found = math.log(chance / (1 - chance)) - _MARGIN
    return None if clip is not None and not found > -clip else np.float32(found)


def _has(options: Options, field: Any) -> bool:
    return bool(options.HasField(field))


def _check(options: Options, ignored: Sequence[int]) -> None:
    """Refuse options that contradict each other."""
    for name in ("num_classes", "num_coords"):
        if getattr(options, name) < 1:
            raise InvalidArgumentError(
                f"{name} is {getattr(options, name)}, but must be 1 or more; set what the model has"
            )
    if options.max_results == 0:
        raise InvalidArgumentError("max_results is 0, but must be 1 or more, or -1 for all")
    if options.num_values_per_keypoint != 2:  # noqa: PLR2004  # x and y
        raise InvalidArgumentError(
            f"num_values_per_keypoint is {options.num_values_per_keypoint}, but must be 2"
        )
    wanted = options.num_keypoints * options.num_values_per_keypoint + _BOX
    if options.num_coords != wanted:
        raise InvalidArgumentError(
            f"num_coords is {options.num_coords}, but a box of 4 and {options.num_keypoints} keypoints of 2 "
            f"are {wanted} numbers; change num_coords or num_keypoints"
        )
    if len(ignored) and len(options.allow_classes):
        raise InvalidArgumentError("both ignore_classes and allow_classes are set; leave out one of them")


def _allowed_classes(options: Options, ignored: Sequence[int]) -> NDArray[np.intp]:
    """Return the numbers of the classes that count, ascending."""
    every = range(options.num_classes)
    if len(options.allow_classes):
        return np.array([one for one in every if one in set(options.allow_classes)], np.intp)
    return np.array([one for one in every if one not in set(ignored)], np.intp)
