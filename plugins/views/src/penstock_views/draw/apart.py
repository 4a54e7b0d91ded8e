"""Drawings as SVG, laid out by a process of its own.

The library that lays graphs out takes seconds for a large one, and holds up the threads of its process. So
`svg_apart` starts the program `painter`.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Final

from penstock.errors import UnavailableError

if TYPE_CHECKING:
    from penstock_views.draw.drawing import Drawing

#: The program, and the word that lets it draw from left to right.
PAINTER: Final = "penstock_views.draw.painter"
ACROSS: Final = "across"


def svg_apart(drawing: Drawing, *, across: bool = False, longest_s: float = 60.0) -> str:
    """Return a drawing as SVG with `marked`, as `svg` does, without holding up this process.

    Args:
        drawing: the graph.
        across: as for `svg`.
        longest_s: how long it may take, in seconds.

    Raises:
        UnavailableError: the library that lays it out is not installed, or it took too long; says why.
    """
    try:
        done = subprocess.run(  # noqa: S603  # our program, with this Python
            [sys.executable, "-m", PAINTER, *([ACROSS] if across else ())],
            input=pickle.dumps(drawing),
            capture_output=True,
            timeout=longest_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"the picture of the graph was not ready after {longest_s:g} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise UnavailableError(said[-1])
    return done.stdout.decode()
