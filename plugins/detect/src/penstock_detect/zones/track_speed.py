"""TrackSpeedCalculator: how fast tracks move over the ground."""

from __future__ import annotations

from math import hypot

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_detect.option_checks import check_least
from penstock_detect.zones.anchors import Anchor, anchor_of
from penstock_detect.zones.ground import GroundOptions, GroundPlane, Slope
from penstock_detect.zones.lines_and_zones import Places, size_of
from penstock_detect.zones.zone_options import places_of, searched
from penstock_formats import Detection


@attrs.frozen(kw_only=True)
class TrackSpeed:
    """How fast a track moves over the ground."""

    track: int
    #: Metres a second, 0 or more.
    speed: float
    #: Its parts along the axes of the ground, metres a second.
    x: float
    y: float


@attrs.frozen(kw_only=True)
class TrackSpeedCalculatorOptions:
    """Where the ground is, and how speeds are smoothed.

    Attributes:
        zones_path: a file of JSON whose "ground" has the points; instead of `ground`.
        ground: four points of the image, and of the ground.
        is_pixels: the points of `ground.image` are pixels of the size that IMAGE_SIZE says.
        anchor: the point of a box that stands on the ground; a file may say another one.
        window_ms: a speed is the slope of the straight line through the positions of so long a time.
        least_ms: it is measured when a track was followed for so long.
        lost_ms: a track that was not seen for longer begins again.
    """

    zones_path: str = ""
    ground: GroundOptions | None = None
    is_pixels: bool = False
    anchor: Anchor = Anchor.BOTTOM_CENTER
    window_ms: int = 1000
    least_ms: int = 200
    lost_ms: int = 2000

    def __attrs_post_init__(self) -> None:
        check_least("window_ms", self.window_ms, 1)
        check_least("least_ms", self.least_ms, 1)
        check_least("lost_ms", self.lost_ms, 0)
        if self.least_ms > self.window_ms:
            raise InvalidArgumentError(
                f"track speed option least_ms is {self.least_ms}, but must be at most window_ms, "
                f"{self.window_ms}"
            )
        if bool(self.zones_path) == (self.ground is not None):
            raise InvalidArgumentError(
                f"track speed options: {'both' if self.zones_path else 'neither'} of zones_path and "
                "ground are set; give exactly one"
            )
        if self.ground is not None:
            self.ground.ground()

    def written(self) -> Places:
        """Return what is written in the options themselves."""
        ground = None if self.ground is None else self.ground.ground()
        return Places(ground=ground, is_pixels=self.is_pixels)


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
        self._places = places = places_of(cc, options.zones_path, options.written)
        if places.ground is None:
            raise InvalidArgumentError(
                f'track speed needs a "ground", which the file {options.zones_path!r} has not; add '
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
