"""Ctrl-C during a run: counted, and acted upon by who waits for the run.

The handler does nothing but count, so that it can interrupt anything. The third press is the
exception: it leaves the process at once, also where the waiting thread is stuck.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from penstock_cli.failures import INTERRUPTED

if TYPE_CHECKING:
    from types import FrameType, TracebackType

#: From this press on nothing is waited for.
ABORT: Final = 3
#: Signals this close together are one press: launchers pass on what the terminal has sent already.
_ONE_PRESS_S: Final = 0.3
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Interrupts:
    """Counts presses while it is entered; afterwards Ctrl-C is what it was before.

    Outside the main thread, and where the process ignores SIGINT (as shells start jobs in the
    background), nothing is installed.

    Attributes:
        count: presses so far.
    """

    def __init__(self) -> None:
        self.count = 0
        self._last = -_ONE_PRESS_S
        self._before: Any = None

    def __enter__(self) -> Self:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, None):
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        now = monotonic()
        if now - self._last < _ONE_PRESS_S:
            return
        self._last = now
        self.count += 1
        if self.count >= ABORT:
            _abort()


def _abort() -> NoReturn:
    """Leave without waiting for anything; the progress line may have hidden the cursor."""
    with contextlib.suppress(OSError, ValueError):
        fd = sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
        if os.isatty(fd):
            os.write(fd, _SHOW_CURSOR)
        os.write(fd, b"\naborted; files that were being written may be incomplete\n")
    os._exit(INTERRUPTED)
