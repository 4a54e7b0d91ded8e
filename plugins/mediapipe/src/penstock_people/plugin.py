"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl
from penstock_people.components import CALCULATORS, SUBGRAPHS

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and subgraphs by name."""
    return Components(calculators=CALCULATORS, subgraphs=SUBGRAPHS)


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the commands `hands`, `faces` and `pose`."""
    from penstock_people.commands import (  # only for the command line
        faces_command,
        hands_command,
        pose_command,
    )

    for command in (hands_command, faces_command, pose_command):
        group.add_command(command)
