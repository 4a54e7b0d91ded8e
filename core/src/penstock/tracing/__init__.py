"""What happens in a run, while it happens: `Tracer`, the interface for those who want to know.

`graph.set_tracer` puts a tracer into the next runs. Without one a packet passes no code of this package:
the calls of a tracer are put around the calls of each node when a run starts.
`ChromeTracer`, of the pack penstock-views, writes a file for https://ui.perfetto.dev and chrome://tracing.

Invariants: a tracer is never called while a lock of the run is held, and its arguments hold no payload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    """Import what writes files when it is first used; it is in a pack.

    Raises:
        ModuleNotFoundError: the pack is not installed; says what to install.
    """
    if name not in {"ChromeTracer", "TraceFile"}:
        raise AttributeError(f"module 'penstock.tracing' has no attribute {name!r}")
    from penstock.doors import behind, member  # every graph imports this package, and few write traces

    return member(behind("tracing", f"penstock.tracing.{name}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
