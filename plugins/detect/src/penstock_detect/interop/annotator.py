"""SupervisionAnnotatorCalculator: supervision's annotators, drawing on images of a graph."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError, words_of
from penstock_detect.interop.supervision_detections import supervision_module, to_supervision
from penstock_formats import Detection, Image, ImageFormat, ImageFrame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

#: The annotators that draw detections on an image and read nothing else, no file either.
ANNOTATORS: Final = frozenset([
    "BackgroundOverlayAnnotator", "BlurAnnotator", "BoxAnnotator", "BoxCornerAnnotator", "CircleAnnotator",
    "ColorAnnotator", "CropAnnotator", "DotAnnotator", "EllipseAnnotator", "HaloAnnotator",
    "HeatMapAnnotator", "LabelAnnotator", "MaskAnnotator", "PercentageBarAnnotator", "PixelateAnnotator",
    "PolygonAnnotator", "RoundBoxAnnotator", "TraceAnnotator", "TriangleAnnotator",
])  # fmt: skip
_WITH_MASKS: Final = frozenset(["MaskAnnotator", "PolygonAnnotator", "HaloAnnotator"])
_WITH_TRACKS: Final = frozenset(["TraceAnnotator"])
#: Argument → the enum of supervision that its text names a member of.
_ENUMS: Final = {
    "color_lookup": "ColorLookup",
    "border_color_lookup": "ColorLookup",
    "position": "Position",
    "text_position": "Position",
}
#: Characters of an entry of the options.
_MAX_ENTRY: Final = 1000
_NO_BOXES: Final = "LabelAnnotator"


@attrs.frozen(kw_only=True)
class SupervisionAnnotatorCalculatorOptions:
    """Which annotators draw.

    Attributes:
        annotator: names of annotators in their order, each perhaps with arguments by name, which are numbers,
            texts, booleans or tuples of these: "BoxAnnotator", "LabelAnnotator(text_scale=0.7)",
            'TraceAnnotator(trace_length=60, color_lookup="TRACK")'.
        show_score: whether LabelAnnotator writes scores.
    """

    annotator: tuple[str, ...] = ("BoxAnnotator", "LabelAnnotator")
    show_score: bool = True

    def __attrs_post_init__(self) -> None:
        if not self.annotator:
            raise InvalidArgumentError("annotator is empty, but must name one at least, such as BoxAnnotator")
        for entry in self.annotator:
            read_entry(entry)


def read_entry(entry: str) -> tuple[str, Mapping[str, object]]:
    """Return the name of an annotator and its arguments.

    Raises:
        InvalidArgumentError: the entry is written in another way, or names none of `ANNOTATORS`.
    """
    name, arguments = entry, dict[str, object]()
    if len(entry) <= _MAX_ENTRY and not entry.isidentifier():
        try:
            call = ast.parse(entry.strip(), mode="eval").body
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
                raise ValueError("no name of an annotator with arguments by name")  # noqa: TRY301  # one error for all
            name = call.func.id
            arguments = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords if one.arg}
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise InvalidArgumentError(
                f"annotator is {entry!r}, but must be a name, or a name with arguments such as "
                "BoxAnnotator(thickness=4)"
            ) from error
    if name not in ANNOTATORS:
        raise InvalidArgumentError(
            f"annotator is {entry[:80]!r}, but must be one of {', '.join(sorted(ANNOTATORS))}"
        )
    return name, arguments


class SupervisionAnnotatorCalculator(penstock.Calculator):
    """Draws detections on images with the annotators of supervision, one after the other.

    Inputs: IMAGE (Image or ImageFrame, SRGB), DETECTIONS (list[Detection] with relative boxes; nothing is as
    an empty list), MASKS (optional, list[ImageFrame], GRAY8, a mask for each detection; for MaskAnnotator,
    PolygonAnnotator and HaloAnnotator). Output: IMAGE (ImageFrame, SRGB, new memory). LabelAnnotator writes
    the number of a track ("#3"), the label and the score. TraceAnnotator needs tracks: detections of which
    one has no detection_id are not traced. Timestamp offset 0. TraceAnnotator and HeatMapAnnotator remember
    earlier images of the run.

    Options `SupervisionAnnotatorCalculatorOptions`: `annotator` (BoxAnnotator and LabelAnnotator), repeated;
    `show_score` (true). An annotator draws with its own defaults where an entry has no arguments. Colours are
    written "#rrggbb".

    Raises in `get_contract`: InvalidArgumentError for an annotator that is not known or draws something else
    than detections. In `open`: FailedPreconditionError where supervision is not installed, and
    InvalidArgumentError for arguments that an annotator does not take. In `process`: InvalidArgumentError for
    an image of another format, and where a connected MASKS has another number of masks.

    Config::

        node {
          calculator: "SupervisionAnnotatorCalculator"
          input_stream: "IMAGE:frame"
          input_stream: "DETECTIONS:detections"
          output_stream: "IMAGE:drawn"
          node_options {
            [type.googleapis.com/penstock_detect.SupervisionAnnotatorCalculatorOptions] {
              annotator: "RoundBoxAnnotator(thickness=3)"  annotator: "LabelAnnotator"
            }
          }
        }
    """

    Options = SupervisionAnnotatorCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(SupervisionAnnotatorCalculatorOptions)
        names = [read_entry(entry)[0] for entry in options.annotator]
        cc.inputs["IMAGE"].set_one_of(Image, ImageFrame, description="what is drawn on")
        cc.inputs["DETECTIONS"].set(list[Detection], "what is drawn")
        cc.inputs["MASKS"].set(list[ImageFrame], "a mask for each detection").optional()
        cc.outputs["IMAGE"].set(ImageFrame, "the image with drawings")
        needing = sorted(_WITH_MASKS.intersection(names))
        if needing and "MASKS" not in cc.inputs:
            raise InvalidArgumentError(
                f"annotator is {needing[0]!r}, which draws masks, but MASKS is not connected; connect it to "
                "the MASKS of a DetectorSubgraph"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=not {"TraceAnnotator", "HeatMapAnnotator"}.intersection(names))

    def open(self, cc: CalculatorContext) -> None:
        """Make the annotators.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(SupervisionAnnotatorCalculatorOptions)
        module = supervision_module()
        self._shows_score = options.show_score
        self._has_masks = "MASKS" in cc.inputs
        self._annotators = [(read_entry(entry)[0], made_by(module, entry)) for entry in options.annotator]

    def process(self, cc: CalculatorContext) -> None:
        """Draw on one image.

        Raises:
            InvalidArgumentError: as the class says.
        """
        port = cc.inputs["IMAGE"]
        if port.is_empty():
            return
        image = port.payload
        frame: ImageFrame = image if isinstance(image, ImageFrame) else image.frame
        if frame.format != ImageFormat.SRGB:
            raise InvalidArgumentError(
                f"stream {port.name!r} has an image of format {frame.format.name}, but annotators take SRGB; "
                "convert it before"
            )
        detections: Sequence[Detection] = (
            [] if cc.inputs["DETECTIONS"].is_empty() else cc.inputs["DETECTIONS"].payload
        )
        masks = None
        if self._has_masks and not cc.inputs["MASKS"].is_empty():
            masks = cc.inputs["MASKS"].payload
        drawn = self._drawn(frame, detections, masks)
        cc.outputs["IMAGE"].add(ImageFrame(drawn, ImageFormat.SRGB), cc.stamp)

    def _drawn(
        self, frame: ImageFrame, detections: Sequence[Detection], masks: Sequence[ImageFrame] | None
    ) -> NDArray[np.uint8]:
        found = to_supervision(detections, frame.width, frame.height, masks)
        scene: Any = cv2.cvtColor(frame.array, cv2.COLOR_RGB2BGR)  # supervision draws with blue first
        for name, annotator in self._annotators:
            if name in _WITH_TRACKS and found.tracker_id is None:
                continue
            if name == _NO_BOXES:
                labels = [self._label(one) for one in detections]
                scene = annotator.annotate(scene=scene, detections=found, labels=labels)
            else:
                scene = annotator.annotate(scene=scene, detections=found)
        return np.asarray(cv2.cvtColor(scene, cv2.COLOR_BGR2RGB), np.uint8)

    def _label(self, one: Detection) -> str:
        """Return the text on the plate of a detection."""
        words = [f"#{one.detection_id}"] if one.HasField("detection_id") else []
        words += [one.label[0]] if one.label else [f"{number}" for number in one.label_id[:1]]
        if self._shows_score and one.score:
            words.append(f"{one.score[0]:.2f}")
        return " ".join(words)


def made_by(module: ModuleType, entry: str) -> Any:
    """Return the annotator that an entry of the options asks for.

    Raises:
        InvalidArgumentError: this version of supervision lacks it, or it takes no such arguments.
    """
    name, arguments = read_entry(entry)
    kind = getattr(module, name, None)
    if kind is None:
        raise InvalidArgumentError(
            f"annotator is {entry!r}, but supervision {module.__version__} has no {name}; install a newer one"
        )
    try:
        given = {key: _value(module, key, value) for key, value in arguments.items()}
        return kind(**given)
    except Exception as error:
        raise InvalidArgumentError(
            f"annotator is {entry!r}, but {name} refuses it: {words_of(error)}; see supervision's page of it"
        ) from error


def _value(module: ModuleType, key: str, value: object) -> object:
    """Return an argument as an annotator takes it."""
    if key in _ENUMS and isinstance(value, str):
        return getattr(module, _ENUMS[key])[value.upper()]
    if "color" in key and isinstance(value, str) and value.startswith("#"):
        return module.Color.from_hex(value)
    return value
