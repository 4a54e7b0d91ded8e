"""Writes the file that `kept_names` reads: what the plugins of this process bring, and what says so."""

from __future__ import annotations

import _imp
import marshal
import os
import sys
import time
from contextlib import suppress
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import text_of
from penstock.late_log import LateLogger
from penstock.plugins.kept_names import (
    FORM,
    RUN_HOOKS,
    homes_of,
    kept_path,
    point_stamps,
    stamp_of,
    usable_folders,
)
from penstock.plugins.plugin_components import option_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.plugins.discovery import PluginHost

_logger = LateLogger("plugins")

#: Code of functions has this flag, code of classes has not.
_CO_OPTIMIZED: Final = 1
#: Modules of the core that say what a plugin's answer means.
_OWN: Final = (
    "penstock.plugins.kept_names",
    "penstock.plugins.plugin_components",
    "penstock.plugins.hookspecs",
    "penstock.plugins.discovery",
    "penstock.registry_entries",
)


class KeptNamesWriter:
    """Writes what the plugins of this process bring. It is made before they are loaded.

    Nothing is kept where that may change from one process to the next, where it changed since this process
    began, or where no file can be written.
    """

    def __init__(self) -> None:
        self._before: Final = frozenset(sys.modules)
        self._points: Final = point_stamps(usable_folders() or [])

    def write(self, host: PluginHost) -> None:
        """Write the file, if everything can be kept. Raises nothing: it is a short cut."""
        try:
            self._write(host)
        except Exception as error:  # noqa: BLE001  # a module of unusual kind, a full disk: all works without
            _logger.debug("the names that plugins bring are not kept: %s", text_of(error))

    def _write(self, host: PluginHost) -> None:
        folders, path = usable_folders(), kept_path()
        names = None if folders is None else _names(host)
        if folders is None or names is None or path is None:
            return
        modules = _modules(host, self._before)
        packages = {name.partition(".")[0] for name in modules}
        homes = homes_of(packages, folders)
        sources = [_said_by(name, "__file__") for name in (*modules, *_OWN)]
        stamps = [stamp_of(source or "") for source in sources]
        started = _started()
        changed = [stamp is None or stamp[1] >= started for stamp in stamps]
        if any(changed) or packages - {name.partition(".")[0] for _, name in homes}:
            return
        # Of folders too: a module that comes may stand for another one, or be found by a plugin that looks.
        stamps += [stamp_of(folder) for folder in {os.path.dirname(source or "") for source in sources}]  # noqa: PTH120
        # The distributions as they were before: one that came meanwhile has brought nothing here.
        data = marshal.dumps((self._points, stamps, homes, packages, *names))
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        written = f"{path}.{os.getpid()}"  # a reader never sees a part of it
        try:
            with open(written, "wb") as file:  # noqa: PTH123
                file.write(_imp.source_hash(FORM, data) + data)
            os.replace(written, path)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(written)  # noqa: PTH108
            raise


def _started() -> int:
    """Return when this process began, in ns. Raises where the system does not tell: Linux does."""
    with open("/proc/self/stat", "rb") as stat:  # noqa: PTH123
        ticks = int(stat.read().rpartition(b")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time_ns() - int(max(0.0, age) * 1e9)


def _said_by(name: str, attribute: str) -> Any:
    """Return an attribute of a loaded module, or None; asks no code of the module, which may load others."""
    return object.__getattribute__(sys.modules[name], "__dict__").get(attribute)


def _modules(host: PluginHost, before: frozenset[str]) -> list[str]:
    """Return the names of the modules, outside of the standard library, that say what the plugins bring.

    They are the modules that were imported with the plugins, the modules that these name and that the
    application had imported before, and their packages.
    """
    own = {*sys.stdlib_module_names, "penstock", "pluggy"}
    loaded = {name for name in sys.modules if name.partition(".")[0] not in own}
    waiting = [*(loaded - before), *(record.module.partition(":")[0] for record in host.records)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in loaded and name not in found:
            found.add(name)
            waiting += [name.rpartition(".")[0], *_named_modules(name)]
    return sorted(found)


def _named_modules(name: str) -> Iterator[str]:
    """Yield the names that a module may import when it is loaded, and asked for its components."""
    spec = _said_by(name, "__spec__")
    code = spec.loader.get_code(name)
    words = set() if code is None else _words(code)  # no code: an extension
    for start in ("", f"{spec.parent}."):
        for module in [start + word for word in words if start + word in sys.modules]:
            yield module
            yield from [f"{module}.{word}" for word in words]


def _words(code: CodeType) -> set[str]:
    """Return the names in a module's code, in its classes, and in the hook `penstock_components`."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    asked = [one for one in inner if one.co_name == "penstock_components" or not one.co_flags & _CO_OPTIMIZED]
    return {*code.co_names}.union(*map(_words, asked))


def _names(host: PluginHost) -> tuple[Any, ...] | None:
    """Return the arguments of `KeptNames`; None where they cannot be kept."""
    claims: dict[tuple[str, str], list[tuple[str, str, object]]] = {}
    options = []
    for record in host.records:
        if record.state != "loaded" or not (components := host.components(record.name)).is_fixed:
            return None
        owner = record.distribution, record.name
        for kind, name, target in components.by_kind():
            claims.setdefault((kind, name), []).append((*owner, target))
        options += [(name, *option_data(said), *owner) for name, said in components.options.items()]
    hooks = {
        hook: [
            (one.plugin, one.function.__module__, one.function.__qualname__, one.places)
            for one in getattr(host, hook)
        ]
        for hook in RUN_HOOKS
    }
    targets = [one[2] for owners in claims.values() for one in owners] + [entry[3] for entry in options]
    functions = [one.function for hook in RUN_HOOKS for one in getattr(host, hook)]
    by_name = [vars(sys.modules[one.__module__]).get(one.__qualname__) for one in functions]
    if not all(isinstance(target, str) for target in targets) or by_name != functions:
        return None
    return claims, options, hooks
