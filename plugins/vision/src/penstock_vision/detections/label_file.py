"""A text file with one label in each line, found as models are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock import ServiceKey
from penstock.access import EVERYTHING
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.runs import ServiceScope

if TYPE_CHECKING:
    from penstock.access import Access


class Finder(Protocol):
    """What finds files by their names."""

    def find(self, name: str, access: Access) -> Any:
        """Return an object that has the bytes of the file as `data`."""


def _finder_module() -> Any:
    try:
        return import_module("penstock_tensors.models.resource_finder")
    except ImportError as error:
        raise FailedPreconditionError(
            "an option names a label file, but penstock-tensors, which finds files of models, is not "
            "installed; run pip install penstock-tensors"
        ) from error


def _usual_finder() -> Finder:
    finder: Finder = _finder_module().RESOURCES.create()
    return finder


def _finder_beside(folder: str) -> Finder:
    finder: Finder = _finder_module().RESOURCES.create_beside(folder)
    return finder


#: The service of penstock-tensors: it finds models and their files. Keys are equal by their names.
RESOURCES: Final[ServiceKey[Finder]] = ServiceKey(
    "penstock-tensors.resources", _usual_finder, ServiceScope.COPY, create_beside=_finder_beside
)


def labels_of(finder: Finder, path: str, access: Access = EVERYTHING) -> list[str]:
    """Return the labels of a file, without an empty last line.

    Raises:
        InvalidArgumentError: the file is empty or no UTF-8.
        NotFoundError: no place has it.
        PermissionDeniedError: the graph may not read it.
    """
    data: bytes = finder.find(path, access).data
    try:
        lines = data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"the file {path!r} is no text in UTF-8: {error}; give another one"
        ) from error
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise InvalidArgumentError(
            f"the file {path!r} is empty, but has one label in each line; give another one"
        )
    return lines
