"""The plugins of the process, the default registry that they fill, and what the process registers itself.

Importing this module loads no plugin and reads no entry point. There is one default because most
programs want one. Only the entrances (`CalculatorGraph`, `penstock.run`, the command line) and
`find_component` fall back on it, and each of those takes another registry.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, overload

from penstock.attrs_options import options_classes
from penstock.engine.calculator import Calculator
from penstock.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NameClashError,
    UnknownNameError,
)
from penstock.registry import KINDS, Registry
from penstock.registry_entries import calculator_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.plugins.discovery import PluginHost


class _Defaults:
    """The plugins of the process, and the registry that they fill.

    The plugins are loaded once, on the first thread that needs them; other threads wait.
    """

    def __init__(self) -> None:
        # Re-entrant, so that a plugin that asks for the host while it is loaded gets an error and
        # no deadlock.
        self._lock = threading.RLock()
        self._host: PluginHost | None = None
        self._is_loading = False
        self.registry: Final = Registry(lambda registry: self.host().fill(registry))

    def host(self) -> PluginHost:
        if self._host is not None:
            return self._host
        with self._lock:
            if self._host is None:  # no other thread was first
                self._host = self._load()
        return self._host

    def _load(self) -> PluginHost:
        if self._is_loading:
            raise FailedPreconditionError(
                "the default registry is loading plugins; a plugin module must not ask for them or run graphs"
            )
        self._is_loading = True
        try:
            from penstock.plugins.discovery import PluginHost  # only when needed

            return PluginHost()
        finally:
            self._is_loading = False


#: The last one counts; there is one, but for tests that install plugins.
_defaults: Final = [_Defaults()]


def default_registry() -> Registry:
    """Return the registry that graphs use when they are given none. Always the same object."""
    return _defaults[-1].registry


def plugin_host() -> PluginHost:
    """Return the plugins of this process, loaded by the first call; see `PluginHost`.

    Raises:
        FailedPreconditionError: called by a plugin module while plugins are being loaded.
        InvalidArgumentError: an environment switch is not what it must be.
    """
    return _defaults[-1].host()


def find_component(kind: str, name: str, registry: Registry, before: str) -> Any:
    """Return a component that graphs do not name, but some need.

    A registry that is made by hand has the components that a graph names, and seldom others. Where it has
    none of this name, the default registry is asked, which loads the plugins.

    Args:
        kind: as `Registry.find` takes it.
        name: likewise.
        registry: of the graph.
        before: what the error's message begins with: the place, and what the component is needed for.

    Raises:
        UnknownNameError: neither registry has the component; says what to install.
        NameClashError, PluginError: as `Registry.find`.
    """
    knowing = registry if registry.has(kind, name) else default_registry()
    try:
        return knowing.find(kind, name)
    except UnknownNameError as error:
        raise error.placed(before) from None


@contextmanager
def plugins_renewed() -> Iterator[None]:
    """Look for plugins again, and forget afterwards what was found; for tests that install plugins.

    Within the block `default_registry()` and `plugin_host()` are other objects, which look for plugins when
    they are first asked there; those outside are loaded before. What the process has registered before is
    known there too; what it registers within is not known afterwards.
    """
    renewed = _Defaults()
    _hand_on(default_registry(), renewed.registry)
    _defaults.append(renewed)
    try:
        yield
    finally:
        _defaults.remove(renewed)


def _hand_on(old: Registry, new: Registry) -> None:
    """Put into a registry what no plugin has put into another, which is filled for that."""
    for kind in KINDS:
        for name in old.names(kind):
            try:
                of_the_process = old.origin(kind, name).distribution is None
            except NameClashError:  # it cannot be used, so that nobody misses it
                continue
            if of_the_process:
                new.add(kind, name, old.find(kind, name))
    for entry in old.options().values():
        if entry.origin.distribution is None:
            new.add_option(entry.full_name, entry.extendee, entry.number, entry.target)


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
    cls = calculator_of(thing)
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
