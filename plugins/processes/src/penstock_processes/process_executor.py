"""`ProcessExecutor`: nodes work in other processes, which live as long as the graph."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from penstock import ExecutorDefaults
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import RemoteCalculator, check_all_movable, did_you_mean, remote_node
from penstock_executors.thread_pool import ThreadPoolExecutor
from penstock_processes.arena import Arena, OwnArena, memory_file
from penstock_processes.link import Link
from penstock_processes.options import Codec, ProcessExecutorOptions, StartMethod

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from penstock import Calculator
    from penstock.lowlevel import Answer, Call, NodePlan, Plan, RemoteNode

#: Threads of the driver that write calls; each call takes a part of a millisecond at most.
_MOST_SENDERS: Final = 4


class ProcessExecutor(ThreadPoolExecutor):
    """Runs nodes in worker processes, so that Python code works on several cores and a crash ends one process.

    The graph goes on in this process; a node's calculator is made, opened, called and closed in a worker. Node
    number k of the executor is in worker k modulo their number, unless `colocate` says otherwise. With
    `max_in_flight` a node whose contract says `set_stateless` (plain functions do) has an object in each of so
    many workers; calls of any other overlap on threads of its worker.

    Payloads are pickled; arrays, images and all buffers of 4 KiB and more go through shared memory, arrive
    read-only, and stay valid as long as anybody looks at them. Workers start when the first run is put together
    and live until the graph is closed; a worker that has died is replaced at the next run. Linux only.

    Args:
        num_processes, start, arena_mib, start_timeout_s, cancel_grace_s, codec, colocate: as in
            `ProcessExecutorOptions`.

    Raises:
        InvalidArgumentError: an option is out of its range; or the system has no memory files.

    Example config::

        executor {
          name: "workers"
          type: "ProcessExecutor"
          options { [penstock_processes.ProcessExecutorOptions.ext] { num_processes: 4 } }
        }
        node { calculator: "Segment" executor: "workers" max_in_flight: 4 input_stream: "frame" output_stream: "mask" }
    """

    places = True

    def __init__(self, num_processes: int = 0, **options: Any) -> None:
        self.options: Final = ProcessExecutorOptions(num_processes=num_processes, **options)
        super().__init__(min(_MOST_SENDERS, self.options.process_count()), "penstock-send")
        if not hasattr(os, "memfd_create"):
            raise InvalidArgumentError("a ProcessExecutor needs memory files (memfd_create), which Linux has")
        self._lock: Final = threading.Lock()
        self._keys: Final = itertools.count()
        self._pool: _Pool | None = None

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> ProcessExecutor:
        """Make one from `ProcessExecutorOptions`."""
        given: ProcessExecutorOptions = options.get(ProcessExecutorOptions)
        return cls(
            given.num_processes or max(1, min(os.cpu_count() or 1, defaults.suggested_threads)),
            start=given.start,
            arena_mib=given.arena_mib,
            start_timeout_s=given.start_timeout_s,
            cancel_grace_s=given.cancel_grace_s,
            codec=given.codec,
            colocate=given.colocate,
        )

    def check(self, plan: Plan, name: str) -> None:
        """Refuse nodes that cannot leave this process, and names in `colocate` that are none of them."""
        check_all_movable(plan, name)
        mine = [node.name for node in plan.nodes if node.executor == name]
        for together in self.options.colocate:
            for one in together.node:
                if one not in mine:
                    raise InvalidArgumentError(
                        f"executor {name!r}: colocate names {one!r}, but no node of that name is on this executor"
                        f"{did_you_mean(one, mine, 1)}"
                    )

    def place(self, node: NodePlan, plan: Plan) -> Calculator:
        """Make the calculator of a node in its worker."""
        description = remote_node(node, plan)
        count = node.max_in_flight if node.contract.is_stateless else 1
        with self._lock:
            if self._pool is None:
                self._pool = _Pool(self.options)
            first = self._worker_of(node, plan)
            links = [self._pool.link(first + number) for number in range(min(count, self.options.process_count()))]
        copies = [(link, next(self._keys)) for link in links]
        if count > 1:  # each object has one call at a time, where there are workers enough
            share = -(-node.max_in_flight // len(copies))
            description = description._replace(max_in_flight=share)
        for link, key in copies:
            link.make(key, description)
        stand_in = RemoteCalculator(_Copies(copies, description))
        for link, key in copies:
            weakref.finalize(stand_in, link.forget, key).atexit = False
        return stand_in

    def close(self) -> None:
        """End all workers; a later run starts new ones."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def workers(self) -> tuple[int, ...]:
        """Return the process ids of the workers that live now."""
        pool = self._pool
        return () if pool is None else pool.pids()

    def _worker_of(self, node: NodePlan, plan: Plan) -> int:
        mine = [one.name for one in plan.nodes if one.executor == node.executor]
        home = {name: together.node[0] for together in self.options.colocate for name in together.node}
        leaders = list(dict.fromkeys(home.get(name, name) for name in mine))
        return leaders.index(home.get(node.name, node.name))


class _Copies:
    """Calls the objects of one node: `open` and `close` all of them, `process` one that is least busy."""

    def __init__(self, copies: list[tuple[Link, int]], node: RemoteNode) -> None:
        self._copies: Final = copies
        self._node: Final = node
        self._idle: Final = deque(copies)

    def __call__(self, call: Call) -> Future[Answer]:
        raise NotImplementedError


class _Pool:
    """The workers of an executor, and the memory that they share."""

    def __init__(self, options: ProcessExecutorOptions) -> None:
        self._options: Final = options
