"""The metadata of a pack's distribution, as pip installed it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.errors import NotFoundError
from penstock_testing.packs.report import PackFault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import Distribution

    from penstock.packs import Discovered

_PREFIX: Final = "penstock-"
_CORE: Final = "penstock-core"
#: The distribution that requires the core and all standard packs.
WHOLE: Final = "penstock"
#: Name, extras, versions and marker of a requirement. Source: PEP 508, without its URLs.
_REQUIREMENT: Final = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;)]*)\)?\s*(?:;(?P<marker>.*))?"
)
_UPPER: Final = re.compile(r"<|==|~=")


def installed_distribution(name: str) -> Distribution:
    """Return the metadata of a distribution: of the one that imports come from, where there are two.

    Raises:
        NotFoundError: it is not installed.
    """
    try:
        return importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError as error:
        raise NotFoundError(
            f"there is no metadata of distribution {name!r}, which is not installed; pip install {name}"
        ) from error


def canonical(distribution: str) -> str:
    """Return a distribution's name in the one spelling that pip compares (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def requirements(distribution: Distribution) -> dict[str, str]:
    """Return canonical name → versions ("<0.2,>=0.1", or "") of what a distribution itself requires."""
    found = {}
    for line in distribution.requires or ():
        read = _REQUIREMENT.fullmatch(line)
        if read is not None and "extra" not in (read["marker"] or ""):
            found[canonical(read["name"])] = read["versions"].strip()
    return found


def check_metadata(record: Discovered, distribution: Distribution) -> Iterator[PackFault]:
    """Yield what is wrong with the name, the requirements and the files of a distribution."""
    subject = f"distribution {record.distribution!r}"
    yield from _check_names(record, subject)
    yield from _check_requirements(requirements(distribution), subject)
    metadata = distribution.metadata
    if "Requires-Python" not in metadata:
        yield PackFault(
            subject,
            "its metadata says no Python version; add requires-python to its pyproject.toml",
            is_warning=True,
        )
    if not str(metadata.json.get("description") or "").strip():
        yield PackFault(
            subject,
            "its metadata has no description; name its README.md as readme in its pyproject.toml",
            is_warning=True,
        )
    root = record.module.partition(":")[0].partition(".")[0]
    if not _is_typed(root):
        yield PackFault(
            subject,
            f"package {root!r} has no file py.typed: type checkers ignore its annotations; add an empty one",
            is_warning=True,
        )


def _check_names(record: Discovered, subject: str) -> Iterator[PackFault]:
    name = canonical(record.distribution)
    package = canonical(
        record.module.partition(".")[0]
    )  # a distribution may have several, each with a plugin
    if not name.startswith(_PREFIX):
        yield PackFault(
            subject,
            f"packs are found by the prefix in their metadata; name it {_PREFIX + name!r}",
            is_warning=True,
        )
    elif record.name not in {name.removeprefix(_PREFIX), package.removeprefix(_PREFIX)}:
        yield PackFault(
            f"plugin {record.name!r}",
            f"people guess it from the distribution; name the entry point {name.removeprefix(_PREFIX)!r}",
            is_warning=True,
        )


def _check_requirements(required: Mapping[str, str], subject: str) -> Iterator[PackFault]:
    core = next((name for name in (_CORE, WHOLE) if name in required), None)
    if core is None:
        yield PackFault(
            subject,
            f"its metadata does not require {_CORE!r}, which its plugin module imports; add it to its "
            "dependencies",
        )
    elif not _UPPER.search(required[core]):
        given = required[core] or "any version"
        yield PackFault(
            subject,
            f"its metadata requires {given} of {core!r}, so that a later one which it has not met may break "
            "it; add an upper bound, as in '>=0.1,<0.2'",
            is_warning=True,
        )


def _is_typed(package: str) -> bool:
    found = importlib.util.find_spec(package)
    places = (found.submodule_search_locations if found is not None else None) or ()
    return any((Path(place) / "py.typed").is_file() for place in places)
