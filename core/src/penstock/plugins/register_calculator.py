"""Registers calculators of this process, without a plugin."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Protocol, TypeVar, overload

from penstock.attrs_options import options_classes
from penstock.engine.calculator import Calculator
from penstock.errors import InvalidArgumentError
from penstock.plugins.default_registry import default_registry
from penstock.registry_entries import calculator_of_entry

if TYPE_CHECKING:
    from collections.abc import Callable


class Decorated(Protocol):
    """What `@penstock.calculator` has decorated: it has the class that was made from it."""

    calculator: type[Calculator]


#: A subclass of `Calculator`, or what `@penstock.calculator` has decorated.
C = TypeVar("C", bound=type | Decorated)


@overload
def register_calculator(cls_or_name: C) -> C: ...
@overload
def register_calculator(cls_or_name: str) -> Callable[[C], C]: ...
def register_calculator(cls_or_name: C | str) -> C | Callable[[C], C]:
    """Let graphs of this process name a calculator, without a plugin.

    `@register_calculator` registers a class under its own name, `@register_calculator("Name")` under
    another, and `register_calculator(SomeClass)` works as a call. A function or class that
    `@penstock.calculator` has decorated is registered as the calculator made from it. The same class
    defined again (by a notebook cell that is run again, say) replaces the former one for graphs made from
    then on. A name that a plugin claims too is a clash, reported when a graph uses it.

    Args:
        cls_or_name: a subclass of `Calculator`, or a function or class that `@penstock.calculator` has
            decorated; or the name for the class or function that this call decorates.

    Returns:
        The class or function, unchanged; or a decorator that returns it unchanged.

    Raises:
        InvalidArgumentError: it is neither, or graph files cannot give the options that it declares.
            Nothing is registered.
        AlreadyExistsError: another class has that name in this process, and keeps it.
    """
    if isinstance(cls_or_name, str):
        name = cls_or_name
        return lambda cls: _register(name, cls)
    return _register(None, cls_or_name)


def _register(name: str | None, thing: C) -> C:
    cls = calculator_of_entry(thing)
    if not (isinstance(cls, type) and issubclass(cls, Calculator)):
        one: object = thing
        named = f"function {one.__name__!r}" if isinstance(one, FunctionType) else repr(one)
        raise InvalidArgumentError(
            f"{named}: must be a subclass of penstock.Calculator to be registered, or decorated with "
            "@penstock.calculator, which stands below @penstock.register_calculator"
        )
    options_classes(cls)
    default_registry().add("calculator", cls.__name__ if name is None else name, cls)
    return thing
