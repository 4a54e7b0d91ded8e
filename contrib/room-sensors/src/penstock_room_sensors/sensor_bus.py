"""A bus with sensors, as a service of a graph: calculators that use it run on its thread.

The application provides the driver and sets the bus: `graph.set_service(SENSOR_BUS, SensorBus(...))`. A
calculator declares `cc.run_on(SENSOR_BUS)` in its contract, and calls `cc.service(SENSOR_BUS).read(address)`
when it runs. So the driver needs no lock, and a graph file names addresses but never a device.
"""

from __future__ import annotations

import threading
from typing import Final, Protocol

from penstock import ServiceKey
from penstock.errors import FailedPreconditionError
from penstock_room_sensors.bus_executor import OPEN_TIMEOUT_S, SensorBusExecutor


class SensorDriver(Protocol):
    """The driver of the hardware. It is called on one thread, one call at a time."""

    def open(self) -> None:
        """Open the device, at the beginning of a run."""

    def read(self, address: int) -> float:
        """Return a sensor's present reading, not corrected.

        Raises:
            TimeoutError: the sensor did not answer; others may. Any other exception ends the run.
        """

    def close(self) -> None:
        """Close the device, at the end of a run: once for each `open` that returned."""


class SensorBus:
    """A bus, and the thread on which each run uses it. Serves one run at a time.

    Args:
        name: for thread names and messages.
        driver: of the bus; borrowed for as long as a graph has the bus.
        quiet_us, open_timeout_s: see `SensorBusExecutor`.

    Raises:
        InvalidArgumentError: quiet_us or open_timeout_s is out of its range.
    """

    def __init__(
        self, name: str, driver: SensorDriver, quiet_us: int = 0, *, open_timeout_s: float = OPEN_TIMEOUT_S
    ) -> None:
        self.name: Final = name
        self._driver: Final = driver
        self._thread: threading.Thread | None = None
        self._executor: Final = SensorBusExecutor(quiet_us, self, open_timeout_s=open_timeout_s)

    def executor_for(self, node: str) -> SensorBusExecutor:  # noqa: ARG002  # all nodes share the bus
        """Return the executor of all nodes that declare to run on the bus."""
        return self._executor

    def open(self) -> None:
        """Open the driver. The executor calls this."""
        self._driver.open()
        self._thread = threading.current_thread()

    def close(self) -> None:
        """Close the driver. The executor calls this."""
        self._thread = None
        self._driver.close()

    def read(self, address: int) -> float:
        """Return a sensor's present reading, not corrected.

        Raises:
            FailedPreconditionError: the bus is not open, or this is not its thread; the driver was not
                called.
            TimeoutError: the sensor did not answer.
        """
        current, own = threading.current_thread(), self._thread
        if current is not own:
            where = "is not open" if own is None else f"belongs to thread {own.name!r}"
            raise FailedPreconditionError(
                f"sensor bus {self.name!r}: address {address} is read on thread {current.name!r}, but the "
                f"bus {where}; declare cc.run_on(SENSOR_BUS) in get_contract"
            )
        return self._driver.read(address)


#: The bus of a graph. It has no default, because the device is unknown: the application must set it.
SENSOR_BUS: Final[ServiceKey[SensorBus]] = ServiceKey("penstock-room-sensors.bus")
