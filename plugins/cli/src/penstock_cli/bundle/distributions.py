"""Which installed distributions a bundle takes along: some, and what their metadata says these require."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from penstock_cli.failures import RunFailed, WrongUsage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Extras that are for the authors of a distribution.
_FOR_AUTHORS: Final = frozenset({"dev", "develop", "doc", "docs", "lint", "test", "testing", "tests"})


def closure(
    packs: Iterable[str], more: Iterable[str] = (), without: Iterable[str] = ()
) -> dict[str, importlib.metadata.Distribution]:
    """Return name → distribution of some and of all that they require, by name.

    Args:
        packs: of these the extras too whose requirements are all installed, such as a runtime of models.
        more: requirements that come along too, such as "penstock-monitor[prometheus]".
        without: names that do not come along, nor what only these require.

    Raises:
        RunFailed: one is required and not installed.
        WrongUsage: one of `more` is no requirement, or is not installed; or nothing of `without` was to come.
    """
    left_out: set[str] = {canonicalize_name(name) for name in without}
    walk = _Walk(left_out)
    for name in sorted(packs):
        walk.add(name, _installed_extras(name), "the graph")
    for text in more:
        try:
            wanted = Requirement(text)
        except InvalidRequirement as error:
            words = str(error).splitlines()[0]
            raise WrongUsage(
                f"--with {text}: {words}; write the name of a distribution, such as NAME or NAME[EXTRA]"
            ) from error
        if _found(wanted.name) is None:
            raise WrongUsage(
                f"--with {text}: distribution {wanted.name!r} is not installed; install it first"
            )
        walk.add(wanted.name, wanted.extras, f"--with {text}")
    for name in sorted(left_out - walk.met):
        raise WrongUsage(f"--without {name}: no distribution requires it; leave the option out")
    return dict(sorted(walk.found.items()))


class _Walk:
    """A walk over requirements."""

    def __init__(self, left_out: set[str]) -> None:
        self.found: Final[dict[str, importlib.metadata.Distribution]] = {}
        #: Those left out that something requires.
        self.met: Final[set[str]] = set()
        self._left_out: Final = left_out
        self._done: Final[set[tuple[str, str]]] = set()

    def add(self, name: str, extras: Iterable[str], asker: str) -> None:
        """Add a distribution with some of its extras, and what they require."""
        key = canonicalize_name(name)
        if key in self._left_out:
            self.met.add(key)
            return
        one = _found(name)
        if one is None:
            raise RunFailed(
                f"{asker} requires the distribution {name!r}, which is not installed; install it, then "
                "bundle again"
            )
        self.found[key] = one
        for extra in ("", *sorted(extras)):
            if (key, extra) not in self._done:
                self._done.add((key, extra))
                for wanted in _requirements(one, extra):
                    self.add(wanted.name, wanted.extras, str(one.metadata["Name"]))


def _found(name: str) -> importlib.metadata.Distribution | None:
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _requirements(one: importlib.metadata.Distribution, extra: str) -> Iterator[Requirement]:
    """Yield what a distribution requires here: without an extra, or only for one."""
    for line in one.requires or ():
        wanted = Requirement(line)
        is_always = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if is_always if not extra else (not is_always and wanted.marker.evaluate({"extra": extra})):  # type: ignore[union-attr]
            yield wanted


def _installed_extras(name: str) -> list[str]:
    """Return the extras of a distribution whose requirements are all installed, but for extras of authors."""
    one = _found(name)
    if one is None:
        return []
    extras = [extra for extra in one.metadata.get_all("Provides-Extra") or () if extra not in _FOR_AUTHORS]
    return [extra for extra in extras if _is_complete(one, extra, set())]


def _is_complete(one: importlib.metadata.Distribution, extra: str, seen: set[tuple[str, str]]) -> bool:
    """Return whether all that an extra requires is installed, and all that it requires of their extras."""
    seen.add((canonicalize_name(one.metadata["Name"]), extra))
    for wanted in _requirements(one, extra):
        other = _found(wanted.name)
        if other is None:
            return False
        key = canonicalize_name(wanted.name)
        if not all(_is_complete(other, inner, seen) for inner in wanted.extras if (key, inner) not in seen):
            return False
    return True
