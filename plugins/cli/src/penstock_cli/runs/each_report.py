"""What `penstock run --each` shows: the files at work, a line for each that has ended, a table at the end."""

from __future__ import annotations

import json
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from penstock_cli.exit_codes import INTERRUPTED, TERMINATED
from penstock_cli.saying import say
from penstock_cli.wording import amount, duration, plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.live import Live

    from penstock_cli.runs.jobs import Ended

#: Rows of the table; of more files it shows all that have failed, and some of the others.
_ROWS: Final = 40
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 140


class ShownRuns:
    """Follows the runs; threads may share it.

    Args:
        count: how many files there are.
        is_shown: whether to print a line for each file that has ended.
        says_errors: whether to print a line for each that has failed, anyhow.
        live: the line of the terminal that says how far the runs are; None where there is none.
    """

    def __init__(self, count: int, *, is_shown: bool, says_errors: bool, live: Live | None) -> None:
        #: What has ended, in that order.
        self.ended: list[Ended] = []
        self._count: Final = count
        self._is_shown: Final = is_shown
        self._says_errors: Final = says_errors
        self._live: Final = live
        self._lock: Final = threading.Lock()
        self._at_work: dict[Path, None] = {}

    def start(self, file: Path) -> None:
        """Note that the run of a file has started."""
        with self._lock:
            self._at_work[file] = None
            self._update()

    def say(self, file: Path, text: str) -> None:
        """Print what the run of a file has printed on stderr."""
        with self._lock:
            say(f"{file}: {text}")

    def end(self, ended: Ended) -> None:
        """Note that the run of a file has ended, or was not started."""
        with self._lock:
            self.ended.append(ended)
            self._at_work.pop(ended.file, None)
            is_error = self._says_errors and bool(ended.error)
            if ended.was_started and (self._is_shown or is_error):
                say(f"{ended.file}: {_result(ended)}" + (f": {ended.error}" if ended.error else ""))
            self._update()

    def _update(self) -> None:
        if self._live is None:
            return
        from rich.text import Text

        failed = sum(bool(one.exit_code) for one in self.ended)
        line = f"{len(self.ended):,} of {plural(self._count, 'file')}, {failed:,} failed"
        if self._at_work:
            line += f"; at work: {', '.join(file.name for file in self._at_work)}"
        self._live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)


@contextmanager
def watching(count: int, *, is_shown: bool, says_errors: bool) -> Iterator[ShownRuns]:
    """Follow the runs of a number of files.

    Args:
        count: how many.
        is_shown: whether stderr shows the progress.
        says_errors: whether it shows what goes wrong, anyhow.
    """
    if not is_shown or sys.stderr is None or not sys.stderr.isatty():
        yield ShownRuns(count, is_shown=is_shown, says_errors=says_errors, live=None)
        return
    from rich.console import Console  # rich takes longer to import than all the rest
    from rich.live import Live

    console = Console(stderr=True)
    with Live(
        console=console, transient=True, auto_refresh=False, redirect_stdout=sys.stdout.isatty()
    ) as live:
        yield ShownRuns(count, is_shown=is_shown, says_errors=says_errors, live=live)


def print_table(ended: Sequence[Ended]) -> None:
    """Print a row for each file on stdout, and what they come to."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text  # names are not markup

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("file", overflow="fold")
    table.add_column("result", no_wrap=True)
    table.add_column("packets", justify="right", no_wrap=True)
    table.add_column("dropped", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("written, or what went wrong", overflow="fold")
    shown = _shown(ended)
    for one in shown:
        table.add_row(*map(Text, _row(one)))
    Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH).print(table)
    if len(shown) < len(ended):
        click.echo(f"{plural(len(ended) - len(shown), 'more file')} done")
    counts = {"failed": 0, "interrupted": 0, "not started": 0, "done": 0}
    for one in ended:
        counts[_result(one)] += 1
    said = ", ".join(f"{count:,} {result}" for result, count in counts.items() if count and result != "done")
    click.echo(f"{plural(len(ended), 'file')}: {counts['done']:,} done" + (f", {said}" if said else ""))


def as_json(ended: Sequence[Ended]) -> str:
    """Return a JSON list of objects: `file`, `result`, `exit_code`, `error` and `summary`.

    `summary` is what `penstock run --json` prints for one run; `result` is "done", "failed", "interrupted" or
    "not started".
    """
    rows = [
        {
            "file": str(one.file),
            "result": _result(one),
            "exit_code": one.exit_code if one.was_started else None,
            "error": one.error or None,
            "summary": one.summary,
        }
        for one in ended
    ]
    return json.dumps(rows, indent=2)


def _result(one: Ended) -> str:
    if not one.was_started:
        return "not started"
    if one.exit_code in {INTERRUPTED, TERMINATED}:
        return "interrupted"
    return "failed" if one.exit_code else "done"


def _shown(ended: Sequence[Ended]) -> Sequence[Ended]:
    spare = _ROWS - sum(bool(one.exit_code) for one in ended)
    shown: list[Ended] = []
    for one in ended:
        if one.exit_code or spare > 0:
            spare -= not one.exit_code
            shown.append(one)
    return shown


def _row(one: Ended) -> list[str]:
    summary: dict[str, Any] = one.summary or {}
    written = ", ".join(f"{file['path']} ({amount(file['bytes'])})" for file in summary.get("files", ()))
    numbers = [f"{summary[name]:,}" if name in summary else "-" for name in ("packets", "dropped")]
    took = duration(summary["wall_s"]) if summary else "-"
    return [str(one.file), _result(one), *numbers, took, one.error.partition("\n")[0] or written]
