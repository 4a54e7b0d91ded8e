"""Options messages as data: every field with its type, number, default and comment.

Reads the descriptors of message classes; needs nothing else of protobuf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock_views.describe.proto_comments import comments_of

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Numbers of field types → their names in .proto files.
#: Source: protobuf `descriptor.proto`, `FieldDescriptorProto.Type`.
_TYPES: Final = {
    1: "double",
    2: "float",
    3: "int64",
    4: "uint64",
    5: "int32",
    6: "fixed64",
    7: "fixed32",
    8: "bool",
    9: "string",
    12: "bytes",
    13: "uint32",
    15: "sfixed32",
    16: "sfixed64",
    17: "sint32",
    18: "sint64",
}
_FLOAT: Final = 2
_BOOL: Final = 8
_ENUM: Final = 14
#: Source: `FieldDescriptorProto.Label`.
_REPEATED: Final = 3


@attrs.frozen
class Choice:
    """One value of an enum."""

    name: str
    number: int
    description: str = ""


@attrs.frozen
class OptionField:
    """One field of an options message."""

    name: str
    number: int
    #: As .proto files name it; full name for messages and enums; "map<string, Name>" for maps.
    type: str
    #: Whether it may be given several times.
    repeated: bool
    #: The value where a graph does not give one, as graph text writes it. None where the file declares no
    #: default: the calculator decides then.
    default: str | None
    description: str = ""
    #: Name of the group of which only one field may be given, or "".
    oneof: str = ""
    #: The values of an enum.
    choices: tuple[Choice, ...] = ()
    #: Whether a graph must give it.
    required: bool = False


@attrs.frozen
class OptionMessage:
    """A message that graphs give as options, or one inside of such a message."""

    #: Full name, "penstock.XOptions".
    name: str
    description: str
    #: Number with which it extends `CalculatorOptions` or `MediaPipeOptions`; None where it is inside of
    #: another message, or is given as `node_options` only.
    extension: int | None
    fields: tuple[OptionField, ...]


def describe_messages(message: Any) -> Iterator[OptionMessage]:
    """Yield a message class as data, then the messages inside of it, each once."""
    waiting, seen = [message.DESCRIPTOR], {message.DESCRIPTOR.full_name}
    for descriptor in waiting:
        yield _message(descriptor)
        for field in descriptor.fields:
            inner = field.message_type
            if inner is not None and inner.full_name not in seen:
                seen.add(inner.full_name)
                waiting.append(inner)


def _message(descriptor: Any) -> OptionMessage:
    number = next((field.number for field in descriptor.extensions if field.message_type == descriptor), None)
    return OptionMessage(
        descriptor.full_name,
        _comment(descriptor, descriptor.full_name),
        number,
        tuple(_field(field) for field in descriptor.fields),
    )


def _field(field: Any) -> OptionField:
    oneof = field.containing_oneof
    # A field that is `optional` in proto3 is in a group of its own, which the file does not have.
    is_group = oneof is not None and not oneof.name.startswith("_")
    return OptionField(
        name=field.name,
        number=field.number,
        type=_type(field),
        repeated=_is_repeated(field),
        default=_default(field),
        description=_comment(field, field.full_name),
        oneof=oneof.name if is_group else "",
        choices=_choices(field.enum_type) if field.type == _ENUM else (),
    )


def _choices(enum: Any) -> tuple[Choice, ...]:
    # Where a file has the comment of a value: below the enum's own name.
    return tuple(
        Choice(value.name, value.number, _comment(enum, f"{enum.full_name}.{value.name}"))
        for value in enum.values
    )


def _type(field: Any) -> str:
    inner = field.message_type or field.enum_type
    return str(inner.full_name) if inner is not None else _TYPES[field.type]


def _is_repeated(field: Any) -> bool:
    # `label` warns where there is the property that replaces it.
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == _REPEATED if repeated is None else repeated)


def _default(field: Any) -> str | None:
    if _is_repeated(field) or field.message_type is not None:
        return None
    is_plain_bool = field.type == _BOOL and field.containing_oneof is None
    if field.has_presence and not field.has_default_value and not is_plain_bool:
        return None
    value = field.default_value
    if field.type == _ENUM:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, bytes)):
        shown = value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
        return '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
    # A float of four bytes has seven significant digits.
    return f"{value:.7g}" if field.type == _FLOAT else str(value)


def _comment(descriptor: Any, full_name: str) -> str:
    """Return the comment of the file on a name that it declares."""
    file = descriptor.file
    prefix = f"{file.package}." if file.package else ""
    return comments_of(file.name).get(full_name.removeprefix(prefix), "")
