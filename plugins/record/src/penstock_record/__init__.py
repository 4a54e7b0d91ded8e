"""Recordings of runs: MCAP files that keep packets, times, headers and side packets exactly."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from penstock_record.codec import Codec as Codec
    from penstock_record.codec import Schema as Schema
    from penstock_record.graphs import recording_graph as recording_graph
    from penstock_record.graphs import replay_changes as replay_changes
    from penstock_record.graphs import replay_graph as replay_graph
    from penstock_record.options import McapSinkCalculatorOptions as McapSinkCalculatorOptions
    from penstock_record.options import McapSourceCalculatorOptions as McapSourceCalculatorOptions
    from penstock_record.reading import RecordingReader as RecordingReader
    from penstock_record.rows import RecordingRows as RecordingRows

_MODULES: Final = {
    "Codec": "codec",
    "McapSinkCalculatorOptions": "options",
    "McapSourceCalculatorOptions": "options",
    "RecordingReader": "reading",
    "RecordingRows": "rows",
    "Schema": "codec",
    "recording_graph": "graphs",
    "replay_changes": "graphs",
    "replay_graph": "graphs",
}

__all__ = [
    "Codec",
    "McapSinkCalculatorOptions",
    "McapSourceCalculatorOptions",
    "RecordingReader",
    "RecordingRows",
    "Schema",
    "recording_graph",
    "replay_changes",
    "replay_graph",
]


def __getattr__(name: str) -> Any:
    """Import the module of a name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
