"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import Components, hookimpl

if TYPE_CHECKING:
    import click

_PACK: Final = "penstock_room_sensors"
_OF_CALCULATORS: Final = "penstock.CalculatorOptions"
_OF_OTHERS: Final = "penstock.MediaPipeOptions"
#: Message → what it extends, and the number of its extension there.
_OPTIONS: Final = {
    "RoomStateCalculatorOptions": (_OF_CALCULATORS, 30500),
    "RoomPresenceCalculatorOptions": (_OF_CALCULATORS, 30501),
    "SensorFusionCalculatorOptions": (_OF_CALCULATORS, 30502),
    "ReadSensorCalculatorOptions": (_OF_CALCULATORS, 30503),
    "FreshReadingsOptions": (_OF_OTHERS, 30504),
    "SensorBusExecutorOptions": (_OF_OTHERS, 30505),
    "RoomSubgraphOptions": (_OF_CALCULATORS, 30506),
}


@hookimpl
def penstock_components() -> Components:
    """Return all components: names to "module:attribute", imported on first use."""
    return Components(
        calculators={
            "ReadSensorCalculator": f"{_PACK}.read_sensor:ReadSensorCalculator",
            "RoomPresenceCalculator": f"{_PACK}.room_presence:RoomPresenceCalculator",
            "RoomStateCalculator": f"{_PACK}.room_state:RoomStateCalculator",
            "SensorFusionCalculator": f"{_PACK}.sensor_fusion:SensorFusionCalculator",
        },
        input_stream_handlers={"FreshReadings": f"{_PACK}.fresh_readings:FreshReadings"},
        executors={"SensorBusExecutor": f"{_PACK}.bus_executor:SensorBusExecutor"},
        subgraphs={"RoomSubgraph": f"{_PACK}:room.pbtxt"},
        services={
            "penstock-room-sensors.bus": f"{_PACK}.sensor_bus:SENSOR_BUS",
            "penstock-room-sensors.calibration": f"{_PACK}.calibration:CALIBRATION",
        },
        options={
            f"{_PACK}.{name}": (extendee, number, f"{_PACK}.messages.options_pb2:{name}")
            for name, (extendee, number) in _OPTIONS.items()
        },
    )


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `penstock room`."""
    from penstock_room_sensors.command_line import room_command  # only for the command line

    group.add_command(room_command)
