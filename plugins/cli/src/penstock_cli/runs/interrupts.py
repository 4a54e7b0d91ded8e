"""Ctrl-C and SIGTERM during a run: handlers count them, and the thread that waits for the run acts on them.

The handlers only count, so they can safely interrupt any code. The third press of Ctrl-C and the second
SIGTERM are the exceptions: they exit the process at once, even if the waiting thread is stuck.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from penstock_cli.exit_codes import INTERRUPTED, TERMINATED

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType

#: The press that exits the process at once.
ABORT: Final = 3
#: Signals this close together are one press: launchers forward a signal that the terminal has sent too.
_ONE_PRESS_S: Final = 0.3
_SHOW_CURSOR: Final = b"\x1b[?25h"


class Interrupts:
    """Counts presses while it is entered; afterwards Ctrl-C and SIGTERM work as before.

    The first SIGTERM, which service managers and containers send, counts as a press. Outside the main thread,
    and where the process ignores a signal (as background jobs of a shell ignore SIGINT), no handler is
    installed.

    Args:
        clock: returns seconds that never decrease.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        #: Presses so far.
        self.count = 0
        self._clock: Final = clock
        self._last = -_ONE_PRESS_S
        #: Whether SIGTERM has come.
        self.is_terminated = False
        #: Signal → what handled it before.
        self._before: Final[dict[int, Any]] = {}

    @property
    def exit_code(self) -> int:
        """What the process exits with: 0 where nothing interrupts it."""
        if self.is_terminated:
            return TERMINATED
        return INTERRUPTED if self.count else 0

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number, handler in ((signal.SIGINT, self._note), (signal.SIGTERM, self._terminate)):
                if signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        if self._is_new_press():
            self.count += 1
            if self.count >= ABORT:
                _abort(INTERRUPTED)

    def _terminate(self, _signal: int, _frame: FrameType | None) -> None:
        if self._is_new_press():
            if self.is_terminated:
                _abort(TERMINATED)
            self.is_terminated = True
            self.count = max(self.count, 1)

    def _is_new_press(self) -> bool:
        now = self._clock()
        is_new = now - self._last >= _ONE_PRESS_S
        if is_new:
            self._last = now
        return is_new


def let_ctrl_c_kill() -> None:
    """Let the system answer Ctrl-C from here on, which ends the process without a word.

    Does nothing where the process ignores Ctrl-C or has a handler of its own, and outside the main thread.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def _abort(code: int) -> NoReturn:
    """Exit without waiting for anything; show the cursor, which the progress line may have hidden."""
    with contextlib.suppress(OSError, ValueError):
        fd = sys.__stderr__.fileno() if sys.__stderr__ is not None else 2
        if os.isatty(fd):
            os.write(fd, _SHOW_CURSOR)
        os.write(fd, b"\naborted; files that were being written may be incomplete\n")
    os._exit(code)
