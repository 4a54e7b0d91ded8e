"""`penstock run`: loads a graph file, runs it and prints its summary."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from penstock import CalculatorGraph, GraphConfigError
from penstock_cli.failures import TERMINATED, WrongUsage
from penstock_cli.loading import existing, load, name_in
from penstock_cli.runs.files import NamedFiles
from penstock_cli.runs.notes import refuse_notes, refuse_nothing_done
from penstock_cli.runs.progress import display_for
from penstock_cli.runs.side_values import check_names, fault_words
from penstock_cli.runs.summary import as_json, files, print_summary
from penstock_cli.runs.trace import traced
from penstock_cli.runs.watch import Outcome, run_to_end
from penstock_cli.saying import log_said, say
from penstock_cli.subgraph_files import subgraphs_of
from penstock_cli.wording import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from penstock_cli.runs.progress import Display


@dataclass(frozen=True)
class Manner:
    """How a run is shown, and how long it may take."""

    #: Whether to show the progress while the graph runs.
    progress: bool = True
    #: Print only errors.
    quiet: bool = False
    #: Cancel the run after so many seconds; None for never.
    timeout_s: float | None = None
    #: Print the summary as JSON.
    as_json: bool = False
    #: Print the summary on stdout.
    summary: bool = True
    #: Show the library's log from this level on, with node, stream and timestamp; None: only warnings,
    #: without them.
    log_level: int | None = None
    #: Write a trace of the run to this file; None: do not trace.
    trace: Path | None = None
    #: Fail if there are notes on the run.
    strict: bool = False
    #: Fail if packets that wait in queues take more bytes; infinity for no limit.
    max_queued_bytes: float | None = None
    #: Makes what shows a run of a graph; None: a line of progress.
    show: Callable[[CalculatorGraph], Display] | None = None

    def display(self, graph: CalculatorGraph) -> Display:
        """Return what shows a run of the graph."""
        is_wanted = self.progress and not self.quiet
        if self.show is not None and is_wanted:
            return self.show(graph)
        return display_for(wanted=is_wanted)

    def log_said(self) -> AbstractContextManager[None]:
        """Print Penstock's log until the end of the block."""
        if self.log_level is not None:
            return log_said(self.log_level, in_full=True)
        return log_said(logging.ERROR if self.quiet else logging.WARNING)


def run_file(
    path: Path,
    sides: Mapping[str, object],
    manner: Manner,
    *,
    change: Callable[[Path], Any] | None = None,
    prepare: Callable[[CalculatorGraph], None] | None = None,
) -> None:
    """Load a graph file and run it.

    Args:
        path: the file.
        sides: its side packets, name → payload.
        manner: how the run is shown.
        change: returns the graph to run in the place of the file's; None runs that.
        prepare: called with the loaded graph before it runs.

    Raises:
        click.ClickException: the graph cannot be read, loaded or fed, or did not end in time, or every packet
            was dropped, or there are notes on a strict run.
        GraphRunError: the run failed.
        click.exceptions.Exit: interrupted; every calculator is closed.
    """
    with manner.log_said():
        graph = loaded(path, sides, manner, change=change)
        if prepare is not None:
            prepare(graph)
        outcome, written = run_graph(graph, sides, manner)
        if written and not manner.quiet and not manner.as_json:
            click.echo(f"written: {files(written)}")
        if manner.strict:
            refuse_notes(outcome)
        refuse_nothing_done(outcome)


def loaded(
    path: Path,
    sides: Mapping[str, object],
    manner: Manner,
    *,
    change: Callable[[Path], Any] | None = None,
) -> CalculatorGraph:
    """Load a graph file whose only inputs are side packets; the arguments are those of `run_file`.

    Raises:
        click.ClickException: the graph cannot be read or loaded, has input streams, or has not these side
            packets.
    """
    file = existing(path, "graph file")
    graph: CalculatorGraph = load(
        lambda: CalculatorGraph(
            file if change is None else change(file),
            max_queued_bytes=manner.max_queued_bytes,
            subgraphs=subgraphs_of(file),
        )
    )
    _check_fed(graph, path, sides)
    return graph


def run_graph(
    graph: CalculatorGraph,
    sides: Mapping[str, object],
    manner: Manner,
    *,
    wait: Callable[[float], None] | None = None,
) -> tuple[Outcome, list[tuple[Path, int]]]:
    """Run a loaded graph, print its summary, and write its trace if requested.

    Args:
        graph: without graph inputs, not running.
        sides: its side packets, name → payload.
        manner: how it is shown.
        wait: as in `run_to_end`.

    Returns:
        The outcome, and the files named by side packets that the run wrote, each with its size in bytes.

    Raises:
        click.ClickException: its side packets do not fit, or it did not end in time.
        GraphRunError: the run failed.
        click.exceptions.Exit: interrupted; every calculator is closed, and the written files are printed.
    """
    with traced(graph, manner.trace, quiet=manner.quiet):
        return _run_graph(graph, sides, manner, wait)


def _run_graph(
    graph: CalculatorGraph,
    sides: Mapping[str, object],
    manner: Manner,
    wait: Callable[[float], None] | None,
) -> tuple[Outcome, list[tuple[Path, int]]]:
    named = NamedFiles(sides.values())
    try:
        outcome = run_to_end(graph, sides, manner.display(graph), timeout_s=manner.timeout_s, wait=wait)
    except GraphConfigError as error:
        raise unfit(error, sides) from error
    written = named.written()
    if manner.as_json:
        click.echo(as_json(outcome, written))
    elif manner.summary and not manner.quiet:
        print_summary(outcome, with_notes=not manner.strict)
    if outcome.was_interrupted:
        said = f"written: {files(written)}" if written else "no file was written"
        if not manner.quiet:
            how = "ended by SIGTERM" if outcome.exit_code == TERMINATED else "interrupted"
            say(f"{how} after {duration(outcome.wall_s)}; {said}")
        raise click.exceptions.Exit(outcome.exit_code)
    return outcome, written


def _check_fed(graph: CalculatorGraph, path: Path, sides: Mapping[str, object]) -> None:
    """Refuse a graph with input streams, and side packets that the graph does not have."""
    from penstock.config import CalculatorGraphConfig  # imports protobuf

    config = CalculatorGraphConfig.FromString(graph.binary_config)
    refuse_inputs(config, path, "this command cannot feed", "feed them from Python with penstock.run()")
    read = {name_in(entry) for node in config.node for entry in node.input_side_packet}
    check_names(sides, read | {name_in(entry) for entry in config.input_side_packet})


def refuse_inputs(config: Any, path: Path, why: str, cure: str) -> None:
    """Refuse a graph with input streams.

    Args:
        config: of the graph, a CalculatorGraphConfig.
        path: of its file, for the message.
        why: what cannot be done with them, as "this command cannot feed".
        cure: what to do besides adding source nodes.

    Raises:
        WrongUsage: it has some.
    """
    names = ", ".join(repr(name_in(entry)) for entry in config.input_stream)
    if names:
        raise WrongUsage(
            f"graph {str(path)!r} has input streams that {why}: {names}; add source nodes that write them, "
            f"or {cure}"
        )


def unfit(error: GraphConfigError, sides: Mapping[str, object]) -> WrongUsage:
    """Return the faults of the side packets, in terms of the command line."""
    return WrongUsage("\n  ".join(["side packets:", *(fault_words(fault, sides) for fault in error.faults)]))
