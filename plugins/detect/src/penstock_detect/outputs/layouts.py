"""Which layout the outputs of a model have, told from names, shapes and metadata; and its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_detect.options import Layout
from penstock_detect.outputs import others, yolo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from penstock_detect.outputs.found import Found, Reading
    from penstock_tensors import TensorInfo

DECODERS: Final[dict[Layout, Callable[[Sequence[NDArray[Any]], Reading], Found]]] = {
    Layout.YOLO_V5: yolo.yolo_v5,
    Layout.YOLO_V8: yolo.yolo_v8,
    Layout.YOLO_END_TO_END: yolo.end_to_end,
    Layout.YOLOX: yolo.yolox,
    Layout.SSD: others.ssd,
    Layout.DETR: others.detr,
    Layout.LABELS_BOXES_SCORES: others.labels_boxes_scores,
    Layout.RTMDET: others.rtmdet,
    Layout.CENTERNET: others.centernet,
    Layout.CENTERFACE: others.centerface,
    Layout.YOLO_V5_SEGMENT: yolo.yolo_v5,
    Layout.YOLO_V8_SEGMENT: yolo.yolo_v8,
    Layout.YOLO_V8_POSE: yolo.yolo_v8_pose,
    Layout.YOLO_END_TO_END_SEGMENT: yolo.end_to_end,
    Layout.YOLO_END_TO_END_POSE: yolo.end_to_end,
}
#: Layouts whose models leave out what overlaps, or find each thing once.
WITHOUT_OVERLAPS: Final = frozenset([
    Layout.YOLO_END_TO_END, Layout.YOLO_END_TO_END_SEGMENT, Layout.YOLO_END_TO_END_POSE, Layout.SSD,
    Layout.DETR, Layout.LABELS_BOXES_SCORES, Layout.RTMDET, Layout.CENTERNET,
])  # fmt: skip
#: Layouts with masks.
WITH_MASKS: Final = frozenset([
    Layout.YOLO_V5_SEGMENT, Layout.YOLO_V8_SEGMENT, Layout.YOLO_END_TO_END_SEGMENT,
])  # fmt: skip
#: Layouts of YOLO whose boxes are in pixels, or in fractions where Ultralytics exports a .tflite file.
IN_PIXELS_BY_YOLO: Final = frozenset([
    Layout.YOLO_V5, Layout.YOLO_V8, Layout.YOLO_END_TO_END, Layout.YOLO_V5_SEGMENT, Layout.YOLO_V8_SEGMENT,
    Layout.YOLO_V8_POSE, Layout.YOLO_END_TO_END_SEGMENT, Layout.YOLO_END_TO_END_POSE,
])  # fmt: skip
#: Layout → for each of its tensors, words of which one is in the tensor's name, in lower case.
_NAMES: Final[dict[Layout, tuple[tuple[str, ...], ...]]] = {
    Layout.SSD: (
        ("detection_boxes", "tflite_detection_postprocess"),
        ("detection_classes", "tflite_detection_postprocess:1"),
        ("detection_scores", "tflite_detection_postprocess:2"),
        ("num_detections", "tflite_detection_postprocess:3"),
    ),
    Layout.DETR: (("logits", "pred_logits"), ("boxes", "pred_boxes")),
    Layout.LABELS_BOXES_SCORES: (("labels",), ("boxes",), ("scores",)),
    Layout.RTMDET: (("dets",), ("labels",)),
    Layout.CENTERNET: (("hm", "heatmap", "heat_map"), ("wh",), ("reg", "offset")),
}
_BOX: Final = 4
_OPEN: Final = -1
_WHOLE_ROW: Final = 6
_ROWS, _MAPS, _VECTOR = 3, 4, 2


@attrs.frozen
class Told:
    """The layout of a model."""

    layout: Layout
    #: For each tensor of the layout, its number among the outputs; empty: in their order.
    order: tuple[int, ...] = ()


def tell(
    outputs: Sequence[TensorInfo], width: int, height: int, task: str = "", classes: int = 0
) -> Told | None:
    """Return the layout of outputs where it is certain, else None.

    Args:
        outputs: of the model; -1 is an open size, "" no name.
        width: of the model's input, in pixels.
        height: of it.
        task: what the metadata says: "detect", "segment", "pose", "classify" or "".
        classes: how many have names; 0: unknown.
    """
    for layout, names in _NAMES.items():
        is_count = len(names) == len(outputs) or (layout == Layout.SSD and len(names) < len(outputs))
        if is_count and (order := _order(outputs, names)) is not None:
            return Told(layout, order)
    shapes = [one.shape for one in outputs]
    if len(shapes) == 1 and len(shapes[0]) == _VECTOR:
        return Told(Layout.CLASSES)
    if [len(shape) for shape in shapes] == [_MAPS] * 4 and [shape[1] for shape in shapes] == [1, 2, 2, 10]:
        return Told(Layout.CENTERFACE)
    if len(shapes) == 2 and sorted(map(len, shapes)) == [_ROWS, _MAPS]:  # noqa: PLR2004  # rows, masks
        order = (0, 1) if len(shapes[0]) == _ROWS else (1, 0)
        return _with_masks(shapes[order[0]], shapes[order[1]], order, (width, height))
    if len(shapes) == 1 and len(shapes[0]) == _ROWS:
        return _of_rows(shapes[0], (width, height), task, classes)
    return None


def _order(outputs: Sequence[TensorInfo], names: Sequence[tuple[str, ...]]) -> tuple[int, ...] | None:
    """Return for each tensor of a layout the number of the output with one of its names; None: one lacks."""
    found = []
    given = [one.name.lower().rpartition("/")[2].removesuffix(":0") for one in outputs]
    for wanted in names:
        places = [i for i, name in enumerate(given) if name in wanted]
        if len(places) != 1:
            return None
        found += places
    return tuple(found)


def _with_masks(
    rows: tuple[int, ...], masks: tuple[int, ...], order: tuple[int, ...], size: tuple[int, int]
) -> Told | None:
    counts, further = yolo.cell_counts(*size), masks[1]
    if further < 1:
        return None
    if rows[2] in counts and rows[1] > _BOX + further:
        return Told(Layout.YOLO_V8_SEGMENT, order)
    if rows[1] in _anchored(counts) and rows[2] > _BOX + 1 + further:
        return Told(Layout.YOLO_V5_SEGMENT, order)
    if rows[2] == _WHOLE_ROW + further and rows[1] not in counts:
        return Told(Layout.YOLO_END_TO_END_SEGMENT, order)
    return None


def _of_rows(rows: tuple[int, ...], size: tuple[int, int], task: str, classes: int) -> Told | None:
    counts = yolo.cell_counts(*size)
    _, first, second = rows
    if task == "pose":
        if second in counts:
            return Told(Layout.YOLO_V8_POSE)
        return Told(Layout.YOLO_END_TO_END_POSE) if second > _WHOLE_ROW else None
    # Key points and angles stand in rows too: the number of classes, or the task, must say that none is.
    is_boxes = task == "detect"
    if second in (*counts, _OPEN) and (first == _BOX + classes if classes else is_boxes and first > _BOX):
        return Told(Layout.YOLO_V8)
    if first in _anchored(counts) and (
        second == _BOX + 1 + classes if classes else is_boxes and second > _BOX + 1
    ):
        return Told(Layout.YOLO_V5)
    if second == _WHOLE_ROW and first > 0 and first not in counts:
        return Told(Layout.YOLO_END_TO_END)
    return None


def _anchored(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(count * yolo.V5_ANCHORS for count in counts)


def untold(outputs: Sequence[TensorInfo], name: str) -> InvalidArgumentError:
    """Return the error for outputs whose layout is not certain."""
    listed = ", ".join(f"{one.name or i!r} {one}" for i, one in enumerate(outputs))
    known = ", ".join(one.name for one in Layout if one != Layout.AUTO)
    return InvalidArgumentError(
        f"the outputs of the model {name!r} are {listed}: several layouts have such outputs, or none; set "
        f"layout in the options, one of {known} (layout: YOLO_V8 in a graph, --layout yolo-v8)"
    )
