"""A bus with sensors on it, as a service of a graph: who talks to it runs on its thread.

The application brings the driver and hands the bus in: `graph.set_service(SENSOR_BUS, SensorBus(...))`. A
calculator says `cc.run_on(SENSOR_BUS)` in its contract, and `cc.service(SENSOR_BUS).read(address)` when it
runs. So the driver needs no lock, and a graph file names addresses and never a device.
"""

from __future__ import annotations

import threading
from typing import Final, Protocol

from penstock import ServiceKey
from penstock.errors import FailedPreconditionError
from penstock_room_sensors.bus_executor import OPEN_TIMEOUT_S, SensorBusExecutor


class SensorDriver(Protocol):
    """What talks to the hardware. All calls come on one thread, one at a time."""

    def open(self) -> None:
        """Get hold of the device, at the beginning of a run."""

    def read(self, address: int) -> float:
        """Return what a sensor reads now, as it says it.

        Raises:
            TimeoutError: the sensor did not answer; others may. Anything else ends the run.
        """

    def close(self) -> None:
        """Let go of the device, at the end of a run: once for each `open` that returned."""


class SensorBus:
    """A bus, and the thread of each run that talks to it. Serves one run at a time.

    Args:
        name: for threads and messages.
        driver: of the bus; borrowed for as long as a graph has the bus.
        quiet_us, open_timeout_s: see `SensorBusExecutor`.

    Raises:
        InvalidArgumentError: a number makes no sense.
    """

    def __init__(
        self, name: str, driver: SensorDriver, quiet_us: int = 0, *, open_timeout_s: float = OPEN_TIMEOUT_S
    ) -> None:
        self.name: Final = name
        self._driver: Final = driver
        self._thread: threading.Thread | None = None
        self._executor: Final = SensorBusExecutor(quiet_us, self, open_timeout_s=open_timeout_s)

    def executor_for(self, node: str) -> SensorBusExecutor:  # noqa: ARG002  # all nodes share the bus
        """Return the executor of all nodes that ask to run on the bus."""
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
        """Return what a sensor reads now, as it says it.

        Raises:
            FailedPreconditionError: the bus is not open, or not called on its own thread; nothing has been
                sent.
            TimeoutError: the sensor did not answer.
        """
        current, own = threading.current_thread(), self._thread
        if current is not own:
            where = "is not open" if own is None else f"belongs to thread {own.name!r}"
            raise FailedPreconditionError(
                f"sensor bus {self.name!r}: address {address} is read on thread {current.name!r}, but the "
                f"bus {where}; ask for cc.run_on(SENSOR_BUS) in get_contract"
            )
        return self._driver.read(address)


#: The bus of a graph. There is none but what the application sets: nobody can guess a device.
SENSOR_BUS: Final[ServiceKey[SensorBus]] = ServiceKey("penstock-room-sensors.bus")
