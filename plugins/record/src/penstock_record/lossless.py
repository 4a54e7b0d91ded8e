"""Pixels packed without loss: differences to neighbours, to green and to another image, then Zstandard.

An image is packed as planes, one for each channel, of unsigned numbers that wrap around, so that each step
can be undone exactly; floats are taken as their bits. Which steps are worth it is tried on a few rows.
"""

from __future__ import annotations

import math
import struct
import threading
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs
import numpy as np
import zstandard

from penstock.errors import InvalidArgumentError, ResourceExhaustedError
from penstock_formats import ImageFormat
from penstock_formats.api import LAYOUTS
from penstock_record.tables import find, from_packed, size_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Pixels = NDArray[Any]

#: The most bytes of an image that is unpacked; one of 8192 x 4096 in four channels of 16 bits has as many.
MOST_PICTURE_BYTES: Final = 1 << 28
#: Steps, as bits: minus the pixel to the left, minus the one above, red and blue minus green, and minus the
#: reference, an image of the same timestamp.
#: TABLE: the reference goes through a table before.
LEFT, UP, GREEN, REFERENCE, TABLE = 1, 2, 4, 8, 16
_ALL: Final = LEFT | UP | GREEN | REFERENCE | TABLE
#: What is tried for an image of one or two channels, and of more; what is cheap comes first.
_FEW: Final = (0, LEFT, UP, LEFT | UP)
_COLOURS: Final = (0, LEFT | UP, UP | GREEN, LEFT | GREEN, LEFT | UP | GREEN)
_FEW_OF: Final = (REFERENCE, REFERENCE | LEFT | UP)
_COLOURS_OF: Final = (REFERENCE, REFERENCE | LEFT | UP, REFERENCE | LEFT | UP | GREEN)
_RGB: Final = 3
#: Rows of an image on which steps are tried: so many at each of these parts of its height.
_TRIED: Final = 10
_PLACES: Final = (0.3, 0.7)
#: The level of Zstandard: higher ones take more time and make such differences no smaller.
_LEVEL: Final = 1
#: Version of this form, steps, format, width, height, number of the message that has the reference (0: none).
_HEAD: Final = struct.Struct("<BBHIII")
_VERSION: Final = 1
#: Weights of red, green and blue in grey, as OpenCV has them, and their sum as a power of two.
_GREY: Final = (9798, 19235, 3735)
_GREY_BITS: Final = 15
_UNSIGNED: Final[dict[int, Any]] = {1: np.uint8, 2: np.uint16, 4: np.uint32}
#: Formats whose first channels are red, green and blue, in this order.
_RED_FIRST: Final = (ImageFormat.SRGB, ImageFormat.SRGBA)


class Reference(NamedTuple):
    """An image that others are packed as differences to."""

    #: Number of the message that has it.
    number: int
    pixels: Pixels
    format: ImageFormat


@attrs.frozen
class Head:
    """What the first bytes of a packed image say; checked."""

    steps: int
    format: ImageFormat
    width: int
    height: int
    #: Number of the message that has the reference; 0: there is none.
    reference: int

    @property
    def size(self) -> int:
        """Bytes of the pixels."""
        layout = LAYOUTS[self.format]
        return self.width * self.height * layout.channels * layout.dtype.itemsize


class _Compressors(threading.local):
    """Zstandard's objects, which serve one thread each."""

    def __init__(self) -> None:
        self.pack: Final = zstandard.ZstdCompressor(level=_LEVEL)
        self.unpack: Final = zstandard.ZstdDecompressor()


_zstd: Final = _Compressors()


def may_refer(pixels: Pixels, form: ImageFormat, reference: Reference) -> bool:
    """Return whether an image can be packed as differences to a reference."""
    if pixels.dtype != np.uint8 or reference.pixels.dtype != np.uint8:
        return False
    if pixels.shape == reference.pixels.shape and form is reference.format:
        return True
    is_grey = pixels.ndim == 2 and reference.format in _RED_FIRST  # noqa: PLR2004  # no channels
    return is_grey and pixels.shape == reference.pixels.shape[:2]


def packed(pixels: Pixels, form: ImageFormat, reference: Reference | None = None) -> bytes:
    """Return an image as bytes from which `unpacked` makes exactly its pixels.

    Args:
        pixels: (H, W) or (H, W, channels), as `form` has them. Borrowed for the call.
        form: what the pixels mean.
        reference: of `may_refer`; it is used where that makes the result smaller.
    """
    planes = _planes(pixels)
    before = None if reference is None else _predicted(planes.shape, reference)
    steps, size = _best(_some(planes), None if before is None else _some(before))
    table = None if before is None else find(planes, before)
    if before is not None and table is not None:
        rest = planes - table.applied(before)
        if len(_zstd.pack.compress(_bytes_apart(_some(rest)))) < size:
            steps, planes = REFERENCE | TABLE, rest
    if not steps & TABLE:
        table = None
        if before is not None and steps & REFERENCE:
            planes -= before
        _difference(planes, steps)
    height, width = pixels.shape[:2]
    number = reference.number if reference is not None and steps & REFERENCE else 0
    head = _HEAD.pack(_VERSION, steps, form.value, width, height, number)
    content = _bytes_apart(planes)
    return head + _zstd.pack.compress(content if table is None else table.packed() + content)


def head_of(data: bytes) -> Head:
    """Return what a packed image says of itself.

    Raises:
        InvalidArgumentError: the bytes are no packed image.
        ResourceExhaustedError: it wants more memory than `MOST_PICTURE_BYTES`.
    """
    try:
        version, steps, form, width, height, number = _HEAD.unpack_from(data)
        head = Head(steps, ImageFormat(form), width, height, number)
    except (struct.error, ValueError) as error:
        raise InvalidArgumentError(f"these bytes are no lossless image: {error}") from error
    if version != _VERSION or steps & ~_ALL or head.format not in LAYOUTS or not width or not height:
        raise InvalidArgumentError(
            f"these bytes are no lossless image: version {version}, steps {steps}, {head.format.name}, "
            f"{width}x{height}"
        )
    layout = LAYOUTS[head.format]
    is_odd = bool(steps & REFERENCE) != bool(number) or (steps & TABLE and not steps & REFERENCE)
    if is_odd or (steps & (REFERENCE | TABLE) and layout.dtype != np.uint8):
        raise InvalidArgumentError(f"these bytes are no lossless image: steps {steps}, reference {number}")
    if head.size > MOST_PICTURE_BYTES:
        raise ResourceExhaustedError(
            f"a lossless image of {head.size} bytes, above {MOST_PICTURE_BYTES}: the file is broken, or made "
            "to cost much"
        )
    return head


def unpacked(data: bytes, reference: Reference | None = None) -> Pixels:
    """Return the pixels of a packed image; a new array.

    Args:
        data: the packed image. Its head was checked by `head_of`.
        reference: the image that the head names; None if it names none.

    Raises:
        InvalidArgumentError: the bytes are no packed image, or the reference does not fit.
        ResourceExhaustedError: it wants more memory than `MOST_PICTURE_BYTES`.
    """
    head = head_of(data)
    layout = LAYOUTS[head.format]
    kind = _UNSIGNED[layout.dtype.itemsize]
    shape = (layout.channels, head.height, head.width)
    of_table = size_for(shape) if head.steps & TABLE else 0
    content = memoryview(data)[_HEAD.size :]
    try:
        claimed = zstandard.frame_content_size(content)
        if claimed != of_table + head.size:
            raise InvalidArgumentError(
                f"these bytes are no lossless image: they hold {claimed} bytes, expected "
                f"{of_table + head.size}"
            )
        raw = _zstd.unpack.decompress(content, max_output_size=claimed)
    except zstandard.ZstdError as error:
        raise InvalidArgumentError(f"these bytes are no lossless image: {error}") from error
    planes = _bytes_together(raw[of_table:] if of_table else raw, kind, shape)
    _sum(planes, head.steps)
    if head.steps & REFERENCE:
        if reference is None or not _fits(shape, head.format, reference):
            raise InvalidArgumentError(
                f"the lossless image that message {head.reference} has does not fit this one"
            )
        before = _predicted(shape, reference)
        planes += from_packed(raw[:of_table], shape).applied(before) if of_table else before
    pixels = planes[0] if layout.channels == 1 else np.ascontiguousarray(np.moveaxis(planes, 0, 2))
    return pixels.view(layout.dtype)


def _fits(shape: tuple[int, ...], form: ImageFormat, reference: Reference) -> bool:
    channels, height, width = shape
    blank = np.broadcast_to(np.uint8(0), (height, width) if channels == 1 else (height, width, channels))
    return may_refer(blank, form, reference)


# --- the steps --------------------------------------------------------------------------------------


def _planes(pixels: Pixels) -> Pixels:
    """Return (channels, H, W) unsigned numbers, a copy."""
    of = pixels if pixels.ndim == _RGB else pixels[:, :, None]
    made = np.empty((of.shape[2], *of.shape[:2]), of.dtype)
    for i, plane in enumerate(made):
        plane[...] = of[:, :, i]
    return made.view(_UNSIGNED[of.dtype.itemsize])


def _predicted(shape: tuple[int, ...], reference: Reference) -> Pixels:
    """Return (channels, H, W): what an image of this shape is likely to be."""
    pixels = reference.pixels
    if pixels.ndim == _RGB and shape[0] == 1:
        grey = np.full(pixels.shape[:2], 1 << (_GREY_BITS - 1), np.uint32)
        for i, weight in enumerate(_GREY):
            grey += np.multiply(pixels[:, :, i], np.uint32(weight), dtype=np.uint32)
        return (grey >> np.uint32(_GREY_BITS)).astype(np.uint8)[None]
    return pixels[None] if pixels.ndim != _RGB else np.moveaxis(pixels, 2, 0)


def _difference(planes: Pixels, steps: int) -> None:
    """Take the steps but that of the reference, in place."""
    if steps & GREEN:
        planes[0] -= planes[1]
        planes[2] -= planes[1]
    for plane in planes:
        if steps & LEFT:
            plane[:, 1:] -= plane[:, :-1].copy()
        if steps & UP:
            plane[1:] -= plane[:-1].copy()


def _sum(planes: Pixels, steps: int) -> None:
    """Undo `_difference`, in place."""
    for plane in planes:
        if steps & UP:
            for row in range(1, len(plane)):
                plane[row] += plane[row - 1]
        if steps & LEFT:
            np.cumsum(plane, axis=1, dtype=plane.dtype, out=plane)
    if steps & GREEN and len(planes) >= _RGB:
        planes[0] += planes[1]
        planes[2] += planes[1]


def _some(planes: Pixels) -> Pixels:
    """Return the planes of some rows, on which steps are tried."""
    height = planes.shape[1]
    if height <= _TRIED * len(_PLACES):
        return planes
    begins = (min(math.floor(height * place), height - _TRIED) for place in _PLACES)
    return np.concatenate([planes[:, begin : begin + _TRIED] for begin in begins], 1)


def _best(tried: Pixels, before: Pixels | None) -> tuple[int, int]:
    """Return the steps that make some rows smallest, and how many bytes these become."""
    has_colours = len(tried) >= _RGB
    choices: tuple[int, ...] = _COLOURS if has_colours else _FEW
    if before is not None:
        choices += _COLOURS_OF if has_colours else _FEW_OF
    sizes = {}
    for steps in choices:
        planes = tried.copy()
        if before is not None and steps & REFERENCE:
            planes -= before
        _difference(planes, steps)
        sizes[steps] = len(_zstd.pack.compress(_bytes_apart(planes)))
    best = min(sizes, key=sizes.__getitem__)
    return best, sizes[best]


def _bytes_apart(planes: Pixels) -> bytes:
    """Return the low bytes of all numbers, then the next ones: high bytes change little."""
    if planes.dtype.itemsize == 1:
        return planes.data if planes.flags.c_contiguous else planes.tobytes()  # type: ignore[return-value]  # a buffer
    apart = planes.astype(planes.dtype.newbyteorder("<"), copy=False).view(np.uint8)
    return np.moveaxis(apart.reshape(*planes.shape, planes.dtype.itemsize), -1, 0).tobytes()


def _bytes_together(raw: bytes, kind: Any, shape: tuple[int, ...]) -> Pixels:
    """Undo `_bytes_apart`; a new array."""
    size = np.dtype(kind).itemsize
    if size == 1:
        return np.frombuffer(bytearray(raw), kind).reshape(shape)
    apart = np.frombuffer(raw, np.uint8).reshape(size, *shape)
    together = np.ascontiguousarray(np.moveaxis(apart, 0, -1))
    numbers: Pixels = together.view(np.dtype(kind).newbyteorder("<"))[..., 0].astype(kind)
    return numbers
