"""Fields of messages as templates name them: by number, extensions included, one value at a time.

A value of a field is what protobuf has for it in Python: a message, a str, a number. A map is a list of
entries here, and an entry is a message with `key` and `value`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as AnyMessage

from penstock.config.calculator_graph_template_pb2 import TemplateDict
from penstock.error_text import clipped, quoted
from penstock.errors import InvalidArgumentError
from penstock.readers import own_name
from penstock_templates.expression_values import Value, as_bool, as_number, as_text, described, to_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.readers import Message, ReaderFindType

ANY: Final = "google.protobuf.Any"
#: The field of a packed message that holds the message.
ANY_VALUE: Final = 2

_DICT: Final = TemplateDict.DESCRIPTOR.full_name
_INTEGERS: Final = (
    FieldDescriptor.CPPTYPE_INT32,
    FieldDescriptor.CPPTYPE_INT64,
    FieldDescriptor.CPPTYPE_UINT32,
    FieldDescriptor.CPPTYPE_UINT64,
)
_FLOATS: Final = (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT)
_WHOLE: Final = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)

#: A field, in whichever of protobuf's implementations.
Field: TypeAlias = Any


# --- finding them ---------------------------------------------------------------------------------


def field_numbered(descriptor: Any, number: int) -> Field | None:
    """Return the field of a message, or the extension, that has a number; None where there is none."""
    field = descriptor.fields_by_number.get(number)
    if field is not None:
        return field
    try:
        return descriptor_pool.Default().FindExtensionByNumber(descriptor, number)
    except KeyError:
        return None


def field_named(descriptor: Any, name: str) -> Field | None:
    """Return a field by its name in graph text, an extension by "[full.name]"; None where there is none."""
    if not name.startswith("["):
        return descriptor.fields_by_name.get(name)
    try:
        field = descriptor_pool.Default().FindExtensionByName(name[1:-1])
    except KeyError:
        return None
    return field if field.containing_type == descriptor else None


def packed_type(descriptor: Any, name: str, find: ReaderFindType) -> Any:
    """Return the type that "[prefix/full.name]" packs into an Any; None where the name is no such type."""
    if descriptor.full_name != ANY or "/" not in name:
        return None
    try:
        return find(name[1:-1].rpartition("/")[2])
    except KeyError:
        return None


def spelled(field: Field) -> str:
    """Return a field's name as graph text has it."""
    return f"[{field.full_name}]" if field.is_extension else str(field.name)


def is_message(field: Field) -> bool:
    """Return whether the field holds messages. Groups do not count: nothing here reads their fields."""
    return bool(field.type == FieldDescriptor.TYPE_MESSAGE)


def is_text(field: Field) -> bool:
    """Return whether the field holds strings, or bytes."""
    return bool(field.cpp_type == FieldDescriptor.CPPTYPE_STRING)


def is_map(field: Field) -> bool:
    """Return whether the field is a map."""
    return is_message(field) and bool(field.message_type.GetOptions().map_entry)


def is_repeated(field: Field) -> bool:
    """Return whether the field holds several values."""
    # `label` warns where protobuf has the property that replaces it.
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


def new(descriptor: Any) -> Message:
    """Return an empty message."""
    return message_factory.GetMessageClass(descriptor)()


def parsed(descriptor: Any, data: bytes) -> Message:
    """Return a message from its bytes.

    Raises:
        ValueError: they are no such message.
    """
    message = new(descriptor)
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(str(error)) from error
    return message


# --- their values -----------------------------------------------------------------------------------


def held(message: Message, field: Field) -> Sequence[Any]:
    """Return the values of a field as the message holds them: at most one where it does not repeat."""
    found = message.Extensions[field] if field.is_extension else getattr(message, field.name)
    if is_map(field):
        return [_entry(field, key, found[key]) for key in found]
    if is_repeated(field):
        several: Sequence[Any] = found
        return several
    return [found] if _is_set(message, field, found) else []


def values(message: Message, field: Field) -> list[Any]:
    """Return the values of a field in a list of their own. Messages are not copied."""
    return list(held(message, field))


def set_values(message: Message, field: Field, given: list[Any]) -> None:
    """Replace the values of a field. The new ones are copied first, so they may be the field's own."""
    kept = [copied(one) for one in given]
    if field.is_extension:
        message.ClearExtension(field)
    else:
        message.ClearField(field.name)
    place = message.Extensions[field] if field.is_extension else getattr(message, field.name)
    if is_map(field):
        for entry in kept:
            _put(place, field, entry)
    elif is_repeated(field):
        place.extend(kept)
    elif kept and is_message(field):
        place.CopyFrom(kept[0])
        place.SetInParent()
    elif kept and field.is_extension:
        message.Extensions[field] = kept[0]
    elif kept:
        setattr(message, field.name, kept[0])


def _is_set(message: Message, field: Field, found: object) -> bool:
    if field.is_extension:
        return bool(message.HasExtension(field))
    return bool(message.HasField(field.name)) if field.has_presence else bool(found != field.default_value)


def copied(value: Any) -> Any:
    """Return a copy of a message; anything else as it is."""
    if not isinstance(value, AnyMessage):
        return value
    copy = type(value)()
    copy.CopyFrom(value)
    return copy


def key_text(entry: Message) -> str:
    """Return the key of a map's entry as graph text has it, without quotes."""
    return str(entry.key).lower() if isinstance(entry.key, bool) else str(entry.key)


def unpacked(packed: Message, find: ReaderFindType) -> Message:
    """Return a copy of what an Any holds.

    Raises:
        InvalidArgumentError: its type is unknown, or its bytes are no message of that type.
    """
    name = own_name(packed.type_url.rpartition("/")[2])
    try:
        return parsed(find(name), packed.value)
    except (KeyError, ValueError) as error:
        raise InvalidArgumentError(
            f"the template has a field value of Any of type {quoted(packed.type_url)}, which cannot be read"
        ) from error


def _entry(field: Field, key: Any, value: Any) -> Message:
    entry = new(field.message_type)
    entry.key = key
    if field.message_type.fields_by_name["value"].message_type is None:
        entry.value = value
    else:
        entry.value.CopyFrom(value)
    return entry


def _put(entries: Any, field: Field, entry: Message) -> None:
    if entry.key in entries:
        raise InvalidArgumentError(
            f"the template's field {spelled(field)!r} has the key {clipped(repr(entry.key))} twice; keys "
            "differ"
        )
    if field.message_type.fields_by_name["value"].message_type is None:
        entries[entry.key] = entry.value
    else:
        entries[entry.key].CopyFrom(entry.value)


# --- from values of templates ---------------------------------------------------------------------


def converted(field: Field, value: Value) -> Any:
    """Return a value of a template as one of a field.

    Raises:
        InvalidArgumentError: it cannot be one.
    """
    where = repr(spelled(field))
    if isinstance(value, list):
        element = f"% for (one : ...) % {spelled(field)}: % one % % end %"
        raise InvalidArgumentError(
            f"field {where} of the template takes one value, not {described(value)}; repeat it: {element}"
        )
    if field.message_type is not None:
        if field.message_type.full_name == _DICT and isinstance(value, dict):
            return to_message(value)
        raise InvalidArgumentError(
            f"field {where} of the template is a message; give values to its fields, not {described(value)}"
        )
    found = _scalar(field, value, where)
    try:
        set_values(new(field.containing_type), field, [found])  # protobuf knows the ranges
    except (ValueError, TypeError) as error:
        raise InvalidArgumentError(
            f"field {where} of the template cannot be {described(value)}: {error}"
        ) from error
    return found


def _scalar(field: Field, value: Value, where: str) -> Any:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return as_bool(value, f"field {where}")
    if kind in _FLOATS:
        return as_number(value, f"field {where}")
    if kind in _INTEGERS:
        return _whole(value, where)
    if kind == FieldDescriptor.CPPTYPE_ENUM:
        known = field.enum_type.values_by_name
        return (
            known[value].number if isinstance(value, str) and value in known else _known(field, value, where)
        )
    text = as_text(value, f"field {where}")
    return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text


def _whole(value: Value, where: str) -> int:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        try:
            return int(value)  # of any length: a double would lose the last digits
        except ValueError as error:  # thousands of digits
            raise InvalidArgumentError(
                f"field {where} of the template cannot be a number of {len(value)} digits"
            ) from error
    number = as_number(value, f"field {where}")
    if not number.is_integer():
        raise InvalidArgumentError(
            f"field {where} of the template takes whole numbers, not {described(value)}"
        )
    return int(number)


def _known(field: Field, value: Value, where: str) -> int:
    number = _whole(value, where)
    if number not in field.enum_type.values_by_number:
        names = ", ".join(field.enum_type.values_by_name)
        raise InvalidArgumentError(
            f"field {where} of the template cannot be {described(value)}; it is one of {names}"
        )
    return number
