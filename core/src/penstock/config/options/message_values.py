"""Options that are attrs classes: instances from messages. `penstock-graphs` has the way back.

A field that a message does not give has the class's default. The class's converters and validators run as
always; an exception that they raise becomes an `OptionError`, which names the field.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

from penstock.attrs_options import (
    attrs_converted,
    attrs_default,
    attrs_enum_numbers,
    attrs_name,
    fields_of,
    has_no_default,
    is_attrs_options,
)
from penstock.errors import OptionError
from penstock.shown import clipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.attrs_options import ClassField
    from penstock.config.message import Message
    from penstock.config.places import FieldPath


def instance_of(cls: Any, message: Message | None = None) -> Any:
    """Return the options that a message gives, with defaults where it gives none.

    Args:
        cls: an options class.
        message: of that class's full name, from any pool; None for the defaults alone.

    Raises:
        OptionError: a required field is not given, or the class refuses a value.
        InvalidArgumentError: the class cannot be options at all.
    """
    return _Reading(attrs_name(cls)).instance(cls, message, ())


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
            value = clipped(repr(given[culprit])) if culprit in given else "its default"
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
        if is_attrs_options(field.element):
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
    name = next(name for name, one in attrs_enum_numbers(cls).items() if one == number)
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
            value = given[name] if is_given else attrs_default(attribute, instance)  # type: ignore[index]  # a str
            object.__setattr__(instance, attribute.name, attrs_converted(attribute, instance, value))
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


def _words(error: Exception) -> str:
    # The first argument of attrs' own errors is the sentence, the others are its parts.
    words = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
