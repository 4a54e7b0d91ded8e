"""What the installed plugins bring, kept in a file, so that the next process imports none of them.

A short cut: without the file, or with `PENSTOCK_SHORTCUTS=0`, the plugins are imported, and bring the same.
The file is written where all plugins were loaded, with no switch set, and bring the same in each process
(`Components.is_fixed`). It counts as bytecode does: as long as the files that it was made of have the same
time and size. These are the entry points of all distributions on `sys.path`, and the modules of the plugins
that were loaded. It is read only by the user who wrote it.
"""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any, Final

from penstock.entry_points import metadata_folders, path_folders
from penstock.frozen_children import is_frozen
from penstock.plugins import BLOCK_VARIABLE, NONE_VARIABLE, ONLY_VARIABLE
from penstock.plugins.plugin_components import Implementation, option_data

if TYPE_CHECKING:
    from penstock.plugins.discovery import PluginHost
    from penstock.registry import Registry

#: Of the tuple that is written: a file of another form is not read.
_FORM: Final = 1
_IS_ON: Final = os.environ.get("PENSTOCK_SHORTCUTS") != "0"
_SWITCHES: Final = (BLOCK_VARIABLE, ONLY_VARIABLE, NONE_VARIABLE)
#: Modules of finders that find what the file says: Python's, and the one that setuptools leaves.
_OWN_FINDERS: Final = ("_frozen_importlib", "_distutils_hack")
#: Every run asks for these hooks.
_RUN_HOOKS: Final = ("run_prepared", "run_started", "run_ended")
#: Modules of the core that say what a plugin's answer means.
_OWN: Final = (__name__, "penstock.plugins.plugin_components", "penstock.registry_entries")

#: Tells environments apart; files of two that meet in it are told apart by their contents.
_PRIME: Final = 2**61 - 1

#: Path, time in ns and size.
_Stamp = tuple[str, int, int]


class KeptNames:
    """What the file says that the plugins bring."""

    def __init__(
        self,
        claims: dict[tuple[str, str], list[tuple[str, str, str]]],
        options: list[tuple[str, str | None, int | None, str, str, str]],
        hooks: dict[str, list[tuple[str, str, str, tuple[int, ...]]]],
    ) -> None:
        #: `claims`, `options`: as `Registry.restore` takes them.
        self._claims: Final = claims
        self._options: Final = options
        #: Hook of runs → plugin, module, function, and the places of the arguments that it takes, in the
        #: order of the calls.
        self._hooks: Final = hooks
        self._found: Final[dict[str, tuple[Implementation, ...]]] = {}

    def fill(self, registry: Registry) -> None:
        """Put all that the plugins bring into a registry."""
        registry.restore(self._claims, self._options)

    def run_hooks(self, hook: str) -> tuple[Implementation, ...]:
        """Import and return the implementations of a hook of runs. Raises what the import raises."""
        found = self._found.get(hook)
        if found is None:
            found = self._found[hook] = tuple(
                Implementation(plugin, getattr(import_module(module), function), places)
                for plugin, module, function, places in self._hooks[hook]
            )
        return found


def read_kept_names() -> KeptNames | None:
    """Return what the plugins of this process bring; None where no file says it."""
    folders = _folders()
    if folders is None:
        return None
    try:
        with open(_path(), "rb") as file:  # noqa: PTH123  # pathlib costs more here
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            data = file.read()  # `marshal.load` reads a few bytes at a time
        form, points, modules, homes, *names = marshal.loads(data)  # noqa: S302  # the user's own file
        is_right = (
            form == _FORM
            and points == _point_stamps(folders)
            and homes == _homes(homes, folders)
            and modules == [_stamp(path) for path, *_ in modules]
        )
        return KeptNames(*names) if is_right else None
    except (OSError, EOFError, ValueError, TypeError):  # no file, a part of one, or another program's
        return None


def write_kept_names(host: PluginHost, before: frozenset[str]) -> None:
    """Keep what the plugins bring; nothing happens where that may change, or where no file can be written.

    Args:
        host: the plugins of this process, just loaded.
        before: the names in `sys.modules` before that.
    """
    folders = _folders()
    names = None if folders is None else _names(host)
    if folders is None or names is None:
        return
    modules = _modules(host, before)
    sources = {getattr(sys.modules[name], "__file__", None) for name in (*modules, *_OWN)}
    if None in sources:  # a package without a file
        return
    homes = _homes({name for name in modules if "." not in name}, folders)
    stamps = [_stamp(str(source)) for source in sources]
    path = _path()
    written = f"{path}.{os.getpid()}"  # a reader never sees a part of it
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        try:
            with open(written, "wb") as file:  # noqa: PTH123
                marshal.dump((_FORM, _point_stamps(folders), stamps, homes, *names), file)
            os.replace(written, path)  # noqa: PTH105
        except OSError:
            os.unlink(written)  # noqa: PTH108


def _folders() -> list[tuple[str, list[str]]] | None:
    """Return the folders of `sys.path` with the names in each; None where no file counts in this process.

    It does not with a switch, in a frozen program, or where a finder of the application's own comes before
    Python's: what that finds is in no folder.
    """
    if not _IS_ON or is_frozen() or any(name in os.environ for name in _SWITCHES):
        return None
    folders = path_folders()
    if folders is None:
        return None
    first = sys.meta_path[: sys.meta_path.index(PathFinder)]
    return folders if all(getattr(one, "__module__", "") in _OWN_FINDERS for one in first) else None


def _path() -> str:
    """Return the path of the file of this Python and environment."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))  # noqa: PTH111, PTH118
    environment = f"{sys.prefix} {__file__}".encode(errors="surrogateescape")
    name = f"names-{sys.implementation.cache_tag}-{int.from_bytes(environment, 'big') % _PRIME:x}"
    return os.path.join(caches, "penstock", name)  # noqa: PTH118


def _stamp(path: str) -> _Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return path, found.st_mtime_ns, found.st_size


def _point_stamps(folders: list[tuple[str, list[str]]]) -> list[_Stamp]:
    """Return the stamps of the entry points of all distributions, in the order in which Python finds them."""
    files = [os.path.join(folder, "entry_points.txt") for folder in metadata_folders(folders)]  # noqa: PTH118
    return [stamp for stamp in map(_stamp, files) if stamp is not None]


def _homes(packages: Any, folders: list[tuple[str, list[str]]]) -> dict[str, str]:
    """Return for each top-level module the first folder with that name, where it is imported from."""
    homes: dict[str, str] = {}
    wanted = {spelled: package for package in packages for spelled in (package, f"{package}.py")}
    for folder, names in folders:
        for spelled in wanted.keys() & names:
            homes.setdefault(wanted[spelled], folder)
    return homes


def _modules(host: PluginHost, before: frozenset[str]) -> list[str]:
    """Return the names of the modules that say what the plugins bring, and others of the same packages.

    They are the modules of the plugins' packages, also where the application had imported them before, and
    the modules outside of the standard library that the plugins imported.
    """
    loaded = list(sys.modules)
    tops = {name.partition(".")[0] for name in loaded if name not in before}
    tops |= {record.module.partition(":")[0].partition(".")[0] for record in host.records}
    tops -= {*sys.stdlib_module_names, "penstock"}
    return [name for name in loaded if name.partition(".")[0] in tops]


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
        for hook in _RUN_HOOKS
    }
    targets = [one[2] for owners in claims.values() for one in owners] + [entry[3] for entry in options]
    functions = [row[2] for rows in hooks.values() for row in rows]
    if not all(isinstance(target, str) for target in targets) or any("." in name for name in functions):
        return None
    return claims, options, hooks
