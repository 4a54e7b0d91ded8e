"""`penstock show GRAPH`: shows a graph file as a drawing, as text for drawing programs, or as plain text.

Nothing is run. A graph that cannot run is shown too, with its faults as notes on stderr.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING, Final

import attrs
import click

from penstock import PenstockError
from penstock.error_text import printable
from penstock.packs import official_packs
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import FileMissing, GraphInvalid, WrongUsage
from penstock_cli.graphs.checking import graph_faults
from penstock_cli.loading import OWN, is_unread
from penstock_cli.saying import say
from penstock_cli.subgraph_files import registry_with_subgraphs
from penstock_cli.whole_file import write_whole
from penstock_views import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from rich.console import Console, RenderableType

    from penstock import Registry
    from penstock_views.draw import Drawing, DrawnNode, Port

#: Endings of graph files.
GRAPH_FILES: Final = (".pbtxt", ".textproto", ".binarypb", ".pb", ".json")
#: Ending of the file to write → format, where `--format` is not given.
_BY_ENDING: Final = {
    ".mmd": "mermaid",
    ".mermaid": "mermaid",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".json": "json",
}
#: Columns where stdout is no terminal.
_PAGE_WIDTH: Final = 110


def is_graph(name: str) -> bool:
    """Return whether a name means a graph file, not a component: by its ending, or a path separator."""
    separators = {os.sep, os.altsep or os.sep, "/"}
    return name.lower().endswith(GRAPH_FILES) or any(separator in name for separator in separators)


def show_graph(path: Path, registry: Registry, kind: str | None, out: Path | None, *, expand: bool) -> None:
    """Print a graph, or write it to a file.

    Args:
        path: of the graph file.
        registry: has the installed components.
        kind: the format, as `--format` takes it; None for the format of the ending of `out`, else text.
        out: the file to write, replaced where it exists; None for stdout.
        expand: show the nodes inside of subgraphs.

    Raises:
        FileMissing: the graph cannot be read, or the file cannot be written.
        GraphInvalid: the file is not a graph.
        UnavailableError: SVG is requested, and the library that lays out graphs is not installed.
    """
    kind = kind or (_BY_ENDING.get(out.suffix.lower(), "text") if out else "text")
    registry = registry_with_subgraphs(existing_file(path, "graph file"), registry)
    try:
        drawing = draw.drawing(path, registry, expand=expand)
    except PenstockError as error:
        raise (FileMissing if is_unread(error) else GraphInvalid)(str(error)) from error
    if out is None and kind == "text":
        _print(drawing)
    else:
        _put(_written(drawing, kind, out or path), out)
    for note in (*drawing.notes, *graph_faults(path, registry, drawing)):
        say(f"note: {note}")
    unknown = {node.calculator for node in drawing.nodes if node.kind is draw.NodeKind.UNKNOWN}
    if unknown.difference(official_packs()["calculator"]):
        say(f"note: {OWN}")


def check_component(name: str, *, kind: str | None, out: Path | None, expand: bool) -> None:
    """Refuse options for graphs if the name is a component's.

    Raises:
        WrongUsage: one of these options is given.
    """
    given = {"--format": kind, "--out": out, "--expand": expand or None}
    wrong = next((option for option, value in given.items() if value is not None), None)
    if wrong is not None:
        raise WrongUsage(
            f"{wrong} is for graph files, but {name!r} is the name of a component; a graph file ends with "
            f"one of {', '.join(GRAPH_FILES)}, or is written with its directory, as in './{name}'"
        )


def _written(drawing: Drawing, kind: str, path: Path) -> str:
    try:
        return _WRITERS[kind](drawing)
    except OSError as error:
        raise FileMissing(
            f"penstock show cannot make the drawing of graph {str(path)!r}: {error.strerror or error}; "
            "Graphviz writes into the temporary directory (TMPDIR) before"
        ) from error


def _put(text: str, out: Path | None) -> None:
    if out is None:
        click.echo(text, nl=False)
        return
    write_whole(out, text, "file")


def _as_json(drawing: Drawing) -> str:
    return json.dumps(attrs.asdict(drawing), indent=2) + "\n"


def _as_text(drawing: Drawing) -> str:
    from rich.console import Console  # rich takes longer to import than all the rest

    console = Console(width=_PAGE_WIDTH, highlight=False, color_system=None, file=io.StringIO())
    with console.capture() as captured:
        _print(drawing, console)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


#: Format, as `--format` takes it → function that writes it.
_WRITERS: Final[dict[str, Callable[[Drawing], str]]] = {
    "text": _as_text,
    "mermaid": draw.mermaid,
    "dot": draw.dot,
    "svg": draw.svg,
    "json": _as_json,
}


# --- as text --------------------------------------------------------------------------------------


def _print(drawing: Drawing, console: Console | None = None) -> None:
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PAGE_WIDTH
    shown = console or Console(width=width, highlight=False)
    for part in _parts(drawing):
        shown.print(part)


def _parts(drawing: Drawing) -> Iterator[RenderableType]:
    from rich.text import Text  # names are not markup

    streams = sum(not wire.is_side for wire in drawing.wires())
    yield Text.assemble(
        (printable(drawing.name) or "graph", "bold"), f"  {len(drawing.nodes)} nodes, {streams} streams"
    )
    facts = [
        (heading, _listed(ports))
        for heading, ports in (
            ("inputs", drawing.inputs),
            ("outputs", drawing.outputs),
            ("input side packets", drawing.input_side_packets),
            ("output side packets", drawing.output_side_packets),
        )
        if ports
    ]
    if drawing.executors:
        named = (f"{name or 'default'} ({kind or 'of the application'})" for name, kind in drawing.executors)
        facts.append(("executors", printable(", ".join(named))))
    if facts:
        yield _table(facts)
    if drawing.nodes:
        yield Text("\nnodes", style="bold cyan")
        yield _nodes(drawing.nodes)


def _nodes(nodes: Sequence[DrawnNode]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 1), header_style="dim")
    for heading in ("node", "reads", "writes"):
        table.add_column(heading, overflow="fold")
    for node in nodes:
        table.add_row(
            Text("\n").join(
                [Text(printable(node.name), style="bold"), *(Text(printable(line)) for line in _about(node))]
            ),
            Text(_lines((*node.inputs, *node.input_side_packets), len(node.inputs))),
            Text(_lines((*node.outputs, *node.output_side_packets), len(node.outputs))),
        )
    return table


def _about(node: DrawnNode) -> Iterator[str]:
    if node.calculator != node.name:
        yield f"  {node.calculator}"
    if node.kind is not draw.NodeKind.CALCULATOR:
        yield "  not installed" if node.kind is draw.NodeKind.UNKNOWN else "  a subgraph"
    if node.executor:
        yield f"  on {node.executor}"


def _lines(ports: Sequence[Port], streams: int) -> str:
    """Return one port per line: streams, then side packets."""
    return "\n".join(
        f"{printable(port.entry)}{' (back edge)' * port.back_edge}{' (side packet)' * (i >= streams)}"
        for i, port in enumerate(ports)
    )


def _listed(ports: Sequence[Port]) -> str:
    return ", ".join(printable(port.entry) for port in ports)


def _table(rows: Sequence[tuple[str, str]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 1, 0, 1))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
