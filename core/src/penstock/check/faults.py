"""The faults of a graph, collected while it is checked and raised together, in file order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import (
    FailedPreconditionError,
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
    StatusCode,
)
from penstock.limits import current

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.check.protocols import Places

_CLASS_OF: Final = {
    StatusCode.INVALID_ARGUMENT: InvalidArgumentError,
    StatusCode.NOT_FOUND: NotFoundError,
    StatusCode.FAILED_PRECONDITION: FailedPreconditionError,
}
#: How many faults end the checking: copies of one subgraph could have one each, of a thousand characters.
_MOST: Final = 1000


class Faults:
    """Collects faults in any order. Each message begins with the place in the file.

    The last of a thousand raises them all, and so does each that comes after it: what foreign code raises is
    caught around these methods too, and becomes one more fault.
    """

    def __init__(self, places: Places, unread: Iterable[tuple[int, PenstockError, int]] = ()) -> None:
        """Begin with options that could not be read, if there are any: place, why, and place of the node."""
        self._places = places
        self._found: list[tuple[int, PenstockError]] = [(at, error) for at, error, _ in unread]
        #: The places of nodes whose options could not be read.
        self.unread = {node for _, _, node in unread}
        #: What ended the checking.
        self._ended_by: PenstockError | None = None

    def add(  # noqa: PLR0913  # the fields of an error
        self,
        at: int,
        words: str,
        *,
        code: StatusCode = StatusCode.UNKNOWN,
        node: str | None = None,
        stream: str | None = None,
        cause: BaseException | None = None,
    ) -> None:
        """Note a fault at a place."""
        message = f"{self._places.where(at)}{words}"
        kind = _CLASS_OF.get(code, PenstockError)
        error = kind(message, code=code, node=node, stream=stream)
        error.__cause__ = cause
        self._note(at, error)

    def add_error(self, at: int, who: str, error: PenstockError, *, node: str | None = None) -> None:
        """Note an error that was raised elsewhere at a place. The fault has the class of the error.

        Args:
            at: the place.
            who: what the message begins with after the place: "node 'a': ", or "".
            error: becomes the cause.
            node: the node concerned.
        """
        found = error.placed(f"{self._places.where(at)}{who}")
        found.node = node
        found.__cause__ = error
        self._note(at, found)

    def raise_any(self) -> None:
        """Raise all faults as one.

        Raises:
            GraphParseError: it is the only one.
            GraphConfigError: there are others.
        """
        if self._found:
            self._found.sort(key=lambda fault: fault[0])  # stable: at one place in the order of finding
            only = self._found[0][1]
            if len(self._found) == 1 and isinstance(only, GraphParseError):
                raise only
            found = [error for _, error in self._found]
            raise GraphConfigError(found, file=self._places.file, most=current().faults)

    def _note(self, at: int, error: PenstockError) -> None:
        if self._ended_by is not None:
            raise self._ended_by
        error.file, error.line, error.column = self._places.parts(at)
        self._found.append((at, error))
        if len(self._found) >= _MOST:
            try:
                self.raise_any()
            except PenstockError as all_of_them:
                self._ended_by = all_of_them
                raise


def cause_words(error: BaseException) -> str:
    """Return the words by which a message quotes an exception of foreign code."""
    return str(error) if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}"
