"""Options messages from messages, attrs instances, or fields by name.

The options that a field belongs to are found from the component itself: from its `Options`, from what its
contract asks for, its example gives and its code names; and from its name with "Options" behind it.

The core reads the message of an attrs class back; a field that is not given has the class's default.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from penstock.error_text import did_you_mean
from penstock.errors import InvalidArgumentError, PenstockError
from penstock.types import (
    OptionTypes,
    attrs_converted,
    attrs_default,
    attrs_enum_numbers,
    attrs_name,
    fields_of,
    has_no_default,
    is_attrs_options,
    message_class,
)
from penstock_builder.node_options import extension_of
from penstock_views.describe import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock import Registry
    from penstock.readers import Message
    from penstock.types import ClassField


def as_message(options: object, registry: Registry, who: str) -> Message:
    """Return options as a message: an options message as it is, an attrs instance written into one.

    Raises:
        InvalidArgumentError: it is neither, or graph files cannot hold the values of the instance.
        NameClashError, PluginError: what is declared for the instance's class cannot be imported.
    """
    if is_attrs_options(type(options)):
        types, cls = OptionTypes(registry), type(options)
        try:
            name = attrs_name(cls)
            is_declared = registry.option(name) is not None and types.options_class(name) is cls
            kind = types.message_class(name) if is_declared else message_class(cls)
            return message_of(options, kind())
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{who}: {error}") from error
    if isinstance(options, type) or not hasattr(options, "DESCRIPTOR"):
        raise InvalidArgumentError(
            f"{who}: options {options!r} are no options message for the builder; pass a message such as "
            "XOptions(...) from x_pb2, an instance of an attrs class, or fields by name"
        )
    return options


def messages_of(
    component: tuple[str, str],
    fields: Mapping[str, object],
    registry: Registry,
    who: str,
    old: Message = None,
) -> list[Message]:
    """Return the options messages in which these fields are set.

    Args:
        component: its kind and name, as registered.
        fields: field → value: a number, str, bool, bytes, the name of an enum's value, a message; a `dict`
            for a field that is a message, a list for one that repeats. For an attrs class also what its
            `__init__` takes; None for the default, where that is None.
        registry: that knows its options messages.
        who: what an error begins with.
        old: the node, where the fields are to join those that it has.

    Raises:
        InvalidArgumentError: no message has such a field, or the value does not fit it.
        NameClashError, PluginError: an options message cannot be imported.
    """
    if not fields:
        return []
    types = OptionTypes(registry)
    classes = list(_classes(*component, registry, types))
    made: dict[str, Message] = {}
    for field, value in fields.items():
        cls = next((one for one in classes if field in one.DESCRIPTOR.fields_by_name), None)
        if cls is None:
            raise InvalidArgumentError(f"{who}: {_no_field(field, classes)}")
        full_name = cls.DESCRIPTOR.full_name
        message = made.get(full_name)
        if message is None:
            message = made[full_name] = _given(cls, old)
        options = types.options_class(full_name)
        try:
            if is_attrs_options(options):
                part = message_with(options, cls(), field, value)
            else:
                part = cls(**{field: value})
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{who}: {error}") from error
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(f"{who}: option {field}={value!r} of the message: {error}") from error
        message.ClearField(field)
        message.MergeFrom(part)
    return list(made.values())


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
                f"the builder's options message {message.DESCRIPTOR.full_name}: {field.name} is {value!r}, "
                "which no message can say: the default is another value, or there is none; give a value"
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
        if is_attrs_options(field.element):
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
        default = attrs_default(field.attribute, instance)
        if instance is not None:  # it holds converted values
            default = attrs_converted(field.attribute, instance, default)
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
    if is_attrs_options(field.element):
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
                    f"the builder's options message {message.DESCRIPTOR.full_name} has no field {name!r}; "
                    f"it has {', '.join(known) or 'none'}"
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
            return attrs_enum_numbers(element)[value]
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
        f"the builder's options message {message.DESCRIPTOR.full_name}: {field.name} is {value!r}, but must "
        f"be {field.type_name}{more}"
    )


def _given(cls: Any, node: Message) -> Message:
    message = cls()
    if node is None:
        return message
    extension = extension_of(node, message)
    if extension is not None:
        message.CopyFrom(extension)
        return message
    for packed in node.node_options:
        if packed.Is(message.DESCRIPTOR):
            packed.Unpack(message)
            break
    return message


def _classes(kind: str, name: str, registry: Registry, types: OptionTypes) -> Iterator[Any]:
    """Yield the options messages of a component, each once."""
    try:
        described = [one.name for one in describe(name, registry, kind).options]
    except PenstockError:  # a name that is qualified by the graph's package, say
        described = []
    last = name.rpartition(".")[2]
    described += [full for full in registry.options() if full.rpartition(".")[2] == f"{last}Options"]
    types.look_into(lambda: ([name], ""))
    for one in dict.fromkeys(described):
        message = types.message_class(one)
        if message is not None:  # else it is inside of another message
            yield message


def _no_field(field: str, classes: list[Any]) -> str:
    if not classes:
        return f"{field!r} is no argument, and no options message is known here; pass options= as a message"
    fields = [one for cls in classes for one in cls.DESCRIPTOR.fields_by_name]
    names = " and ".join(cls.DESCRIPTOR.full_name for cls in classes)
    cure = did_you_mean(field, fields) or f"; it has {', '.join(fields) or 'none'}"
    return f"{names} has no field {field!r}{cure}"
