"""The dedicated thread of a context: it runs jobs one after the other, in the order of their posting.

The context is current on the thread from its start to its end. This module calls GL only to take the errors
that a job has left. The thread is a daemon and keeps no context alive: a job does, while it is queued or
runs.
"""

from __future__ import annotations

import _thread
import sysconfig
import threading
import time
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Protocol

from penstock.errors import WaitTimeoutError
from penstock.log import get_logger
from penstock_gpu import egl, gl_library
from penstock_gpu.contexts import native
from penstock_gpu.contexts.waits import waiting_for
from penstock_gpu.current import LOCAL, CurrentContext
from penstock_gpu.errors import GlError, GpuUnavailableError, gl_error_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.contexts.share_group import ShareGroup

LOGGER: Final = get_logger("gpu")
#: How long starting a thread and making its context current may take; a cold driver needs less than a second.
_START_S: Final = 60.0
_MAX_ERRORS: Final = 16
#: How long a wait may delay Ctrl-C at most.
_TURN_S: Final = 0.1
#: How often an idle thread looks up, or None. Without the interpreter's lock an object that another thread
#: drops last is freed by the thread that made it, and only while that one runs Python code: a thread that
#: waited for its next job would keep textures that nobody has any more, the context, and so itself.
_IDLE_S: Final = 0.5 if sysconfig.get_config_var("Py_GIL_DISABLED") else None


class Named(Protocol):
    """An object with a name for messages."""

    @property
    def name(self) -> str:
        """As given."""


class JobContext(Named, CurrentContext, Protocol):
    """The part of a context that its jobs use."""

    @property
    def share_group(self) -> ShareGroup:
        """The contexts that see its textures."""


class Job:
    """A function to run in a context, and its outcome."""

    __slots__ = ("_begun", "_call", "_done", "context", "error", "is_waited_for", "result")

    def __init__(self, context: JobContext, call: Callable[[], Any], *, is_waited_for: bool = False) -> None:
        #: The context; the job keeps it alive until it is done.
        self.context = context
        #: The function's result.
        self.result: Any = None
        #: The function's error, or None.
        self.error: BaseException | None = None
        #: Whether a thread waits for the result.
        self.is_waited_for = is_waited_for
        self._call = call
        self._begun = _thread.allocate_lock()
        if is_waited_for:
            self._done = _thread.allocate_lock()
            self._done.acquire()

    def claim(self) -> bool:
        """Take the job, to run it or to prevent that; False if it was taken before."""
        return self._begun.acquire(blocking=False)

    def run(self) -> None:
        """Run it, on the thread where its context is current, unless it was taken."""
        if not self.claim():
            return
        before, LOCAL.context = LOCAL.context, self.context
        try:
            self.result = self._call()
        except BaseException as error:  # noqa: BLE001  # for the waiting thread
            self.error = translated(error)
        try:
            self.context.settle()
            LOCAL.context = before
            drain_errors(self.context)
        finally:
            if self.is_waited_for:
                self._done.release()
        if not self.is_waited_for and self.error is not None:
            log_lost(self.context, self.error)
            self.error = None  # its traceback refers to this frame, and so to the context

    def fail(self, error: BaseException) -> None:
        """Give the waiting thread this error, unless the job was taken."""
        if self.claim():
            self.error = error
            if self.is_waited_for:
                self._done.release()

    def wait(self, timeout: float | None) -> Any:
        """Wait for the end of the job and return its result, or raise its error."""
        if not acquire(self._done, timeout):
            state = "has not begun, and will not run" if self.claim() else "still runs"
            raise WaitTimeoutError(
                f"the GL thread of context {self.context.name!r} did not end the job {describe(self._call)} "
                f"within {timeout} s: it {state}"
            )
        if self.error is None:
            return self.result
        try:
            raise self.error
        finally:
            self.error = None  # its traceback refers to this frame


class Deletion(Job):
    """A posted job that deletes shared objects: if its context has ended, another of the group runs it."""

    __slots__ = ()

    def fail(self, error: BaseException) -> None:  # noqa: ARG002  # as Job.fail
        """Forward it to another context, unless it was taken."""
        if self.claim():
            self.context.share_group.discard(self._call)


class GlThread:
    """A thread, and its queue of jobs.

    Args:
        name: of the context.
        made: the native context, which is current on the thread and which it destroys at its end.
    """

    def __init__(self, name: str, made: native.NativeContext) -> None:
        #: As given.
        self.name = name
        self._made = made
        self._binding = made.binding
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        #: Returns whether no job is queued; it is a C function, so that a call makes no Python frame.
        self.is_idle: Final = self._jobs.empty
        self._started: SimpleQueue[BaseException | None] = SimpleQueue()
        self._has_ended = False
        #: Whether `end` was called.
        self.is_ending = False
        self._thread = threading.Thread(target=self._main, name=f"penstock-gpu {name}", daemon=True)

    def start(self) -> None:
        """Start, and return when the context is current on the thread; raise the driver's error."""
        try:
            self._thread.start()
            refusal = self._started.get(timeout=_START_S)
        except BaseException as error:
            self._jobs.put(None)  # a thread that has started ends as soon as it can
            if isinstance(error, Empty):
                raise GpuUnavailableError(
                    f"the GL driver has not made context {self.name!r} current on its thread within "
                    f"{_START_S:g} s",
                    "see what keeps the driver busy when a GL thread starts",
                ) from None
            if isinstance(error, RuntimeError):  # the system gives no further thread
                self._made.destroy()
            raise
        if refusal is not None:
            self._thread.join()
            raise refusal

    @property
    def holder(self) -> int | None:
        """The identity of the thread that runs the jobs, as `threading.get_ident` returns it."""
        return self._thread.ident

    @property
    def is_here(self) -> bool:
        """Whether the caller runs on this thread."""
        return _thread.get_ident() == self._thread.ident

    @property
    def has_ended(self) -> bool:
        """Whether no further job will run."""
        return self._has_ended

    def run(self, context: JobContext, call: Callable[[], Any], timeout: float | None) -> Any:
        """Queue a job and wait for it; see `GlContext.run`."""
        if LOCAL.thread is self:
            return self._run_here(context, call)
        if LOCAL.context is None:
            return self._run_there(context, call, timeout)
        with waiting_for(self):
            return self._run_there(context, call, timeout)

    def _run_there(self, context: JobContext, call: Callable[[], Any], timeout: float | None) -> Any:
        job = Job(context, call, is_waited_for=True)
        try:
            self.put(job)
            return job.wait(timeout)
        except BaseException:  # Ctrl-C at any point: the result is not wanted any more
            job.claim()
            raise

    def _run_here(self, context: JobContext, call: Callable[[], Any]) -> Any:
        """Run inside a job of this thread, in which a context without a thread is current."""
        library = egl.load()
        before, before_context = library.current(), LOCAL.context
        LOCAL.context = None  # until the context is current: finalisers rely on that
        try:
            library.make_current(self._binding)
            LOCAL.context = context
            return call()
        finally:
            LOCAL.context = None
            library.make_current(before if before.context else self._binding)
            LOCAL.context = before_context

    def serve(self) -> None:
        """Within a job on this thread: run the jobs that are queued now. Jobs that they queue run later."""
        for _ in range(self._jobs.qsize()):
            job = self._jobs.get()  # no other thread takes jobs
            if job is None:
                self.end()  # after the job that called this
                return
            job.run()
            del job

    def put(self, job: Job) -> None:
        """Queue a job. Never blocks; may be called by a finaliser."""
        self._jobs.put(job)
        if self._has_ended:
            self._refuse()

    def end(self) -> None:
        """Let the thread end after the jobs that are queued now. Never blocks."""
        self._jobs.put(None)
        self.is_ending = True

    def join(self, timeout: float | None) -> bool:
        """Wait for the end of the thread; False if it has not ended, or is the caller's."""
        if self.is_here:
            return False
        deadline = inf if timeout is None else time.monotonic() + timeout
        while self._thread.is_alive() and (left := deadline - time.monotonic()) > 0:
            # In turns: the caller may have made the context, see _IDLE_S.
            self._thread.join(min(_TURN_S, left))
        return not self._thread.is_alive()

    def _main(self) -> None:
        LOCAL.thread = self
        try:
            self._enter()
        except BaseException as error:  # noqa: BLE001  # for the starting thread
            self._has_ended = True
            self._leave()
            self._started.put(error)
            return
        self._started.put(None)
        try:
            while self._step():
                pass
        except BaseException:  # out of memory, or an exception set by another thread
            LOGGER.exception("the thread of context %r died", self.name)
        finally:
            self._rest()

    def _step(self) -> bool:
        """Run one job; a separate function, so that no variable keeps the last one alive."""
        job = self._next()
        if job is None:
            return False
        job.run()
        return True

    def _next(self) -> Job | None:
        while True:
            with suppress(Empty):
                return self._jobs.get(timeout=_IDLE_S)

    def _rest(self) -> None:
        """Run the posted jobs, refuse those that a thread waits for, and destroy the context."""
        try:
            with suppress(Empty):
                while True:
                    self._late(self._jobs.get_nowait())
        finally:
            self._has_ended = True
            self._refuse()
            self._leave()

    def _late(self, job: Job | None) -> None:
        if job is None:
            return
        if job.is_waited_for:
            job.fail(self._refusal())
        else:
            job.run()

    def _refuse(self) -> None:
        with suppress(Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    job.fail(self._refusal())

    def _enter(self) -> None:
        library = egl.load()
        library.bind_api(native.APIS[self._made.api])
        library.make_current(self._binding)

    def _leave(self) -> None:
        """Destroy the context: one that stays current on a dead thread is never freed."""
        library = egl.load()
        try:
            library.make_current(egl.Binding(self._made.display))
            self._made.destroy()
        except egl.EglError as error:  # for example since the application has terminated the display
            LOGGER.warning("context %r could not be given back: %s", self.name, error)
        finally:
            library.release_thread()

    def _refusal(self) -> GpuUnavailableError:
        return GpuUnavailableError(f"context {self.name!r} has ended", "make another with GlContext.create")


def acquire(lock: Any, timeout: float | None) -> bool:
    """Acquire a lock; False after `timeout` seconds, None waits without limit. Ctrl-C ends the wait.

    It waits in short turns, since a signal that comes just before a wait begins does not end that wait.
    """
    if timeout is None:
        while not lock.acquire(timeout=_TURN_S):
            pass
        return True
    deadline = time.monotonic() + timeout
    while not lock.acquire(timeout=max(0.0, min(_TURN_S, deadline - time.monotonic()))):
        if time.monotonic() >= deadline:
            return False
    return True


def is_foreign(error: BaseException) -> bool:
    """Whether PyOpenGL raised it because GL reported an error."""
    return type(error).__module__ == "OpenGL.error" and isinstance(getattr(error, "err", None), int)


def translated(error: BaseException) -> BaseException:
    """Return `error`, or a `GlError` in its place if PyOpenGL raised it."""
    if not is_foreign(error):
        return error
    code = getattr(error, "err", 0)
    call = getattr(getattr(error, "baseOperation", None), "__name__", "")
    made = GlError(call, int(code))
    made.__cause__ = error
    return made


def drain_errors(context: Named) -> None:
    """Log and clear the GL errors that unchecked calls have left, so that no later call is blamed."""
    get_error = gl_library.get_error or gl_library.get_error_function()
    code = get_error()
    if not code:
        return
    found: list[str] = []
    while code and len(found) < _MAX_ERRORS:  # without a context some drivers never stop
        found.append(gl_error_name(code))
        code = get_error()
    LOGGER.warning("a job in context %r left unchecked GL errors: %s", context.name, ", ".join(found))


def log_lost(context: Named, error: BaseException) -> None:
    """Log the error of a posted job: no thread waits for it."""
    LOGGER.error("a posted job in context %r failed: %s", context.name, error, exc_info=error)


def describe(call: Callable[[], Any]) -> str:
    """Return the name of a function for messages."""
    return repr(getattr(call, "__qualname__", None) or type(call).__qualname__)
