"""Pictures of ROS as ImageFrames, and back: raw in an encoding, or as JPEG and PNG."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PIL import Image, UnidentifiedImageError

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Encoding → channels, element type, our format, and how the channels are reordered for that.
_ENCODINGS: Final[dict[str, tuple[int, type[Any], ImageFormat, tuple[int, ...] | None]]] = {
    "mono8": (1, np.uint8, ImageFormat.GRAY8, None),
    "8UC1": (1, np.uint8, ImageFormat.GRAY8, None),
    "mono16": (1, np.uint16, ImageFormat.GRAY16, None),
    "16UC1": (1, np.uint16, ImageFormat.GRAY16, None),
    "rgb8": (3, np.uint8, ImageFormat.SRGB, None),
    "bgr8": (3, np.uint8, ImageFormat.SRGB, (2, 1, 0)),
    "8UC3": (3, np.uint8, ImageFormat.SRGB, (2, 1, 0)),
    "rgba8": (4, np.uint8, ImageFormat.SRGBA, None),
    "bgra8": (4, np.uint8, ImageFormat.SBGRA, None),
    "8UC4": (4, np.uint8, ImageFormat.SBGRA, None),
    "rgb16": (3, np.uint16, ImageFormat.SRGB48, None),
    "bgr16": (3, np.uint16, ImageFormat.SRGB48, (2, 1, 0)),
    "rgba16": (4, np.uint16, ImageFormat.SRGBA64, None),
    "bgra16": (4, np.uint16, ImageFormat.SRGBA64, (2, 1, 0, 3)),
    "32FC1": (1, np.float32, ImageFormat.VEC32F1, None),
    "32FC2": (2, np.float32, ImageFormat.VEC32F2, None),
    "32FC4": (4, np.float32, ImageFormat.VEC32F4, None),
}
#: Our format → the encoding that is written.
_WRITTEN: Final = {
    ImageFormat.GRAY8: "mono8",
    ImageFormat.GRAY16: "16UC1",
    ImageFormat.SRGB: "rgb8",
    ImageFormat.SRGBA: "rgba8",
    ImageFormat.SBGRA: "bgra8",
    ImageFormat.SRGB48: "rgb16",
    ImageFormat.SRGBA64: "rgba16",
    ImageFormat.VEC32F1: "32FC1",
    ImageFormat.VEC32F2: "32FC2",
    ImageFormat.VEC32F4: "32FC4",
}
#: Bytes before the PNG in a message of ROS's compressed_depth_image_transport.
_DEPTH_HEADER: Final = 12
_PNG: Final = b"\x89PNG"


def frame_of_image(message: Any) -> ImageFrame:
    """Return a `sensor_msgs/Image` as a frame, whose pixels are the message's own where no channel moves.

    Raises:
        InvalidArgumentError: the encoding is not known, or there are less bytes than it needs.
    """
    encoding = str(message.encoding)
    known = _ENCODINGS.get(encoding)
    if known is None:
        if encoding.startswith("bayer"):
            raise InvalidArgumentError(
                f"a ROS image has the encoding {encoding!r}: raw Bayer mosaics are not turned into colours; "
                "record the topic of a debayered image, or take the message itself at an output MESSAGE"
            )
        raise InvalidArgumentError(
            f"a ROS image has the encoding {encoding!r}; known are {', '.join(_ENCODINGS)}; take the message "
            "itself at an output MESSAGE"
        )
    channels, kind, format_, order = known
    width, height, step = int(message.width), int(message.height), int(message.step)
    row = width * channels * np.dtype(kind).itemsize
    data = np.asarray(message.data, np.uint8).reshape(-1)
    if not row or not height or step < row or data.size < step * (height - 1) + row:
        raise InvalidArgumentError(
            f"a ROS image says {width} x {height} {encoding} with rows of {step} bytes, but has {data.size} "
            "bytes"
        )
    if data.size < step * height:  # the last row may end with its pixels
        data = np.concatenate([data, np.zeros(step * height - data.size, np.uint8)])
    rows = np.ascontiguousarray(data[: step * height].reshape(height, step)[:, :row])
    pixels: NDArray[Any] = rows.view(kind)
    if message.is_bigendian and pixels.itemsize > 1:
        pixels = pixels.byteswap()
    pixels = pixels if channels == 1 else pixels.reshape(height, width, channels)
    if order is not None:
        pixels = np.ascontiguousarray(pixels[:, :, list(order)])
    return ImageFrame(pixels, format_)


def frame_of_compressed(message: Any) -> ImageFrame:
    """Return a `sensor_msgs/CompressedImage` as a frame: GRAY8, GRAY16, SRGB or SRGBA.

    Raises:
        InvalidArgumentError: the bytes are no picture, or one of a form that no frame has.
    """
    data = bytes(np.asarray(message.data, np.uint8))
    said = str(message.format)
    if "compressedDepth" in said and data[_DEPTH_HEADER : _DEPTH_HEADER + 4] == _PNG:
        data = data[_DEPTH_HEADER:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as picture:
                return _frame_of_picture(picture)
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise InvalidArgumentError(
            f"a compressed ROS image of the format {said!r} and {len(data)} bytes is no JPEG or PNG that can "
            f"be decoded: {error}"
        ) from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidArgumentError(f"a compressed ROS image is too large: {error}") from error


def _frame_of_picture(picture: Image.Image) -> ImageFrame:
    if picture.mode.startswith("I"):  # 16 bits of grey
        return ImageFrame(np.array(picture).astype(np.uint16), ImageFormat.GRAY16)
    if picture.mode == "L":
        return ImageFrame(np.array(picture), ImageFormat.GRAY8)
    if picture.mode in ("RGBA", "LA", "PA"):
        return ImageFrame(np.array(picture.convert("RGBA")), ImageFormat.SRGBA)
    return ImageFrame(np.array(picture.convert("RGB")), ImageFormat.SRGB)


def image_fields(frame: ImageFrame) -> dict[str, Any]:
    """Return the fields of a `sensor_msgs/Image`, but for the header.

    Raises:
        InvalidArgumentError: ROS has no encoding for the format.
    """
    if frame.format not in _WRITTEN:
        raise InvalidArgumentError(
            f"ROS images have no encoding for {frame.format.name}; convert the frame before, as "
            "ColorConvertCalculator does"
        )
    pixels = np.ascontiguousarray(frame.array)
    return {
        "height": frame.height,
        "width": frame.width,
        "encoding": _WRITTEN[frame.format],
        "is_bigendian": 0,
        "step": pixels.nbytes // frame.height,
        "data": pixels.reshape(-1).view(np.uint8),
    }


def compressed_fields(frame: ImageFrame, kind: str, quality: int) -> dict[str, Any]:
    """Return the fields of a `sensor_msgs/CompressedImage`, but for the header.

    Args:
        frame: GRAY8, SRGB, SBGRA or SRGBA; as PNG also GRAY16. JPEG leaves alpha out.
        kind: "jpeg" or "png".
        quality: of JPEG, from 1 to 100.

    Raises:
        InvalidArgumentError: the format cannot be compressed so.
    """
    array = frame.array
    if frame.format is ImageFormat.SBGRA:
        array = array[..., (2, 1, 0, 3)]
    elif frame.format not in (ImageFormat.GRAY8, ImageFormat.SRGB, ImageFormat.SRGBA) and not (
        frame.format is ImageFormat.GRAY16 and kind == "png"
    ):
        raise InvalidArgumentError(
            f"a frame of {frame.format.name} cannot be a ROS image compressed as {kind}; it must be GRAY8, "
            "SRGB, SRGBA or SBGRA, and for png GRAY16 too; or write it as sensor_msgs/msg/Image"
        )
    if kind == "jpeg" and array.ndim == 3:  # noqa: PLR2004  # with colours
        array = array[..., :3]
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(array)).save(
        out, kind, **({"quality": quality} if kind == "jpeg" else {})
    )
    return {"format": kind, "data": np.frombuffer(out.getvalue(), np.uint8)}
