"""The modules of `--import` in a bundle: files and packages of one's own, which no distribution has."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENDING: Final = ".py"


class OwnCode(NamedTuple):
    """What `--import` has imported."""

    #: Files, and their paths in the bundle's folder `code`.
    files: tuple[tuple[Path, str], ...]
    #: What the bundle's run imports, in order: paths in `code`, and modules.
    imports: tuple[str, ...]
    #: Distributions that have the modules.
    distributions: frozenset[str]


def own_code(given: Iterable[str]) -> OwnCode:
    """Return what belongs to the values of `--import`, which are imported already.

    Of a file, also the files and packages beside it that it has imported. Of a module, its package; a module
    that a distribution has comes with that.
    """
    files: dict[str, Path] = {}
    imports: list[str] = []
    distributions: set[str] = set()
    owners = importlib.metadata.packages_distributions()
    for one in given:
        if one.endswith(_ENDING) or "/" in one:
            path = Path(one).resolve()
            imports.append(path.name)
            files.update(_beside(path, owners))
            continue
        top = one.partition(".")[0]
        imports.append(one)
        if top in owners:
            distributions.update(owners[top])
        else:
            files.update(_whole(top))
    return OwnCode(
        tuple((path, name) for name, path in files.items()), tuple(imports), frozenset(distributions)
    )


def _beside(path: Path, owners: object) -> Iterator[tuple[str, Path]]:
    """Yield the file, and what has been imported from its folder."""
    yield path.name, path
    assert isinstance(owners, dict)  # noqa: S101  # of the standard library
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        top = name.partition(".")[0]
        if file is None or top in owners or top == "__main__":
            continue
        place = Path(file).resolve()
        if (
            place != path
            and place.is_relative_to(path.parent)
            and place.parts[: len(path.parts)] != path.parts
        ):
            depth = name.count(".") + (place.stem == "__init__")
            if len(place.relative_to(path.parent).parts) == depth + 1:
                yield place.relative_to(path.parent).as_posix(), place


def _whole(top: str) -> Iterator[tuple[str, Path]]:
    """Yield all files of a package, or the file of a module."""
    module = sys.modules.get(top)
    places = [Path(place) for place in getattr(module, "__path__", ())]
    file = getattr(module, "__file__", None)
    if not places and file is not None:
        yield Path(file).name, Path(file)
    for place in places:
        for path in sorted(place.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield (Path(top) / path.relative_to(place)).as_posix(), path
