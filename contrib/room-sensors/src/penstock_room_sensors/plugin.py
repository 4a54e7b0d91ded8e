"""What this pack adds to Penstock, by name; importing it imports nothing of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the one calculator."""
    return Components(
        calculators={"RoomStateCalculator": "penstock_room_sensors.room_state:RoomStateCalculator"}
    )
