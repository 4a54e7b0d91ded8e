"""`penstock validate-pack`: prints the findings of `penstock_testing.check_pack`."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from packaging.utils import canonicalize_name, canonicalize_version

from penstock.errors import InvalidArgumentError, NotFoundError
from penstock.plugins.default_registry import default_plugin_host
from penstock_cli.failures import FileMissing, RunFailed, WrongUsage
from penstock_cli.machine.environment import in_this_environment, pip_command
from penstock_cli.wording import duration, plural
from penstock_testing.packs import PackFault, check_pack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock_testing.packs import PackReport

_PROJECT: Final = "pyproject.toml"


@attrs.frozen
class _Declared:
    """The declarations of a pack's pyproject.toml; None where the build computes the value."""

    path: Path
    distribution: str | None
    version: str | None
    plugins: dict[str, str]


def validate(name_or_path: str | None, *, as_json: bool) -> None:
    """Check a pack, and print the findings.

    Args:
        name_or_path: of the plugin or its distribution; or the directory of the pack, which must be
            installed from there; None for the current directory.
        as_json: whether to print a list of objects, with the fields of `PackReport`.

    Raises:
        click.ClickException: the pack has faults; or there is no such pack, or it is not installed.
    """
    declared = _declared(name_or_path)
    names = [str(name_or_path)] if declared is None else list(declared.plugins)
    with _progress() as tell:
        reports = [_checked(name, declared, tell) for name in names]
    if as_json:
        click.echo(json.dumps([report.as_dict() for report in reports], indent=2))
    else:
        for report in reports:
            _print(report)
    faults = sum(len(report.errors) for report in reports)
    if faults:
        raise RunFailed(
            f"{plural(faults, 'fault')} in {', '.join(report.distribution for report in reports)}"
        )


def _declared(name_or_path: str | None) -> _Declared | None:
    """Return the declarations of the pack's directory, or None if a name was given.

    A directory with a pyproject.toml is preferred to a plugin of the same name.
    """
    path = Path(name_or_path or ".")
    if path.name == _PROJECT:
        path = path.parent
    if (path / _PROJECT).is_file():
        return _read(path / _PROJECT)
    if name_or_path is None:
        raise WrongUsage(f"there is no {_PROJECT} here; give the name of an installed pack, or its directory")
    if path.is_dir():
        raise FileMissing(
            f"penstock validate-pack needs a pack's project directory, but {name_or_path!r} has no "
            f"{_PROJECT}; give that directory"
        )
    if "/" in name_or_path or os.sep in name_or_path:
        raise FileMissing(f"penstock validate-pack finds no directory {name_or_path!r}; check the path")
    return None


def _read(path: Path) -> _Declared:
    try:
        read: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FileMissing(f"{str(path)!r} cannot be read: {error}") from error
    project = _table(read, "project")
    plugins = _table(_table(project, "entry-points"), "penstock")
    if not plugins:
        raise RunFailed(
            "penstock validate-pack finds no entry point of the group 'penstock', by which packs are found, "
            f"in {str(path)!r}; add [project.entry-points.penstock] with a line such as my-pack = "
            '"penstock_my_pack.plugin"'
        )
    return _Declared(path, project.get("name"), project.get("version"), plugins)


def _table(of: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table in a table; an empty one if the key is missing or is not a table."""
    found = of.get(key)
    return found if isinstance(found, dict) else {}


def _checked(name: str, declared: _Declared | None, tell: Callable[[str], object]) -> PackReport:
    try:
        report = check_pack(name, host=default_plugin_host(), progress=tell)
    except NotFoundError as error:
        if declared is None:
            raise WrongUsage(str(error)) from error
        raise WrongUsage(
            f"penstock validate-pack checks installed packs, and plugin {name!r} of {str(declared.path)!r} "
            f"is not installed here; {_how_to_install(declared)}"
        ) from error
    except InvalidArgumentError as error:
        raise WrongUsage(str(error)) from error
    stale = None if declared is None else _stale(report, declared)
    return report if stale is None else attrs.evolve(report, faults=(stale, *report.faults))


def _stale(report: PackReport, declared: _Declared) -> PackFault | None:
    """Return a fault if the installed pack differs from what the directory declares."""
    for what, said, found in (
        ("distribution", declared.distribution, report.distribution),
        ("version", declared.version, report.version),
        ("entry point", declared.plugins[report.plugin], report.module),
    ):
        if said is not None and _spelt(what, said) != _spelt(what, found):
            return PackFault(
                f"plugin {report.plugin!r}",
                f"the {what} to validate is {said!r} in {str(declared.path)!r}, but that of the installed "
                f"pack is {found!r}; install it again: {_how_to_install(declared)}",
            )
    return None


def _spelt(what: str, word: str) -> str:
    """Return a name or version in its canonical spelling; builds may change the spelling."""
    if what == "distribution":
        return canonicalize_name(word)
    return canonicalize_version(word) if what == "version" else word


def _how_to_install(declared: _Declared) -> str:
    return pip_command("install", "-e", str(declared.path.parent))


def _print(report: PackReport) -> None:
    provides = ", ".join(plural(count, kind) for kind, count in report.components.items()) or "no component"
    took = "" if report.loading_ms is None else f", loaded in {duration(report.loading_ms / 1000)}"
    click.echo(f"{report.distribution} {report.version}, plugin {report.plugin!r}{took}")
    for fault in report.faults:
        said = in_this_environment(str(fault))
        click.echo(f"  {'warning' if fault.is_warning else 'fault'}: {said}")
    errors, warnings = plural(len(report.errors), "fault"), plural(len(report.warnings), "warning")
    click.echo(f"{provides}: {f'{errors}, {warnings}' if report.faults else 'fine'}")


@contextmanager
def _progress() -> Iterator[Callable[[str], object]]:
    """Show the current check on a terminal, on one line that is removed at the end."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # rich takes longer to import than all the rest
    from rich.text import Text  # names are not markup

    with Console(stderr=True).status("looking for the pack") as status:
        yield lambda words: status.update(Text(words))
