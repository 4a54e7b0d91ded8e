"""What the pack contributes: the command `penstock lint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `lint`."""
    from penstock_lint.commands import lint_command  # only for the command line

    group.add_command(lint_command)
