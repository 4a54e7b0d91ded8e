"""Random payloads of declared types, and when two payloads count as the same.

A maker is a function of a random generator and the timestamp of its payload; it must take all its choices
from that generator, so that a seed always gives the same payload. Built in are the
types of Python that streams carry, lists and tuples of them, enumerations, protobuf messages and
small NumPy arrays of float32. A pack offers makers for its own types as `PAYLOADS`, type → maker, in a
module `testing` of the package that defines the type.
"""

from __future__ import annotations

import enum
import importlib
import importlib.util
import math
import pickle
import sys
import typing
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from penstock import Packet, Timestamp
from penstock.errors import NotFoundError
from penstock.types import is_any_payload, payload_type_name, runtime_classes

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from penstock.types import PayloadType

    Maker: TypeAlias = Callable[[random.Random, Timestamp], object]
    #: A declared type, or a port ("TAG", "TAG:1", an index) → maker.
    Makers: TypeAlias = Mapping[Any, Maker]

_REPEATED: Final = 3  # FieldDescriptor.LABEL_REPEATED, in versions that have no is_repeated
_REQUIRED: Final = 2
_MESSAGE_TYPES: Final = (10, 11)  # FieldDescriptor.TYPE_GROUP, TYPE_MESSAGE
_DEEPEST: Final = 3

_BUILT_IN: Final[Makers] = {
    bool: lambda random, at: random.random() < 0.5,  # noqa: ARG005, PLR2004
    int: lambda random, at: random.randrange(-3, 100),  # noqa: ARG005
    float: lambda random, at: random.choice([0.0, random.uniform(-2, 2), random.uniform(-1e6, 1e6)]),  # noqa: ARG005
    str: lambda random, at: random.choice(["", "a", "b c", "grüße"]),  # noqa: ARG005
    bytes: lambda random, at: random.randbytes(random.randrange(5)),  # noqa: ARG005
    type(None): lambda random, at: None,  # noqa: ARG005
    Timestamp: lambda random, at: at,  # noqa: ARG005
    Packet: lambda random, at: Packet(random.randrange(100)),  # noqa: ARG005
}


def maker_of(types: tuple[PayloadType, ...], makers: Makers) -> Maker:
    """Return a maker for a port's alternatives; it picks among them. Ports that take any type get ints.

    Args:
        types: as a port declares them.
        makers: used before the built-in ones, by type.

    Raises:
        NotFoundError: no maker is known for one of the types; says what to pass.
    """
    if not types or any(is_any_payload(one) for one in types):
        return makers.get(object, _BUILT_IN[int])
    each = [_maker(one, makers) for one in types]
    return each[0] if len(each) == 1 else lambda random, at: random.choice(each)(random, at)


def same(one: object, other: object) -> bool:
    """Return whether two payloads are alike, all the way down: NaN is like NaN, packets like their copies."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Packet):
        packet = cast("Packet", other)
        # the timestamp of an empty packet is how far its stream was settled, which depends on arrival
        same_place = one.is_empty() or one.stamp == packet.stamp
        return same_place and one.is_empty() == packet.is_empty() and same(one.payload, packet.payload)
    if isinstance(one, (list, tuple)):
        others = cast("list[object]", other)
        return len(one) == len(others) and all(map(same, one, others))
    return _is_equal(one, other) or _bytes_of(one) == _bytes_of(other)


def fits(payload: object, types: tuple[PayloadType, ...]) -> bool:
    """Return whether a payload is of one of the declared types, elements of lists and tuples included."""
    return any(_fits(payload, one) for one in types)


def _fits(payload: object, declared: PayloadType) -> bool:
    classes = runtime_classes((declared,))
    if classes is None:
        return True
    if not isinstance(payload, classes) or (isinstance(payload, bool) and bool not in classes):
        return False
    parts = typing.get_args(declared)
    if isinstance(payload, list) and len(parts) == 1:
        return all(_fits(one, parts[0]) for one in payload)
    if isinstance(payload, tuple) and parts:
        if parts[-1] is Ellipsis:
            return all(_fits(one, parts[0]) for one in payload)
        return len(payload) == len(parts) and all(map(_fits, payload, parts))
    return True


def _is_equal(one: object, other: object) -> bool:
    """Return whether `==` of the class says so; that of arrays returns an array, or raises."""
    try:
        return (one == other) is True
    except Exception:  # noqa: BLE001  # any class may refuse in its own way
        return False


def _bytes_of(payload: object) -> bytes | None:
    """Return the pickle of a payload; for one that cannot be pickled a new object, equal to no other."""
    try:
        return pickle.dumps(payload)
    except Exception:  # noqa: BLE001  # any class may refuse in its own way
        return cast("bytes", object())


def _maker(declared: PayloadType, makers: Makers) -> Maker:
    """Return a maker for one type: a given one, a built-in one, the pack's, then one by structure."""
    found = makers.get(declared) or _BUILT_IN.get(declared)
    found = found or _BY_NAME.get(payload_type_name(typing.get_origin(declared) or declared))
    found = found or _pack_makers(declared).get(declared)
    found = found or _structural(declared, makers)
    if found is None:
        name = payload_type_name(declared)
        raise NotFoundError(
            f"nothing makes payloads of type {name}; pass payloads={{{name}: lambda random, at: ...}}, or "
            "offer one as PAYLOADS in the module 'testing' of the package that defines the type"
        )
    return found


def _structural(declared: PayloadType, makers: Makers) -> Maker | None:
    origin, parts = typing.get_origin(declared) or declared, typing.get_args(declared)
    if origin is list:
        element = maker_of(parts, makers)
        return lambda random, at: [element(random, at) for _ in range(random.randrange(5))]
    if origin is tuple and parts and parts[-1] is not Ellipsis:
        each = [maker_of((part,), makers) for part in parts]
        return lambda random, at: tuple(make(random, at) for make in each)
    if origin is tuple:
        element = maker_of(parts[:1], makers)
        return lambda random, at: tuple(element(random, at) for _ in range(random.randrange(4)))
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        members = list(origin)
        return lambda random, at: random.choice(members)  # noqa: ARG005
    if hasattr(origin, "DESCRIPTOR"):
        message: Any = origin
        return lambda random, at: _message(message(), random, _DEEPEST)  # noqa: ARG005
    return None


def _array(random: random.Random, at: Timestamp) -> object:  # noqa: ARG001  # as every maker
    """Return up to three dimensions of up to three numbers each."""
    numpy: Any = importlib.import_module("numpy")  # the type is there, so it is installed
    shape = [random.randrange(1, 4) for _ in range(random.randrange(4))]
    return numpy.array([random.uniform(-1, 1) for _ in range(math.prod(shape))], "float32").reshape(shape)


#: Types of libraries that the core must not import.
_BY_NAME: Final[Mapping[str, Maker]] = {"numpy.ndarray": _array}


def _pack_makers(declared: PayloadType) -> Makers:
    package = getattr(typing.get_origin(declared) or declared, "__module__", "").partition(".")[0]
    name = f"{package}.testing"
    # the type is there, so its package is imported; a plain module has no module of makers beside it
    if not hasattr(sys.modules.get(package), "__path__") or importlib.util.find_spec(name) is None:
        return {}
    makers: Makers = getattr(importlib.import_module(name), "PAYLOADS", {})
    return makers


def _message(message: Any, random: random.Random, depth: int) -> Any:
    """Fill a message's fields: required ones always, the others often, lists with a few elements."""
    for field in message.DESCRIPTOR.fields:
        is_message = field.type in _MESSAGE_TYPES
        if _is(field, "is_repeated", _REPEATED):
            is_map = is_message and field.message_type.GetOptions().map_entry
            if is_map or (is_message and not depth):
                continue
            values = getattr(message, field.name)
            for _ in range(random.randrange(4)):
                if is_message:
                    _message(values.add(), random, depth - 1)
                else:
                    values.append(_scalar(field, random))
        elif _is(field, "is_required", _REQUIRED) or (random.random() < 0.7 and (depth or not is_message)):  # noqa: PLR2004
            if is_message:
                part = getattr(message, field.name)
                part.SetInParent()
                _message(part, random, depth - 1)
            else:
                setattr(message, field.name, _scalar(field, random))
    return message


def _is(field: Any, property_name: str, label: int) -> bool:
    answer = getattr(field, property_name, None)
    return bool(field.label == label if answer is None else answer)


def _scalar(field: Any, random: random.Random) -> object:
    if field.enum_type is not None:
        return random.choice([value.number for value in field.enum_type.values])
    kind = type(field.default_value) if not _is(field, "is_repeated", _REPEATED) else _kind(field)
    if kind is int:
        return random.randrange(100)  # some fields are unsigned
    if kind is float:
        return float(random.randrange(-64, 65)) / 64  # the same in 32 bits
    return _BUILT_IN[kind](random, Timestamp(0))


def _kind(field: Any) -> type:
    """Return the Python type of a repeated field's elements; numbers as in FieldDescriptor.CPPTYPE_..."""
    if field.cpp_type in (5, 6):
        return float
    if field.cpp_type == 7:  # noqa: PLR2004
        return bool
    if field.cpp_type == 9:  # noqa: PLR2004
        return bytes if field.type == 12 else str  # noqa: PLR2004
    return int
