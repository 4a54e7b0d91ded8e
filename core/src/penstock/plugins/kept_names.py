"""What the installed plugins bring, kept in a file, so that the next process imports none of them.

A short cut: without the file, or with `PENSTOCK_SHORTCUTS=0`, the plugins are imported, and bring the same.
The file is written where all plugins were loaded, with no switch set, and bring the same in each process
(`Components.is_fixed`). It counts as bytecode does: as long as the files that it was made of have the same
time and size. These are all distributions on `sys.path` with their entry points, and the modules of the
plugins that were loaded, with their folders. It is read only by the user who wrote it.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
import time
from contextlib import suppress
from importlib import import_module
from importlib.machinery import PathFinder
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from penstock.entry_points import metadata_folders, path_folders
from penstock.frozen_children import is_frozen
from penstock.plugins import BLOCK_VARIABLE, NONE_VARIABLE, ONLY_VARIABLE
from penstock.plugins.plugin_components import Implementation, option_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.plugins.discovery import PluginHost
    from penstock.registry import Registry

#: The form of the data: a file of another form is not read. It begins with a hash, of so many bytes.
_FORM: Final = 2
_MARK: Final = 8
_IS_ON: Final = os.environ.get("PENSTOCK_SHORTCUTS") != "0"
_SWITCHES: Final = (BLOCK_VARIABLE, ONLY_VARIABLE, NONE_VARIABLE)
#: Modules of finders that find what the file says: Python's, and the one that setuptools leaves.
_OWN_FINDERS: Final = ("_frozen_importlib", "_distutils_hack")
#: Code of functions has this flag, code of classes has not.
_CO_OPTIMIZED: Final = 1
#: Every run asks for these hooks.
_RUN_HOOKS: Final = ("run_prepared", "run_started", "run_ended")
#: Modules of the core that say what a plugin's answer means.
_OWN: Final = (
    __name__,
    "penstock.plugins.plugin_components",
    "penstock.plugins.hookspecs",
    "penstock.plugins.discovery",
    "penstock.registry_entries",
)

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
    folders, path = _folders(), _path()
    if folders is None or path is None:
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib costs more here
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            mark, data = file.read(_MARK), file.read()  # `marshal.load` reads a few bytes at a time
        if mark != _imp.source_hash(_FORM, data):  # damaged bytes could end the process
            return None
        points, stamps, homes, packages, *names = marshal.loads(data)  # noqa: S302  # the user's own file
        is_right = (
            points == _point_stamps(folders)
            and homes == _homes(packages, folders)
            and stamps == [_stamp(source) for source, *_ in stamps]
        )
        return KeptNames(*names) if is_right else None
    except (OSError, EOFError, ValueError, TypeError):  # no file, or one of something else
        return None


class Loading:
    """Keeps what the plugins bring that are loaded now; made before that.

    Nothing is kept where that may change from one process to the next, where it changed since this process
    began, or where no file can be written.
    """

    def __init__(self) -> None:
        self._before: Final = frozenset(sys.modules)
        self._points: Final = _point_stamps(_folders() or [])

    def keep(self, host: PluginHost) -> None:
        """Write the file, if everything can be kept. Raises nothing: it is a short cut."""
        with suppress(Exception):
            self._keep(host)

    def _keep(self, host: PluginHost) -> None:
        folders, path = _folders(), _path()
        names = None if folders is None else _names(host)
        if folders is None or names is None or path is None or _point_stamps(folders) != self._points:
            return
        modules = _modules(host, self._before)
        packages = {name.partition(".")[0] for name in modules}
        homes = _homes(packages, folders)
        sources = [_said_by(name, "__file__") for name in (*modules, *_OWN)]
        stamps = [_stamp(source or "") for source in sources]
        changed = [stamp is None or stamp[1] >= _started() for stamp in stamps]
        if any(changed) or packages - {name.partition(".")[0] for _, name in homes}:
            return
        # Of folders too: a module that comes may stand for another one, or be found by a plugin that looks.
        stamps += [_stamp(folder) for folder in {os.path.dirname(source or "") for source in sources}]  # noqa: PTH120
        data = marshal.dumps((self._points, stamps, homes, packages, *names))
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120
        written = f"{path}.{os.getpid()}"  # a reader never sees a part of it
        try:
            with open(written, "wb") as file:  # noqa: PTH123
                file.write(_imp.source_hash(_FORM, data) + data)
            os.replace(written, path)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(written)  # noqa: PTH108
            raise


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
    if not all(getattr(one, "__module__", "") in _OWN_FINDERS for one in first):
        return None
    return [(os.path.abspath(folder), names) for folder, names in folders]  # noqa: PTH100


def _path() -> str | None:
    """Return the path of the file of this Python and environment; None without a folder for it."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))  # noqa: PTH111, PTH118
    has_lock = getattr(sys, "_is_gil_enabled", bool)()
    environment = f"{sys.prefix} {__file__} {sys.version} {sys.platform} {sys.flags.optimize} {has_lock}"
    number = int.from_bytes(environment.encode(errors="surrogatepass"), "big") % _PRIME
    path = os.path.join(caches, "penstock", f"names-{sys.implementation.cache_tag}-{number:x}")  # noqa: PTH118
    return path if os.path.isabs(path) else None  # noqa: PTH117


def _started() -> int:
    """Return when this process began, in ns. Raises where the system does not tell: Linux does."""
    with open("/proc/self/stat", "rb") as stat:  # noqa: PTH123
        ticks = int(stat.read().rpartition(b")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time_ns() - int(max(0.0, age) * 1e9)


def _stamp(path: str) -> _Stamp | None:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return path, found.st_mtime_ns, found.st_size


def _point_stamps(folders: list[tuple[str, list[str]]]) -> list[_Stamp]:
    """Return the stamps of the entry points of all distributions, in the order in which Python finds them."""
    files = [os.path.join(folder, "entry_points.txt") for folder in metadata_folders(folders)]  # noqa: PTH118
    return [_stamp(file) or (file, 0, 0) for file in files]


def _homes(packages: set[str], folders: list[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    """Return each name in a folder that may be one of the top-level modules, in the order of imports."""
    return [
        (folder, name) for folder, names in folders for name in names if name.partition(".")[0] in packages
    ]


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
        for hook in _RUN_HOOKS
    }
    targets = [one[2] for owners in claims.values() for one in owners] + [entry[3] for entry in options]
    functions = [one.function for hook in _RUN_HOOKS for one in getattr(host, hook)]
    by_name = [vars(sys.modules[one.__module__]).get(one.__qualname__) for one in functions]
    if not all(isinstance(target, str) for target in targets) or by_name != functions:
        return None
    return claims, options, hooks
