"""Frames as an encoder takes them: its pixel format, even sides where it needs them, palettes for GIF."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Protocol

import av
import av.filter
import numpy as np
from av.codec import Codec
from av.video.format import VideoFormat
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from penstock_formats import ImageFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: libav's name of each pixel format.
PIXELS: Final = {ImageFormat.GRAY8: "gray", ImageFormat.SRGB: "rgb24", ImageFormat.SRGBA: "rgba"}
#: Formats with half as many colours as pixels, in the order in which players expect them.
SUBSAMPLED: Final = ("yuv420p", "yuvj420p", "nv12")
#: JPEG has the full colour range, and libav accepts no other for it.
_FULL_RANGE: Final = {"mjpeg": "yuvj420p"}
#: Encoders that halve the sides for colours and yet take odd ones.
_ANY_SIDES: Final = (
    "libvpx",
    "libvpx-vp9",
    "libsvtav1",
    "mpeg4",
    "mjpeg",
    "mpeg1video",
    "mpeg2video",
    "ffv1",
)
#: Frames of a graph of filters only need times that grow.
_TICK: Final = Fraction(1, 100)


def pixel_format(codec: str) -> str:
    """Return the pixel format that players expect of a codec: 4:2:0 where it has it, else its first.

    For an encoder that only takes frames in the memory of a device it is what is copied there.
    """
    if codec in _FULL_RANGE:
        return _FULL_RANGE[codec]
    if codec == "gif":
        return "pal8"
    formats = [one.name for one in Codec(codec, "w").video_formats or ()]
    for usual in SUBSAMPLED:
        if usual in formats or not formats:
            return usual
    return "nv12" if formats[0] in {"vaapi", "vulkan"} else formats[0]


def encoded_size(codec: str, size: tuple[int, int]) -> tuple[int, int]:
    """Return the (width, height) of the frames in the file: even where the codec needs that.

    The last column or row of an odd frame comes twice then.
    """
    if codec in _ANY_SIDES or pixel_format(codec) not in SUBSAMPLED:
        return size
    width, height = size
    return width + width % 2, height + height % 2


class Converter(Protocol):
    """Makes frames for an encoder."""

    def __call__(self, picture: NDArray[Any], kind: ImageFormat) -> av.VideoFrame:
        """Return a picture of (H, W), (H, W, 3) or (H, W, 4) uint8 as a frame without a time.

        The picture is borrowed for the call.
        """


def converter(codec: str, size: tuple[int, int]) -> Converter:
    """Return what makes frames for an encoder.

    Args:
        codec: libav's name of the encoder.
        size: (width, height) of the frames in the file, of `encoded_size`.
    """
    return _Palettes() if codec == "gif" else _Colours(pixel_format(codec), size)


class _Colours:
    """Converts to the pixel format of an encoder; colours are BT.601."""

    def __init__(self, name: str, size: tuple[int, int]) -> None:
        self._name: Final = name
        self._size: Final = size
        self._reformatter: Final = VideoReformatter()

    def __call__(self, picture: NDArray[Any], kind: ImageFormat) -> av.VideoFrame:
        return self._reformatter.reformat(
            _frame(_widened(picture, self._size), kind),
            format=self._name,
            dst_colorspace=Colorspace.ITU601,
            dst_color_range=ColorRange.JPEG if self._name == "yuvj420p" else ColorRange.MPEG,
            threads=1,  # the graph's other nodes use the other cores
        )


class _Palettes:
    """Reduces each frame to 256 colours of its own."""

    def __init__(self) -> None:
        self._reformatter: Final = VideoReformatter()
        self._graph: av.filter.Graph | None = None
        self._count = 0

    def __call__(self, picture: NDArray[Any], kind: ImageFormat) -> av.VideoFrame:
        frame = self._reformatter.reformat(_frame(picture, kind), format="rgb24", threads=1)
        graph = self._graph
        if graph is None:
            graph = self._graph = _palettes(frame.width, frame.height)
        frame.pts, frame.time_base = self._count, _TICK
        self._count += 1
        graph.push(frame)
        made = graph.pull()
        if not isinstance(made, av.VideoFrame):
            raise TypeError(f"a filter of video frames made {made!r}, expected a frame")
        return made


def _palettes(width: int, height: int) -> av.filter.Graph:
    graph = av.filter.Graph()
    source = graph.add_buffer(width=width, height=height, format=VideoFormat("rgb24"), time_base=_TICK)
    split, make, use = (
        graph.add("split"),
        graph.add("palettegen", "stats_mode=single"),
        graph.add("paletteuse", "new=1:dither=bayer:bayer_scale=3"),
    )
    sink = graph.add("buffersink")
    source.link_to(split)
    split.link_to(make, 0, 0)
    split.link_to(use, 1, 0)
    make.link_to(use, 0, 1)
    use.link_to(sink)
    graph.configure()
    return graph


def _frame(picture: NDArray[Any], kind: ImageFormat) -> av.VideoFrame:
    return av.VideoFrame.from_numpy_buffer(np.ascontiguousarray(picture), format=PIXELS[kind])


def _widened(picture: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Return a picture of a size; where that is larger by one, the last column and row come twice."""
    height, width = picture.shape[:2]
    if (width, height) == size:
        return picture
    more = ((0, size[1] - height), (0, size[0] - width), (0, 0))
    return np.pad(picture, more[: picture.ndim], mode="edge")
