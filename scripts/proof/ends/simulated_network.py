"""Sockets, and the processes of workers, in a simulated world.

A connection is a pair of `End`s. Bytes arrive after a while and in pieces, in their order; a process that
dies cuts the connection at any byte, and what was on its way may be lost. A process can be killed at any
moment, be stopped, start slowly or never, and leave a child that keeps its sockets open. The process does
what a real one does: `penstock_processes.worker.Worker` serves in it, with the same messages.
"""

from __future__ import annotations

import os
import socket
import struct
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self

from simulated_world import Group, Killed, SimulatedMachine

from penstock_processes.host import Host
from penstock_processes.worker import Worker
from penstock_processes.worker_setup import Descriptor, WorkerSetup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulated_world import World

#: The system takes a message up to this size whole or not at all.
_WHOLE: Final = 1 << 14
_CLOSED: Final = 9  # EBADF
_RESET: Final = 104  # ECONNRESET
_TIME: Final = struct.Struct("@ll")
#: How long bytes may be on their way, in seconds, in the networks of different seeds.
_DELAYS: Final = (1e-4, 5e-3, 0.3)


class End:
    """One end of a connection, as a socket.

    Args:
        world: where it is.
        splits: whether pieces of any size arrive; else what was sent at once arrives at once.
    """

    def __init__(self, world: World, *, splits: bool) -> None:
        self._world: Final = world
        self._splits: Final = splits
        self._delay: Final = world.random.choice(_DELAYS)
        self._room: Final = world.random.choice((_WHOLE + 100, 1 << 18))
        self.peer: End = self
        #: How many processes hold it.
        self.users = 1
        self._inbox = bytearray()
        self._on_way: Final[deque[bytes]] = deque()
        self._arrives_at = 0.0
        self._timeout: float | None = None
        self._is_shut_in = self._is_shut_out = self._was_cut = False

    # --- what a socket can do -----------------------------------------------------------------

    def setsockopt(self, level: int, option: int, value: bytes) -> None:
        """Set how long `recv` waits."""
        if (level, option) == (socket.SOL_SOCKET, socket.SO_RCVTIMEO):
            seconds, more = _TIME.unpack(value)
            self._timeout = seconds + more / 1e6

    def send(self, data: bytes | memoryview, flags: int = 0) -> int:
        """Send what there is room for; return how many bytes."""
        self._world.pause()
        self._check_out()
        count = self._takes(len(data))
        may_wait = not flags & socket.MSG_DONTWAIT
        if not may_wait and self._world.random.random() < 0.05:  # noqa: PLR2004  # no memory for it now
            raise BlockingIOError
        if not count:
            if not may_wait:
                raise BlockingIOError
            self._world.wait(lambda: bool(self._takes(len(data))) or self._is_cut_off())
            self._check_out()
            count = self._takes(len(data))
        self.peer.arrive(bytes(data[:count]))
        return count

    def sendall(self, data: bytes | memoryview) -> None:
        """Send all."""
        view = memoryview(data)
        while view.nbytes:
            view = view[self.send(view) :]

    def recv(self, size: int) -> bytes:
        """Wait for bytes; none at the end of the connection."""
        world = self._world
        world.pause()
        world.wait(lambda: bool(self._inbox) or self._is_at_end(), self._timeout)
        if self._inbox:
            count = min(size, len(self._inbox))
            if self._splits and world.random.random() < 0.1:  # noqa: PLR2004
                count = world.random.randint(1, count)
            found = bytes(self._inbox[:count])
            del self._inbox[:count]
            return found
        if not self.users:
            raise OSError(_CLOSED, "closed")
        if self._was_cut and not self._is_shut_in:
            self._was_cut = False
            raise ConnectionResetError(_RESET, "cut")
        if self._is_at_end():
            return b""
        raise BlockingIOError

    def recv_into(self, room: memoryview) -> int:
        """Receive into a part of memory."""
        found = self.recv(len(room))
        room[: len(found)] = found
        return len(found)

    def shutdown(self, how: int) -> None:
        """End one direction, or both."""
        if not self.users:
            raise OSError(_CLOSED, "closed")
        self._is_shut_in = self._is_shut_in or how in {socket.SHUT_RD, socket.SHUT_RDWR}
        self._is_shut_out = self._is_shut_out or how in {socket.SHUT_WR, socket.SHUT_RDWR}

    def close(self) -> None:
        """Let go of it."""
        self.users = max(0, self.users - 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- the network --------------------------------------------------------------------------

    def arrive(self, data: bytes) -> None:
        """Let bytes arrive after a while."""
        chance = self._world.random
        pieces = [data]
        if self._splits and len(data) > 1 and chance.random() < 0.3:  # noqa: PLR2004
            at = chance.randrange(1, len(data))
            pieces = [data[:at], data[at:]]
        for piece in pieces:
            self._on_way.append(piece)
            self._arrives_at = max(self._arrives_at, self._world.now + chance.random() * self._delay)
            self._world.at(self._arrives_at - self._world.now, self._deliver)

    def _deliver(self) -> None:
        if self._on_way:  # not cut meanwhile
            self._inbox += self._on_way.popleft()

    def cut(self) -> None:
        """Lose bytes that are on their way, from any one on: their sender is dead."""
        chance = self._world.random
        if chance.random() < 0.5:  # noqa: PLR2004
            return
        whole = b"".join(self._on_way)
        self._on_way.clear()
        self._inbox += whole[: chance.randint(0, len(whole))]
        self._was_cut = chance.random() < 0.5  # noqa: PLR2004

    def has_input(self) -> bool:
        """Return whether `recv` would not wait."""
        return bool(self._inbox) or self._is_at_end()

    def _is_at_end(self) -> bool:
        if self._is_shut_in or not self.users:
            return True
        return not self._on_way and (not self.peer.users or self.peer.is_shut_out())

    def is_shut_out(self) -> bool:
        """Return whether nothing more is sent from here."""
        return self._is_shut_out

    def _takes(self, size: int) -> int:
        unread = len(self.peer._inbox) + sum(map(len, self.peer._on_way))  # noqa: SLF001  # of this class
        room = self._room - unread
        return max(room, 0) if room < size and size > _WHOLE else size if room >= size else 0

    def _is_cut_off(self) -> bool:
        return not self.users or self._is_shut_out or not self.peer.users

    def _check_out(self) -> None:
        if not self.users:
            raise OSError(_CLOSED, "closed")
        if self._is_cut_off():
            raise BrokenPipeError


def pair(world: World, *, splits: bool = True) -> tuple[End, End]:
    """Return two ends of a connection."""
    one, other = End(world, splits=splits), End(world, splits=splits)
    one.peer, other.peer = other, one
    return one, other


class Process(Group):
    """The process of a worker, as `penstock_processes.process.WorkerProcess` has it.

    Args:
        world: where it is.
        number: its pid.
        ends: its sockets.
    """

    def __init__(self, world: World, number: int, ends: Sequence[End]) -> None:
        super().__init__()
        self._world: Final = world
        self.pid: Final = number
        self._ends: Final = ends
        #: As the driver gets it; None while it lives.
        self.code: int | None = None
        #: Whether a child holds its sockets open when it has died.
        self.has_child = world.random.random() < 0.1  # noqa: PLR2004

    def die(self, code: int) -> None:
        """End it now."""
        if self.code is not None:
            return
        self._world.tell(f"process {self.pid} ends with {code}")
        self.code = code
        self.is_frozen = False
        self._world.kill(self)
        for end in self._ends:
            end.peer.cut()
            if not self.has_child:
                end.close()

    def has_ended(self, timeout: float = 0.0) -> bool:
        """Return whether it has ended, waiting for that."""
        return self._world.wait(lambda: self.code is not None, timeout)

    def is_stopped(self) -> bool:
        """Return whether a signal has stopped it."""
        return self.is_frozen

    def kill(self) -> None:
        """Kill it: it dies a moment later."""
        self._world.at(self._world.random.random() * 0.01, lambda: self.die(-9))

    def end(self) -> int | None:
        """Wait until it has ended, and kill it if it goes on; return its exit code."""
        for _ in range(2):
            if self.has_ended(5.0):
                break
            self.kill()
        return self.code

    def close(self) -> None:
        """Release what it holds here: nothing."""


class SimulatedWorker(Worker):
    """The worker of a simulated process."""

    def __init__(self, setup: WorkerSetup, machine: SimulatedMachine, process: Process) -> None:
        super().__init__(setup, machine)
        self._world: Final = machine.world
        self._process: Final = process

    def _wait(self, watched: list[Any]) -> list[Any]:
        self._world.wait(watched[0].has_input)
        return watched[:1]

    def _leave(self, status: int) -> NoReturn:
        self._process.die(status)
        raise Killed


class SimulatedHost(SimulatedMachine, Host):
    """Starts processes in a world.

    Args:
        world: where they are.
        may_fail: whether processes start badly now and then.
    """

    def __init__(self, world: World, *, may_fail: bool) -> None:
        super().__init__(world)
        self._may_fail: Final = may_fail
        #: All that were started.
        self.processes: Final[list[Process]] = []

    def socket_pair(self) -> Any:
        """Return two ends: of calls the first time, of the control socket the second."""
        self._pairs = getattr(self, "_pairs", 0) + 1
        return pair(self.world, splits=self._pairs % 2 == 1)

    def start(  # noqa: PLR0913  # as there
        self,
        context: object,  # noqa: ARG002
        setup: WorkerSetup,
        name: str,
        timeout_s: float,  # noqa: ARG002
        sockets: Sequence[Any],  # noqa: ARG002
        *,
        is_in_sandbox: bool,  # noqa: ARG002
    ) -> Any:
        """Start a worker."""
        world, chance = self.world, self.world.random
        ends: list[Any] = [setup.calls, setup.control]
        for end in ends:
            end.users += 1
        process = Process(world, len(self.processes) + 1, ends)
        self.processes.append(process)
        slow = chance.random() * 0.2
        if self._may_fail and chance.random() < 0.05:  # noqa: PLR2004
            slow = 1e6
        elif self._may_fail and chance.random() < 0.05:  # noqa: PLR2004
            world.at(slow * chance.random(), lambda: process.die(1))
        arenas = {key: Descriptor(os.dup(one.number)) for key, one in setup.arenas.items()}
        inside = setup._replace(driver=None, arenas=arenas)
        worker = SimulatedWorker(inside, SimulatedMachine(world, process), process)

        def work() -> None:
            world.sleep(slow)
            worker.serve()

        world.spawn(work, f"{name}.{process.pid}", process)
        return process
