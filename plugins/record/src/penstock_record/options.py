"""Options of the calculators."""

from __future__ import annotations

import enum

import attrs


class Compression(enum.Enum):
    """How the chunks of a file are compressed."""

    ZSTD = "zstd"
    NONE = "none"


@attrs.frozen(kw_only=True)
class McapSinkCalculatorOptions:
    """Where and what to record.

    Attributes:
        path: the file; the side packet PATH replaces it.
        graph: text of the graph, which is kept in the file.
        side_packets: names of the input side packets SIDE, in their order.
        compression: of the file's chunks. NONE is for images: they get a quarter smaller by ZSTD, which takes
            some 20 ms of processor for 720p.
    """

    path: str = ""
    graph: str = ""
    side_packets: tuple[str, ...] = ()
    compression: Compression = Compression.ZSTD


@attrs.frozen(kw_only=True)
class McapSourceCalculatorOptions:
    """What to play again.

    Attributes:
        path: the file; the side packet PATH replaces it.
        streams: for each output its stream in the file; empty where the graph's streams have the same names.
        speed: 0 as fast as the graph takes it, 1 as it was recorded, 2 twice as fast.
    """

    path: str = ""
    streams: tuple[str, ...] = ()
    speed: float = attrs.field(default=0.0, validator=attrs.validators.ge(0))
