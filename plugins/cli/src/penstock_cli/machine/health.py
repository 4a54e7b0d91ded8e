"""The checks of `penstock doctor`: this machine, the distributions, the plugins, and the plugins' checks.

A check never raises: an exception counts as a failed check. This module imports nothing heavy; plugins
may do so in their hook `penstock_doctor`.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import sysconfig
import tempfile
from typing import TYPE_CHECKING, Final

from packaging.requirements import InvalidRequirement, Requirement

from penstock import DoctorCheck
from penstock.errors import NameClashError, PenstockError
from penstock.packs import KINDS, official_packs
from penstock_cli.machine.environment import FOR_MOST
from penstock_cli.wording import amount, plural

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from penstock import Registry
    from penstock.plugins.discovery import Discovered, PluginHost
    from penstock.plugins.plugin_components import Implementation

#: Pythons that Penstock is tested with. Source: the matrix in tox.ini.
_FIRST_PYTHON: Final = (3, 11)
_LAST_PYTHON: Final = (3, 14)
#: Names without which hardly any graph runs. Sources: `penstock.check.handlers`,
#: `penstock.runtime.executors.graph_executors`.
_DEFAULTS: Final = (
    ("default input policy", "input stream handler", "DefaultInputStreamHandler"),
    ("default executor", "executor", "ThreadPoolExecutor"),
)
#: Characters beyond ASCII that messages may contain.
_SPECIAL: Final = "µ→±─"
_FEW_BYTES: Final = 100_000_000


def areas(host: PluginHost, registry: Registry) -> Iterator[tuple[str, list[DoctorCheck]]]:
    """Yield each area with its checks, as soon as they are done."""
    yield "this machine", [_guarded(name, look) for name, look in _MACHINE]
    yield "Penstock", [_guarded("engine", _engine), *_distributions(host)]
    yield "plugins", [*_plugins(host), *_defaults(registry), *_clashes(registry)]
    for implementation in sorted(host.implementations("penstock_doctor"), key=lambda one: one.plugin):
        yield f"plugin {implementation.plugin}", _asked(implementation)


# --- this machine ---------------------------------------------------------------------------------


def _python() -> DoctorCheck:
    version = sys.version_info[:2]
    said = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable or 'embedded'}"
    if version > _LAST_PYTHON:
        said += f"; newer than {_spelled(_LAST_PYTHON)}, the newest that Penstock is tested with"
    is_well = version >= _FIRST_PYTHON
    return DoctorCheck(
        "Python", is_well, said, "" if is_well else f"use Python {_spelled(_FIRST_PYTHON)} or newer"
    )


def _system() -> DoctorCheck:
    return DoctorCheck(
        "system", is_well=True, detail=f"{platform.system()} {platform.release()}, {platform.machine()}"
    )


def _processors() -> DoctorCheck:
    there = os.cpu_count() or 1
    affinity = getattr(os, "sched_getaffinity", None)
    usable = there if affinity is None else len(affinity(0))
    said = plural(there, "processor")
    return DoctorCheck(
        "processors", is_well=True, detail=said if usable == there else f"{said}, {usable} for this process"
    )


def _interpreter_lock() -> DoctorCheck:
    is_on = getattr(sys, "_is_gil_enabled", lambda: True)()
    is_free_build = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    said = "on" if is_on else "off"
    if is_free_build and is_on:
        said += ", although this Python can run without it; PYTHON_GIL=0 keeps it off"
    return DoctorCheck("interpreter lock", is_well=True, detail=said)


def _temporary_directory() -> DoctorCheck:
    what = "temporary directory"
    try:
        folder = tempfile.gettempdir()
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"penstock")
        free = _free_bytes(folder)
    except OSError as error:
        return DoctorCheck(
            what, is_well=False, detail=str(error), cure="point TMPDIR to a directory that can be written"
        )
    said = folder if free is None else f"{folder}, {amount(free)} free"
    if free is not None and free < _FEW_BYTES:
        return DoctorCheck(
            what, is_well=False, detail=said, cure="free some space, or point TMPDIR to another directory"
        )
    return DoctorCheck(what, is_well=True, detail=said)


def _terminal() -> DoctorCheck:
    encoding = getattr(sys.stdout, "encoding", None) or "unknown"
    try:
        _SPECIAL.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        cure = "set PYTHONUTF8=1, or a UTF-8 locale such as LANG=C.UTF-8"
        return DoctorCheck("output", is_well=False, detail=f"{encoding} cannot write {_SPECIAL!a}", cure=cure)
    return DoctorCheck("output", is_well=True, detail=encoding)


_MACHINE: Final[tuple[tuple[str, Callable[[], DoctorCheck]], ...]] = (
    ("Python", _python),
    ("system", _system),
    ("processors", _processors),
    ("interpreter lock", _interpreter_lock),
    ("temporary directory", _temporary_directory),
    ("output", _terminal),
)


def _free_bytes(folder: str) -> int | None:
    statvfs = getattr(os, "statvfs", None)
    if statvfs is None:
        return None
    found = statvfs(folder)
    free: int = found.f_bavail * found.f_frsize
    return free


def _spelled(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


# --- Penstock and what it requires ----------------------------------------------------------------


def _engine() -> DoctorCheck:
    from penstock_cli.machine.engine import engine_words  # only when it is asked for

    return DoctorCheck("engine", is_well=True, detail=engine_words())


def _distributions(host: PluginHost) -> Iterator[DoctorCheck]:
    official = {distribution for names in official_packs().values() for distribution in names.values()}
    found = {record.distribution for record in host.records}
    ours = {"penstock", "penstock-core", "penstock-cli", *official, *found}
    for name in sorted(ours):
        yield from _distribution(name, ours, is_expected=name in found)


def _distribution(name: str, ours: Container[str], *, is_expected: bool) -> Iterator[DoctorCheck]:
    """Yield whether a distribution's requirements are met; for an absent one how to install it.

    Requirements among `ours` that are met are not mentioned: each has a check of its own.
    """
    try:
        version = importlib.metadata.version(name)
        requirements = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        if is_expected:
            yield DoctorCheck(
                name, is_well=False, detail="cannot be read", cure=f"install it again: pip install {name}"
            )
        elif name != "penstock":  # it has no code and only requires the others
            yield DoctorCheck(name, is_well=True, detail=f"not installed; pip install {name}")
        return
    except Exception as error:  # noqa: BLE001  # other projects wrote the metadata
        yield DoctorCheck(
            name,
            is_well=False,
            detail=f"cannot be read: {error}",
            cure=f"pip install --force-reinstall {name}",
        )
        return
    if name == "penstock" and not any(text.startswith("penstock-core") for text in requirements):
        detail = "another project, whose modules may have replaced the core's"
        cure = f"pip uninstall {name}; pip install --force-reinstall --no-deps penstock-core"
        yield DoctorCheck(f"{name} {version}", is_well=False, detail=detail, cure=cure)
        return
    looks = [_requirement(text) for text in requirements]
    said = [look.detail for look in looks if look.detail and (look.what not in ours or not look.is_well)]
    cure = "; ".join(look.cure for look in looks if look.cure)
    fits = all(look.is_well for look in looks)
    yield DoctorCheck(f"{name} {version}", is_well=fits, detail=", ".join(said) or "fits", cure=cure)


def _requirement(text: str) -> DoctorCheck:
    """Return whether a requirement is met, `what` its name; no detail where its marker excludes it."""
    try:
        wanted = Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            return DoctorCheck(text, is_well=True)
    except InvalidRequirement as error:
        return DoctorCheck(text, is_well=True, detail=f"{text!r} cannot be read: {error}")
    cure = f"pip install '{wanted.name}{wanted.specifier}'"
    try:
        version = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return DoctorCheck(wanted.name, is_well=False, detail=f"{wanted.name} is not installed", cure=cure)
    if not wanted.specifier.contains(version, prereleases=True):
        said = f"{wanted.name} {version}, must be {wanted.specifier}"
        return DoctorCheck(wanted.name, is_well=False, detail=said, cure=cure)
    return DoctorCheck(wanted.name, is_well=True, detail=f"{wanted.name} {version}")


# --- plugins --------------------------------------------------------------------------------------


def _plugins(host: PluginHost) -> Iterator[DoctorCheck]:
    loaded = [record.name for record in host.records if record.state == "loaded"]
    yield DoctorCheck(
        "loaded",
        is_well=bool(loaded),
        detail=", ".join(loaded) or "none",
        cure="" if loaded else FOR_MOST,
    )
    for record in host.records:
        if record.state != "loaded":
            yield _not_loaded(record)


def _not_loaded(record: Discovered) -> DoctorCheck:
    if record.state != "failed":  # the environment blocks it on purpose
        return DoctorCheck(record.name, is_well=True, detail=f"{record.state}: {record.reason}")
    cure = (
        f"repair or uninstall {record.distribution}, or keep the plugin out with "
        f"PENSTOCK_BLOCK_PLUGINS={record.name}; "
        "penstock plugins --debug shows how it failed"
    )
    return DoctorCheck(record.name, is_well=False, detail=f"failed: {record.reason}", cure=cure)


def _defaults(registry: Registry) -> Iterator[DoctorCheck]:
    for what, kind, name in _DEFAULTS:
        try:
            registry.find(kind, name)
        except PenstockError as error:
            distribution = official_packs().get(kind, {}).get(name)
            yield DoctorCheck(
                what, is_well=False, detail=str(error), cure=f"install or unblock {distribution}"
            )
        else:
            yield DoctorCheck(
                what, is_well=True, detail=f"{name} of {registry.origin(kind, name).distribution}"
            )


def _clashes(registry: Registry) -> Iterator[DoctorCheck]:
    for kind in KINDS:
        for name in registry.names(kind):
            try:
                registry.origin(kind, name)
            except NameClashError as error:
                yield DoctorCheck(
                    name, is_well=False, detail=str(error), cure="rename one, or block a plugin"
                )


def _asked(implementation: Implementation) -> list[DoctorCheck]:
    """Return a plugin's checks; a failed check where it raised or returned anything else."""
    try:
        found: Iterable[object] = implementation.call()
        checks = list(found)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # what a plugin raises is its check
        return [_broken("penstock_doctor", error)]
    return [
        check
        if isinstance(check, DoctorCheck)
        else DoctorCheck(
            "penstock_doctor",
            is_well=False,
            detail=f"returned a {type(check).__name__}, must be a penstock.DoctorCheck",
        )
        for check in checks
    ]


def _guarded(name: str, look: Callable[[], DoctorCheck]) -> DoctorCheck:
    try:
        return look()
    except Exception as error:  # noqa: BLE001  # an unusual machine must not stop the other checks
        return _broken(name, error)


def _broken(name: str, error: BaseException) -> DoctorCheck:
    return DoctorCheck(name, is_well=False, detail=f"the check failed: {type(error).__name__}: {error}")
