"""A pool of threads that the graphs of a process share by its name.

A pool is a `ThreadsLease` over many works instead of one: `_Visits` is the queue of works that need a thread.
A thread visits a work for a short time, and then the next; a work that still has steps asks for another
visit, behind the others. So each graph waits for one visit of each other graph at most, whatever they do.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock import Executor, ExecutorLease, limits
from penstock.errors import InvalidArgumentError
from penstock_executors.parked_threads import ThreadsLease

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import ExecutorDefaults, Work

#: How long a thread goes on with the steps of one graph while others may wait.
_VISIT_S: Final = 0.002
#: Sleeping threads look for blocked graphs no more often than that, together.
_LOOK_S: Final = 0.004
#: How long the last graph waits for the pool's threads to end. They have nothing to do then.
_END_S: Final = 10.0


class SharedThreadPoolExecutor(Executor):
    """Runs nodes on threads that all graphs of the process share, which name the same pool.

    For programs with many graphs, such as a server with one for each client: there are as many threads as
    the pool has, whatever the number of graphs. A thread works for one graph for 2 ms, or for one call that
    takes longer, and then for the next that has something to do, in turns. The pool begins with the first
    run on it, and its threads end with the last.

    A call that waits for another graph of the same pool keeps a thread from it, and may wait for ever where
    all threads do so: give the inner graph another pool.

    Args:
        pool: its name; "" is one too.
        num_threads: how many threads this graph wants the pool to have; 0: as many as there are processors.
            While graphs want different numbers, the largest counts.

    Raises:
        InvalidArgumentError: num_threads is negative.

    Example config, with all options, none of which is required::

        executor {
          type: "SharedThreadPoolExecutor"
          options { [penstock.SharedThreadPoolExecutorOptions.ext] { pool: "clients" num_threads: 4 } }
        }
    """

    def __init__(self, pool: str = "", num_threads: int = 0) -> None:
        if num_threads < 0:
            raise InvalidArgumentError(
                f"the shared pool's num_threads is {num_threads}, but must be positive, or 0"
            )
        self.pool: Final = pool
        self.num_threads: Final = num_threads or os.cpu_count() or 1

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> SharedThreadPoolExecutor:
        """Make one from `SharedThreadPoolExecutorOptions`; the graph's own `num_threads` counts too."""
        from penstock_executors.messages.shared_pool_pb2 import (  # protobuf
            SharedThreadPoolExecutorOptions,
        )

        message = options.get(SharedThreadPoolExecutorOptions)
        threads = message.num_threads or max(defaults.num_threads, 0)
        limits.check("threads", threads, f"the shared pool's num_threads is {threads}")
        return cls(message.pool, threads)

    def lend_to(self, work: Work) -> ExecutorLease:
        """Serve a run with the threads of the pool, which begins if it is the first."""
        return _enter(self.pool, work, self.num_threads)


class _Visits:
    """The works that need a thread, in the order in which they asked: the `Work` of the pool's threads."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.asking: Final[deque[SharedLease]] = deque()
        #: The leases with a thread inside. Each adds itself, under its own lock.
        self.served: Final[set[SharedLease]] = set()
        #: Counts visits.
        self.taken = 0
        self._looked_at = 0.0

    def has_ready(self) -> bool:
        return bool(self.asking)

    def step(self) -> bool:
        """Make one visit; return whether there was one to make."""
        try:
            lease = self.asking.popleft()
        except IndexError:
            return False
        self.taken += 1
        lease.visit()
        return True

    def run(
        self,
        interrupted: Callable[[], bool] | None = None,  # noqa: ARG002  # `ThreadsLease` gives none of them
        choose: Callable[[int], int] | None = None,  # noqa: ARG002
        max_s: float | None = None,  # noqa: ARG002
    ) -> bool:
        did_any = False
        while self.step():
            did_any = True
        return did_any

    def is_neglected(self, seen: int) -> bool:  # noqa: ARG002  # each lease has a number of its own
        """Ask for another visit to each graph that stands still in one; return whether there is any."""
        now = monotonic()
        if now - self._looked_at < _LOOK_S:
            return False
        self._looked_at = now
        # `copy` is one operation; `tuple` is none without the interpreter's lock
        neglected = [lease for lease in self.served.copy() if lease.is_neglected()]
        self.asking.extend(neglected)
        return bool(neglected)

    def notify_waiters(self) -> None:
        """Nobody waits for visits."""


class _Pool:
    """The threads of one name, and the leases on them. `enter` and `leave` are called under `_LOCK`."""

    def __init__(self, name: str, most: int) -> None:
        self.visits: Final = _Visits(name)
        self._leases: Final[dict[SharedLease, int]] = {}
        #: Threads that a run has not given back.
        self._lost = 0
        label = f"penstock-{name or 'shared'}"

        def make(number: int, serve: Callable[[], None]) -> threading.Thread:
            return threading.Thread(target=serve, name=f"{label}-{number}", daemon=True)

        self.threads: Final = ThreadsLease(self.visits, make, most)

    def enter(self, work: Work, most: int) -> SharedLease:
        lease = SharedLease(self, work)
        self._leases[lease] = most
        self._allow()
        return lease

    def leave(self, lease: SharedLease, lost: int) -> bool:
        """Forget a lease, replace threads that stay inside of it; return whether it was the last."""
        if self._leases.pop(lease, None) is None:
            return False
        self._lost += lost
        if self._leases:
            self._allow()
        return not self._leases

    def _allow(self) -> None:
        self.threads.allow(max(self._leases.values()) + self._lost)


#: Process and name → pool; a forked process has none of its parent's threads.
_POOLS: Final[dict[tuple[int, str], _Pool]] = {}
_LOCK: Final = threading.Lock()


def _enter(name: str, work: Work, most: int) -> SharedLease:
    with _LOCK:
        key = os.getpid(), name
        pool = _POOLS.get(key)
        if pool is None:
            pool = _POOLS[key] = _Pool(name, most)
        return pool.enter(work, most)


def _leave(pool: _Pool, lease: SharedLease, lost: int) -> None:
    with _LOCK:
        is_last = pool.leave(lease, lost)
        key = os.getpid(), pool.visits.name
        if is_last and _POOLS.get(key) is pool:
            del _POOLS[key]
    if is_last:
        pool.threads.stop(0.0 if lost else _END_S)


class SharedLease(ExecutorLease):
    """A pool's threads as lent to one ready queue of one run."""

    watches = True

    def __init__(self, pool: _Pool, work: Work) -> None:
        self._pool: Final = pool
        self._visits: Final = pool.visits
        self._work: Final = work
        self._lock: Final = threading.Lock()
        self._changed: Final = threading.Condition(self._lock)
        #: How many threads are inside of the work.
        self._inside = 0
        self._is_stopped = False
        #: The work's `taken` when a sleeping thread looked last.
        self._seen = -1

    def thread_count(self) -> int:
        """Return how many threads the pool may have, for all its graphs."""
        return self._pool.threads.thread_count()

    def wake(self) -> None:
        """Ask for a visit, and wake a thread for it."""
        self._visits.asking.append(self)
        self._pool.threads.wake()

    def visit(self) -> None:
        """Run steps for a while; where steps are left then, the run has called `wake`."""
        with self._lock:
            if self._is_stopped:
                return
            self._inside += 1
            self._visits.served.add(self)
        try:
            self._work.run(max_s=_VISIT_S)
        except BaseException:  # noqa: BLE001  # the run has it among its errors; other graphs need this thread
            from penstock.log import get_logger  # imports logging, 4 ms

            get_logger("executors").exception(
                "a thread of pool %r goes on after a run has broken", self._visits.name
            )
        finally:
            with self._lock:
                self._inside -= 1
                if not self._inside:
                    self._visits.served.discard(self)
                    self._changed.notify_all()

    def is_neglected(self) -> bool:
        """Return whether steps are ready, and none was taken since the last call."""
        seen, self._seen = self._seen, self._work.taken
        return self._seen == seen and self._work.is_neglected(seen)

    def stop(self, timeout: float | None = None) -> bool:
        """Return when no thread is inside of the run; the last lease also ends the pool's threads."""
        with self._lock:
            self._is_stopped = True
            has_left = self._changed.wait_for(lambda: not self._inside, timeout)
            lost = self._inside
        _leave(self._pool, self, lost)
        return has_left
