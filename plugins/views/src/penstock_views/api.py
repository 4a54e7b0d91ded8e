"""What packs of tools use of traces, docstrings and notebooks.

`read_trace` reads a trace file as a `ReadTrace` of `ReadRun`s; `paths_of` finds each `Path` of packets in
one, made of `Leg`s, `critical_path_data` makes plain data of them, and `report` the text of
`penstock report`.
`PERFETTO_ENDINGS` is the ending of files in Perfetto's own format.

`docstring_parts` reads a docstring, `mimebundle` draws a graph for a notebook.
"""
# A name is loaded when it is first used.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_views.describe.docstrings import docstring_parts as docstring_parts
    from penstock_views.draw.notebook import mimebundle as mimebundle
    from penstock_views.traces.critical_paths import Leg as Leg
    from penstock_views.traces.critical_paths import Path as Path
    from penstock_views.traces.critical_paths import critical_path_data as critical_path_data
    from penstock_views.traces.critical_paths import paths_of as paths_of
    from penstock_views.traces.endings import PERFETTO_ENDINGS as PERFETTO_ENDINGS
    from penstock_views.traces.reading import ReadRun as ReadRun
    from penstock_views.traces.reading import ReadTrace as ReadTrace
    from penstock_views.traces.reading import read_trace as read_trace
    from penstock_views.traces.report import report as report

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_views.describe.docstrings": "docstring_parts",
    "penstock_views.draw.notebook": "mimebundle",
    "penstock_views.traces.endings": "PERFETTO_ENDINGS",
    "penstock_views.traces.critical_paths": "Leg Path critical_path_data paths_of",
    "penstock_views.traces.reading": "ReadRun ReadTrace read_trace",
    "penstock_views.traces.report": "report",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
