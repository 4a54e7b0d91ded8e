"""`Topology`: which node reads and writes what in a run, and where packets enter and leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock_monitor.wiring import StreamWiring


@attrs.frozen
class Topology:
    """The streams of a run, and the nodes at their ends.

    Attributes:
        streams: all, in the order of the plan.
        writers: stream → node; without graph inputs.
        reads: node → the streams that it reads; sources are missing.
        entries: at which packets enter the graph: graph inputs, and what sources write.
        exits: at which they leave it: graph outputs, and what no node, or only nodes without output read.
    """

    streams: tuple[str, ...]
    writers: dict[str, str]
    reads: dict[str, tuple[str, ...]]
    entries: frozenset[str]
    exits: frozenset[str]

    @classmethod
    def of(cls, streams: Iterable[StreamWiring]) -> Topology:
        """Return that of all streams of a run, in the order of the plan."""
        wired = tuple(streams)
        writers = {stream.name: stream.writer for stream in wired if stream.writer}
        reads: dict[str, tuple[str, ...]] = {}
        for stream in wired:
            for node in stream.readers:
                reads[node] = (*reads.get(node, ()), stream.name)
        writing = set(writers.values())
        return cls(
            streams=tuple(stream.name for stream in wired),
            writers=writers,
            reads=reads,
            entries=frozenset(
                stream.name
                for stream in wired
                if stream.is_input or (stream.writer and stream.writer not in reads)
            ),
            exits=frozenset(
                stream.name for stream in wired if stream.is_output or writing.isdisjoint(stream.readers)
            ),
        )
