"""Shows a run's progress on stderr: as one live line, as a line every few seconds, or not at all.

A live line needs a terminal and is removed when the run ends. Text printed to stderr meanwhile appears
above it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final, Protocol

from penstock.error_text import printable
from penstock_cli.runs.meter import Meter
from penstock_cli.saying import say

if TYPE_CHECKING:
    from types import TracebackType

    from penstock.explain import Snapshot

#: Time between two lines where there is no terminal; long, to keep a log short.
_BETWEEN_LINES_S: Final = 5.0


class Display(Protocol):
    """Shows snapshots while it is entered."""

    def __enter__(self) -> object:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clean up."""

    def show(self, snapshot: Snapshot, elapsed_s: float) -> None:
        """Show a run as it is `elapsed_s` seconds after its start."""


class NoDisplay:
    """Shows nothing."""

    def __enter__(self) -> object:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, snapshot: Snapshot, elapsed_s: float) -> None:
        """Do nothing."""


class LogLines(NoDisplay):
    """Prints a line when the first packets have come, and then every five seconds."""

    def __init__(self) -> None:
        self._meter = Meter()
        self._next_s = 0.0

    def show(self, snapshot: Snapshot, elapsed_s: float) -> None:
        """Print a line if it is time for one."""
        reading = self._meter.read(snapshot, elapsed_s)
        if reading.packets and elapsed_s >= self._next_s:
            self._next_s = elapsed_s + _BETWEEN_LINES_S
            say(str(reading))


class LiveLine:
    """One line at the bottom of the terminal, updated in place."""

    def __init__(self) -> None:
        from rich.console import Console  # rich takes longer to import than all the rest
        from rich.live import Live

        self._meter = Meter()
        self._live = Live(
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,  # `show` refreshes, without another thread
            redirect_stdout=sys.stdout.isatty(),  # output to a file or pipe must not be redirected
        )

    def __enter__(self) -> object:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, snapshot: Snapshot, elapsed_s: float) -> None:
        """Update the line, cut to the terminal's width."""
        from rich.text import Text

        line = str(self._meter.read(snapshot, elapsed_s))
        self._live.update(Text(printable(line), no_wrap=True, overflow="ellipsis"), refresh=True)


def display_for(*, wanted: bool) -> Display:
    """Return the display that suits stderr, or one that shows nothing."""
    if not wanted or sys.stderr is None:
        return NoDisplay()
    return LiveLine() if sys.stderr.isatty() and not _is_dumb() else LogLines()


def _is_dumb() -> bool:
    from rich.console import Console

    return Console(stderr=True).is_dumb_terminal
