"""The end of contexts that are not closed: unreferenced ones, and those left when Python exits.

A driver may run threads of its own, and finalisers run anywhere. So nothing here calls GL on a thread where a
context was not current before, except for contexts without a thread, which have no other place.
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

from penstock_gpu.contexts import native
from penstock_gpu.contexts.gl_thread import GlThread

if TYPE_CHECKING:
    from collections.abc import Callable


class Closable(Protocol):
    """The part of a context that ending it uses."""

    @property
    def thread(self) -> object:
        """The `GlThread` or `LockedContext` that runs its jobs."""

    def close(self, timeout: float) -> bool:
        """End it; return whether it has ended within `timeout` seconds."""


#: How long Python's exit waits for all contexts together.
_EXIT_S: Final = 2.0

_contexts: weakref.WeakSet[Closable] = weakref.WeakSet()
_threads: weakref.WeakSet[GlThread] = weakref.WeakSet()
#: Functions that end contexts without a thread, left by finalisers; called when the next context is made.
_orphans: deque[Callable[[], object]] = deque()


def watch(context: Closable) -> None:
    """Close the context when the process exits."""
    _contexts.add(context)
    if isinstance(context.thread, GlThread):
        _threads.add(context.thread)


def leave_orphan(end: Callable[[], object]) -> None:
    """Keep the function that ends a context for later; called by a finaliser."""
    _orphans.append(end)


def end_orphans() -> None:
    """End the contexts without a thread that nothing refers to any more."""
    while _orphans:
        try:
            end = _orphans.popleft()
        except IndexError:  # another thread has taken the last one
            return
        end()


@atexit.register
def end_all() -> None:
    """End every context, and wait a moment for their threads; a busy thread is left, since it is a daemon."""
    if native.is_forked():
        return
    deadline = time.monotonic() + _EXIT_S
    for context in list(_contexts):
        context.close(timeout=0)
    end_orphans()
    for thread in list(_threads):
        thread.join(max(0.0, deadline - time.monotonic()))
