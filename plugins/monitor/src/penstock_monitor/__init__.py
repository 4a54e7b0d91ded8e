"""Numbers of a graph that runs; see the README."""
# A name is loaded when it is first used: the module of the plugin is in this package, and must load quickly.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_monitor.budget import Budget as Budget
    from penstock_monitor.monitor import Monitor as Monitor
    from penstock_monitor.reading import Culprit as Culprit
    from penstock_monitor.reading import Latency as Latency
    from penstock_monitor.reading import NodeReading as NodeReading
    from penstock_monitor.reading import Reading as Reading
    from penstock_monitor.reading import Stall as Stall
    from penstock_monitor.reading import StreamReading as StreamReading
    from penstock_monitor.sampling import Part as Part
    from penstock_monitor.sampling import Sample as Sample

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_monitor.budget": "Budget",
    "penstock_monitor.monitor": "Monitor",
    "penstock_monitor.reading": "Culprit Latency NodeReading Reading Stall StreamReading",
    "penstock_monitor.sampling": "Part Sample",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
