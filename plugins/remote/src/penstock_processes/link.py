"""The driver's end of one worker: its process, what is sent to it, and the thread that takes its answers."""

from __future__ import annotations

import itertools
import logging
import os
from collections import deque
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock_processes.carrier import Carrier
from penstock_processes.channel import Channel, NoRoomError, Outbox
from penstock_processes.host import THIS_HOST, Host
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
from penstock_processes.process import WorkerNotStartedError, exit_words, not_started
from penstock_processes.sandbox import SIGNALLED, wanted_sandbox
from penstock_processes.worker_setup import Descriptor, WorkerSetup
from penstock_remote.api import Killers, Pending, WorkerDiedError, error_from_data, input_fault, log_here

if TYPE_CHECKING:
    import socket
    import threading
    from collections.abc import Callable
    from multiprocessing.context import BaseContext

    from penstock_processes.arena import Arena, OwnArena
    from penstock_processes.options import ProcessExecutorOptions
    from penstock_processes.process import WorkerProcess
    from penstock_remote.api import Answer, Call, Described

#: How long a worker that was asked to end may take until it is killed.
_END_S: Final = 2.0
#: How long a thread may take to end after its process was killed: `WorkerProcess.end` waits three times.
_REAP_S: Final = 20.0


class _Ends(NamedTuple):
    """What a link holds while its process lives."""

    process: WorkerProcess
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
        host: starts the process.
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
        host: Host = THIS_HOST,
    ) -> None:
        self.number: Final = number
        self.arena: Final = arena
        self._options: Final = options
        self._host: Final = host
        self._is_plain: Final = options.codec.value == 1
        self._is_in_sandbox: Final = options.sandbox.value != 0
        self.carrier: Final = Carrier(own, arenas, is_plain=self._is_plain)
        self._numbers: Final = itertools.count(1)
        self._pending: Final[dict[int, Pending]] = {}
        self._forgotten: Final[deque[int]] = deque()
        self._killers: Final = Killers(options.cancel_grace_s, host)
        self._death: WorkerDiedError | None = None
        self._killed_because: str | None = None
        self._seen_stopped = 0
        self._started: Final = host.monotonic()
        self.pid: int | None = None
        self.is_ready = host.event()
        self._ends: Final = self._start(context, descriptors)
        self._outbox: Final = Outbox(self._ends.calls, f"penstock-outbox-{number}", host)
        self._thread: Final = host.thread(self._receive, f"penstock-worker-{number}")
        self._thread.start()

    def _start(self, context: BaseContext, descriptors: dict[int, int]) -> _Ends:
        name = f"penstock-worker-{self.number}"
        with ExitStack() as held:  # what is to be closed where the start fails
            ours, theirs, control, their_control = _sockets(held, self._host)
            calls = Channel(ours, self._look)
            arenas = {number: Descriptor(descriptor) for number, descriptor in descriptors.items()}
            setup = WorkerSetup(
                self.arena,
                theirs,
                their_control,
                os.getpid(),
                arenas,
                self._options.arena_mib << 20,
                self._is_plain,
                logging.getLogger().getEffectiveLevel(),
                wanted_sandbox(self._options, name) if self._is_in_sandbox else None,
            )
            timeout_s = self._options.start_timeout_s
            try:
                process = self._host.start(
                    context, setup, name, timeout_s, (ours, control), is_in_sandbox=self._is_in_sandbox
                )
            except WorkerNotStartedError as error:
                raise WorkerNotStartedError(f"worker {self.number} {error}") from error.__cause__
            held.pop_all()
        theirs.close()
        their_control.close()
        self.pid = process.pid
        return _Ends(process, calls, control)

    # --- to the worker ------------------------------------------------------------------------

    def where(self) -> str:
        """Return which worker this is, in words."""
        return f"worker {self.number} (pid {self.pid})"

    @property
    def is_starting(self) -> bool:
        """Whether the process has not said that it is ready; False for one that has ended."""
        return not self.is_ready.is_set()

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
        except (Exception, SystemExit) as error:
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
        return self._killers.start(self._kill_if_pending, number)

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
        self._killers.join(_REAP_S)
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
        try:
            while self._killed_because is None:
                try:
                    message = calls.receive()
                except NoRoomError as error:
                    self._finish(error.number, None, error)
                    continue
                self._take(*message)
        except (EOFError, OSError):
            pass  # the process has ended, or has closed its end
        finally:
            self._bury()

    def _look(self) -> None:
        """See whether the process lives and works, when it says nothing: once a second."""
        process, options = self._ends.process, self._options
        if process.has_ended():
            self._ends.calls.end_input()
            return
        is_needed = bool(self._pending) or not self.is_ready.is_set()
        self._seen_stopped = self._seen_stopped + 1 if is_needed and process.is_stopped() else 0
        if self._seen_stopped > options.stopped_timeout_s:
            seconds = f"{options.stopped_timeout_s:g} s (stopped_timeout_s)"
            self._kill_because(f"was stopped by a signal (SIGSTOP) for {seconds}, and was killed")
        elif not self.is_ready.is_set() and self._host.monotonic() > self._started + options.start_timeout_s:
            self._kill_because(f"was not ready after {options.start_timeout_s:g} s, and was killed")

    def _kill_because(self, words: str) -> None:
        self._killed_because = words
        self._ends.process.kill()
        self._ends.calls.end_input()

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
        self._finish(number, answer, error)

    def _finish(self, number: int, answer: Answer | None, error: BaseException | None) -> None:
        pending = self._pending.pop(number, None)
        if pending is not None:
            pending.finish(answer, error)

    def _bury(self) -> None:
        """Learn how the process ended, and fail the calls under way."""
        self._outbox.close()  # first, whatever comes: its thread waits for this without a time-out
        death = WorkerDiedError("has ended, and the link to its process did not tell how", pid=self.pid)
        try:
            self._ends.calls.close()  # which ends a process that lives, and what waits to send
            death = self._how(self._ends.process.end())
            self.carrier.release()
        finally:
            self._death = death
            self.is_ready.set()
            while self._pending:
                _, pending = self._pending.popitem()
                pending.finish(None, self._died(pending, death))

    def _how(self, code: int | None) -> WorkerDiedError:
        if self._is_in_sandbox and code is not None and code > SIGNALLED:
            code = SIGNALLED - code
        words, name = exit_words(code)
        if self._killed_because is not None:
            words = self._killed_because
        elif not self.is_ready.is_set():
            words += " before it was ready; its last words are on stderr. " + (
                "bubblewrap needs a kernel that lets this user make namespaces"
                if self._is_in_sandbox
                else "A script that runs a graph with workers "
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


def _sockets(held: ExitStack, host: Host) -> tuple[socket.socket, ...]:
    """Return two pairs of connected sockets, of which `held` closes each.

    Raises:
        WorkerNotStartedError: no descriptors are left.
    """
    try:
        return tuple(held.enter_context(one) for _ in range(2) for one in host.socket_pair())
    except OSError as error:
        raise not_started(error) from error
