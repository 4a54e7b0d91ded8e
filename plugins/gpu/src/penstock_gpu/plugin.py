"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl
from penstock_gpu.components import CALCULATORS, OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck


@hookimpl
def penstock_components() -> Components:
    """Return the calculators, options and services by name."""
    return Components(calculators=CALCULATORS, options=OPTIONS, services={"gpu": "penstock_gpu.service:GPU"})


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Check OpenGL: the renderer, the devices, and what is missing."""
    from penstock_gpu.health import checks  # only for the doctor

    return checks()
