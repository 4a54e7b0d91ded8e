"""A calculator that ends its process in many ways, in a module that workers can import without pytest."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from penstock import Calculator

#: Signals that end a process by default. A worker ignores SIGINT, Python SIGPIPE and
#: SIGXFSZ, and a program in the background of a shell SIGQUIT, say.
DEADLY = sorted(
    number
    for number in set(range(1, signal.SIGRTMAX + 1))
    - {32, 33}  # the C library's own
    - {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}
    - {signal.SIGINT, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
    if signal.getsignal(number) != signal.SIG_IGN
)


#: How long a helper lives that nobody ends: longer than any test waits for a death.
HELPER_S = 150


class NoTextError(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class NoPickleError(Exception):
    def __reduce__(self):
        raise SystemExit(7)


class NoWayBackError(Exception):
    def __reduce__(self):
        return leave, ()


class BadNotesError(Exception):
    @property
    def __notes__(self):
        raise SystemExit(8)


class NoExit:
    """A payload that ends the thread that pickles it."""

    def __reduce__(self):
        raise SystemExit(9)


def leave():
    raise SystemExit(10)


def _raised(kind):
    raise kind


def _no_memory():
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (50 << 20),) * 2)
    return [bytearray(1 << 20) for _ in range(1000)]


def _close_all():
    os.closerange(3, 4096)


def _fork_and_come_back():
    if os.fork():
        os.wait()
        _signal(signal.SIGKILL)


def _fork_and_die():
    if os.fork():
        _signal(signal.SIGKILL)
    time.sleep(HELPER_S)  # the helper keeps all that it has inherited


def _helper_and_die():
    subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HELPER_S})"], close_fds=False)
    _signal(signal.SIGKILL)


def _print_much():
    sys.stdout.write("x" * 1_000_000)
    sys.stdout.flush()
    os._exit(4)


def _end_from_a_thread():
    threading.Thread(target=os._exit, args=(5,)).start()
    time.sleep(3600)


def _break_the_worker():
    """Let the worker itself fail, where it tells of an error."""
    import penstock_processes.worker

    penstock_processes.worker.error_as_data = None
    raise ValueError("not told")


def _recurse():
    return _recurse()


def _signal(number):
    os.kill(os.getpid(), number)
    time.sleep(60)  # another thread of the process may take the signal, a moment later


#: How a call ends its process, or fails in a way that is hard to tell → what the error says of it.
KINDS = {
    **{f"signal {number}": (lambda number=number: _signal(number)) for number in DEADLY},
    "exit 0": lambda: os._exit(0),
    "exit 3": lambda: os._exit(3),
    "sys.exit": lambda: sys.exit(3),
    "no text": lambda: _raised(NoTextError),
    "no pickle": lambda: _raised(NoPickleError),
    "no way back": lambda: _raised(NoWayBackError),
    "bad notes": lambda: _raised(BadNotesError),
    "base exception": lambda: _raised(BaseException),
    "interrupt": lambda: _raised(KeyboardInterrupt),
    "payload that leaves": NoExit,
    "no memory": _no_memory,
    "closed descriptors": _close_all,
    "fork and come back": _fork_and_come_back,
    "fork and die": _fork_and_die,
    "helper and die": _helper_and_die,
    "much output": _print_much,
    "exit from a thread": _end_from_a_thread,
    "broken worker": _break_the_worker,
    "recursion": _recurse,
    "stopped": lambda: _signal(signal.SIGSTOP),
}


class Dies(Calculator):
    """Passes numbers on; does what a string names."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc):
        payload = cc.input.payload
        if isinstance(payload, str):
            payload = KINDS[payload]()
        cc.output.add(payload, cc.input_timestamp)
