"""Where the files are that graphs name: models and label maps. Nothing is ever downloaded.

A name is a path in the reference: "mediapipe/modules/palm_detection/palm_detection_full.tflite".
It is searched in the places that the application gives (where it gives none: in the directory of the graph
file), in the one that the variable PENSTOCK_MEDIAPIPE_MODELS names, in an installed distribution `mediapipe`
(which is not imported), in a frozen program beside and inside of the program, and is then taken as a path.
"""

from __future__ import annotations

import importlib.metadata
import os
import zipfile
from glob import glob, has_magic
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from penstock import ServiceKey
from penstock.access import EVERYTHING
from penstock.errors import InvalidArgumentError, NotFoundError, PenstockError
from penstock.lowlevel import Resources
from penstock.packs import frozen_program_folders
from penstock.runs import ServiceScope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.access import Access

#: Names a directory or a wheel; may be a pattern that one path matches.
VARIABLE: Final = "PENSTOCK_MEDIAPIPE_MODELS"
_OF_MEDIAPIPE: Final = "mediapipe/"
_CURE: Final = (
    "MediaPipe's models are in its wheel: run pip download --no-deps mediapipe==0.10.21 (with "
    f"--python-version 3.12 --only-binary :all: on Python 3.13 and later), and set {VARIABLE} to the path of "
    "the .whl file"
)


class FoundResource:
    """A file that was found. It does not change."""

    __slots__ = ("data", "name")

    def __init__(self, name: str, data: bytes) -> None:
        #: What it was searched by.
        self.name = name
        #: All its bytes.
        self.data = data

    @property
    def nbytes(self) -> int:
        """The size in bytes, for the byte accounting of queues."""
        return len(self.data)

    def __repr__(self) -> str:
        return f"<FoundResource {self.name!r}, {len(self.data)} bytes>"


class ResourceFinder:
    """Finds files by their names. Threads may share it.

    Args:
        places: directories, and wheels or other zip files, searched first and in this order.
        only_places: nothing but these places is searched: not the variable, not an installed mediapipe, and
            no path as it is. For graphs of strangers, which could name any file.
        names: further names: what graphs may say → the name that is searched in its place.

    Raises:
        InvalidArgumentError: a place does not exist, or is neither a directory nor a zip file.
    """

    def __init__(
        self,
        places: Iterable[str | os.PathLike[str]] = (),
        *,
        only_places: bool = False,
        names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        if isinstance(places, str):
            raise InvalidArgumentError(
                f"the resource finder's places are the str {places!r}; pass a list of directories and wheels"
            )
        self._places = tuple(_Place(place) for place in places)
        self._only_places = only_places
        self._names = dict(names)
        #: Whether the place is the folder of the graph file: the application has not chosen it.
        self._is_beside = False

    def __repr__(self) -> str:
        more = f", names={self._names!r}" if self._names else ""
        places = [str(place) for place in self._places]
        return f"ResourceFinder({places!r}, only_places={self._only_places}{more})"

    def resolve(self, name: str) -> str:
        """Return the name that is searched for a name: the one that `names` has for it, else the same."""
        return self._names.get(name, name)

    def find(self, name: str, access: Access = EVERYTHING) -> FoundResource:
        """Return the file of a name; the first place that has it counts.

        Args:
            name: relative, with "/" between its parts: searched in all places. An absolute name is a path.
                For a further name, `resolve` says which one is searched.
            access: of the graph: a path, and a file beside the graph file or the program, must be allowed.
                The places that the application gives, and installed models, are.

        Raises:
            NotFoundError: no place has it; the message names the places and the cure.
            PermissionDeniedError: the file is there, and may not be read.
            InvalidArgumentError: the file cannot be read, or the name is empty.
        """
        name = self.resolve(name)
        if not name or "\0" in name:
            raise InvalidArgumentError(
                f"the resource finder gets the name {name!r}, but it must name a file; change it"
            )
        searched: list[str] = []
        if not Path(name).is_absolute():
            for place in self._places:
                searched.append(repr(str(place)))
                if (data := place.read(name, access if self._is_beside else EVERYTHING)) is not None:
                    return FoundResource(name, data)
            if not self._only_places:
                data = _of_machine(name, searched, access)
                if data is not None:
                    return FoundResource(name, data)
        if not self._only_places:
            path = Path(name)
            searched.append(f"the path {str(path.absolute())!r}")
            if path.is_file():
                return FoundResource(name, _bytes_of(path, name, access))
        raise NotFoundError(
            f"the resource finder has not found {name!r}; searched: {', '.join(searched) or 'no place'}; "
            + self._cure(name)
        )

    def _cure(self, name: str) -> str:
        if self._only_places:
            return "give its directory to ResourceFinder"
        if name.startswith(_OF_MEDIAPIPE):
            return _CURE
        return (
            "put it beside the graph file, name it by an absolute path, or give its directory: "
            "graph.set_service(penstock_tensors.RESOURCES, penstock_tensors.ResourceFinder([DIRECTORY]))"
        )


def _beside(folder: str) -> ResourceFinder:
    """Return the finder of a graph file in a directory."""
    finder = ResourceFinder([folder])
    finder._is_beside = True  # noqa: SLF001  # nobody else makes such a finder
    return finder


#: The finder of a graph; the application sets its own with `graph.set_service`. A worker process gets a copy.
RESOURCES: Final[ServiceKey[ResourceFinder]] = ServiceKey(
    "penstock-tensors.resources", ResourceFinder, ServiceScope.COPY, create_beside=_beside
)


class _Place:
    """A directory, or a zip file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._root = Resources([path]) if self._path.is_dir() else None
        if self._root is None and not (self._path.is_file() and zipfile.is_zipfile(self._path)):
            what = "is neither a directory nor a zip file" if self._path.exists() else "does not exist"
            raise InvalidArgumentError(
                f"{os.fspath(path)!r} {what}, but the resource finder searches there; name a directory or a "
                "wheel"
            )

    def __str__(self) -> str:
        return str(self._path)

    def read(self, name: str, access: Access = EVERYTHING) -> bytes | None:
        """Return the bytes of a file; None where the place has no such file."""
        if self._root is None:
            with zipfile.ZipFile(self._path) as file:
                return file.read(name) if name in file.NameToInfo else None
        try:
            path = self._root.resolve(name)
        except PenstockError:  # it has no such file, or the name leads out of it
            return None
        return _bytes_of(path, name, access) if path.is_file() else None


def _of_machine(name: str, searched: list[str], access: Access) -> bytes | None:
    """Return the bytes of a file where the machine or the program has it; None where no place does."""
    data = _of_variable(name, searched)
    if data is None:
        data = _of_distribution(name, searched)
    return _of_program(name, searched, access) if data is None else data


def _of_variable(name: str, searched: list[str]) -> bytes | None:
    given = os.environ.get(VARIABLE)
    if not given:
        searched.append(f"{VARIABLE} (not set)")
        return None
    searched.append(f"{given!r} ({VARIABLE})")
    try:
        place = _Place(_matching(given))
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{VARIABLE}: {error}") from error
    return place.read(name)


def _matching(given: str) -> str:
    """Return the one path that a pattern such as "mediapipe-*.whl" matches.

    Shells expand no pattern in an assignment, so that the variable has the pattern itself.
    """
    if not has_magic(given) or Path(given).exists():
        return given
    found = sorted(glob(given))  # noqa: PTH207  # Path.glob takes no absolute pattern
    if len(found) != 1:
        what = f"matches {len(found)} files: {', '.join(found)}" if found else "matches no file"
        raise InvalidArgumentError(f"{given!r} {what}; name one directory or wheel for the resource finder")
    return found[0]


def _of_distribution(name: str, searched: list[str]) -> bytes | None:
    try:
        found = importlib.metadata.distribution("mediapipe")
    except importlib.metadata.PackageNotFoundError:
        searched.append("the distribution mediapipe (not installed)")
        return None
    searched.append(f"the distribution mediapipe {found.version}")
    path = Path(str(found.locate_file(name)))
    return _bytes_of(path, name) if ".." not in path.parts and path.is_file() else None


def _of_program(name: str, searched: list[str], access: Access) -> bytes | None:
    for folder in frozen_program_folders():
        searched.append(f"{folder!r} (of the program)")
        if (data := _Place(folder).read(name, access)) is not None:
            return data
    return None


def _bytes_of(path: Path, name: str, access: Access = EVERYTHING) -> bytes:
    try:
        with access.open(path) as file:
            return file.read()
    except OSError as error:
        raise InvalidArgumentError(f"the resource finder cannot read {name!r}: {error}") from error
