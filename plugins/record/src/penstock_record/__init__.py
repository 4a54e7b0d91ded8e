"""Recordings of runs: MCAP files that keep packets, times, headers and side packets exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_record.codec import Codec as Codec
    from penstock_record.codec import Schema as Schema
    from penstock_record.options import McapSinkCalculatorOptions as McapSinkCalculatorOptions
    from penstock_record.options import McapSourceCalculatorOptions as McapSourceCalculatorOptions
    from penstock_record.recording_graphs import recording_graph as recording_graph
    from penstock_record.recording_graphs import replay_changes as replay_changes
    from penstock_record.recording_graphs import replay_graph as replay_graph
    from penstock_record.recording_reader import RecordingReader as RecordingReader
    from penstock_record.recording_rows import RecordingRows as RecordingRows

#: Module → the names that it has.
_HOMES: Final = {
    "penstock_record.codec": "Codec Schema",
    "penstock_record.recording_graphs": "recording_graph replay_changes replay_graph",
    "penstock_record.options": "McapSinkCalculatorOptions McapSourceCalculatorOptions",
    "penstock_record.recording_reader": "RecordingReader",
    "penstock_record.recording_rows": "RecordingRows",
}

if not TYPE_CHECKING:  # type checkers know the imports above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
