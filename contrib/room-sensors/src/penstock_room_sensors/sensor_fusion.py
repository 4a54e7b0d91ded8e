"""One estimate from the readings of several sensors that measure the same quantity."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock_room_sensors.calibration import CALIBRATION
from penstock_room_sensors.kalman import Estimate, RandomWalkFilter
from penstock_room_sensors.messages.options_pb2 import SensorFusionCalculatorOptions

if TYPE_CHECKING:
    from penstock_room_sensors.calibration import RoomCalibration


class SensorFusionCalculator(penstock.Calculator):
    """Estimate one quantity from all readings of it, weighted by the noise of each sensor.

    Sensors report at any time. At each timestamp with readings the filter first adds the drift since the
    last one, then uses the readings in the order of the inputs, and the estimate is sent: a Kalman filter,
    see `kalman`. With `drift_variance_per_s: 0` the estimate is the mean of all readings so far, weighted
    by 1 / variance. A reading that is not finite, or that the gate refuses, is not used; a timestamp at
    which no reading is used sends nothing. Timestamp offset 0.

    Inputs:
        READING: float, READING:1 and so on; all of one quantity, corrected, in one unit.

    Outputs:
        ESTIMATE: `Estimate`, value and variance.

    Options `SensorFusionCalculatorOptions`: `sensor`, the name of the sensor of each input, for its noise
    (without names, all have that of the sensor ""); `drift_variance_per_s` (0: the quantity does not
    change); `gate_sigmas` (0: every reading is used). With a gate and no drift, readings after a change of
    the quantity are refused.

    Services: `CALIBRATION`, for `noise_variance`.

    Counters: "refused", the readings that were not used.

    Raises when the graph is loaded: InvalidArgumentError for a negative or infinite number, or not one name
    for each input. In `open`: NotFoundError for a sensor that the calibration does not know.

    Example config::

        node {
          calculator: "SensorFusionCalculator"
          input_stream: "READING:0:celsius_by_the_door"
          input_stream: "READING:1:celsius_by_the_window"
          output_stream: "ESTIMATE:celsius"
          node_options {
            [type.googleapis.com/penstock_room_sensors.SensorFusionCalculatorOptions] {
              drift_variance_per_s: 0.001
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare any number of readings, and one estimate."""
        count = cc.inputs.count("READING")
        for index in range(max(1, count)):
            cc.inputs["READING", index].set(float, "readings of one sensor")
        cc.outputs["ESTIMATE"].set(Estimate, "the estimate from all readings so far")
        cc.use_service(CALIBRATION)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=False)
        _check(cc.options(SensorFusionCalculatorOptions), count, cc.node_name)

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Look up the sensors' noise; there is no estimate yet."""
        options = cc.options(SensorFusionCalculatorOptions)
        count = cc.inputs.count("READING")
        calibration: RoomCalibration = cc.service(CALIBRATION)
        names = list(options.sensor) or [""] * count
        self._sensors = [
            (cc.inputs["READING", index], calibration.of(name).noise_variance)
            for index, name in enumerate(names)
        ]
        self._filter = RandomWalkFilter(options.drift_variance_per_s, options.gate_sigmas)
        self._at: int | None = None
        self._refused = cc.counter("refused")

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Add the drift, use the readings of this timestamp, and send the estimate."""
        now = int(cc.input_timestamp)
        if self._at is not None:
            self._filter.wait((now - self._at) / 1e6)
        self._at = now
        used = False
        for port, noise_variance in self._sensors:
            if port.is_empty():
                continue
            if self._filter.take(port.payload, noise_variance):
                used = True
            else:
                self._refused.increment()
        if used:
            cc.outputs["ESTIMATE"].add(self._filter.estimate, cc.input_timestamp)


def _check(options: SensorFusionCalculatorOptions, count: int, node: str) -> None:
    """Refuse invalid options.

    Raises:
        InvalidArgumentError: the number of names is neither 0 nor that of the inputs, or a number is
            negative or infinite.
    """
    if options.sensor and len(options.sensor) != count:
        raise InvalidArgumentError(
            f"node {node!r}: sensor has {len(options.sensor)} names, but there are {count} inputs READING; "
            "name each sensor once, in the order of the inputs, or none",
            node=node,
        )
    for field in ("drift_variance_per_s", "gate_sigmas"):
        value: float = getattr(options, field)
        if not 0 <= value < math.inf:
            raise InvalidArgumentError(
                f"node {node!r}: {field} of the sensor fusion is {value:g}, but must be 0 or more, and "
                "finite",
                node=node,
            )
