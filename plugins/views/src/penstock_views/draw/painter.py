"""Drawings as SVG, laid out by a process of its own.

The library that lays graphs out takes seconds for a large one, and holds up the threads of its process. So
the program `painter_program` does it.
"""

from __future__ import annotations

import pickle
import subprocess
import threading
from typing import TYPE_CHECKING, Final

from penstock.errors import FailedPreconditionError, UnavailableError
from penstock.packs import child_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_views.draw.drawing import Drawing

#: The program, and the word that lets it draw from left to right.
PAINTER: Final = "penstock_views.draw.painter_program"
ACROSS: Final = "across"


class Painter:
    """Lets a process draw, one drawing at a time; `close` gives up the one that is being drawn."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False

    def svg(
        self, drawing: Drawing | Callable[[], Drawing], *, across: bool = False, longest_s: float = 60.0
    ) -> str:
        """Return a drawing as SVG with `marked`, as `svg` does, without holding up this process.

        Args:
            drawing: the graph; or what makes it in the other process, where that takes long too: a function
                of a module, or a `functools.partial` of one, which `pickle` can send.
            across: as for `svg`.
            longest_s: how long it may take, in seconds.

        Raises:
            UnavailableError: the library that lays it out is not installed, it took too long, or `close` was
                called; says why.
        """
        process = self._started(across=across)
        with process:
            try:
                out, said = process.communicate(pickle.dumps(drawing), longest_s)
            except subprocess.TimeoutExpired:
                raise UnavailableError(f"the painter had not drawn the graph after {longest_s:g} s") from None
            finally:
                process.kill()
        if self._is_closed:
            raise UnavailableError("painting the graph was given up: nobody looks at it any more")
        if process.returncode:
            lines = said.decode(errors="replace").strip().splitlines()
            why = lines[-1] if lines else f"exit code {process.returncode}"
            raise UnavailableError(f"the painter cannot draw the graph: {why}")
        return out.decode()

    def close(self) -> None:
        """Draw nothing any more. Called by any thread; may be called again."""
        with self._lock:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()

    def _started(self, *, across: bool) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_closed:
                raise UnavailableError("painting the graph was given up: nobody looks at it any more")
            pipe = subprocess.PIPE
            try:
                command = child_command(PAINTER, *([ACROSS] if across else ()))
            except FailedPreconditionError as error:
                raise UnavailableError(f"the painter cannot draw the graph: {error}") from error
            self._process = subprocess.Popen(  # noqa: S603  # our program, with this Python
                command, stdin=pipe, stdout=pipe, stderr=pipe
            )
            return self._process


def painter_svg(
    drawing: Drawing | Callable[[], Drawing], *, across: bool = False, longest_s: float = 60.0
) -> str:
    """Return a drawing as SVG, drawn by a process of its own. Arguments and errors as `Painter.svg`."""
    return Painter().svg(drawing, across=across, longest_s=longest_s)
