"""`penstock show GRAPH --watch`: the picture of a graph file in a browser, drawn again at each save."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

import click

from penstock.error_text import printable
from penstock.errors import PenstockError
from penstock_cli.api import VIEWER, FileMissing, Viewer, existing_file, registry_with_subgraphs, say

if TYPE_CHECKING:
    from pathlib import Path

    from penstock import Registry
    from penstock_live.picture_site import PictureSite

_NEEDED: Final = ("h11", "pygraphviz", "starlette", "uvicorn")
_LOOPBACK: Final = "127.0.0.1"
#: How often the files are looked at.
_LOOK_S: Final = 0.2
_ENDINGS: Final = ("*.pbtxt", "*.textproto", "*.json")
#: Files that are looked at.
_MOST_FILES: Final = 500


def watch_option() -> click.Option:
    """Return the option `--watch` of `penstock show`."""
    return click.Option(
        ["--watch"],
        is_flag=True,
        expose_value=False,
        callback=_note,
        help="Show the picture of a graph in a browser, drawn again at each save of the file, until Ctrl-C; "
        "needs penstock-monitor[live] installed.",
    )


def _note(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001  # click's
    if value:
        ctx.meta[VIEWER] = Viewer("--watch", watch_graph)


def watch_graph(
    path: Path,
    registry: Registry,
    expand: bool,  # noqa: FBT001  # as a `Viewer` is called
) -> None:
    """Serve the picture of a graph file until Ctrl-C; print the address.

    A file that cannot be drawn, because it is broken, leaves the picture as it is, and the page says what is
    wrong. Nothing is run.

    Args:
        path: of the graph file.
        registry: has the installed components.
        expand: show the nodes inside of subgraphs.

    Raises:
        FileMissing: there is no such file.
        UnavailableError: a library of the page or of the drawing is not installed; says how to get it.
        KeyboardInterrupt: Ctrl-C, after everything is closed.
    """
    from penstock_live.listening import listen
    from penstock_live.needs import check_web

    existing_file(path, "graph file")
    check_web("the picture of a graph in a browser", 'pip install "penstock-monitor[live]"', _NEEDED)
    from penstock_live.picture_site import PictureSite  # with the web server

    listening, address = listen(_LOOPBACK, 0, is_tls=False)
    try:
        site = PictureSite(listening, address, title=path.name)
    except BaseException:
        listening.close()
        raise
    try:
        say(f"open {site.url} in a browser; Ctrl-C ends it")
        _follow(path, registry, site, expand=expand)
    finally:
        site.close()


def _follow(
    path: Path,
    registry: Registry,
    site: PictureSite,
    *,
    expand: bool,
) -> None:
    """Draw whenever one of the files changes."""
    seen: object = None
    never = threading.Event()
    while True:
        state = _state(path)
        if state != seen:
            seen = state
            svg, notes = _drawn(path, registry, expand=expand)
            site.show(svg, [printable(note) for note in notes])
        never.wait(_LOOK_S)  # Ctrl-C ends it


def _state(path: Path) -> object:
    """Return what changes when a file is saved: times and sizes of the graph and of the files beside it."""
    beside = sorted({one for ending in _ENDINGS for one in path.parent.glob(ending)})[:_MOST_FILES]
    return [(one, *_stat(one)) for one in dict.fromkeys((path, *beside))]


def _stat(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:  # it is being replaced
        return 0, -1
    return found.st_mtime_ns, found.st_size


def _drawn(path: Path, registry: Registry, *, expand: bool) -> tuple[str, list[str]]:
    """Return the picture, "" where there is none, and what is wrong."""
    from penstock_cli.api import graph_faults  # on demand
    from penstock_views import draw

    try:
        known = registry_with_subgraphs(existing_file(path, "graph file"), registry)
        drawing = draw.drawing(path, known, expand=expand)
        return draw.painter_svg(drawing), [*drawing.notes, *graph_faults(path, known, drawing)]
    except (PenstockError, FileMissing) as error:
        return "", [str(error)]
