"""What the live page brings: no components, but options of the commands that run graphs, and what they do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from penstock import Components, hookimpl

if TYPE_CHECKING:
    import click

    from penstock_cli.api import RunningCommand

#: Loaded where there is a command line, and only there.
_COMMAND_LINE = "penstock_live.serve_options"


@hookimpl
def penstock_components() -> Components:
    """Return the components by name."""
    return Components()


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add `--watch` to `penstock show`."""
    show = group.commands.get("show")
    if show is not None:
        from penstock_live.watching import watch_option  # only for the command line

        show.params.append(watch_option())


@hookimpl
def penstock_run_options(command: RunningCommand) -> None:
    """Add `--serve` and what belongs to it."""
    from penstock_live.serve_options import options, prepare  # only for the command line

    command.params += options()
    command.preparations.append(prepare)


@hookimpl
def penstock_run_prepared(graph: Any) -> None:
    """Serve the graph of a command with `--serve`, and print where."""
    if _COMMAND_LINE in sys.modules:
        sys.modules[_COMMAND_LINE].serve_run(graph)


@hookimpl
def penstock_run_ended(graph: Any, error: BaseException | None) -> None:
    """Note how the run of that graph has ended."""
    if _COMMAND_LINE in sys.modules:
        sys.modules[_COMMAND_LINE].note_end(graph, error)
