"""Python values of packets; each getter takes the types that MediaPipe's takes, and refuses the others."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from google.protobuf.message import Message

import penstock
import penstock_formats
from penstock.errors import InvalidArgumentError
from penstock_mediapipe.images import Image, ImageFrame
from penstock_mediapipe.packet import Packet
from penstock_mediapipe.python_errors import behind

__all__ = [
    "get_bool",
    "get_bool_list",
    "get_bytes",
    "get_float",
    "get_float_list",
    "get_image",
    "get_image_frame",
    "get_image_frame_list",
    "get_image_list",
    "get_int",
    "get_int_list",
    "get_matrix",
    "get_packet_list",
    "get_proto",
    "get_proto_list",
    "get_str",
    "get_str_list",
    "get_str_to_packet_dict",
    "get_uint",
]

_SIGNED: Final = ("int", "signed char", "short", "int64_t")
_UNSIGNED: Final = ("unsigned char", "unsigned short", "unsigned int", "uint64_t")


def _value(packet: Packet, wanted: str, type_name: str) -> Any:
    if packet.type_name != type_name:
        raise _other_than(packet, wanted, _requested(packet, type_name))
    return packet.core.payload


def _number(packet: Packet, wanted: str, type_names: tuple[str, ...], words: str) -> Any:
    if packet.type_name not in type_names:
        raise _other_than(packet, wanted, words)
    return packet.core.payload


def _items(
    packet: Packet, wanted: str, kinds: tuple[type, ...], type_name: str, words: str = ""
) -> list[Any]:
    value: Any = packet.core.payload
    fits = isinstance(value, list) and packet.type_name in (type_name, "::std::vector<?>")
    if packet.is_empty() or not fits or not all(isinstance(one, kinds) for one in value):
        raise _other_than(packet, wanted, words or _requested(packet, type_name))
    return list(value)


def _requested(packet: Packet, type_name: str) -> str:
    """Return MediaPipe's words for a packet of another type."""
    return f'The Packet stores "{packet.type_name}", but "{type_name}" was requested.'


def _other_than(packet: Packet, wanted: str, words: str) -> InvalidArgumentError:
    holds = f"{packet.type_name!r}" if not packet.is_empty() else "nothing"
    return InvalidArgumentError(behind(words, f"the packet holds {holds}, but {wanted} was asked for"))


def get_str(packet: Packet) -> str:
    """Return text. Raises ValueError for other types."""
    value = _value(packet, "a str", "string")
    return value.decode() if isinstance(value, bytes) else str(value)


def get_bytes(packet: Packet) -> bytes:
    """Return text as bytes. Raises ValueError for other types."""
    value = _value(packet, "bytes", "string")
    return value.encode() if isinstance(value, str) else bytes(value)


def get_bool(packet: Packet) -> bool:
    """Return True or False. Raises ValueError for other types."""
    return bool(_value(packet, "a bool", "bool"))


def get_int(packet: Packet) -> int:
    """Return a signed int of any size. Raises ValueError for other types, bool and unsigned ints included."""
    words = "Packet doesn't contain int, int8, int16, int32, or int64 data."
    return int(_number(packet, "an int, int8, int16, int32 or int64", _SIGNED, words))


def get_uint(packet: Packet) -> int:
    """Return an unsigned int of any size. Raises ValueError for other types.

    A packet that a graph has made does not tell the size of its int: any int that is not negative is taken.
    """
    value: Any = packet.core.payload
    if packet.is_of_unknown_size and value >= 0:
        return int(value)
    words = "Packet doesn't contain uint8, uint16, uint32, or uint64 data."
    return int(_number(packet, "a uint8, uint16, uint32 or uint64", _UNSIGNED, words))


def get_float(packet: Packet) -> float:
    """Return a float or double. Raises ValueError for other types, ints included."""
    words = "Packet doesn't contain float or double data."
    return float(_number(packet, "a float or double", ("float", "double"), words))


def get_int_list(packet: Packet) -> list[int]:
    """Return a list of ints. Raises ValueError for other types."""
    words = "Packet doesn't contain int, int8, int16, int32, or int64 containers."
    return _items(packet, "a list of ints", (int, np.integer), "::std::vector<int>", words)


def get_bool_list(packet: Packet) -> list[bool]:
    """Return a list of bools. Raises ValueError for other types."""
    return _items(packet, "a list of bools", (bool, np.bool_), "::std::vector<bool>")


def get_float_list(packet: Packet) -> list[float]:
    """Return a list of floats, or the numbers of a tuple of floats. Raises ValueError for other types."""
    value = packet.core.payload
    if isinstance(value, tuple) and all(
        isinstance(one, float) for one in value
    ):  # padding, matrices of a crop
        return list(value)
    words = "Packet doesn't contain std::vector<float> or std::array<float, 4 / 16> containers."
    return _items(packet, "a list of floats", (float, np.floating), "::std::vector<float>", words)


def get_str_list(packet: Packet) -> list[str]:
    """Return a list of str. Raises ValueError for other types."""
    return _items(packet, "a list of str", (str,), "::std::vector<std::string>")


def get_packet_list(packet: Packet) -> list[Packet]:
    """Return a list of packets. Raises ValueError for other types."""
    items = _items(
        packet, "a list of packets", (Packet, penstock.Packet), "::std::vector<::mediapipe::Packet>"
    )
    return [one if isinstance(one, Packet) else Packet.of(one) for one in items]


def get_str_to_packet_dict(packet: Packet) -> dict[str, Packet]:
    """Return packets by name. Raises ValueError for other types."""
    value = _value(packet, "a dict of packets", "::std::map<std::string,::mediapipe::Packet>")
    return {name: one if isinstance(one, Packet) else Packet.of(one) for name, one in value.items()}


def get_image(packet: Packet) -> Image:
    """Return an `Image`. Raises ValueError for other types."""
    return Image.of(_value(packet, "an image", "::mediapipe::Image"))


def get_image_list(packet: Packet) -> list[Image]:
    """Return a list of `Image`s. Raises ValueError for other types."""
    kinds = (penstock_formats.Image,)
    return [Image.of(one) for one in _items(packet, "images", kinds, "::std::vector<::mediapipe::Image>")]


def get_image_frame(packet: Packet) -> ImageFrame:
    """Return an `ImageFrame`. Raises ValueError for other types."""
    return ImageFrame.of(_value(packet, "an image frame", "::mediapipe::ImageFrame"))


def get_image_frame_list(packet: Packet) -> list[ImageFrame]:
    """Return a list of `ImageFrame`s. Raises ValueError for other types."""
    kinds = (penstock_formats.ImageFrame,)
    items = _items(packet, "image frames", kinds, "::std::vector<::mediapipe::ImageFrame>")
    return [ImageFrame.of(one) for one in items]


def get_matrix(packet: Packet) -> Any:
    """Return a read-only array of 32-bit floats. Raises ValueError for other types."""
    return _value(packet, "a matrix", "Eigen::Matrix<float, -1, -1, 0, -1, -1>").array


def get_proto(packet: Packet) -> Message:
    """Return a copy of a message. Raises ValueError for other types, where MediaPipe ends the process."""
    value = packet.core.payload
    if not isinstance(value, Message):
        raise InvalidArgumentError(
            f"the packet holds a {packet.type_name!r}, but a protobuf message was asked for"
        )
    copy = type(value)()
    copy.CopyFrom(value)
    return copy


def get_proto_list(packet: Packet) -> list[Message]:
    """Return copies of a list of protobuf messages. Raises ValueError for other types."""
    value = packet.core.payload
    if not isinstance(value, list) or not all(isinstance(one, Message) for one in value):
        raise InvalidArgumentError(
            behind(
                f'The Packet stores "{packet.type_name}" which is not convertible to '
                "vector<proto_ns::MessageLite*>.",
                f"the packet holds a {packet.type_name!r}, but a list of messages was asked for",
            )
        )
    return [get_proto(Packet.of(penstock.Packet(one))) for one in value]
