"""`penstock paths`: how long packets took from sources to the ends of a graph, and what they waited for."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import InvalidArgumentError
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import RunFailed, WrongUsage
from penstock_cli.wording import duration, plural
from penstock_views.api import critical_path_data, paths_of, read_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from penstock_views.api import Leg, ReadRun, ReadTrace
    from penstock_views.api import Path as GraphPath

_US: Final = 1e-6
_BUDGET: Final = re.compile(
    r"(?:(?P<source>[^>=]+)>)?(?P<end>[^>=]+)=(?P<number>\d+(?:\.\d+)?)(?P<unit>us|ms|s)"
)
_SECONDS: Final = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110
#: How many paths are reported after a run.
_MOST: Final = 5
_COLUMNS: Final = ("work", "own queue", "thread", "other input", "in all")


def show_paths(file: Path, budgets: Sequence[str], *, is_json: bool) -> None:
    """Print the paths of the runs of a trace.

    Raises:
        FileMissing: the file cannot be read.
        WrongUsage: it is no trace, or a budget is none, or names no path.
        RunFailed: a path takes longer than its budget.
    """
    wanted = [_budget(text) for text in budgets]
    trace = read(file)
    found = [(run, paths_of(run)) for run in trace.runs]
    if is_json:
        runs = [
            {"run": run.name, "paths": [critical_path_data(path) for path in paths]} for run, paths in found
        ]
        click.echo(json.dumps({"runs": runs}, indent=2))
    else:
        _print(trace, found)
    _check([path for _, paths in found for path in paths], wanted, budgets)


def read(file: Path) -> ReadTrace:
    """Read a trace.

    Raises:
        FileMissing: the file cannot be read.
        WrongUsage: it is no trace.
    """
    try:
        return read_trace(existing_file(file, "trace"))
    except InvalidArgumentError as error:
        raise WrongUsage(str(error)) from error


def in_short(file: Path) -> list[str]:
    """Return a line for each path of a trace that has just been written."""
    paths = [path for run in read_trace(file).runs for path in paths_of(run)]
    lines = [f"path: {_headline(path)}" for path in paths[:_MOST]]
    if paths:
        more = f", and {plural(len(paths) - _MOST, 'more path')}" if len(paths) > _MOST else ""
        lines.append(f"path: `penstock paths {file}` shows where the time goes{more}")
    return lines


def _headline(path: GraphPath) -> str:
    worst = path.worst
    return (
        f"{path.source} to {path.end}: {plural(len(path.journeys), 'packet')}, median "
        f"{duration(path.median.latency_us * _US)}, p99 {duration(path.p99.latency_us * _US)}, worst "
        f"{duration(worst.latency_us * _US)} at {worst.timestamp}"
    )


def _print(trace: ReadTrace, found: Iterable[tuple[ReadRun, Sequence[GraphPath]]]) -> None:
    lost = trace.about.get("lost_records", 0)
    if lost:
        click.echo(f"note: the trace has lost {plural(lost, 'record')}; it shows the end of the run only")
    for run, paths in found:
        click.echo(run.name)
        if not paths:
            click.echo("  no packet came from a source to an end of the graph")
        for path in paths:
            click.echo(f"\n{_headline(path)}")
            _print_legs("mean", path.mean_legs())
            _print_legs("worst", path.worst.legs)
        for (stream, reader), spans in sorted(run.queues.items()):
            full = sum(end - begin for begin, end in spans)
            click.echo(
                f"sources were throttled by {stream!r} at {reader!r} for {duration(full * _US)} "
                f"({full / max(run.ended_us, 1e-9):.0%} of the run)"
            )


def _print_legs(heading: str, legs: Sequence[Leg]) -> None:
    from rich import box  # rich takes longer to import than all the rest
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # names are not markup

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(heading, overflow="fold")
    for column in _COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for leg in legs:
        table.add_row(Text(leg.node), *_times(leg))
    sums = [sum(one) for one in zip(*map(_parts, legs), strict=True)] if legs else [0.0] * len(_COLUMNS)
    table.add_row("in all", *(duration(us * _US) for us in sums), style="bold", end_section=True)
    Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH).print(table)


def _parts(leg: Leg) -> tuple[float, ...]:
    """Return the times of `_COLUMNS`."""
    return leg.work_us, leg.own_queue_us, leg.thread_us, leg.other_input_us, leg.total_us


def _times(leg: Leg) -> list[str]:
    return [duration(us * _US) for us in _parts(leg)]


# --- budgets --------------------------------------------------------------------------------------


def _budget(text: str) -> tuple[str | None, str, float]:
    """Return source (None for all), end and seconds of a budget."""
    match = _BUDGET.fullmatch(text)
    if match is None:
        raise WrongUsage(
            f"packet path {text!r} needs a budget: write it as out=80ms, or in>out=80ms; units are us, ms "
            "and s"
        )
    return match["source"], match["end"], float(match["number"]) * _SECONDS[match["unit"]]


def _check(
    paths: Sequence[GraphPath], wanted: Sequence[tuple[str | None, str, float]], texts: Sequence[str]
) -> None:
    over = []
    for (source, end, most), text in zip(wanted, texts, strict=True):
        meant = [path for path in paths if path.end == end and source in (None, path.source)]
        if not meant:
            known = ", ".join(f"{path.source}>{path.end}" for path in paths) or "none"
            raise WrongUsage(f"packet path {text!r}: the trace has no such path; there are: {known}")
        for path in meant:
            took = path.p99.latency_us * _US
            if took > most:
                over.append(
                    f"{path.source} to {end}: 99 of 100 packets took up to {duration(took)}, more than the "
                    f"budget of {duration(most)}"
                )
    if over:
        raise RunFailed("\n".join(over))
