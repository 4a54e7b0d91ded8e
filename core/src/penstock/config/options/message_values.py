"""Options that are attrs classes: instances from messages, and messages from instances.

A field that a message does not give has the class's default. The class's converters and validators run as
always; an exception that they raise becomes an `OptionError`, which names the field.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError, OptionError
from penstock.option_class import enum_numbers, fields_of, full_name, has_no_default, is_options_class

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.config.message import Message
    from penstock.config.places import FieldPath
    from penstock.option_class import ClassField


def instance_of(cls: Any, message: Message | None = None) -> Any:
    """Return the options that a message gives, with defaults where it gives none.

    Args:
        cls: an options class.
        message: of that class's full name, from any pool; None for the defaults alone.

    Raises:
        OptionError: a required field is not given, or the class refuses a value.
        InvalidArgumentError: the class cannot be options at all.
    """
    return _Reading(full_name(cls)).instance(cls, message, ())


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


# --- from a message ---------------------------------------------------------------------------------


class _Reading:
    """Reads one options message. Every fault begins with its name."""

    def __init__(self, options: str) -> None:
        self._options = options

    def instance(self, cls: Any, message: Message, path: FieldPath) -> Any:
        given: dict[str, Any] = {}
        wrong: list[OptionError] = []
        for field in fields_of(cls):
            try:
                if message is not None and _is_given(field, message):
                    given[field.name] = self._value(field, getattr(message, field.name), path)
                elif field.is_required:
                    words = f"is missing, and has no default; add {field.name} ({field.type_name})"
                    wrong.append(self._error((*path, (field.name, 0)), words))
                elif has_no_default(field.attribute):
                    given[field.name] = None
            except OptionError as error:
                wrong += [error, *error.further]
        if wrong:
            wrong[0].further = tuple(wrong[1:])
            raise wrong[0]
        try:
            return cls(**given)
        except Exception as error:
            culprit = _culprit(cls, given)
            if culprit is None:
                raise self._error(path, f"refused by {cls.__qualname__}: {_words(error)}") from error
            value = f"{given[culprit]!r}" if culprit in given else "its default"
            words = f"is {value}: {_words(error)}"
            raise self._error((*path, (culprit, 0)), words) from error

    def _value(self, field: ClassField, value: Any, path: FieldPath) -> Any:
        if field.shape == "one":
            return self._element(field, value, (*path, (field.name, 0)))
        if field.shape == "map":
            return {
                key: self._element(field, value[key], (*path, (field.name, i))) for i, key in enumerate(value)
            }
        elements = [self._element(field, one, (*path, (field.name, i))) for i, one in enumerate(value)]
        if field.length not in (None, len(elements)):
            words = f"has {len(elements)} values, but must have {field.length}"
            raise self._error((*path, (field.name, 0)), words)
        return elements if field.shape == "list" else tuple(elements)

    def _element(self, field: ClassField, value: Any, path: FieldPath) -> Any:
        if is_options_class(field.element):
            return self.instance(field.element, value, path)
        if issubclass(field.element, enum.Enum):
            return _enum_value(field.element, value)
        return value

    def _error(self, path: FieldPath, words: str) -> OptionError:
        spelled = ".".join(f"{name}[{index}]" if index else name for name, index in path)
        return OptionError(self._options, path, f"{spelled} {words}".strip())


def _is_given(field: ClassField, message: Message) -> bool:
    if field.shape == "one":
        return bool(message.HasField(field.name))
    return len(getattr(message, field.name)) > 0


def _enum_value(cls: type[enum.Enum], number: int) -> enum.Enum:
    name = next(name for name, one in enum_numbers(cls).items() if one == number)
    return cls[name]


def _culprit(cls: Any, given: Mapping[str, Any]) -> str | None:
    """Return the field whose converter or validator refuses its value; None where no field's does.

    attrs does not say which one it was, so each is called again, in the order of attrs: all converters, then
    all validators, on an instance that was not initialized otherwise.
    """
    import attrs  # imported already, by the module of the class

    instance = object.__new__(cls)
    names = {field.attribute.name: field.name for field in fields_of(cls)}
    for attribute in attrs.fields(cls):
        name = names.get(attribute.name)
        try:
            is_given = name is not None and name in given
            value = given[name] if is_given else _default(attribute, instance)  # type: ignore[index]  # a str
            object.__setattr__(instance, attribute.name, _converted(attribute, instance, value))
        except Exception:  # noqa: BLE001  # the exception that `cls(...)` has just raised
            return name
    for attribute in attrs.fields(cls):
        if attribute.validator is None or attribute.name not in names:
            continue
        try:
            attribute.validator(instance, attribute, getattr(instance, attribute.name))
        except Exception:  # noqa: BLE001
            return names[attribute.name]
    return None


def _default(attribute: Any, instance: Any) -> Any:
    default = attribute.default
    if not hasattr(default, "takes_self"):  # no `attrs.Factory`
        return default
    return default.factory(instance) if default.takes_self else default.factory()


def _converted(attribute: Any, instance: Any, value: Any) -> Any:
    converter = attribute.converter
    if converter is None:
        return value
    # `attrs.Converter`, from attrs 24.1 on, says which further arguments it takes.
    extra = [instance] if getattr(converter, "takes_self", False) else []
    extra += [attribute] if getattr(converter, "takes_field", False) else []
    return getattr(converter, "converter", converter)(value, *extra)


def _words(error: Exception) -> str:
    # The first argument of attrs' own errors is the sentence, the others are its parts.
    words = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


# --- to a message -----------------------------------------------------------------------------------


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
        default = _default(field.attribute, instance)
        if instance is not None:  # it holds converted values
            default = _converted(field.attribute, instance, default)
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
