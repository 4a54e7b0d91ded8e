"""Executors with threads of their own: a pool, and a pool of one."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from penstock import Executor, ExecutorDefaults, ExecutorLease, limits
from penstock.errors import InvalidArgumentError
from penstock_executors.parked_threads import ThreadsLease

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Work

#: `threading.stack_size` is one setting for the whole process; a thread that changes it holds this lock.
_stack_size_lock: Final = threading.Lock()


class ThreadPoolExecutor(Executor):
    """Runs nodes on up to a number of threads; the default executor.

    One thread starts with a run, the others as they are needed, and all live to the end of the run. They are
    daemons: a process whose main thread fails does not wait for them. A graph file may ask for as many
    threads, and as much stack, as `penstock.limits` allows.

    Args:
        num_threads: at least 1.
        thread_name_prefix: threads are called `<prefix>-<executor>-<n>`.
        nice_priority_level: added to the nice level of each thread, so that 10 gives way to others.
            Linux only; elsewhere, and where the system refuses, one warning is logged and the threads
            have the ordinary priority.
        stack_size: bytes of stack for each thread; 0 for the system's default.

    Raises:
        InvalidArgumentError: num_threads is not positive, or stack_size is negative or refused by the
            system (by `lend_to`).

    Example config::

        executor {
          name: "background"
          type: "ThreadPoolExecutor"
          options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 2 nice_priority_level: 10 } }
        }
    """

    def __init__(
        self,
        num_threads: int,
        thread_name_prefix: str = "penstock",
        nice_priority_level: int = 0,
        stack_size: int = 0,
    ) -> None:
        if num_threads <= 0:
            raise InvalidArgumentError(
                f"the thread pool's num_threads is {num_threads}, but must be positive"
            )
        if stack_size < 0:
            raise InvalidArgumentError(f"the thread pool's stack_size is {stack_size}, but must be positive")
        self.num_threads: Final = num_threads
        self._prefix: Final = thread_name_prefix
        self._nice: Final = nice_priority_level
        self._stack_size: Final = stack_size

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> ThreadPoolExecutor:
        """Make one from `ThreadPoolExecutorOptions`."""
        if defaults.is_implied and not options.are_given():  # as in most graphs, which then need no protobuf
            return cls(defaults.num_threads if defaults.num_threads > 0 else defaults.suggested_threads)
        from penstock_executors.messages.thread_pool_pb2 import ThreadPoolExecutorOptions  # protobuf

        message = options.get(ThreadPoolExecutorOptions)
        return cls(
            num_threads=_thread_count(message, defaults),
            thread_name_prefix=message.thread_name_prefix or "penstock",
            nice_priority_level=message.nice_priority_level,
            stack_size=stack_size_of(message),
        )

    @property
    def may_send(self) -> Callable[[], bool] | None:
        """As `ExecutorLease.may_send`, where the steps are calls that are sent elsewhere; here None."""
        return None

    def _niced(self, serve: Callable[[], None]) -> Callable[[], None]:
        from penstock_executors.niceness import Niced  # imports logging, 4 ms; few graphs need it

        return Niced(serve, self._nice)

    def lend_to(self, work: Work) -> ExecutorLease:
        """Serve a run with threads of its own."""
        niced = cache(self._niced) if self._nice else None  # one object for all threads, which warns once
        label = f"{self._prefix}-{work.name}" if work.name else self._prefix

        def make(number: int, serve: Callable[[], None]) -> threading.Thread:
            target = serve if niced is None else niced(serve)
            return threading.Thread(target=target, name=f"{label}-{number}", daemon=True)

        start = self._start_with_stack if self._stack_size else threading.Thread.start
        return ThreadsLease(work, make, self.num_threads, start, self.may_send)

    def _start_with_stack(self, thread: threading.Thread) -> None:
        with _stack_size_lock:
            try:
                before = threading.stack_size(self._stack_size)
            except ValueError as error:
                raise InvalidArgumentError(
                    f"the thread pool's stack_size is {self._stack_size}: {error}"
                ) from error
            try:
                thread.start()
            finally:
                threading.stack_size(before)


class SingleThreadExecutor(ThreadPoolExecutor):
    """Runs nodes on one thread: every call of every node assigned to it, from open to close.

    For libraries that must be called from one thread only, and for a slow node that must not keep a
    thread from other nodes.

    Example config::

        executor { name: "slow" type: "SingleThreadExecutor" }
    """

    def __init__(
        self, thread_name_prefix: str = "penstock", nice_priority_level: int = 0, stack_size: int = 0
    ) -> None:
        super().__init__(1, thread_name_prefix, nice_priority_level, stack_size)

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> SingleThreadExecutor:
        """Make one from `ThreadPoolExecutorOptions`, whose num_threads must be absent or 1."""
        from penstock_executors.messages.thread_pool_pb2 import ThreadPoolExecutorOptions  # protobuf

        message = options.get(ThreadPoolExecutorOptions)
        asked = message.num_threads if message.HasField("num_threads") else defaults.num_threads or 1
        if asked != 1:
            raise InvalidArgumentError(f"num_threads is {asked}, but a SingleThreadExecutor has 1")
        prefix = message.thread_name_prefix or "penstock"
        return cls(prefix, message.nice_priority_level, stack_size_of(message))


def stack_size_of(message: Any) -> int:
    """Return the stack_size of `ThreadPoolExecutorOptions`; 0 where it is absent.

    Raises:
        InvalidArgumentError: it is set and not positive.
        ResourceExhaustedError: it is more than the limit "stack_bytes".
    """
    size: int = message.stack_size
    if message.HasField("stack_size") and size <= 0:
        raise InvalidArgumentError(f"the thread pool's stack_size is {size}, but must be positive")
    limits.check("stack_bytes", size, f"the thread pool's stack_size is {size}")
    return size


def _thread_count(message: Any, defaults: ExecutorDefaults) -> int:
    """Return num_threads; only an executor to which the graph gives no type may leave the number out."""
    if message.HasField("num_threads"):
        asked: int = message.num_threads
        limits.check("threads", asked, f"num_threads is {asked}")
        if defaults.is_implied and asked in (0, -1):
            return defaults.suggested_threads
        if asked <= 0:
            raise InvalidArgumentError(f"num_threads is {asked}, but must be positive")
        return asked
    if not defaults.is_implied:
        raise InvalidArgumentError("num_threads is missing; say how many threads the executor has")
    return defaults.num_threads if defaults.num_threads > 0 else defaults.suggested_threads
