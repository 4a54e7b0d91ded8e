"""BoxFlowCalculator: a detection of the frame before, moved to where it is in this frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, ImageFormat, ImageFrame, LocationData
from penstock_formats.api import format_converter
from penstock_vision.images.median_flow import median_flow

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


@attrs.frozen
class BoxFlowCalculatorOptions:
    """When a box is given up.

    Attributes:
        score_factor: what each step multiplies the score by, above 0 to 1. Below 1 a box that nobody
            confirms disappears.
        min_score: a box whose score is less is lost, 0 to 1.
        min_share: a box of whose points a smaller share is followed is lost, 0 to 1.
    """

    score_factor: float = attrs.field(
        default=0.97, validator=[attrs.validators.gt(0), attrs.validators.le(1)]
    )
    min_score: float = attrs.field(default=0.3, validator=[attrs.validators.ge(0), attrs.validators.le(1)])
    min_share: float = attrs.field(default=0.25, validator=[attrs.validators.ge(0), attrs.validators.le(1)])


class BoxFlowCalculator(penstock.Calculator):
    """Move the box of a detection with what is inside of it, from one frame to the next.

    For the frames between two detections, in a loop over the detections of the frame before. Corners inside
    of the box are followed by optical flow, there and back; the median of their shifts moves the box, the
    median of their distances scales it.

    Inputs: DETECTION (Detection with a RELATIVE_BOUNDING_BOX, where it was), PREV_IMAGE and IMAGE
    (ImageFrame, SRGB or GRAY8, of one size and format: the frame before and this one). Output DETECTION (a
    copy with the new box and score; everything else stays, the id too). Timestamp offset 0. Without all
    three inputs nothing is sent, and nothing where the box is lost: fewer than four points or
    less than `min_share` of them are followed, its middle leaves the frame, or its score falls below
    `min_score`. The ledger counts what is lost, with the reason. The score is multiplied by `score_factor`;
    that of a detection without score counts as 1.

    Options `BoxFlowCalculatorOptions`: `score_factor` (0.97), `min_score` (0.3), `min_share` (0.25).

    Raises when the graph is loaded: OptionsError for numbers out of range. In `process`:
    InvalidArgumentError for other formats, frames of two sizes, or a detection without such a box.

    Source of the method: Z. Kalal, K. Mikolajczyk, J. Matas, "Forward-Backward Error: Automatic Detection of
    Tracking Failures", ICPR 2010. MediaPipe's BoxTrackerCalculator does the same from motion data
    (TRACKING) that its other calculators pack; here frames are read.

    Config::

        node {
          calculator: "BoxFlowCalculator"
          input_stream: "DETECTION:object_before"
          input_stream: "PREV_IMAGE:frame_before"
          input_stream: "IMAGE:frame"
          output_stream: "DETECTION:object"
        }
    """

    Options = BoxFlowCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the box and the frames."""
        cc.inputs["DETECTION"].set(Detection, "where it was")
        cc.inputs["PREV_IMAGE"].set(ImageFrame, "the frame before (SRGB, GRAY8)")
        cc.inputs["IMAGE"].set(ImageFrame, "this frame, of the same size")
        cc.outputs["DETECTION"].set(Detection, "where it is")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True)

    def open(self, cc: CalculatorContext) -> None:
        """Read the options."""
        self._options = cc.options(BoxFlowCalculatorOptions)

    def process(self, cc: CalculatorContext) -> None:
        """Move one box."""
        if any(cc.inputs[tag].is_empty() for tag in ("DETECTION", "PREV_IMAGE", "IMAGE")):
            return
        given: Detection = cc.inputs["DETECTION"].payload
        before: ImageFrame = cc.inputs["PREV_IMAGE"].payload
        now: ImageFrame = cc.inputs["IMAGE"].payload
        _check(given, before, now)
        box = given.location_data.relative_bounding_box
        wide, high = now.width, now.height
        moved = median_flow(
            before.array, now.array, (box.xmin * wide, box.ymin * high, box.width * wide, box.height * high)
        )
        if moved is None or moved.share < self._options.min_share:
            cc.inputs["DETECTION"].count_dropped("its points are lost")
            return
        middle = (moved.left + moved.width / 2, moved.top + moved.height / 2)
        if not (0 <= middle[0] <= wide and 0 <= middle[1] <= high):
            cc.inputs["DETECTION"].count_dropped("it has left the frame")
            return
        score = (given.score[0] if given.score else 1.0) * self._options.score_factor
        if score < self._options.min_score:
            cc.inputs["DETECTION"].count_dropped(
                f"its score is below min_score ({self._options.min_score:g})"
            )
            return
        made = Detection()
        made.CopyFrom(given)
        made.score[:] = [score]
        place = made.location_data.relative_bounding_box
        place.xmin, place.ymin = moved.left / wide, moved.top / high
        place.width, place.height = moved.width / wide, moved.height / high
        cc.outputs["DETECTION"].add(made, cc.stamp)


def _check(given: Detection, before: ImageFrame, now: ImageFrame) -> None:
    """Refuse what cannot be followed.

    Raises:
        InvalidArgumentError: the message names the input.
    """
    if given.location_data.format != LocationData.RELATIVE_BOUNDING_BOX:
        kind = LocationData.Format.Name(given.location_data.format)
        raise InvalidArgumentError(
            f"input 'DETECTION' holds a detection with a place of format {kind}, but the box flow takes "
            "RELATIVE_BOUNDING_BOX; put a DetectionTransformationCalculator before"
        )
    if now.format not in (ImageFormat.SRGB, ImageFormat.GRAY8):
        raise InvalidArgumentError(
            f"input 'IMAGE' holds {now!r}, but the box flow takes SRGB or GRAY8; put a "
            f"{format_converter(now.format)} before"
        )
    if (before.width, before.height, before.format) != (now.width, now.height, now.format):
        raise InvalidArgumentError(
            f"input 'PREV_IMAGE' holds {before!r}, but input 'IMAGE' {now!r}; for the box flow make both "
            "the same size and format"
        )
