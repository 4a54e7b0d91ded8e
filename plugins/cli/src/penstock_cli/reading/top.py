"""`penstock top`: runs a graph file, or asks for a run that is served, and shows its readings."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Final, Protocol, Self

import click

from penstock import PenstockError
from penstock_cli.runs.run import run_file
from penstock_cli.saying import say
from penstock_monitor import Monitor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType

    from penstock import CalculatorGraph
    from penstock.explain import Snapshot
    from penstock_cli.runs.manner import Manner
    from penstock_monitor import Reading

#: `--once` takes its reading so long after the start, when there are rates.
ONCE_AFTER_S: Final = 1.0
_ON_TERMINAL_S: Final = 0.5
_ELSEWHERE_S: Final = 5.0
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110
#: How long a run may take to end after `--once` has closed its sources.
_GRACE_S: Final = 2.0
#: How long to wait for the reading that tells the end of a run.
_LAST_S: Final = 2.0


@dataclass(frozen=True)
class View:
    """How readings are shown."""

    #: Show one only.
    once: bool = False
    #: As lines of JSON.
    is_json: bool = False
    #: Between two updates, in seconds; None for what suits stdout.
    interval_s: float | None = None

    def pause_s(self) -> float:
        """Return the time between two updates."""
        if self.interval_s is not None:
            return self.interval_s
        return _ON_TERMINAL_S if _is_terminal() else _ELSEWHERE_S

    def page(self, title: str) -> Page:
        """Return where readings are shown; entered and left by the caller."""
        if self.is_json:
            return JsonLines()
        if _is_terminal() and not self.once:
            return LiveTables(title)
        return PlainTables(title)


class Page(Protocol):
    """Shows readings while it is entered."""

    #: Whether what is shown goes when the page is left.
    is_transient: bool

    def __enter__(self) -> object:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clean up."""

    def show(self, reading: Reading) -> None:
        """Show a reading in the place of the one before, or after it."""


class _Printed:
    """What stays when the page is left."""

    is_transient = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class JsonLines(_Printed):
    """Prints readings as JSON, one a line."""

    def show(self, reading: Reading) -> None:
        """Print a reading."""
        import msgspec

        click.echo(msgspec.json.encode(reading))


class PlainTables(_Printed):
    """Prints tables, one below the other.

    Args:
        title: what is shown.
    """

    def __init__(self, title: str) -> None:
        self._title: Final = title
        self._is_first = True

    def show(self, reading: Reading) -> None:
        """Print a reading."""
        from rich.console import Console  # rich takes longer to import than all the rest

        from penstock_cli.reading.top_tables import tables

        console = Console(width=None if sys.stdout.isatty() else _PAGE_WIDTH)
        if not self._is_first:
            click.echo()
        self._is_first = False
        console.print(tables(reading, self._title, console.width))
        sys.stdout.flush()


class LiveTables:
    """Tables on a terminal, updated in place, and removed at the end.

    Args:
        title: what is shown.
    """

    is_transient = True

    def __init__(self, title: str) -> None:
        from rich.console import Console  # as above
        from rich.live import Live

        self._title: Final = title
        self._console: Final = Console()
        self._live: Final = Live(console=self._console, transient=True, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, reading: Reading) -> None:
        """Show a reading in the place of the one before."""
        from penstock_cli.reading.top_tables import tables

        size = self._console.size
        self._live.update(tables(reading, self._title, size.width, size.height), refresh=True)


class TopDisplay:
    """Shows the readings of a run that this process makes; the display of `run_to_end`.

    Args:
        graph: not running yet.
        page: where they are shown.
        once, pause_s: as in `View`.
    """

    def __init__(self, graph: CalculatorGraph, page: Page, *, once: bool, pause_s: float) -> None:
        self._graph: Final = graph
        self._page: Final = page
        self._once: Final = once
        self._pause_s: Final = pause_s
        self._monitor: Monitor | None = None
        self._shown = 0
        self._next_s = 0.0
        self._is_cancelled = False

    def __enter__(self) -> Self:
        self._monitor = Monitor(self._graph)
        self._page.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        monitor = self._monitor
        assert monitor is not None  # made when it was entered  # noqa: S101
        try:
            is_missing = not self._shown if self._once else not self._page.is_transient
            if is_missing and self._graph.is_running is False:
                with suppress(PenstockError):  # the error that has ended the run was reported before
                    newest = monitor.reading()
                    self._page.show(monitor.wait(newest.number, _LAST_S) or newest)
        finally:
            monitor.close()
            self._page.__exit__(kind, error, trace)

    def show(self, snapshot: Snapshot, elapsed_s: float) -> None:  # noqa: ARG002  # the monitor takes its own
        """Show the newest reading, if it is time for one."""
        assert self._monitor is not None  # as above  # noqa: S101
        reading = self._monitor.reading()
        if self._once:
            if self._shown:
                self._end(elapsed_s)
            if reading.elapsed_s < ONCE_AFTER_S or self._shown:
                return
            self._graph.close_all_packet_sources()
        elif elapsed_s < self._next_s or reading.number == self._shown:
            return
        self._next_s = elapsed_s + (_GRACE_S if self._once else self._pause_s)
        self._shown = reading.number
        self._page.show(reading)

    def _end(self, elapsed_s: float) -> None:
        """Cancel a run that does not end although its sources are closed."""
        if elapsed_s >= self._next_s and not self._is_cancelled:
            self._is_cancelled = True
            say("the run does not end, although its sources are closed; it is cancelled")
            self._graph.cancel()


def show_graph_file(path: Path, sides: Mapping[str, object], manner: Manner, view: View) -> None:
    """Run a graph file, and show its readings.

    Raises:
        As `run_file`.
    """

    def display(graph: CalculatorGraph) -> TopDisplay:
        return TopDisplay(graph, view.page(path.name), once=view.once, pause_s=view.pause_s())

    run_file(path, sides, replace(manner, show=display))


def show_served(address: str, view: View, token: str = "") -> None:
    """Show the readings of a run that another process serves, until the server is closed.

    Raises:
        FileMissing: nothing answers at the address, or what answers is no server of readings.
        KeyboardInterrupt: Ctrl-C; the run goes on.
    """
    from penstock_cli.runs.served import Served  # on demand: urllib

    served = Served(address, token)
    page = view.page(served.title)
    if view.once:
        page.show(served.reading())
        return
    pause_s, next_s = view.pause_s(), 0.0
    with page:
        for reading in served.readings():
            now_s = monotonic()
            if now_s >= next_s:
                next_s = now_s + pause_s
                page.show(reading)
    say(f"the server at {served.title} is closed")


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
