"""The summary of a finished run, on stdout: a table of its nodes, and totals."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Final

import click

from penstock.error_text import printable
from penstock_cli.runs.meter import busiest
from penstock_cli.runs.notes import notes, shown
from penstock_cli.wording import amount, duration, plural, rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from penstock.explain import NodeState
    from penstock_cli.runs.watch import Outcome

#: Rows of the table; of a larger graph it shows the nodes that took longest.
_ROWS: Final = 40
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110
#: Columns of numbers in the table, on a wide and on a narrow terminal.
_NUMBERS: Final = ("steps", "time", "per step", "of wall")
_FEW_NUMBERS: Final = ("time", "of wall")
#: A terminal with fewer columns is narrow: all numbers and the calculators would leave no room for names.
_NARROW: Final = 60


def print_summary(outcome: Outcome, *, with_notes: bool = True) -> None:
    """Print the time of each node, totals, and notes unless they are printed elsewhere."""
    _print_nodes(outcome)
    for line in totals(outcome):
        click.echo(line)
    if with_notes:
        for note in shown(outcome):
            click.echo(f"note: {note}")


def as_json(outcome: Outcome, written: Iterable[tuple[Path, int]]) -> str:
    """Return the summary of a run as a JSON object.

    Times are in seconds: `wall_s`, `cpu_s` of all threads, and `busy_s` of each node. `streams` have
    the numbers of packets written and dropped, and for each place and reason how many were dropped;
    `notes` are those of the summary as text; `files` are the files named by side packets that the run
    wrote, with their sizes in bytes.
    """
    snapshot = outcome.snapshot
    said = {
        "wall_s": outcome.wall_s,
        "cpu_s": outcome.cpu_s,
        "was_interrupted": outcome.was_interrupted,
        "packets": sum(stream.added for stream in snapshot.streams),
        "dropped": sum(stream.dropped for stream in snapshot.streams),
        "nodes": [
            {"name": node.name, "calculator": node.calculator, "steps": node.steps, "busy_s": node.busy_s}
            for node in snapshot.nodes
        ],
        "streams": [
            {
                "name": stream.name,
                "packets": stream.added,
                "dropped": stream.dropped,
                "drops": [
                    {"place": drop.place, "reason": drop.reason, "count": drop.count}
                    for drop in account.drops
                ],
            }
            for stream, account in zip(snapshot.streams, outcome.ledger.streams, strict=True)
        ],
        "notes": notes(outcome),
        "files": [{"path": str(path), "bytes": size} for path, size in written],
    }
    return json.dumps(said, indent=2)


def totals(outcome: Outcome) -> list[str]:
    """Return the lines below the table."""
    streams = outcome.snapshot.streams
    top = busiest(outcome.snapshot)
    took = f"in {duration(outcome.wall_s)}"
    lines = [f"no packets {took}"]
    if top is not None:
        per_second = rate(top.added / outcome.wall_s)
        lines = [f"{plural(top.added, 'packet')} on {top.name!r} {took}: {per_second}"]
    everything = plural(sum(stream.added for stream in streams), "packet")
    dropped = sum(stream.dropped for stream in streams)
    cores = f"{outcome.cpu_s / outcome.wall_s:.1f} of {plural(os.cpu_count() or 1, 'core')}"
    lines.append(f"{everything} in all, {dropped} dropped; {cores} busy")
    return lines


def files(written: Iterable[tuple[Path, int]]) -> str:
    """Return written files, pairs of path and bytes, as text: "out.mp4 (1.2 MB)"."""
    return ", ".join(f"{path} ({amount(size)})" for path, size in written)


def _print_nodes(outcome: Outcome) -> None:
    from rich import box  # rich takes longer to import than all the rest
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # names are not markup

    nodes = _shown(outcome.snapshot.nodes)
    console = Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH)
    is_narrow = console.width < _NARROW
    is_named = not is_narrow and any(node.name != node.calculator for node in nodes)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("node", overflow="fold")
    if is_named:
        table.add_column("calculator", overflow="fold")
    headings = _FEW_NUMBERS if is_narrow else _NUMBERS
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for node in nodes:
        names = [printable(one) for one in ((node.name, node.calculator) if is_named else (node.name,))]
        numbers = _numbers(node, outcome.wall_s)
        table.add_row(*map(Text, [*names, *(numbers[heading] for heading in headings)]))
    console.print(table)
    if len(nodes) < len(outcome.snapshot.nodes):
        click.echo(f"{plural(len(outcome.snapshot.nodes) - len(nodes), 'more node')} took less time")


def _shown(nodes: Sequence[NodeState]) -> Sequence[NodeState]:
    if len(nodes) <= _ROWS:
        return nodes
    slowest = sorted(nodes, key=lambda node: node.busy_s, reverse=True)[:_ROWS]
    return [node for node in nodes if node in slowest]


def _numbers(node: NodeState, wall_s: float) -> dict[str, str]:
    each = duration(node.busy_s / node.steps) if node.steps else "-"
    said = (f"{node.steps:,}", duration(node.busy_s), each, f"{node.busy_s / wall_s:.0%}")
    return dict(zip(_NUMBERS, said, strict=True))
