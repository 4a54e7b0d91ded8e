"""The formats of GpuBuffers, and the layout of each format in arrays and in textures.

Nothing here needs OpenGL: its constants are written as numbers, so that machines without it can read the
tables. Source of the names, numbers and pairs: MediaPipe `gpu/gpu_buffer_format.h` and `.cc`; the constants
are those of the Khronos registry (`gl.xml`).
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

import attrs
import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat
from penstock_formats.api import LAYOUTS, PixelLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _code(letters: str) -> int:
    """Return four letters as one number, the first in the highest byte."""
    return int.from_bytes(letters.encode("ascii"), "big")


class GpuBufferFormat(enum.IntEnum):
    """The layout of one pixel, with the reference's numbers. Channels are uint8 unless a type is named.

    The formats of several planes (the 420 ones, NV12, NV21, I420, YV12) are names only: no texture and no
    array here has them.
    """

    UNKNOWN = 0
    #: 3 channels: red, green, blue. A texture has a fourth channel, which reads as 1.
    RGB24 = 0x18
    #: 4 channels: red, green, blue, alpha, in this order, as in the reference except on Apple. The default.
    BGRA32 = _code("BGRA")
    #: 4 channels: red, green, blue, alpha.
    RGBA32 = _code("RGBA")
    #: 1 x float32.
    GRAY_FLOAT32 = _code("L00f")
    #: 1 x float16.
    GRAY_HALF16 = _code("L00h")
    #: 1 channel; a shader reads it as red, green and blue alike, with alpha 1.
    ONE_COMPONENT8 = _code("L008")
    #: 1 channel; a shader reads it as alpha, with red, green and blue 0.
    ONE_COMPONENT8_ALPHA = _code("A008")
    #: 1 channel; a shader reads it as red, with green and blue 0 and alpha 1.
    ONE_COMPONENT8_RED = _code("R008")
    #: 2 channels.
    TWO_COMPONENT8 = _code("2C08")
    #: 2 x float16.
    TWO_COMPONENT_HALF16 = _code("2C0h")
    #: 2 x float32.
    TWO_COMPONENT_FLOAT32 = _code("2C0f")
    BI_PLANAR_420_YPCBCR8_VIDEO_RANGE = _code("420v")
    BI_PLANAR_420_YPCBCR8_FULL_RANGE = _code("420f")
    BI_PLANAR_420_YPCBCR10_VIDEO_RANGE = _code("x420")
    BI_PLANAR_420_YPCBCR10_FULL_RANGE = _code("xf20")
    #: 4 x float16.
    RGBA_HALF64 = _code("RGhA")
    #: 4 x float32.
    RGBA_FLOAT128 = _code("RGfA")
    #: As RGBA32, in a texture with immutable storage, as image units of compute shaders need it.
    IMMUTABLE_RGBA32 = _code("4CI8")
    #: As RGBA_FLOAT128, in a texture with immutable storage.
    IMMUTABLE_RGBA_FLOAT128 = _code("4CIf")
    NV12 = _code("NV12")
    NV21 = _code("NV21")
    I420 = _code("I420")
    YV12 = _code("YV12")


@attrs.frozen
class GlLayout:
    """The layout of a format in a texture, in OpenGL's numbers."""

    #: The sized internal format of the texture.
    internal: int
    #: `format`, `type`: GL's names for the pixels in an array; desktop GL copies these in both directions.
    format: int
    type: int
    #: `channels`, `dtype`: of that array.
    channels: int
    dtype: np.dtype[np.generic]
    #: `upload_format`, `upload_channels`: the pixels that are uploaded instead, where that is faster or GL
    #: takes no others: RGB24 gets a fourth channel, 255.
    upload_format: int
    upload_channels: int
    #: `read_format`, `read_type`: of `glReadPixels`.
    read_format: int
    read_type: int
    #: `read_channels`, `read_dtype`: of the array that it fills. They differ from the format's where the API
    #: cannot read those.
    read_channels: int
    read_dtype: np.dtype[np.generic]
    #: The sources of red, green, blue and alpha in a shader; None for the texture's own channels.
    swizzle: tuple[int, int, int, int] | None = None
    #: Whether the storage is made by `glTexStorage2D`.
    is_immutable: bool = False


_BYTE: Final = np.dtype(np.uint8)
_HALF: Final = np.dtype(np.float16)
_FLOAT: Final = np.dtype(np.float32)

#: One channel, two, three, four: GL_RED, GL_RG, GL_RGB, GL_RGBA.
_CHANNELS: Final = {1: 0x1903, 2: 0x8227, 3: 0x1907, 4: 0x1908}
#: GL_UNSIGNED_BYTE, GL_HALF_FLOAT, GL_FLOAT.
_TYPE: Final = {_BYTE: 0x1401, _HALF: 0x140B, _FLOAT: 0x1406}
#: GL_R8, GL_RG8, GL_RGBA8, then the float ones.
_INTERNAL: Final = {
    (1, _BYTE): 0x8229, (2, _BYTE): 0x822B, (4, _BYTE): 0x8058,
    (1, _HALF): 0x822D, (2, _HALF): 0x822F, (4, _HALF): 0x881A,
    (1, _FLOAT): 0x822E, (2, _FLOAT): 0x8230, (4, _FLOAT): 0x8814,
}  # fmt: skip
_RGB: Final = 3
_ZERO: Final = 0
_ONE: Final = 1
_RED: Final = 0x1903
_GREEN: Final = 0x1904
_BLUE: Final = 0x1905

_F = GpuBufferFormat
_PIXELS: Final[dict[GpuBufferFormat, PixelLayout]] = {
    _F.BGRA32: PixelLayout(4, _BYTE),
    _F.RGB24: PixelLayout(3, _BYTE),
    _F.ONE_COMPONENT8: PixelLayout(1, _BYTE),
    _F.TWO_COMPONENT8: PixelLayout(2, _BYTE),
    _F.GRAY_FLOAT32: PixelLayout(1, _FLOAT),
    _F.TWO_COMPONENT_FLOAT32: PixelLayout(2, _FLOAT),
    _F.RGBA_FLOAT128: PixelLayout(4, _FLOAT),
    _F.GRAY_HALF16: PixelLayout(1, _HALF),
    _F.TWO_COMPONENT_HALF16: PixelLayout(2, _HALF),
    _F.RGBA_HALF64: PixelLayout(4, _HALF),
    _F.RGBA32: PixelLayout(4, _BYTE),
    _F.ONE_COMPONENT8_ALPHA: PixelLayout(1, _BYTE),
    _F.ONE_COMPONENT8_RED: PixelLayout(1, _BYTE),
    _F.IMMUTABLE_RGBA32: PixelLayout(4, _BYTE),
    _F.IMMUTABLE_RGBA_FLOAT128: PixelLayout(4, _FLOAT),
}
#: The format of an array without a named format: the first with that layout.
_USUAL: Final = {layout: kind for kind, layout in reversed(_PIXELS.items())}
_SWIZZLE: Final = {
    _F.ONE_COMPONENT8: (_RED, _RED, _RED, _ONE),
    _F.GRAY_FLOAT32: (_RED, _RED, _RED, _ONE),
    _F.GRAY_HALF16: (_RED, _RED, _RED, _ONE),
    _F.ONE_COMPONENT8_ALPHA: (_ZERO, _ZERO, _ZERO, _RED),
    _F.RGB24: (_RED, _GREEN, _BLUE, _ONE),
}
_IMMUTABLE: Final = frozenset({_F.IMMUTABLE_RGBA32, _F.IMMUTABLE_RGBA_FLOAT128})

_IMAGE_FORMAT: Final[dict[GpuBufferFormat, ImageFormat]] = {
    _F.BGRA32: ImageFormat.SRGBA,
    _F.RGBA32: ImageFormat.SRGBA,
    _F.IMMUTABLE_RGBA32: ImageFormat.SRGBA,
    _F.RGB24: ImageFormat.SRGB,
    _F.ONE_COMPONENT8: ImageFormat.GRAY8,
    _F.ONE_COMPONENT8_RED: ImageFormat.GRAY8,
    _F.GRAY_FLOAT32: ImageFormat.VEC32F1,
    _F.TWO_COMPONENT_FLOAT32: ImageFormat.VEC32F2,
    _F.RGBA_FLOAT128: ImageFormat.VEC32F4,
    _F.IMMUTABLE_RGBA_FLOAT128: ImageFormat.VEC32F4,
    _F.BI_PLANAR_420_YPCBCR8_VIDEO_RANGE: ImageFormat.YCBCR420P,
    _F.BI_PLANAR_420_YPCBCR8_FULL_RANGE: ImageFormat.YCBCR420P,
}
_OF_IMAGE_FORMAT: Final[dict[ImageFormat, GpuBufferFormat]] = {
    ImageFormat.SRGBA: _F.BGRA32,
    ImageFormat.SRGB: _F.RGB24,
    ImageFormat.GRAY8: _F.ONE_COMPONENT8,
    ImageFormat.VEC32F1: _F.GRAY_FLOAT32,
    ImageFormat.VEC32F2: _F.TWO_COMPONENT_FLOAT32,
    ImageFormat.VEC32F4: _F.RGBA_FLOAT128,
    ImageFormat.YCBCR420P: _F.BI_PLANAR_420_YPCBCR8_FULL_RANGE,
}
_COLOR_DIMENSIONS: Final = 3
_GRAY_DIMENSIONS: Final = 2


def checked_format(kind: int) -> GpuBufferFormat:
    """Return the format of that number.

    Raises:
        InvalidArgumentError: there is no such format.
    """
    if type(kind) is GpuBufferFormat:
        return kind
    try:
        return GpuBufferFormat(kind)
    except ValueError:
        raise InvalidArgumentError(
            f"GPU buffer format {kind!r} does not exist; use one of {_names(_PIXELS)}"
        ) from None


def pixel_bytes(kind: GpuBufferFormat) -> int:
    """Return the bytes of one pixel in an array; 0 for a format that no array has."""
    layout = _PIXELS.get(kind)
    return 0 if layout is None else layout.channels * layout.dtype.itemsize


def pixel_layout(kind: GpuBufferFormat) -> PixelLayout:
    """Return channels and element type of a format's pixels in an array.

    Raises:
        InvalidArgumentError: the format is UNKNOWN or has several planes; names the usable formats.
    """
    try:
        return _PIXELS[kind]
    except KeyError:
        why = "says nothing about pixels" if kind == _F.UNKNOWN else "has several planes"
        raise InvalidArgumentError(
            f"GPU buffer format {kind.name} {why}, so no texture and no array has it; "
            f"use one of {_names(_PIXELS)}, and convert video to RGB24 or BGRA32 before"
        ) from None


def shape_of(width: int, height: int, kind: GpuBufferFormat) -> tuple[int, ...]:
    """Return the shape of an array of that format: (H, W) for one channel, else (H, W, channels)."""
    channels = pixel_layout(kind).channels
    return (height, width) if channels == 1 else (height, width, channels)


def gl_layout(kind: GpuBufferFormat, *, is_es: bool = False) -> GlLayout:
    """Return the layout of a format in a texture of desktop OpenGL 3.3 or of OpenGL ES 3.

    RGB24 has four channels in a texture: GL 3.3 may not be able to draw to three, and Mesa takes 1.25 ms to
    upload 1280x720 pixels of three channels, while adding a fourth takes 0.33 ms and uploading that 0.11
    (llvmpipe, 2 cores). ES guarantees `glReadPixels` for RGBA of bytes or float32 only: there the array that
    is read may have more channels or another type than the format.

    Raises:
        InvalidArgumentError: the format is UNKNOWN or has several planes; names the usable formats.
    """
    found = _GL_LAYOUTS.get((kind, is_es))
    if found is None:
        found = _GL_LAYOUTS[kind, is_es] = _make_gl_layout(kind, pixel_layout(kind), is_es=is_es)
    return found


_GL_LAYOUTS: Final[dict[tuple[GpuBufferFormat, bool], GlLayout]] = {}


def _make_gl_layout(kind: GpuBufferFormat, pixels: PixelLayout, *, is_es: bool) -> GlLayout:
    channels, dtype = pixels.channels, pixels.dtype
    upload_channels = 4 if channels == _RGB else channels
    read_channels = 4 if is_es else channels
    read_dtype = _FLOAT if is_es and dtype == _HALF else dtype
    return GlLayout(
        internal=_INTERNAL[upload_channels, dtype],
        format=_CHANNELS[channels],
        type=_TYPE[dtype],
        channels=channels,
        dtype=dtype,
        upload_format=_CHANNELS[upload_channels],
        upload_channels=upload_channels,
        read_format=_CHANNELS[read_channels],
        read_type=_TYPE[read_dtype],
        read_channels=read_channels,
        read_dtype=read_dtype,
        swizzle=_SWIZZLE.get(kind),
        is_immutable=kind in _IMMUTABLE,
    )


def image_format(kind: GpuBufferFormat) -> ImageFormat:
    """Return the format of an ImageFrame with such pixels; UNKNOWN if no ImageFrame can have them.

    None can have the half-float formats, TWO_COMPONENT8, ONE_COMPONENT8_ALPHA and NV12, NV21, I420, YV12.
    """
    return _IMAGE_FORMAT.get(kind, ImageFormat.UNKNOWN)


def has_image_frame(kind: GpuBufferFormat) -> bool:
    """Return whether an ImageFrame can have such pixels."""
    return image_format(kind) in LAYOUTS


def of_image_format(kind: ImageFormat) -> GpuBufferFormat:
    """Return the format of a GpuBuffer with such an image's pixels.

    Raises:
        InvalidArgumentError: no GpuBuffer has the format: GRAY16, SRGB48, SRGBA64, LAB8, SBGRA, and UNKNOWN.
    """
    found = _OF_IMAGE_FORMAT.get(kind)
    if found is None:
        raise InvalidArgumentError(
            f"image format {kind.name} has no GPU buffer format; "
            f"convert the frame to one of {_names(_OF_IMAGE_FORMAT.keys() & LAYOUTS.keys())} before"
        )
    return found


def format_of_array(array: NDArray[Any], wanted: int | None = None) -> GpuBufferFormat:
    """Return the format of an array of pixels: `wanted`, or the usual one of its layout.

    Args:
        array: (H, W) or (H, W, channels), at least 1 x 1.
        wanted: None takes BGRA32, RGB24, ONE_COMPONENT8 or TWO_COMPONENT8 for uint8, and the formats of
            one, two and four channels for float32 and float16.

    Raises:
        InvalidArgumentError: shape or element type do not fit; says which do.
    """
    layout = _layout_of(array)
    found = f"{array.shape} {array.dtype}"
    if wanted is None:
        if layout not in _USUAL:
            fits = ", ".join(
                f"{kind.name} is {usual}" for kind, usual in _PIXELS.items() if _USUAL[usual] == kind
            )
            raise InvalidArgumentError(
                f"no GPU buffer format holds an array of {found}: {fits}; convert it to one of these"
            )
        return _USUAL[layout]
    kind = checked_format(wanted)
    expected = pixel_layout(kind)
    if layout != expected:
        raise InvalidArgumentError(
            f"an array of {found} is no {kind.name} image, which is {expected}; "
            "convert it, or name the format that it has"
        )
    return kind


def _layout_of(array: NDArray[Any]) -> PixelLayout | None:
    if array.ndim not in (_GRAY_DIMENSIONS, _COLOR_DIMENSIONS) or 0 in array.shape:
        return None
    return PixelLayout(1 if array.ndim == _GRAY_DIMENSIONS else array.shape[2], array.dtype)


def _names(kinds: Any) -> str:
    return ", ".join(kind.name for kind in sorted(kinds))
