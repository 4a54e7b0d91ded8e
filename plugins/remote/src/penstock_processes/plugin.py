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
        executors={"ProcessExecutor": "penstock_processes.process_executor:ProcessExecutor"},
        options={
            "penstock_processes.ProcessExecutorOptions": (
                "penstock.MediaPipeOptions",
                517000001,
                "penstock_processes.options:ProcessExecutorOptions",
            ),
        },
    )


@hookimpl
def penstock_doctor() -> Iterable[DoctorCheck]:
    """Start a worker, and say what a round trip costs."""
    from penstock_processes.health import checks  # only when the doctor runs

    return checks()
