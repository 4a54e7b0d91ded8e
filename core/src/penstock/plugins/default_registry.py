"""The plugins of the process, and the default registry that they fill.

Importing this module loads no plugin and reads no entry point. There is one default because most
programs want one. Only the entrances (`CalculatorGraph`, `penstock.run`, the command line) and
`find_component` fall back on it, and each of those takes another registry.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import FailedPreconditionError, NameClashError, UnknownNameError
from penstock.plugins.kept_names import read_kept_names
from penstock.registry import Registry
from penstock.registry_entries import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.plugins.discovery import PluginHost
    from penstock.plugins.kept_names import KeptNames
    from penstock.plugins.plugin_components import Implementation


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
        #: What the plugins bring, where the registry has it of a file.
        self._kept: KeptNames | None = None
        self.registry: Final = Registry(self._fill)

    def _fill(self, registry: Registry) -> None:
        if self._host is None and self is _defaults[0]:
            self._kept = read_kept_names()
        (self._kept or self.host()).fill(registry)

    def run_hooks(self, hook: str) -> tuple[Implementation, ...]:
        kept = self._kept
        if self._host is None and kept is not None:
            try:
                return kept.run_hooks(hook)
            except (Exception, SystemExit):  # noqa: BLE001  # the record of that plugin then says why
                self._kept = None
        found: tuple[Implementation, ...] = getattr(self.host(), hook)
        return found

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
            from penstock.plugins.kept_names_writer import KeptNamesWriter  # as above

            writer = KeptNamesWriter()
            host = PluginHost()
            if self is _defaults[0]:
                writer.write(host)
            return host
        finally:
            self._is_loading = False


#: The last one counts; there is one, but for tests that install plugins.
_defaults: Final = [_Defaults()]


def default_registry() -> Registry:
    """Return the registry that graphs use when they are given none. Always the same object."""
    return _defaults[-1].registry


def default_plugin_host() -> PluginHost:
    """Return the plugins of this process, loaded by the first call; see `PluginHost`.

    Raises:
        FailedPreconditionError: called by a plugin module while plugins are being loaded.
        InvalidArgumentError: an environment switch is not what it must be.
    """
    return _defaults[-1].host()


def default_run_hooks(hook: str) -> tuple[Implementation, ...]:
    """Return the plugins' implementations of "run_prepared", "run_started" or "run_ended"."""
    return _defaults[-1].run_hooks(hook)


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

    Within the block `default_registry()` and `default_plugin_host()` are other objects, which look for
    plugins when they are first asked there; those outside are loaded before. What the process has registered
    before is known there too; what it registers within is not known afterwards.
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
