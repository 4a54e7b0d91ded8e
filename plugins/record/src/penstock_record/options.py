"""Options of the calculators."""

from __future__ import annotations

import enum

import attrs


class Compression(enum.Enum):
    """How the chunks of a file are compressed."""

    ZSTD = "zstd"
    NONE = "none"


class Pictures(enum.Enum):
    """How images stand in a file."""

    LOSSLESS = "lossless"
    RAW = "raw"
    JPEG = "jpeg"
    H264 = "h264"


@attrs.frozen(kw_only=True)
class McapSinkCalculatorOptions:
    """Where and what to record.

    Attributes:
        path: the file; the side packet PATH replaces it.
        graph: text of the graph, which is kept in the file.
        side_packets: names of the input side packets SIDE, in their order.
        compression: of the file's chunks. NONE is for images, which are compressed one by one (`pictures`).
        pictures: how images are written. LOSSLESS is exact: a quarter of the size or less, for some 10 ms of
            processor for 720p. RAW is exact, fast and large, and other programs show it. JPEG and H264 are
            lossy, for images of GRAY8 and SRGB (others stay LOSSLESS); they need PyAV, and other programs
            show them.
    """

    path: str = ""
    graph: str = ""
    side_packets: tuple[str, ...] = ()
    compression: Compression = Compression.ZSTD
    pictures: Pictures = Pictures.LOSSLESS


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
