"""The tests of this pack run against the installed wheel, not against the source tree."""

from __future__ import annotations

import importlib.metadata
import json
import sysconfig
from pathlib import Path

import pytest

import penstock
import penstock_room_sensors
from penstock.packs import default_registry

DISTRIBUTION = "penstock-room-sensors"


def test_the_pack_is_imported_from_where_wheels_are_installed():
    place = Path(penstock_room_sensors.__file__).resolve()

    assert place.is_relative_to(Path(sysconfig.get_path("purelib")).resolve()), (
        f"{place} is a source tree; these tests are for the installed wheel: tox run -e dist-room-sensors"
    )


def test_it_is_not_an_editable_installation():
    origin = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"

    assert not json.loads(origin).get("dir_info", {}).get("editable", False)


def test_the_wheel_has_its_graph_its_messages_and_its_types():
    files = {path.as_posix() for path in importlib.metadata.files(DISTRIBUTION)}

    for name in (
        "room.pbtxt",
        "py.typed",
        *(f"messages/options{end}" for end in (".proto", "_pb2.py", "_pb2.pyi")),
    ):
        assert f"penstock_room_sensors/{name}" in files, name
    assert [name for name in files if name.endswith("licenses/LICENSE")]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("calculator", "ReadSensorCalculator"),
        ("calculator", "RoomPresenceCalculator"),
        ("calculator", "RoomStateCalculator"),
        ("calculator", "SensorFusionCalculator"),
        ("input stream handler", "FreshReadings"),
        ("executor", "SensorBusExecutor"),
        ("subgraph", "RoomSubgraph"),
        ("service", "penstock-room-sensors.bus"),
        ("service", "penstock-room-sensors.calibration"),
    ],
)
def test_each_name_is_found_through_the_entry_point_with_its_distribution(kind, name):
    registry = default_registry()

    found = registry.find(kind, name)

    assert registry.origin(kind, name).distribution == DISTRIBUTION
    assert kind != "service" or found == penstock.ServiceKey(name)
