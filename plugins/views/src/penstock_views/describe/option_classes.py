"""Options that are attrs classes, as data: the fields as graphs write them, with the words of the classes."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.types import HintParts, attrs_classes, attrs_enum_numbers, fields_of, hints_of, is_attrs_options
from penstock_views.describe.docstrings import described_fields, summary_of
from penstock_views.describe.option_messages import Choice, OptionField, OptionMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.types import ClassField

_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: Types of Python → those of .proto files that they are written as.
_TYPES: Final = {bool: "bool", int: "int64", float: "double", str: "string", bytes: "bytes"}


def describe_class(cls: type, extension: int | None = None) -> Iterator[OptionMessage]:
    """Yield an options class as data, then the classes inside of it, each once.

    Args:
        cls: an options class.
        extension: number with which it is declared, or None.

    Raises:
        InvalidArgumentError: graph files cannot give such a class.
    """
    from penstock.types import inner_message_classes  # protobuf

    names = {one: name for name, one in inner_message_classes(cls).items()}
    for one in attrs_classes(cls):
        if not issubclass(one, enum.Enum):
            words = _words(one)
            fields = tuple(_field(field, names, words[field.name]) for field in fields_of(one))
            yield OptionMessage(names[one], summary_of(one), extension if one is cls else None, fields)


def _words(cls: Any) -> dict[str, str]:
    """Return what describes each field: a text in its annotation, or the docstring of the class or a base."""
    hints = hints_of(cls, f"attrs options class {cls.__qualname__!r}")
    described = dict[str, str]()
    for base in reversed(cls.__mro__):
        described.update(described_fields(base.__dict__.get("__doc__")))
    words = {}
    for field in fields_of(cls):
        one = field.attribute
        notes = HintParts(one.metadata.get("type", hints.get(one.name, one.type))).notes
        said = described.get(one.name, described.get(field.name, ""))
        words[field.name] = next((note for note in notes if isinstance(note, str)), said)
    return words


def _field(field: ClassField, names: dict[type, str], description: str) -> OptionField:
    element = field.element
    is_enum = issubclass(element, enum.Enum)
    kind = element.__name__ if is_enum else _TYPES.get(element) or names[element]
    if field.shape == "map":
        kind = f"map<string, {kind.rpartition('.')[2]}>"
    return OptionField(
        name=field.name,
        number=field.number,
        type=kind,
        repeated=field.shape in ("list", "tuple"),
        default=_default(field),
        description=description,
        choices=_choices(element) if is_enum else (),
        required=field.is_required,
    )


def _choices(cls: type[enum.Enum]) -> tuple[Choice, ...]:
    return tuple(Choice(name, number) for name, number in attrs_enum_numbers(cls).items())


def _default(field: ClassField) -> str | None:
    default: Any = field.attribute.default
    if hasattr(default, "takes_self"):  # a factory
        try:
            default = attrs.NOTHING if default.takes_self else default.factory()
        except Exception:  # noqa: BLE001  # the pack's factory; a graph that needs the default reports it
            return None
    if default is attrs.NOTHING or default is None or default in ([], (), {}):
        return None
    return _written(default)


def _written(value: object) -> str | None:
    """Return a value as graph text has it; None for one that graph text cannot have."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, (str, bytes)):
        shown = value if isinstance(value, str) else value.decode("latin-1")
        return '"' + "".join(_escaped(one, is_text=isinstance(value, str)) for one in shown) + '"'
    return _several(value)


def _escaped(character: str, *, is_text: bool) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    is_plain = " " <= character <= "~" or (is_text and character > "\x7f")
    return character if is_plain else f"\\{ord(character):03o}"


def _several(value: Any) -> str | None:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(str(_written(one)) for one in value)}]"
    if not is_attrs_options(type(value)):
        return None
    given = ((field.name, getattr(value, field.attribute.name)) for field in fields_of(type(value)))
    said = ", ".join(f"{name}: {_written(one)}" for name, one in given if one is not None)
    return f"{{ {said} }}" if said else "{ }"
