"""Detection of circular waits: threads that wait for one another's contexts get an error and do not hang.

Only threads that wait within a job, and so hold a context, are recorded: no thread waits for the others.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from penstock.errors import FailedPreconditionError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Held(Protocol):
    """A context that a thread can wait for."""

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def holder(self) -> int | None:
        """The thread whose job must end first, as `threading.get_ident` knows it, or None."""


#: Reentrant, since finalisers in a garbage collection may run any code.
_LOCK: Final = threading.RLock()
#: Thread → what it waits for.
_WAITS: Final[dict[int, Held]] = {}


@contextmanager
def waiting_for(context: Held) -> Iterator[None]:
    """Record, while the block runs, that this thread waits for `context`.

    Raises:
        FailedPreconditionError: the thread that holds it waits for this thread, directly or through others.
    """
    me = threading.get_ident()
    with _LOCK:
        holder = context.holder
        for _ in range(len(_WAITS) + 1):
            if holder is None:
                break
            if holder == me:
                raise FailedPreconditionError(
                    f"this thread's wait would never end: context {context.name!r} waits for this job, or "
                    "for one behind it; post it, or run it in the context that is current"
                )
            waited_for = _WAITS.get(holder)
            holder = None if waited_for is None else waited_for.holder
        before = _WAITS.get(me)
        _WAITS[me] = context
    try:
        yield
    finally:
        with _LOCK:
            if before is None:
                _WAITS.pop(me, None)
            else:
                _WAITS[me] = before
