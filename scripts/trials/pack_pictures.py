"""Ways to write the frames of a video into a recording without loss: how much smaller, and how fast.

Each frame is packed alone, on one thread. The ratio is bytes of the pixels to bytes of all packed frames; the
times are milliseconds of processor for a frame, to pack it and to unpack it. What comes back is compared.

    uv run python scripts/trials/pack_pictures.py film.mp4 --size 1280x720 --every 3
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import av
import numpy as np
import zstandard

from penstock_formats import ImageFormat
from penstock_record.lossless import packed, unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]


class Way(Protocol):
    """Packs frames of (H, W, 3) uint8, RGB."""

    def pack(self, frame: Pixels) -> bytes:
        """Return a frame as bytes."""

    def unpack(self, data: bytes) -> Pixels:
        """Return the frame."""


class Packed:
    """What recordings have: differences of neighbours and colours, then Zstandard."""

    def pack(self, frame: Pixels) -> bytes:
        """Return a frame as bytes."""
        return packed(frame, ImageFormat.SRGB)

    def unpack(self, data: bytes) -> Pixels:
        """Return the frame."""
        return unpacked(data)


class Zstandard:
    """Zstandard alone."""

    def __init__(self, level: int) -> None:
        self._level: Final = level
        self._shape: tuple[int, ...] = ()

    def pack(self, frame: Pixels) -> bytes:
        """Return a frame as bytes."""
        self._shape = frame.shape
        return zstandard.ZstdCompressor(level=self._level).compress(frame.data)

    def unpack(self, data: bytes) -> Pixels:
        """Return the frame."""
        raw = zstandard.ZstdDecompressor().decompress(data)
        return np.frombuffer(raw, np.uint8).reshape(self._shape)


class Libav:
    """An encoder of libav, one key frame for each frame."""

    def __init__(self, codec: str, pixels: str, **options: str) -> None:
        self._codec: Final = codec
        self._pixels: Final = pixels
        self._options: Final = options
        self._size = (0, 0)
        self._extra: bytes | None = None

    def pack(self, frame: Pixels) -> bytes:
        """Return a frame as bytes."""
        context: Any = av.CodecContext.create(self._codec, "w")
        context.width, context.height = self._size = frame.shape[1], frame.shape[0]
        context.pix_fmt, context.time_base, context.thread_count = self._pixels, Fraction(1, 25), 1
        context.options = dict(self._options)
        made = av.VideoFrame.from_ndarray(frame, format="rgb24").reformat(format=self._pixels)
        made.pts = 0
        data = b"".join(map(bytes, [*context.encode(made), *context.encode(None)]))
        self._extra = context.extradata
        return data

    def unpack(self, data: bytes) -> Pixels:
        """Return the frame."""
        context: Any = av.CodecContext.create(self._codec, "r")
        context.thread_count = 1
        context.width, context.height = self._size
        if self._extra:
            context.extradata = self._extra
        frames: list[Any] = context.decode(av.Packet(data)) + context.decode(None)
        pixels: Pixels = frames[0].to_ndarray(format="rgb24")
        return pixels


WAYS: Final[dict[str, Way]] = {
    "zstd, level 1": Zstandard(1),
    "filters and zstd, level 1 (recordings)": Packed(),
    "PNG, level 1, Sub": Libav("png", "rgb24", compression_level="1", pred="sub"),
    "PNG, level 1, Up": Libav("png", "rgb24", compression_level="1", pred="up"),
    "QOI": Libav("qoi", "rgb24"),
    "FFV1": Libav("ffv1", "bgr0", level="3", g="1", slices="4", slicecrc="0"),
}


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("film", type=Path)
    parser.add_argument("--size", default="1280x720", help="to which frames are scaled (1280x720)")
    parser.add_argument("--every", type=int, default=3, help="take one of so many frames (3)")
    parsed = parser.parse_args()
    width, height = map(int, parsed.size.split("x"))
    with av.open(str(parsed.film)) as film:
        frames = [
            np.asarray(frame.reformat(width, height, "rgb24").to_ndarray(), np.uint8)
            for index, frame in enumerate(film.decode(video=0))
            if index % parsed.every == 0
        ]
    if not frames:
        parser.error(f"{str(parsed.film)!r} has no frame")
    print(f"{len(frames)} frames of {width}x{height}")
    for name, way in WAYS.items():
        print(_row(name, way, frames), flush=True)


def _row(name: str, way: Way, frames: list[Pixels]) -> str:
    size, times = 0, ([], [])  # type: tuple[int, tuple[list[float], list[float]]]
    for frame in frames:
        begin = time.thread_time()
        data = way.pack(frame)
        middle = time.thread_time()
        found = way.unpack(data)
        times[0].append(middle - begin)
        times[1].append(time.thread_time() - middle)
        size += len(data)
        if not np.array_equal(found, frame):
            return f"{name:40} what comes back is not what was packed"
    ratio = sum(frame.nbytes for frame in frames) / size
    to, back = (1000 * float(np.median(each)) for each in times)
    return f"{name:40} {ratio:5.2f} {to:7.1f} ms {back:7.1f} ms"


if __name__ == "__main__":
    main()
