"""The process in which nodes work: what it does from its start to its end.

Threads take messages in turns: one reads, gives up reading, and does what the message asks for. So a worker
with one node works on one thread, and no thread waits for another between a message and the call. A thread
of its own watches the control socket: when it ends, the driver has ended, and so does this process.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import sys
from functools import partial
from multiprocessing import spawn
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, NoReturn

from penstock.packs import default_registry
from penstock_processes.channel import Channel, NoRoomError
from penstock_processes.messages import (
    ANSWER,
    CALL,
    CANCEL,
    ERROR,
    LOG,
    MAKE,
    READY,
)
from penstock_processes.sandbox import enter
from penstock_processes.worker_setup import Descriptor, WorkerSetup
from penstock_remote.api import (
    THIS_MACHINE,
    LogSender,
    Machine,
    end_child,
    error_as_data,
    hosted,
    log_as_node,
    output_fault,
)

if TYPE_CHECKING:
    from penstock_remote.api import Described, Hosted

#: The most threads that take messages.
_MOST_THREADS: Final = 64
#: How long services may take to close, and what was printed to be taken, before the process ends.
_SERVICE_CLOSE_S: Final = 1.0
#: The exit status of a worker that could not go on.
_BROKEN: Final = 70


def work(setup: WorkerSetup) -> None:
    """Serve the driver until it ends this process; the target of a process."""
    if setup.sandbox is not None:
        enter(setup, setup.sandbox)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    Worker(setup).serve_for_ever()


def work_inside(number: int) -> None:
    """Work inside of a sandbox, as the setup says that lies in a file with this descriptor."""
    with os.fdopen(number, "rb") as file:
        (calls, control, arenas), setup, preparation = pickle.load(file)  # noqa: S301  # of the driver
    spawn.prepare(preparation)
    work(
        setup._replace(
            calls=socket.socket(fileno=calls),
            control=socket.socket(fileno=control),
            arenas={key: Descriptor(descriptor) for key, descriptor in arenas.items()},
        )
    )


class Worker:
    """What serves a driver in a process.

    Args:
        setup: what the process was given.
        machine: whose threads take messages.
    """

    def __init__(self, setup: WorkerSetup, machine: Machine = THIS_MACHINE) -> None:
        # What imports NumPy, which the server that forks must not.
        from penstock_processes.arena import Arena, OwnArena
        from penstock_processes.carrier import Carrier
        from penstock_processes.parcels import pack_answer, unpack_call

        self._machine: Final = machine
        self._unpack: Final = unpack_call
        self._pack: Final = pack_answer
        self._calls: Final = Channel(setup.calls)
        self._control: Final[socket.socket] = setup.control
        self._driver: Final = setup.driver
        #: Whether this is a child that a calculator has forked.
        self._is_child = False
        self._is_plain: Final = setup.is_plain
        arenas: dict[int, Arena] = {}
        for number, descriptor in setup.arenas.items():
            kind = OwnArena if number == setup.arena else Arena
            arenas[number] = kind(number, descriptor.number, setup.arena_bytes)
            os.close(descriptor.number)
        own = arenas[setup.arena]
        self._carrier: Final = Carrier(
            own if isinstance(own, OwnArena) else None, arenas, is_plain=self._is_plain
        )
        self._nodes: Final[dict[int, Hosted | BaseException]] = {}
        self._services: Final[dict[Any, object]] = {}
        self._reading: Final = machine.lock()
        self._sending: Final = machine.lock()
        self._thread_count = 1
        self._running: Final[dict[int, Hosted]] = {}
        self._log_level: Final = setup.log_level

    def serve_for_ever(self) -> None:
        """Be the worker of this process."""
        root = logging.getLogger()
        root.addHandler(LogSender(self._send_log))
        root.setLevel(self._log_level)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._let_go)
        self.serve()

    def serve(self) -> None:
        """Do what the driver says, until it ends this process."""
        self._machine.thread(self._watch_driver, "penstock-control").start()
        self._send(READY, os.getpid(), None)
        self._serve()

    def _let_go(self) -> None:
        """Close in a child of this process what would keep the connection open when this process has died."""
        self._is_child = True
        self._calls.socket.close()
        self._control.close()

    def _serve(self) -> None:
        """Take messages until there are no more.

        What a calculator raises is its answer. Any other exception ends the process, and so reaches the
        driver: a thread that ended alone would leave a call without an answer.
        """
        try:
            while True:
                self._take_next()
        except BaseException as error:  # noqa: BLE001  # also SystemExit, which would end this thread alone
            self._end(error)

    def _take_next(self) -> None:
        with self._reading:
            try:
                kind, number, content = self._calls.receive()
            except (EOFError, OSError):
                self._end()
            except NoRoomError as error:
                self._refuse(error)
                return
            if kind == MAKE:  # with the lock held: calls of the node come after it
                self._make(number, content)
                return
        if kind == CALL:
            self._answer(number, content)

    def _refuse(self, error: NoRoomError) -> None:
        """Answer a message for which there was no memory."""
        if error.kind == MAKE:
            self._nodes[error.number] = error
        else:
            self._send(ERROR, error.number, error_as_data(MemoryError(str(error)), is_plain=self._is_plain))

    def _make(self, key: int, body: memoryview) -> None:
        """Make a node; a fault is kept for its first call."""
        try:
            node: Described
            forgotten, node = self._carrier.loads(body)
            for old in forgotten:
                gone = self._nodes.pop(old, None)
                if not isinstance(gone, BaseException | None):
                    gone.close(_SERVICE_CLOSE_S)
            registry, empty = default_registry(), self._carrier.empty
            self._nodes[key] = hosted(node, registry, self._services, empty, is_plain=self._is_plain)
            wanted = min(_MOST_THREADS, self._wanted_threads() + node.max_in_flight - 1)
            while self._thread_count < wanted:
                name = f"penstock-worker-{self._thread_count}"
                self._machine.thread(self._serve, name).start()
                self._thread_count += 1
        except BaseException as error:  # noqa: BLE001  # told to the driver
            self._nodes[key] = error

    def _wanted_threads(self) -> int:
        return sum(not isinstance(node, BaseException) for node in self._nodes.values())

    def _answer(self, number: int, body: memoryview) -> None:
        """Do a call, and send its results."""
        try:
            message = self._called(number, body)
        except BaseException as error:  # noqa: BLE001  # told to the driver
            self._send(ERROR, number, error_as_data(error, is_plain=self._is_plain))
        else:
            self._send_bytes(ANSWER, number, message)

    def _called(self, number: int, body: memoryview) -> bytes:
        """Do a call; return its answer as a message. What it was given is dead then, unless it is kept."""
        key, call = self._unpack(self._carrier, body)
        node = self._nodes[key]
        if isinstance(node, BaseException):
            raise node
        self._running[number] = node
        try:
            with log_as_node(node.name):
                answer = node.call(call)
        finally:
            if self._is_child:
                end_child(node.name)
            del self._running[number]
        stamp = call.stamp
        del call
        try:
            return self._pack(self._carrier, answer)
        except (Exception, SystemExit) as error:
            raise output_fault(node, answer, stamp) or error from error

    def _send(self, kind: int, number: int, content: object) -> None:
        self._send_bytes(kind, number, self._carrier.dumps(content))

    def _send_bytes(self, kind: int, number: int, message: bytes) -> None:
        try:
            with self._sending:
                self._calls.send(kind, number, message)
        except OSError:
            self._end()

    def _send_log(self, record: dict[str, Any]) -> None:
        self._send(LOG, 0, record)

    def _watch_driver(self) -> None:
        """Do what the driver says on the control socket, and end with it.

        The driver's death is asked of the system too: a child that it has forked may hold the socket open.
        """
        watched: list[Any] = [self._control]
        if self._driver is not None and hasattr(os, "pidfd_open"):
            try:
                watched.append(os.pidfd_open(self._driver))
            except ProcessLookupError:
                self._end()  # it has ended already
            except OSError:
                pass  # this system does not tell: then the socket alone does
        while True:
            try:
                if self._control not in self._wait(watched):
                    self._end()
                said = self._control.recv(9)
            except (OSError, ValueError):  # a calculator has closed it
                said = b""
            if said[:1] != CANCEL:
                self._end()
            node = self._running.get(int.from_bytes(said[1:], "little"))
            if node is not None:
                node.cancel()

    def _end(self, error: BaseException | None = None) -> NoReturn:
        """End this process now: calculators have been closed, or nobody is left to close them for.

        Args:
            error: why the process cannot go on; None where its work is done.
        """
        closing = self._machine.thread(partial(self._say_and_close, error), "penstock-closing")
        closing.start()
        closing.join(_SERVICE_CLOSE_S)
        self._leave(0 if error is None else _BROKEN)

    def _wait(self, watched: list[Any]) -> list[Any]:
        """Wait for one of some sockets and descriptors; a trial simulates them."""
        return wait(watched)

    def _leave(self, status: int) -> NoReturn:
        """End this process; a trial has none."""
        os._exit(status)

    def _say_and_close(self, error: BaseException | None) -> None:
        """Print why, close services, and flush; each of these may wait for ever."""
        try:
            if error is not None:
                sys.excepthook(type(error), error, error.__traceback__)
            for service in self._services.values():
                close = getattr(service, "close", None)
                if close is not None:
                    close()
        finally:
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()  # for as long as it likes: somebody may hold the other end and not read
                except (OSError, ValueError):
                    continue  # nobody reads it
