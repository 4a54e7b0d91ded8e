"""Numbers of a graph that runs; see the README."""
# A name is loaded when it is first used: the module of the plugin is in this package, and must load quickly.

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_monitor.budget import Budget as Budget
    from penstock_monitor.monitor import Monitor as Monitor
    from penstock_monitor.reading import CulpritReading as CulpritReading
    from penstock_monitor.reading import LatencyReading as LatencyReading
    from penstock_monitor.reading import NodeReading as NodeReading
    from penstock_monitor.reading import Reading as Reading
    from penstock_monitor.reading import StallReading as StallReading
    from penstock_monitor.reading import StreamReading as StreamReading
    from penstock_monitor.sampling import Sample as Sample
    from penstock_monitor.sampling import SamplePart as SamplePart

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_monitor.budget": "Budget",
    "penstock_monitor.monitor": "Monitor",
    "penstock_monitor.reading": (
        "CulpritReading LatencyReading NodeReading Reading StallReading StreamReading"
    ),
    "penstock_monitor.sampling": "Sample SamplePart",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
