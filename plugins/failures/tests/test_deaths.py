"""Every way in which a call can end its worker, or fail in a way that is hard to tell, under each policy.

Whatever happens: the run ends in time or goes on, the error says what happened, every packet is accounted
for, and nothing is left behind.
"""

from __future__ import annotations

import os
import random
import signal
from collections import Counter
from pathlib import Path

import deaths
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock.lowlevel import default_registry

#: No run takes as long: the longest waits are for a worker that is stopped.
PATIENCE_S = 25.0
TEXT = """
input_stream: "in" output_stream: "out"
executor { name: "w" type: "ProcessExecutor" options { [penstock_processes.ProcessExecutorOptions.ext] {
    num_processes: 1 arena_mib: 1 stopped_timeout_s: 1 } } }
node { calculator: "Dies" executor: "w" max_in_flight: %d input_stream: "in" output_stream: "out" %s }
"""
#: What raises no `Exception`: the run ends whatever the policy says, as it does on a thread.
ENDS_THE_RUN = {"sys.exit", "base exception"}
POLICIES = {
    "fail": "",
    "skip": "failure { on_error: SKIP max_restarts: 100 }",
    "restart": "failure { on_error: RESTART max_restarts: 100 backoff_ms: 1 }",
    "again": "failure { retry: 1 on_error: SKIP max_restarts: 100 backoff_ms: 1 }",
}
#: Kind → a part of the error, where its name does not say it.
WORDS = {
    "exit 0": "ended with exit status 0",
    "exit 3": "ended with exit status 3",
    "sys.exit": "SystemExit: 3",
    "no text": "NoTextError: no text, since its __str__ raised RuntimeError",
    "no pickle": "NoPickleError",
    "no way back": "NoWayBackError",
    "bad notes": "BadNotesError",
    "base exception": "BaseException",
    "interrupt": "KeyboardInterrupt",
    "payload that leaves": "a 'NoExit' cannot go to another process",
    "no memory": "MemoryError",
    "closed descriptors": "worker 1",
    "fork and come back": "was killed by SIGKILL",
    "fork and die": "was killed by SIGKILL",
    "helper and die": "was killed by SIGKILL",
    "much output": "ended with exit status 4",
    "exit from a thread": "ended with exit status 5",
    "broken worker": "ended with exit status 70",
    "recursion": "RecursionError",
    "stopped": "was stopped by a signal (SIGSTOP) for 1 s (stopped_timeout_s), and was killed",
}


def words_of(kind):
    """Return what the error says of a kind of death."""
    if kind in WORDS:
        return WORDS[kind]
    number = int(kind.removeprefix("signal "))
    try:
        return f"was killed by {signal.Signals(number).name}"
    except ValueError:
        return f"was killed by signal {number}"


@pytest.fixture
def registry():
    found = default_registry().child()
    found.add("calculator", "Dies", deaths.Dies)
    return found


@pytest.fixture
def no_helper_left():
    """End the helpers that a dead calculator had started: they are no processes of the graph."""
    yield
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            is_helper = b"time.sleep(3600)" in (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if is_helper:
            os.kill(int(entry.name), signal.SIGKILL)


def run(registry, kind, policy, in_flight):
    """Run a graph in which the third of five calls dies; return what came out, and the error or None."""
    graph = penstock.CalculatorGraph(TEXT % (in_flight, POLICIES[policy]), registry=registry)
    out = []
    graph.observe_output_stream("out", lambda _, packet: out.append(packet.payload))
    error = None
    with graph:
        graph.start_run()
        try:
            for number in range(5):
                payload = kind if number == 2 else number
                graph.add_packet_to_input_stream("in", penstock.Packet(payload, number), timeout=PATIENCE_S)
            graph.close_all_input_streams()
            graph.wait_until_done(PATIENCE_S)
        except GraphRunError as ended:
            error = ended
        assert not graph.is_running, graph.why()
        ledger = graph.ledger()
        assert ledger.adds_up, ledger
        failures = graph.failures()
    return out, error, failures


def check(registry, kind, policy, in_flight):
    out, error, failures = run(registry, kind, policy, in_flight)
    if policy == "fail" or kind in ENDS_THE_RUN:
        assert error is not None, (kind, policy, in_flight, out)
        assert words_of(kind) in str(error)
        return
    assert error is None, error
    assert any(words_of(kind) in one.error for one in failures), (kind, policy, in_flight, out, failures)
    if in_flight == 1:
        assert out == [0, 1, 3, 4]
    else:  # calls that were under way in the same process died with it
        assert 2 not in out


#: One signal of each sort stands for the others here.
ODD = [kind for kind in deaths.KINDS if not kind.startswith("signal ") or kind in {"signal 9", "signal 40"}]


@pytest.mark.parametrize("kind", ODD)
def test_a_death_is_told(registry, kind, no_helper_left):
    check(registry, kind, "fail", 1)


@pytest.mark.heavy
@pytest.mark.parametrize(("policy", "in_flight"), [("skip", 1), ("restart", 3), ("again", 1)])
@pytest.mark.parametrize("kind", ODD)
def test_a_death_is_handled_as_the_policy_says(registry, kind, policy, in_flight, no_helper_left):
    check(registry, kind, policy, in_flight)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_ten_thousand_deaths_leave_nothing(registry, no_helper_left):
    chance = random.Random(36)  # noqa: S311  # a test's order
    before = len(list(Path("/proc/self/fd").iterdir()))
    counted = Counter()
    for _ in range(int(os.environ.get("PENSTOCK_DEATHS", "10000"))):
        kind, policy = chance.choice(sorted(deaths.KINDS)), chance.choice(sorted(POLICIES))
        check(registry, kind, policy, chance.choice((1, 3)))
        counted[kind] += 1
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert len(counted) == len(deaths.KINDS)
