"""What the pack contributes: the command `penstock format`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `format`."""
    from penstock_format.commands import format_command  # only for the command line

    group.add_command(format_command)
