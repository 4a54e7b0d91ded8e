"""`foxglove.RawImage`, so far as images need it: written and read by hand, without copies of the pixels.

Source of the fields: Foxglove's public schema `foxglove/RawImage.proto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from penstock.errors import InvalidArgumentError
from penstock_record.codec import Schema

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

#: Our formats → names of encodings that viewers know. Others get their own name, and viewers show no picture.
_ENCODINGS: Final = {
    "SRGB": "rgb8",
    "SRGBA": "rgba8",
    "SBGRA": "bgra8",
    "GRAY8": "mono8",
    "GRAY16": "mono16",
    "VEC32F1": "32FC1",
}


#: Key of the field `data`: number 6, with a length.
_DATA: Final = b"\x32"


def _file() -> descriptor_pb2.FileDescriptorProto:
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="foxglove/RawImage.proto",
        package="foxglove",
        syntax="proto3",
        dependency=["google/protobuf/timestamp.proto"],
    )
    message = file.message_type.add(name="RawImage")
    for name, number, kind in (
        ("timestamp", 1, kinds.TYPE_MESSAGE),
        ("frame_id", 7, kinds.TYPE_STRING),
        ("width", 2, kinds.TYPE_FIXED32),
        ("height", 3, kinds.TYPE_FIXED32),
        ("encoding", 4, kinds.TYPE_STRING),
        ("step", 5, kinds.TYPE_FIXED32),
        ("data", 6, kinds.TYPE_BYTES),
    ):
        field = message.field.add(name=name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
        if kind == kinds.TYPE_MESSAGE:
            field.type_name = ".google.protobuf.Timestamp"
    return file


def _schema() -> tuple[Schema, Any]:
    from google.protobuf import timestamp_pb2  # registers the file

    files = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    files.file.append(_file())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName("foxglove.RawImage"))
    return Schema("protobuf", "foxglove.RawImage", "protobuf", files.SerializeToString()), kind


IMAGE_SCHEMA, _RawImage = _schema()


def raw_image(name: str, pixels: NDArray[np.generic]) -> bytes:
    """Return an image.

    Args:
        name: of our format.
        pixels: (H, W) or (H, W, channels), rows and pixels side by side.
    """
    height, width = pixels.shape[:2]
    message = _RawImage(
        frame_id=name,
        width=width,
        height=height,
        encoding=_ENCODINGS.get(name, name),
        step=pixels.strides[0],
    )
    # The pixels are copied once, into the whole; in the message they would be copied three times.
    return b"".join((message.SerializeToString(), _DATA, _varint(pixels.nbytes), pixels.data))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004  # seven bits
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def raw_image_pixels(data: bytes) -> tuple[str, int, int, bytes]:
    """Return our format, width, height and pixels of an image.

    Raises:
        InvalidArgumentError: it is none.
    """
    try:
        message = _RawImage.FromString(data)
    except DecodeError as error:
        raise InvalidArgumentError(f"these bytes are no foxglove.RawImage: {error}") from error
    return message.frame_id, message.width, message.height, message.data
