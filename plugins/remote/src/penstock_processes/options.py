"""The options of `ProcessExecutor`."""

from __future__ import annotations

import os
from enum import Enum
from typing import Final

import attrs

from penstock.errors import InvalidArgumentError
from penstock_remote.api import Together  # noqa: TC001  # the options' types are read at run time

#: Each process has the memory of all, so it gets as many descriptors at its start, and 253 is the system's
#: limit.
MOST_PROCESSES: Final = 200


class StartMethod(Enum):
    """How processes are started. Never by a plain fork: the driver has threads."""

    #: By a server process that forks, where the system has one, which is fast; else as SPAWN.
    FORKSERVER = 0
    #: A fresh interpreter for each process.
    SPAWN = 1


class Codec(Enum):
    """Which payloads may go to a process and come from it."""

    #: Each one that pickles.
    PICKLE = 0
    #: NumPy arrays of numbers, images, matrices, protobuf messages, str, bytes, numbers, bool and None, and
    #: lists, tuples and dicts of these: for code that is not trusted. An error comes as text.
    NO_PICKLE = 1


class SandboxKind(Enum):
    """What stands around a process, so that its code cannot touch the rest of the machine."""

    #: Nothing: the code may do what this user may.
    NONE = 0
    #: bubblewrap (`bwrap`), where it is installed; Linux only.
    BUBBLEWRAP = 1


@attrs.frozen
class ProcessExecutorOptions:
    """How many processes there are, and what goes between them and the driver.

    Attributes:
        num_processes: 0: as many as there are processors.
        start: how they are started.
        arena_mib: the most shared memory, in MiB, for payloads on their way from the driver, and from each
            process; what finds no room goes through a socket.
        start_timeout_s: how long a process may take until it is ready, in seconds.
        stopped_timeout_s: how long a process may be stopped by a signal (SIGSTOP) while it is needed, in
            seconds; then it is killed. Only where the system tells it: Linux.
        cancel_grace_s: how long a call may go on after it was cancelled until its process is killed.
        codec: which payloads may pass.
        sandbox: what stands around each process. In a sandbox it has no network, sees no other process, keeps
            little of the environment, and reads Python's folders, `sys.path` among them, and nothing else;
            an empty /tmp is its own. Needs start: FORKSERVER.
        sandbox_reads, sandbox_writes: files and folders that it may read, or write too, besides.
        sandbox_network: whether it has the network.
        colocate: nodes that share a process; the others are spread in the order of the graph.
    """

    num_processes: int = 0
    start: StartMethod = StartMethod.FORKSERVER
    arena_mib: int = 64
    start_timeout_s: float = 60.0
    stopped_timeout_s: float = 10.0
    cancel_grace_s: float = 5.0
    codec: Codec = Codec.PICKLE
    sandbox: SandboxKind = SandboxKind.NONE
    sandbox_reads: tuple[str, ...] = ()
    sandbox_writes: tuple[str, ...] = ()
    sandbox_network: bool = False
    colocate: tuple[Together, ...] = ()

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.num_processes <= MOST_PROCESSES:
            words = f"must be from 0 to {MOST_PROCESSES}"
            raise InvalidArgumentError(
                f"ProcessExecutor option num_processes is {self.num_processes}, but {words}"
            )
        if not 1 <= self.arena_mib <= 1 << 20:
            raise InvalidArgumentError(
                f"ProcessExecutor option arena_mib is {self.arena_mib}, but must be from 1 to {1 << 20}"
            )
        for name in ("start_timeout_s", "stopped_timeout_s", "cancel_grace_s"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise InvalidArgumentError(f"ProcessExecutor option {name} is {value}, but must be positive")

        if self.sandbox is SandboxKind.NONE:
            for name in ("sandbox_reads", "sandbox_writes", "sandbox_network"):
                if getattr(self, name):
                    raise InvalidArgumentError(
                        f"ProcessExecutor option {name} is set, but there is no sandbox; "
                        "set sandbox: BUBBLEWRAP"
                    )
        elif self.start is not StartMethod.FORKSERVER:
            raise InvalidArgumentError(
                "ProcessExecutor option sandbox needs start: FORKSERVER, whose server outlives its starter"
            )

    def process_count(self) -> int:
        """Return how many processes there are to be."""
        return self.num_processes or os.cpu_count() or 1
