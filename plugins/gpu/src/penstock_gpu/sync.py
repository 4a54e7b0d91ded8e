"""Fences: a point in a context's commands that other contexts and the CPU can wait for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.errors import FailedPreconditionError, WaitTimeoutError
from penstock_gpu import egl, gl, gl_library
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GlError, GpuUnavailableError

if TYPE_CHECKING:
    from penstock_gpu.context import ExternalContext, GlContext

#: The only time-out that glWaitSync takes.
TIMEOUT_IGNORED: Final = gl_library.TIMEOUT_IGNORED
_NANOSECONDS: Final = 1e9
#: How much longer than a wait its context may take to come to it.
_GRACE_S: Final = 5.0


class GlSyncToken:
    """A fence in the commands of a context, and a flush behind it, so that it will be reached.

    Made by `GlContext.create_sync`. Goes with its last reference; a context of its group deletes the fence.

    Args:
        context: the current one.
        is_late: puts the fence off until somebody asks for it; it then stands behind all that the context
            has been told to draw until that moment.

    Attributes:
        context: the context whose commands it stands in.
    """

    __slots__ = ("__weakref__", "_fence", "_is_ready", "context")

    def __init__(self, context: GlContext | ExternalContext, *, is_late: bool = False) -> None:
        self.context = context
        self._is_ready = False
        self._fence: int | None = None
        if not is_late:
            self.settle()

    def settle(self) -> None:
        """Make the fence that was put off, in its context; `GlContext.settle` is who calls that.

        Raises:
            GlError: GL makes none.
        """
        fence = gl.glFenceSync(gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)
        if not fence:
            raise GlError("glFenceSync", detail="no GL context is current")
        self._fence = fence
        gl.glFlush()

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
        self._have_fence(timeout_s + _GRACE_S)
        if self._fence is None:
            return True  # its context has ended, and what it drew is drawn
        if self._is_visible():
            return self._wait_here(timeout_s)
        context = self.context
        if context.is_closed:
            living = context.share_group.living()
            if living is None:
                return True  # what it drew is gone with the group
            context = living
        return context.run(partial(self._wait_here, timeout_s), timeout=timeout_s + _GRACE_S)

    def wait_on_gpu(self, timeout_s: float = 60.0) -> None:
        """Let what the current context draws from now on begin after the fence.

        The CPU does not wait, unless the current context does not share with the fence's.

        Args:
            timeout_s: how long the CPU waits, if it must.

        Raises:
            FailedPreconditionError: no context is current.
            WaitTimeoutError: the CPU had to wait, and the time is over.
        """
        here = LOCAL.context
        if self._is_ready or here is self.context:
            return  # commands of one context are done in order
        if here is None and not egl.load().current().context:
            raise FailedPreconditionError(
                "no GL context is current to wait in; wait in GlContext.run, or with wait()"
            )
        if here is None or here.share_group is self.context.share_group:
            self._have_fence(timeout_s)
            if self._fence is not None:  # else its context has ended, and all is done
                gl.glWaitSync(self._fence, 0, TIMEOUT_IGNORED)
            return
        if not self.wait(timeout_s):
            raise WaitTimeoutError(
                f"context {self.context.name!r} has not drawn up to its fence within {timeout_s} s; draw less"
                " at a time, or wait longer"
            )

    def is_ready(self) -> bool:
        """Whether GL has done all that stands before the fence."""
        return self.wait(0.0)

    def _have_fence(self, timeout_s: float) -> None:
        """Have the fence made where it was put off: in its context, behind the jobs that it has now.

        A context that ends makes it on its way out.
        """
        from penstock_gpu.context import GlContext  # noqa: PLC0415  # which imports this

        context = self.context
        if self._fence is not None or not isinstance(context, GlContext):
            return  # the application's are never late
        try:
            context.run(context.settle, timeout_s)
        except GpuUnavailableError:
            if not context.is_closed:
                raise
            context.close(timeout_s)

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
