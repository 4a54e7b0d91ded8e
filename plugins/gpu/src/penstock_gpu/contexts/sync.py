"""Fences: a point in a context's commands that other contexts and the CPU can wait for."""

from __future__ import annotations

import _thread
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.errors import FailedPreconditionError, WaitTimeoutError
from penstock_gpu import egl, gl, gl_library
from penstock_gpu.contexts.gl_thread import acquire
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GlError

if TYPE_CHECKING:
    from penstock_gpu.contexts.share_group import Member, ShareGroup

#: The only time-out that glWaitSync takes.
TIMEOUT_IGNORED: Final = gl_library.TIMEOUT_IGNORED
_NANOSECONDS: Final = 1e9
#: How much longer than a wait its context may take to come to it.
_GRACE_S: Final = 5.0


if TYPE_CHECKING:

    class Fenced(Member, Protocol):
        """A context in whose commands a fence may stand."""

        @property
        def name(self) -> str:
            """What messages call it."""

        @property
        def share_group(self) -> ShareGroup:
            """The contexts that see its fences."""

        def is_current(self) -> bool:
            """Whether it is current on this thread."""


class GlSyncToken:
    """A fence in the commands of a context, and a flush behind it, so that it will be reached.

    Made by `GlContext.create_sync`, and for whoever releases a texture by `GlContext.leave_fence`. Goes with
    its last reference; a context of its group deletes the fence.

    Args:
        context: the current one.
        is_late: puts the fence off: until the job under way asks for it, ends, or waits for another
            context. It then stands behind all that the job has drawn until then.

    Attributes:
        context: the context whose commands it stands in.
    """

    __slots__ = ("_fence", "_is_ready", "_unsettled", "context")

    def __init__(self, context: Fenced, *, is_late: bool = False) -> None:
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
        """Make the fence, in its context. A second time does nothing.

        Raises:
            GlError: GL makes none.
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
        """Whether there is a fence: it stands for nothing that is drawn from now on."""
        return self._fence is not None

    def wait(self, timeout_s: float) -> bool:
        """Wait on the CPU until GL has done all that stands before the fence.

        In the current context where that shares with the fence's, else in the fence's own, which does
        nothing else meanwhile.

        Returns:
            Whether that is done; False after `timeout_s` seconds, and nothing has changed.

        Raises:
            FailedPreconditionError: the fence is the application's, and its context is not current here.
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
        """Let what the current context draws from now on begin after the fence.

        The CPU does not wait, unless the current context does not share with the fence's, or came while
        that was at a job: then until this ends, or the step of a graph that it is at.

        Args:
            timeout_s: how long the CPU waits, if it must.

        Raises:
            FailedPreconditionError: no context is current.
            WaitTimeoutError: the CPU had to wait, and the time is over.
        """
        here = LOCAL.context
        own: object = self.context
        if self._is_ready or here is own:
            return  # commands of one context are done in order
        if here is None and not egl.load().current().context:
            raise FailedPreconditionError(
                "no GL context is current to wait in; wait in GlContext.run, or with wait()"
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
                f"context {self.context.name!r} has not drawn up to its fence within {timeout_s} s; draw less"
                " at a time, or wait longer"
            )

    def is_ready(self) -> bool:
        """Whether GL has done all that stands before the fence."""
        return self.wait(0.0)

    def _has_fence(self, timeout_s: float) -> bool:
        """Wait until there is a fence, where the job that its context does just now has put it off.

        That job ends, or settles before it waits for any context: so nobody waits in a circle. A graph's job
        may go on for ever, but does what is posted between two steps; and each posted job settles at its end.
        """
        if self._fence is None:
            unsettled, here, context = self._unsettled, LOCAL.context, self.context
            own: object = context
            if here is not None and here is own:
                here.settle()  # so that what is drawn from now on gets another
                self.settle()  # which says why, where that has made none
            elif unsettled is not None and not self._is_gone():
                context.post_deletion(_nothing)  # any job settles at its end; without one the context ends
                if acquire(unsettled, timeout_s):
                    unsettled.release()  # for the next who waits
        return self._fence is not None

    def _is_gone(self) -> bool:
        """Whether the context has ended without a fence, as where its thread was killed."""
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

    def __del__(self) -> None:
        fence = self._fence
        if fence is not None:
            self.context.share_group.discard_fence(fence, self.context)


def _nothing() -> None:
    """Do nothing: a job whose end is what counts."""
