"""The default registry of the process, filled by the installed plugins when it is first asked.

Importing this module loads no plugin and reads no entry point. There is one default because most
programs want one; nothing in Penstock but the entrances (`CalculatorGraph`, `penstock.run`, the
command line) falls back on it, and every one of those takes another registry.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeVar, overload

from penstock.claims import calculator_of
from penstock.engine.calculator import Calculator
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from penstock.functions import CalculatorFunction
    from penstock.plugins.discovery import PluginHost

#: A subclass of `Calculator`, or what `@penstock.calculator` has decorated.
C = TypeVar("C", bound="type | CalculatorFunction[..., Any]")


class _LazyHost:
    """Makes the plugin host once, for whichever thread comes first; the others wait."""

    def __init__(self) -> None:
        # Re-entrant, so that a plugin that asks for the host while it is loaded gets an error and
        # no deadlock.
        self._lock = threading.RLock()
        self._host: PluginHost | None = None
        self._is_loading = False

    def get(self) -> PluginHost:
        if self._host is not None:
            return self._host
        with self._lock:
            return self._load()

    def _load(self) -> PluginHost:
        if self._host is not None:  # another thread was first
            return self._host
        if self._is_loading:
            raise FailedPreconditionError(
                "plugins are being loaded; a plugin module must not ask for them or run a graph"
            )
        self._is_loading = True
        try:
            from penstock.plugins.discovery import PluginHost  # noqa: PLC0415  # only when needed

            self._host = PluginHost()
        finally:
            self._is_loading = False
        return self._host


_host = _LazyHost()
_registry = Registry(lambda registry: _host.get().fill(registry))


def default_registry() -> Registry:
    """Return the registry that graphs use when they are given none. Always the same object."""
    return _registry


def plugin_host() -> PluginHost:
    """Return the plugins of this process, loaded by the first call; see `PluginHost`.

    Raises:
        FailedPreconditionError: called by a plugin module while plugins are being loaded.
        InvalidArgumentError: an environment switch is not what it must be.
    """
    return _host.get()


@overload
def register_calculator(cls_or_name: C) -> C: ...
@overload
def register_calculator(cls_or_name: str) -> Callable[[C], C]: ...
def register_calculator(cls_or_name: C | str) -> C | Callable[[C], C]:
    """Let graphs of this process name a calculator, without a plugin.

    `@register_calculator` registers a class under its own name, `@register_calculator("Name")` under
    another, and `register_calculator(SomeClass)` works as a call. What `@penstock.calculator` has
    decorated is registered as the calculator made from it. The same class defined again (by
    a notebook cell that is run again, say) replaces the former one for graphs made from then on. A
    name that a plugin claims too is a clash, reported when a graph uses it.

    Args:
        cls_or_name: a subclass of `Calculator`, or a function or class that `@penstock.calculator` has
            decorated; or the name for what is decorated.

    Returns:
        The class or function, unchanged; or a decorator that returns it unchanged.

    Raises:
        InvalidArgumentError: it is neither. Nothing is registered.
        AlreadyExistsError: another class has that name in this process. It keeps it.
    """
    if isinstance(cls_or_name, str):
        name = cls_or_name
        return lambda cls: _register(name, cls)
    return _register(None, cls_or_name)


def _register(name: str | None, thing: C) -> C:
    cls = calculator_of(thing)
    if not (isinstance(cls, type) and issubclass(cls, Calculator)):
        raise InvalidArgumentError(
            f"{thing!r}: must be a subclass of penstock.Calculator to be registered, or decorated with "
            "@penstock.calculator"
        )
    _registry.add("calculator", cls.__name__ if name is None else name, cls)
    return thing
