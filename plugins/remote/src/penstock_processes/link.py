"""The driver's end of one worker: its process, what is sent to it, and the thread that takes its answers."""

from __future__ import annotations

import itertools
import logging
import signal
import socket
import threading
from collections import deque
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock_processes.carrier import Carrier
from penstock_processes.channel import Channel, Outbox
from penstock_processes.messages import (
    ANSWER,
    CALL,
    CANCEL,
    END,
    ERROR,
    LOG,
    MAKE,
    READY,
)
from penstock_processes.parcels import pack_call, unpack_answer
from penstock_processes.worker import Descriptor, WorkerSetup, work
from penstock_remote.api import Pending, WorkerDiedError, error_from_data, input_fault, log_here

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from penstock_processes.arena import Arena, OwnArena
    from penstock_processes.options import ProcessExecutorOptions
    from penstock_remote.api import Answer, Call, Described

#: How long a worker that was asked to end may take until it is killed.
_END_S: Final = 2.0
#: How long the kernel may take to tell how a process ended that has closed its connection.
_REAP_S: Final = 5.0
#: Held while a process is started, which asks all others how they ended, or is asked itself:
#: `multiprocessing` loses the answer if two threads ask at once.
_PROCESSES: Final = threading.Lock()


class _Ends(NamedTuple):
    """What a link holds while its process lives."""

    process: BaseProcess
    calls: Channel
    control: socket.socket


class Link:
    """One worker process, started at once.

    Args:
        number: of the worker, from 1.
        arena: number of the arena that is its own.
        context: how processes are started.
        options: of the executor.
        arenas: number → mapping of each arena that the worker has.
        own: the one in which this process takes blocks.
        descriptors: number → descriptor of each arena; stay the caller's.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what a worker shares with the others
        self,
        number: int,
        arena: int,
        context: BaseContext,
        options: ProcessExecutorOptions,
        arenas: dict[int, Arena],
        own: OwnArena | None,
        descriptors: dict[int, int],
    ) -> None:
        self.number: Final = number
        self.arena: Final = arena
        self._options: Final = options
        self._is_plain: Final = options.codec.value == 1
        self.carrier: Final = Carrier(own, arenas, is_plain=self._is_plain)
        self._numbers: Final = itertools.count(1)
        self._pending: Final[dict[int, Pending]] = {}
        self._forgotten: Final[deque[int]] = deque()
        self._killers: list[threading.Timer] = []
        self._death: WorkerDiedError | None = None
        self.pid: int | None = None
        self.is_ready = threading.Event()
        self._ends: Final = self._start(context, descriptors)
        self._outbox: Final = Outbox(self._ends.calls, f"penstock-outbox-{number}")
        self._thread: Final = threading.Thread(
            target=self._receive, name=f"penstock-worker-{number}", daemon=True
        )
        self._thread.start()

    def _start(self, context: BaseContext, descriptors: dict[int, int]) -> _Ends:
        ours, theirs = socket.socketpair()
        control, their_control = socket.socketpair()
        with theirs, their_control:
            calls = Channel(ours)
            arenas = {number: Descriptor(descriptor) for number, descriptor in descriptors.items()}
            size = self._options.arena_mib << 20
            level = logging.getLogger().getEffectiveLevel()
            setup = WorkerSetup(self.arena, theirs, their_control, arenas, size, self._is_plain, level)
            process: BaseProcess = context.Process(  # type: ignore[attr-defined]  # each context has it
                target=work, args=(setup,), name=f"penstock-worker-{self.number}", daemon=True
            )
            try:
                _start(process)
            except BaseException:
                calls.close()
                control.close()
                raise
        self.pid = process.pid
        return _Ends(process, calls, control)

    # --- to the worker ------------------------------------------------------------------------

    def where(self) -> str:
        """Return which worker this is, in words."""
        return f"worker {self.number} (pid {self.pid})"

    @property
    def is_dead(self) -> bool:
        """Whether the process has ended; a new link takes its place."""
        return self._death is not None

    def make(self, key: int, node: Described) -> None:
        """Let the worker make a node, to which a key leads."""
        forgotten = [self._forgotten.popleft() for _ in range(len(self._forgotten))]
        self._send(MAKE, key, (forgotten, node))

    def forget(self, key: int) -> None:
        """Let the worker drop a node when it gets the next one. May be called at any moment."""
        self._forgotten.append(key)

    def call(self, key: int, node: Described, call: Call, write: Callable[[Answer], Any]) -> Pending:
        """Send a call; return what `write` will make of its answer.

        Raises:
            InvalidArgumentError: a payload cannot go to another process; names the input and the payload.
            WorkerDiedError: the process has ended.
        """
        number = next(self._numbers)
        pending = Pending(self, number, node.name, call, write)
        try:
            body = pack_call(self.carrier, key, call)
        except Exception as error:
            raise input_fault(node, call) or error from error
        self._pending[number] = pending
        try:
            self._send_bytes(CALL, number, body)
        except BaseException:  # an interrupt: its answer, if it was sent, is nobody's
            self._pending.pop(number, None)
            raise
        death = self._death
        if death is not None and self._pending.pop(number, None) is not None:
            raise self._died(pending, death)
        return pending

    def cancel(self, pending: Pending) -> threading.Timer:
        """Ask the worker to end a call; return the timer that kills it if it does not."""
        number = pending.number
        with suppress(OSError):  # it is dead, and the thread that receives is about to say so
            self._ends.control.send(CANCEL + number.to_bytes(8, "little"))
        killer = threading.Timer(self._options.cancel_grace_s, self._kill_if_pending, (number,))
        killer.daemon = True
        killer.start()
        self._killers = [one for one in self._killers if one.is_alive()] + [killer]
        return killer

    def end(self) -> None:
        """Tell the worker to end; `join` waits for it."""
        with suppress(OSError):  # it has ended
            self._ends.control.send(END)

    def join(self) -> None:
        """Wait until the process and the thread that receives have ended; kill the process if need be."""
        process = self._ends.process
        self._thread.join(_END_S)
        if self._thread.is_alive():
            process.kill()
            self._thread.join(_REAP_S)
        self._ends.control.close()
        self._outbox.join(_REAP_S)
        for killer in self._killers:
            killer.cancel()
            killer.join(_REAP_S)
        if self.is_dead:
            process.close()

    def _send(self, kind: int, number: int, content: object) -> None:
        self._send_bytes(kind, number, self.carrier.dumps(content))

    def _send_bytes(self, kind: int, number: int, message: bytes) -> None:
        with suppress(OSError):  # the thread that receives sees it too, and fails the calls under way
            self._outbox.send(kind, number, message)

    def _kill_if_pending(self, number: int) -> None:
        if number in self._pending:
            self._ends.process.kill()

    # --- from the worker: one thread ----------------------------------------------------------

    def _receive(self) -> None:
        calls = self._ends.calls
        late = False
        try:
            if wait([calls.socket], self._options.start_timeout_s):
                while True:
                    self._take(*calls.receive())
            late = True
        except (EOFError, OSError):
            pass  # the process has ended, or has closed its end
        finally:
            self._bury(late=late)

    def _take(self, kind: int, number: int, body: memoryview) -> None:
        if kind == READY:
            self.is_ready.set()
            return
        if kind == LOG:
            log_here(self.carrier.loads(body))
            return
        pending = self._pending.get(number)
        if pending is None:
            with suppress(Exception):
                self.carrier.loads(body)  # so that the worker learns that nobody looks at its blocks
            return
        answer: Answer | None = None
        error: BaseException | None = None
        try:
            if kind == ANSWER:
                answer = unpack_answer(self.carrier, body)
            elif kind == ERROR:
                error = error_from_data(self.carrier.loads(body), is_plain=self._is_plain)
        except BaseException as broken:  # noqa: BLE001  # the error of the call
            error = broken
        del self._pending[number]
        pending.finish(answer, error)

    def _bury(self, *, late: bool) -> None:
        """Learn how the process ended, and fail the calls under way."""
        self._outbox.close()  # first, whatever comes: its thread waits for this without a time-out
        process = self._ends.process
        if late:
            process.kill()
        code = _exit_code(process)
        if code is None:
            process.kill()
            code = _exit_code(process)
        self._death = self._how(code, late=late)
        self._ends.calls.close()
        self.carrier.release()
        self.is_ready.set()
        while self._pending:
            _, pending = self._pending.popitem()
            pending.finish(None, self._died(pending, self._death))

    def _how(self, code: int | None, *, late: bool) -> WorkerDiedError:
        name = signal.Signals(-code).name if code is not None and code < 0 else None
        if late:
            words = f"was not ready after {self._options.start_timeout_s:g} s, and was killed"
        elif name is not None:
            words = f"was killed by {name}"
        else:
            words = f"ended with exit status {code}"
        if not late and not self.is_ready.is_set():
            words += (
                " before it was ready; its last words are on stderr. A script that runs a graph with workers "
                "must do so under `if __name__ == '__main__':`, because workers import it"
            )
        return WorkerDiedError(words, pid=self.pid, signal_name=name, exit_status=None if name else code)

    def _died(self, pending: Pending, how: WorkerDiedError) -> WorkerDiedError:
        return WorkerDiedError(
            f"node {pending.node!r}: {self.where()} {how} in {pending.words()}",
            pid=how.pid,
            signal_name=how.signal,
            exit_status=how.exit_status,
            node=pending.node,
            timestamp=pending.stamp,
        )


def _start(process: BaseProcess) -> None:
    """Start a process whole, or not at all: a thread does it, which Ctrl-C does not reach, nor the process.

    Raises:
        KeyboardInterrupt: Ctrl-C came meanwhile; the process has started.
        Exception: whatever kept it from starting.
    """
    failures: list[BaseException] = []

    def start() -> None:
        try:
            resource_tracker.ensure_running()  # which unblocks the signal if `start` has to start it
            # The process inherits this, until it says that it ignores the signal.
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            with _PROCESSES:
                process.start()
        except BaseException as error:  # noqa: BLE001  # raised on the caller's thread
            failures.append(error)
        finally:
            is_done.set()

    is_done = threading.Event()
    starter = threading.Thread(target=start, name="penstock-start")
    starter.start()
    interrupt: KeyboardInterrupt | None = None
    while not is_done.is_set():  # a `join` that was interrupted takes the thread for ended
        try:
            is_done.wait(_REAP_S)
        except KeyboardInterrupt as error:
            interrupt = error
    starter.join(_REAP_S)
    for failure in (*failures, interrupt):
        if failure is not None:
            raise failure


def _exit_code(process: BaseProcess) -> int | None:
    """Wait until a process has ended; return its exit code, or None where it goes on for too long."""
    if wait([process.sentinel], _REAP_S):
        with _PROCESSES:
            process.join(_REAP_S)  # the sentinel is closed a moment before the system knows the exit code
            return process.exitcode
    return None
