"""Packets from Python values: strict about types, as MediaPipe's are."""

from __future__ import annotations

from collections.abc import Mapping
from operator import index
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from google.protobuf.message import Message

import penstock
from penstock.errors import InvalidArgumentError
from penstock_formats import Matrix
from penstock_mediapipe.images import Image, ImageFrame
from penstock_mediapipe.packet import Packet
from penstock_mediapipe.python_errors import behind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock_mediapipe.images import ImageFormat

__all__ = [
    "create_bool",
    "create_bool_vector",
    "create_double",
    "create_float",
    "create_float_array",
    "create_float_vector",
    "create_image",
    "create_image_frame",
    "create_image_frame_vector",
    "create_image_vector",
    "create_int",
    "create_int8",
    "create_int16",
    "create_int32",
    "create_int64",
    "create_int_array",
    "create_int_vector",
    "create_matrix",
    "create_packet_vector",
    "create_proto",
    "create_proto_vector",
    "create_string",
    "create_string_to_packet_map",
    "create_string_vector",
    "create_uint8",
    "create_uint16",
    "create_uint32",
    "create_uint64",
]


#: Bits of the largest int.
_LONGEST: Final = 64
_INT32: Final = 1 << 31


def _packet(value: object, type_name: str) -> Packet:
    return Packet.of(penstock.Packet(value), type_name)


def _wrong(function: str, value: object, wanted: str) -> TypeError:
    ours = f"{value!r:.200} is a {type(value).__name__}, but must be {wanted}"
    return TypeError(behind(f"{function}(): incompatible function arguments.", ours))


def create_string(data: Any) -> Packet:
    """Return a packet with text; bytes stay bytes, a bytearray is copied.

    Raises:
        TypeError: it is neither str, bytes nor bytearray.
    """
    if isinstance(data, bytearray):
        data = bytes(data)
    if not isinstance(data, (str, bytes)):
        raise _wrong("create_string", data, "a str or bytes")
    return _packet(data, "string")


def create_bool(data: bool) -> Packet:  # noqa: FBT001  # the value itself
    """Return a packet with True or False.

    Raises:
        TypeError: it is neither.
    """
    return _packet(_as_bool("create_bool", data), "bool")


def _as_bool(function: str, data: object) -> bool:
    if not isinstance(data, (bool, np.bool_)):
        raise _wrong(function, data, "True or False")
    return bool(data)


def _as_int(function: str, data: Any, bits: int, *, signed: bool) -> int:
    if isinstance(data, float) or not hasattr(data, "__index__"):
        raise _wrong(function, data, "an int")
    value = index(data)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if low <= value <= high:
        return value
    if bits == _LONGEST:  # what MediaPipe's own conversion from Python does not take
        raise _wrong(function, data, f"an int from {low} to {high}")
    if value > high:
        words = f"{value} execeeds the maximum value ({high}) the data type can have."  # its spelling
        raise OverflowError(behind(words, f"{function}() takes no greater one"))
    words = f"{value} goes below the minimum value ({low}) the data type can have."
    raise OverflowError(behind(words, f"{function}() takes no smaller one"))


def _integers(name: str, bits: int, type_name: str, *, signed: bool = True) -> Callable[[int], Packet]:
    function = f"create_{name}"

    def create(data: int) -> Packet:
        return _packet(_as_int(function, data, bits, signed=signed), type_name)

    create.__name__ = create.__qualname__ = function
    too_large = (
        "        TypeError: it is no int, or does not fit."
        if bits == _LONGEST
        else "        TypeError: it is no int.\n        OverflowError: it does not fit."
    )
    create.__doc__ = f"""Return a packet with an int of {bits} bits{"" if signed else ", not negative"}.

    Raises:
{too_large}
    """
    return create


create_int: Final = _integers("int", 32, "int")
create_int8: Final = _integers("int8", 8, "signed char")
create_int16: Final = _integers("int16", 16, "short")
create_int32: Final = _integers("int32", 32, "int")
create_int64: Final = _integers("int64", 64, "int64_t")
create_uint8: Final = _integers("uint8", 8, "unsigned char", signed=False)
create_uint16: Final = _integers("uint16", 16, "unsigned short", signed=False)
create_uint32: Final = _integers("uint32", 32, "unsigned int", signed=False)
create_uint64: Final = _integers("uint64", 64, "uint64_t", signed=False)


def _as_float(function: str, data: Any) -> float:
    if isinstance(data, (str, bytes)) or not (hasattr(data, "__float__") or hasattr(data, "__index__")):
        raise _wrong(function, data, "a number")
    return float(data)


def _rounded(value: float) -> float:
    """Return a number rounded to 32 bits: infinite where it is too large."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def create_float(data: float) -> Packet:
    """Return a packet with a number, rounded to 32 bits: infinite where it is too large.

    Raises:
        TypeError: it is no number.
    """
    return _packet(_rounded(_as_float("create_float", data)), "float")


def create_double(data: float) -> Packet:
    """Return a packet with a number of 64 bits.

    Raises:
        TypeError: it is no number.
    """
    return _packet(_as_float("create_double", data), "double")


def _sequence(function: str, data: Any, what: str) -> list[Any]:
    """Return the items of a list, a tuple, an array or the like: not of a text, a dict or an iterator."""
    if isinstance(data, (str, bytes, Mapping)) or not hasattr(data, "__getitem__"):
        raise _wrong(function, data, f"a list of {what}")
    return list(data)


def _list(function: str, data: Any, kinds: tuple[type, ...], what: str) -> list[Any]:
    values = _sequence(function, data, what)
    for value in values:
        if not isinstance(value, kinds):
            raise _wrong(function, value, f"a list of {what}")
    return values


def create_int_array(data: Iterable[int]) -> Packet:
    """Return a packet with ints, which no getter reads: for side packets of calculators that take arrays."""
    values = _sequence("create_int_array", data, "ints")
    return _packet([_as_int("create_int_array", one, 32, signed=True) for one in values], "int []")


def create_float_array(data: Iterable[float]) -> Packet:
    """Return a packet with floats; see `create_int_array`. Raises TypeError for ints."""
    values = _list("create_float_array", data, (float, np.floating), "floats")
    return _packet([_rounded(one) for one in values], "float []")


def create_int_vector(data: Iterable[int]) -> Packet:
    """Return a packet with a list of ints of 32 bits. Raises TypeError for anything else."""
    values = [int(one) for one in _list("create_int_vector", data, (int, np.integer), "ints")]
    for value in values:
        if not -_INT32 <= value < _INT32:
            raise _wrong("create_int_vector", value, "a list of ints of 32 bits")
    return _packet(values, "::std::vector<int>")


def create_bool_vector(data: Iterable[bool]) -> Packet:
    """Return a packet with a list of bools. Raises TypeError for anything else."""
    values = _list("create_bool_vector", data, (bool, np.bool_), "bools")
    return _packet([bool(one) for one in values], "::std::vector<bool>")


def create_float_vector(data: Iterable[float]) -> Packet:
    """Return a packet with a list of floats of 32 bits. Raises TypeError for anything else, ints included."""
    values = _list("create_float_vector", data, (float, np.floating), "floats")
    return _packet([_rounded(one) for one in values], "::std::vector<float>")


def create_string_vector(data: Iterable[str]) -> Packet:
    """Return a packet with a list of str; bytes are read as UTF-8. Raises TypeError for anything else."""
    values = _list("create_string_vector", data, (str, bytes), "str")
    texts = [one.decode() if isinstance(one, bytes) else str(one) for one in values]
    return _packet(texts, "::std::vector<std::string>")


def create_image_vector(data: Iterable[Image]) -> Packet:
    """Return a packet with a list of `Image`s. Raises TypeError for anything else."""
    values = _list("create_image_vector", data, (Image,), "images")
    return _packet([one.core for one in values], "::std::vector<::mediapipe::Image>")


def create_image_frame_vector(data: Iterable[ImageFrame]) -> Packet:
    """Return a packet with a list of `ImageFrame`s. Raises TypeError for anything else."""
    values = _sequence("create_image_frame_vector", data, "image frames")
    for number, value in enumerate(values):
        if not isinstance(value, ImageFrame):
            ours = f"create_image_frame_vector(): {value!r:.200} is a {type(value).__name__}"
            raise TypeError(behind(f"Item {number} is not an ImageFrame.", ours))
    return _packet([one.core for one in values], "::std::vector<::mediapipe::ImageFrame>")


def create_packet_vector(data: Iterable[Packet]) -> Packet:
    """Return a packet with a list of packets. Raises TypeError for anything else."""
    values = _list("create_packet_vector", data, (Packet,), "packets")
    return _packet(values, "::std::vector<::mediapipe::Packet>")


def create_string_to_packet_map(data: Mapping[Any, Any]) -> Packet:
    """Return a packet with a dict of packets by name. Raises TypeError for anything else."""
    if not isinstance(data, Mapping):
        raise _wrong("create_string_to_packet_map", data, "a dict of packets by name")
    for key, value in data.items():
        if not isinstance(key, str) or not isinstance(value, Packet):
            raise _wrong("create_string_to_packet_map", {key: value}, "a dict of packets by name")
    return _packet(dict(data), "::std::map<std::string,::mediapipe::Packet>")


def create_matrix(data: Any, *, transpose: bool = False) -> Packet:
    """Return a packet with a matrix of 32-bit floats, a copy; a vector becomes one column.

    Args:
        data: an array with one or two dimensions.
        transpose: whether rows become columns.

    Raises:
        TypeError: it has another number of dimensions, or is not of numbers.
    """
    try:
        with np.errstate(over="ignore"):
            array = np.asarray(data, np.float32)
    except ValueError:
        raise _wrong("create_matrix", data, "an array of numbers") from None
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:  # noqa: PLR2004  # a matrix
        raise _wrong("create_matrix", data, f"an array of 1 or 2 dimensions, not of {array.ndim}")
    matrix = Matrix(array.T if transpose else array, copy=True)
    return _packet(matrix, "Eigen::Matrix<float, -1, -1, 0, -1, -1>")


def create_image_frame(
    data: Any, *, image_format: ImageFormat | None = None, copy: bool | None = None
) -> Packet:
    """Return a packet with an `ImageFrame`.

    Args:
        data: an `ImageFrame`; or an array of (rows, columns, channels) or (rows, columns).
        image_format: of an array; required there.
        copy: whether an array is copied; None: if it is writable.

    Raises:
        ValueError: the format is missing; or an `ImageFrame` is given with another format, or with `copy`.
        RuntimeError: the array does not fit the format.
    """
    return _packet(_image_of(ImageFrame, data, image_format, copy).core, "::mediapipe::ImageFrame")


def create_image(data: Any, *, image_format: ImageFormat | None = None, copy: bool | None = None) -> Packet:
    """Return a packet with an `Image`; otherwise as `create_image_frame`."""
    return _packet(_image_of(Image, data, image_format, copy).core, "::mediapipe::Image")


def _image_of(kind: Any, data: Any, image_format: ImageFormat | None, copy: bool | None) -> Any:  # noqa: FBT001
    if isinstance(data, (Image, ImageFrame)):
        if image_format is not None and data.image_format != image_format:
            raise InvalidArgumentError(
                f"the image is {data.image_format.name}, but the packet is to have {image_format.name}"
            )
        if copy is not None:
            raise InvalidArgumentError("copy is for packets of arrays: an image is shared and never changes")
        return (
            data if isinstance(data, kind) else kind(image_format=data.image_format, data=data.numpy_view())
        )
    if image_format is None:
        raise InvalidArgumentError(
            behind("Please provide 'image_format' with 'data'.", "for example ImageFormat.SRGB")
        )
    array = np.asarray(data)
    taken = array.flags.writeable if copy is None else copy
    return kind(image_format=image_format, data=array, copy=taken)


def create_proto(message: Message) -> Packet:
    """Return a packet with a copy of a protobuf message.

    Raises:
        TypeError: it is no message.
    """
    if not isinstance(message, Message):
        raise _wrong("create_proto", message, "a protobuf message")
    copy = type(message)()
    copy.CopyFrom(message)
    return _packet(copy, f"::mediapipe::{type(message).__name__}")


def create_proto_vector(message_list: Iterable[Message]) -> Packet:
    """Not there, as in MediaPipe.

    Raises:
        NotImplementedError: always.
    """
    del message_list
    raise NotImplementedError(
        "create_proto_vector is not there, as in MediaPipe; send the messages one by one"
    )
