"""Contexts whose textures, buffers, programs and fences are visible to one another."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock_gpu import gl
from penstock_gpu.contexts import native
from penstock_gpu.current import LOCAL

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Member(Protocol):
    """The part of a context that its group uses."""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or its thread has ended."""

    def post_deletion(self, delete: Callable[[], object]) -> bool:
        """Post `delete`, or return False where the context has ended. Never raises."""

    def run(self, call: Callable[[], T], timeout: float | None = None) -> T:
        """Call a function where the context is current, and return what it returns."""


class ShareGroup:
    """The contexts of one group, weakly referenced. Two contexts share if they have the same group."""

    def __init__(self) -> None:
        #: Whether it has, or had, more than one context, including the application's.
        self.is_shared = False
        self._lock = threading.Lock()
        self._members: tuple[weakref.ref[Member], ...] = ()
        self._fences: deque[int] = deque()  # to be deleted
        self._is_posted = False  # whether a job is on its way that deletes them

    def add(self, context: Member) -> None:
        """Add a context. From now on all of them make each fence at once, see `GlContext.leave_fence`."""
        with self._lock:  # the tuple is replaced, not changed, since finalisers read it at any moment
            alive = tuple(member for member in self._members if member() is not None)
            self._members = (*alive, weakref.ref(context))
            self.is_shared = self.is_shared or bool(alive)
        self._is_posted = False  # a job that a context could not run before its end is lost

    def contexts(self) -> tuple[Member, ...]:
        """Return the contexts of this pack that have not ended, the oldest first."""
        found = (member() for member in self._members)
        return tuple(context for context in found if context is not None and not context.is_closed)

    def living(self) -> Member | None:
        """Return any context of the group that has not ended, or None."""
        for member in self._members:
            context = member()
            if context is not None and not context.is_closed:
                return context
        return None

    def discard(self, delete: Callable[[], Any], first: Member | None = None) -> bool:
        """Run `delete` soon in `first`, or if that has ended in another context of the group.

        For the deletion of shared objects, from any thread and from finalisers: never raises, never blocks.
        If no context of the group is left, `delete` is dropped, since the objects are gone too.

        Returns:
            Whether a context was left.
        """
        if native.is_forked():
            return False
        if first is not None and first.post_deletion(delete):
            return True
        for member in self._members:
            context = member()
            if context is not None and context is not first and context.post_deletion(delete):
                return True
        return False

    def discard_fence(self, fence: int, first: Member) -> None:
        """Delete a fence: at once if a context of the group is current, else as `discard` does.

        One job deletes all fences that have accumulated until then.
        """
        if native.is_forked():
            return
        here = LOCAL.context
        if here is not None and here.share_group is self:
            gl.glDeleteSync(fence)
            return
        self._fences.append(fence)
        if not self._is_posted:
            self._is_posted = True
            if not self.discard(self._delete_fences, first):
                self._is_posted = False

    def _delete_fences(self) -> None:
        self._is_posted = False  # first: a fence that is added from now on posts another job
        while self._fences:
            try:
                fence = self._fences.popleft()
            except IndexError:  # another context has deleted the last one
                return
            gl.glDeleteSync(fence)
