"""What happens in a run, while it happens: `Tracer` is the interface, the other classes are what it gets.

`graph.set_tracer` gives a tracer to the next runs. It is never called while a lock of the run is held, and it
gets names, times and numbers, but no payloads. `penstock_views.traces.ChromeTracer` writes a file for
https://ui.perfetto.dev.
"""
# Without a tracer a packet passes no code of this package: the calls of a tracer are put around the calls of
# each node when a run starts.

from __future__ import annotations

from typing import Final

from penstock.late_names import late_names

#: Module → the names that it has.
_HOMES: Final = {
    "penstock.tracing.tracer": (
        "Mark OwnTrace PacketAdded PacketsDropped QueueChanged TracedRun TracedStep Tracer"
    )
}

__all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
