"""What the metrics bring: no components, but options of the commands that run graphs, and hooks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from penstock import Components, hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components()


@hookimpl
def penstock_run_options(command: click.Command) -> None:
    """Add the options `--metrics` and `--metrics-on`."""
    from penstock_metrics.command_line import OPTIONS  # only for the command line

    command.params.extend(OPTIONS)


@hookimpl
def penstock_run_prepared(graph: Any) -> None:
    """Give the graph of a command to what its options, or OpenTelemetry's variables, ask for."""
    if "click" in sys.modules:  # else the program is no command, and need not import it
        from penstock_metrics.command_line import prepare

        prepare(graph)


@hookimpl
def penstock_run_ended(graph: Any) -> None:
    """Read the last numbers of a run that someone follows."""
    followed = sys.modules.get("penstock_metrics.followed")
    if followed is not None and graph is not None:
        followed.run_has_ended(graph)
