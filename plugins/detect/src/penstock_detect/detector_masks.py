"""DetectorMasksCalculator: the mask of each detection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import cv2
import numpy as np

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least
from penstock_detect.outputs.layouts import WITH_MASKS, Layout
from penstock_detect.outputs.masks import MaskAxes, prototypes_of
from penstock_detect.outputs.output_arrays import ordered, refuse, values_of
from penstock_formats import Detection, ImageFormat, ImageFrame, Tensor, check_frame_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock import CalculatorContext, CalculatorContract

_NO_PADDING: Final = (0.0, 0.0, 0.0, 0.0)
#: Parts of a pixel by which the edge of a box may have been rounded.
_ROUNDING: Final = 1e-3


@attrs.frozen(kw_only=True)
class DetectorMasksCalculatorOptions:
    """Where the masks of a model are.

    Attributes:
        layout: of the model: YOLO_V5_SEGMENT, YOLO_V8_SEGMENT or YOLO_END_TO_END_SEGMENT.
        input_width: of the model's input, in pixels.
        input_height: of the model's input, in pixels.
        order: the numbers of the rows and of the prototypes among the model's outputs.
        mask_axes: the order of the dimensions of the prototypes.
    """

    layout: Layout = Layout.AUTO
    input_width: int = 0
    input_height: int = 0
    order: tuple[int, ...] = ()
    mask_axes: MaskAxes = MaskAxes.USUAL

    def __attrs_post_init__(self) -> None:
        check_least("input_width", self.input_width, 1)
        check_least("input_height", self.input_height, 1)


class DetectorMasksCalculator(penstock.Calculator):
    """Makes a mask for each detection that is left when overlapping ones are taken out.

    Inputs: TENSORS (list[Tensor]: the outputs of the model, the prototypes 1 x masks x height x width or 1 x
    height x width x masks; as DetectorDecoderCalculator takes them), DETECTIONS (list[Detection] of
    DetectorDecoderCalculator: `mask_row` is the row of the model's output, boxes are relative; a tracker or a
    filter may stand between), LETTERBOX_PADDING (optional, 4 floats of DetectorInputCalculator). Output:
    MASKS (list[ImageFrame], one for each detection, GRAY8: 255 where it is, else 0). A mask covers the whole
    image, in the size of the image within the model's input (640 x 360 for a 720p image in a letterbox of 640
    x 640). Prototypes are interpolated linearly before they are compared with 0, as Ultralytics does, and a
    mask ends at its box. A detection without a `mask_row`, as a tracker with `fill_seconds` sends, has an
    empty mask. Nothing is sent where an input is empty. Timestamp offset 0.

    Options `DetectorMasksCalculatorOptions`: `layout` (required: YOLO_V5_SEGMENT, YOLO_V8_SEGMENT or
    YOLO_END_TO_END_SEGMENT), `input_width`, `input_height` (required), `order`, `mask_axes` (USUAL: told from
    the shape of the prototypes).

    Raises in `get_contract`: InvalidArgumentError for another layout. In `process`: the same for tensors
    that the layout does not have, for a detection whose `mask_row` is none, and for images that were cropped.

    Config::

        node {
          calculator: "DetectorMasksCalculator"
          input_stream: "TENSORS:outputs"
          input_stream: "DETECTIONS:detections"
          input_stream: "LETTERBOX_PADDING:padding"
          output_stream: "MASKS:masks"
          node_options {
            [type.googleapis.com/penstock_detect.DetectorMasksCalculatorOptions] {
              layout: YOLO_V8_SEGMENT input_width: 640 input_height: 640
            }
          }
        }
    """

    Options = DetectorMasksCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            PenstockError: as the class says.
        """
        options = cc.options(DetectorMasksCalculatorOptions)
        if options.layout not in WITH_MASKS:
            names = ", ".join(sorted(one.name for one in WITH_MASKS))
            raise InvalidArgumentError(
                f"detector masks: the layout is {options.layout.name}, but must be one of {names}"
            )
        check_frame_size(options.input_width, options.input_height, "input_width and input_height")
        cc.inputs["TENSORS"].set(list[Tensor], "what the model made")
        cc.inputs["DETECTIONS"].set(list[Detection], "what was found")
        cc.inputs["LETTERBOX_PADDING"].set(tuple, "left, top, right, bottom: 4 floats").optional()
        cc.outputs["MASKS"].set(list[ImageFrame], "a mask for each detection")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._options = cc.options(DetectorMasksCalculatorOptions)
        self._has_padding = "LETTERBOX_PADDING" in cc.inputs

    def process(self, cc: CalculatorContext) -> None:
        """Make the masks of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if any(port.is_empty() for port in cc.inputs):
            return
        detections: list[Detection] = cc.inputs["DETECTIONS"].payload
        padding = cc.inputs["LETTERBOX_PADDING"].payload if self._has_padding else _NO_PADDING
        options = self._options
        if min(padding) < 0:
            raise InvalidArgumentError(
                f"the image was cropped (LETTERBOX_PADDING is {tuple(padding)}), but what was cut off has no "
                "mask; set resize to LETTERBOX or STRETCH"
            )
        arrays = ordered(values_of(cc.inputs["TENSORS"]), options.order, options.layout)
        size = (options.input_width, options.input_height)
        table, height, width = prototypes_of(arrays, options.layout, options.mask_axes, size)
        rows = [one.mask_row for one in detections]
        coefficients = coefficients_of(arrays, rows, len(table), options.layout)
        logits = (coefficients @ table).reshape(-1, height, width)
        masks = [self._mask(one, logit, padding) for one, logit in zip(detections, logits, strict=True)]
        cc.outputs["MASKS"].add(masks, cc.stamp)

    def _mask(
        self, detection: Detection, logits: NDArray[np.float32], padding: Sequence[float]
    ) -> ImageFrame:
        width, height = self._options.input_width, self._options.input_height
        whole = cv2.resize(logits, (width, height), interpolation=cv2.INTER_LINEAR)
        left, top, right, bottom = padding
        columns = slice(round(left * width), width - round(right * width))
        rows = slice(round(top * height), height - round(bottom * height))
        inner = whole[rows, columns]
        box = detection.location_data.relative_bounding_box
        across, down = inner.shape[1], inner.shape[0]
        part = np.zeros(inner.shape, np.uint8)
        if not detection.HasField("mask_row"):
            return ImageFrame(part, ImageFormat.GRAY8)
        place = (
            slice(_within(box.ymin * down, down), _within((box.ymin + box.height) * down, down)),
            slice(_within(box.xmin * across, across), _within((box.xmin + box.width) * across, across)),
        )
        part[place] = (inner[place] > 0) * np.uint8(255)
        return ImageFrame(part, ImageFormat.GRAY8)


def _within(edge: float, size: int) -> int:
    """Return the first pixel whose place is not before an edge, in an image of a size."""
    # Edges on a whole pixel have been divided and multiplied by sides: without this they fall on either side.
    return int(min(max(np.ceil(edge - _ROUNDING), 0), size))


def coefficients_of(
    arrays: Sequence[NDArray[Any]], rows: Sequence[int], count: int, layout: Layout
) -> NDArray[np.float32]:
    """Return the coefficients of some rows, (rows, count).

    Raises:
        InvalidArgumentError: a row is not there, or has fewer numbers.
    """
    table = arrays[0][0] if arrays[0].ndim == 3 else arrays[0]  # noqa: PLR2004  # batch, rows, columns
    if layout == Layout.YOLO_V8_SEGMENT:
        table = table.T
    if table.ndim != 2 or table.shape[1] <= count:  # noqa: PLR2004  # rows, columns
        refuse(layout, arrays, f"rows with {count} coefficients of masks")
    if rows and not 0 <= min(rows) <= max(rows) < len(table):
        raise InvalidArgumentError(
            f"a detection has the mask_row {max(rows)}, but must have the number of its row in the model's "
            f"output, below {len(table)}; connect DETECTIONS as DetectorDecoderCalculator makes them"
        )
    found: NDArray[np.float32] = table[list(rows), table.shape[1] - count :].astype(np.float32, copy=False)
    return found
