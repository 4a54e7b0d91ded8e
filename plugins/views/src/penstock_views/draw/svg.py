"""A drawing as SVG: boxes with their ports along the borders, streams as lines with their names.

A stream is drawn once: a line from its writer to its name, and from there one to each reader. Side
packets are dashed, error streams dotted; both, and back edges, have a colour of their own; groups are
frames. The name of an element is shown in full while the pointer is on it.

With `marked`, elements say what they are in attributes, so that a program finds them: `data-node` on the
group of a node, `data-group` on the frame of a group and on the box of a subgraph, `data-stream` on the
groups of a stream's name, its graph ports and its lines; lines have `data-writer` or `data-reader` too. Side
packets have none.
"""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING, Final

import attrs

from penstock_views.draw.drawing import SEPARATOR, DrawnNode, NodeKind, Port
from penstock_views.draw.groups import Group, grouped
from penstock_views.draw.layout import Box, Frame, Layout, Line, lay_out
from penstock_views.draw.markup import document, element, number, rules, shortened, text_width, title, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from penstock_views.draw.drawing import Drawing, End, Wire

_NAME_SIZE: Final = 13.0
_SMALL_SIZE: Final = 10.5
_PORT_SIZE: Final = 9.0
#: Pixels; longer names are shortened in the middle.
_WIDEST: Final = 260.0
_WIDEST_PORT: Final = 110.0
_WIDEST_STREAM: Final = 180.0
_PORT_ROW: Final = 15.0
_NAME_ROW: Final = 18.0
_SMALL_ROW: Final = 14.0
_PADDING: Final = 12.0
_STREAM_ROW: Final = 14.0
_PILL: Final = 22.0
_MARGIN: Final = 14.0
_TITLE: Final = 16.0
_ARROW: Final = 4.0

_STYLE: Final = rules(
    fixed={
        ".pk-name": f"font-size: {_NAME_SIZE:g}px; font-weight: 600; text-anchor: middle",
        ".pk-small, .pk-stream": f"font-size: {_SMALL_SIZE:g}px; text-anchor: middle",
        ".pk-port": f"font-size: {_PORT_SIZE:g}px; text-anchor: middle",
        ".pk-title": f"font-size: {_SMALL_SIZE:g}px; font-weight: 600",
        ".pk-line": "fill: none; stroke-width: 1.4px",
        ".pk-side": "stroke-dasharray: 5 3",
        ".pk-back": "stroke-width: 2px",
        ".pk-line.pk-error": "stroke-dasharray: 1.5 3; stroke-linecap: round; stroke-width: 2px",
        ".pk-box, .pk-pill": "stroke-width: 1.2px",
        ".pk-unknown": "stroke-dasharray: 4 3",
        ".pk-frame": "fill-opacity: 0.5; stroke-width: 1px",
    },
    light={
        ".pk-box": "fill: #eef4fb; stroke: #4a78ad",
        ".pk-subgraph": "fill: #f3effb; stroke: #7a5fb5",
        ".pk-unknown": "fill: #f4f4f4; stroke: #8a8a8a",
        ".pk-pill": "fill: #eaf6ee; stroke: #3f8f5f",
        ".pk-pill.pk-side": "fill: #f7f5ec; stroke: #94803a",
        ".pk-pill.pk-missing": "fill: #fdeaea; stroke: #c0392b",
        ".pk-frame": "fill: #f6f7f9; stroke: #b9c0c9",
        ".pk-name": "fill: #17212b",
        ".pk-small, .pk-title": "fill: #51606e",
        ".pk-port": "fill: #5b6f85",
        ".pk-stream": "fill: #2c4a38",
        ".pk-line": "stroke: #6b7a89",
        ".pk-tip": "fill: #6b7a89",
        ".pk-line.pk-side": "stroke: #a08d4a",
        ".pk-tip.pk-side": "fill: #a08d4a",
        ".pk-line.pk-back": "stroke: #c4622d",
        ".pk-tip.pk-back": "fill: #c4622d",
        ".pk-line.pk-error": "stroke: #c0392b",
        ".pk-tip.pk-error": "fill: #c0392b",
        ".pk-stream.pk-error": "fill: #a32a1c",
    },
    dark={
        ".pk-box": "fill: #1d2a38; stroke: #6f9fd8",
        ".pk-subgraph": "fill: #2a2440; stroke: #a48be0",
        ".pk-unknown": "fill: #2a2a2a; stroke: #8f8f8f",
        ".pk-pill": "fill: #1a3024; stroke: #5fb583",
        ".pk-pill.pk-side": "fill: #2e2a18; stroke: #bfa550",
        ".pk-pill.pk-missing": "fill: #3a1c1c; stroke: #e57368",
        ".pk-frame": "fill: #1b2128; stroke: #4a5663",
        ".pk-name": "fill: #eef3f8",
        ".pk-small, .pk-title": "fill: #a9b7c5",
        ".pk-port": "fill: #9db2c8",
        ".pk-stream": "fill: #b6dcc4",
        ".pk-line": "stroke: #8594a3",
        ".pk-tip": "fill: #8594a3",
        ".pk-line.pk-side": "stroke: #bfa550",
        ".pk-tip.pk-side": "fill: #bfa550",
        ".pk-line.pk-back": "stroke: #e58a56",
        ".pk-tip.pk-back": "fill: #e58a56",
        ".pk-line.pk-error": "stroke: #e57368",
        ".pk-tip.pk-error": "fill: #e57368",
        ".pk-stream.pk-error": "fill: #ff9b8f",
    },
)


def svg(drawing: Drawing, *, marked: bool = False, across: bool = False) -> str:
    """Return an SVG document, in pixels, with light and dark colours. Equal drawings give equal text.

    Args:
        drawing: the graph.
        marked: write names of nodes and streams as attributes; see the module.
        across: let the graph lead from left to right, not downwards; for nodes whose ports have no names.

    Raises:
        UnavailableError: the library that lays it out is not installed.
    """
    return _Picture(drawing, marked=marked, across=across).document()


@attrs.frozen
class _Label:
    """A stream's name, a graph port, or a "?" where a stream has no writer: a box with words."""

    box: Box
    text: str
    full: str
    kind: str
    #: Classes of side packets and error streams; "" for other streams.
    look: str
    notes: tuple[str, ...]
    marks: dict[str, str]


@attrs.frozen
class _Drawn:
    """A line and how it looks."""

    line: Line
    classes: str
    has_tip: bool
    full: str
    marks: dict[str, str]


class _Picture:
    def __init__(self, drawing: Drawing, *, marked: bool, across: bool) -> None:
        self._drawing: Final = drawing
        self._is_marked: Final = marked
        self._is_across: Final = across
        self._boxes: Final = [_box(i, node) for i, node in enumerate(drawing.nodes)]
        self._labels: Final[list[_Label]] = []
        self._lines: Final[list[_Drawn]] = []
        #: Group of nodes → keys of labels that belong there.
        self._inside: Final[dict[tuple[str, ...], list[str]]] = {}
        self._first: Final[list[str]] = []
        self._last: Final[list[str]] = []
        for i, wire in enumerate(drawing.wires()):
            self._add(wire, i)

    # --- what is there ----------------------------------------------------------------------------

    def _add(self, wire: Wire, i: int) -> None:
        """Add a stream or side packet: its name, and its lines."""
        look = _look(wire)
        writer = wire.writer
        if writer is None and wire.is_side:
            start = self._pill(f"m{i}", wire.name, f"side packet {wire.name!r} of the application", "", wire)
            self._first.append(start)
        elif writer is None:
            start = self._pill(f"m{i}", f"? {wire.name}", f"nothing writes {wire.name!r}", "pk-missing", wire)
        elif writer.node < 0:
            start = self._pill(
                f"g{i}", writer.entry, f"{_what(wire)} {writer.entry!r} of the graph", "", wire
            )
            self._first.append(start)
        else:
            start = self._name(wire, i, writer.node)
            line = Line(f"n{writer.node}", start, self._bottom(writer, wire), weight=6)
            marks = self._marks(wire, data_writer=self._drawing.nodes[writer.node].name)
            self._lines.append(_Drawn(line, f"pk-line{look}", has_tip=False, full=wire.name, marks=marks))
        for end in wire.readers:
            head = f"n{end.node}"
            if end.node < 0:
                full = f"{_what(wire)} {end.entry!r} of the graph, out"
                head = self._pill(f"q{i}x{end.port}", end.entry, full, "", wire)
                self._last.append(head)
            line = Line(start, head, None, self._top(end, wire), weight=2, is_back=end.back_edge)
            back = " pk-back" if end.back_edge else ""
            full = f"{wire.name}{', a back edge' if end.back_edge else ''}"
            reader = self._drawing.nodes[end.node].name if end.node >= 0 else ""
            marks = self._marks(wire, data_reader=reader)
            self._lines.append(_Drawn(line, f"pk-line{look}{back}", has_tip=True, full=full, marks=marks))

    def _marks(self, wire: Wire, **others: str) -> dict[str, str]:
        """Return the attributes of an element of a stream."""
        return {"data_stream": wire.name, **others} if self._is_marked and not wire.is_side else {}

    def _pill(self, key: str, text: str, full: str, kind: str, wire: Wire) -> str:
        short = shortened(text, _SMALL_SIZE, _WIDEST_STREAM)
        # what is said of a stream stands once: at its name, or where it has none, as it comes in, at its port
        notes = () if key.startswith("q") else self._notes(wire)
        width = _width(short, notes) + 2 * _PADDING
        box = Box(key, width, _PILL + _SMALL_ROW * len(notes))
        kinds = f"pk-pill {kind}".strip()
        self._labels.append(_Label(box, short, full, kinds, _look(wire), notes, self._marks(wire)))
        return key

    def _name(self, wire: Wire, i: int, node: int) -> str:
        """Add a stream's name on its line, in the group of its writer."""
        short = shortened(wire.name.rpartition("__")[2] or wire.name, _SMALL_SIZE, _WIDEST_STREAM)
        notes = self._notes(wire)
        box = Box(f"s{i}", _width(short, notes) + 4, _STREAM_ROW + _SMALL_ROW * len(notes))
        full = f"{_what(wire)} {wire.name!r}"
        self._labels.append(_Label(box, short, full, "", _look(wire), notes, self._marks(wire)))
        self._inside.setdefault(self._drawing.nodes[node].groups, []).append(box.key)
        return box.key

    def _notes(self, wire: Wire) -> tuple[str, ...]:
        """Return the further lines of a stream, shortened; side packets have none."""
        notes = () if wire.is_side else self._drawing.stream_notes.get(wire.name, ())
        return tuple(shortened(note, _SMALL_SIZE, _WIDEST_STREAM) for note in notes)

    def _top(self, end: End, wire: Wire) -> int | None:
        if end.node < 0:
            return None
        return end.port + (len(self._drawing.nodes[end.node].inputs) if wire.is_side else 0)

    def _bottom(self, end: End, wire: Wire) -> int:
        return end.port + (len(self._drawing.nodes[end.node].outputs) if wire.is_side else 0)

    def _frames(self, group: Group) -> tuple[Frame, ...]:
        return tuple(self._frame(inner) for inner in group.groups)

    def _frame(self, group: Group) -> Frame:
        short = shortened(self._drawing.group_title(group.path), _SMALL_SIZE, _WIDEST, bold=True)
        keys = (*(f"n{i}" for i in group.nodes), *self._inside.get(group.path, ()))
        key = "x".join(map(str, self._path_numbers(group.path)))
        return Frame(key, text_width(short, _SMALL_SIZE, bold=True), _TITLE, keys, self._frames(group))

    def _path_numbers(self, path: tuple[str, ...]) -> list[int]:
        """Return a key for a group: the first node of each of the groups that it is in."""
        return [
            next(i for i, node in enumerate(self._drawing.nodes) if node.groups[:depth] == path[:depth])
            for depth in range(1, len(path) + 1)
        ]

    # --- how it looks -----------------------------------------------------------------------------

    def document(self) -> str:
        whole = grouped(self._drawing)
        layout = lay_out(
            [*self._boxes, *(label.box for label in self._labels)],
            [drawn.line for drawn in self._lines],
            self._frames(whole),
            first=self._first,
            last=self._last,
            across=self._is_across,
        )
        content = [
            f'<g transform="translate({number(_MARGIN)} {number(_MARGIN)})">',
            *self._draw_frames(whole, layout),
            *self._draw_lines(layout),
            *self._draw_labels(layout),
            *self._draw_nodes(layout),
            "</g>",
        ]
        name = f"graph {self._drawing.name}".strip()
        label = f"{name}: {len(self._drawing.nodes)} nodes"
        return document(layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN, label, _STYLE, content)

    def _draw_frames(self, group: Group, layout: Layout) -> Iterator[str]:
        for inner in group.groups:
            key = "x".join(map(str, self._path_numbers(inner.path)))
            left, top, right, bottom = layout.frames[key]
            full = self._drawing.group_title(inner.path)
            short = shortened(full, _SMALL_SIZE, _WIDEST, bold=True)
            size = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            yield _group(
                "pk-group",
                title(f"group {full!r}"),
                element("rect", rx=6, class_="pk-frame", **size),
                words(short, left + 10, top + 15, class_="pk-title"),
                **({"data_group": SEPARATOR.join(inner.path)} if self._is_marked else {}),
            )
            yield from self._draw_frames(inner, layout)

    def _draw_lines(self, layout: Layout) -> Iterator[str]:
        for drawn, route, tip in zip(self._lines, layout.routes, layout.tips, strict=True):
            parts = [title(drawn.full)]
            if drawn.has_tip:
                parts += [_path(route, None, drawn.classes), _tip(route[-1], tip, drawn.classes)]
            else:
                parts.append(_path(route, tip, drawn.classes))
            yield _group("pk-edge", *parts, **drawn.marks)

    def _draw_labels(self, layout: Layout) -> Iterator[str]:
        for label in self._labels:
            x, y = layout.boxes[label.box.key]
            parts = [title(label.full)]
            if label.kind:
                parts.append(_rect(label.box, x, y, f"{label.kind}{label.look}", _PILL / 2))
            baseline = y + _SMALL_SIZE * 0.35 - _SMALL_ROW / 2 * len(label.notes)
            parts.append(words(label.text, x, baseline, class_=f"pk-stream{label.look}"))
            for i, note in enumerate(label.notes, 1):
                parts.append(words(note, x, baseline + _SMALL_ROW * i, class_="pk-small pk-note"))
            yield _group("pk-graph-port" if label.kind else "pk-label", *parts, **label.marks)

    def _draw_nodes(self, layout: Layout) -> Iterator[str]:
        for node, box in zip(self._drawing.nodes, self._boxes, strict=True):
            x, y = layout.boxes[box.key]
            yield _group(
                "pk-node",
                title(_in_full(node)),
                _rect(box, x, y, f"pk-box{_KIND_CLASSES[node.kind]}", 5),
                *_inner_border(node, box, x, y),
                *_ports(
                    box, (*node.inputs, *node.input_side_packets), box.tops, x, y - box.height / 2 + 10.5
                ),
                *_lines(node, box, x, y),
                *_ports(
                    box, (*node.outputs, *node.output_side_packets), box.bottoms, x, y + box.height / 2 - 4.5
                ),
                **(_marks(node) if self._is_marked else {}),
            )


_KIND_CLASSES: Final = {
    NodeKind.CALCULATOR: "",
    NodeKind.SUBGRAPH: " pk-subgraph",
    NodeKind.UNKNOWN: " pk-unknown",
}


def _marks(node: DrawnNode) -> dict[str, str]:
    return {"data_node": node.name, **({"data_group": node.name} if node.kind is NodeKind.SUBGRAPH else {})}


# --- nodes ----------------------------------------------------------------------------------------


def _box(i: int, node: DrawnNode) -> Box:
    tops = _port_widths((*node.inputs, *node.input_side_packets))
    bottoms = _port_widths((*node.outputs, *node.output_side_packets))
    name, *small = _shortened_lines(node)
    widths = [text_width(name, _NAME_SIZE, bold=True), *(text_width(line, _SMALL_SIZE) for line in small)]
    width = max(60.0, max(widths) + 2 * _PADDING, sum(tops), sum(bottoms))
    height = _top_row(node) + _bottom_row(node) + _NAME_ROW + _SMALL_ROW * len(small) + 10
    # whole even pixels: the library rounds cells, and both halves of a box are cells
    return Box(f"n{i}", float(round(width)), float(2 * round(height / 2)), tops, bottoms)


def _shortened_lines(node: DrawnNode) -> list[str]:
    name, *small = node.lines
    return [
        shortened(name, _NAME_SIZE, _WIDEST, bold=True),
        *(shortened(line, _SMALL_SIZE, _WIDEST) for line in small),
    ]


def _port_widths(ports: Sequence[Port]) -> tuple[float, ...]:
    return tuple(text_width(_place(port), _PORT_SIZE) + 10 for port in ports)


def _place(port: Port) -> str:
    return shortened(port.place, _PORT_SIZE, _WIDEST_PORT)


def _top_row(node: DrawnNode) -> float:
    return _PORT_ROW if any(port.place for port in (*node.inputs, *node.input_side_packets)) else 2


def _bottom_row(node: DrawnNode) -> float:
    return _PORT_ROW if any(port.place for port in (*node.outputs, *node.output_side_packets)) else 2


def _lines(node: DrawnNode, box: Box, x: float, y: float) -> Iterator[str]:
    name, *small = _shortened_lines(node)
    at = y - box.height / 2 + _top_row(node) + _NAME_ROW
    yield words(name, x, at, class_="pk-name")
    first_note = len(small) - len(node.notes)
    for i, line in enumerate(small):
        at += _SMALL_ROW
        yield words(line, x, at, class_="pk-small" if i < first_note else "pk-small pk-note")


def _ports(
    box: Box, ports: Sequence[Port], widths: tuple[float, ...], x: float, baseline: float
) -> Iterator[str]:
    at = x - box.width / 2
    for port, width in zip(ports, box.spread(widths), strict=True):
        if port.place:
            yield words(_place(port), at + width / 2, baseline, class_="pk-port")
        at += width


def _inner_border(node: DrawnNode, box: Box, x: float, y: float) -> Iterator[str]:
    if node.kind is NodeKind.SUBGRAPH:
        inner = Box("", box.width - 6, box.height - 6)
        yield _rect(inner, x, y, "pk-box pk-subgraph", 3)


def _in_full(node: DrawnNode) -> str:
    lines = [node.name]
    if node.kind is NodeKind.UNKNOWN:
        lines.append(f"{node.calculator}: not installed")
    elif node.calculator != node.name:
        lines.append(f"{node.kind.value} {node.calculator}")
    if node.executor:
        lines.append(f"executor {node.executor}")
    for word, ports in (
        ("in", node.inputs),
        ("side in", node.input_side_packets),
        ("out", node.outputs),
        ("side out", node.output_side_packets),
    ):
        lines += [f"{'errors out' if port.is_error else word} {port.entry}" for port in ports]
    return "\n".join(lines)


def _what(wire: Wire) -> str:
    return "side packet" if wire.is_side else "error stream" if wire.is_error else "stream"


def _look(wire: Wire) -> str:
    return " pk-side" if wire.is_side else " pk-error" if wire.is_error else ""


# --- shapes ---------------------------------------------------------------------------------------


def _width(text: str, notes: Iterable[str]) -> float:
    return max(text_width(line, _SMALL_SIZE) for line in (text, *notes))


def _group(kind: str, *parts: str, **marks: str) -> str:
    return element("g", "".join(parts), class_=kind, **marks)


def _rect(box: Box, x: float, y: float, classes: str, radius: float) -> str:
    left, top = x - box.width / 2, y - box.height / 2
    return element("rect", x=left, y=top, width=box.width, height=box.height, rx=radius, class_=classes)


def _path(route: list[tuple[float, float]], end: tuple[float, float] | None, classes: str) -> str:
    start, *rest = (f"{number(x)} {number(y)}" for x, y in route)
    curves = "".join(f" C {' '.join(rest[i : i + 3])}" for i in range(0, len(rest), 3))
    last = "" if end is None else f" L {number(end[0])} {number(end[1])}"
    return element("path", d=f"M {start}{curves}{last}", class_=classes)


def _tip(base: tuple[float, float], tip: tuple[float, float], classes: str) -> str:
    (x0, y0), (x1, y1) = base, tip
    length = hypot(x1 - x0, y1 - y0) or 1.0
    across, along = -(y1 - y0) / length * _ARROW, (x1 - x0) / length * _ARROW
    corners = [(x1, y1), (x0 + across, y0 + along), (x0 - across, y0 - along)]
    points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
    return element("polygon", points=points, class_=classes.replace("pk-line", "pk-tip"))
