"""`penstock run`: loads a graph file, runs it and prints its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from penstock import CalculatorGraph, GraphConfigError
from penstock_cli.existing_files import existing_file
from penstock_cli.exit_codes import TERMINATED
from penstock_cli.failures import WrongUsage
from penstock_cli.loading import load, name_in
from penstock_cli.runs.files import NamedFiles
from penstock_cli.runs.notes import refuse_notes, refuse_nothing_done
from penstock_cli.runs.side_values import check_names, fault_words
from penstock_cli.runs.summary import as_json, files, print_summary
from penstock_cli.runs.trace import traced
from penstock_cli.runs.watch import Outcome, run_to_end
from penstock_cli.saying import say
from penstock_cli.subgraph_files import subgraphs_of
from penstock_cli.wording import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from penstock_cli.runs.manner import Manner


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
    file = existing_file(path, "graph file")
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
