"""What happens in a run, while it happens: `Tracer` is the interface, the other classes are what it gets.

`graph.set_tracer` gives a tracer to the next runs. It is never called while a lock of the run is held, and it
gets names, times and numbers, but no payloads. `ChromeTracer`, of the pack penstock-views, writes a file for
https://ui.perfetto.dev.
"""
# Without a tracer a packet passes no code of this package: the calls of a tracer are put around the calls of
# each node when a run starts.

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.late_names import late_names
from penstock.tracing.own import OwnTrace
from penstock.tracing.tracer import (
    Mark,
    PacketAdded,
    PacketsDropped,
    QueueChanged,
    TracedRun,
    TracedStep,
    Tracer,
)

if TYPE_CHECKING:
    from penstock_views.traces import ChromeTracer, TraceFile

__all__ = [
    "ChromeTracer",
    "Mark",
    "OwnTrace",
    "PacketAdded",
    "PacketsDropped",
    "QueueChanged",
    "TraceFile",
    "TracedRun",
    "TracedStep",
    "Tracer",
]


__getattr__, __dir__ = late_names(__name__, {}, doors={"tracing": "ChromeTracer TraceFile"})
