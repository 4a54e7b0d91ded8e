"""The picture of a graph for the page: that of `penstock show`, with room for numbers.

The library that lays graphs out may take seconds for a large one, and holds up the threads of its process.
So a process of its own draws: `python -m penstock_live.drawing` reads a CalculatorGraphConfig in binary form
and writes SVG.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import attrs

from penstock.errors import UnavailableError

#: Seconds. Source of the size: 1.5 s for 500 nodes here, the start of the process included.
_LONGEST: Final = 60.0
#: The widest of what the page writes there.
_IN_NODE: Final = ("88,888 steps/s, 100 % busy", "worker 88 (pid 8888888)")
_AT_STREAM: Final = ("888 of 888, 88,888/s, 88.8 s",)


def picture(config: bytes) -> str:
    """Return the picture of a graph as SVG. Boxes of nodes have two lines of notes, streams have one.

    Args:
        config: a CalculatorGraphConfig without subgraphs, in binary form.

    Raises:
        UnavailableError: it cannot be drawn, as where the library that lays it out is missing; says why.
    """
    try:
        done = subprocess.run(  # noqa: S603  # this module, with this Python
            [sys.executable, "-m", __name__], input=config, capture_output=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(
            f"the picture of the graph was not ready after {_LONGEST:g} s; the tables have all of its numbers"
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise UnavailableError(f"the graph cannot be drawn: {said[-1]}")
    return done.stdout.decode()


def draw(config: bytes) -> str:
    """Return the same, drawn by this process.

    Raises:
        UnavailableError: the library that lays it out is not installed.
    """
    from penstock.config import CalculatorGraphConfig
    from penstock_views import draw as views

    drawing = views.drawing_of(CalculatorGraphConfig.FromString(config))
    nodes = tuple(attrs.evolve(node, notes=_IN_NODE) for node in drawing.nodes)
    streams: dict[str, tuple[str, ...]] = {
        wire.name: _AT_STREAM for wire in drawing.wires() if not wire.is_side
    }
    return views.svg(attrs.evolve(drawing, nodes=nodes, stream_notes=streams), marked=True)


if __name__ == "__main__":
    try:
        sys.stdout.buffer.write(draw(sys.stdin.buffer.read()).encode())
    except UnavailableError as error:
        sys.exit(str(error))
