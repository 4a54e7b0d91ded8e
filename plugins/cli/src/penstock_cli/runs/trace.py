"""`--trace FILE`: writes a trace of the run as a file for Perfetto, however the run ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from penstock import PenstockError
from penstock_cli.failures import WrongUsage
from penstock_cli.saying import say
from penstock_cli.target_file import check_target_file
from penstock_cli.wording import amount, plural
from penstock_views.api import PERFETTO_ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock import CalculatorGraph
    from penstock_views.traces import ChromeTraceFile, ChromeTracer

_HOW_TO_OPEN: Final = "open it in https://ui.perfetto.dev, which does not upload it"


@contextmanager
def traced(graph: CalculatorGraph, target: Path | None, *, quiet: bool) -> Iterator[None]:
    """Trace the run in the block, then write the trace to a file, and report it on stderr.

    Args:
        graph: not running.
        target: the file; an existing one is replaced. None: nothing is traced.
        quiet: report nothing.

    Raises:
        FileMissing: the file cannot be written there; the block was not run.
        PenstockError: writing the file failed after the run.
    """
    if target is None:
        yield
        return
    check_target_file(target, "trace")
    from penstock_views.traces import ChromeTracer  # only for this

    tracer = ChromeTracer()
    graph.set_tracer(tracer)
    try:
        yield
    except WrongUsage:
        raise  # nothing has run
    except BaseException as failure:
        try:
            _write(tracer, target, graph, quiet=quiet, error=failure)
        except PenstockError as error:  # the error that ended the run goes first
            say(f"warning: {error}")
        raise
    _write(tracer, target, graph, quiet=quiet)


def _write(
    tracer: ChromeTracer,
    target: Path,
    graph: CalculatorGraph,
    *,
    quiet: bool,
    error: BaseException | None = None,
) -> None:
    about = {"graph": graph.text_config, "why": str(graph.why())}
    if error is not None:
        about["error"] = f"{type(error).__name__}: {error}"
    written = tracer.write(target, about)
    if quiet:
        return
    say(_words(written, tracer.capacity))
    if target.suffix not in PERFETTO_ENDINGS:
        from penstock_cli.runs.packet_paths import in_short  # on demand

        for line in in_short(target):
            say(line)


def _words(written: ChromeTraceFile, capacity: int) -> str:
    steps, packets = plural(written.steps, "step"), plural(written.arrows, "packet")
    words = f"trace: {steps} and {packets} in {written.path} ({amount(written.size)}); {_HOW_TO_OPEN}"
    if written.lost:
        words += f"\ntrace: {written.lost:,} older records were dropped; a trace keeps the last {capacity:,}"
    return words
