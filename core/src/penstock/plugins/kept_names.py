"""What the installed plugins bring, kept in a file, so that the next process imports none of them.

A short cut: without the file, or with `PENSTOCK_SHORTCUTS=0`, the plugins are imported, and bring the same.
The file is written where all plugins were loaded, with no switch set, and bring the same in each process
(`Components.is_fixed`). It counts as bytecode does: as long as the files that it was made of have the same
time and size. These are all distributions on `sys.path` with their entry points, and the modules of the
plugins that were loaded, with their folders. It is read only by the user who wrote it; `kept_names_writer`
writes it.
"""

from __future__ import annotations

import _imp
import marshal
import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Final

from penstock.entry_points import metadata_folders, path_folders
from penstock.frozen_children import is_frozen
from penstock.plugins import BLOCK_VARIABLE, NONE_VARIABLE, ONLY_VARIABLE
from penstock.plugins.plugin_components import Implementation

if TYPE_CHECKING:
    from penstock.registry import Registry

#: The form of the data: a file of another form is not read. It begins with a hash, of so many bytes.
FORM: Final = 2
HASH_BYTES: Final = 8
_IS_ON: Final = os.environ.get("PENSTOCK_SHORTCUTS") != "0"
_SWITCHES: Final = (BLOCK_VARIABLE, ONLY_VARIABLE, NONE_VARIABLE)
#: Modules of finders that find what the file says: Python's, and the one that setuptools leaves.
_OWN_FINDERS: Final = ("_frozen_importlib", "_distutils_hack")
#: Every run asks for these hooks.
RUN_HOOKS: Final = ("run_prepared", "run_started", "run_ended")
#: Tells environments apart; files of two that meet in it are told apart by their contents.
_PRIME: Final = 2**61 - 1

#: Path, time in ns and size.
Stamp = tuple[str, int, int]


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
    folders, path = usable_folders(), kept_path()
    if folders is None or path is None:
        return None
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib costs more here
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            mark, data = file.read(HASH_BYTES), file.read()  # `marshal.load` reads a few bytes at a time
        if mark != _imp.source_hash(FORM, data):  # damaged bytes could end the process
            return None
        points, stamps, homes, packages, *names = marshal.loads(data)  # noqa: S302  # the user's own file
        is_right = (
            points == point_stamps(folders)
            and homes == homes_of(packages, folders)
            and stamps == [stamp_of(source) for source, *_ in stamps]
        )
        return KeptNames(*names) if is_right else None
    except (OSError, EOFError, ValueError, TypeError):  # no file, or one of something else
        return None


def usable_folders() -> list[tuple[str, list[str]]] | None:
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


def kept_path() -> str | None:
    """Return the path of the file of this Python and environment; None without a folder for it."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))  # noqa: PTH111, PTH118
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()  # from Python 3.13 on
    environment = f"{sys.prefix} {__file__} {sys.version} {sys.platform} {sys.flags.optimize} {has_lock}"
    number = int.from_bytes(environment.encode(errors="surrogatepass"), "big") % _PRIME
    path = os.path.join(caches, "penstock", f"names-{sys.implementation.cache_tag}-{number:x}")  # noqa: PTH118
    return path if os.path.isabs(path) else None  # noqa: PTH117


def stamp_of(path: str) -> Stamp | None:
    """Return path, time and size of a file or folder; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return path, found.st_mtime_ns, found.st_size


def point_stamps(folders: list[tuple[str, list[str]]]) -> list[Stamp]:
    """Return the stamps of the entry points of all distributions, in the order in which Python finds them."""
    files = [os.path.join(folder, "entry_points.txt") for folder in metadata_folders(folders)]  # noqa: PTH118
    return [stamp_of(file) or (file, 0, 0) for file in files]


def homes_of(packages: set[str], folders: list[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    """Return each name in a folder that may be one of the top-level modules, in the order of imports."""
    return [
        (folder, name) for folder, names in folders for name in names if name.partition(".")[0] in packages
    ]
