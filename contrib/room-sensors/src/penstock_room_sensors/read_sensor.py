"""The readings of one sensor on a bus, one for each tick."""

from __future__ import annotations

import penstock
from penstock.errors import InvalidArgumentError
from penstock_room_sensors.calibration import CALIBRATION
from penstock_room_sensors.messages.options_pb2 import ReadSensorCalculatorOptions
from penstock_room_sensors.sensor_bus import SENSOR_BUS


class ReadSensorCalculator(penstock.Calculator):
    """Read a sensor on the graph's bus at each tick.

    All such nodes of a graph run on the thread of its bus, one at a time. If a sensor does not answer (the
    driver raises TimeoutError), there is no reading at that tick; the timestamp bound still advances, so
    nodes below do not wait for it. Timestamp offset 0.

    Inputs:
        TICK: any payload; only its timestamp matters. A bus is slow: put a FlowLimiterCalculator before.

    Outputs:
        READING: float, in the sensor's unit, corrected: gain times the sensor's reading, plus offset.

    Options `ReadSensorCalculatorOptions`: `address`, on the bus, required; `sensor`, the name under which
    the service `CALIBRATION` has the correction; without it, readings are not corrected.

    Services: `SENSOR_BUS`, which the application must set; `CALIBRATION`.

    Counters: "unanswered", the ticks at which the sensor did not answer.

    Raises when the graph is loaded: InvalidArgumentError without `address`. In `open`: NotFoundError for
    a sensor that the calibration does not know. In `process`: any exception of the driver.

    Example config::

        node {
          calculator: "ReadSensorCalculator"
          input_stream: "TICK:tick"
          output_stream: "READING:celsius"
          node_options {
            [type.googleapis.com/penstock_room_sensors.ReadSensorCalculatorOptions] { address: 17 }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare the tick, the reading, and that the node runs on the bus."""
        cc.inputs["TICK"].set_any("when to read")
        cc.outputs["READING"].set(float, "what the sensor reads, corrected")
        cc.use_service(CALIBRATION)
        cc.run_on(SENSOR_BUS)
        cc.set_timestamp_offset(0)
        cc.declare(may_skip=True, stateless=True, cost="high")  # a sensor may not answer
        if not cc.options(ReadSensorCalculatorOptions).HasField("address"):
            raise InvalidArgumentError(
                f"node {cc.node_name!r}: address is missing; say in ReadSensorCalculatorOptions which sensor "
                "it reads"
            )

    def open(self, cc: penstock.CalculatorContext) -> None:
        """Look up the bus and the sensor's calibration."""
        options = cc.options(ReadSensorCalculatorOptions)
        self._address: int = options.address
        self._calibration = cc.service(CALIBRATION).of(options.sensor)
        self._bus = cc.service(SENSOR_BUS)
        self._unanswered = cc.counter("unanswered")

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Read the sensor once."""
        try:
            said = self._bus.read(self._address)
        except TimeoutError:
            self._unanswered.increment()
            return
        cc.outputs["READING"].add(self._calibration.corrected(said), cc.input_timestamp)
