"""The options that all commands that run a graph share, those of other packs too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from penstock_cli.byte_size import read_size
from penstock_cli.options import debug_option

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")

_LEVELS: Final = ("debug", "info", "warning", "error")


def refuse_nan(_ctx: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN, which passes click's range check because every comparison with it is false."""
    if value is not None and value != value:  # noqa: PLR0124  # true for NaN only; saves importing `math`
        raise click.BadParameter(f"{value} is not in the range x>0.")
    return value


def run_options(command: F) -> F:
    """Add the options that all commands that run a graph share; they are `read_manner`'s arguments."""
    for option in (
        debug_option,
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            callback=refuse_nan,
            metavar="SECONDS",
            help="Cancel the run after this time, report what it waited for, and exit with 1.",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Print only errors."),
        click.option(
            "--trace",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Write a trace of the run, as JSON that https://ui.perfetto.dev shows (nothing is "
            "uploaded): steps by thread, packets as arrows, lengths of queues. If FILE ends with "
            ".pftrace, in Perfetto's own, smaller format.",
        ),
        click.option(
            "--strict",
            is_flag=True,
            help="Exit with 1 if there is a note on the run: a node never ran, or packets were dropped.",
        ),
        click.option(
            "--max-memory",
            callback=read_size,
            metavar="SIZE",
            help="Let the run fail if packets that wait in queues take more, such as 200MB; none for no "
            "limit.  [default: half of the machine's memory]",
        ),
        click.option("--no-progress", is_flag=True, help="Show no progress, only the summary."),
        click.option(
            "--log-level",
            type=click.Choice(_LEVELS),
            help="Show the library's log from this level on, with logger, node, stream and timestamp.",
        ),
        click.option("-v", "--verbose", is_flag=True, help="The same as --log-level info."),
    ):
        command = option(command)
    return command
