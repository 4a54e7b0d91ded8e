"""The options of a detector: of the subgraph and of its decoder."""

from __future__ import annotations

import attrs

from penstock.errors import InvalidArgumentError
from penstock_detect.detector_labels import check_labels_source
from penstock_detect.option_checks import check_least, check_share
from penstock_detect.outputs.layouts import BoxUnits, Layout, Scores
from penstock_detect.outputs.masks import MaskAxes
from penstock_detect.resizing import Interpolation, Resize


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
        check_labels_source(self.label, self.labels_path)


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
        check_labels_source(self.label, self.labels_path)
