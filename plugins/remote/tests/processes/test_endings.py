"""How workers end: killed, with their driver, at Ctrl-C, and before they were ready."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from driving import alive, wait_until

import penstock
from penstock.errors import GraphRunError
from penstock_processes.process_executor import ProcessExecutor
from penstock_remote.errors import WorkerDiedError

pytestmark = pytest.mark.heavy

#: What a worker writes, and words about one. The driver may be interrupted while it imports `worker.py`.
OF_A_WORKER = re.compile(
    r'processes/worker\.py", line \d+, in (?!<module>)|spawn_main|_serve_one|Process |WorkerDiedError'
)

PATIENCE_S = 30.0
HERE = Path(__file__).parents[1] / "helpers"
SCRIPT = """
    import sys
    sys.path.insert(0, {here!r})
    import remote_calculators, penstock
    from penstock.packs import default_registry

    TEXT = '''
        input_stream: "in"
        executor {{ name: "workers" type: "ProcessExecutor"
          options {{ [penstock_processes.ProcessExecutorOptions.ext] {{ num_processes: 2 {options} }} }} }}
        node {{ calculator: "{calculator}" executor: "workers" max_in_flight: 2
               input_stream: "in" output_stream: "out" }}
    '''

    def main():
        registry = default_registry().child()
        for one in remote_calculators.ALL:
            registry.add("calculator", one.__name__, one)
        with penstock.CalculatorGraph(TEXT, registry=registry) as graph:
            graph.observe_output_stream("out", lambda _, packet: print("out", packet.payload, flush=True))
            graph.start_run()
            n = 0
            while True:
                graph.add_packet_to_input_stream("in", penstock.Packet({payload}, n))
                graph.wait_until_idle()
                n += 1
"""
GUARDED = (
    SCRIPT
    + """
    if __name__ == "__main__":
        main()
"""
)


@pytest.fixture
def script(tmp_path):
    """Start a script that runs a graph on workers until it is ended; give its process."""
    made = []

    def start(text=GUARDED, calculator="Pid", payload="n", options=""):
        path = tmp_path / "driver.py"
        path.write_text(
            textwrap.dedent(text).format(
                here=str(HERE), calculator=calculator, payload=payload, options=options
            )
        )
        made.append(
            subprocess.Popen(
                [sys.executable, str(path)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
        )
        return made[-1]

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_a_script_without_the_guard_is_told_what_to_write(script) -> None:
    process = script(SCRIPT + "\n    main()\n")

    _, errors = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 1
    assert "ended with exit status 1 before it was ready" in errors
    assert "must do so under `if __name__ == '__main__':`" in errors


@pytest.mark.parametrize("options", ["", "start: SPAWN"])
def test_workers_end_with_a_driver_that_is_killed(script, options) -> None:
    process = script(options=options)
    pids = {int(process.stdout.readline().split()[1]) for _ in range(5)}

    process.kill()
    process.wait(PATIENCE_S)

    assert wait_until(lambda: not any(alive(pid) for pid in pids), 2)


@pytest.mark.parametrize("start", ["SPAWN", "FORKSERVER"])
def test_ctrl_c_ends_driver_and_workers_without_a_word_of_a_worker(script, start) -> None:
    interrupt(script, start, 4, within_s=10)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", ["SPAWN", "FORKSERVER"])
def test_ctrl_c_at_a_hundred_random_moments(script, start) -> None:
    interrupt(script, start, 50, within_s=2)


def press(process, within_s):
    """Press Ctrl-C until a driver ends; return what it has written to stderr.

    Python loses an interrupt that comes inside of a callback of its garbage collector or its import system,
    and says so. Then a person presses again.
    """
    for _ in range(3):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        try:
            return process.communicate(timeout=within_s)[1]
        except subprocess.TimeoutExpired as late:
            said = late.stderr or b""
        assert b"Exception ignored" in said, said
    raise AssertionError("three times Ctrl-C did not end it")


def interrupt(script, start, times, within_s):
    """Start a driver and press Ctrl-C at a random moment, and that so many times."""
    chance = random.Random(start)  # noqa: S311  # a test's order
    for _ in range(times):
        process = script(options=f"start: {start}")
        pids = set()
        if chance.random() < 0.5:  # else in the middle of the start
            pids = {int(process.stdout.readline().split()[1]) for _ in range(3)}
        else:
            time.sleep(chance.random() * 0.6)
        errors = press(process, within_s)

        assert process.returncode in {130, -signal.SIGINT, 1}
        assert not OF_A_WORKER.search(errors), errors
        assert wait_until(lambda pids=pids: not any(alive(pid) for pid in pids), within_s)


def kill_at_random(registry, kills):
    """Kill workers of a running graph at random moments; return the errors."""
    chance = random.Random(kills)  # noqa: S311  # a test's order
    errors = []
    executor = ProcessExecutor(2)
    text = """
        input_stream: "in"
        node { calculator: "Doubled" max_in_flight: 2 input_stream: "in" output_stream: "twice" }
        node { calculator: "Echo" input_stream: "twice" output_stream: "out" }
    """
    with penstock.CalculatorGraph(text, registry=registry) as graph:
        graph.set_executor("", executor)
        for _ in range(kills):
            graph.start_run()
            victim = chance.choice(executor.workers())
            killer = threading.Timer(chance.random() * 0.03, os.kill, (victim, signal.SIGKILL))
            killer.start()
            with pytest.raises(GraphRunError) as caught:
                feed(graph)
            killer.join(PATIENCE_S)
            with pytest.raises(GraphRunError):
                graph.wait_until_done(PATIENCE_S)
            errors.append(caught.value)
            assert graph.ledger().adds_up, str(graph.ledger())
    executor.close()
    return errors


def feed(graph):
    for number in range(1_000_000):
        graph.add_packet_to_input_stream("in", penstock.Packet(number, number), timeout=PATIENCE_S)


def check_kills(registry, kills):
    for error in kill_at_random(registry, kills):
        found = error
        while found is not None and not isinstance(found, WorkerDiedError):
            found = found.__cause__
        assert found is not None, error
        assert found.signal == "SIGKILL"
        assert "was killed by SIGKILL" in str(error)


def test_workers_killed_at_random_moments_give_the_right_error_each_time(registry, nothing_left) -> None:
    check_kills(registry, 10)


@pytest.mark.slow
def test_two_hundred_kills_give_the_right_error_each_time(registry, nothing_left) -> None:
    check_kills(registry, 200)
