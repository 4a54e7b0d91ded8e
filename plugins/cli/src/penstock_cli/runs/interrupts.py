"""Ctrl-C during a run: a signal handler counts presses, and the thread that waits for the run acts on them.

The handler only counts, so it can safely interrupt any code. The third press is the exception: it
exits the process at once, even if the waiting thread is stuck.
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
    from collections.abc import Callable
    from types import FrameType, TracebackType

#: The press that exits the process at once.
ABORT: Final = 3
#: Signals this close together are one press: launchers forward a signal that the terminal has sent too.
_ONE_PRESS_S: Final = 0.3
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Interrupts:
    """Counts presses while it is entered; afterwards Ctrl-C works as before.

    Outside the main thread, and where the process ignores SIGINT (as background jobs of a shell do),
    no handler is installed.

    Args:
        clock: returns seconds that never decrease.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        #: Presses so far.
        self.count = 0
        self._clock: Final = clock
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
        now = self._clock()
        if now - self._last < _ONE_PRESS_S:
            return
        self._last = now
        self.count += 1
        if self.count >= ABORT:
            _abort()


def let_ctrl_c_kill() -> None:
    """Let the system answer Ctrl-C from here on, which ends the process without a word.

    Does nothing where the process ignores Ctrl-C or has a handler of its own, and outside the main thread.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _abort() -> NoReturn:
    """Exit without waiting for anything; show the cursor, which the progress line may have hidden."""
    with contextlib.suppress(OSError, ValueError):
        fd = sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
        if os.isatty(fd):
            os.write(fd, _SHOW_CURSOR)
        os.write(fd, b"\naborted; files that were being written may be incomplete\n")
    os._exit(INTERRUPTED)
