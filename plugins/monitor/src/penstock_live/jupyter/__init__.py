"""Running graphs and recordings in notebooks.

    from penstock_live.jupyter import Live, Recording

    Live(graph)               # in a cell: the picture of the graph with its numbers, which go on
    Recording("run.mcap")     # a slider over the rows of a recording

Needs anywidget, which `pip install "penstock-monitor[jupyter]"` brings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_live.jupyter.live import Live as Live
    from penstock_live.jupyter.recording import Recording as Recording

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_live.jupyter.live": "Live",
    "penstock_live.jupyter.recording": "Recording",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
