"""Fences: points in a context's commands that other contexts and the CPU can wait for."""

from __future__ import annotations

import _thread
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.errors import FailedPreconditionError, WaitTimeoutError
from penstock_gpu import egl, gl, gl_library
from penstock_gpu.contexts.gl_thread import acquire
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.contexts.share_group import Member, ShareGroup

#: The only time-out that glWaitSync takes.
TIMEOUT_IGNORED: Final = gl_library.TIMEOUT_IGNORED
_NANOSECONDS: Final = 1e9
#: How long, beyond its time-out, a wait may stay queued in its context.
_GRACE_S: Final = 5.0


if TYPE_CHECKING:

    class Fenced(Member, Protocol):
        """A context that can make fences."""

        @property
        def name(self) -> str:
            """What messages call it."""

        @property
        def share_group(self) -> ShareGroup:
            """The contexts that share its fences."""

        def is_current(self) -> bool:
            """Whether it is current on this thread."""


class GlSyncToken:
    """A fence in the commands of a context, with a flush after it, so that GL reaches it.

    Made by `GlContext.create_sync`, and by `GlContext.leave_fence` when a texture is released. The fence is
    deleted, in a context of its group, when nothing refers to the token any more.

    Args:
        context: the current one.
        is_late: defers the fence until the running job asks for it, ends, or waits for another context. It
            then follows everything that the job has drawn until then.
    """

    __slots__ = ("_fence", "_is_ready", "_unsettled", "context")

    def __init__(self, context: Fenced, *, is_late: bool = False) -> None:
        #: The context whose commands the fence is part of.
        self.context = context
        self._is_ready = False
        self._fence: int | None = None
        self._unsettled: Any = None
        if is_late:
            self._unsettled = _thread.allocate_lock()  # taken until there is a fence
            self._unsettled.acquire()
        else:
            self.settle()

    def settle(self) -> None:
        """Make the fence, in its context. A second call does nothing.

        Raises:
            GlError: GL could not make the fence.
        """
        if self._fence is None:
            fence = gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
            if not fence:
                raise GlError("glFenceSync", detail="no GL context is current")
            gl.glFlush()
            self._fence = fence
        unsettled, self._unsettled = self._unsettled, None
        if unsettled is not None:
            unsettled.release()

    @property
    def is_settled(self) -> bool:
        """Whether the fence is made: it does not cover what is drawn from now on."""
        return self._fence is not None

    def wait(self, timeout_s: float) -> bool:
        """Wait on the CPU until GL has done all commands before the fence.

        The wait runs in the current context if that shares with the fence's, else in the fence's own, which
        does nothing else meanwhile.

        Returns:
            Whether they are done; False after `timeout_s` seconds, and nothing has changed.

        Raises:
            FailedPreconditionError: the fence belongs to the application's context, which is not current
                here.
            WaitTimeoutError: the fence's context was busy with other jobs for 5 s longer.
        """
        if self._is_ready:
            return True
        if not self._has_fence(timeout_s):
            return self._is_gone()
        if self._is_visible():
            return self._wait_here(timeout_s)
        context = self.context
        if context.is_closed:
            living = context.share_group.living()
            if living is None:
                return True  # what it drew is gone with the group
            return living.run(partial(self._wait_here, timeout_s), timeout=timeout_s + _GRACE_S)
        return context.run(partial(self._wait_here, timeout_s), timeout=timeout_s + _GRACE_S)

    def wait_on_gpu(self, timeout_s: float = 60.0) -> None:
        """Make GL order what the current context draws from now on after the fence.

        The CPU waits only if the current context does not share with the fence's, or if a running job of the
        fence's context has deferred the fence: then until that job, or its current step of a graph, ends.

        Args:
            timeout_s: how long the CPU waits at most, in seconds.

        Raises:
            FailedPreconditionError: no context is current.
            WaitTimeoutError: the CPU had to wait longer than that.
        """
        here = LOCAL.context
        own: object = self.context
        if self._is_ready or here is own:
            return  # commands of one context are done in order
        if here is None and not egl.load().current().context:
            raise FailedPreconditionError(
                "no GL context is current to wait for the GlSyncToken in; wait in GlContext.run, or with "
                "wait()"
            )
        if here is None or here.share_group is self.context.share_group:
            is_done = self._has_fence(timeout_s)
            if is_done:
                gl.glWaitSync(self._fence, 0, TIMEOUT_IGNORED)
            else:
                is_done = self._is_gone()
        else:
            is_done = self.wait(timeout_s)
        if not is_done:
            raise WaitTimeoutError(
                f"context {self.context.name!r} has not drawn up to its GlSyncToken within {timeout_s} s; "
                "draw less at a time, or wait longer"
            )

    def is_ready(self) -> bool:
        """Whether GL has done all commands before the fence."""
        return self.wait(0.0)

    def _has_fence(self, timeout_s: float) -> bool:
        """Wait until the fence is made, if the running job of its context has deferred it.

        That job ends, or settles before it waits for another context, so there is no circular wait. A graph's
        job may never end, but runs posted jobs between two steps, and each posted job settles at its end.
        """
        if self._fence is None:
            unsettled, here, context = self._unsettled, LOCAL.context, self.context
            own: object = context
            if here is not None and here is own:
                here.settle()  # what is drawn from now on gets another fence
                self.settle()  # raises why, if that has made no fence
            elif unsettled is not None and not self._is_gone():
                context.post_deletion(_nothing)  # every job settles at its end, and so does a context
                if acquire(unsettled, timeout_s):
                    unsettled.release()  # for the next waiting thread
        return self._fence is not None

    def _is_gone(self) -> bool:
        """Whether the context has ended without making the fence, as when its thread was killed."""
        thread = getattr(self.context, "thread", None)
        return thread is not None and bool(thread.has_ended)

    def _is_visible(self) -> bool:
        here = LOCAL.context
        if here is not None:
            return here.share_group is self.context.share_group
        return self.context.is_current()

    def _wait_here(self, timeout_s: float) -> bool:
        nanoseconds = max(0, int(timeout_s * _NANOSECONDS))
        status = gl.glClientWaitSync(self._fence, gl.GL_SYNC_FLUSH_COMMANDS_BIT, nanoseconds)
        if status == gl.GL_WAIT_FAILED:
            raise GlError("glClientWaitSync", detail="the wait failed")
        self._is_ready = status in {gl.GL_ALREADY_SIGNALED, gl.GL_CONDITION_SATISFIED}
        return self._is_ready

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        fence = self._fence
        # While Python ends nothing is to be deleted, and this module has lost its names.
        if fence is not None and not is_finalizing():
            self.context.share_group.discard_fence(fence, self.context)


def _nothing() -> None:
    """Do nothing: only the end of this job matters."""
