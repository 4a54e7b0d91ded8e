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

import penstock
from penstock import Calculator
from penstock.errors import GraphRunError

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
    """Let the worker or actor itself fail, where it tells of an error."""
    for name in ("penstock_processes.worker", "penstock_ray.host"):
        if name in sys.modules:
            sys.modules[name].error_as_data = None
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


#: No run takes as long: the longest waits are for a worker that is stopped.
PATIENCE_S = 25.0
TEXT = """
input_stream: "in" output_stream: "out"
executor { name: "w" type: "%s" options { %s } }
node { calculator: "Dies" executor: "w" max_in_flight: %d input_stream: "in" output_stream: "out" %s }
"""
#: Executor → its options.
OPTIONS = {
    "ProcessExecutor": "[penstock_processes.ProcessExecutorOptions.ext] "
    "{ num_processes: 1 arena_mib: 1 stopped_timeout_s: 1 }",
    "RayExecutor": "[penstock_ray.RayExecutorOptions.ext] { cancel_grace_s: 0.5 stopped_timeout_s: 1 }",
}
#: What raises no `Exception`: the run ends whatever the policy says, as it does on a thread.
ENDS_THE_RUN = {"sys.exit", "base exception"}
POLICIES = {
    "fail": "",
    "skip": "failure { on_error: SKIP max_restarts: 100 }",
    "restart": "failure { on_error: RESTART max_restarts: 100 backoff_ms: 1 }",
    "again": "failure { retry: 1 on_error: SKIP max_restarts: 100 backoff_ms: 1 }",
}
#: Which of the five payloads is the name of a kind.
VICTIM = 2
#: Kind → a part of the error, where both executors know it.
TOLD = {
    "sys.exit": "SystemExit: 3",
    "no text": "NoTextError: no text, since its __str__ raised RuntimeError",
    "no pickle": "NoPickleError",
    "no way back": "NoWayBackError",
    "bad notes": "BadNotesError",
    "base exception": "BaseException",
    "interrupt": "KeyboardInterrupt",
    "payload that leaves": "a 'NoExit' cannot go to another process",
    "no memory": "MemoryError",
    "recursion": "RecursionError",
    "stopped": "was stopped by a signal (SIGSTOP) for 1 s (stopped_timeout_s), and was killed",
}
#: Kind → a part of the error of a worker, where its name does not say it.
WORDS = TOLD | {
    "exit 0": "ended with exit status 0",
    "exit 3": "ended with exit status 3",
    "closed descriptors": "worker 1",
    "fork and come back": "was killed by SIGKILL",
    "fork and die": "was killed by SIGKILL",
    "helper and die": "was killed by SIGKILL",
    "much output": "ended with exit status 4",
    "exit from a thread": "ended with exit status 5",
    "broken worker": "ended with exit status 70",
}
#: Kind → a part of the error of an actor. Ray says of most deaths that a connection ended, not why.
WORDS_OF_RAY = TOLD | {"broken worker": "could not be asked: "}


def graph_text(policy, in_flight, executor="ProcessExecutor"):
    """Return a graph whose node dies in a worker or an actor, under a policy."""
    return TEXT % (executor, OPTIONS[executor], in_flight, POLICIES[policy])


def words_of(kind, executor="ProcessExecutor"):
    """Return what the error says of a kind of death."""
    if executor == "RayExecutor":
        return WORDS_OF_RAY.get(kind, "died (")
    if kind in WORDS:
        return WORDS[kind]
    number = int(kind.removeprefix("signal "))
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"was killed by signal {number}"


def run(text, registry, kind, patience_s=PATIENCE_S):
    """Run a graph in which the third of five calls dies.

    Returns:
        What came out, the text of the run's error ("" for none), and the texts of the failures.

    Raises:
        AssertionError: the run did not end, or a packet is missing in the ledger.
    """
    graph = penstock.CalculatorGraph(text, registry=registry)
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload))
    error = ""
    with graph:
        graph.start_run()
        try:
            for number in range(5):
                payload = kind if number == VICTIM else number
                graph.add_packet_to_input_stream("in", penstock.Packet(payload, number), timeout=patience_s)
            graph.close_all_input_streams()
            graph.wait_until_done(patience_s)
        except GraphRunError as ended:
            error = str(ended)
        assert not graph.is_running, graph.why()
        assert graph.ledger().adds_up, graph.ledger()
        return out, error, [failure.error for failure in graph.failures()]


def fault_of(kind, policy, in_flight, told, executor="ProcessExecutor"):
    """Return the fault of an outcome of `run`; "" where it is right."""
    out, error, failures = told
    words = words_of(kind, executor)
    if policy == "fail" or kind in ENDS_THE_RUN:
        return "" if words in error else f"the error does not say {words!r}"
    if error:
        return "the run ended with an error"
    if not any(words in one for one in failures):
        return f"no failure says {words!r}"
    if in_flight == 1:
        return "" if out == [0, 1, 3, 4] else "other packets than 0, 1, 3, 4 came out"
    return "the set that died came out" if VICTIM in out else ""
