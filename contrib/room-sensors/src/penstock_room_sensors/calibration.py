"""Thresholds of rooms and calibrations of sensors, as a service that a graph's nodes share.

The application sets one `RoomCalibration` with `graph.set_service(CALIBRATION, calibration)`; a graph
without one gets an empty one. Nodes read it when they open, so a change during a run takes effect in the
next run, and no result depends on the moment of a change.
"""

from __future__ import annotations

import math
import threading
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from penstock import ServiceKey
from penstock.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

#: About the limit between conversation and shouting.
LOUD_FROM_DB: Final = 70.0
#: A bit less than the light of one lamp in a living room.
DARK_BELOW_LUX: Final = 50


def _finite(instance: object, field: attrs.Attribute[Any], value: float) -> None:
    if not math.isfinite(value):
        raise InvalidArgumentError(
            f"calibration, {type(instance).__name__}: {field.name} is {value}, but must be finite"
        )


def _positive(instance: object, field: attrs.Attribute[Any], value: float) -> None:
    if not 0 < value < math.inf:
        raise InvalidArgumentError(
            f"calibration, {type(instance).__name__}: {field.name} is {value}, but must be above 0 and finite"
        )


@attrs.frozen(kw_only=True)
class RoomThresholds:
    """The loudness from which a room is loud, and the brightness below which it is dark.

    Raises:
        InvalidArgumentError: a number is infinite or NaN.
    """

    #: dB; a room of this loudness is loud.
    loud_from_db: float = attrs.field(default=LOUD_FROM_DB, validator=_finite)
    #: Lux; a room of this brightness is not dark.
    dark_below_lux: float = attrs.field(default=DARK_BELOW_LUX, validator=_finite)


@attrs.frozen(kw_only=True)
class SensorCalibration:
    """How a sensor's readings are corrected, and how noisy they are.

    Raises:
        InvalidArgumentError: a number is not finite, gain is 0, or noise_variance is not above 0.
    """

    #: `gain`, `offset`: the corrected value of a reading r is `gain * r + offset`. The gain is not 0.
    gain: float = attrs.field(default=1.0, validator=_finite)
    offset: float = attrs.field(default=0.0, validator=_finite)
    #: The noise variance of corrected readings about the true value, in their unit squared; above 0.
    noise_variance: float = attrs.field(default=1.0, validator=_positive)

    def __attrs_post_init__(self) -> None:
        if self.gain == 0:
            raise InvalidArgumentError(
                "SensorCalibration: gain is 0, but every reading would be the same then"
            )

    def corrected(self, reading: float) -> float:
        """Return the corrected value of a reading."""
        return self.gain * reading + self.offset


class RoomCalibration:
    """The thresholds of rooms and the calibration of sensors, by name. May be used from any thread.

    The name "" is for rooms and sensors without a name: it is always known, and has the defaults unless it
    is given.

    Args:
        rooms: name → thresholds. Copied.
        sensors: name → calibration. Copied.
    """

    def __init__(
        self,
        rooms: Mapping[str, RoomThresholds] | None = None,
        sensors: Mapping[str, SensorCalibration] | None = None,
    ) -> None:
        #: Writers change a copy under the lock and replace the old one by it; readers need no lock.
        self._lock: Final = threading.Lock()
        self._rooms: Mapping[str, RoomThresholds] = {"": RoomThresholds(), **(rooms or {})}
        self._sensors: Mapping[str, SensorCalibration] = {"": SensorCalibration(), **(sensors or {})}

    @property
    def rooms(self) -> Mapping[str, RoomThresholds]:
        """All rooms as they are now; read-only, and unchanged by later calls."""
        return MappingProxyType(self._rooms)

    @property
    def sensors(self) -> Mapping[str, SensorCalibration]:
        """All sensors as they are now; read-only, and unchanged by later calls."""
        return MappingProxyType(self._sensors)

    def thresholds_of(self, room: str) -> RoomThresholds:
        """Return the thresholds of a room.

        Raises:
            NotFoundError: the room has none; the message names the known rooms.
        """
        return _known(self._rooms, "room", room, "set_thresholds")

    def of(self, sensor: str) -> SensorCalibration:
        """Return the calibration of a sensor.

        Raises:
            NotFoundError: the sensor has none; the message names the known sensors.
        """
        return _known(self._sensors, "sensor", sensor, "calibrate")

    def set_thresholds(self, room: str, thresholds: RoomThresholds) -> None:
        """Set a room's thresholds, from the next run on."""
        with self._lock:
            self._rooms = {**self._rooms, room: thresholds}

    def calibrate(self, sensor: str, calibration: SensorCalibration) -> None:
        """Set a sensor's calibration, from the next run on."""
        with self._lock:
            self._sensors = {**self._sensors, sensor: calibration}


def _known(table: Mapping[str, T], what: str, name: str, method: str) -> T:
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    others = ", ".join(repr(one) for one in sorted(table) if one) or "none"
    raise NotFoundError(
        f"no {what} {name!r} is calibrated{meant}; known are: {others}; add it with RoomCalibration.{method}"
        ", and pass that to graph.set_service(CALIBRATION, ...)"
    )


#: The calibration that a graph's nodes share; an empty one if the application sets none.
CALIBRATION: Final[ServiceKey[RoomCalibration]] = ServiceKey(
    "penstock-room-sensors.calibration", create=RoomCalibration
)
