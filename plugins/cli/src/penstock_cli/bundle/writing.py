"""Writes a bundle: a folder, or an archive that Python runs. It is there as a whole, or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import sysconfig
import tempfile
import zipapp
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import penstock
from penstock.errors import NotFoundError
from penstock.packs import pack_files
from penstock_cli.failures import FileMissing, RunFailed, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock_cli.bundle.needs import Needs

ARCHIVE: Final = ".pyz"
ABOUT: Final = "bundle.json"
LOCK: Final = "requirements.lock"
_INTERPRETER: Final = "/usr/bin/env python3"


def check_target(out: Path, *, force: bool) -> None:
    """Refuse a place where no bundle may be written.

    Raises:
        WrongUsage: something is there, and may not be replaced: without `force` anything, else a folder that
            is no bundle.
        FileMissing: the folder around it is not there.
    """
    if not out.absolute().parent.is_dir():
        raise FileMissing(
            f"the bundle cannot be written: its folder {str(out.parent)!r} does not exist; make it first"
        )
    if not out.exists():
        return
    if not force:
        raise WrongUsage(f"the bundle is not written: {str(out)!r} exists; --force writes it there")
    is_archive = out.suffix == ARCHIVE
    if is_archive and not out.is_file():
        raise WrongUsage(f"{str(out)!r} is a folder, and a bundle cannot be written in its place")
    if not is_archive and not (out / ABOUT).is_file():
        raise WrongUsage(
            f"{str(out)!r} is no bundle: it has no {ABOUT}; remove it yourself, or take another name"
        )


def write_bundle(  # noqa: PLR0913, PLR0917  # the parts of a bundle
    out: Path,
    graph: Path,
    needs: Needs,
    distributions: Mapping[str, Any],
    code: Iterable[tuple[Path, str]],
    imports: Iterable[str],
) -> int:
    """Write a bundle, and return its size in bytes. What was there before is replaced at the end.

    Args:
        out: a folder to make; or an archive, where the name ends with ".pyz".
        graph: the graph file.
        needs: of the graph.
        distributions: name → distribution; are copied.
        code: Python files, and their paths in the bundle's folder `code`.
        imports: what the run imports: modules, and paths in `code`.

    Raises:
        RunFailed: a distribution cannot be copied.
        FileMissing: the bundle cannot be written.
    """
    place = out.absolute()
    try:
        partial = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    except OSError as error:
        raise _refused(out, error) from error
    try:
        root = partial / "bundle"
        root.mkdir()
        subgraphs = _fill(root, graph, needs, distributions, code)
        _describe(root, out, graph, needs, distributions, subgraphs, imports)
        made = root
        if place.suffix == ARCHIVE:
            made = partial / place.name
            zipapp.create_archive(root, made, interpreter=_INTERPRETER, compressed=True)
        _put(made, place, partial)
        return sum(file.stat().st_size for file in [place, *place.rglob("*")] if file.is_file())
    except OSError as error:
        raise _refused(out, error) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _put(made: Path, place: Path, partial: Path) -> None:
    """Move what was made to its place; what was there is moved away before, and comes back if that fails."""
    if not place.is_dir():
        made.replace(place)
        return
    old = partial / "old"
    place.rename(old)
    try:
        made.rename(place)
    except BaseException:
        old.rename(place)
        raise


def _fill(
    root: Path, graph: Path, needs: Needs, distributions: Mapping[str, Any], code: Iterable[tuple[Path, str]]
) -> dict[str, str]:
    """Copy all files; return name → file of the subgraphs, below the bundle's folder `graph`."""
    _copy(Path(__file__).with_name("program.py"), root / "__main__.py")
    (root / "site").mkdir()
    for name in distributions:
        try:
            for file, inside in pack_files(name):
                _copy(file, root / "site" / inside)
        except NotFoundError as error:
            raise RunFailed(str(error)) from error
    _copy(graph, root / "graph" / graph.name)
    subgraphs = {}
    for name, file in needs.subgraphs.items():
        subgraphs[name] = f"subgraphs/{name}{file.suffix}"
        _copy(file, root / "graph" / subgraphs[name])
    for name, data in needs.models.items():
        model = root / "graph" / PurePosixPath(name)
        model.parent.mkdir(parents=True, exist_ok=True)
        model.write_bytes(data)
    for file, inside in code:
        _copy(file, root / "code" / inside)
    return subgraphs


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, target)
    if file.stat().st_mode & 0o111:
        target.chmod(0o755)


def _describe(  # noqa: PLR0913, PLR0917  # what there is to tell
    root: Path,
    out: Path,
    graph: Path,
    needs: Needs,
    distributions: Mapping[str, Any],
    subgraphs: Mapping[str, str],
    imports: Iterable[str],
) -> None:
    """Write what the bundle is: for its program, and the versions of all that is in it."""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    platform = sysconfig.get_platform()
    locked = [f"{name}=={one.version}" for name, one in distributions.items()]
    head = f"# {sys.implementation.name} {python} on {platform}\n"
    (root / LOCK).write_text(head + "".join(f"{line}\n" for line in locked), encoding="utf-8")
    about = {
        "name": out.name.removesuffix(ARCHIVE),
        "graph": graph.name,
        "subgraphs": dict(subgraphs),
        "imports": list(imports),
        "models": sorted(needs.models),
        "implementation": sys.implementation.name,
        "python": python,
        "platform": platform,
        "penstock": penstock.__version__,
        "digest": _digest(root),
    }
    (root / ABOUT).write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _digest(root: Path) -> str:
    """Return a hash of the names and contents of all files."""
    found = hashlib.sha256()
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        found.update(f"{file.relative_to(root).as_posix()}\0{file.stat().st_size}\0".encode())
        found.update(file.read_bytes())
    return found.hexdigest()


def _refused(out: Path, error: OSError) -> FileMissing:
    return FileMissing(f"the bundle {str(out)!r} cannot be written: {error.strerror or error}")
