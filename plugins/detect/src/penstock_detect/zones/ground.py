"""From points of the image to metres on the ground, by a homography; and the options with these points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_detect.zones.lines_and_zones import Ground
from penstock_detect.zones.zone_options import pairs

if TYPE_CHECKING:
    from penstock_detect.zones.geometry import Point

#: Sines of angles between points that count as on a line, and the rounding of a plane's scale.
_FLAT: Final = 1e-6
_FOUR: Final = 4


@attrs.frozen(kw_only=True)
class GroundOptions:
    """Four points of the image, and where they are on the ground.

    Attributes:
        image: x and y of four points of the image, no three of them on a line.
        meters: x and y of the same points on the ground, in metres from any origin.
    """

    image: tuple[float, ...] = ()
    meters: tuple[float, ...] = ()

    def ground(self) -> Ground:
        """Return the points.

        Raises:
            InvalidArgumentError: these are not four and four.
        """
        return Ground(
            image=pairs(self.image, "ground.image", _FOUR, _FOUR),
            meters=pairs(self.meters, "ground.meters", _FOUR, _FOUR),
        )


class GroundPlane:
    """The homography that four points of the image and of the ground say.

    Raises:
        InvalidArgumentError: three of the points are on a line, or the ground is seen from both sides.
    """

    def __init__(self, ground: Ground) -> None:
        for points, name in ((ground.image, "ground.image"), (ground.meters, "ground.meters")):
            _check_spread(points, name)
        rows, values = [], []
        for (x, y), (u, v) in zip(ground.image, ground.meters, strict=True):
            rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
            values += [u, v]
        try:
            found = np.linalg.solve(np.array(rows, np.float64), np.array(values, np.float64))
        except np.linalg.LinAlgError as error:
            raise InvalidArgumentError(
                "the points of ground.image and ground.meters fit no plane; measure them again"
            ) from error
        self._matrix: Final = [float(one) for one in found]
        signs = {self._scale(x, y) > 0 for x, y in ground.image}
        if len(signs) != 1:
            raise InvalidArgumentError(
                "the points of ground.image and ground.meters are in different orders; give both in the same "
                "order around the area"
            )
        self._sign: Final = 1.0 if signs.pop() else -1.0

    def _scale(self, x: float, y: float) -> float:
        return self._matrix[6] * x + self._matrix[7] * y + 1.0

    def meters(self, point: Point) -> Point | None:
        """Return where a point of the image is on the ground, in metres; None on the horizon and above it."""
        x, y = point
        scale = self._scale(x, y)
        if scale * self._sign < _FLAT:
            return None
        matrix = self._matrix
        return (
            (matrix[0] * x + matrix[1] * y + matrix[2]) / scale,
            (matrix[3] * x + matrix[4] * y + matrix[5]) / scale,
        )


def _check_spread(points: tuple[Point, ...], name: str) -> None:
    """Refuse points of which three are on a line."""
    for i in range(4):
        first, second, third = (np.array(points[(i + step) % 4]) for step in range(3))
        one, other = second - first, third - first
        lengths = float(np.hypot(*one) * np.hypot(*other))
        if abs(float(one[0] * other[1] - one[1] * other[0])) <= _FLAT * lengths:
            raise InvalidArgumentError(
                f"{name}: three of the ground's points {list(points)} are on one line; give the corners of "
                "an area"
            )


class Slope:
    """The speed of one track: the slope of the straight line through its last positions, by least squares."""

    __slots__ = ("_places", "_times")

    def __init__(self) -> None:
        self._times: list[int] = []
        self._places: list[Point] = []

    @property
    def seen(self) -> int:
        """The time of the last position, in microseconds."""
        return self._times[-1]

    def add(self, timestamp: int, place: Point, window_us: int) -> None:
        """Take in a position, and forget the ones that are older than the window."""
        self._times.append(timestamp)
        self._places.append(place)
        old = sum(1 for one in self._times if timestamp - one > window_us)
        del self._times[:old], self._places[:old]

    def velocity(self, least_us: int) -> Point | None:
        """Return metres a second along both axes; None where the positions span less time than the least."""
        first = self._times[0]
        if self._times[-1] - first < least_us:
            return None
        seconds = [(one - first) / 1e6 for one in self._times]
        middle = sum(seconds) / len(seconds)
        square = sum((one - middle) ** 2 for one in seconds)
        x, y = (
            sum((at - middle) * place[axis] for at, place in zip(seconds, self._places, strict=True)) / square
            for axis in (0, 1)
        )
        return x, y
