"""The kinds of data that a solution takes and gives: how Python values become payloads, and back.

The invariant: what a program gives is not changed by the graph, and what a program gets is its own: messages
are copied both ways, and arrays of images are read-only.
"""

from __future__ import annotations

import enum
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import Message

from penstock.errors import InvalidArgumentError
from penstock_formats import Image, ImageFormat, ImageFrame, Matrix
from penstock_mediapipe.python_errors import behind

if TYPE_CHECKING:
    from collections.abc import Callable

RGB_CHANNELS: Final = 3
_INT32: Final = 1 << 31
_IMAGE_DIMENSIONS: Final = 3

#: The messages that a solution gives and takes, by the names that both frameworks have for them.
_MESSAGES: Final = frozenset(
    [
        "Classification",
        "ClassificationList",
        "ClassificationListCollection",
        "Detection",
        "DetectionList",
        "FrameAnnotation",
        "Joint",
        "JointList",
        "Landmark",
        "LandmarkList",
        "LandmarkListCollection",
        "NormalizedLandmark",
        "NormalizedLandmarkList",
        "NormalizedLandmarkListCollection",
        "NormalizedRect",
        "Rect",
        "TimeSeriesHeader",
        "Trigger",
    ]
)
_VECTORS: Final = (("::std::vector<", ">"), ("list[", "]"))


@enum.unique
class PacketDataType(enum.Enum):
    """What a stream or side packet of a solution's graph carries."""

    STRING = "string"
    BOOL = "bool"
    BOOL_LIST = "bool_list"
    INT = "int"
    INT_LIST = "int_list"
    FLOAT = "float"
    FLOAT_LIST = "float_list"
    AUDIO = "matrix"
    IMAGE = "image"
    IMAGE_LIST = "image_list"
    IMAGE_FRAME = "image_frame"
    PROTO = "proto"
    PROTO_LIST = "proto_list"

    @staticmethod
    def from_registered_name(registered_name: str) -> PacketDataType:
        """Return the kind of a type by its name.

        Args:
            registered_name: as MediaPipe writes it ("::mediapipe::NormalizedRect", "::std::vector<int>",
                "OneOf<::mediapipe::Image, ::mediapipe::ImageFrame>") or as Penstock does
                ("penstock_formats.messages.rect_pb2.NormalizedRect", "list[int]", "a | b"). Of several
                types the first one counts that has a kind.

        Raises:
            KeyError: solutions cannot carry this type.
        """
        for name in _members(registered_name):
            kind = _kind_of(name)
            if kind is not None:
                return kind
        raise KeyError(registered_name)


def _members(name: str) -> list[str]:
    if name.startswith("OneOf<") and name.endswith(">"):
        return [member.strip() for member in name[len("OneOf<") : -1].split(",")]
    return name.split(" | ")


def _kind_of(name: str) -> PacketDataType | None:
    for begin, end in _VECTORS:
        if name.startswith(begin) and name.endswith(end):
            return _LISTS.get(_kind_of(name[len(begin) : -len(end)]))
    plain = name.replace("::", ".").rpartition(".")[2]
    return PacketDataType.PROTO if plain in _MESSAGES else _PLAIN.get(plain)


_PLAIN: Final = {
    "string": PacketDataType.STRING,
    "str": PacketDataType.STRING,
    "bool": PacketDataType.BOOL,
    "int": PacketDataType.INT,
    "int64": PacketDataType.INT,
    "int64_t": PacketDataType.INT,
    "float": PacketDataType.FLOAT,
    "Matrix": PacketDataType.AUDIO,
    "Image": PacketDataType.IMAGE,
    "ImageFrame": PacketDataType.IMAGE_FRAME,
}
_LISTS: Final[dict[PacketDataType | None, PacketDataType]] = {
    PacketDataType.BOOL: PacketDataType.BOOL_LIST,
    PacketDataType.INT: PacketDataType.INT_LIST,
    PacketDataType.FLOAT: PacketDataType.FLOAT_LIST,
    PacketDataType.IMAGE: PacketDataType.IMAGE_LIST,
    PacketDataType.PROTO: PacketDataType.PROTO_LIST,
}


# --- from a program to the graph ----------------------------------------------------------------------


def payload_of(kind: PacketDataType, value: Any, what: str) -> object:
    """Return the payload that a program's value is in the graph.

    Args:
        kind: what the stream or side packet carries.
        value: the program's.
        what: names the stream or side packet in errors.

    Raises:
        TypeError: the value is of another kind.
        OverflowError: an int does not fit into 32 bits.
        ValueError: an image does not have three channels.
    """
    return _MAKERS[kind](value, what)


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise _wrong(value, what, "a str")
    return value


def _bool(value: Any, what: str) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise _wrong(value, what, "True or False")
    return bool(value)


def _int(value: Any, what: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise _wrong(value, what, "an int") from None
    if not -_INT32 <= number < _INT32:
        raise OverflowError(
            f"{what} is {number}, beyond the 32 bits of the packet data type; use a smaller number"
        )
    return number


def _float(value: Any, what: str) -> float:
    if not isinstance(value, int | float | np.number):
        raise _wrong(value, what, "a number")
    return float(np.float32(value))


def _list_of(make: Callable[[Any, str], Any]) -> Callable[[Any, str], list[Any]]:
    def make_all(value: Any, what: str) -> list[Any]:
        if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
            raise _wrong(value, what, "a list")
        return [make(one, f"{what}[{i}]") for i, one in enumerate(value)]

    return make_all


def _message(value: Any, what: str) -> Message:
    if not isinstance(value, Message):
        raise _wrong(value, what, "a protobuf message")
    return _copied(value)


def _frame(value: Any, what: str) -> ImageFrame:
    if not isinstance(value, np.ndarray):
        raise _wrong(value, what, "a NumPy array of an RGB image")
    if value.ndim != _IMAGE_DIMENSIONS or value.shape[2] != RGB_CHANNELS:
        ours = (
            f"{what} is an array of shape {value.shape}, but an image must have the shape (height, width, 3)"
            ": red, green and blue; convert it, for example with cv2.cvtColor"
        )
        raise InvalidArgumentError(behind("Input image must contain three channel rgb data.", ours))
    if value.dtype != np.uint8:
        raise TypeError(f"{what} is an array of {value.dtype}, but its packet data type takes uint8 for RGB")
    if not value.flags.c_contiguous:
        return ImageFrame(np.ascontiguousarray(value), ImageFormat.SRGB)
    return ImageFrame(value, ImageFormat.SRGB, copy=value.flags.writeable)


def _image(value: Any, what: str) -> Image:
    return Image(_frame(value, what))


def _matrix(value: Any, what: str) -> Matrix:
    if not isinstance(value, np.ndarray):
        raise _wrong(value, what, "a NumPy array")
    return Matrix(value, copy=True)


def _wrong(value: Any, what: str, wanted: str) -> TypeError:
    return TypeError(
        f"{what} is {value!r:.200}, a {type(value).__name__}, but its packet data type takes {wanted}"
    )


_MAKERS: Final[dict[PacketDataType, Callable[[Any, str], object]]] = {
    PacketDataType.STRING: _text,
    PacketDataType.BOOL: _bool,
    PacketDataType.BOOL_LIST: _list_of(_bool),
    PacketDataType.INT: _int,
    PacketDataType.INT_LIST: _list_of(_int),
    PacketDataType.FLOAT: _float,
    PacketDataType.FLOAT_LIST: _list_of(_float),
    PacketDataType.AUDIO: _matrix,
    PacketDataType.IMAGE: _image,
    PacketDataType.IMAGE_LIST: _list_of(_image),
    PacketDataType.IMAGE_FRAME: _frame,
    PacketDataType.PROTO: _message,
    PacketDataType.PROTO_LIST: _list_of(_message),
}


# --- from the graph to a program ----------------------------------------------------------------------


def content_of(payload: Any) -> Any:
    """Return what a program gets of a payload: images as read-only arrays, messages as copies."""
    if isinstance(payload, list):
        return [content_of(one) for one in payload]
    if isinstance(payload, Message):
        return _copied(payload)
    return payload.array if isinstance(payload, ImageFrame | Image | Matrix) else payload


def _copied(message: Message) -> Message:
    copy = type(message)()
    copy.CopyFrom(message)
    return copy
