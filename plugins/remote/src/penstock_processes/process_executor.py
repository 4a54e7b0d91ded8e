"""`ProcessExecutor`: nodes work in other processes, which live as long as the graph."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import threading
import weakref
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from penstock.errors import InvalidArgumentError
from penstock_executors import ThreadPoolExecutor
from penstock_processes.arena import Arena, OwnArena, has_memory_files, memory_file
from penstock_processes.host import THIS_HOST, Host
from penstock_processes.link import Link
from penstock_processes.options import Codec, ProcessExecutorOptions, SandboxKind, StartMethod
from penstock_processes.process import WorkerNotStartedError
from penstock_processes.sandbox import check_sandbox
from penstock_remote.api import (
    NodeCopies,
    Places,
    RemoteCalculator,
    check_all_movable,
    check_names,
    colocated,
    described,
    end_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from penstock import ExecutorDefaults
    from penstock.lowlevel import NodePlan, Plan, StandIn

A = TypeVar("A", bound=Arena)

#: Threads of the driver that write calls; each call takes a part of a millisecond at most.
_MOST_SENDERS: Final = 4


class ProcessExecutor(ThreadPoolExecutor):
    """Runs nodes in worker processes: Python code works on several cores, and a crash ends one process.

    The graph goes on in this process; a node's calculator is made, opened, called and closed in a worker.
    Node number k of the executor is in worker k modulo their number, unless `colocate` says otherwise. With
    `max_in_flight` a node whose contract declares `stateless` (plain functions do) has an object in each of
    so many workers; calls of any other overlap on threads of its worker.

    Payloads are pickled; arrays, images and all buffers of 4 KiB and more go through shared memory, arrive
    read-only, and stay valid as long as anybody looks at them. Workers start when the first run is put
    together and live until the graph is closed; a worker that has died is replaced at the next run. Not on
    Windows.

    Args:
        num_processes, start, arena_mib, start_timeout_s, stopped_timeout_s, cancel_grace_s, codec, sandbox,
            sandbox_reads, sandbox_writes, sandbox_network, colocate: as in `ProcessExecutorOptions`.

    Raises:
        UnavailableError: a sandbox is asked for, and bubblewrap is not installed.
        InvalidArgumentError: an option is out of its range; or the system has no such memory: Windows.

    Example config::

        executor {
          name: "workers"
          type: "ProcessExecutor"
          options { [penstock_processes.ProcessExecutorOptions.ext] { num_processes: 4 } }
        }
        node {
          calculator: "Segment"  executor: "workers"  max_in_flight: 4
          input_stream: "frame"  output_stream: "mask"
        }
    """

    places = True

    def __init__(self, num_processes: int = 0, **options: Any) -> None:
        self.options: Final = ProcessExecutorOptions(num_processes=num_processes, **options)
        #: Starts the processes; a trial simulates them.
        self._host: Host = THIS_HOST
        super().__init__(min(_MOST_SENDERS, self.options.process_count()), "penstock-send")
        if not has_memory_files():
            raise InvalidArgumentError(
                "a ProcessExecutor needs shared memory whose descriptor can be handed over, which Linux and "
                "macOS have; name a ThreadPoolExecutor here"
            )
        if self.options.sandbox is not SandboxKind.NONE:
            check_sandbox(self.options)
        self._lock: Final = threading.Lock()
        #: Keys of nodes in workers; they are given under the lock.
        self._keys: Final = itertools.count()
        self._pool: _Pool | None = None
        self._places: Final = Places(self.options.colocate)
        #: Whether a node has a failure policy, which may call a calculator in this process.
        self._has_policies = False

    @property
    def may_send(self) -> Callable[[], bool]:
        """Says whether the thread that makes a step ready may send its call: no step may wait."""
        return self._sends_only  # asked for with each run; an attribute would be a reference cycle

    def _sends_only(self) -> bool:
        """Return whether all steps are calls to workers, which never wait."""
        return not self._has_policies

    @classmethod
    def create(cls, options: Any, defaults: ExecutorDefaults) -> ProcessExecutor:
        """Make one from `ProcessExecutorOptions`."""
        given: ProcessExecutorOptions = options.get(ProcessExecutorOptions)
        return cls(
            given.num_processes or max(1, min(os.cpu_count() or 1, defaults.suggested_threads)),
            start=given.start,
            arena_mib=given.arena_mib,
            start_timeout_s=given.start_timeout_s,
            stopped_timeout_s=given.stopped_timeout_s,
            cancel_grace_s=given.cancel_grace_s,
            codec=given.codec,
            sandbox=given.sandbox,
            sandbox_reads=given.sandbox_reads,
            sandbox_writes=given.sandbox_writes,
            sandbox_network=given.sandbox_network,
            colocate=given.colocate,
        )

    def check(self, plan: Plan, name: str) -> None:
        """Refuse nodes that cannot leave this process, and names in `colocate` that are none of them."""
        check_all_movable(plan, name)
        check_names(
            [one for together in self.options.colocate for one in together.node], plan, name, "colocate"
        )

    def arrange(self, plan: Plan, name: str, watched: Collection[int]) -> Plan:
        """Make regions of neighbours that share a worker."""
        return colocated(plan, name, self.options.colocate, watched)

    def place(self, node: NodePlan, plan: Plan) -> StandIn:
        """Make the calculator of a node in its worker."""
        self._has_policies = self._has_policies or node.failure is not None
        description = described(node, plan)
        count = node.max_in_flight if node.contract.declared.stateless else 1
        with self._lock:
            if self._pool is None:
                self._pool = _Pool(self.options, self._host)
            first = self._places.of(node, plan)
            links = [
                self._pool.link(first + number) for number in range(min(count, self.options.process_count()))
            ]
            copies = [(link, next(self._keys)) for link in links]
        if count > 1:  # each object has one call at a time, where there are workers enough
            share = -(-node.max_in_flight // len(copies))
            description = description._replace(max_in_flight=share)
        for link, key in copies:
            link.make(key, description)
        end = end_of(node, plan, is_plain=self.options.codec is Codec.NO_PICKLE)
        stand_in = RemoteCalculator(
            NodeCopies([partial(link.call, key, description) for link, key in copies], links), end
        )
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


class _Pool:
    """The workers of an executor, and the memory that they share. Called under the executor's lock.

    A worker that has died is replaced by one with an arena of its own: packets may still lie in the old one.
    """

    def __init__(self, options: ProcessExecutorOptions, host: Host) -> None:
        self._options: Final = options
        self._host: Final = host
        methods = multiprocessing.get_all_start_methods()
        is_forked = options.start is StartMethod.FORKSERVER and "forkserver" in methods
        self._context: Final = multiprocessing.get_context("forkserver" if is_forked else "spawn")
        self._arena_numbers: Final = itertools.count()
        self._descriptors: Final[dict[int, int]] = {}
        self._arenas: Final[dict[int, Arena]] = {}
        self._links: Final[dict[int, Link]] = {}
        self._own: Final = self._new_arena(OwnArena)

    def link(self, number: int) -> Link:
        """Return the worker of a number, modulo how many there are; it is started if it does not live."""
        number %= self._options.process_count()
        old = self._links.get(number)
        if old is not None:
            if not old.is_dead:
                return old
            old.join()
            self._drop_arena(old.arena)
            del self._links[number]
        arena = self._new_arena(Arena).number
        try:
            link = Link(
                number + 1,
                arena,
                self._context,
                self._options,
                dict(self._arenas),
                self._own,
                self._descriptors,
                self._host,
            )
        except BaseException:
            self._drop_arena(arena)
            raise
        self._links[number] = link
        return link

    def close(self) -> None:
        """End all workers, and wait until they have ended, or are killed."""
        for link in self._links.values():
            link.end()
        with ExitStack() as stack:
            for descriptor in self._descriptors.values():
                stack.callback(os.close, descriptor)
            for link in self._links.values():
                stack.callback(link.join)

    def pids(self) -> tuple[int, ...]:
        """Return the process ids of the workers that live."""
        return tuple(
            link.pid for link in list(self._links.values()) if link.pid is not None and not link.is_dead
        )

    def _new_arena(self, kind: type[A]) -> A:
        number = next(self._arena_numbers)
        size = self._options.arena_mib << 20
        try:
            descriptor = memory_file(size)
            try:
                arena = kind(number, descriptor, size)
            except BaseException:
                os.close(descriptor)
                raise
        except (OSError, ValueError) as error:
            mib = self._options.arena_mib
            raise WorkerNotStartedError(
                f"the process executor has no shared memory of {mib} MiB for payloads: {error}; lower "
                "arena_mib, or raise the limits of files, of descriptors and of memory (`ulimit -f`, `-n`, "
                "`-v`)"
            ) from error
        self._descriptors[number] = descriptor
        self._arenas[number] = arena
        return arena

    def _drop_arena(self, number: int) -> None:
        """Let go of an arena; its memory lives as long as a payload in it."""
        del self._arenas[number]
        os.close(self._descriptors.pop(number))
