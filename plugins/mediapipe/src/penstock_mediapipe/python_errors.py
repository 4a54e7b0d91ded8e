"""The builtin exceptions that programs for MediaPipe catch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEPT: Final = (ValueError, RuntimeError, NotImplementedError, FileNotFoundError, FileExistsError)


@contextmanager
def as_python_errors() -> Iterator[None]:
    """Raise errors that are no builtin exception which programs for MediaPipe catch as a RuntimeError."""
    try:
        yield
    except PenstockError as error:
        if isinstance(error, _KEPT):
            raise
        raise RuntimeError(str(error)) from error


@contextmanager
def as_runtime_errors() -> Iterator[None]:
    """Raise errors of Penstock as a RuntimeError: of a graph that cannot be made, MediaPipe says no more."""
    try:
        yield
    except FileNotFoundError:
        raise
    except PenstockError as error:
        if isinstance(error, RuntimeError):
            raise
        raise RuntimeError(str(error)) from error
