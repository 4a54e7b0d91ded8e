"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from penstock import Components, hookimpl
from penstock_rerun.components import CALCULATORS

if TYPE_CHECKING:
    from penstock_cli.api import RunningCommand

#: Loaded where there is a command line, and only there.
_COMMAND_LINE = "penstock_rerun.command_line"


@hookimpl
def penstock_components() -> Components:
    """Return the calculator by name."""
    return Components(calculators=CALCULATORS)


@hookimpl
def penstock_run_options(command: RunningCommand) -> None:
    """Add `--rerun`."""
    from penstock_rerun.command_line import options, prepare  # only for the command line

    command.params += options()
    command.preparations.append(prepare)


@hookimpl
def penstock_run_prepared(graph: Any) -> None:
    """Log the streams of the graph of a command with `--rerun`."""
    if _COMMAND_LINE in sys.modules:
        sys.modules[_COMMAND_LINE].log_run(graph)
