"""What a run did, when it is over: a table of its nodes, and totals. Goes to stdout."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click

from penstock_cli.meter import busiest
from penstock_cli.wording import amount, duration, plural, rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from penstock.explain import NodeState
    from penstock_cli.watch import Outcome

#: Rows of the table; of larger graphs the nodes that took longest.
_ROWS: Final = 40
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110


def print_summary(outcome: Outcome) -> None:
    """Print the time of each node, and totals."""
    _print_nodes(outcome)
    for line in totals(outcome):
        click.echo(line)


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
    """Return written files, pairs of path and bytes, in words: "out.mp4 (1.2 MB)"."""
    return ", ".join(f"{path} ({amount(size)})" for path, size in written)


def _print_nodes(outcome: Outcome) -> None:
    from rich import box  # noqa: PLC0415  # rich takes longer to import than all the rest
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415  # names are no markup

    nodes = _shown(outcome.snapshot.nodes)
    is_named = any(node.name != node.calculator for node in nodes)
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("node", overflow="fold")
    if is_named:
        table.add_column("calculator", overflow="fold")
    for heading in ("steps", "time", "per step", "of wall"):
        table.add_column(heading, justify="right", no_wrap=True)
    for node in nodes:
        names = [node.name, node.calculator] if is_named else [node.name]
        table.add_row(*map(Text, [*names, *_times(node, outcome.wall_s)]))
    Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH).print(table)
    if len(nodes) < len(outcome.snapshot.nodes):
        click.echo(f"{plural(len(outcome.snapshot.nodes) - len(nodes), 'more node')} took less time")


def _shown(nodes: Sequence[NodeState]) -> Sequence[NodeState]:
    if len(nodes) <= _ROWS:
        return nodes
    slowest = sorted(nodes, key=lambda node: node.busy_s, reverse=True)[:_ROWS]
    return [node for node in nodes if node in slowest]


def _times(node: NodeState, wall_s: float) -> list[str]:
    each = duration(node.busy_s / node.steps) if node.steps else "-"
    return [f"{node.steps:,}", duration(node.busy_s), each, f"{node.busy_s / wall_s:.0%}"]
