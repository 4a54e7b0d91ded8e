"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from penstock import Components, hookimpl
from penstock_kafka.components import CALCULATORS


@hookimpl
def penstock_components() -> Components:
    """Return the calculators by name."""
    return Components(calculators=CALCULATORS)
