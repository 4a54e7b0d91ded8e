"""Options that are attrs classes: messages from instances, and from values given by field.

The core reads such messages back; a field that a message does not give has the class's default.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError
from penstock.types import converted, default_of, enum_numbers, fields_of, has_no_default, is_options_class

if TYPE_CHECKING:
    from penstock.readers import Message
    from penstock.types import ClassField


def message_of(instance: Any, message: Message) -> Message:
    """Write the options of an instance into a message that is empty; return the message.

    Fields that have their default are left out: they would be read back the same.

    Raises:
        InvalidArgumentError: a message cannot hold a value: None or an empty list where the default is
            another value, or a value of another type than the field's. The message is then half written.
    """
    for field in fields_of(type(instance)):
        value = getattr(instance, field.attribute.name)
        if field.is_required or not _is_default(field, value, instance):
            write_field(message, field, value)
    return message


def message_with(cls: Any, message: Message, field: str, value: object) -> Message:
    """Write one field of an options class by its name into a message that is empty; return the message.

    Raises:
        InvalidArgumentError: as `write_field`.
    """
    write_field(message, next(one for one in fields_of(cls) if one.name == field), value)
    return message


def write_field(message: Message, field: ClassField, value: object) -> None:
    """Write one field into a message that does not have it yet, from a Python value.

    The value of an enum may be given by name, an instance of an inner class as a dict of its fields.

    Raises:
        InvalidArgumentError: the value does not fit. The message is then half written.
    """
    try:
        _write_field(message, field, value)
    except ValueError as error:
        # protobuf in plain Python, the only one for free-threaded Python, raises it as the context of another
        fault = error if isinstance(error, UnicodeEncodeError) else error.__context__
        if not isinstance(fault, UnicodeEncodeError):
            raise
        raise _unfit(message, field, value, f"; {fault}") from fault


def _write_field(message: Message, field: ClassField, value: object) -> None:
    is_empty = value is None or (field.shape != "one" and _is_sized(field, value) and not value)
    if is_empty:
        if field.is_required or not _is_default(field, value):
            raise InvalidArgumentError(
                f"options {message.DESCRIPTOR.full_name}: {field.name} is {value!r}, which a graph file "
                "cannot say: the default is another value, or there is no default; give a value"
            )
        return
    if field.shape == "one":
        _write_one(message, field, value)
        return
    if not _is_sized(field, value):
        raise _unfit(message, field, value)
    values: Any = value
    target = getattr(message, field.name)
    for key in values:
        element = values[key] if field.shape == "map" else key
        if is_options_class(field.element):
            _fill(target[key] if field.shape == "map" else target.add(), field, element)
        elif field.shape == "map":
            target[key] = _plain(message, field, element)
        else:
            target.append(_plain(message, field, element))


def _is_default(field: ClassField, value: object, instance: object = None) -> bool:
    """Return whether a field has its default. Without `instance`, a default that depends on it is unknown."""
    default: Any = field.attribute.default
    if has_no_default(field.attribute):
        return field.allows_none and value is None
    if getattr(default, "takes_self", False) and instance is None:
        return False
    try:
        default = default_of(field.attribute, instance)
        if instance is not None:  # it holds converted values
            default = converted(field.attribute, instance, default)
        if field.shape in ("list", "tuple") and isinstance(value, (list, tuple)):
            return isinstance(default, (list, tuple)) and list(value) == list(default)
        return type(value) is type(default) and bool(value == default)
    except Exception:  # noqa: BLE001  # a factory, converter or `==` of the class: then the field is written
        return False


def _is_sized(field: ClassField, value: object) -> bool:
    if field.shape == "map":
        return isinstance(value, dict) and all(isinstance(key, str) for key in value)
    return isinstance(value, (list, tuple)) and field.length in (None, len(value))


def _write_one(message: Message, field: ClassField, value: object) -> None:
    if is_options_class(field.element):
        inner = getattr(message, field.name)
        inner.SetInParent()
        _fill(inner, field, value)
    else:
        setattr(message, field.name, _plain(message, field, value))


def _fill(message: Message, field: ClassField, value: object) -> None:
    """Write an instance, or a dict of fields, into the message of an inner class."""
    if isinstance(value, field.element):
        message_of(value, message)
    elif isinstance(value, dict):
        known = {one.name: one for one in fields_of(field.element)}
        for name, one in value.items():
            if name not in known:
                raise InvalidArgumentError(
                    f"options {message.DESCRIPTOR.full_name} have no field {name!r}; "
                    f"they have {', '.join(known) or 'none'}"
                )
            write_field(message, known[name], one)
    else:
        raise _unfit(message, field, value)


def _plain(message: Message, field: ClassField, value: object) -> Any:
    """Return a scalar or the value of an enum as a message takes it."""
    element = field.element
    if issubclass(element, enum.Enum):
        if isinstance(value, element):
            value = value.name
        if isinstance(value, str) and value in element.__members__:
            return enum_numbers(element)[value]
        raise _unfit(message, field, value, f"; its values are {', '.join(element.__members__)}")
    is_number = isinstance(value, int) and not isinstance(value, bool)
    fits = (element is float and is_number) or (
        isinstance(value, element) and (element is not int or is_number)
    )
    if not fits:
        raise _unfit(message, field, value)
    if element is int and not -(2**63) <= value < 2**63:  # type: ignore[operator]  # an int
        raise _unfit(message, field, value, " of 64 bits")
    return value


def _unfit(message: Message, field: ClassField, value: object, more: str = "") -> InvalidArgumentError:
    return InvalidArgumentError(
        f"options {message.DESCRIPTOR.full_name}: {field.name} is {value!r}, but must be {field.type_name}"
        f"{more}"
    )
