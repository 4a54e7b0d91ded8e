"""The values of templates: text, numbers, dicts and lists, and how each is converted to another.

A number is a double, as in the reference. Its text is the shortest that gives the same double back, without a
point where it is whole. Text that looks like a number counts as one wherever a number is expected. A bool is
the number 1 or 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from penstock import limits
from penstock.config.calculator_graph_template_pb2 import (
    TemplateArgument,
    TemplateDict,
    TemplateSubgraphOptions,
)
from penstock.error_text import quoted
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock.readers import Message

#: str, float, dict or list of them.
Value: TypeAlias = "str | float | dict[str, Value] | list[Value]"

_NUMBER: Final = re.compile(
    r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)\s*", re.ASCII | re.IGNORECASE
)
#: Up to this number, each whole number is a double of its own.
_LARGEST_WHOLE: Final = 2**53
#: A dict in a dict is so many messages deep.
DICT_DEPTH: Final = 3
#: Source of the spellings: absl::SimpleAtob.
_TRUE: Final = ("true", "t", "yes", "y", "1")
_FALSE: Final = ("false", "f", "no", "n", "0")


# --- from Python and from messages ----------------------------------------------------------------


def values_of(arguments: Mapping[str, object]) -> dict[str, Value]:
    """Check the arguments of a template and return them as values.

    Args:
        arguments: each a str, a bool, an int, a float, or a list, tuple or mapping of these.

    Raises:
        InvalidArgumentError: one of them is none of these, a key is no str, an int is no double, or text
            cannot be written as UTF-8.
        ResourceExhaustedError: lists and dicts are nested deeper than the limit "depth".
    """
    return {name: _value(value, f"argument {name!r}") for name, value in arguments.items()}


def _value(value: object, what: str, depth: int = 0) -> Value:
    limits.check("depth", depth, f"{what.partition('[')[0]}: lists and dicts are nested {depth} deep")
    if isinstance(value, str):
        return _text(value, what)
    if isinstance(value, int):
        if abs(value) > _LARGEST_WHOLE:
            raise InvalidArgumentError(
                f"{what}: {value} is too large for a template's values, which are doubles; pass it as a str"
            )
        return float(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        return {
            _key(key, what): _value(one, f"{what}[{key!r}]", depth + DICT_DEPTH) for key, one in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_value(one, f"{what}[{i}]", depth + 1) for i, one in enumerate(value)]
    raise InvalidArgumentError(
        f"{what} is a {type(value).__name__}; the values of a template are str, bool, int, float, lists and "
        "dicts"
    )


def _key(key: object, what: str) -> str:
    if not isinstance(key, str):
        raise InvalidArgumentError(
            f"{what}: the template's key {key!r} is a {type(key).__name__}; keys of values are str"
        )
    return _text(key, f"{what}: a key")


def _text(value: str, what: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        half = value[error.start]
        raise InvalidArgumentError(
            f"{what}: {half!r} is half of a character, which a template's value cannot hold"
        ) from error
    return str(value)


def values_in(message: Message) -> dict[str, Value]:
    """Return the values of a TemplateDict. Of two with the same key the first counts, as in the reference."""
    values: dict[str, Value] = {}
    for arg in message.arg:
        values.setdefault(arg.key, _value_in(arg.value))
    return values


def _value_in(message: Message) -> Value:
    kind = message.WhichOneof("param_value")
    if kind == "dict":
        return values_in(message.dict)
    if kind is None:
        return [_value_in(one) for one in message.element]
    value: Value = getattr(message, kind)
    return value


def to_message(values: Mapping[str, Value]) -> Message:
    """Return values as a TemplateDict."""
    message = TemplateDict()
    for key, value in values.items():
        message.arg.add(key=key, value=_argument(value))
    return message


def options_of(values: Mapping[str, Value]) -> Message:
    """Return values as the options of a node."""
    return TemplateSubgraphOptions(dict=to_message(values))


def _argument(value: Value) -> Message:
    if isinstance(value, str):
        return TemplateArgument(str=value)
    if isinstance(value, dict):
        return TemplateArgument(dict=to_message(value))
    if isinstance(value, list):
        return TemplateArgument(element=[_argument(one) for one in value])
    return TemplateArgument(num=value)


# --- one as another ---------------------------------------------------------------------------------


def described(value: Value) -> str:
    """Return a value as error messages show it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return f"a dict of {len(value)}"
    return f"a list of {len(value)}" if isinstance(value, list) else number_text(value)


def number_text(number: float) -> str:
    """Return the shortest text of a double: "3", "0.1", "1e+300", "inf"."""
    if number.is_integer() and abs(number) <= _LARGEST_WHOLE:
        return str(int(number))
    return repr(number)


def number_in(value: Value) -> float | None:
    """Return the number that a value is or looks like, or None."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    return value if isinstance(value, float) else None


def as_number(value: Value, where: str) -> float:
    """Return a value as a number.

    Raises:
        InvalidArgumentError: the value is no number, and no text that looks like one.
    """
    number = number_in(value)
    if number is None:
        raise InvalidArgumentError(
            f"the template's expression values for {where} must be numbers, not {described(value)}"
        )
    return number


def as_text(value: Value, where: str) -> str:
    """Return a value as text.

    Raises:
        InvalidArgumentError: it is a list or a dict.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_text(value)
    raise InvalidArgumentError(
        f"the template's expression values for {where} must be text or numbers, not {described(value)}"
    )


def as_bool(value: Value, where: str) -> bool:
    """Return a value as a truth value: a number is true unless it is 0; text as "true" or "no" says.

    Raises:
        InvalidArgumentError: the value means neither.
    """
    if isinstance(value, float):
        return value != 0
    if isinstance(value, str):
        if (lower := value.lower()) in _TRUE:
            return True
        if lower in _FALSE:
            return False
    cure = "; compare a number, as in x != 0" if number_in(value) is not None else ""
    raise InvalidArgumentError(
        f"the template's expression values for {where} must be true or false, not {described(value)}{cure}"
    )
