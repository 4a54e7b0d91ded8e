"""What happened in a run, as it happens: `Tracer`, the slot for whoever wants to know, and a first one.

`graph.set_tracer` puts a tracer into the next runs. Without one nothing of this package is on a packet's
way: what calls the tracer is put around the calls of each node when a run starts, or is not there.
`ChromeTracer` writes what it was told as a file that https://ui.perfetto.dev and chrome://tracing open.

Invariants: a tracer is never called while a lock of the run is held, and what it is told holds no payload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    from penstock_views.traces.chrome import ChromeTracer, TraceFile

__all__ = [
    "ChromeTracer",
    "Mark",
    "PacketAdded",
    "PacketsDropped",
    "QueueChanged",
    "TraceFile",
    "TracedRun",
    "TracedStep",
    "Tracer",
]


def __getattr__(name: str) -> object:
    """Import what writes files when it is first used: every graph imports this package."""
    if name not in {"ChromeTracer", "TraceFile"}:
        raise AttributeError(f"module 'penstock.tracing' has no attribute {name!r}")
    from penstock_views.traces import chrome  # see above

    return getattr(chrome, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
