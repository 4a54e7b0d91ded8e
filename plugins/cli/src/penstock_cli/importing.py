"""`--import MODULE_OR_FILE`: the application's own calculators, for one call of the command.

Only the command line names what is imported; a graph file cannot. A module is also looked for in the current
directory, and a file can import the files beside it. These directories are the last ones on `sys.path`, so a
file in them does not replace an installed module or one of Python's own.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from difflib import get_close_matches
from pathlib import Path
from traceback import StackSummary, TracebackException
from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import NameClashError, PenstockError
from penstock.packs import KINDS, calculator_of_entry, entry_spelling
from penstock.plugins.default_registry import default_registry
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import RunFailed, WrongUsage
from penstock_cli.saying import say

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from penstock import Registry

    #: Kind and name.
    Key = tuple[str, str]

_ENDING: Final = ".py"
#: Where frames of a traceback lie that are not the user's: in this module, and in Python's import.
_NOT_THE_USERS: Final = (__file__, importlib.__file__, "<frozen importlib")


def import_all(given: Iterable[str]) -> dict[Key, str]:
    """Import modules and files, in this order, and register their calculators.

    A calculator that a module defines and does not register gets the name of its class, as with
    `penstock.register_calculator`; one whose name begins with "_" does not.

    Args:
        given: names of modules, and paths of files; each is imported once.

    Returns:
        Kind and name of each component that they registered → the module or file, as given.

    Raises:
        FileMissing: there is no such file.
        WrongUsage: it is not a Python file, there is no such module, or a plugin has one of the names.
        RunFailed: the import raised, or a calculator cannot be registered; the message has the user's part
            of the traceback. What was registered before stays registered.
    """
    sources: dict[Key, str] = {}
    for each in dict.fromkeys(given):
        for key in _registered_by(each):
            sources.setdefault(key, each)
    return sources


def _registered_by(given: str) -> list[Key]:
    """Import one module or file, and return what it registered."""
    registry = default_registry()
    before = dict(_targets(registry))
    options = set(registry.options())
    module = _file(given) if _is_file(given) else _module(given)
    for thing in _unregistered(module, registry):
        try:
            penstock.register_calculator(thing)
        except PenstockError as error:
            raise RunFailed(f"--import {given}: {error}") from error
    after = dict(_targets(registry))
    for key, target in after.items():
        if isinstance(target, NameClashError) and not isinstance(before.get(key), NameClashError):
            raise WrongUsage(f"--import {given}: {target}")
    found = [key for key, target in after.items() if isinstance(target, str) and _is_in(module, target)]
    added = [key for key in after if key not in before]
    if not found and not added and options == set(registry.options()):
        say(
            f"warning: --import {given}: no calculator is defined there; define a subclass of "
            "penstock.Calculator, or decorate a function with @penstock.calculator"
        )
    return [*added, *(key for key in found if registry.origin(*key).distribution is None)]


# --- importing ------------------------------------------------------------------------------------


def _is_file(given: str) -> bool:
    """Return whether a file is meant, not a module: by its ending, or a path separator."""
    return given.endswith(_ENDING) or any(mark in given for mark in (os.sep, os.altsep or os.sep, "/"))


def _file(given: str) -> ModuleType:
    path = existing_file(Path(given), "Python file").resolve()
    _add_to_path(path.parent)
    name = _name_for(path)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path) if path.suffix == _ENDING else None
    if spec is None or spec.loader is None:
        raise _not_python(given)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, (Exception, SystemExit)):
            raise _raised(given, error) from error
        raise
    return module


def _not_python(given: str) -> WrongUsage:
    return WrongUsage(f"--import {given}: not a Python file; its name must end with {_ENDING}")


def _module(given: str) -> ModuleType:
    if Path(given).is_file():
        raise _not_python(given)
    if not all(part.isidentifier() for part in given.split(".")):
        raise WrongUsage(
            f"--import {given}: neither the name of a module, such as my_package.calculators, nor a Python "
            f"file, which ends with {_ENDING}"
        )
    _add_to_path(Path.cwd())
    try:
        return importlib.import_module(given)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and f"{given}.".startswith(f"{error.name}."):
            raise WrongUsage(
                f"--import {given}: there is no module {error.name!r}; {_near(given)}"
            ) from error
        raise _raised(given, error) from error


def _near(given: str) -> str:
    """Return how to go on where there is no such module."""
    here = [path.stem for path in Path.cwd().glob(f"*{_ENDING}")]
    near = get_close_matches(given, here, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"name an installed module, one of the current directory, or a file that ends with {_ENDING}"


def _add_to_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _name_for(path: Path) -> str:
    """Return the name of a file's module: its stem, with a number where another module has that name.

    Graph files use it in the names of options: `gate.GateOptions`.
    """
    stem = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    name = stem = stem if stem.isidentifier() else f"_{stem}"
    number = 1
    while not _may_have(path, name):
        number += 1
        name = f"{stem}_{number}"
    return name


def _may_have(path: Path, name: str) -> bool:
    """Return whether no module but the file's has this name, or would have it once it is imported."""
    if name in sys.modules:
        place: str | None = getattr(sys.modules[name], "__file__", None)
        return place is not None and Path(place).resolve() == path
    spec = importlib.util.find_spec(name)
    return spec is None or (spec.origin is not None and Path(spec.origin).resolve() == path)


def _raised(given: str, error: BaseException) -> RunFailed:
    """Return the failure for an exception of the module: its traceback from the user's first line on."""
    told = TracebackException.from_exception(error)
    _keep_the_users(told)
    lines = "".join(told.format()).removeprefix("Traceback (most recent call last):\n").rstrip()
    hint = ""
    if isinstance(error, SystemExit):
        hint = '\nput what the file does as a program under: if __name__ == "__main__":'
    return RunFailed(f"--import {given} failed:\n{lines}{hint}")


def _keep_the_users(told: TracebackException | None) -> None:
    """Remove the frames of the command line and of Python's import, also from the errors that led to it."""
    if told is not None:
        told.stack = StackSummary.from_list(
            [frame for frame in told.stack if not frame.filename.startswith(_NOT_THE_USERS)]
        )
        _keep_the_users(told.__cause__)
        _keep_the_users(told.__context__)


# --- what it registered ---------------------------------------------------------------------------


def _targets(registry: Registry) -> Iterator[tuple[Key, str | NameClashError]]:
    """Yield each kind and name with its "module:attribute", or with the error if several claim it."""
    for kind in KINDS:
        for name in registry.names(kind):
            try:
                yield (kind, name), registry.origin(kind, name).target
            except NameClashError as error:
                yield (kind, name), error


def _is_in(module: ModuleType, target: str) -> bool:
    """Return whether a "module:attribute", or a module's name, is this module's or one of its package."""
    return f"{target.partition(':')[0]}.".startswith(f"{module.__name__}.")


def _unregistered(module: ModuleType, registry: Registry) -> Iterator[type[penstock.Calculator]]:
    """Yield the calculators that a module defines and that have no name yet, in their order."""
    known = {target for _, target in _targets(registry) if isinstance(target, str)}
    for name, thing in list(vars(module).items()):
        made = calculator_of_entry(thing)
        if (
            isinstance(made, type)
            and issubclass(made, penstock.Calculator)
            and _is_in(module, made.__module__)
            and not name.startswith("_")
            and not inspect.isabstract(made)
            and known.isdisjoint((entry_spelling(thing), entry_spelling(made)))
        ):
            known.add(entry_spelling(made))
            yield made
