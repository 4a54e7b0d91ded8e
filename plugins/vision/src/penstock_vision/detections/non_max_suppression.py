"""NonMaxSuppressionCalculator: one detection where several overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, Image, ImageFrame, LocationData
from penstock_formats.api import (
    TABLE_HEIGHT,
    TABLE_SCORE,
    TABLE_WIDTH,
    TABLE_XMIN,
    TABLE_YMIN,
    DetectionTable,
    detections_of,
    table_of,
)
from penstock_vision.messages.non_max_suppression_pb2 import NonMaxSuppressionCalculatorOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

    #: Edges as rows of (xmin, ymin, xmax, ymax) and their areas, one such row and its area, all float32 → how
    #: much each overlaps the one.
    Overlap = Callable[
        [NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], np.float32], NDArray[np.float32]
    ]

_EDGES: Final = 4
_ZERO: Final = np.float32(0)
#: Columns of the numbers of a detection: the low and the high edges of its box. Both are slices, and so
#: what they show is no copy.
_BOX: Final = slice(TABLE_XMIN, TABLE_HEIGHT + 1)
_LOW: Final = slice(TABLE_XMIN, TABLE_YMIN + 1)
_HIGH: Final = slice(TABLE_WIDTH, TABLE_HEIGHT + 1)


class NonMaxSuppressionCalculator(penstock.Calculator):
    """Keep the best of detections that overlap.

    Of each detection only its best label counts; one without label and label_id is left out. Detections go by
    score, the best first, equals in the order in which they came. Each suppresses the worse ones that it
    overlaps by more than `min_suppression_threshold`. With WEIGHTED the box and the keypoints of the one that
    is kept become the averages over those that it suppresses and itself, weighted by score.

    Inputs: `num_detection_streams` untagged ones (list[Detection]); IMAGE (Image or ImageFrame, optional: its
    size makes fractions of boxes in pixels). Output 0 (list[Detection], the best first). Where there is no
    detection nothing is sent, or an empty list with `return_empty_detections`. Timestamp offset 0.
    `graph.ledger().cuts` says how many `max_num_detections` left out that no better one suppresses, at the
    first input that had a packet.

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
                f"{found} untagged inputs of the suppression are connected, but num_detection_streams is "
                f"{count}; change the option"
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
            raise InvalidArgumentError(
                "the suppression's max_num_detections is 0, but must be 1 or more, or -1 for all"
            )
        if options.overlap_type not in _OVERLAPS:
            raise InvalidArgumentError(
                "the suppression's overlap_type is UNSPECIFIED_OVERLAP_TYPE, but must be JACCARD, "
                "MODIFIED_JACCARD or INTERSECTION_OVER_UNION; change it in the options"
            )
        self._options = options
        self._overlap = _OVERLAPS[options.overlap_type]
        self._threshold = np.float32(options.min_suppression_threshold)
        self._least = np.float32(options.min_score_threshold)
        self._most = options.max_num_detections
        is_weighted = options.algorithm == NonMaxSuppressionCalculatorOptions.WEIGHTED
        self._select = self._weighted if is_weighted else self._plain
        # With several classes at once WEIGHTED has a limit too.
        self._is_limited = self._most > -1 and (options.multiclass_nms or not is_weighted)

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
        candidates = _candidates(given, image)
        order = (-candidates.scores).argsort(kind="stable")
        if not self._options.multiclass_nms:
            groups = self._select(candidates, order)
        else:
            groups = [
                group
                for chosen in _classes(candidates.detections, order)
                for group in self._select(candidates, chosen)
            ]
            groups.sort(key=lambda group: -candidates.scores[group[0]])
        if self._is_limited and len(groups) > self._most:  # of all classes together
            first = next(port for port in ports if not port.is_empty())
            first.count_cut(f"max_num_detections is {self._most}", len(groups) - self._most)
            groups = groups[: self._most]
        cc.outputs[0].add(candidates.made(groups), cc.stamp)

    def _is_too_low(self, score: np.float32) -> bool:
        return bool(self._least > 0 and score < self._least)

    def _plain(self, candidates: _Candidates, order: NDArray[np.intp]) -> list[_Group]:
        edges, areas = candidates.edges, candidates.areas
        kept: list[int] = []
        for i in order.tolist():
            if self._is_too_low(candidates.scores[i]):
                break
            if (
                not kept
                or not (self._overlap(edges[kept], areas[kept], edges[i], areas[i]) > self._threshold).any()
            ):
                kept.append(i)
        return [(i, None) for i in kept]

    def _weighted(self, candidates: _Candidates, order: NDArray[np.intp]) -> list[_Group]:
        found: list[_Group] = []
        remaining = order
        while len(remaining):
            pivot = remaining[0]
            if self._is_too_low(candidates.scores[pivot]):
                break
            edges, areas = candidates.edges.take(remaining, 0), candidates.areas.take(remaining)
            is_near = self._overlap(edges, areas, edges[0], areas[0]) > self._threshold
            if is_near.all():  # mostly
                found.append((int(pivot), remaining))
                break
            near = remaining[is_near]
            found.append((int(pivot), near if len(near) else None))
            if not len(near):
                break  # as the reference: nothing was removed, so nothing will be
            remaining = remaining[~is_near]
        return found


#: A detection that is kept, and those that it is the average of; None: it stays as it is.
_Group: TypeAlias = "tuple[int, NDArray[np.intp] | None]"


class _Candidates:
    """Detections with one label each, and their numbers."""

    def __init__(
        self, detections: Sequence[Detection], scores: NDArray[np.float32], edges: NDArray[np.float32]
    ) -> None:
        #: As they are.
        self.detections: Final = detections
        #: (n,) float32.
        self.scores: Final = scores
        #: (n, 4) float32: xmin, ymin, xmax, ymax in fractions of the image.
        self.edges: Final = edges
        #: (n,) float32.
        self.areas: Final = _area(edges)

    def made(self, groups: Sequence[_Group]) -> list[Detection]:
        """Return a detection for each group."""
        return [
            self.detections[pivot] if near is None else self._averaged(pivot, near) for pivot, near in groups
        ]

    def _averaged(self, pivot: int, near: NDArray[np.intp]) -> Detection:
        """Return a detection with the averaged box and keypoints of those near it."""
        raise NotImplementedError


class _Plain(_Candidates):
    """Detections that a table holds: those of the decoders here."""

    def __init__(self, detections: Sequence[Detection], table: DetectionTable) -> None:
        self._labels: Final = table.labels
        numbers = np.array(table.rows, np.float32)
        numbers[:, _HIGH] += numbers[:, _LOW]  # sizes become the other edges
        self._numbers: Final = numbers
        super().__init__(detections, numbers[:, TABLE_SCORE], numbers[:, _BOX])

    def _averaged(self, pivot: int, near: NDArray[np.intp]) -> Detection:
        means = _means(self._numbers.take(near, 0), self.scores.take(near))
        means[_HIGH] -= means[_LOW]  # the other edges become sizes
        means[TABLE_SCORE] = self.scores[pivot]
        return detections_of((self._labels[pivot],), (means.tolist(),))[0]


class _Others(_Candidates):
    """Detections of any other form: in pixels, of names, with further fields."""

    def __init__(self, detections: Sequence[Detection], image: Image | ImageFrame | None) -> None:
        self._boxes: Final = [_box(one, image) for one in detections]
        edges = np.array(self._boxes, np.float32).reshape(-1, _EDGES)
        edges[:, 2:] += edges[:, :2]
        super().__init__(detections, np.array([one.score[0] for one in detections], np.float32), edges)

    def _averaged(self, pivot: int, near: NDArray[np.intp]) -> Detection:
        made = Detection()
        made.CopyFrom(self.detections[pivot])
        location = made.location_data
        count = len(location.relative_keypoints)
        chosen = [self.detections[i].location_data.relative_keypoints for i in near.tolist()]
        for points in chosen:
            if len(points) != count:
                raise InvalidArgumentError(
                    f"in the suppression detections that overlap have {count} and {len(points)} keypoints, "
                    "but WEIGHTED averages them one by one; they must have as many"
                )
        places = [[number for point in points for number in (point.x, point.y)] for points in chosen]
        rows = np.concatenate((self.edges[near], np.array(places, np.float32).reshape(len(near), -1)), axis=1)
        means = _means(rows, self.scores[near])
        means[2:_EDGES] -= means[:2]
        found = means.tolist()
        box = location.relative_bounding_box
        box.xmin, box.ymin, box.width, box.height = found[:_EDGES]
        for i, keypoint in enumerate(location.relative_keypoints):
            keypoint.x, keypoint.y = found[_EDGES + 2 * i], found[_EDGES + 2 * i + 1]
        return made


def _candidates(given: Sequence[Detection], image: Image | ImageFrame | None) -> _Candidates:
    table = table_of(given)
    if table is not None:
        return _Plain(given, table)
    return _Others([made for one in given if (made := _best_label(one)) is not None], image)


def _means(rows: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the average of rows: sums in the order of the rows, each rounded to 32 bits."""
    if len(rows) == 1:
        means: NDArray[np.float32] = rows[0] * weights[0] / weights[0]
    else:
        means = np.add.accumulate(rows * weights[:, None], axis=0)[-1] / np.add.accumulate(weights)[-1]
    return means


# --- detections -----------------------------------------------------------------------------------


def _best_label(detection: Detection) -> Detection | None:
    """Return a detection with its best label alone; None where it has no label."""
    count = len(detection.score)
    labels, ids = len(detection.label), len(detection.label_id)
    if not labels and not ids:
        return None
    if not count or count not in (labels, ids):
        raise InvalidArgumentError(
            f"in the suppression a detection has {count} scores, {labels} labels and {ids} label_ids; there "
            "must be as many scores as labels or label_ids"
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


def _box(detection: Detection, image: Image | ImageFrame | None) -> tuple[float, ...]:
    location = detection.location_data
    if location.format == LocationData.RELATIVE_BOUNDING_BOX:
        part = location.relative_bounding_box
        return part.xmin, part.ymin, part.width, part.height
    if location.format != LocationData.BOUNDING_BOX or image is None:
        raise InvalidArgumentError(
            f"a detection's location has format {LocationData.Format.Name(location.format)}, but boxes for "
            "the suppression must be RELATIVE_BOUNDING_BOX, or BOUNDING_BOX with the input IMAGE connected"
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


# --- overlap --------------------------------------------------------------------------------------


def _area(edges: NDArray[np.float32]) -> NDArray[np.float32]:
    sides = edges[:, 2:] - edges[:, :2]
    found: NDArray[np.float32] = sides[:, 0] * sides[:, 1]
    return found


def _shared(edges: NDArray[np.float32], one: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the area that each box shares with one; 0 where they do not touch."""
    sides = np.minimum(edges[:, 2:], one[2:]) - np.maximum(edges[:, :2], one[:2])
    np.fmax(sides, _ZERO, out=sides)  # not a number becomes 0, too
    found: NDArray[np.float32] = sides[:, 0] * sides[:, 1]
    return found


def _over(shared: NDArray[np.float32], whole: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the quotients; 0 where the whole is not above 0."""
    if whole.min() > 0:
        return shared / whole
    found: NDArray[np.float32] = np.divide(shared, whole, out=np.zeros_like(shared), where=whole > 0)
    return found


def _jaccard(
    edges: NDArray[np.float32],
    areas: NDArray[np.float32],  # noqa: ARG001  # as the others
    one: NDArray[np.float32],
    area: np.float32,  # noqa: ARG001  # likewise
) -> NDArray[np.float32]:
    low = np.minimum(edges[:, :2], one[:2])
    high = np.maximum(edges[:, 2:], one[2:])
    return _over(_shared(edges, one), _area(np.concatenate((low, high), axis=1)))


def _modified_jaccard(
    edges: NDArray[np.float32],
    areas: NDArray[np.float32],
    one: NDArray[np.float32],
    area: np.float32,
) -> NDArray[np.float32]:
    return _over(_shared(edges, one), np.full_like(areas, area))


def _intersection_over_union(
    edges: NDArray[np.float32],
    areas: NDArray[np.float32],
    one: NDArray[np.float32],
    area: np.float32,
) -> NDArray[np.float32]:
    shared = _shared(edges, one)
    return _over(shared, areas + area - shared)


_OVERLAPS: Final[dict[int, Overlap]] = {
    NonMaxSuppressionCalculatorOptions.JACCARD: _jaccard,
    NonMaxSuppressionCalculatorOptions.MODIFIED_JACCARD: _modified_jaccard,
    NonMaxSuppressionCalculatorOptions.INTERSECTION_OVER_UNION: _intersection_over_union,
}
