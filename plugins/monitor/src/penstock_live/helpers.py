"""Threads for what may wait, beside an event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

from penstock.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Helpers:
    """A few threads that an event loop hands calls to.

    Args:
        threads: how many calls at once.
        name: what the names of the threads begin with.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._pool: Final = ThreadPoolExecutor(threads, name)

    def call(self, function: Callable[[], T]) -> asyncio.Future[T]:
        """Return what a call will return.

        Raises:
            UnavailableError: `close` was called, or the interpreter ends.
        """
        try:
            return asyncio.get_running_loop().run_in_executor(self._pool, function)
        except RuntimeError as error:  # of the pool: it takes no more
            raise UnavailableError(
                "the server is being closed, and its helper threads take no more calls"
            ) from error

    def close(self, *, waits: bool = False) -> None:
        """Take no more calls. Those that wait are dropped, those under way end by themselves.

        Args:
            waits: return when the threads have ended.
        """
        self._pool.shutdown(wait=waits, cancel_futures=True)
