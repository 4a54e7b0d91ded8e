"""`penstock new pack`: writes a distribution with a calculator of each form and tests, ready to run.

The files are those of `pack_template` with the names filled in. Either all of them are written or none.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import tempfile
from email.utils import parseaddr
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Final

import click

import penstock
from penstock_cli.failures import FileMissing, WrongUsage
from penstock_cli.machine.clone import missing_from_clone
from penstock_cli.machine.environment import (
    build_command,
    is_in_uv_run,
    is_of_uv,
    pip_command,
    program,
    uv_command,
)
from penstock_cli.packs.pack_names import pack_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

    from penstock_cli.packs.pack_names import PackNames

_SUFFIX: Final = ".template"
#: What a new pack and its tests require of Penstock.
_REQUIRED: Final = (
    "penstock-core",
    "penstock-testing",
    "penstock-executors",
    "penstock-stream-handlers",
)
#: The directory of the template that gets the name of the package.
_PACKAGE: Final = "package"


def write_pack(name: str, directory: Path | None, description: str | None, author: str | None) -> None:
    """Write a new pack, and print the next steps.

    Args:
        name: of the pack, with or without "penstock-".
        directory: where its pyproject.toml goes; None for a new directory here with the distribution's
            name. It may exist already if it has no file or directory that the pack writes.
        description: one line; None for a default one.
        author: "Name" or "Name <address>"; None to leave the author out.

    Raises:
        click.ClickException: a name or line is not valid, a file exists already, or the directory cannot
            be made. Nothing is written.
    """
    names = pack_names(name)
    words = _words(names, description, author)
    target = Path(names.distribution) if directory is None else directory
    _place(dict(_filled(words, names.package)), target)
    click.echo(f"{target} is a pack: a calculator as a class, one as a function, a subgraph, their tests")
    _print_next_steps(names, target)


def _print_next_steps(names: PackNames, target: Path) -> None:
    """Print commands that work in the environment of this process, from this directory."""
    where = str(target) if target.is_absolute() else f".{os.sep}{target}"
    click.echo("\ngo on with")
    click.echo(f"  {pip_command('install', *missing_from_clone(_REQUIRED), '-e', f'{where}[testing]')}")
    click.echo(f"  {program('pytest')} {shlex.quote(str(target))}")
    click.echo(f"  {program('penstock')} validate-pack {names.plugin}")
    click.echo("\nbuild its wheel, uninstall it")
    click.echo(f"  {build_command(where)}")
    click.echo(f"  # it is in {target / 'dist'}; others install it with: pip install FILE.whl")
    click.echo(f"  {pip_command('uninstall', names.distribution)}")
    if is_of_uv():
        click.echo("\n`uv sync` uninstalls it too; `uv sync --inexact` does not")
    if is_in_uv_run():
        click.echo("in a uv project of your own, this makes it a requirement")
        click.echo(f"  {uv_command('add', '--editable', f'{where}[testing]')}")


def core_range(version: str) -> str:
    """Return the range of core versions that a pack written with this one requires: "0.1.3": ">=0.1,<0.2"."""
    major, minor = version.split(".")[:2]
    return f">={major}.{minor},<{major}.{int(minor) + 1}"


def _words(names: PackNames, description: str | None, author: str | None) -> dict[str, str]:
    """Return the values of the template's placeholders."""
    said = _one_line("description", description or f"Calculators for Penstock: {names.plugin}.")
    return {
        "plugin": names.plugin,
        "distribution": names.distribution,
        "package": names.package,
        "camel": names.camel,
        "core": core_range(penstock.__version__),
        "description": said,
        "description_quoted": _quoted(said),
        "authors": "" if author is None else f"authors = [{_author(_one_line('author', author))}]\n",
    }


def _one_line(what: str, text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise WrongUsage(f"the new pack's {what} {text!r}: must be one line of text")
    return text.strip()


def _quoted(text: str) -> str:
    """Return printable text as a TOML string; for such text it has the same form as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def _author(author: str) -> str:
    """Return an author as a TOML table."""
    if "<" not in author:
        return f"{{ name = {_quoted(author)} }}"
    name, address = parseaddr(author)
    if not name or "@" not in address:
        raise WrongUsage(f"the new pack's author {author!r}: must be 'Name' or 'Name <address@host>'")
    return f"{{ name = {_quoted(name)}, email = {_quoted(address)} }}"


def _filled(words: Mapping[str, str], package: str) -> Iterator[tuple[Path, str]]:
    """Yield the relative path and the text of each file."""
    for parts, file in _files(resources.files("penstock_cli").joinpath("pack_template"), ()):
        place = Path(*(package if part == _PACKAGE else part for part in parts))
        yield place, Template(file.read_text(encoding="utf-8")).substitute(words)


def _files(folder: Traversable, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, (*above, entry.name))
        elif entry.name.endswith(_SUFFIX):
            yield (*above, entry.name.removesuffix(_SUFFIX)), entry


def _place(files: Mapping[Path, str], target: Path) -> None:
    """Write files under a directory, through a temporary one that is renamed or whose entries are moved.

    Raises:
        click.ClickException: an entry exists already, or the directory cannot be made. Nothing is written.
    """
    entries = sorted({path.parts[0] for path in files})
    _check_room(target, entries)
    beside = target if target.exists() else target.absolute().parent
    with _room(beside) as temporary:
        made = Path(temporary) / "pack"
        for path, text in files.items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, encoding="utf-8", newline="\n")
        if target.exists():
            _move(made, target, entries)
        else:
            made.rename(target)


def _room(beside: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix=".penstock-new-", dir=beside)
    except OSError as error:
        raise FileMissing(
            f"the new pack's directory {str(beside)!r} cannot be written to: {error.strerror}; name another "
            "one with --directory"
        ) from error


def _check_room(target: Path, entries: list[str]) -> None:
    if target.exists() and not target.is_dir():
        raise WrongUsage(f"{str(target)!r} is a file; name a directory for the new pack with --directory")
    in_the_way = [target / entry for entry in entries if os.path.lexists(target / entry)]
    if in_the_way:
        raise WrongUsage(
            f"{str(in_the_way[0])!r} exists already, and the new pack does not overwrite it; move it away, "
            "or name another directory with --directory"
        )
    parent = target.absolute().parent
    if not parent.is_dir():
        raise FileMissing(f"the directory {str(parent)!r} for the new pack does not exist; make it first")


def _move(made: Path, target: Path, entries: list[str]) -> None:
    """Move entries into a directory; if one cannot be moved, remove the others again."""
    moved = []
    try:
        for entry in entries:
            (made / entry).rename(target / entry)
            moved.append(target / entry)
    except BaseException:
        for path in moved:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        raise
