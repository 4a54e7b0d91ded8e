"""Starts threads where the system may refuse: each process has a limit, and a container often a low one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import ResourceExhaustedError

if TYPE_CHECKING:
    import threading


def start(thread: threading.Thread, purpose: str) -> None:
    """Start a thread.

    Args:
        thread: not started.
        purpose: what cannot be done without it, for the error.

    Raises:
        ResourceExhaustedError: the system starts no more threads for this process.
    """
    try:
        thread.start()
    except RuntimeError as error:
        if interrupt := interrupt_in(error):
            raise interrupt from None
        raise ResourceExhaustedError(
            f"no thread can be started {purpose}: {error}; the system limits the threads and the memory of "
            "this process"
        ) from error


def has_started(thread: threading.Thread) -> bool:
    """Start a thread; return whether the system did. For work that can wait or be left out."""
    try:
        thread.start()
    except RuntimeError as error:
        if interrupt := interrupt_in(error):
            raise interrupt from None
        return False
    return True


def interrupt_in(error: RuntimeError) -> BaseException | None:
    """Return the interrupt that the start of a thread failed with; None where the system refused the thread.

    `Thread.start` waits for the thread by a condition. Where an interrupt comes between two steps of that
    wait, the lock is not held when it is released: a RuntimeError says so, and hides the interrupt.
    """
    hidden = error.__context__
    is_interrupt = hidden is not None and not isinstance(hidden, Exception)
    return hidden if is_interrupt and "start new thread" not in str(error) else None
