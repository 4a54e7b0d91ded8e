"""ZonesCalculator: tracks that cross lines, enter and leave zones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.log import get_logger, place
from penstock_detect.zones.anchors import anchor_of
from penstock_detect.zones.counting_rules import Counter, Rules, Seen
from penstock_detect.zones.counts import ZoneCounts
from penstock_detect.zones.events import ZoneEvent
from penstock_detect.zones.lines_and_zones import size_of
from penstock_detect.zones.track_speed import TrackSpeed
from penstock_detect.zones.zone_options import ZonesCalculatorOptions, places_of, searched
from penstock_formats import Detection

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_logger = get_logger("detect")


class ZonesCalculator(penstock.Calculator):
    """Counts tracks that cross lines, and that enter and leave zones, and sends an event for each.

    Inputs: DETECTIONS (list[Detection], with the track's ID, 1 or more, as `detection_id`; others are left
    out); IMAGE_SIZE (optional, width and height, needed where coordinates or boxes are in pixels); SPEEDS
    (optional, list[TrackSpeed] of TrackSpeedCalculator, which events then say). Outputs, each optional:
    EVENTS (list[ZoneEvent], at timestamps with events only); COUNTS (ZoneCounts since the run began, at each
    timestamp of DETECTIONS). Timestamp offset 0.

    A line is a segment: a path that passes outside of its ends does not cross it, and one through an end
    does. The path of a track is straight between the frames that have it, so a track that jumps over a line
    while a frame is missing counts once. A zone is a polygon by the even-odd rule, entered where a frame has
    the anchor inside. Signs are exact, without rounding.

    A crossing, entry or exit counts when it is certain: the anchor is `margin` from the line or edge, or the
    track has stayed there for `hold_ms`, or is lost there. A track that is not seen for `lost_ms` leaves the
    zones at the time when it was seen last; the event comes when that is known. An event's own timestamp is
    when it happened, its packet's when it was certain. The dwell time is the difference of two of the former.
    What is not certain when the run ends is not counted.

    A track has the class that its detections name with the largest sum of scores so far.

    Options `ZonesCalculatorOptions`: `zones_path`, or `line` and `zone`; `is_pixels` (false); `anchor`
    (BOTTOM_CENTER); `margin` (0.01, fractions of the image); `hold_ms` (500); `lost_ms` (2000).

    Raises in `get_contract`: InvalidArgumentError for options that do not fit together. In `open`:
    InvalidArgumentError for a file that says no lines and zones, with the place in it; NotFoundError,
    PermissionDeniedError or ResourceExhaustedError for the file. In `process`: InvalidArgumentError for a
    detection without a box, a track that is there twice, or an image whose size is missing or has changed.

    Config::

        node {
          calculator: "ZonesCalculator"
          input_stream: "DETECTIONS:tracked"
          output_stream: "EVENTS:events"
          output_stream: "COUNTS:counts"
          node_options {
            [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {
              line { name: "gate" point: [0.1, 0.5, 0.9, 0.5] }
              zone { name: "yard" point: [0.1, 0.6, 0.9, 0.6, 0.9, 0.9, 0.1, 0.9] classes: "car" }
            }
          }
        }
    """

    Options = ZonesCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(ZonesCalculatorOptions)
        cc.inputs["DETECTIONS"].set(list[Detection], "with tracks' IDs as detection_id")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height in pixels").optional()
        cc.inputs["SPEEDS"].set(list[TrackSpeed], "speeds for the events").optional()
        cc.outputs["EVENTS"].set(list[ZoneEvent], "what happened").optional()
        cc.outputs["COUNTS"].set(ZoneCounts, "counts of all lines and zones").optional()
        if options.is_pixels and "IMAGE_SIZE" not in cc.inputs:
            raise InvalidArgumentError(
                "the zone counter's is_pixels is set, but IMAGE_SIZE is not connected; connect it to the "
                "SIZE of an ImagePropertiesCalculator, or give fractions of the image"
            )
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False, reads=searched(cc, options.zones_path))

    def open(self, cc: CalculatorContext) -> None:
        """Read lines and zones.

        Raises:
            PenstockError: as the class says.
        """
        self._options = options = cc.options(ZonesCalculatorOptions)
        self._places = places = places_of(cc, options.zones_path, options.written)
        if options.zones_path and not (places.lines or places.zones):
            raise InvalidArgumentError(
                f"zone counter: its file {options.zones_path!r} has no line or zone to count; write one"
            )
        if places.is_pixels and places.size is None and "IMAGE_SIZE" not in cc.inputs:
            raise InvalidArgumentError(
                f"zone counter: its file {options.zones_path!r} has coordinates in pixels, but not of "
                'which image; add "size": [width, height], or connect IMAGE_SIZE'
            )
        self._anchor = places.anchor or options.anchor
        self._rules = Rules(
            margin=options.margin, hold_us=options.hold_ms * 1000, lost_us=options.lost_ms * 1000
        )
        #: Of the images, once known.
        self._size: tuple[float, float] | None = None
        self._counter: Counter | None = None
        self._has_detections = self._has_tracks = False

    def process(self, cc: CalculatorContext) -> None:
        """Take in the tracks of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if "IMAGE_SIZE" in cc.inputs and not cc.inputs["IMAGE_SIZE"].is_empty():
            self._size = size_of(cc, self._size, self._places)
        if cc.inputs["DETECTIONS"].is_empty():
            return
        counter = self._counter or self._new_counter()
        events = counter.step(int(cc.input_timestamp), self._seen(cc))
        if events and "EVENTS" in cc.outputs:
            cc.outputs["EVENTS"].add(events, cc.stamp)
        if "COUNTS" in cc.outputs:
            cc.outputs["COUNTS"].add(counter.counts, cc.stamp)

    def close(self, cc: CalculatorContext) -> None:
        """Say in the log where there were detections, but no tracks."""
        if self._has_detections and not self._has_tracks:
            _logger.warning(
                "no detection had a track's ID, so nothing was counted; put a tracker before this node",
                extra=place(cc.node_name),
            )

    def _new_counter(self) -> Counter:
        places = self._places.in_fractions(self._size)
        if places.is_pixels:
            raise InvalidArgumentError(
                "the zone counter's lines and zones are in pixels, but no packet of IMAGE_SIZE has come; "
                "send one with the first detections"
            )
        self._counter = Counter(places, self._rules)
        return self._counter

    def _seen(self, cc: CalculatorContext) -> list[Seen]:
        speeds: dict[int, float] = {}
        if "SPEEDS" in cc.inputs and not cc.inputs["SPEEDS"].is_empty():
            measured: list[TrackSpeed] = cc.inputs["SPEEDS"].payload
            speeds = {one.track: one.speed for one in measured}
        found: dict[int, Seen] = {}
        detections: list[Detection] = cc.inputs["DETECTIONS"].payload
        self._has_detections = self._has_detections or bool(detections)
        for one in detections:
            number = one.detection_id
            if number < 1:
                continue
            if number in found:
                raise InvalidArgumentError(
                    f"input {cc.inputs['DETECTIONS'].name!r} has two detections with the ID {number} at "
                    f"timestamp {cc.stamp}, but the zone counter counts a track once; "
                    "connect the output of a tracker"
                )
            found[number] = Seen(
                number, _label(one), _score(one), anchor_of(one, self._anchor, self._size), speeds.get(number)
            )
        self._has_tracks = self._has_tracks or bool(found)
        return list(found.values())


def _label(detection: Detection) -> str:
    """Return the name of the class, or its number as text; "" for neither."""
    if detection.label:
        return str(detection.label[0])
    return str(detection.label_id[0]) if detection.label_id else ""


def _score(detection: Detection) -> float:
    return detection.score[0] if detection.score else 1.0
