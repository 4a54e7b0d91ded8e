"""NonMaxSuppressionCalculator: one detection where several overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, Image, ImageFrame, LocationData
from penstock_formats.location_numbers import numbers_of, set_numbers
from penstock_vision.non_max_suppression_calculator_pb2 import NonMaxSuppressionCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

    #: Edges as rows of (xmin, ymin, xmax, ymax), float32, and one such row → how much each overlaps it.
    Overlap = Callable[[NDArray[np.float32], NDArray[np.float32]], NDArray[np.float32]]

_EDGES: Final = 4


class NonMaxSuppressionCalculator(penstock.Calculator):
    """Keep the best of detections that overlap.

    Of each detection only its best label counts; one without label and label_id is left out. Detections go by
    score, the best first, equals in the order in which they came. Each suppresses the worse ones that it
    overlaps by more than `min_suppression_threshold`. With WEIGHTED the box and the keypoints of the one that
    is kept become the averages over those that it suppresses and itself, weighted by score.

    Inputs: `num_detection_streams` untagged ones (list[Detection]); IMAGE (Image or ImageFrame, optional: its
    size makes fractions of boxes in pixels). Output 0 (list[Detection], the best first). Where there is no
    detection nothing is sent, or an empty list with `return_empty_detections`. Timestamp offset 0.

    Options `NonMaxSuppressionCalculatorOptions`: `num_detection_streams` (1), `max_num_detections` (-1: all;
    **WEIGHTED ignores it**), `min_suppression_threshold` (1), `overlap_type` (JACCARD: shared area over the
    box around both; MODIFIED_JACCARD: over the area of the worse one; INTERSECTION_OVER_UNION),
    `return_empty_detections` (false), `min_score_threshold` (-1; above 0 worse ones are left out),
    `algorithm` (DEFAULT, WEIGHTED), `multiclass_nms` (false: classes suppress each other).

    Raises in `get_contract`: InvalidArgumentError if the number of streams differs from the option. In
    `open`: the same for `max_num_detections` of 0 or no overlap type. In `process`: the same for a box in
    pixels without IMAGE, and for labels that are not as many as scores.

    Source of the behaviour: MediaPipe `calculators/util/non_max_suppression_calculator.cc`; computed in
    float32 in its order, so results equal its results bit by bit.

    Config::

        node {
          calculator: "NonMaxSuppressionCalculator"
          input_stream: "detections"
          output_stream: "best_detections"
          options {
            [penstock.NonMaxSuppressionCalculatorOptions.ext] {
              min_suppression_threshold: 0.3
              overlap_type: INTERSECTION_OVER_UNION
              algorithm: WEIGHTED
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the streams of detections.

        Raises:
            InvalidArgumentError: they are not as many as the option says.
        """
        count = cc.options(NonMaxSuppressionCalculatorOptions).num_detection_streams
        found = cc.inputs.count("")
        if found != count:
            raise InvalidArgumentError(
                f"{found} untagged inputs are connected, but num_detection_streams is {count}; change the "
                "option"
            )
        for i in range(count):
            cc.inputs[i].set(list[Detection], "detections")
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="where they are").optional()
        cc.outputs[0].set(list[Detection], "the best ones")
        cc.set_timestamp_offset(0)
        cc.declare(
            may_skip=not cc.options(NonMaxSuppressionCalculatorOptions).return_empty_detections,
            stateless=True,
        )

    def open(self, cc: CalculatorContext) -> None:
        """Check the options.

        Raises:
            InvalidArgumentError: none would be kept, or the overlap type is unspecified.
        """
        options = cc.options(NonMaxSuppressionCalculatorOptions)
        if options.max_num_detections == 0:
            raise InvalidArgumentError("max_num_detections is 0, but must be 1 or more, or -1 for all")
        if options.overlap_type not in _OVERLAPS:
            raise InvalidArgumentError(
                "overlap_type is UNSPECIFIED_OVERLAP_TYPE, but must be JACCARD, MODIFIED_JACCARD or "
                "INTERSECTION_OVER_UNION; change it in the options"
            )
        self._options = options
        self._overlap = _OVERLAPS[options.overlap_type]
        self._threshold = np.float32(options.min_suppression_threshold)
        self._least = np.float32(options.min_score_threshold)
        self._most = options.max_num_detections
        is_weighted = options.algorithm == NonMaxSuppressionCalculatorOptions.WEIGHTED
        self._select = self._weighted if is_weighted else self._plain

    def process(self, cc: CalculatorContext) -> None:
        """Select among the detections of one timestamp."""
        ports = [cc.inputs[i] for i in range(self._options.num_detection_streams)]
        given = [one for port in ports if not port.is_empty() for one in port.payload]
        if not given:
            if self._options.return_empty_detections:
                cc.outputs[0].add([], cc.stamp)
            return
        image = None
        if "IMAGE" in cc.inputs and not cc.inputs["IMAGE"].is_empty():
            image = cc.inputs["IMAGE"].payload
        best = [made for one in given if (made := _best_label(one)) is not None]
        rows = [numbers_of(one.location_data) or _numbers(one, image) for one in best]
        edges = np.array([row[:_EDGES] for row in rows], np.float32).reshape(-1, _EDGES)
        edges[:, 2:] += edges[:, :2]  # sizes become the other edges
        scores = np.array([one.score[0] for one in best], np.float32)
        order = np.argsort(-scores, kind="stable")
        if not self._options.multiclass_nms:
            found = self._select(best, rows, edges, scores, order)
        else:
            found = [
                one
                for chosen in _classes(best, order)
                for one in self._select(best, rows, edges, scores, chosen)
            ]
            found.sort(key=lambda one: -one[1].score[0])
            # of all classes together, and also with WEIGHTED
            found = found[: self._most] if self._most > -1 else found
        cc.outputs[0].add([made for _, made in found], cc.stamp)

    def _is_too_low(self, score: np.float32) -> bool:
        return bool(self._least > 0 and score < self._least)

    def _plain(
        self,
        best: list[Detection],
        rows: Sequence[Sequence[float]],  # noqa: ARG002  # as `_weighted`
        edges: NDArray[np.float32],
        scores: NDArray[np.float32],
        order: NDArray[np.intp],
    ) -> list[tuple[int, Detection]]:
        kept: list[int] = []
        most = self._most if self._most > -1 else len(order)
        for i in order.tolist():
            if self._is_too_low(scores[i]):
                break
            if not kept or not (self._overlap(edges[kept], edges[i]) > self._threshold).any():
                kept.append(i)
            if len(kept) >= most:
                break
        return [(i, best[i]) for i in kept]

    def _weighted(
        self,
        best: list[Detection],
        rows: Sequence[Sequence[float]],
        edges: NDArray[np.float32],
        scores: NDArray[np.float32],
        order: NDArray[np.intp],
    ) -> list[tuple[int, Detection]]:
        found = []
        remaining = order
        while len(remaining):
            pivot = int(remaining[0])
            if self._is_too_low(scores[pivot]):
                break
            is_near = self._overlap(edges[remaining], edges[pivot]) > self._threshold
            near = remaining[is_near]
            made = _averaged(best, rows, edges, scores, pivot, near) if len(near) else best[pivot]
            found.append((pivot, made))
            if not len(near):
                break  # as the reference: nothing was removed, so nothing will be
            remaining = remaining[~is_near]
        return found


# --- detections -----------------------------------------------------------------------------------


def _best_label(detection: Detection) -> Detection | None:
    """Return a detection with its best label alone; None where it has no label."""
    count = len(detection.score)
    labels, ids = len(detection.label), len(detection.label_id)
    if not labels and not ids:
        return None
    if not count or count not in (labels, ids):
        raise InvalidArgumentError(
            f"a detection has {count} scores, {labels} labels and {ids} label_ids; there must be as many "
            "scores "
            "as labels or label_ids"
        )
    if count == 1 and labels <= 1 and ids <= 1:
        return detection
    at = max(range(count), key=lambda i: detection.score[i])
    made = Detection()
    made.CopyFrom(detection)
    for field, values in (
        ("score", detection.score),
        ("label", detection.label),
        ("label_id", detection.label_id),
    ):
        made.ClearField(field)
        if len(values) > at:
            getattr(made, field).append(values[at])
    return made


def _numbers(detection: Detection, image: Image | ImageFrame | None) -> tuple[float, ...]:
    """Return xmin, ymin, width, height in fractions of the image, then x and y of each keypoint."""
    keypoints = detection.location_data.relative_keypoints
    return (*_box(detection, image), *(number for point in keypoints for number in (point.x, point.y)))


def _box(detection: Detection, image: Image | ImageFrame | None) -> tuple[float, ...]:
    location = detection.location_data
    if location.format == LocationData.RELATIVE_BOUNDING_BOX:
        part = location.relative_bounding_box
        return part.xmin, part.ymin, part.width, part.height
    if location.format != LocationData.BOUNDING_BOX or image is None:
        raise InvalidArgumentError(
            f"a detection's location has format {LocationData.Format.Name(location.format)}, but boxes must "
            "be "
            "RELATIVE_BOUNDING_BOX, or BOUNDING_BOX with the input IMAGE connected"
        )
    box = location.bounding_box
    width, height = np.float32(image.width), np.float32(image.height)
    numbers = (box.xmin / width, box.ymin / height, box.width / width, box.height / height)
    return tuple(float(number) for number in numbers)


def _classes(best: Sequence[Detection], order: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the numbers of the detections of each class, in order."""
    found: dict[int, list[int]] = {}
    for i in order.tolist():
        ids = best[i].label_id
        found.setdefault(ids[0] if len(ids) else -1, []).append(i)
    return [np.array(numbers, np.intp) for _, numbers in sorted(found.items())]


def _averaged(  # noqa: PLR0913, PLR0917  # what is known of the detections
    best: Sequence[Detection],
    numbers: Sequence[Sequence[float]],
    edges: NDArray[np.float32],
    scores: NDArray[np.float32],
    pivot: int,
    near: NDArray[np.intp],
) -> Detection:
    """Return a detection with the averaged box and keypoints of those near it."""
    count = len(numbers[pivot])
    chosen = [numbers[i] for i in near.tolist()]
    for row in chosen:
        if len(row) != count:
            raise InvalidArgumentError(
                f"detections that overlap have {(count - _EDGES) // 2} and {(len(row) - _EDGES) // 2} "
                "keypoints, but WEIGHTED averages them one by one; they must have as many"
            )
    rows = np.array(chosen, np.float32)
    rows[:, :_EDGES] = edges[near]
    weights = scores[near]
    # sums in the order of the scores, each rounded to 32 bits
    sums = np.add.accumulate(rows * weights[:, None], axis=0)[-1]
    means = sums / np.add.accumulate(weights)[-1]
    means[2:_EDGES] -= means[:2]  # the other edges become sizes
    made = Detection()
    made.CopyFrom(best[pivot])
    location: Any = made.location_data
    found = means.tolist()
    if numbers_of(location) is not None:
        location.Clear()
        set_numbers(location, found)
        return made
    box = location.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = found[:_EDGES]
    for i, keypoint in enumerate(location.relative_keypoints):
        keypoint.x, keypoint.y = found[_EDGES + 2 * i], found[_EDGES + 2 * i + 1]
    return made


# --- overlap --------------------------------------------------------------------------------------


def _area(edges: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = (edges[..., 2] - edges[..., 0]) * (edges[..., 3] - edges[..., 1])
    return found


def _shared(
    edges: NDArray[np.float32], one: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return the area that each box shares with one, and whether they touch at all."""
    low = np.maximum(edges[:, :2], one[:2])
    high = np.minimum(edges[:, 2:], one[2:])
    sides = high - low
    columns, rows = sides[:, 0], sides[:, 1]
    touches: NDArray[np.bool_] = (columns >= 0) & (rows >= 0)
    return columns * rows, touches


def _over(
    shared: NDArray[np.float32], touches: NDArray[np.bool_], whole: NDArray[np.float32]
) -> NDArray[np.float32]:
    is_some = touches & (whole > 0)
    found: NDArray[np.float32] = np.divide(shared, whole, out=np.zeros_like(shared), where=is_some)
    return found


def _jaccard(edges: NDArray[np.float32], one: NDArray[np.float32]) -> NDArray[np.float32]:
    low = np.minimum(edges[:, :2], one[:2])
    high = np.maximum(edges[:, 2:], one[2:])
    return _over(*_shared(edges, one), _area(np.concatenate((low, high), axis=1)))


def _modified_jaccard(edges: NDArray[np.float32], one: NDArray[np.float32]) -> NDArray[np.float32]:
    shared, touches = _shared(edges, one)
    return _over(shared, touches, np.full_like(shared, _area(one)))


def _intersection_over_union(edges: NDArray[np.float32], one: NDArray[np.float32]) -> NDArray[np.float32]:
    shared, touches = _shared(edges, one)
    return _over(shared, touches, _area(edges) + _area(one) - shared)


_OVERLAPS: Final[dict[int, Overlap]] = {
    NonMaxSuppressionCalculatorOptions.JACCARD: _jaccard,
    NonMaxSuppressionCalculatorOptions.MODIFIED_JACCARD: _modified_jaccard,
    NonMaxSuppressionCalculatorOptions.INTERSECTION_OVER_UNION: _intersection_over_union,
}
