"""Whether a room is loud and dark, from two sensors that report at any time."""

from __future__ import annotations

from typing import cast

import attrs

import penstock
from penstock_room_sensors.calibration import CALIBRATION
from penstock_room_sensors.messages.options_pb2 import RoomStateCalculatorOptions


@attrs.frozen
class RoomState:
    """The state of a room by the last readings. Equal states are equal values."""

    is_loud: bool
    is_dark: bool


class RoomStateCalculator(penstock.Calculator):
    """Send the state of a room whenever it becomes loud or quiet, dark or bright.

    It keeps the last reading of each sensor, and sends the state at the timestamp of the reading that
    changes it. Before both have reported once there is no state, and nothing is sent. The timestamp bound
    of the output follows the inputs, so nodes below never wait for a room whose state does not change.

    Inputs:
        LOUDNESS: float, dB.
        BRIGHTNESS: int, lux.

    Outputs:
        STATE: `RoomState`.

    Side packets, both optional, which override the service:
        LOUD_FROM_DB: float; from this loudness on the room is loud.
        DARK_BELOW_LUX: int; below this brightness the room is dark.

    Options `RoomStateCalculatorOptions`: `room`, the name of the thresholds.

    Services: `CALIBRATION`, for the thresholds; 70 dB and 50 lux if the application does not set it.

    Raises in `open`: NotFoundError for a room that the calibration does not know.

    Example config::

        node {
          calculator: "RoomStateCalculator"
          input_stream: "LOUDNESS:microphone"
          input_stream: "BRIGHTNESS:light_sensor"
          output_stream: "STATE:room_state"
        }
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare two readings and the state."""
        cc.inputs["LOUDNESS"].set(float, "loudness in dB")
        cc.inputs["BRIGHTNESS"].set(int, "brightness in lux")
        cc.outputs["STATE"].set(RoomState, "the state of the room, whenever it changes")
        cc.input_side_packets["LOUD_FROM_DB"].set(float, "loud from here on, dB").optional()
        cc.input_side_packets["DARK_BELOW_LUX"].set(int, "dark below this, lux").optional()
        cc.use_service(CALIBRATION)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Look up the thresholds; there is no reading yet."""
        room = cc.options(RoomStateCalculatorOptions).room
        thresholds = cc.service(CALIBRATION).thresholds_of(room)
        self._loud_from = _given(cc, "LOUD_FROM_DB", thresholds.loud_from_db)
        self._dark_below = _given(cc, "DARK_BELOW_LUX", thresholds.dark_below_lux)
        self._loudness: float | None = None
        self._brightness: int | None = None
        self._sent: RoomState | None = None

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Store the readings of this timestamp, one or both, and send the state if it has changed."""
        if not cc.inputs["LOUDNESS"].is_empty():
            self._loudness = cc.inputs["LOUDNESS"].payload
        if not cc.inputs["BRIGHTNESS"].is_empty():
            self._brightness = cc.inputs["BRIGHTNESS"].payload
        if self._loudness is None or self._brightness is None:
            return
        state = RoomState(self._loudness >= self._loud_from, self._brightness < self._dark_below)
        if state != self._sent:
            self._sent = state
            cc.outputs["STATE"].add(state, cc.input_timestamp)


def _given(cc: penstock.CalculatorContext, tag: str, otherwise: float) -> float:
    """Return a side packet's payload, or `otherwise` if it is not connected or not given."""
    if tag not in cc.input_side_packets or cc.input_side_packets[tag].is_empty():
        return otherwise
    return cast("float", cc.input_side_packets[tag].payload)
