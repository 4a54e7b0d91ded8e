"""When a payload fits a declared type, and when two declared types fit one another.

The rules: connected ports agree when one type is a subclass of the other. `bool` is not `int`
here; an `int` is accepted where `float` is declared, but no `float` where `int` is. `list[T]` is
compared with its T when a graph is validated, and as `list` when a payload is written. `object` and
`typing.Any` mean any type.
"""

from __future__ import annotations

import types
import typing
from typing import TypeAlias

#: A declared type: a class, or an alias such as `list[int]`.
PayloadType: TypeAlias = object


def payload_types_in(declared: PayloadType) -> tuple[PayloadType, ...]:
    """Return the alternatives of a declared type: those of a union, else itself alone."""
    if type(declared) is type:  # nearly always; no alias
        return (declared,)
    if typing.get_origin(declared) in (typing.Union, types.UnionType):
        return tuple(member for part in typing.get_args(declared) for member in payload_types_in(part))
    return (type(None),) if declared is None else (declared,)


def is_any_payload(declared: PayloadType) -> bool:
    """Return whether `declared` accepts every payload."""
    return declared is object or declared is typing.Any


def is_type(declared: PayloadType) -> bool:
    """Return whether `declared` can be declared: a class, an alias of one, or a union of these."""
    return all(
        isinstance(member, type) or isinstance(typing.get_origin(member), type) or is_any_payload(member)
        for member in payload_types_in(declared)
    )


def payload_type_name(declared: PayloadType) -> str:
    """Return a declared type as a user reads it: `int`, `list[int]`, `numpy.ndarray`."""
    if typing.get_origin(declared) is not None or not isinstance(declared, type):
        return str(declared)
    if declared.__module__ in ("builtins", "__main__"):
        return declared.__qualname__
    # Not the private module that has it: `pathlib._local` in Python 3.13.
    module = ".".join(part for part in declared.__module__.split(".") if not part.startswith("_"))
    return f"{module}.{declared.__qualname__}" if module else declared.__qualname__


def payload_type_names(declared: tuple[PayloadType, ...]) -> str:
    """Return the names of alternatives, joined by `|`."""
    return " | ".join(payload_type_name(member) for member in declared)


def agree(written: PayloadType, read: PayloadType) -> bool:
    """Return whether an output of type `written` may be connected with an input of type `read`."""
    if is_any_payload(written) or is_any_payload(read) or written == read:
        return True
    a, b = class_of(written), class_of(read)
    if not (_is_subclass(a, b) or _is_subclass(b, a)):
        return a is int and b is float
    of_written, of_read = typing.get_args(written), typing.get_args(read)
    if of_written and of_read and len(of_written) == len(of_read):
        return all(agree(x, y) for x, y in zip(of_written, of_read, strict=True))
    return True


def conversion(written: tuple[PayloadType, ...], read: tuple[PayloadType, ...]) -> str:
    """Return the calculator that leads from one type to another, where one of them names it; else "".

    A class of payloads names those of its own pack in an attribute `__penstock_conversions__`: other class
    → (calculator that makes this of the other, calculator that makes the other of this).
    """
    for source in map(class_of, written):
        for target in map(class_of, read):
            for of, other, way in ((target, source, 0), (source, target, 1)):
                known: dict[type, tuple[str, str]] = getattr(of, "__penstock_conversions__", {})
                if other in known:
                    return known[other][way]
    return ""


def runtime_classes(declared: tuple[PayloadType, ...]) -> tuple[type, ...] | None:
    """Return the classes that a payload is tested against when it is written; None for any."""
    if any(map(is_any_payload, declared)):
        return None
    classes = [class_of(member) for member in declared]
    if float in classes and int not in classes:
        classes.append(int)
    return tuple(classes)


def fits(payload: object, classes: tuple[type, ...]) -> bool:
    """Return whether a payload is of one of the classes that `runtime_classes` has returned."""
    if isinstance(payload, bool) and bool not in classes and object not in classes:
        return False
    return isinstance(payload, classes)


def cure(payload: object, classes: tuple[type, ...] | None) -> str:
    """Return how one of NumPy's numbers, which does not fit, becomes one of Python's that does; else ""."""
    kind = type(payload)
    if classes is None or kind.__module__ != "numpy" or getattr(payload, "shape", None) != ():
        return ""
    item = getattr(payload, "item", None)
    value: object = item() if callable(item) else payload
    if isinstance(value, (bool, int, float)) and fits(value, classes):
        wanted = float if float in classes else type(value)
        return f", a number of NumPy; write {wanted.__name__}(x), or x.item()"
    if isinstance(value, float) and int in classes:
        return ", a number of NumPy; write int(x), which cuts off the fraction"
    return ""


def class_of(declared: PayloadType) -> type:
    """Return the class of a declared type: `list` of `list[int]`."""
    origin = typing.get_origin(declared) or declared
    assert isinstance(origin, type)  # PortSpec.set refuses anything else  # noqa: S101
    return origin


def _is_subclass(one: type, other: type) -> bool:
    if one is bool and other is int:
        return False
    try:
        return issubclass(one, other)
    except TypeError:  # a protocol with data members answers isinstance only
        return True
