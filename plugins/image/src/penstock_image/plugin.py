"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl
from penstock_image.components import CALCULATORS, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and options by name."""
    return Components(calculators=CALCULATORS, options=OPTIONS)


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check whether OpenCV can be imported, and whether it is installed only once."""
    from penstock_image.health import checks  # only when the doctor runs

    return checks()
