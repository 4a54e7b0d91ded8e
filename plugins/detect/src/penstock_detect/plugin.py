"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl
from penstock_detect.components import CALCULATORS, SUBGRAPHS

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and subgraphs by name."""
    return Components(calculators=CALCULATORS, subgraphs=SUBGRAPHS)


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `detect`."""
    from penstock_detect.commands import detect_command  # only for the command line

    group.add_command(detect_command)
