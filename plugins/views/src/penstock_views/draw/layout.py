"""Where boxes are placed and how lines run between them: Graphviz's `dot`, through pygraphviz.

The only module that knows the library, which is imported for the first drawing. It is given sizes and
never any words, so that the layout depends on no font of the machine. Coordinates are pixels, y grows
downwards, (0, 0) is the upper left corner.
"""

from __future__ import annotations

import json
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Graphviz keeps global state: a process lays out one drawing at a time.
_ONE_AT_A_TIME: Final = threading.Lock()
_INCH: Final = 72.0
#: Points in one curve of a route.
_IN_CURVE: Final = 3

INSTALL: Final = 'pip install "penstock-views[draw]"'


@attrs.frozen
class Box:
    """Something to place."""

    #: Unique; letters and digits.
    key: str
    #: `width`, `height`: in pixels.
    width: float
    height: float
    #: `tops`, `bottoms`: widths of the ports along the upper and lower border, from the left. Their sum is at
    #: most `width`; the rest is shared out among them.
    tops: tuple[float, ...] = ()
    bottoms: tuple[float, ...] = ()

    def spread(self, widths: tuple[float, ...]) -> list[float]:
        """Return the widths with the rest of the border shared out."""
        more = (self.width - sum(widths)) / len(widths) if widths else 0
        return [width + more for width in widths]


@attrs.frozen
class Line:
    """Something to route."""

    #: `tail`, `head`: keys of boxes.
    tail: str
    head: str
    #: `tail_port`, `head_port`: which of the tail's `bottoms`, the head's `tops`; None for the middle.
    tail_port: int | None = None
    head_port: int | None = None
    #: How important it is that it is short and straight.
    weight: int = 1
    #: Whether it leads upwards, and must not turn the order of the boxes.
    is_back: bool = False


@attrs.frozen
class Frame:
    """A box around boxes."""

    #: Unique; letters and digits.
    key: str
    #: `title_width`, `title_height`: room for its title, in pixels.
    title_width: float
    title_height: float
    #: Keys of those directly inside.
    boxes: tuple[str, ...]
    #: Inside of it.
    frames: tuple[Frame, ...] = ()


@attrs.frozen
class Layout:
    """Where everything is."""

    #: `width`, `height`: of the whole.
    width: float
    height: float
    #: Key → centre (x, y).
    boxes: dict[str, tuple[float, float]]
    #: Key → left, top, right, bottom.
    frames: dict[str, tuple[float, float, float, float]]
    #: For each line its points: a start, then three for each Bézier curve.
    routes: list[list[tuple[float, float]]]
    #: For each line where its arrow ends.
    tips: list[tuple[float, float]]


def lay_out(  # noqa: PLR0913  # keywords with defaults
    boxes: Sequence[Box],
    lines: Sequence[Line],
    frames: Sequence[Frame] = (),
    *,
    first: Sequence[str] = (),
    last: Sequence[str] = (),
    across: bool = False,
) -> Layout:
    """Place boxes in rows, lines leading downwards where they can.

    Args:
        boxes: all of them.
        lines: between them.
        frames: around some of them.
        first: keys of boxes that belong to the top row.
        last: keys of boxes that belong to the bottom row.
        across: place them in columns instead, lines leading to the right. Ports are not kept apart then:
            lines go to the middle of a box.

    Raises:
        UnavailableError: the library is not installed; says how to get it.
    """
    if across:
        boxes = [attrs.evolve(box, tops=(), bottoms=()) for box in boxes]
        lines = [attrs.evolve(line, tail_port=None, head_port=None) for line in lines]
    direction = "LR" if across else "TB"
    text = "\n".join(_statements(boxes, lines, frames, first, last, direction))
    with _ONE_AT_A_TIME:
        answer = json.loads(_library().AGraph(string=text).draw(format="json", prog="dot"))
    return _layout(answer, len(lines))


def is_available() -> bool:
    """Return whether the library is installed and can be imported."""
    try:
        _library()
    except UnavailableError:
        return False
    return True


def _library() -> Any:
    try:
        return import_module("pygraphviz")
    except ImportError as error:
        raise UnavailableError(
            f"an SVG of a graph needs Graphviz's layout, which is not there ({error}); {INSTALL}, or take "
            "Mermaid or DOT text"
        ) from error


# --- to the library -------------------------------------------------------------------------------


def _statements(  # noqa: PLR0913, PLR0917  # what `lay_out` takes
    boxes: Sequence[Box],
    lines: Sequence[Line],
    frames: Sequence[Frame],
    first: Sequence[str],
    last: Sequence[str],
    direction: str,
) -> Iterator[str]:
    yield "digraph {"
    yield (
        f"graph [rankdir={direction}, nodesep=0.35, ranksep=0.28, splines=true, pad=0.2, newrank=true, "
        "outputorder=nodesfirst]"
    )
    yield 'node [shape=none, margin=0, label=""]'
    yield "edge [arrowsize=0.6]"
    for box in boxes:
        yield f"{box.key} [{_shape(box)}]"
    for frame in frames:
        yield from _frame(frame)
    for rank, keys in (("source", first), ("sink", last)):
        if keys:
            yield f"{{ rank={rank}; {'; '.join(keys)} }}"
    for i, line in enumerate(lines):
        tail = line.tail if line.tail_port is None else f"{line.tail}:o{line.tail_port}:s"
        # A line goes to the middle of a name: to its top it would be bent twice.
        head = line.head if line.head_port is None else f"{line.head}:i{line.head_port}:n"
        # written the other way round, so that its ends stay in their rows
        ends, back = (f"{head} -> {tail}", ", dir=back") if line.is_back else (f"{tail} -> {head}", "")
        yield f'{ends} [id="{i}", weight={line.weight}{back}]'
    yield "}"


def _shape(box: Box) -> str:
    if not box.tops and not box.bottoms:
        return f"shape=box, fixedsize=true, width={box.width / _INCH:.4f}, height={box.height / _INCH:.4f}"
    rows = "".join(
        f'<TR><TD CELLPADDING="0"><TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>'
        f"{''.join(_cell(box, prefix, i, width) for i, width in enumerate(_cells(box, widths)))}"
        "</TR></TABLE></TD></TR>"
        for prefix, widths in (("i", box.tops), ("o", box.bottoms))
    )
    return f'label=<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0">{rows}</TABLE>>'


def _cells(box: Box, widths: tuple[float, ...]) -> list[float]:
    return box.spread(widths) or [box.width]


def _cell(box: Box, prefix: str, i: int, width: float) -> str:
    size = f'FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{box.height / 2:.0f}"'
    return f'<TD PORT="{prefix}{i}" {size}></TD>'


def _frame(frame: Frame) -> Iterator[str]:
    yield f"subgraph cluster_{frame.key} {{"
    # without any space inside, and with some width, the library has nothing to warn of on stderr
    width = max(1.0, frame.title_width)
    size = f'FIXEDSIZE="TRUE" WIDTH="{width:.0f}" HEIGHT="{frame.title_height:.0f}"'
    cells = 'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"'
    yield f"graph [label=<<TABLE {cells} {size}><TR><TD></TD></TR></TABLE>>, labeljust=l, margin=12]"
    yield from (f"{key};" for key in frame.boxes)
    for inner in frame.frames:
        yield from _frame(inner)
    yield "}"


# --- from the library -----------------------------------------------------------------------------


def _layout(answer: dict[str, Any], lines: int) -> Layout:
    _, _, width, height = _numbers(answer["bb"])
    boxes, frames = {}, {}
    names = {}
    for one in answer.get("objects", ()):
        name = one["name"]
        if name.startswith("cluster_"):
            left, bottom, right, top = _numbers(one["bb"])
            frames[name.removeprefix("cluster_")] = (left, height - top, right, height - bottom)
        elif "pos" in one:
            x, y = _numbers(one["pos"])
            boxes[name] = (x, height - y)
            names[one["_gvid"]] = name
    routes: list[list[tuple[float, float]]] = [[] for _ in range(lines)]
    tips = [(0.0, 0.0)] * lines
    for edge in answer.get("edges", ()):
        i = int(edge["id"])
        if "pos" in edge:
            end, *points = _points(edge["pos"], height)
        else:  # Graphviz loses an edge now and then: the line is straight then
            start, end = (boxes[names[edge[which]]] for which in ("tail", "head"))
            points = [start, start, end, end]
        routes[i], tips[i] = points, end
    return Layout(width, height, boxes, frames, routes, tips)


def _points(pos: str, height: float) -> list[tuple[float, float]]:
    """Return the tip of the arrow, then the points of the curve, from where it starts."""
    points = []
    tip: tuple[float, float] | None = None
    for word in pos.split():
        x, y = _numbers(word.removeprefix("e,").removeprefix("s,"))
        if word.startswith(("e,", "s,")):
            tip = (x, height - y)
        else:
            points.append((x, height - y))
    if pos.startswith("s,"):
        points.reverse()
    return [tip or points[-1], *points]


def _numbers(text: str) -> list[float]:
    return [float(one) for one in text.split(",")]
