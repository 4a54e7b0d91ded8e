"""TrackTailsCalculator: where objects that are followed have been, as drawings."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Detection, LocationData, RenderData
from penstock_vision.drawing.plates import PALETTE

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

    #: The timestamp, x and y.
    Point = tuple[int, float, float]


@attrs.frozen(kw_only=True)
class TrackTailsCalculatorOptions:
    """How long and thick tails are.

    Attributes:
        seconds: how long ago a tail begins, above 0 to 60.
        step_seconds: a corner for each such time, above 0 to 60; the end is where the object is now.
        thickness: at the object, in pixels; a tail becomes thinner towards its beginning.
        centre: a tail goes through the middles of boxes; else through the middles of their lower edges.
    """

    seconds: float = attrs.field(default=1.5, validator=[attrs.validators.gt(0.0), attrs.validators.le(60.0)])
    step_seconds: float = attrs.field(
        default=0.1, validator=[attrs.validators.gt(0.0), attrs.validators.le(60.0)]
    )
    thickness: float = attrs.field(
        default=4.0, validator=[attrs.validators.gt(0.0), attrs.validators.le(100.0)]
    )
    centre: bool = False


class TrackTailsCalculator(penstock.Calculator):
    """Draws a tail behind each object that is followed: where it was in the last seconds.

    Input: DETECTIONS (list[Detection] with ids, as TrackerCalculator sends them; those without an id are left
    out). Output: RENDER_DATA (RenderData, lines of the colour that DetectionOverlayCalculator gives the id),
    at every timestamp of the input. The tail of an object that is not there for a moment is not drawn, and
    goes on when it is back; one that is away for longer than `seconds` is forgotten. Timestamp offset 0.

    Options `TrackTailsCalculatorOptions`: `seconds` (1.5), `step_seconds` (0.1), `thickness` (4, pixels: set
    `height_of_thickness_px: 720` of the AnnotationOverlayCalculator, and it is as thick in images of any
    height), `centre` (false: the middle of the lower edge, where an object stands).

    Raises when the graph is loaded: OptionsError for numbers out of range. In `process`:
    InvalidArgumentError for a detection with an id and without a relative box.

    Config::

        node {
          calculator: "TrackTailsCalculator"
          input_stream: "DETECTIONS:followed"
          output_stream: "RENDER_DATA:tails"
        }
    """

    Options = TrackTailsCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs["DETECTIONS"].set(list[Detection], "what is followed")
        cc.outputs["RENDER_DATA"].set(RenderData, "a tail for each id")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Begin without tails."""
        self._options = cc.options(TrackTailsCalculatorOptions)
        self._span, self._step = (
            round(1e6 * one) for one in (self._options.seconds, self._options.step_seconds)
        )
        self._tails: dict[int, deque[Point]] = {}

    def process(self, cc: CalculatorContext) -> None:
        """Draw the tails of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        port = cc.inputs["DETECTIONS"]
        if port.is_empty():
            return
        now = cc.stamp
        data = RenderData()
        for one in port.payload:
            if one.detection_id:
                self._grow(one.detection_id, (now, *_foot(one, port.name, centre=self._options.centre)))
                self._draw(one.detection_id, data)
        is_old = [key for key, tail in self._tails.items() if now - tail[-1][0] > self._span]
        for key in is_old:
            del self._tails[key]
        cc.outputs["RENDER_DATA"].add(data, cc.stamp)

    def _grow(self, number: int, point: Point) -> None:
        """Add a point; the one before is replaced where the corner before that is near in time."""
        tail = self._tails.setdefault(number, deque())
        if len(tail) > 1 and tail[-1][0] - tail[-2][0] < self._step:
            tail.pop()
        tail.append(point)
        while tail[0][0] < point[0] - self._span:
            tail.popleft()

    def _draw(self, number: int, data: RenderData) -> None:
        tail = self._tails[number]
        red, green, blue = PALETTE[number % len(PALETTE)]
        color = {"r": red, "g": green, "b": blue}
        begin, end = tail[0][0], tail[-1][0]
        for (_, x, y), (time, to_x, to_y) in pairwise(tail):
            line = {"x_start": x, "y_start": y, "x_end": to_x, "y_end": to_y, "normalized": True}
            thickness = self._options.thickness * (0.25 + 0.75 * (time - begin) / (end - begin))
            data.render_annotations.add(line=line, color=color, thickness=thickness, scene_tag="TAIL")


def _foot(one: Detection, port: str, *, centre: bool) -> tuple[float, float]:
    """Return the middle of the lower edge of a box, or of the box, in fractions of the image."""
    place = one.location_data
    if place.format != LocationData.RELATIVE_BOUNDING_BOX:
        kind = LocationData.Format.Name(place.format)
        raise InvalidArgumentError(
            f"input {port!r}: a detection has a place of format {kind}, but "
            "tails take RELATIVE_BOUNDING_BOX; put a DetectionTransformationCalculator before"
        )
    box = place.relative_bounding_box
    return box.xmin + box.width / 2, box.ymin + box.height * (0.5 if centre else 1.0)
