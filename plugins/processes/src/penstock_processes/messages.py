"""What a driver and a worker say to each other: kinds of messages, and errors as data."""

from __future__ import annotations

import pickle
import traceback
from typing import Final

from penstock.errors import PenstockError

# Kinds of messages. From the driver; the number says which node, or which call.
MAKE: Final = 0
CALL: Final = 1
# From the worker; the number is that of the call.
READY: Final = 2
ANSWER: Final = 3
ERROR: Final = 4
LOG: Final = 5

#: On the control socket, from the driver: cancel a call, or end. The end of the socket means end too.
CANCEL: Final = b"c"
END: Final = b"e"


class RemoteError(PenstockError):
    """An exception of another process that cannot be made here; its type and text are in the message."""


class WorkerTraceback(Exception):  # noqa: N818  # no error of its own: the place of another
    """The traceback of another process, as the `__cause__` of the exception that came from there."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text: Final = text

    def __str__(self) -> str:
        return f"\n\nin the worker process:\n{self.text}"


def error_as_data(error: BaseException, *, is_plain: bool) -> tuple[bytes | None, str, str]:
    """Return an exception as data: pickled, or None where that cannot be; type and text; the traceback."""
    words = f"{type(error).__name__}: {error}"
    text = "".join(traceback.format_exception(error))
    if is_plain:
        return None, words, text
    try:
        pickled = pickle.dumps(error)
        pickle.loads(pickled)  # noqa: S301  # just made; many exceptions cannot be read back
    except Exception:  # noqa: BLE001  # whatever its class does
        return None, words, text
    return pickled, words, text


def error_from_data(data: tuple[bytes | None, str, str], *, is_plain: bool) -> BaseException:
    """Return the exception that came as data, with the traceback of its process as its cause."""
    pickled, words, text = data
    error: BaseException = RemoteError(words)
    if pickled is not None and not is_plain:
        try:
            found = pickle.loads(pickled)  # noqa: S301  # from a process that we have started
        except Exception:  # noqa: BLE001  # its class may not be here
            found = None
        if isinstance(found, BaseException):
            error = found
    error.__cause__ = WorkerTraceback(text)
    return error


def cannot_move(payload: object) -> str | None:
    """Return why a payload cannot go to another process, and what to do; None if it can."""
    try:
        pickle.dumps(payload, protocol=5)
    except Exception as error:  # noqa: BLE001  # whatever its class does
        return (
            f"a {type(payload).__name__!r} cannot go to another process ({error}); keep the node local or "
            "give the type `__reduce__`"
        )
    return None
