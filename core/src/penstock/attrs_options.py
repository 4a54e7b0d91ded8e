"""Options of a calculator as an attrs class: which fields it has, and what a graph file writes in each.

A class is read without protobuf: a class that graph files could not give is refused where it is written.
What is read stays on the class itself: a class that is defined again is another one.

The full name of a class is the first part of its module's name, a dot, and its own name: `BlurOptions` in
`penstock_blur.smoothing` is "penstock_blur.BlurOptions". Its module in the package may change; the name
that graph files use may not.
"""

from __future__ import annotations

import collections.abc
import enum
import typing
from typing import TYPE_CHECKING, Any, Final, Literal, TypeGuard

from penstock.errors import InvalidArgumentError
from penstock.record import NamedTuple
from penstock.type_hints import HintParts, hints_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import attrs

#: Attribute of a component that says which options it takes: a class, or a tuple of classes.
OPTIONS: Final = "Options"

#: How many values a field holds.
Shape = Literal["one", "list", "tuple", "map"]

_READ: Final = "__penstock_options__"
_SCALARS: Final = (bool, int, float, str, bytes)
_SEQUENCES: Final[Mapping[object, Shape]] = {
    list: "list",
    tuple: "tuple",
    collections.abc.Sequence: "tuple",
}
_MAPPINGS: Final = (dict, collections.abc.Mapping)
_POSSIBLE: Final = (
    "possible are bool, int, float, str, bytes, an enum.Enum, an attrs class, list[T], tuple[T, ...] and "
    "dict[str, T] of these, each also with | None; where a converter makes something else of it, say what "
    "graph files write: metadata={'type': str}"
)
#: Of the field of a message. Source: protobuf language guide, "Assigning Field Numbers".
LARGEST_NUMBER: Final = 2**29 - 1
_RESERVED_NUMBERS: Final = range(19000, 20000)
#: Source: protobuf language guide, "Enumerations": numbers of values have 32 bits.
_ENUM_NUMBERS: Final = range(-(2**31), 2**31)
_MAP_ARGUMENTS: Final = 2


class ClassField(NamedTuple):
    """One field of an options class."""

    #: As graph files write it: as `__init__` takes it, so `_size` is "size".
    name: str
    #: The number of the field in protobuf's binary form.
    number: int
    #: Bool, int, float, str, bytes, an enum or an attrs class: the field's value, or each of several.
    element: Any
    #: How many there are; keys of a map are str.
    shape: Shape
    #: How many a tuple must have; None for any number.
    length: int | None
    #: Whether the type is a union with None.
    allows_none: bool
    #: The field as attrs has it.
    attribute: attrs.Attribute[Any]

    @property
    def is_required(self) -> bool:
        """Whether a graph must give it: it has no default, and may not be None."""
        return has_no_default(self.attribute) and not self.allows_none

    @property
    def type_name(self) -> str:
        """The type as Python writes it."""
        element: str = self.element.__name__
        if self.shape == "one":
            return element
        if self.shape == "map":
            return f"dict[str, {element}]"
        if self.shape == "list":
            return f"list[{element}]"
        return f"tuple[{', '.join([element] * self.length if self.length else [element, '...'])}]"


def is_attrs_options(thing: object) -> TypeGuard[type]:
    """Return whether an object is an attrs class."""
    # as attrs.has, without its look for aliases of generic classes, which are no types: called for each node
    return isinstance(thing, type) and getattr(thing, "__attrs_attrs__", None) is not None


def has_no_default(attribute: attrs.Attribute[Any]) -> bool:
    """Return whether a field of an attrs class must be given."""
    import attrs  # see `_read`

    return attribute.default is attrs.NOTHING


def attrs_default(attribute: Any, instance: Any) -> Any:
    """Return the default of a field of an attrs class, made by its factory where it has one."""
    default = attribute.default
    if not hasattr(default, "takes_self"):  # no `attrs.Factory`
        return default
    return default.factory(instance) if default.takes_self else default.factory()


def attrs_converted(attribute: Any, instance: Any, value: Any) -> Any:
    """Return what the converter of a field of an attrs class makes of a value."""
    converter = attribute.converter
    if converter is None:
        return value
    # `attrs.Converter`, from attrs 24.1 on, says which further arguments it takes.
    extra = [instance] if getattr(converter, "takes_self", False) else []
    extra += [attribute] if getattr(converter, "takes_field", False) else []
    return getattr(converter, "converter", converter)(value, *extra)


def can_be_option(annotation: object) -> bool:
    """Return whether graph files can give a field of this type."""
    return _meaning(HintParts(annotation).members) is not None


def attrs_name(cls: type) -> str:
    """Return the name that graph files have for an options class; see the module's docstring.

    Raises:
        InvalidArgumentError: it has letters that names in graph files cannot have.
    """
    own = cls.__qualname__.rpartition("<locals>.")[2]
    name = f"{cls.__module__.partition('.')[0]}.{own}"
    if not all(map(_is_identifier, name.split("."))):
        raise InvalidArgumentError(
            f"attrs options class {name!r}: graph files can name no such class; use letters a to z, digits, "
            "underscores"
        )
    return name


def _is_identifier(name: str) -> bool:
    return name.isascii() and name.isidentifier()


def options_classes(component: object) -> tuple[Any, ...]:
    """Return the options that a component says it takes (`Options`): attrs classes, or message classes.

    Raises:
        InvalidArgumentError: something else stands there, or an attrs class that graph files cannot give, or
            two of one name.
    """
    said = getattr(component, OPTIONS, None)
    if said is None:
        return ()
    given = said if isinstance(said, tuple) else (said,)
    who = getattr(component, "__qualname__", None) or repr(component)
    names = set[str]()
    for one in given:
        if is_attrs_options(one):
            check_class(one)
            name = attrs_name(one)
            if name in names:
                raise InvalidArgumentError(
                    f"{who} has two attrs options classes with the name {name!r}; put all into one, or "
                    "rename one"
                )
            names.add(name)
        elif not isinstance(one, type) or not hasattr(one, "DESCRIPTOR"):
            raise InvalidArgumentError(
                f"attrs options: {who}.{OPTIONS} is {one!r}; it must be an attrs class, decorated with "
                "@attrs.frozen, or a protobuf message class"
            )
    return given


def check_class(cls: type) -> None:
    """Accept an attrs class that graph files can give.

    Raises:
        InvalidArgumentError: a field of it, or of a class inside of it, cannot stand in a graph file; names
            class, field and type, and says what is possible.
    """
    attrs_name(cls)
    for one in attrs_classes(cls):
        if issubclass(one, enum.Enum):
            attrs_enum_numbers(one)


def attrs_classes(cls: type) -> Iterator[type]:
    """Yield an options class, and each class and enum that its fields need, each once.

    Raises:
        InvalidArgumentError: as `fields_of`, for each of them.
    """
    waiting, seen = [cls], {cls}
    for one in waiting:
        yield one
        for field in fields_of(one) if is_attrs_options(one) else ():
            if field.element not in seen and field.element not in _SCALARS:
                seen.add(field.element)
                waiting.append(field.element)


def fields_of(cls: Any) -> tuple[ClassField, ...]:
    """Return the fields of an attrs class that its `__init__` takes, in order.

    Raises:
        InvalidArgumentError: one of them cannot stand in a graph file.
    """
    found: tuple[ClassField, ...] | None = cls.__dict__.get(_READ)
    if found is None:
        found = tuple(_read(cls))
        setattr(cls, _READ, found)
    return found


def attrs_enum_numbers(cls: type[enum.Enum]) -> dict[str, int]:
    """Return the names of an enum's values, in order, with the number of each in protobuf's binary form.

    Values that are distinct whole numbers of 32 bits are these numbers; else they are counted from 0.

    Raises:
        InvalidArgumentError: graph files cannot name one of them, or several are meant at once (a Flag).
    """
    members = cls.__members__
    wrong = next((name for name in members if not _is_identifier(name)), None)
    if issubclass(cls, enum.Flag) or wrong or not members:
        why = f"has the name {wrong!r}" if wrong else "is a Flag: use a list" if members else "has no value"
        raise InvalidArgumentError(
            f"attrs options: enum {cls.__qualname__!r} {why}, which graph files cannot give"
        )
    values = [member.value for member in members.values()]
    if all(isinstance(one, int) and not isinstance(one, bool) and one in _ENUM_NUMBERS for one in values):
        return {name: int(member.value) for name, member in members.items()}
    numbers = {member: number for number, member in enumerate(cls)}
    return {name: numbers[member] for name, member in members.items()}


# --- one field --------------------------------------------------------------------------------------


class _Meaning(NamedTuple):
    """What an annotation says."""

    element: Any
    shape: Shape = "one"
    length: int | None = None


def _read(cls: Any) -> Iterator[ClassField]:
    hints = hints_of(cls, f"attrs options class {cls.__qualname__!r}")
    taken: dict[int, str] = {}
    import attrs  # code with such a class has imported it; a small graph has none

    given = [attribute for attribute in attrs.fields(cls) if attribute.init]
    for position, attribute in enumerate(given, 1):
        name = attribute.alias or attribute.name
        who = f"attrs options class {cls.__qualname__!r}: field {name!r}"
        if not _is_identifier(name):
            raise InvalidArgumentError(
                f"{who}: an option's name has letters a to z, digits and underscores; rename it"
            )
        number = _number(attribute.metadata.get("number", position), who)
        if number in taken:
            raise InvalidArgumentError(
                f"{who} has number {number}, as {taken[number]!r} has; give one of the options another: "
                "metadata={'number': 5}, say"
            )
        taken[number] = name
        annotation = attribute.metadata.get("type", hints.get(attribute.name, attribute.type))
        parts = HintParts(annotation)
        meaning = _meaning(parts.members)
        if meaning is None:
            shown = annotation.__qualname__ if isinstance(annotation, type) else annotation
            said = "has no type" if annotation is None else f"is {shown!r}"
            raise InvalidArgumentError(f"{who} {said}, which graph files cannot give; {_POSSIBLE}")
        yield ClassField(name, number, *meaning, allows_none=parts.allows_none, attribute=attribute)


def _number(number: object, who: str) -> int:
    is_number = isinstance(number, int) and not isinstance(number, bool)
    if not is_number or number not in range(1, LARGEST_NUMBER + 1) or number in _RESERVED_NUMBERS:
        raise InvalidArgumentError(
            f"{who}: option number {number!r} must be an int from 1 to {LARGEST_NUMBER}, outside of 19000 to "
            "19999"
        )
    return typing.cast("int", number)


def _meaning(members: list[Any]) -> _Meaning | None:
    """Return what the alternatives of an annotation say together; None where graph files cannot give it."""
    found = [_alone(member) for member in members]
    first = found[0] if found else None
    # `list[T] | tuple[T, ...]` is what a converter takes; the first is made.
    alike = first is not None and all(
        one is not None and one.element is first.element and one.shape in ("list", "tuple") for one in found
    )
    return first if alike or len(found) == 1 else None


def _alone(annotation: Any) -> _Meaning | None:
    """Return what an annotation without alternatives says; None where it has no meaning here."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is None:
        return _Meaning(annotation) if _is_element(annotation) else None
    if origin in _SEQUENCES:
        elements = [one for one in arguments if one is not ...]
        if not elements or any(one is not elements[0] for one in elements) or not _is_element(elements[0]):
            return None
        is_fixed = origin is tuple and ... not in arguments
        return _Meaning(elements[0], _SEQUENCES[origin], len(elements) if is_fixed else None)
    if origin in _MAPPINGS and len(arguments) == _MAP_ARGUMENTS:
        key, element = arguments
        return _Meaning(element, "map") if key is str and _is_element(element) else None
    return None


def _is_element(annotation: object) -> bool:
    if not isinstance(annotation, type):
        return False
    return annotation in _SCALARS or issubclass(annotation, enum.Enum) or is_attrs_options(annotation)
