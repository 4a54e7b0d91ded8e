"""`penstock run`: a graph file, from its text to its exit code."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

import click

from penstock import CalculatorGraph, GraphConfigError, GraphParseError, PenstockError, StatusCode
from penstock_cli.failures import INTERRUPTED, FileMissing, GraphInvalid, WrongUsage
from penstock_cli.files import NamedFiles
from penstock_cli.progress import display_for
from penstock_cli.saying import log_said, say
from penstock_cli.side_values import check_names
from penstock_cli.summary import files, print_summary
from penstock_cli.watch import Outcome, run_to_end
from penstock_cli.wording import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Manner:
    """How a run is shown, and how long it may take.

    Attributes:
        progress: whether to show it while it runs.
        quiet: nothing but errors.
        timeout_s: cancel it after so many seconds; None for never.
    """

    progress: bool = True
    quiet: bool = False
    timeout_s: float | None = None


def run_file(path: Path, sides: Mapping[str, object], manner: Manner) -> None:
    """Load a graph file and run it.

    Raises:
        click.ClickException: it cannot be read, loaded or fed, or did not end in time.
        GraphRunError: the run failed.
        click.exceptions.Exit: interrupted; everything is closed.
    """
    with log_said(logging.ERROR if manner.quiet else logging.WARNING):
        graph = load(lambda: CalculatorGraph(existing(path, "graph file")))
        _check_fed(graph, path, sides)
        written = run_graph(graph, sides, manner)[1]
        if written and not manner.quiet:
            click.echo(f"written: {files(written)}")


def run_graph(
    graph: CalculatorGraph, sides: Mapping[str, object], manner: Manner
) -> tuple[Outcome, list[tuple[Path, int]]]:
    """Run a loaded graph and print its summary.

    Returns:
        What came of it, and the files among its side packets that it wrote, each with its bytes.

    Raises:
        click.ClickException: its side packets do not fit, or it did not end in time.
        GraphRunError: the run failed.
        click.exceptions.Exit: interrupted; everything is closed, and what was written is said.
    """
    named = NamedFiles(sides.values())
    display = display_for(wanted=manner.progress and not manner.quiet)
    try:
        outcome = run_to_end(graph, sides, display, timeout_s=manner.timeout_s)
    except GraphConfigError as error:
        raise _unfit(error, sides) from error
    written = named.written()
    if not manner.quiet:
        print_summary(outcome)
    if outcome.was_interrupted:
        said = f"written: {files(written)}" if written else "no file was written"
        if not manner.quiet:
            say(f"interrupted after {duration(outcome.wall_s)}; {said}")
        raise click.exceptions.Exit(INTERRUPTED)
    return outcome, written


def existing(path: Path, what: str) -> Path:
    """Return `path`.

    Raises:
        FileMissing: there is no file of that name; names one like it in the same directory.
    """
    if path.exists():
        return path
    there = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, there, n=1)
    hint = f"did you mean {str(path.with_name(near[0]))!r}?" if near else "check the path"
    raise FileMissing(f"{what} {str(path)!r} does not exist; {hint}")


def load(make: Callable[[], CalculatorGraph]) -> CalculatorGraph:
    """Make a graph.

    Raises:
        GraphInvalid: it is none, or cannot run.
        FileMissing: its file cannot be read.
    """
    try:
        return make()
    except PenstockError as error:
        is_faulty = isinstance(error, (GraphParseError, GraphConfigError))
        is_unread = not is_faulty and (
            isinstance(error.__cause__, OSError) or error.code is StatusCode.NOT_FOUND
        )
        raise (FileMissing if is_unread else GraphInvalid)(str(error)) from error


def _check_fed(graph: CalculatorGraph, path: Path, sides: Mapping[str, object]) -> None:
    """Refuse what the command line cannot feed, and side packets that the graph does not have."""
    from penstock.config import CalculatorGraphConfig  # noqa: PLC0415  # brings protobuf

    config = CalculatorGraphConfig.FromString(graph.binary_config)
    inputs = [_name(entry) for entry in config.input_stream]
    if inputs:
        names = ", ".join(map(repr, inputs))
        raise WrongUsage(
            f"graph {str(path)!r} has inputs that nothing feeds: {names}; this command runs graphs whose "
            "packets come from their own sources. Put a source node in front, or feed it from Python with "
            "penstock.run()"
        )
    read = {_name(entry) for node in config.node for entry in node.input_side_packet}
    check_names(sides, read | {_name(entry) for entry in config.input_side_packet})


def _name(entry: str) -> str:
    """Return the name in a config entry such as "TAG:0:name"."""
    return entry.rpartition(":")[2]


def _unfit(error: GraphConfigError, sides: Mapping[str, object]) -> WrongUsage:
    """Return what is wrong with the side packets, in terms of the command line."""
    return WrongUsage("\n  ".join(["side packets:", *(_fault(fault, sides) for fault in error.faults)]))


def _fault(fault: PenstockError, sides: Mapping[str, object]) -> str:
    name = fault.stream
    if fault.code is StatusCode.INVALID_ARGUMENT and name not in sides:
        return f"node {fault.node!r} needs the side packet {name!r}; give it with --side {name}=VALUE"
    return str(fault)
