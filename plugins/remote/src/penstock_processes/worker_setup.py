"""What a worker is given at its start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import socket


class Sandbox(NamedTuple):
    """What a worker in a sandbox may touch beside Python's own files.

    Attributes:
        reads, writes: paths of files and folders.
        network: whether it has the network of this machine.
        preparation: what `multiprocessing` does in a new process before its target.
    """

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    network: bool
    preparation: dict[str, Any]


class Descriptor:
    """A file's descriptor that goes to a process which is being started: it is another one there."""

    def __init__(self, number: int) -> None:
        self.number: Final = number

    def __reduce__(self) -> tuple[Any, ...]:
        # Here: Windows has none, where this package can be imported too.
        from multiprocessing.reduction import DupFd

        return _received, (DupFd(self.number),)


def _received(descriptor: Any) -> Descriptor:
    return Descriptor(descriptor.detach())


class WorkerSetup(NamedTuple):
    """What a worker is given at its start."""

    #: Number of the worker's own arena.
    arena: int
    #: The socket for calls and answers.
    calls: socket.socket
    #: The socket whose end means that the driver has ended.
    control: socket.socket
    #: The process id of the driver; None in a sandbox, which does not see it.
    driver: int | None
    #: Number → descriptor of each arena that the worker may read.
    arenas: dict[int, Descriptor]
    #: The size of each.
    arena_bytes: int
    #: See `Codec.NO_PICKLE`.
    is_plain: bool
    #: The log level of the driver's root logger.
    log_level: int
    #: The sandbox that the process is to enter before anything else; None for none, or inside.
    sandbox: Sandbox | None = None
