"""TrackSpeedCalculator: how fast tracks move over the ground."""

from __future__ import annotations

from math import hypot

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.zones.anchors import anchor_of
from penstock_detect.zones.events import TrackSpeed
from penstock_detect.zones.ground import GroundPlane, Slope
from penstock_detect.zones.zone_options import TrackSpeedCalculatorOptions, places_of, searched
from penstock_detect.zones.zones import size_of
from penstock_formats import Detection


class TrackSpeedCalculator(penstock.Calculator):
    """Measures how fast tracks move over the ground, in metres a second.

    Inputs: DETECTIONS (list[Detection], with the track's ID, 1 or more, as `detection_id`; others are left
    out); IMAGE_SIZE (optional, width and height, needed where points or boxes are in pixels). Output: SPEEDS
    (list[TrackSpeed], in the order of the detections: of the tracks whose speed is known), at each timestamp
    of DETECTIONS. Timestamp offset 0.

    Four points of the image, whose places on the ground are known in metres, say how the ground is seen: a
    homography. The anchor of a box must be on the ground; a lens that bends straight lines is not considered.
    The speed is the slope of the straight line through the positions of the last `window_ms`, by least
    squares: exact for a uniform motion, and `window_ms / 2` late in others. It is known when the positions
    span `least_ms`. Positions on the horizon and above it are left out.

    Options `TrackSpeedCalculatorOptions`: `zones_path`, a file whose "ground" has the points, or `ground`;
    `is_pixels` (false); `anchor` (BOTTOM_CENTER); `window_ms` (1000); `least_ms` (200); `lost_ms` (2000).

    Raises in `get_contract`: InvalidArgumentError for options that do not fit together. In `open`:
    InvalidArgumentError for points of which three are on a line, or a file without them; NotFoundError,
    PermissionDeniedError or ResourceExhaustedError for the file. In `process`: InvalidArgumentError for a
    detection without a box, or an image whose size is missing.

    Config::

        node {
          calculator: "TrackSpeedCalculator"
          input_stream: "DETECTIONS:tracked"
          output_stream: "SPEEDS:speeds"
          node_options {
            [type.googleapis.com/penstock_detect.TrackSpeedCalculatorOptions] {
              ground {
                image: [0.4, 0.3, 0.6, 0.3, 0.9, 0.9, 0.1, 0.9]
                meters: [0, 0, 7, 0, 7, 30, 0, 30]
              }
            }
          }
        }
    """

    Options = TrackSpeedCalculatorOptions

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the ports; check the options.

        Raises:
            InvalidArgumentError: as the class says.
        """
        options = cc.options(TrackSpeedCalculatorOptions)
        cc.inputs["DETECTIONS"].set(list[Detection], "with tracks' IDs as detection_id")
        cc.inputs["IMAGE_SIZE"].set(tuple, "width and height in pixels").optional()
        cc.outputs["SPEEDS"].set(list[TrackSpeed], "metres a second")
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=False, stateless=False, reads=searched(cc, options.zones_path))

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Read the points.

        Raises:
            PenstockError: as the class says.
        """
        self._options = options = cc.options(TrackSpeedCalculatorOptions)
        self._places = places = places_of(cc, options)
        if places.ground is None:
            raise InvalidArgumentError(
                f'the file of zones {options.zones_path!r} has no "ground", which speeds of tracks need; add '
                '"ground": {"image": four points, "meters": four points}'
            )
        if places.is_pixels and places.size is None and "IMAGE_SIZE" not in cc.inputs:
            raise InvalidArgumentError(
                "speeds of tracks need the ground's points, which are in pixels, but not of which image; say "
                "its size, or connect IMAGE_SIZE"
            )
        self._anchor = places.anchor or options.anchor
        self._size: tuple[float, float] | None = None
        self._plane: GroundPlane | None = None
        if not places.is_pixels or places.size is not None:
            self._plane = self._new_plane()
        self._tracks: dict[int, Slope] = {}

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Measure the tracks of one timestamp.

        Raises:
            InvalidArgumentError: as the class says.
        """
        if "IMAGE_SIZE" in cc.inputs and not cc.inputs["IMAGE_SIZE"].is_empty():
            self._size = size_of(cc, self._size, self._places)
        if cc.inputs["DETECTIONS"].is_empty():
            return
        self._plane = plane = self._plane or self._new_plane()
        now = int(cc.input_timestamp)
        options, tracks = self._options, self._tracks
        for number in [one for one, slope in tracks.items() if now - slope.seen > options.lost_ms * 1000]:
            del tracks[number]
        found = []
        detections: list[Detection] = cc.inputs["DETECTIONS"].payload
        for one in detections:
            number = one.detection_id
            if number < 1:
                continue
            place = plane.meters(anchor_of(one, self._anchor, self._size))
            if place is None:
                continue
            slope = tracks.setdefault(number, Slope())
            slope.add(now, place, options.window_ms * 1000)
            velocity = slope.velocity(options.least_ms * 1000)
            if velocity is not None:
                x, y = velocity
                found.append(TrackSpeed(track=number, speed=hypot(x, y), x=x, y=y))
        cc.outputs["SPEEDS"].add(found, cc.stamp)

    def _new_plane(self) -> GroundPlane:
        places = self._places.in_fractions(self._size)
        if places.is_pixels or places.ground is None:
            raise InvalidArgumentError(
                "for speeds of tracks the points of the ground are in pixels, but no packet of IMAGE_SIZE "
                "has come; send one with the first detections"
            )
        return GroundPlane(places.ground)
