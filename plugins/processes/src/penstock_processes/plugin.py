"""What this pack adds to Penstock, by name; importing this module imports no other module of the pack."""

from __future__ import annotations

from penstock import Components, hookimpl


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
