"""Whether a person is in a room, by the votes of its sensors at each tick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

import penstock
from penstock.errors import InvalidArgumentError
from penstock_room_sensors.calibration import CALIBRATION
from penstock_room_sensors.messages.options_pb2 import FreshReadingsOptions, RoomPresenceCalculatorOptions

if TYPE_CHECKING:
    from penstock_room_sensors.calibration import RoomThresholds


@attrs.frozen
class RoomPresence:
    """The sensors' verdict at one moment."""

    #: Whether enough sensors vote for it.
    is_occupied: bool
    #: How many sensors vote for it.
    votes: int
    #: How many sensors have a fresh reading.
    voters: int


class RoomPresenceCalculator(penstock.Calculator):
    """Send at each tick whether a person is in the room: whether enough sensors vote for it.

    A microphone votes for it when the room is loud, a light sensor when it is not dark. Only fresh readings
    vote: a sensor that has been silent for longer than `max_age` has no vote, so a sensor that has failed
    does not keep the room occupied or empty. Where there are fewer fresh readings than needed votes, the
    result is undecided, and nothing is sent. The voting is M out of N, as IEC 61508-6 has it for safety,
    over the channels that are fresh. Timestamp offset 0.

    Inputs, at least one sensor:
        LOUDNESS: float, dB; any number of them, LOUDNESS:1 and so on.
        BRIGHTNESS: int, lux; any number of them.
        TICK: any payload; the times of the verdicts, such as the frames of a camera.

    Outputs:
        PRESENCE: `RoomPresence`.

    Options `RoomPresenceCalculatorOptions`: `room`, the name of the thresholds; `votes` (1); `max_age`, in
    timestamp units (10,000,000: 10 s, for sensors that report every few seconds).

    Input stream handler: `FreshReadings`, so results do not depend on the order of arrival.

    Services: `CALIBRATION`, for the thresholds.

    Counters: "undecided", the ticks without a result.

    Raises when the graph is loaded: InvalidArgumentError without a sensor, and for more votes than sensors
    or fewer than 1. In `open`: NotFoundError for a room that the calibration does not know.

    Example config::

        node {
          calculator: "RoomPresenceCalculator"
          input_stream: "LOUDNESS:microphone"
          input_stream: "BRIGHTNESS:light_sensor"
          input_stream: "TICK:frames"
          output_stream: "PRESENCE:presence"
        }
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the sensors, the tick, and the verdict."""
        microphones, light_sensors = cc.inputs.count("LOUDNESS"), cc.inputs.count("BRIGHTNESS")
        for index in range(microphones):
            cc.inputs["LOUDNESS", index].set(float, "loudness in dB")
        for index in range(light_sensors):
            cc.inputs["BRIGHTNESS", index].set(int, "brightness in lux")
        cc.inputs["TICK"].set_any("when to send a verdict")
        cc.outputs["PRESENCE"].set(RoomPresence, "whether a person is there, at each tick")
        cc.use_service(CALIBRATION)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True)
        options = cc.options(RoomPresenceCalculatorOptions)
        cc.set_input_stream_handler(
            "FreshReadings", FreshReadingsOptions(tick="TICK", max_age=options.max_age)
        )
        _check_votes(options.votes, microphones + light_sensors, cc.node_name)

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Look up the thresholds."""
        options = cc.options(RoomPresenceCalculatorOptions)
        self._needed: int = options.votes
        self._thresholds: RoomThresholds = cc.service(CALIBRATION).thresholds_of(options.room)
        self._undecided = cc.counter("undecided")

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Count the votes of the fresh readings."""
        votes = [*self._votes(cc, "LOUDNESS"), *self._votes(cc, "BRIGHTNESS")]
        if len(votes) < self._needed:
            self._undecided.increment()
            return
        presence = RoomPresence(sum(votes) >= self._needed, sum(votes), len(votes))
        cc.outputs["PRESENCE"].add(presence, cc.input_timestamp)

    def _votes(self, cc: penstock.CalculatorContext, tag: str) -> list[bool]:
        ports = [cc.inputs[tag, index] for index in range(cc.inputs.count(tag))]
        readings = [port.payload for port in ports if not port.is_empty()]
        return [self._suggests_somebody(tag, reading) for reading in readings]

    def _suggests_somebody(self, tag: str, reading: Any) -> bool:
        if tag == "LOUDNESS":
            return bool(reading >= self._thresholds.loud_from_db)
        return bool(reading >= self._thresholds.dark_below_lux)


def _check_votes(votes: int, sensors: int, node: str) -> None:
    if not 1 <= votes <= sensors:
        raise InvalidArgumentError(
            f"node {node!r}: votes is {votes}, but must be 1 up to the number of sensors, {sensors}; change "
            "it in RoomPresenceCalculatorOptions, or connect more sensors",
            node=node,
        )
