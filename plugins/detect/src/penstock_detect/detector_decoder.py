"""DetectorDecoderCalculator: what a detector's outputs mean, as detections."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import penstock
from penstock.access import ACCESS, Searched
from penstock.errors import InvalidArgumentError
from penstock_detect.detector_labels import check_labels, read_labels
from penstock_detect.detector_options import DetectorDecoderCalculatorOptions
from penstock_detect.outputs.found import Found, Reading, sigmoid, softmax
from penstock_detect.outputs.layouts import WITH_MASKS, Layout, Scores
from penstock_detect.outputs.output_arrays import ordered, refuse, values_of
from penstock_detect.outputs.told_layout import DECODERS, Known, tell, untold
from penstock_formats import Classification, ClassificationList, Detection, Tensor
from penstock_formats.api import detections_of
from penstock_tensors import RESOURCES, TensorInfo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract, Input

_NO_PADDING: Final = (0.0, 0.0, 0.0, 0.0)
#: Numbers of a key point that has a score.
_SCORED: Final = 3


class DetectorDecoderCalculator(penstock.Calculator):
    """Makes detections of the outputs of a detector, with boxes in fractions of the image.

    Inputs: TENSORS (list[Tensor]: float16, float32 or, with a scale, int8 or uint8; numbers of classes may be
    int32 or int64); LETTERBOX_PADDING (optional, 4 floats of DetectorInputCalculator: the part of the input
    that is beside the image is taken off). Outputs: DETECTIONS (list[Detection], the best first: one label,
    where the class has a name, label_id, score, a relative box that is not cut off at the edges of the image,
    and the key points of the layout); or, with the layout CLASSES, CLASSIFICATIONS (ClassificationList, the
    best first). Detections may overlap: put a NonMaxSuppressionCalculator behind it. Without a detection an
    empty list is sent; nothing at a timestamp without TENSORS. Boxes with a number that is not finite are
    left out. Timestamp offset 0.

    For layouts with masks each detection has as `mask_row` its row in the model's output, by which
    DetectorMasksCalculator finds its mask.

    Options `DetectorDecoderCalculatorOptions`: `layout` (AUTO: told from the shapes of the first tensors,
    which have no names; the README of penstock-detect has all); `input_width`, `input_height` (required);
    `order`; `scores` (USUAL: SIGMOID for DETR, else GIVEN); `units` (USUAL, as PIXELS; FRACTIONS for layouts
    in pixels whose boxes are fractions of the input, as in .tflite files of Ultralytics); `min_score` (0.25);
    `max_candidates` (1000: at most so many leave, the best ones; `graph.ledger().cuts` says how many it left
    out); `label` or `labels_path` (names of the classes); `classes` (which count, by name or number);
    `first_class` (0); `keypoint_values` (3); `mask_axes` (USUAL: told from the shape of the prototypes).

    Raises in `get_contract`: InvalidArgumentError for options that do not fit together. In `open`: the same
    for a class that no name or number stands for, and NotFoundError, PermissionDeniedError or
    ResourceExhaustedError for `labels_path`. In `process`: InvalidArgumentError for tensors that the layout
    does not have, or of which the layout is not certain.

    Config::

        node {
          calculator: "DetectorDecoderCalculator"
          input_stream: "TENSORS:outputs"
          input_stream: "LETTERBOX_PADDING:padding"
          output_stream: "DETECTIONS:detections"
          node_options {
            [type.googleapis.com/penstock_detect.DetectorDecoderCalculatorOptions] {
              layout: YOLO_V8 input_width: 640 input_height: 640 label: "cat" label: "dog"
            }
          }
        }
    """

    Options = DetectorDecoderCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(DetectorDecoderCalculatorOptions)
        cc.inputs["TENSORS"].set(list[Tensor], "what the model made")
        cc.inputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom: 4 floats").optional()
        is_classes = options.layout == Layout.CLASSES
        cc.outputs["DETECTIONS"].set(list[Detection], "what was found").optional()
        cc.outputs["CLASSIFICATIONS"].set(ClassificationList, "what the image is").optional()
        wanted, other = ("CLASSIFICATIONS", "DETECTIONS") if is_classes else ("DETECTIONS", "CLASSIFICATIONS")
        if options.layout != Layout.AUTO and (other in cc.outputs or wanted not in cc.outputs):
            raise InvalidArgumentError(
                f"the decoder's layout {options.layout.name} makes {wanted}, and no {other}; connect that "
                "output, or change the layout"
            )
        if options.labels_path:
            cc.use_service(RESOURCES)
            cc.declare(reads=[Searched(options.labels_path)])
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the names of classes.

        Raises:
            PenstockError: as the class says.
        """
        self._options = options = cc.options(DetectorDecoderCalculatorOptions)
        if options.labels_path:
            found = cc.service(RESOURCES).find(options.labels_path, cc.service(ACCESS))
            labels = read_labels(options.labels_path, found.data)
        else:
            labels = check_labels(options.label, "label")
        self._labels = labels
        self._classes = numbers_of(options.classes, labels)
        self._first = np.intp(options.first_class)
        self._has_padding = "LETTERBOX_PADDING" in cc.inputs
        self._layout, self._order = options.layout, options.order
        self._reading = self._reading_of(options.layout)

    def _reading_of(self, layout: Layout) -> Reading:
        options = self._options
        return Reading(
            layout=layout,
            width=options.input_width,
            height=options.input_height,
            min_score=options.min_score,
            scores=options.scores,
            units=options.units,
            keypoint_values=options.keypoint_values,
            classes=len(self._labels),
            mask_axes=options.mask_axes,
        )

    def process(self, cc: CalculatorContext) -> None:
        """Decode the outputs of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        port = cc.inputs["TENSORS"]
        if port.is_empty():
            return
        arrays = values_of(port)
        if self._layout == Layout.AUTO:
            self._tell(arrays)
        arrays = ordered(arrays, self._order, self._layout)
        if self._layout == Layout.CLASSES:
            cc.outputs["CLASSIFICATIONS"].add(self._classification(arrays), cc.stamp)
            return
        padding = _NO_PADDING
        if self._has_padding:
            given = cc.inputs["LETTERBOX_PADDING"]
            if given.is_empty():
                return
            padding = given.payload
        found = self._chosen(DECODERS[self._layout](arrays, self._reading), port)
        cc.outputs["DETECTIONS"].add(self._detections(_unpadded(found, padding)), cc.stamp)

    def _tell(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Find the layout of the first outputs."""
        infos = [TensorInfo("", array.shape, array.dtype.name) for array in arrays]
        options = self._options
        known = Known(
            width=options.input_width,
            height=options.input_height,
            classes=len(self._labels),
            mask_axes=options.mask_axes,
        )
        told = tell(infos, known)
        if told is None or told.layout == Layout.CLASSES:
            raise untold(infos, "")
        self._layout = told.layout
        self._order = options.order or told.order
        self._reading = self._reading_of(told.layout)

    def _chosen(self, found: Found, port: Input) -> Found:
        """Return the ones of the wanted classes, the best first, and not too many."""
        is_wanted = np.isfinite(found.boxes).all(axis=1) & np.isfinite(found.scores)
        if self._first:
            found = found._replace(classes=found.classes - self._first)
        if self._classes is not None:
            is_wanted &= np.isin(found.classes, self._classes)
        if not is_wanted.all():
            found = found.chosen(is_wanted)
        order = np.argsort(-found.scores, kind="stable")
        most = self._options.max_candidates
        if len(order) > most:
            port.count_cut(f"max_candidates is {most}", len(order) - most)
            order = order[:most]
        return found.chosen(order)

    def _detections(self, found: Found) -> list[Detection]:
        """Return a message for each."""
        labels = [_label_bytes(number, self._name(number)) for number in found.classes.tolist()]
        sizes = found.boxes[:, 2:] - found.boxes[:, :2]
        columns = [found.scores[:, None], found.boxes[:, :2], sizes]
        points = found.points
        if points is not None:
            columns.append(points[..., :2].reshape(len(points), 2 * points.shape[1]))
        rows = np.concatenate(columns, axis=1).astype(np.float32, copy=False)
        made = detections_of(labels, rows.tolist())
        if points is not None and points.shape[2] == _SCORED:
            for one, scores in zip(made, points[..., 2].tolist(), strict=True):
                for point, score in zip(one.location_data.relative_keypoints, scores, strict=True):
                    point.score = score
        if self._layout in WITH_MASKS and found.rows is not None:
            for one, row in zip(made, found.rows.tolist(), strict=True):
                one.mask_row = row
        return made

    def _name(self, number: int) -> str:
        return self._labels[number] if 0 <= number < len(self._labels) else ""

    def _classification(self, arrays: Sequence[NDArray[Any]]) -> ClassificationList:
        """Return the classes that score enough, the best first."""
        if len(arrays) != 1 or arrays[0].ndim != 2 or arrays[0].shape[0] != 1:  # noqa: PLR2004  # batch, classes
            refuse(Layout.CLASSES, arrays, "one output 1 x classes")
        change = {Scores.SIGMOID: sigmoid, Scores.SOFTMAX: softmax}.get(self._options.scores)
        scores = arrays[0][0] if change is None else change(arrays[0][0])
        numbers = np.flatnonzero(scores >= self._options.min_score)
        if self._classes is not None:
            numbers = numbers[np.isin(numbers - self._first, self._classes)]
        order = numbers[np.argsort(-scores[numbers], kind="stable")][: self._options.max_candidates]
        made = ClassificationList()
        for number in order.tolist():
            at = number - int(self._first)
            label = {"label": self._name(at)} if self._name(at) else {}
            made.classification.append(Classification(index=at, score=float(scores[number]), **label))
        return made


def numbers_of(wanted: Sequence[str], labels: Sequence[str]) -> NDArray[np.intp] | None:
    """Return the numbers of classes that are named by names or numbers; None for all.

    Raises:
        InvalidArgumentError: no class has such a name, and it is no number.
    """
    if not wanted:
        return None
    places = {label: i for i, label in reversed(list(enumerate(labels)))}
    found = []
    for one in wanted:
        if one in places:
            found.append(places[one])
        elif one.isascii() and one.isdecimal() and len(one) < 10:  # noqa: PLR2004  # of 32 bits
            found.append(int(one))
        else:
            some = ", ".join(map(repr, labels[:10])) + (", ..." if len(labels) > 10 else "")  # noqa: PLR2004  # a line
            known = f"the classes are {some}" if labels else "the classes have no names: give numbers"
            raise InvalidArgumentError(
                f"the detector's decoder finds no class {one!r}: {known}; change classes in the options"
            )
    return np.array(sorted(set(found)), np.intp)


@lru_cache(maxsize=4096)
def _label_bytes(number: int, name: str) -> bytes:
    """Return the bytes of a label and label_id, as `DetectionTable` has them."""
    label = [name] if name else []
    within = min(max(number, -(2**31)), 2**31 - 1)
    return bytes(Detection(label=label, label_id=[within]).SerializeToString())


def _unpadded(found: Found, padding: Sequence[float]) -> Found:
    """Return boxes and points in fractions of the image, which is a part of the input."""
    left, top, right, bottom = padding
    if left == top == right == bottom == 0:
        return found
    start = np.array([left, top], np.float32)
    size = np.array([1 - left - right, 1 - top - bottom], np.float32)
    boxes: NDArray[np.float32] = np.divide(found.boxes - np.tile(start, 2), np.tile(size, 2))
    points = found.points
    if points is not None:
        points = points.copy()
        points[..., :2] = (points[..., :2] - start) / size
    return found._replace(boxes=boxes, points=points)
