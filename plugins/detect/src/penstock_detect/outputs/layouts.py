"""The layouts that the outputs of models have, and how their numbers are meant."""

from __future__ import annotations

from enum import Enum
from typing import Final


class Layout(Enum):
    """What the outputs of a model are; the README of penstock-detect has a table with their shapes."""

    #: Told from names and shapes; an error where these do not tell it.
    AUTO = 0
    YOLO_V5 = 1
    YOLO_V8 = 2
    YOLO_END_TO_END = 3
    YOLOX = 4
    SSD = 5
    DETR = 6
    LABELS_BOXES_SCORES = 7
    RTMDET = 8
    CENTERNET = 9
    CENTERFACE = 10
    YOLO_V5_SEGMENT = 11
    YOLO_V8_SEGMENT = 12
    YOLO_V8_POSE = 13
    CLASSES = 14
    YOLO_END_TO_END_SEGMENT = 15
    YOLO_END_TO_END_POSE = 16
    DETR_ROWS = 17
    DETR_END_TO_END = 18


class Scores(Enum):
    """What makes probabilities of a model's scores."""

    #: SIGMOID for DETR, GIVEN for all others.
    USUAL = 0
    #: They are probabilities.
    GIVEN = 1
    SIGMOID = 2
    #: For CLASSES and for DETR, where the last class is "no object".
    SOFTMAX = 3


class BoxUnits(Enum):
    """What the numbers of boxes and key points are, in layouts that have them in pixels."""

    #: Pixels; but fractions for the YOLO layouts of a .tflite file, as Ultralytics exports them: all of a
    #: file whose input is NHWC, all but the end-to-end ones where it is NCHW.
    USUAL = 0
    #: Pixels of the model's input.
    PIXELS = 1
    #: Fractions of the model's input.
    FRACTIONS = 2


#: Layouts whose models leave out what overlaps, or find each thing once.
WITHOUT_OVERLAPS: Final = frozenset([
    Layout.YOLO_END_TO_END, Layout.YOLO_END_TO_END_SEGMENT, Layout.YOLO_END_TO_END_POSE, Layout.SSD,
    Layout.DETR, Layout.DETR_ROWS, Layout.DETR_END_TO_END, Layout.LABELS_BOXES_SCORES, Layout.RTMDET,
    Layout.CENTERNET,
])  # fmt: skip
#: Layouts with masks.
WITH_MASKS: Final = frozenset([
    Layout.YOLO_V5_SEGMENT, Layout.YOLO_V8_SEGMENT, Layout.YOLO_END_TO_END_SEGMENT,
])  # fmt: skip
#: Layouts of YOLO in which a row is a whole detection.
END_TO_END: Final = frozenset([
    Layout.YOLO_END_TO_END, Layout.YOLO_END_TO_END_SEGMENT, Layout.YOLO_END_TO_END_POSE,
])  # fmt: skip
#: Layouts of YOLO whose boxes are in pixels, or in fractions where Ultralytics exports a .tflite file.
IN_PIXELS_BY_YOLO: Final = frozenset([
    Layout.YOLO_V5, Layout.YOLO_V8, Layout.YOLO_END_TO_END, Layout.YOLO_V5_SEGMENT, Layout.YOLO_V8_SEGMENT,
    Layout.YOLO_V8_POSE, Layout.YOLO_END_TO_END_SEGMENT, Layout.YOLO_END_TO_END_POSE,
])  # fmt: skip
