"""The picture of a graph for the page: the one of `penstock show`, with room for numbers.

A `Look` is the picture of the page's first screen: groups are closed until they are opened, ports have no
names, side packets are left out, and a node has room for lines over time.

The library that lays graphs out may take seconds for a large one, and holds up the threads of its process.
So a process of its own draws: `python -m penstock_live.drawing [LOOK]` reads a CalculatorGraphConfig in
binary form and writes SVG.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import FailedPreconditionError, UnavailableError
from penstock.packs import child_command

if TYPE_CHECKING:
    from penstock_views.draw import Drawing, DrawnNode, Port

#: Seconds. Source of the size: 1.5 s for 500 nodes here, the start of the process included.
_LONGEST: Final = 60.0
#: The widest of what the page writes there.
_IN_NODE: Final = ("88,888 steps/s, 100 % busy", "worker 88 (pid 8888888)")
_AT_STREAM: Final = ("888 of 888, 88,888/s, 88.8 s",)
#: Two lines of words, and room for lines over time with a line of words under them.
_IN_LOOK: Final = ("88,888 steps/s, 100 % busy", "worker 88 (pid 8888888)", "", "")


@attrs.frozen
class Look:
    """How the page wants the picture."""

    #: Whether the graph leads from left to right; else downwards.
    is_across: bool = False
    #: Names of groups whose contents are drawn, as "outer__inner"; others are ignored.
    opened: tuple[str, ...] = ()


def picture(config: bytes, look: Look | None = None) -> str:
    """Return the picture of a graph as SVG. Boxes of nodes have two lines of notes, streams have one.

    Args:
        config: a CalculatorGraphConfig without subgraphs, in binary form.
        look: of the page's first screen, whose nodes have two empty lines of notes more; None for everything.

    Raises:
        UnavailableError: it cannot be drawn, as where the library that lays it out is missing; says why.
    """
    try:
        done = subprocess.run(  # noqa: S603  # this module, with this Python
            child_command(__name__, *_arguments(look)),
            input=config,
            capture_output=True,
            timeout=_LONGEST,
            check=False,
        )
    except FailedPreconditionError as error:
        raise UnavailableError(f"the graph cannot be drawn: {error}") from error
    except subprocess.TimeoutExpired:
        raise UnavailableError(
            f"the picture of the graph was not ready after {_LONGEST:g} s; the tables have all of its numbers"
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise UnavailableError(f"the graph cannot be drawn: {said[-1]}")
    return done.stdout.decode()


def _arguments(look: Look | None) -> tuple[str, ...]:
    return () if look is None else (json.dumps([look.is_across, look.opened]),)


def draw(config: bytes, look: Look | None = None) -> str:
    """Return the same, drawn by this process.

    Raises:
        UnavailableError: the library that lays it out is not installed.
    """
    from penstock.config import CalculatorGraphConfig
    from penstock_views import draw as views

    drawing = views.drawing_of(CalculatorGraphConfig.FromString(config))
    notes: tuple[str, ...] = _IN_NODE
    if look is not None:
        drawing, notes = _plain(views.closed(drawing, look.opened)), _IN_LOOK
    nodes = tuple(attrs.evolve(node, notes=notes) for node in drawing.nodes)
    streams: dict[str, tuple[str, ...]] = {
        wire.name: _AT_STREAM for wire in drawing.wires() if not wire.is_side
    }
    noted = attrs.evolve(drawing, nodes=nodes, stream_notes=streams)
    return views.svg(noted, marked=True, across=look is not None and look.is_across)


def _plain(drawing: Drawing) -> Drawing:
    """Return a drawing without side packets, and boxes without ports' names, calculators and executors."""
    return attrs.evolve(
        drawing,
        nodes=tuple(map(_plain_node, drawing.nodes)),
        input_side_packets=(),
        output_side_packets=(),
    )


def _plain_node(node: DrawnNode) -> DrawnNode:
    def without_place(port: Port) -> Port:
        return attrs.evolve(port, place="")

    return attrs.evolve(
        node,
        calculator=node.label,
        executor="",
        inputs=tuple(map(without_place, node.inputs)),
        outputs=tuple(map(without_place, node.outputs)),
        input_side_packets=(),
        output_side_packets=(),
    )


def main() -> None:
    """Draw what comes in, as the module says."""
    wanted = Look(*json.loads(sys.argv[1])) if len(sys.argv) > 1 else None
    try:
        sys.stdout.buffer.write(draw(sys.stdin.buffer.read(), wanted).encode())
    except UnavailableError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
