"""`Manner`: how a run is shown and how long it may take, as the options of a command say."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from penstock_cli.byte_size import half_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from penstock import CalculatorGraph
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
        from penstock_cli.runs.progress import display_for  # on demand: every command imports this module

        is_wanted = self.progress and not self.quiet
        if self.show is not None and is_wanted:
            return self.show(graph)
        return display_for(wanted=is_wanted)

    def log_said(self) -> AbstractContextManager[None]:
        """Print Penstock's log until the end of the block."""
        from penstock_cli.saying import log_said  # on demand

        if self.log_level is not None:
            return log_said(self.log_level, in_full=True)
        return log_said(logging.ERROR if self.quiet else logging.WARNING)


def read_manner(  # noqa: PLR0913  # the options of `run_options`, as click passes them
    *,
    no_progress: bool,
    quiet: bool,
    timeout: float | None,
    verbose: bool,
    log_level: str | None,
    trace: Path | None,
    strict: bool,
    max_memory: float | None,
    as_text: bool = False,
) -> Manner:
    """Return how a run is shown, from the options of `run_options`.

    Raises:
        click.UsageError: --quiet goes with neither --verbose nor --log-level.
    """
    if quiet and (verbose or log_level):
        raise click.UsageError(
            "the manner of a run cannot be --quiet with --verbose or --log-level; leave out one of them"
        )
    level = log_level or ("info" if verbose else None)
    limit = half_of_memory() if max_memory is None else max_memory
    return Manner(
        progress=not no_progress,
        quiet=quiet,
        timeout_s=timeout,
        as_json=as_text,
        log_level=None if level is None else logging.getLevelNamesMapping()[level.upper()],
        trace=trace,
        strict=strict,
        max_queued_bytes=limit,
    )
