"""Foxglove's messages of pictures: `RawImage`, without copies of the pixels, and compressed ones.

Source of the fields: Foxglove's public schemas `foxglove/RawImage.proto`, `CompressedImage` and
`CompressedVideo`.
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


#: Message → its fields (name, number, type), and the schema's file.
_MESSAGES: Final = {
    "RawImage": (
        ("timestamp", 1, "message"), ("frame_id", 7, "string"), ("width", 2, "fixed32"),
        ("height", 3, "fixed32"), ("encoding", 4, "string"), ("step", 5, "fixed32"), ("data", 6, "bytes"),
    ),
    "CompressedImage": (
        ("timestamp", 1, "message"), ("frame_id", 4, "string"), ("data", 2, "bytes"), ("format", 3, "string"),
    ),
    "CompressedVideo": (
        ("timestamp", 1, "message"), ("frame_id", 2, "string"), ("data", 3, "bytes"), ("format", 4, "string"),
    ),
}  # fmt: skip


def _file(name: str) -> descriptor_pb2.FileDescriptorProto:
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name=f"foxglove/{name}.proto",
        package="foxglove",
        syntax="proto3",
        dependency=["google/protobuf/timestamp.proto"],
    )
    message = file.message_type.add(name=name)
    for field_name, number, word in _MESSAGES[name]:
        kind = kinds.Type.Value(f"TYPE_{word.upper()}")
        field = message.field.add(name=field_name, number=number, type=kind, label=kinds.LABEL_OPTIONAL)
        if kind == kinds.TYPE_MESSAGE:
            field.type_name = ".google.protobuf.Timestamp"
    return file


def _schema(name: str) -> tuple[Schema, Any]:
    from google.protobuf import timestamp_pb2  # registers the file

    files = descriptor_pb2.FileDescriptorSet()
    timestamp_pb2.DESCRIPTOR.CopyToProto(files.file.add())
    files.file.append(_file(name))
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"foxglove.{name}"))
    return Schema("protobuf", f"foxglove.{name}", "protobuf", files.SerializeToString()), kind


IMAGE_SCHEMA, _RawImage = _schema("RawImage")
IMAGE_FILE_SCHEMA, _CompressedImage = _schema("CompressedImage")
VIDEO_SCHEMA, _CompressedVideo = _schema("CompressedVideo")
_S_NS: Final = 1_000_000_000


def compressed(is_video: bool, frame_id: str, data: bytes, at_ns: int) -> bytes:  # noqa: FBT001  # one of two
    """Return a `foxglove.CompressedVideo` of H.264, or a `foxglove.CompressedImage` of JPEG.

    Args:
        is_video: which of the two.
        frame_id: text about the picture.
        data: one picture: units of H.264 with start codes, or a JPEG file.
        at_ns: its time in nanoseconds, 0 or later.
    """
    kind, form = (_CompressedVideo, "h264") if is_video else (_CompressedImage, "jpeg")
    message = kind(frame_id=frame_id, data=data, format=form)
    message.timestamp.seconds, message.timestamp.nanos = divmod(at_ns, _S_NS)
    made: bytes = message.SerializeToString()
    return made


def compressed_parts(is_video: bool, data: bytes) -> tuple[str, bytes]:  # noqa: FBT001  # one of two
    """Return the text about a picture, and the picture, of a message that `compressed` made.

    Raises:
        InvalidArgumentError: it is none.
    """
    kind, form = (_CompressedVideo, "h264") if is_video else (_CompressedImage, "jpeg")
    try:
        message = kind.FromString(data)
    except DecodeError as error:
        raise InvalidArgumentError(
            f"these bytes are no Foxglove {kind.DESCRIPTOR.full_name}: {error}"
        ) from error
    if message.format != form:
        raise InvalidArgumentError(
            f"this Foxglove picture has the format {message.format[:40]!r}, expected {form!r}"
        )
    return message.frame_id, message.data


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
