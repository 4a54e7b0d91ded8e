"""Contexts without a thread: jobs run on the caller's thread, under a lock, with the context made current.

The context that was current before is current again afterwards. Posted jobs wait for the next `run`, or the
end.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import suppress
from threading import get_ident
from typing import TYPE_CHECKING, Any

from penstock.errors import WaitTimeoutError
from penstock_gpu import egl
from penstock_gpu.contexts.gl_thread import (
    LOGGER,
    Job,
    acquire,
    describe,
    drain_errors,
    is_foreign,
    translated,
)
from penstock_gpu.contexts.waits import waiting_for
from penstock_gpu.current import LOCAL
from penstock_gpu.errors import GpuUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.contexts import native
    from penstock_gpu.contexts.gl_thread import JobContext


class LockedContext:
    """The lock of a context, and the posted jobs that wait for its next use.

    Args:
        name: of the context.
        made: the native context, current while a job runs and destroyed at the end.
    """

    def __init__(self, name: str, made: native.NativeContext) -> None:
        #: As given.
        self.name = name
        self._made = made
        self._binding = made.binding
        self._lock = threading.RLock()
        self._posted: deque[Job] = deque()
        self._depth = 0
        #: Identity of the thread that runs a job, or None.
        self.holder: int | None = None
        self._last: Callable[[], None] | None = None
        self._has_ended = False

    def start(self) -> None:
        """Check that the context can be made current; raise the driver's error."""
        library = egl.load()
        before = library.current()
        try:
            library.make_current(self._binding)
        except BaseException:
            self._made.destroy()
            raise
        _restore(library, self._binding.display, before)

    @property
    def has_ended(self) -> bool:
        """Whether no further job will run."""
        return self._has_ended

    def run(self, context: JobContext, call: Callable[[], Any], timeout: float | None) -> Any:
        """Run the posted jobs and then a function, on this thread; see `GlContext.run`."""
        if not self._lock.acquire(blocking=False) and not self._wait_for_lock(timeout):
            raise WaitTimeoutError(
                f"the job {describe(call)} has not begun, and will not run: context {self.name!r} was in use"
                f" for {timeout} s"
            )
        try:
            if self._has_ended:
                raise self._refusal()
            self.holder = get_ident()
            return self._run(context, call)
        finally:
            if not self._depth:
                self.holder = None
            self._lock.release()

    def _wait_for_lock(self, timeout: float | None) -> bool:
        if LOCAL.context is None:
            return acquire(self._lock, timeout)
        with waiting_for(self):
            return acquire(self._lock, timeout)

    def _run(self, context: JobContext, call: Callable[[], Any]) -> Any:
        library = egl.load()
        before, before_context = library.current(), LOCAL.context
        LOCAL.context = None  # until the context is current: finalisers rely on that
        try:
            library.make_current(self._binding)
        except BaseException:
            LOCAL.context = before_context
            raise
        self._depth += 1
        try:
            self._run_posted()
            LOCAL.context = context
            try:
                return call()
            except Exception as error:
                if is_foreign(error):
                    raise translated(error) from error
                raise
            finally:
                context.settle()
                drain_errors(context)
        finally:
            self._depth -= 1
            LOCAL.context = None
            if self._last is not None and not self._depth:
                self._end(library, self._last)
            _restore(library, self._binding.display, before)
            LOCAL.context = before_context

    def put(self, job: Job) -> None:
        """Queue a posted job. Never blocks; may be called by a finaliser."""
        self._posted.append(job)
        if self._has_ended:
            self._refuse()

    def finish(self, timeout: float | None, last: Callable[[], None]) -> bool:
        """Run the posted jobs and `last`, and destroy the context.

        Returns:
            Whether that is done: False if another thread used the context for `timeout` seconds, or if this
            is a job of the context, which then ends with that job.
        """
        if not acquire(self._lock, timeout):
            return False
        try:
            if self._has_ended:
                return True
            if self._depth:
                self._last = last
                return False
            library = egl.load()
            before, before_context = library.current(), LOCAL.context
            LOCAL.context = None
            try:
                library.make_current(self._binding)
                self._end(library, last)
            finally:
                _restore(library, self._binding.display, before)
                LOCAL.context = before_context
        finally:
            self._lock.release()
        return True

    def _end(self, library: egl.Egl, last: Callable[[], None]) -> None:
        try:
            self._run_posted()
            last()
            self._run_posted()
        finally:
            self._has_ended = True
            self._refuse()
            try:
                library.make_current(egl.Binding(self._binding.display))
                self._made.destroy()
            except egl.EglError as error:  # for example since the application has terminated the display
                LOGGER.warning("context %r could not be given back: %s", self.name, error)

    def _run_posted(self) -> None:
        while self._posted:
            self._posted.popleft().run()

    def _refuse(self) -> None:
        with suppress(IndexError):  # another thread has taken the last job
            while True:
                self._posted.popleft().fail(self._refusal())

    def _refusal(self) -> GpuUnavailableError:
        return GpuUnavailableError(f"context {self.name!r} has ended", "make another with GlContext.create")


def _restore(library: egl.Egl, display: int, before: egl.Binding) -> None:
    library.make_current(before if before.context else egl.Binding(display))
