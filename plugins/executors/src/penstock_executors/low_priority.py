"""A pool of threads that give way to the rest of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock import limits
from penstock.errors import InvalidArgumentError
from penstock_executors.thread_pool import ThreadPoolExecutor, stack_size_of

if TYPE_CHECKING:
    from penstock import ExecutorDefaults

#: The usual level of a background job: Linux gives such a thread about a tenth of the time that a thread
#: of level 0 gets on the same processor (sched(7): a factor of 1.25 for each level).
_NICE: Final = 10


class LowPriorityThreadPoolExecutor(ThreadPoolExecutor):
    """Runs nodes on threads that give way to all others of the machine.

    For work that is not urgent while other nodes must keep up: thumbnails, statistics, writing to
    disk. The priority decides which thread gets a processor, not which thread gets the interpreter: a
    calculator that computes in Python holds the interpreter's lock at any priority, and other threads
    wait for it. It helps beside nodes whose work releases the lock, as NumPy, OpenCV, codecs and I/O do.

    The priority is the nice level of each thread, which only Linux has. Elsewhere, and where the
    system refuses, one warning is logged and the threads have the ordinary priority.

    Args:
        num_threads: at least 1.
        thread_name_prefix: threads are called `<prefix>-<executor>-<n>`.
        nice_priority_level: at least 1, added to the nice level of each thread; the system stops at 19.
        stack_size: bytes of stack for each thread; 0 for the system's default.

    Raises:
        InvalidArgumentError: num_threads or nice_priority_level is not positive, or stack_size is negative.

    Example config, with all options, none of which is required::

        executor {
          name: "background"
          type: "LowPriorityThreadPoolExecutor"
          options {
            [penstock.ThreadPoolExecutorOptions.ext] {
              num_threads: 1
              nice_priority_level: 10
              thread_name_prefix: "penstock"
              stack_size: 1048576
            }
          }
        }
        node { calculator: "PassThroughCalculator" executor: "background" ... }
    """

    def __init__(
        self,
        num_threads: int = 1,
        thread_name_prefix: str = "penstock",
        nice_priority_level: int = _NICE,
        stack_size: int = 0,
    ) -> None:
        if nice_priority_level <= 0:
            raise InvalidArgumentError(
                f"nice_priority_level is {nice_priority_level}, but low priority means a positive one; "
                "use a ThreadPoolExecutor for other levels"
            )
        super().__init__(num_threads, thread_name_prefix, nice_priority_level, stack_size)

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> LowPriorityThreadPoolExecutor:
        """Make one from `ThreadPoolExecutorOptions`."""
        from penstock_executors.messages.thread_pool_pb2 import ThreadPoolExecutorOptions  # protobuf

        message = options.get(ThreadPoolExecutorOptions)
        threads = message.num_threads if message.HasField("num_threads") else defaults.num_threads or 1
        limits.check("threads", threads, f"num_threads is {threads}")
        return cls(
            num_threads=threads,
            thread_name_prefix=message.thread_name_prefix or "penstock",
            nice_priority_level=message.nice_priority_level
            if message.HasField("nice_priority_level")
            else _NICE,
            stack_size=stack_size_of(message),
        )
