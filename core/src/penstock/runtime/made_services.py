"""The services that a graph has made itself and must close; see `penstock.services.Closes`."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PenstockError, code_of, text_of
from penstock.services import Closes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.services import ServiceKey

#: The objects that hold services; closed when the interpreter ends.
OPEN: Final[weakref.WeakSet[MadeServices]] = weakref.WeakSet()


class MadeServices:
    """The services to close, in the order in which they were made. Belongs to one graph, and outlives it."""

    def __init__(self) -> None:
        self._made: Final[list[tuple[ServiceKey[Any], Closes]]] = []

    def __bool__(self) -> bool:
        """Return whether there is anything to close."""
        return bool(self._made)

    def keep(self, made: Mapping[ServiceKey[Any], object]) -> None:
        """Remember the services that must be closed, of those that were made."""
        for key, service in made.items():
            if isinstance(service, Closes) and (key, service) not in self._made:
                self._made.append((key, service))
                OPEN.add(self)

    def items(self) -> tuple[tuple[ServiceKey[Any], object], ...]:
        """Return the services to close, each with its key."""
        return tuple(self._made)

    def close(self) -> None:
        """Close all services, each once, the last made first; if one raises, the others are closed too.

        Raises:
            PenstockError: a service failed to close: the first error, with the others as notes.
        """
        failure: PenstockError | None = None
        while True:
            try:  # `pop` is atomic: the end of the process may close them while another thread does
                key, service = self._made.pop()
            except IndexError:
                break
            try:
                service.close()
            except Exception as error:  # noqa: BLE001  # the others must close too
                said = f"service {key.name!r} failed to close: {text_of(error)}"
                if failure is None:
                    failure = PenstockError(said, code=code_of(error))
                    failure.__cause__ = error
                else:
                    failure.add_note(said)
        OPEN.discard(self)
        if failure is not None:
            raise failure
