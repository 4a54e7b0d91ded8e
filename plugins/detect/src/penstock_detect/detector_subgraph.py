"""DetectorSubgraph: finds in images the things that a model knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

import penstock
import penstock_builder as builder
from penstock.access import current
from penstock.errors import InvalidArgumentError
from penstock_detect.detector_input_options import Axes
from penstock_detect.detector_labels import check_labels, read_labels
from penstock_detect.detector_masks import DetectorMasksCalculatorOptions
from penstock_detect.detector_options import DetectorDecoderCalculatorOptions, DetectorSubgraphOptions
from penstock_detect.model_file import ModelFile, read_model
from penstock_detect.model_input import input_of
from penstock_detect.onnx_batch_inference import OnnxBatchInferenceCalculatorOptions
from penstock_detect.outputs.layouts import (
    END_TO_END,
    IN_PIXELS_BY_YOLO,
    WITH_MASKS,
    WITHOUT_OVERLAPS,
    BoxUnits,
    Layout,
)
from penstock_detect.outputs.masks import MaskAxes, axes_of
from penstock_detect.outputs.told_layout import Known, Told, tell, untold
from penstock_detect.resizing import Resize
from penstock_tensors import RESOURCES, OnnxInferenceCalculatorOptions, ResourceFinder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import SubgraphContext


#: Dimensions of an output of maps.
_MAPS: Final = 4


class DetectorSubgraph(penstock.Subgraph):
    """Finds what a model knows in each image: resizes, runs the model, decodes, and takes out what overlaps.

    Input: IMAGE (Image or ImageFrame; SRGB, SRGBA or GRAY8). Outputs, each optional: DETECTIONS
    (list[Detection], an empty list where nothing is found); MASKS (list[ImageFrame], for models with masks);
    CLASSIFICATIONS (ClassificationList, instead of DETECTIONS, for models that say what the image is);
    TENSORS (list[Tensor], what the model made). They come at the timestamps of IMAGE. Several cameras share
    the model in batches: IMAGE:0, IMAGE:1, ... with DETECTIONS:0, DETECTIONS:1, ...; images with the same
    timestamp, or within `batch_window`, are one call of the model (see OnnxBatchInferenceCalculator).

    The file of the model is read when the graph is loaded: it says the size and element type of the input,
    the order of its axes, and in the metadata of Ultralytics' exports names, task and key points. Options say
    the rest. Nodes with the same model, of one graph or of several in a process, share its memory.

    Options `DetectorSubgraphOptions`: see there, and the README of penstock-detect.

    Raises while the graph is loaded: InvalidArgumentError for a file that is damaged or no model, a model
    whose input is no image or whose layout is not certain; NotFoundError and PermissionDeniedError for files;
    ResourceExhaustedError for sizes above the limits.

    Config::

        node {
          calculator: "DetectorSubgraph"
          input_stream: "IMAGE:frame"
          output_stream: "DETECTIONS:detections"
          node_options {
            [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] { model_path: "best.onnx" }
          }
        }
    """

    Options = DetectorSubgraphOptions

    @classmethod
    def get_config(cls, sc: SubgraphContext) -> object:
        """Return the graph of the nodes.

        Raises:
            PenstockError: as the class says.
        """
        plan = _plan_of(sc.options(DetectorSubgraphOptions), sc.service(RESOURCES))
        wanted = {one.tag for one in sc.outputs}
        return plan.graph(wanted, max(len(sc.inputs), 1))


class ModelTold(NamedTuple):
    """What a model makes."""

    layout: Layout
    #: Key points of each detection; 0: there are none, or the model does not say how many.
    keypoints: int


def told_of(options: DetectorSubgraphOptions) -> ModelTold:
    """Return what the model of some options makes; `model_path` and `labels_path` are paths as they are.

    Raises:
        PenstockError: as DetectorSubgraph says.
    """
    plan = _plan_of(options, ResourceFinder())
    has_points = plan.layout in (Layout.YOLO_V8_POSE, Layout.YOLO_END_TO_END_POSE)
    shape = plan.model.numbers("kpt_shape") if has_points else ()
    return ModelTold(plan.layout, shape[0] if shape else 0)


def _plan_of(options: DetectorSubgraphOptions, finder: ResourceFinder) -> _Plan:
    """Return the plan of the nodes, with the files of the options read.

    Raises:
        PenstockError: as DetectorSubgraph says.
    """
    if not options.model_path:
        raise InvalidArgumentError(
            "the detector's model_path is not set; name an .onnx or .tflite file in the options"
        )
    file = finder.find(options.model_path, current())
    model = read_model(options.model_path, file.data)
    if options.labels_path:
        found = finder.find(options.labels_path, current())
        labels = read_labels(options.labels_path, found.data)
    else:
        labels = check_labels(options.label, "label") or model.labels()
    return _Plan(options, model, labels)


class _Plan:
    """What the nodes of one model are."""

    def __init__(self, options: DetectorSubgraphOptions, model: ModelFile, labels: tuple[str, ...]) -> None:
        self._options = options
        self._labels = labels
        self._input = input_of(options, model)
        self.model: Final = model
        self._mask_axes = self._axes_of_masks()
        self._told = Told(options.layout, options.order)
        if options.layout == Layout.AUTO:
            known = Known(
                width=self._input.width,
                height=self._input.height,
                task=model.metadata.get("task", ""),
                classes=len(labels),
                is_end_to_end={"True": True, "False": False}.get(model.metadata.get("end2end", "")),
                mask_axes=self._mask_axes,
                head=model.metadata.get("head", ""),
                has_nms=model.has_nms(),
            )
            told = tell(model.outputs, known)
            if told is None:
                raise untold(model.outputs, model.name, known.task)
            self._told = Told(told.layout, options.order or told.order)
        if self._input.resize == Resize.USUAL:
            self._input = attrs.evolve(self._input, resize=self._usual_resize())

    def _axes_of_masks(self) -> MaskAxes:
        """Return the order of the axes of prototypes, if there are any."""
        given = self._options.mask_axes
        maps = [one.shape for one in self.model.outputs if len(one.shape) == _MAPS]
        if given != MaskAxes.USUAL or len(maps) != 1:
            return given
        usual = MaskAxes.NHWC if self._input.axes == Axes.NHWC else MaskAxes.NCHW
        return axes_of(maps[0], self._input.width, self._input.height, usual)

    def _usual_resize(self) -> Resize:
        if self.layout in (Layout.DETR_ROWS, Layout.DETR_END_TO_END):
            return Resize.STRETCH
        if self.layout != Layout.CLASSES or self.model.metadata.get("task") != "classify":
            return Resize.LETTERBOX
        return Resize.CROP if self._input.width == self._input.height else Resize.STRETCH

    @property
    def layout(self) -> Layout:
        """What the outputs of the model are."""
        return self._told.layout

    def graph(self, wanted: set[str], count: int) -> object:
        """Return the graph of some streams of images, with the outputs that are wanted.

        Raises:
            InvalidArgumentError: the model makes something else.
        """
        self._check(wanted)
        g = builder.Graph()
        names = [f"_{i}" if count > 1 else "" for i in range(count)]
        before = [
            g.node(
                "DetectorInputCalculator",
                {"IMAGE": g.input(f"image{name}", tag="IMAGE")},
                options=self._input,
            )
            for name in names
        ]
        tensors = self._inference(g, [one.outputs["TENSORS"] for one in before])
        for name, first, made in zip(names, before, tensors, strict=True):
            self._after(g, first, made, wanted, name)
        return g

    def _after(self, g: builder.Graph, before: Any, tensors: Any, wanted: set[str], name: str) -> None:
        """Add the nodes and outputs behind the model, for one stream."""
        layout = self._told.layout
        padding = (
            {} if layout == Layout.CLASSES else {"LETTERBOX_PADDING": before.outputs["LETTERBOX_PADDING"]}
        )
        decoder = g.node(
            "DetectorDecoderCalculator", {"TENSORS": tensors, **padding}, options=self._decoding()
        )
        if layout == Layout.CLASSES:
            g.output(decoder.outputs["CLASSIFICATIONS"], f"classifications{name}", tag="CLASSIFICATIONS")
        else:
            found = self._best(g, decoder.outputs["DETECTIONS"])
            g.output(found, f"detections{name}", tag="DETECTIONS")
            if "MASKS" in wanted:
                masks = g.node(
                    "DetectorMasksCalculator",
                    {"TENSORS": tensors, "DETECTIONS": found, **padding},
                    options=DetectorMasksCalculatorOptions(
                        layout=layout,
                        input_width=self._input.width,
                        input_height=self._input.height,
                        order=self._told.order,
                        mask_axes=self._mask_axes,
                    ),
                )
                g.output(masks.outputs["MASKS"], f"masks{name}", tag="MASKS")
        if "TENSORS" in wanted:
            g.output(tensors, f"tensors{name}", tag="TENSORS")

    def _check(self, wanted: set[str]) -> None:
        layout = self._told.layout
        made = {"TENSORS", "CLASSIFICATIONS"} if layout == Layout.CLASSES else {"TENSORS", "DETECTIONS"}
        if layout in WITH_MASKS:
            made.add("MASKS")
        if missing := sorted(wanted - made):
            raise InvalidArgumentError(
                f"the detector has the output {missing[0]}, but the model {self.model.name!r} has the layout "
                f"{layout.name}, which makes {', '.join(sorted(made))}; connect one of these, or set layout"
            )

        if "MASKS" in wanted and self._input.resize == Resize.CROP:
            raise InvalidArgumentError(
                "the detector has the output MASKS, but resize is CROP, and what it cuts off has no mask; "
                "set resize to LETTERBOX or STRETCH"
            )

    def _inference(self, g: builder.Graph, tensors: Sequence[Any]) -> Sequence[Any]:
        """Return what the model makes of each stream of tensors: of several in batches."""
        options = self._options
        if len(tensors) > 1 or options.batch_window:
            return self._batches(g, tensors)
        if self.model.kind == "onnx":
            node = g.node(
                "OnnxInferenceCalculator",
                {"TENSORS": tensors[0]},
                max_in_flight=options.max_in_flight,
                options=OnnxInferenceCalculatorOptions(
                    model_path=options.model_path, providers=options.providers, threads=options.threads
                ),
            )
        else:
            if options.providers:
                raise InvalidArgumentError(
                    f"the detector's providers is {list(options.providers)}, but the model "
                    f"{self.model.name!r} is a .tflite file, which runs on the CPU; leave providers out, or "
                    "give an .onnx file"
                )
            node = g.node(
                "InferenceCalculatorCpu",
                {"TENSORS": tensors[0]},
                max_in_flight=options.max_in_flight,
                model_path=options.model_path,
                delegate={"xnnpack": {"num_threads": options.threads}},
            )
        return [node.outputs["TENSORS"]]

    def _batches(self, g: builder.Graph, tensors: Sequence[Any]) -> Sequence[Any]:
        options, model = self._options, self.model
        if model.kind != "onnx" or any(one.shape[0] != -1 for one in (*model.inputs, *model.outputs)):
            raise InvalidArgumentError(
                f"the DetectorSubgraph has {len(tensors)} streams of images, for a model with batches, but "
                f"the model {model.name!r} takes {model.inputs[0]}; export it as .onnx with dynamic=True, or "
                "let each stream have a DetectorSubgraph of its own, which share the model"
            )
        node = g.node(
            "OnnxBatchInferenceCalculator",
            {("TENSORS", i): one for i, one in enumerate(tensors)},
            max_in_flight=1 if options.batch_window else options.max_in_flight,
            options=OnnxBatchInferenceCalculatorOptions(
                model_path=options.model_path,
                providers=options.providers,
                threads=options.threads,
                window=options.batch_window,
            ),
        )
        return [node.outputs["TENSORS", i] for i in range(len(tensors))]

    def _decoding(self) -> DetectorDecoderCalculatorOptions:
        options = self._options
        return DetectorDecoderCalculatorOptions(
            layout=self._told.layout,
            input_width=self._input.width,
            input_height=self._input.height,
            order=self._told.order,
            scores=options.scores,
            units=self._units(),
            min_score=options.min_score,
            max_candidates=options.max_candidates,
            label=() if options.labels_path else self._labels,
            labels_path=options.labels_path,
            classes=options.classes,
            first_class=options.first_class,
            keypoint_values=options.keypoint_values or self._keypoint_values(),
            mask_axes=self._mask_axes,
        )

    def _units(self) -> BoxUnits:
        units = self._options.units
        is_scaled = self.model.kind == "tflite" and self.layout in IN_PIXELS_BY_YOLO
        if self.layout in END_TO_END and self._input.axes == Axes.NCHW:  # exported without TensorFlow
            is_scaled = False
        return BoxUnits.FRACTIONS if units == BoxUnits.USUAL and is_scaled else units

    def _keypoint_values(self) -> int:
        shape = self.model.numbers("kpt_shape")
        return shape[1] if len(shape) == 2 and shape[1] in (2, 3) else 3  # noqa: PLR2004  # points, numbers

    def _best(self, g: builder.Graph, detections: Any) -> Any:
        """Return the best of detections that overlap."""
        options = self._options
        is_apart = self._told.layout in WITHOUT_OVERLAPS
        if is_apart and options.max_detections >= options.max_candidates:
            return detections
        node = g.node(
            "NonMaxSuppressionCalculator",
            [detections],
            overlap_type="INTERSECTION_OVER_UNION",
            min_suppression_threshold=1.0 if is_apart else options.max_overlap,
            max_num_detections=options.max_detections,
            multiclass_nms=True,
            return_empty_detections=True,
        )
        return node.output
