"""The options of a detector: of the subgraph, of its input and of its decoder."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least, check_share
from penstock_detect.outputs.layouts import BoxUnits, Layout, Scores
from penstock_detect.outputs.masks import MaskAxes
from penstock_detect.resizing import Interpolation, Resize

#: Element types of a model's input.
ELEMENT_TYPES: Final = ("float32", "float16", "uint8")
#: Channels of a model's input.
_CHANNELS: Final = (1, 3)


class Axes(Enum):
    """The order of the dimensions of a model's input."""

    #: Channels, rows, columns: what PyTorch exports.
    NCHW = 0
    #: Rows, columns, channels: what TensorFlow exports.
    NHWC = 1


def check_short_side(options: Any) -> None:
    """Accept `short_side` that goes with `resize`, `width` and `height`.

    Raises:
        InvalidArgumentError: it does not.
    """
    side, least = options.short_side, min(options.width, options.height)
    if side == 0 or options.resize == Resize.USUAL:  # checked again when it is known what is usual
        return
    if options.resize != Resize.CROP:
        raise InvalidArgumentError(
            f"detector option short_side is {side}, but resize is {options.resize.name}, which takes no "
            "middle of an image; set resize to CROP, or leave short_side out"
        )
    if side < least:
        raise InvalidArgumentError(
            f"detector option short_side is {side}, but must be {least} or more, the shorter side of the "
            "input, which is cut out of the resized image; or leave it out"
        )


def check_colours(options: Any) -> None:
    """Accept `channels`, `pad_value`, `scale`, `mean`, `std` and `element_type` that fit together.

    Raises:
        InvalidArgumentError: they do not.
    """
    if options.channels not in _CHANNELS:
        raise InvalidArgumentError(f"detector option channels is {options.channels}, but must be 1 or 3")
    if not 0 <= options.pad_value <= 255:  # noqa: PLR2004  # a byte
        raise InvalidArgumentError(
            f"detector option pad_value is {options.pad_value}, but must be from 0 to 255"
        )
    for name in ("mean", "std"):
        values = getattr(options, name)
        if len(values) not in (0, 1, options.channels):
            raise InvalidArgumentError(
                f"detector option {name} has {len(values)} numbers, but must have one for each of "
                f"{options.channels} channels, or one for all"
            )
        if not all(map(math.isfinite, values)) or (name == "std" and 0 in values):
            raise InvalidArgumentError(
                f"detector option {name} is {values}, but must have finite numbers, and std none of 0"
            )
    if not math.isfinite(options.scale):
        raise InvalidArgumentError(f"detector option scale is {options.scale}, but must be finite")
    if options.element_type not in ELEMENT_TYPES:
        raise InvalidArgumentError(
            f"detector option element_type is {options.element_type!r}, but must be one of "
            f"{', '.join(ELEMENT_TYPES)}"
        )


@attrs.frozen(kw_only=True)
class DetectorInputCalculatorOptions:
    """What a model takes.

    Attributes:
        width: of the model's input, in pixels.
        height: of the model's input, in pixels.
        channels: 3 for colours, 1 for grey.
        resize: how an image becomes that size.
        interpolation: how its pixels are computed.
        short_side: with CROP: the shorter side of the resized image, whose middle is taken; 0: that of the
            input.
        pad_value: of the pixels beside the image, 0 to 255.
        axes: the order of the dimensions.
        bgr: the first channel is blue; else it is red.
        scale: what a pixel's values, 0 to 255, are multiplied with first.
        mean: what is then taken off, one for each channel in the model's order, or one for all.
        std: what the result is divided by, likewise.
        element_type: "float32", "float16" or "uint8"; the last one has the pixels' values as they are.
        gives_size: whether a second tensor follows, int64 1x2: width and height of the input.
    """

    width: int = 0
    height: int = 0
    channels: int = 3
    resize: Resize = Resize.LETTERBOX
    interpolation: Interpolation = Interpolation.USUAL
    short_side: int = 0
    pad_value: int = 114
    axes: Axes = Axes.NCHW
    bgr: bool = False
    scale: float = 1 / 255
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    element_type: str = "float32"
    gives_size: bool = False

    def __attrs_post_init__(self) -> None:
        check_least("width", self.width, 1)
        check_least("height", self.height, 1)
        check_least("short_side", self.short_side, 0)
        check_short_side(self)
        check_colours(self)


@attrs.frozen(kw_only=True)
class DetectorDecoderCalculatorOptions:
    """What the outputs of a model are, and which detections count.

    Attributes:
        layout: what the outputs are.
        input_width: of the model's input, in pixels.
        input_height: of the model's input, in pixels.
        order: for each tensor of the layout, its number among the model's outputs; empty: as they come.
        scores: what makes probabilities of the model's scores.
        units: of boxes and key points, in layouts that have them in pixels; USUAL: PIXELS.
        min_score: detections below it are left out, 0 to 1.
        max_candidates: at most so many detections of an image, the best ones.
        label: the names of the classes, in their order.
        labels_path: a text file with a name in each line, searched as models are; instead of `label`.
        classes: names or numbers of the classes that count; empty: all.
        first_class: the number that the model gives the first class: 1 for some SSD models.
        keypoint_values: numbers of a key point: 3 (x, y, score) or 2.
        mask_axes: the order of the dimensions of the prototypes of masks.
    """

    layout: Layout = Layout.AUTO
    input_width: int = 0
    input_height: int = 0
    order: tuple[int, ...] = ()
    scores: Scores = Scores.USUAL
    units: BoxUnits = BoxUnits.USUAL
    min_score: float = 0.25
    max_candidates: int = 1000
    label: tuple[str, ...] = ()
    labels_path: str = ""
    classes: tuple[str, ...] = ()
    first_class: int = 0
    keypoint_values: int = 3
    mask_axes: MaskAxes = MaskAxes.USUAL

    def __attrs_post_init__(self) -> None:
        check_least("input_width", self.input_width, 1)
        check_least("input_height", self.input_height, 1)
        check_least("max_candidates", self.max_candidates, 1)
        check_share("min_score", self.min_score)
        if self.keypoint_values not in (2, 3):
            raise InvalidArgumentError(
                f"detector option keypoint_values is {self.keypoint_values}, but must be 2 or 3"
            )
        if self.label and self.labels_path:
            raise InvalidArgumentError("detector options label and labels_path are both set; leave one out")


@attrs.frozen(kw_only=True)
class DetectorSubgraphOptions:
    """A model, and how its images and outputs are to be understood.

    Attributes:
        model_path: an .onnx or .tflite file, searched by the service RESOURCES: beside the graph file first.
        label: the names of the classes; else labels_path has them, else the model's metadata.
        labels_path: a text file with a name in each line.
        layout: what the outputs are; AUTO: told, or an error.
        order: for each tensor of the layout, its number among the model's outputs.
        scores: what makes probabilities of the scores.
        units: of boxes and key points, in layouts that have them in pixels.
        min_score: detections below it are left out.
        max_overlap: of two boxes of a class that share more than this part of their union, one is kept.
        max_detections: at most so many leave, the best ones.
        max_candidates: at most so many are compared with one another.
        classes: names or numbers of the classes that count; empty: all.
        first_class: the number that the model gives the first class.
        keypoint_values: numbers of a key point: 3 or 2; 0: what the metadata says, else 3.
        mask_axes: the order of the dimensions of the prototypes of masks.
        resize: how an image becomes the size of the model's input.
        interpolation: how the pixels of the resized image are computed.
        short_side: with CROP: the shorter side of the resized image, whose middle is taken; 0: that of the
            input.
        pad_value: of the pixels beside the image.
        width: of the model's input, where the model leaves it open.
        height: of the model's input, likewise.
        bgr: the model takes blue first.
        scale: what values of pixels, 0 to 255, are multiplied with; a model that takes uint8 gets them as
            they are.
        mean: what is then taken off.
        std: what the result is divided by.
        providers: of onnxruntime, the first that works: "cuda", "openvino", "coreml", "cpu", or its own name.
        threads: of one call of the model.
        max_in_flight: calls of the model that may run at the same time.
        batch_window: of several streams of images, microseconds by which timestamps of one batch may differ.
    """

    model_path: str = ""
    label: tuple[str, ...] = ()
    labels_path: str = ""
    layout: Layout = Layout.AUTO
    order: tuple[int, ...] = ()
    scores: Scores = Scores.USUAL
    units: BoxUnits = BoxUnits.USUAL
    min_score: float = 0.25
    max_overlap: float = 0.7
    max_detections: int = 300
    max_candidates: int = 1000
    classes: tuple[str, ...] = ()
    first_class: int = 0
    keypoint_values: int = 0
    mask_axes: MaskAxes = MaskAxes.USUAL
    resize: Resize = Resize.USUAL
    interpolation: Interpolation = Interpolation.USUAL
    short_side: int = 0
    pad_value: int = 114
    width: int = 0
    height: int = 0
    bgr: bool = False
    scale: float = 1 / 255
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    providers: tuple[str, ...] = ()
    threads: int = 1
    max_in_flight: int = 2
    batch_window: int = 0

    def __attrs_post_init__(self) -> None:
        check_share("min_score", self.min_score)
        check_share("max_overlap", self.max_overlap)
        for name in ("max_detections", "max_candidates", "threads", "max_in_flight"):
            check_least(name, getattr(self, name), 1)
        for name in ("width", "height", "short_side", "keypoint_values", "batch_window"):
            check_least(name, getattr(self, name), 0)
        if self.label and self.labels_path:
            raise InvalidArgumentError("detector options label and labels_path are both set; leave one out")
