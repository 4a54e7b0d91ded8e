"""The codecs of this pack: protobuf messages, images, matrices, arrays, JSON values, and plain values."""

from __future__ import annotations

import io
import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgpack  # type: ignore[import-untyped]  # it has no types
import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame, Matrix, VideoHeader
from penstock_formats.api import LAYOUTS
from penstock_record.codec import Schema
from penstock_record.foxglove import IMAGE_SCHEMA, raw_image, raw_image_pixels

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ProtobufCodec:
    """Protobuf messages, with the schema of their type, so that other programs can read them."""

    types = (Message,)

    def takes(self, payload: object) -> bool:
        """Take every message."""
        return isinstance(payload, Message)

    def schema(self, payload: Any) -> Schema:
        """Return the message's descriptor and those that it needs."""
        return _message_schema(payload.DESCRIPTOR)

    def encode(self, payload: Any) -> bytes:
        """Return the message, with map entries in order."""
        data: bytes = payload.SerializeToString(deterministic=True)
        return data

    def decode(self, data: bytes, schema: Schema) -> Any:
        """Return a message of the class that this process has for the name, or one made from the schema."""
        kind = _message_class(schema.name, schema.data)
        try:
            return kind.FromString(data)
        except DecodeError as error:
            raise InvalidArgumentError(
                f"the payload codec was given bytes that are no {schema.name}: {error}"
            ) from error


@cache
def _message_schema(descriptor: Any) -> Schema:
    files = descriptor_pb2.FileDescriptorSet()
    seen: set[str] = set()

    def add(file: Any) -> None:
        if file.name in seen:
            return
        seen.add(file.name)
        for dependency in file.dependencies:
            add(dependency)
        file.CopyToProto(files.file.add())

    add(descriptor.file)
    return Schema("protobuf", descriptor.full_name, "protobuf", files.SerializeToString())


@cache
def _message_class(name: str, data: bytes) -> Any:
    try:
        found = descriptor_pool.Default().FindMessageTypeByName(name)
    except KeyError:  # nothing here has imported it: the schema makes it
        pool = descriptor_pool.DescriptorPool()
        try:
            for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
                pool.Add(file)
            found = pool.FindMessageTypeByName(name)
        except (DecodeError, KeyError, TypeError) as error:
            raise InvalidArgumentError(
                f"the payload codec's schema of {name!r} is broken: {error}"
            ) from error
    return message_factory.GetMessageClass(found)


class ImageFrameCodec:
    """Images as `foxglove.RawImage`, which Foxglove and Rerun show. Exact, for all formats.

    The format of Penstock stands in `frame_id`, since several of ours have one name there.
    """

    types = (ImageFrame,)

    def takes(self, payload: object) -> bool:
        """Take images."""
        return isinstance(payload, ImageFrame)

    def schema(self, payload: object) -> Schema:  # noqa: ARG002  # the interface
        """Return that of `foxglove.RawImage`."""
        return IMAGE_SCHEMA

    def encode(self, payload: ImageFrame) -> bytes:
        """Return the image with rows that touch."""
        pixels = np.ascontiguousarray(payload.array)
        return raw_image(payload.format.name, pixels)

    def decode(self, data: bytes, schema: Schema) -> ImageFrame:  # noqa: ARG002  # the interface
        """Return an image that borrows the bytes."""
        name, width, height, pixels = raw_image_pixels(data)
        try:
            form = ImageFormat[name]
            layout = LAYOUTS[form]
            shape = (height, width, layout.channels) if layout.channels > 1 else (height, width)
            return ImageFrame(np.frombuffer(pixels, layout.dtype).reshape(shape), form)
        except (KeyError, ValueError) as error:
            raise InvalidArgumentError(
                f"the payload codec was given bytes that are no image of format {name!r}: {error}"
            ) from error


class ArrayCodec:
    """NumPy arrays and matrices in NumPy's own format, without pickles."""

    types = (np.ndarray, Matrix)

    def takes(self, payload: object) -> bool:
        """Take matrices, and arrays whose elements are plain."""
        if isinstance(payload, Matrix):
            return True
        return type(payload) is np.ndarray and not payload.dtype.hasobject

    def schema(self, payload: object) -> Schema:
        """Return which of the two it is."""
        return Schema("npy", "penstock.Matrix" if isinstance(payload, Matrix) else "numpy.ndarray")

    def encode(self, payload: Any) -> bytes:
        """Return header and elements."""
        array = payload.array if isinstance(payload, Matrix) else payload
        out = io.BytesIO()
        np.lib.format.write_array(out, array, allow_pickle=False)
        return out.getvalue()

    def decode(self, data: bytes, schema: Schema) -> Any:
        """Return an array of its own."""
        try:
            array = _read_array(data)
            return Matrix(array) if schema.name == "penstock.Matrix" else array
        except (ValueError, EOFError, TypeError, SyntaxError, InvalidArgumentError) as error:
            raise InvalidArgumentError(
                f"the payload codec was given bytes that are no array: {error}"
            ) from error


def _read_array(data: bytes) -> NDArray[Any]:
    """Return an array in NumPy's format.

    NumPy makes an array of the shape that the header claims before it reads, so the claim is checked first.

    Raises:
        ValueError, EOFError, TypeError, SyntaxError: it is none.
    """
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
        (3, 0): np.lib.format.read_array_header_2_0,  # other names of fields, of the same size
    }.get(version)
    if read_header is None:
        raise ValueError(f"version {version} of this payload codec's format is unknown")
    shape, _, dtype = read_header(file)
    claimed, there = math.prod(shape) * dtype.itemsize, len(data) - file.tell()
    if claimed != there:
        raise ValueError(
            f"the payload codec's header claims {claimed} bytes of elements, but there are {there}"
        )
    file.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


class VideoHeaderCodec:
    """The header of a video stream, as JSON."""

    types = (VideoHeader,)

    def takes(self, payload: object) -> bool:
        """Take headers of videos."""
        return type(payload) is VideoHeader

    def schema(self, payload: object) -> Schema:  # noqa: ARG002  # the interface
        """Return a schema that allows everything."""
        return Schema("json", "penstock.VideoHeader", "jsonschema", b"{}")

    def encode(self, payload: Any) -> bytes:
        """Return the fields; the format by its name."""
        fields = attrs.asdict(payload, recurse=False)
        fields["format"] = payload.format.name
        return json.dumps(fields).encode()

    def decode(self, data: bytes, schema: Schema) -> VideoHeader:  # noqa: ARG002  # the interface
        """Return the header."""
        try:
            fields = json.loads(data)
            return VideoHeader(**{**fields, "format": ImageFormat[fields["format"]]})
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InvalidArgumentError(
                f"the payload codec was given bytes that are no header of a video: {error}"
            ) from error


class JsonCodec:
    """What JSON holds exactly: None, bool, int, finite float, str, lists, and dicts with str keys."""

    types = (type(None), bool, int, float, str, list, dict)

    def takes(self, payload: object) -> bool:
        """Take what comes back equal, and of the same types."""
        return _is_json(payload)

    def schema(self, payload: object) -> Schema:  # noqa: ARG002  # the interface
        """Return a schema that allows everything, which some programs insist on."""
        return Schema("json", "penstock.Json", "jsonschema", b"{}")

    def encode(self, payload: object) -> bytes:
        """Return UTF-8 text without blanks."""
        return _encode_json(payload).encode()

    def decode(self, data: bytes, schema: Schema) -> Any:  # noqa: ARG002  # the interface
        """Return the value."""
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise InvalidArgumentError(
                f"the payload codec was given bytes that are no JSON: {error}"
            ) from error


_encode_json: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_PLAIN: Final = frozenset({type(None), bool, int})


def _is_json(payload: object) -> bool:
    kind = type(payload)
    if kind in _PLAIN:
        return True
    if kind is float:
        return math.isfinite(payload)  # type: ignore[arg-type]  # a float
    if kind is str:
        return _is_utf8(payload)  # type: ignore[arg-type]  # a str
    if kind is list:
        return all(map(_is_json, payload))  # type: ignore[call-overload]  # a list
    if kind is dict:
        return all(type(key) is str and _is_utf8(key) and _is_json(payload[key]) for key in payload)  # type: ignore[attr-defined,index]  # a dict
    return False


def _is_utf8(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else True


class ValueCodec:
    """What JSON cannot hold: bytes, NaN and infinities, tuples, dicts with other keys; as MessagePack.

    Tuples are extension 1, ints of more than 64 bits extension 2, protobuf messages inside of lists and the
    like extension 3, with the name of their type: they are read where that type is imported. Lone surrogates
    are kept.
    """

    types = (type(None), bool, int, float, str, bytes, list, tuple, dict)

    def takes(self, payload: object) -> bool:
        """Take what comes back equal, and of the same types."""
        return _is_value(payload)

    def schema(self, payload: object) -> Schema:  # noqa: ARG002  # the interface
        """Return no schema: MessagePack describes itself."""
        return Schema("msgpack", "penstock.Value")

    def encode(self, payload: object) -> bytes:
        """Return the value."""
        packed: bytes = msgpack.packb(
            payload, default=_extended, strict_types=True, unicode_errors="surrogatepass"
        )
        return packed

    def decode(self, data: bytes, schema: Schema) -> Any:  # noqa: ARG002  # the interface
        """Return the value."""
        return _unpacked(data)


_TUPLE, _BIG, _MESSAGE = 1, 2, 3
_VALUES: Final = frozenset({type(None), bool, int, float, str, bytes})


def _is_value(payload: object) -> bool:
    kind = type(payload)
    if kind in _VALUES:
        return True
    if kind in (list, tuple):
        return all(map(_is_value, payload))  # type: ignore[call-overload]  # a sequence
    if kind is dict:
        return all(_is_value(key) and _is_value(value) for key, value in payload.items())  # type: ignore[attr-defined]
    return isinstance(payload, Message)


def _extended(value: Any) -> Any:
    if type(value) is tuple:
        packed = msgpack.packb(
            list(value), default=_extended, strict_types=True, unicode_errors="surrogatepass"
        )
        return msgpack.ExtType(_TUPLE, packed)
    if type(value) is int:
        return msgpack.ExtType(_BIG, str(value).encode())
    if isinstance(value, Message):
        name, data = value.DESCRIPTOR.full_name, value.SerializeToString(deterministic=True)
        return msgpack.ExtType(_MESSAGE, msgpack.packb([name, data]))
    raise TypeError(f"{type(value).__name__} is no plain value that a codec writes")


def _unpacked(data: bytes) -> Any:
    try:
        return msgpack.unpackb(
            data,
            ext_hook=_from_extension,
            strict_map_key=False,
            unicode_errors="surrogatepass",
        )
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise InvalidArgumentError(
            f"the payload codec was given bytes that are no MessagePack value: {error}"
        ) from error


def _from_extension(code: int, data: bytes) -> Any:
    if code == _TUPLE:
        return tuple(_unpacked(data))
    if code == _BIG:
        return int(data)
    if code == _MESSAGE:
        name, message = msgpack.unpackb(data)
        try:
            return message_factory.GetMessageClass(
                descriptor_pool.Default().FindMessageTypeByName(name)
            ).FromString(message)
        except (KeyError, DecodeError) as error:
            raise ValueError(
                f"the payload codec cannot decode message {name}: {error}; import the module that has it"
            ) from error
    raise ValueError(f"extension {code} is not known to the payload codecs")
