"""The process of one worker, as the driver sees it: how it starts, whether it lives, how it ended.

Whether a process lives is asked of the system (a pidfd), not of a pipe: a helper that the process has forked
may keep the pipe open for as long as it likes.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from contextlib import suppress
from multiprocessing import process as processes
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PenstockError, StatusCode

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

#: How long the kernel may take to tell how a process ended.
_REAP_S: Final = 5.0
#: Held while a process is started, which asks all others how they ended, or is asked itself:
#: `multiprocessing` loses the answer if two threads ask at once.
_PROCESSES: Final = threading.Lock()
#: The state of a process that was stopped by SIGSTOP, in `/proc/PID/stat`; one that a debugger holds is "t".
_STOPPED: Final = "T"


class WorkerNotStartedError(PenstockError):
    """A worker could not be started: the system has no room for it, or the server that forks is silent."""

    default_code = StatusCode.RESOURCE_EXHAUSTED
    calculator_is_lost = True


class WorkerProcess:
    """A process that runs a function, started at once.

    A child that this process forks knows nothing of it: what the child does when it ends leaves the worker
    alone.

    Args:
        context: how it is started.
        target, setup: the function, which is called with the setup.
        name: of the process.
        timeout_s: how long the start may take.
        sockets: to the process; a child that this process forks closes them.
        is_in_sandbox: whether the process becomes the parent of the worker.

    Raises:
        WorkerNotStartedError: it was not started in time, or the system refuses another one.
        KeyboardInterrupt: Ctrl-C came meanwhile; the process has started.
    """

    def __init__(  # noqa: PLR0913, PLR0917  # what a process is started with
        self,
        context: BaseContext,
        target: Callable[[Any], None],
        setup: object,
        name: str,
        timeout_s: float,
        sockets: Sequence[socket.socket],
        *,
        is_in_sandbox: bool = False,
    ) -> None:
        self._is_in_sandbox: Final = is_in_sandbox
        self._sockets: Final = sockets
        self._process: Final[BaseProcess] = context.Process(  # type: ignore[attr-defined]  # each context has it
            target=target, args=(setup,), name=name, daemon=True
        )
        _start(self._process, timeout_s)
        #: The number of the process.
        self.pid: Final[int] = self._process.pid or 0
        #: Readable when the process has ended; None where the system has no such descriptor.
        self._watch: int | None = None
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):  # it has ended and is reaped, or no descriptor is left
                self._watch = os.pidfd_open(self.pid)
        _OWNED.add(self)

    def has_ended(self, timeout: float = 0.0) -> bool:
        """Return whether the process has ended, waiting for that up to a time."""
        return bool(wait([self._process.sentinel if self._watch is None else self._watch], timeout))

    def is_stopped(self) -> bool:
        """Return whether a signal has stopped the process; False where the system does not tell.

        A worker in a sandbox is a child of the process that was started, or a child of that one.
        """
        family = [str(self.pid)]
        for pid in family:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                if state == _STOPPED:
                    return True
                if self._is_in_sandbox:
                    family += Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except OSError:
                continue  # it has ended
        return False

    def kill(self) -> None:
        """Kill the process, also one that is stopped."""
        self._process.kill()

    def end(self) -> int | None:
        """Wait until the process has ended, and kill it if it goes on; return its exit code.

        None where nobody tells how it ended: the server that forked it is stopped, or is dead.
        """
        for _ in range(2):
            if self.has_ended(_REAP_S):
                break
            self.kill()
        if not _PROCESSES.acquire(timeout=_REAP_S):
            return None
        try:
            code = self._process.exitcode
            if code is None:  # the server that forked it tells a moment later
                wait([self._process.sentinel], _REAP_S)
                code = self._process.exitcode
        finally:
            _PROCESSES.release()
        return code

    def close(self) -> None:
        """Release the descriptors of a process that has ended."""
        _OWNED.discard(self)
        watch, self._watch = self._watch, None
        if watch is not None:
            os.close(watch)
        with suppress(ValueError):  # nobody has told yet that it has ended
            self._process.close()

    def disown(self) -> None:
        """Forget the process in a child of this one: `multiprocessing` would end it with the child.

        What the child holds of the connection would keep it open when this process has ended.
        """
        for one in self._sockets:
            one.close()
        getattr(processes, "_children", set()).discard(self._process)


#: The workers of this process.
_OWNED: Final[set[WorkerProcess]] = set()


def _disown_all() -> None:
    for one in _OWNED:
        one.disown()
    _OWNED.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_all)


def exit_words(code: int | None) -> tuple[str, str | None]:
    """Return in words how a process ended that had an exit code, and the name of the signal if one did it."""
    if code is None:
        return "has ended, and nobody told how", None
    if code >= 0:
        return f"ended with exit status {code}", None
    try:
        name = signal.Signals(-code).name
    except ValueError:  # real-time signals have no names
        name = f"signal {-code}"
    return f"was killed by {name}", name


def _start(process: BaseProcess, timeout_s: float) -> None:
    """Start a process whole, or not at all: a thread does it, which Ctrl-C does not reach, nor the process.

    The thread is left behind where the server that forks does not answer: nothing can end it then.
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
    starter = threading.Thread(target=start, name="penstock-start", daemon=True)
    starter.start()
    interrupt: KeyboardInterrupt | None = None
    deadline = monotonic() + timeout_s
    while not is_done.is_set() and monotonic() < deadline:
        try:  # an event, since a `join` that was interrupted takes the thread for ended
            is_done.wait(min(_REAP_S, timeout_s))
        except KeyboardInterrupt as error:
            interrupt = error
    if not is_done.is_set():
        raise WorkerNotStartedError(
            f"could not be started in {timeout_s:g} s (start_timeout_s): the server process that forks the "
            "workers does not answer; is it stopped?"
        )
    starter.join(_REAP_S)
    if failures and isinstance(failures[0], OSError):
        raise not_started(failures[0]) from failures[0]
    for failure in (*failures, interrupt):
        if failure is not None:
            raise failure


def not_started(error: OSError) -> WorkerNotStartedError:
    """Return the error that says why the system starts no worker, and what to do."""
    cure = ""
    if error.errno in {errno.EMFILE, errno.ENFILE}:
        cure = "; each worker takes about eight descriptors here: raise `ulimit -n`, or use fewer workers"
    elif error.errno in {errno.EAGAIN, errno.ENOMEM}:
        cure = "; raise the limit of processes (`ulimit -u`) or of memory, or use fewer workers"
    return WorkerNotStartedError(f"could not be started: {error}{cure}")
