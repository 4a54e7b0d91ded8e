"""How images stand in a recording: packed without loss, raw, as JPEG or as H.264; in order."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_record import lossy
from penstock_record.codec import Schema
from penstock_record.foxglove import IMAGE_FILE_SCHEMA, VIDEO_SCHEMA
from penstock_record.lossless import Reference, head_of, may_refer, packed, unpacked
from penstock_record.options import Pictures

if TYPE_CHECKING:
    from collections.abc import Callable

#: Names that stand in files in the place of a codec's.
PACKED, JPEG, VIDEO = "Picture", "CompressedImage", "CompressedVideo"
NAMES: Final = (PACKED, JPEG, VIDEO)
_SCHEMAS: Final = {
    PACKED: Schema("penstock-picture", "penstock.Picture"),
    JPEG: IMAGE_FILE_SCHEMA,
    VIDEO: VIDEO_SCHEMA,
}
#: Images that others can be packed as differences to: the last ones, at most so many, of so many bytes.
_MOST_RECENT: Final = 32
_MOST_RECENT_BYTES: Final = 128 << 20
#: Images of a stream that are packed for themselves after one that no other image was like.
_UNTRIED: Final = 9


class Coded(NamedTuple):
    """An image as a message."""

    #: One of `NAMES`.
    name: str
    schema: Schema
    data: bytes


class _Recent:
    """The last images that were packed without a reference: the same ones for writer and reader."""

    def __init__(self) -> None:
        self._images: Final[OrderedDict[int, tuple[int, Reference]]] = OrderedDict()
        self._bytes = 0

    def put(self, number: int, timestamp: int, frame: ImageFrame) -> None:
        """Add an image, and forget the oldest ones."""
        self._images[number] = timestamp, Reference(number, frame.array, frame.format)
        self._bytes += frame.array.nbytes
        while len(self._images) > _MOST_RECENT or (
            self._bytes > _MOST_RECENT_BYTES and len(self._images) > 1
        ):
            _, (_, gone) = self._images.popitem(last=False)
            self._bytes -= gone.pixels.nbytes

    def fitting(self, timestamp: int, frame: ImageFrame) -> Reference | None:
        """Return the newest image of a timestamp that another one can refer to."""
        for at, reference in reversed(self._images.values()):
            if at == timestamp and may_refer(frame.array, frame.format, reference):
                return reference
        return None

    def of(self, number: int) -> Reference | None:
        """Return the image of a message."""
        found = self._images.get(number)
        return None if found is None else found[1]


class PictureEncoder:
    """Writes the images of a recording, in the order of its messages.

    Args:
        kind: how; not RAW, for which there is a codec.

    Raises:
        InvalidArgumentError: PyAV is missing, or an encoder in it.
    """

    def __init__(self, kind: Pictures) -> None:
        self._kind: Final = kind
        self._recent: Final = _Recent()
        self._lossy: Final[dict[int, lossy.Encoder]] = {}
        #: For streams to whose images no other one is like: how many images are packed without a try.
        self._untried: Final[dict[int, int]] = {}
        if kind in {Pictures.JPEG, Pictures.H264}:
            lossy.check(kind is Pictures.H264)

    def encode(self, stream: int, number: int, timestamp: int, at_ns: int | None, frame: ImageFrame) -> Coded:
        """Return an image as a message.

        Args:
            stream: number of its stream.
            number: of the message.
            timestamp: of the packet.
            at_ns: the same in nanoseconds; None where the message has the time of a neighbour.
            frame: the image. With lossless pictures it is kept for a while.

        Raises:
            InvalidArgumentError: libav does not take it.
        """
        is_video = self._kind is Pictures.H264
        if self._kind is not Pictures.LOSSLESS and frame.format in lossy.FORMATS:
            encoder = self._lossy.get(stream)
            if encoder is None:
                encoder = self._lossy[stream] = lossy.Encoder(is_video=is_video)
            name = VIDEO if is_video else JPEG
            return Coded(name, _SCHEMAS[name], encoder.encode(frame, at_ns or 0))
        untried = self._untried.get(stream, 0)
        tries = at_ns is not None and not untried
        reference = self._recent.fitting(timestamp, frame) if tries else None
        data = packed(frame.array, frame.format, reference)
        refers = head_of(data).reference > 0
        if reference is not None and not refers:
            self._untried[stream] = _UNTRIED
        elif untried:
            self._untried[stream] = untried - 1
        if not refers:
            self._recent.put(number, timestamp, frame)
        return Coded(PACKED, _SCHEMAS[PACKED], data)


class PictureDecoder:
    """Reads the images of a recording, in the order of its messages."""

    def __init__(self) -> None:
        self._recent: Final = _Recent()
        self._lossy: Final[dict[tuple[str, str], lossy.Decoder]] = {}

    def decode(self, name: str, stream: str, number: int, timestamp: int, data: bytes) -> ImageFrame:
        """Return the image of a message.

        Args:
            name: one of `NAMES`.
            stream: name of its stream.
            number: of the message.
            timestamp: of the packet.
            data: the message.

        Raises:
            InvalidArgumentError: the bytes are no such image, or it refers to one that is not there.
            ResourceExhaustedError: it wants more memory than `lossless.MOST_PICTURE_BYTES`.
        """
        if name == PACKED:
            frame = decode_packed(data, self._recent.of)
            if not head_of(data).reference:
                self._recent.put(number, timestamp, frame)
            return frame
        decoder = self._lossy.get((stream, name))
        if decoder is None:
            decoder = self._lossy[stream, name] = lossy.Decoder(is_video=name == VIDEO)
        return decoder.decode(data)


def decode_packed(data: bytes, find: Callable[[int], Reference | None]) -> ImageFrame:
    """Return a packed image; a new array.

    Args:
        data: the message.
        find: returns the image of a message that was packed without a reference; None if there is none.

    Raises:
        InvalidArgumentError, ResourceExhaustedError: as `PictureDecoder.decode`.
    """
    head = head_of(data)
    reference = None
    if head.reference:
        reference = find(head.reference)
        if reference is None:
            raise InvalidArgumentError(
                f"this recorded picture needs that of message {head.reference}, which is not there"
            )
    return ImageFrame(unpacked(data, reference), head.format)
