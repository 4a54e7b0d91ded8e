"""`--trace FILE`: writes a trace of the run as a file for Perfetto, however the run ends."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from penstock import PenstockError
from penstock_cli.failures import FileMissing, WrongUsage
from penstock_cli.saying import say
from penstock_cli.wording import amount, plural

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from penstock import CalculatorGraph
    from penstock.tracing import ChromeTracer, TraceFile

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
    _check(target)
    from penstock.tracing import ChromeTracer  # only for this

    tracer = ChromeTracer()
    graph.set_tracer(tracer)
    try:
        yield
    except WrongUsage:
        raise  # nothing has run
    except BaseException:
        try:
            _write(tracer, target, quiet=quiet)
        except PenstockError as error:  # the error that ended the run goes first
            say(f"warning: {error}")
        raise
    _write(tracer, target, quiet=quiet)


def _check(target: Path) -> None:
    if target.is_dir():
        raise FileMissing(f"trace {str(target)!r} is a directory; name a file in it")
    if not target.parent.is_dir():
        raise FileMissing(
            f"trace {str(target)!r}: there is no directory {str(target.parent)!r}; make it first"
        )
    if not os.access(target.parent, os.W_OK):
        raise FileMissing(f"trace {str(target)!r}: directory {str(target.parent)!r} cannot be written to")


def _write(tracer: ChromeTracer, target: Path, *, quiet: bool) -> None:
    written = tracer.write(target)
    if not quiet:
        say(_words(written, tracer.capacity))


def _words(written: TraceFile, capacity: int) -> str:
    steps, packets = plural(written.steps, "step"), plural(written.arrows, "packet")
    words = f"trace: {steps} and {packets} in {written.path} ({amount(written.size)}); {_HOW_TO_OPEN}"
    if written.lost:
        words += f"\ntrace: {written.lost:,} older records were dropped; a trace keeps the last {capacity:,}"
    return words
