"""FilterDetectionsCalculator: keeps detections by score and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection
from penstock_vision.geometry.image_size import image_size
from penstock_vision.geometry.single_precision import f32
from penstock_vision.messages.filter_detections_pb2 import FilterDetectionsCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock_vision.geometry.image_size import ImageSize

_SIZES = ("min_pixel_size", "max_pixel_size")


class FilterDetectionsCalculator(penstock.Calculator):
    """Keeps the detections whose score is high enough and whose size is in a range.

    Inputs INPUT_DETECTIONS (list[Detection] with relative bounding boxes) and, for sizes, IMAGE_SIZE (tuple
    of width and height in pixels); output OUTPUT_DETECTIONS (list[Detection], the same objects, in order).
    The first score of a detection counts; its size is the longer side of its box in pixels. A score or a size
    at its limit is kept. Without a packet of detections nothing is sent. Timestamp offset 0.

    Options `FilterDetectionsCalculatorOptions`, each without effect unless set: `min_score`,
    `min_pixel_size`, `max_pixel_size` (both in pixels).

    Raises in the contract: InvalidArgumentError for a limit of the size without IMAGE_SIZE. In `process`: the
    same for a detection without a score, and for no size of the image, where they are needed.

    Source of the behaviour: MediaPipe `calculators/util/filter_detections_calculator.cc`.

    Config::

        node {
          calculator: "FilterDetectionsCalculator"
          input_stream: "INPUT_DETECTIONS:detections"
          input_stream: "IMAGE_SIZE:image_size"
          output_stream: "OUTPUT_DETECTIONS:large_detections"
          options {
            [penstock.FilterDetectionsCalculatorOptions.ext] { min_score: 0.5 min_pixel_size: 32 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare detections in and out.

        Raises:
            InvalidArgumentError: a limit of the size is set, and the size of the image is not connected.
        """
        options = cc.options(FilterDetectionsCalculatorOptions)
        given = [name for name in _SIZES if options.HasField(name)]
        if given and "IMAGE_SIZE" not in cc.inputs:
            raise InvalidArgumentError(
                f"{' and '.join(given)} of the filter is set, but there is no input IMAGE_SIZE; connect the "
                "SIZE of an ImagePropertiesCalculator"
            )
        cc.inputs["INPUT_DETECTIONS"].set(list[Detection], "detections")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height of the image in pixels").optional()
        cc.outputs["OUTPUT_DETECTIONS"].set(list[Detection], "those that are kept")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the limits."""
        options = cc.options(FilterDetectionsCalculatorOptions)
        self._least_score = f32(options.min_score) if options.HasField("min_score") else None
        self._least, self._most = (
            f32(getattr(options, name)) if options.HasField(name) else None for name in _SIZES
        )

    def process(self, cc: CalculatorContext) -> None:
        """Filter one list."""
        port = cc.inputs["INPUT_DETECTIONS"]
        if port.is_empty():
            return
        has_limits = self._least is not None or self._most is not None
        size = image_size(cc.inputs["IMAGE_SIZE"]) if has_limits else None
        kept = [one for one in port.payload if self._is_kept(one, size)]
        cc.outputs["OUTPUT_DETECTIONS"].add(kept, cc.stamp)

    def _is_kept(self, detection: Detection, size: ImageSize | None) -> bool:
        if self._least_score is not None:
            if not detection.score:
                raise InvalidArgumentError(
                    "a detection to filter has no score, but min_score is set; leave out the option, or give "
                    "scores"
                )
            if detection.score[0] < self._least_score:
                return False
        if size is None:
            return True
        box = detection.location_data.relative_bounding_box
        longer = max(f32(box.width) * size.width, f32(box.height) * size.height)
        is_small = self._least is not None and longer < self._least
        is_large = self._most is not None and longer > self._most
        return not (is_small or is_large)
