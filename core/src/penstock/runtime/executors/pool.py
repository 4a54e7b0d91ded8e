"""A `concurrent.futures.Executor` that the application hands in, as an executor of a graph.

The pool gets drain tasks, which end when nothing is ready, and the graph never shuts it down. So one pool
can serve several graphs beside the application's own work.
"""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final

from penstock.errors import FailedPreconditionError, InvalidArgumentError, text_of
from penstock.runtime.executors.executor import Executor, ExecutorLease

if TYPE_CHECKING:
    import concurrent.futures

    from penstock.runtime.executors.executor import Work


class PoolExecutor(Executor):
    """Wraps a pool of threads that belongs to the application.

    If Ctrl-C hits the main thread inside the pool's own `submit`, a pool of `concurrent.futures` may stay
    locked; and a destructor that calls the graph never returns if the application's own `submit` has
    collected it. Both are flaws of the standard library. Executors of this project do not have them.

    Args:
        pool: any `concurrent.futures.Executor` whose tasks run in this process.
        max_tasks: how many drain tasks may run at once.

    Raises:
        InvalidArgumentError: the pool pickles its tasks; calculators cannot run in other processes.
    """

    def __init__(self, pool: concurrent.futures.Executor, max_tasks: int = 0) -> None:
        import concurrent.futures  # few graphs have a pool

        if isinstance(pool, concurrent.futures.ProcessPoolExecutor) or _pickles(pool):
            raise InvalidArgumentError(
                f"the pool {type(pool).__name__} runs its tasks elsewhere by pickling them; a graph needs a "
                "pool of this process, such as concurrent.futures.ThreadPoolExecutor"
            )
        self.pool: Final = pool
        self._max_tasks: Final = max_tasks or int(getattr(pool, "_max_workers", 1))

    def lend_to(self, work: Work) -> ExecutorLease:
        """Serve a run with tasks of the pool."""
        return _PoolLease(self.pool, work, self._max_tasks)


class _Submitting(threading.local):
    """Whether this thread is inside of a pool's `submit`."""

    #: The leases that a destructor wakes meanwhile: `submit` holds locks that it must not take again.
    late: list[_PoolLease] | None = None


_SUBMITTING: Final = _Submitting()


class _PoolLease(ExecutorLease):
    """Keeps at most `max_tasks` drain tasks in the pool."""

    def __init__(self, pool: concurrent.futures.Executor, work: Work, max_tasks: int) -> None:
        self._pool: Final = pool
        self._work: Final = work
        self._max_tasks: Final = max_tasks
        # Use `with` on the lock: an interrupt in Condition.__enter__, which is Python, keeps it locked. From
        # Python 3.12 on garbage is collected at any point: a destructor that calls the graph takes it again.
        self._lock: Final = threading.RLock()
        self._changed: Final = threading.Condition(self._lock)
        #: One token for each drain task that was submitted and has not ended.
        self._tasks: Final[set[object]] = set()
        self._wakes = 0
        self._is_stopped = False

    def thread_count(self) -> int:
        """Return how many tasks the pool has for this run: each runs steps on a thread, or soon will."""
        return len(self._tasks)

    def wake(self) -> None:
        if _SUBMITTING.late is not None:
            _SUBMITTING.late.append(self)
            return
        late: list[_PoolLease] = []
        try:
            _SUBMITTING.late = late
            self._wake()
        finally:
            _SUBMITTING.late = None
            while late:
                late.pop().wake()

    def _wake(self) -> None:
        token = object()
        try:
            with self._lock:
                self._wakes += 1
                if self._is_stopped or len(self._tasks) >= self._max_tasks:
                    return
                self._tasks.add(token)
            submitted = self._pool.submit(self._drain, token)
            submitted.add_done_callback(partial(self._forget_cancelled, token))
        except BaseException as error:  # an interrupt too: a task that never begins must not be waited for
            self._leave(token)
            if not isinstance(error, RuntimeError):
                raise
            raise FailedPreconditionError(
                f"the pool {type(self._pool).__name__} handed in with set_executor takes no tasks: "
                f"{text_of(error)}; keep it running until the graph is done"
            ) from error

    def _drain(self, token: object) -> None:
        _SUBMITTING.late = None  # a pool may run its tasks inside of `submit`, where it holds no lock
        with self._lock:
            self._tasks.add(token)  # it is there already, unless `wake` was interrupted
        try:
            while True:
                seen = self._wakes
                self._work.run(interrupted=lambda: self._is_stopped)
                with self._lock:
                    self._tasks.discard(token)  # first: a wake that a destructor makes here finds room
                    if self._wakes == seen or self._is_stopped:
                        self._changed.notify_all()
                        return
                    self._tasks.add(token)
        finally:
            self._leave(token)

    def _forget_cancelled(self, token: object, submitted: concurrent.futures.Future[None]) -> None:
        if submitted.cancelled():  # the application has shut the pool down, or was quicker than its threads
            self._leave(token)

    def _leave(self, token: object) -> None:
        with self._lock:
            self._tasks.discard(token)
            self._changed.notify_all()

    def stop(self, timeout: float | None = None) -> bool:
        with self._lock:
            self._is_stopped = True
            return self._changed.wait_for(lambda: not self._tasks, timeout)


def _pickles(pool: concurrent.futures.Executor) -> bool:
    """Return whether a pool of another library says that it runs tasks in other processes."""
    return "Process" in type(pool).__name__ or hasattr(pool, "_mp_context") or hasattr(pool, "_call_queue")
