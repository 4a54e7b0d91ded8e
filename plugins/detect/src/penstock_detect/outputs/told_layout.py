"""Which layout the outputs of a model have, told from names, shapes and metadata; and its decoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_detect.outputs import others, yolo
from penstock_detect.outputs.layouts import Layout
from penstock_detect.outputs.masks import MaskAxes, axes_of, count_of

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
    Layout.DETR_ROWS: others.detr_rows,
    Layout.DETR_END_TO_END: others.detr_end_to_end,
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
#: What the metadata of Ultralytics calls the things that models do, as far as layouts have them.
_TASKS: Final = frozenset(["detect", "segment", "pose", "classify"])
#: What the metadata of Ultralytics calls the last layer of a transformer.
_TRANSFORMER: Final = "RTDETRDecoder"
#: What it calls the last layers of YOLO that find boxes.
_YOLO: Final = frozenset(["Detect", "v10Detect", "WorldDetect", "YOLOEDetect"])
#: Task → the layouts of whole rows, and of columns for each cell.
_OF_TASKS: Final = {
    "detect": (Layout.YOLO_END_TO_END, Layout.YOLO_V8),
    "segment": (Layout.YOLO_END_TO_END_SEGMENT, Layout.YOLO_V8_SEGMENT),
    "pose": (Layout.YOLO_END_TO_END_POSE, Layout.YOLO_V8_POSE),
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


@attrs.frozen(kw_only=True)
class Known:
    """What is known of a model beside its outputs."""

    #: Of the model's input, in pixels.
    width: int
    height: int
    #: What the metadata says: "detect", "segment", "pose", "classify" or "".
    task: str = ""
    #: How many classes have names; 0: unknown.
    classes: int = 0
    #: Whether the metadata says that the model leaves out what overlaps; None: it does not say.
    is_end_to_end: bool | None = None
    #: Of the prototypes of masks.
    mask_axes: MaskAxes = MaskAxes.USUAL
    #: What the metadata calls the last layer: "Detect", "RTDETRDecoder", ...; "": it does not say.
    head: str = ""
    #: Whether the metadata says that the exporter has put NMS into the model.
    has_nms: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the metadata says that each row is a whole detection."""
        return self.is_end_to_end is True or self.has_nms


def tell(outputs: Sequence[TensorInfo], known: Known) -> Told | None:
    """Return the layout of outputs where it is certain, else None.

    Args:
        outputs: of the model; -1 is an open size, "" no name.
        known: what else is known.
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
        return _with_masks(shapes[order[0]], shapes[order[1]], order, known)
    if len(shapes) == 1 and len(shapes[0]) == _ROWS:
        return _of_rows(shapes[0], known)
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
    rows: tuple[int, ...], masks: tuple[int, ...], order: tuple[int, ...], known: Known
) -> Told | None:
    counts = yolo.cell_counts(known.width, known.height)
    axes = known.mask_axes
    if axes == MaskAxes.USUAL:
        axes = axes_of(masks, known.width, known.height)
    further = count_of(masks, axes)
    if further < 1:
        return None
    if (told := _by_metadata(rows, further, known)) is not None:
        return Told(told, order)
    _, first, second = rows
    is_open = second == _OPEN and known.classes > 0 and first == _BOX + known.classes + further
    if is_open or (second in counts and first > _BOX + further):
        return Told(Layout.YOLO_V8_SEGMENT, order)
    if first in _anchored(counts) and second > _BOX + 1 + further:
        return Told(Layout.YOLO_V5_SEGMENT, order)
    if second == _WHOLE_ROW + further and first > 0 and first not in counts:
        return Told(Layout.YOLO_END_TO_END_SEGMENT, order)
    return None


def _by_metadata(rows: tuple[int, ...], further: int, known: Known) -> Layout | None:
    """Return the layout that the metadata of Ultralytics says, even where the sizes of the output are open.

    Args:
        rows: the shape of the output.
        further: how many coefficients of masks belong to a box.
        known: what the metadata says.
    """
    whole, cells = _OF_TASKS.get(known.task, (None, None))
    _, first, second = rows
    if known.head == _TRANSFORMER:
        return Layout.DETR_END_TO_END if second in (_WHOLE_ROW, _OPEN) else None
    if known.is_whole:
        has_points = known.task == "pose" and second > _WHOLE_ROW
        return whole if has_points or second in (_WHOLE_ROW + further, _OPEN) else None
    if known.task == "detect" and known.head not in _YOLO:
        return None  # it may be a transformer
    is_row = known.task == "pose" or first in (_BOX + known.classes + further, _OPEN)
    counts = (*yolo.cell_counts(known.width, known.height), _OPEN)
    return cells if is_row and second in counts else None


def _of_rows(rows: tuple[int, ...], known: Known) -> Told | None:
    if (told := _by_metadata(rows, 0, known)) is not None:
        return Told(told)
    counts = yolo.cell_counts(known.width, known.height)
    classes = known.classes
    _, first, second = rows
    if known.task == "pose":
        return Told(Layout.YOLO_END_TO_END_POSE) if second > _WHOLE_ROW else None
    # Key points and angles stand in rows too: the number of classes, or the task, must say that none is.
    is_boxes = known.task == "detect"
    if second in (*counts, _OPEN) and (first == _BOX + classes if classes else is_boxes and first > _BOX):
        return Told(Layout.YOLO_V8)
    if first in _anchored(counts) and (
        second == _BOX + 1 + classes if classes else is_boxes and second > _BOX + 1
    ):
        return Told(Layout.YOLO_V5)
    return _of_whole_rows(second, known) if first > 0 and first not in counts else None


def _of_whole_rows(numbers: int, known: Known) -> Told | None:
    """Return the layout of rows that stand for no cells, each of so many numbers.

    Rows of a transformer of Ultralytics have a score for each class, or in newer versions the best score and
    its class; of two classes both are as long as the rows of YOLO. Versions that write `head` into the
    metadata have the newer rows, which the first versions that have them do not tell from the older ones.
    """
    layout = None
    is_detecting = known.task == "detect"
    has_scores = is_detecting and known.classes > 0 and numbers == _BOX + known.classes
    if is_detecting and known.head:
        layout = Layout.YOLO_END_TO_END if known.head in _YOLO and numbers == _WHOLE_ROW else None
    elif numbers != _WHOLE_ROW:
        layout = Layout.DETR_ROWS if has_scores else None
    elif known.is_end_to_end or known.has_nms:
        layout = Layout.YOLO_END_TO_END
    elif not has_scores:
        is_told = is_detecting and known.is_end_to_end is False
        layout = Layout.DETR_END_TO_END if is_told else Layout.YOLO_END_TO_END
    return None if layout is None else Told(layout)


def _anchored(counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(count * yolo.V5_ANCHORS for count in counts)


def untold(outputs: Sequence[TensorInfo], name: str, task: str = "") -> InvalidArgumentError:
    """Return the error for outputs whose layout is not certain."""
    listed = ", ".join(f"{one.name or i!r} {one}" for i, one in enumerate(outputs))
    if task and task not in _TASKS:
        return InvalidArgumentError(
            f"the metadata of the model {name!r} says the task {task!r}, of which no layout is (its "
            f"outputs are {listed}); export a model for one of {', '.join(sorted(_TASKS))}, or read the "
            "outputs of an OnnxInferenceCalculator with a function"
        )
    known = ", ".join(one.name for one in Layout if one != Layout.AUTO)
    return InvalidArgumentError(
        f"the layout of the model {name!r} is not told by its outputs {listed}: several layouts have such "
        f"outputs, or none; set layout in the options, one of {known} (layout: YOLO_V8 in a graph, "
        "--layout yolo-v8)"
    )
