"""One value of a field as bytes, as rules hold it: the wire format without tag and length.

Source of the form: MediaPipe `tool/proto_util_lite`; of the encoding: protobuf's documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError
from penstock_templates.field_values import new, parsed, set_values, spelled, values

if TYPE_CHECKING:
    from penstock_templates.field_values import Field

#: Wire types.
_VARINT, _FIXED64, _WITH_LENGTH, _FIXED32 = 0, 1, 2, 5
#: Type of a field (FieldDescriptor.TYPE_...) → wire type; all others are varints.
_WIRE_TYPES: Final = {
    1: _FIXED64, 6: _FIXED64, 16: _FIXED64, 2: _FIXED32, 7: _FIXED32, 15: _FIXED32,
    9: _WITH_LENGTH, 11: _WITH_LENGTH, 12: _WITH_LENGTH,
}  # fmt: skip
_ZEROS: Final = {_VARINT: b"\x00", _FIXED64: bytes(8), _FIXED32: bytes(4), _WITH_LENGTH: b""}


def encoded(field: Field, value: Any) -> bytes:
    """Return a value as bytes."""
    message = new(field.containing_type)
    set_values(message, field, [value])
    data: bytes = message.SerializePartialToString(deterministic=True)
    wire_type = _WIRE_TYPES.get(field.type, _VARINT)
    if not data:  # a field without presence, set to its default
        return _ZEROS[wire_type]
    data = data[len(_tag(field, wire_type)) :]
    if wire_type == _WITH_LENGTH:
        length_ends = next(i for i, byte in enumerate(data) if byte < 0x80) + 1  # noqa: PLR2004  # the last byte of a varint
        data = data[length_ends:]
    return data


def decoded(field: Field, data: bytes) -> Any:
    """Return the value that bytes encode.

    Raises:
        InvalidArgumentError: they encode no value of this field.
    """
    wire_type = _WIRE_TYPES.get(field.type, _VARINT)
    length = _varint(len(data)) if wire_type == _WITH_LENGTH else b""
    try:
        found = values(parsed(field.containing_type, _tag(field, wire_type) + length + data), field)
    except ValueError as error:
        words = f"the field_value of field {spelled(field)!r}, {len(data)} bytes, is no value of its type"
        raise InvalidArgumentError(words) from error
    return found[0] if found else field.default_value


def _tag(field: Field, wire_type: int) -> bytes:
    return _varint(field.number << 3 | wire_type)


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:  # noqa: PLR2004  # seven bits a byte
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*parts, number))
