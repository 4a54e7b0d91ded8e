"""What the pack contributes: the command `penstock language-server`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import hookimpl

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `language-server`."""
    from penstock_editor.commands import language_server_command  # only for the command line

    group.add_command(language_server_command)
