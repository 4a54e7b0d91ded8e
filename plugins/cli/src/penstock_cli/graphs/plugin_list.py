"""`penstock plugins`: every plugin that was found, and whether it was loaded."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

import click

from penstock_cli.machine.engine import engine_words
from penstock_cli.machine.environment import FOR_MOST, in_this_environment
from penstock_cli.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.plugins.discovery import Discovered

_COLOURS: Final = {"loaded": "green", "failed": "bold red", "blocked": "yellow", "ignored": "yellow"}
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110


def as_json(records: Iterable[Discovered]) -> str:
    """Return the records as a JSON list of objects, their fields as in `Discovered`."""
    return json.dumps([_as_dict(record) for record in records], indent=2)


def print_records(records: Iterable[Discovered], *, tracebacks: bool = False) -> None:
    """Print which engine runs, a table of records, and if requested the tracebacks of failed plugins."""
    records = list(records)
    click.echo(f"engine: {engine_words()}")
    if not records:
        click.echo(f"no plugins are installed; most graphs need these: {in_this_environment(FOR_MOST)}")
        return
    _print_table(records)
    failed = [record for record in records if record.state == "failed"]
    if failed and not tracebacks:
        click.echo(f"{plural(len(failed), 'plugin')} failed; penstock plugins --debug shows how")
    for record in failed if tracebacks else ():
        click.echo(f"{record.name} of {record.distribution}:\n{record.traceback}", err=True)


def _as_dict(record: Discovered) -> dict[str, object]:
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "module": record.module,
        "state": record.state,
        "reason": record.reason,
        "traceback": record.traceback,
        "components": dict(record.components),
    }


def _print_table(records: Iterable[Discovered]) -> None:
    from rich import box  # rich takes longer to import than all the rest
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # text of plugins is not markup

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("plugin", no_wrap=True)
    table.add_column("distribution", overflow="fold")
    table.add_column("state", no_wrap=True)
    table.add_column("what it provides, or why it is missing", overflow="fold")
    for record in records:
        distribution = f"{record.distribution} {record.version}".strip()
        table.add_row(
            Text(record.name),
            Text(distribution),
            Text(record.state, style=_COLOURS[record.state]),
            Text(record.reason or _provides(record)),
        )
    Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH).print(table)


def _provides(record: Discovered) -> str:
    counts = [plural(count, kind) for kind, count in record.components.items()]
    return ", ".join(counts) or "no components"
