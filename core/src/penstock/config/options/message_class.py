"""The protobuf messages of options that are attrs classes: derived, so that graph files can be checked.

A message has everything that its fields need inside it (classes, enums), so two options classes may use the
same class. It follows proto2: each field knows whether it was given.

Where no extension number is declared, a message is in a pool of its own, which is freed with its class: a
class that is defined again gets a new message, and names of other packages cannot clash with it. An extension
must be where `CalculatorOptions` is, in the pool of the process. There, no name can be defined again.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from penstock.attrs_options import (
    ClassField,
    attrs_classes,
    attrs_enum_numbers,
    attrs_name,
    check_class,
    fields_of,
)

# Makes the messages that can be extended known to the pool of the process.
from penstock.config import calculator_pb2  # noqa: F401
from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from penstock.config.message import Message

_Field: Final = descriptor_pb2.FieldDescriptorProto

#: The messages in the pool of the process: full name → description as it was added, and message class.
_EXTENSIONS: Final[dict[str, tuple[bytes, Any]]] = {}
_DERIVED: Final = "__penstock_message__"
_TYPES: Final = {
    bool: _Field.TYPE_BOOL,
    int: _Field.TYPE_INT64,
    float: _Field.TYPE_DOUBLE,
    str: _Field.TYPE_STRING,
    bytes: _Field.TYPE_BYTES,
}


def message_class(cls: type) -> Any:
    """Return the message class of an options class; its messages can be packed. Made on first use.

    Raises:
        InvalidArgumentError: graph files cannot give such a class; says which field.
    """
    found = cls.__dict__.get(_DERIVED)
    if found is None:
        pool = descriptor_pool.DescriptorPool()
        found = _add(pool, _file_of(cls), attrs_name(cls))
        setattr(cls, _DERIVED, found)
    return found


def extension_class(cls: type, extendee: str, number: int) -> Any:
    """Return the message class of an options class that extends another message as `[package.Class.ext]`.

    Raises:
        InvalidArgumentError: graph files cannot give such a class; no message has the name `extendee`; or
            the process has another message or extension of the same name or number already.
    """
    name = attrs_name(cls)
    pool = descriptor_pool.Default()
    file = _file_of(cls)
    try:
        extended = pool.FindMessageTypeByName(extendee)
    except KeyError:
        raise InvalidArgumentError(
            f"options {name!r}: there is no message {extendee!r} to extend; extend "
            "'penstock.CalculatorOptions', or give no number"
        ) from None
    file.dependency.append(extended.file.name)
    _check_free(pool, extended, number, name)
    file.message_type[0].extension.add(
        name="ext",
        number=number,
        type=_Field.TYPE_MESSAGE,
        label=_Field.LABEL_OPTIONAL,
        type_name=f".{name}",
        extendee=f".{extendee}",
    )
    written = file.SerializeToString(deterministic=True)
    known = _EXTENSIONS.get(name)
    if known is None:
        known = _EXTENSIONS[name] = written, _add(pool, file, name)
    elif known[0] != written:  # not every implementation of protobuf refuses that itself
        raise _refused(name, "the process has another message class of that name")
    return known[1]


def inner_message_classes(cls: type) -> dict[str, type]:
    """Return full name → class for the message of an options class and those inside it, its own first."""
    names = _Names(cls)
    return {names.of[one].lstrip("."): one for one in attrs_classes(cls) if not issubclass(one, enum.Enum)}


def known_descriptor(name: str) -> Any:
    """Return the descriptor of a message of the process by its full name, whichever module imported it.

    Raises:
        KeyError: there is none.
    """
    return descriptor_pool.Default().FindMessageTypeByName(name)


def _check_free(pool: Any, extended: Message, number: int, name: str) -> None:
    if not any(low <= number < high for low, high in extended.extension_ranges):
        raise _refused(
            name, f"number {number} has no extension range in message {extended.full_name}", "choose another"
        )
    try:
        holder = pool.FindExtensionByNumber(extended, number)
    except KeyError:
        return
    if holder.message_type.full_name != name:
        raise InvalidArgumentError(
            f"options {name!r}: number {number} of {extended.full_name} belongs to {holder.full_name!r} "
            "already; choose another"
        )


def _add(pool: Any, file: descriptor_pb2.FileDescriptorProto, name: str) -> Any:
    try:
        pool.AddSerializedFile(file.SerializeToString(deterministic=True))
    except TypeError as error:
        raise _refused(name, str(error)) from error
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))


_AGAIN: Final = "where the class was defined again, restart Python, or declare no extension number"


def _refused(name: str, why: str, cure: str = _AGAIN) -> InvalidArgumentError:
    return InvalidArgumentError(f"options {name!r}: protobuf takes no such message class: {why}; {cure}")


# --- the description of a message -------------------------------------------------------------------


def _file_of(cls: type) -> descriptor_pb2.FileDescriptorProto:
    check_class(cls)
    names = _Names(cls)
    package, _, own = attrs_name(cls).rpartition(".")
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{attrs_name(cls)}.attrs", package=package, syntax="proto2"
    )
    top = file.message_type.add(name=own)
    for one in attrs_classes(cls):
        if issubclass(one, enum.Enum):
            _add_enum(top, names.of[one], one)
            continue
        message = top if one is cls else top.nested_type.add(name=names.of[one].rpartition(".")[2])
        for field in fields_of(one):
            _add_field(message, names.of[one], field, names)
    return file


class _Names:
    """The full names, with a leading dot, of the classes and enums inside the message of one class."""

    def __init__(self, cls: type) -> None:
        top = f".{attrs_name(cls)}"
        self.of: dict[type, str] = {}
        #: Fields and inner messages of one message share one namespace.
        taken = {"ext", *(name for field in fields_of(cls) for name in (field.name, _entry(field)))}
        one: Any
        for one in attrs_classes(cls):
            if one is cls:
                self.of[one] = top
                continue
            # The values of an enum are names beside it, so each enum is in a message of its own.
            suffix = "Enum" if issubclass(one, enum.Enum) else ""
            name = f"{one.__name__}{suffix}"
            while name in taken:
                name += "_"
            taken.add(name)
            self.of[one] = f"{top}.{name}"
            if suffix:
                own = one.__name__ if one.__name__ not in one.__members__ else f"{one.__name__}_"
                self.of[one] += f".{own}"


def _add_enum(top: Message, name: str, cls: type[enum.Enum]) -> None:
    *_, scope, own = name.split(".")
    made = top.nested_type.add(name=scope).enum_type.add(name=own)
    numbers = attrs_enum_numbers(cls)
    made.options.allow_alias = len(set(numbers.values())) < len(numbers)
    if not made.options.allow_alias:
        made.ClearField("options")
    for value, number in numbers.items():
        made.value.add(name=value, number=number)


def _add_field(message: Message, scope: str, field: ClassField, names: _Names) -> None:
    repeated = field.shape != "one"
    made = message.field.add(
        name=field.name,
        number=field.number,
        label=_Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL,
    )
    if field.shape == "map":
        made.type, made.type_name = _Field.TYPE_MESSAGE, f"{scope}.{_entry(field)}"
        entry = message.nested_type.add(name=_entry(field))
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=_Field.TYPE_STRING, label=_Field.LABEL_OPTIONAL)
        made = entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL)
    if field.element in _TYPES:
        made.type = _TYPES[field.element]
        return
    is_enum = issubclass(field.element, enum.Enum)
    made.type = _Field.TYPE_ENUM if is_enum else _Field.TYPE_MESSAGE
    made.type_name = names.of[field.element]


def _entry(field: ClassField) -> str:
    """Return the name that protobuf requires for the message of a map's entries."""
    return "".join(part[:1].upper() + part[1:] for part in field.name.split("_")) + "Entry"
