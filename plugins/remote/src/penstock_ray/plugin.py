"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import DoctorCheck


@hookimpl
def penstock_components() -> Components:
    """Return the executor and its options: names to "module:attribute", imported on first use."""
    return Components(
        executors={"RayExecutor": "penstock_ray.ray_executor:RayExecutor"},
        options={
            "penstock_ray.RayExecutorOptions": (
                "penstock.MediaPipeOptions",
                517000002,
                "penstock_ray.options:RayExecutorOptions",
            ),
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Say which Ray there is, and whether a cluster is at hand."""
    from penstock_ray.health import checks  # only when the doctor runs

    return checks()
