"""What the pack adds to Penstock, by name; importing this module imports none of its components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import Components, hookimpl
from penstock_ros.components import CALCULATORS

if TYPE_CHECKING:
    import click


@hookimpl
def penstock_components() -> Components:
    """Return the calculators by name."""
    return Components(calculators=CALCULATORS)


@hookimpl
def penstock_cli(group: click.Group) -> None:
    """Add the command `bag`."""
    from penstock_ros.command_line import bag_command  # only for the command line

    group.add_command(bag_command)
