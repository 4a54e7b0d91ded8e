"""Workers belong to the process that started them, and to no child of it; what a start says at a limit."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import termios
import textwrap
from array import array
from pathlib import Path

import pytest
from driving import alive, wait_until

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parents[1] / "helpers"
PATIENCE_S = 30.0
DRIVER = """
import os, resource, signal, sys, time
sys.path.insert(0, {here!r})
import penstock
from driving import registry_of_tests
from penstock_processes.process_executor import ProcessExecutor

TEXT = '''input_stream: "in" output_stream: "out"
          node {{ calculator: "%s" input_stream: "in" output_stream: "out" }}'''

def started(executor, calculator="Echo"):
    graph = penstock.CalculatorGraph(TEXT % calculator, registry=registry_of_tests())
    graph.set_executor("", executor)
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet("x", 0))
    return graph

def main():
{body}

if __name__ == "__main__":
    main()
"""


def waiting_bytes(pipe):
    """Return how many bytes a pipe holds that nobody has read."""
    count = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


@pytest.fixture
def drive(tmp_path):
    """Start a driver with a body of `main`; give its process."""
    made = []

    def start(body):
        path = tmp_path / "driver.py"
        path.write_text(
            DRIVER.format(here=str(HERE), body=textwrap.indent(textwrap.dedent(body).strip(), "    "))
        )
        process = subprocess.Popen(
            [sys.executable, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        made.append(process)
        return process

    yield start
    for process in made:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_workers_end_with_a_killed_driver_though_its_child_lives(drive):
    process = drive("""
        executor = ProcessExecutor(2)
        graph = started(executor)
        graph.wait_until_idle(30)
        if os.fork() == 0:
            time.sleep(3600)
        print(*executor.workers(), flush=True)
        time.sleep(3600)
    """)
    pids = [int(word) for word in process.stdout.readline().split()]
    assert pids

    process.kill()

    assert wait_until(lambda: not any(alive(pid) for pid in pids), 2)


def test_a_child_that_ends_leaves_the_workers_of_its_parent(drive):
    process = drive("""
        executor = ProcessExecutor(1)
        graph = started(executor)
        graph.wait_until_idle(30)
        child = os.fork()
        if child == 0:
            executor.close()
            sys.exit(0)  # runs what Python and multiprocessing do at their end
        print("child", os.waitpid(child, 0)[1], flush=True)
        for number in range(1, 20):
            graph.add_packet_to_input_stream("in", penstock.Packet("y", number))
        graph.close_all_input_streams()
        graph.wait_until_done(30)
        graph.close()
        executor.close()
        print("done", flush=True)
    """)

    out, errors = process.communicate(timeout=PATIENCE_S)

    assert out.split("\n")[:2] == ["child 0", "done"], errors


def test_a_worker_whose_output_nobody_reads_ends_with_its_driver(drive):
    process = drive("""
        executor = ProcessExecutor(1)
        graph = started(executor, "Prints")
        graph.wait_until_idle(30)
        print(*executor.workers(), flush=True)
        graph.add_packet_to_input_stream("in", penstock.Packet("x" * 1_000_000, 1))
        graph.wait_until_idle(30)
    """)
    pid = int(process.stdout.readline().lstrip("x"))  # behind what the worker has printed
    assert wait_until(lambda: waiting_bytes(process.stdout) > 60_000)  # the pipe is full

    process.kill()

    assert wait_until(lambda: not alive(pid), 3)


def test_a_server_that_was_stopped_is_told(drive):
    process = drive("""
        from multiprocessing import forkserver
        started(ProcessExecutor(1)).wait_until_idle(30)
        os.kill(forkserver._forkserver._forkserver_pid, signal.SIGSTOP)
        begin = time.monotonic()
        try:
            started(ProcessExecutor(1, start_timeout_s=1))
        except penstock.PenstockError as error:
            print(error, flush=True)
        print("took", time.monotonic() - begin < 8, flush=True)
        os._exit(0)
    """)

    assert "worker 1 could not be started in 1 s (start_timeout_s): the server" in process.stdout.readline()
    assert process.stdout.readline() == "took True\n"


@pytest.mark.parametrize(
    ("limit", "value", "more", "said"),
    [
        ("NOFILE", "len(os.listdir('/proc/self/fd')) + 4", "", "raise `ulimit -n`"),
        ("FSIZE", "1 << 20", "", "the process executor has no shared memory of 64 MiB for payloads"),
        ("AS", "8 << 30", ", arena_mib=1 << 20", "the process executor has no shared memory of 1048576 MiB"),
    ],
)
def test_a_limit_of_the_system_is_told_and_the_graph_stays_usable(drive, limit, value, more, said):
    process = drive(f"""
        before = resource.getrlimit(resource.RLIMIT_{limit})
        graph = penstock.CalculatorGraph(TEXT % "Echo", registry=registry_of_tests())
        executor = ProcessExecutor(4{more})
        graph.set_executor("", executor)
        resource.setrlimit(resource.RLIMIT_{limit}, ({value}, before[1]))
        for _ in range(3):
            try:
                graph.start_run()
                print("started", flush=True)
            except penstock.PenstockError as error:
                print(type(error).__name__, error.code.name, error, flush=True)
        resource.setrlimit(resource.RLIMIT_{limit}, before)
        graph.close()
        executor.close()
        print("closed", flush=True)
    """)

    out, errors = process.communicate(timeout=PATIENCE_S)

    lines = out.splitlines()
    assert len([line for line in lines if said in line]) == 3, (out, errors)
    assert all("RESOURCE_EXHAUSTED" in line for line in lines[:3])
    assert lines[-1] == "closed", errors


def test_the_server_that_forks_ends_within_a_second_of_a_killed_driver(drive):
    process = drive("""
        from multiprocessing import forkserver, resource_tracker
        executor = ProcessExecutor(2)
        started(executor).wait_until_idle(30)
        others = [forkserver._forkserver._forkserver_pid, resource_tracker._resource_tracker._pid]
        print(*executor.workers(), *others, flush=True)
        time.sleep(3600)
    """)
    pids = [int(word) for word in process.stdout.readline().split()]
    assert len(pids) >= 3

    process.kill()

    assert wait_until(lambda: not any(alive(pid) for pid in pids), 2)


@pytest.mark.parametrize("moment", ["starts", "opens"])
def test_a_worker_that_is_stopped_before_it_works_is_killed_in_time(drive, moment):
    process = drive(f"""
        import threading
        from penstock_processes.process_executor import ProcessExecutor
        executor = ProcessExecutor(1, stopped_timeout_s=1, start_timeout_s=60)
        graph = penstock.CalculatorGraph(TEXT % "SlowToOpen", registry=registry_of_tests())
        graph.set_executor("", executor)
        def stop():
            while not executor.workers():
                time.sleep(0.001)
            time.sleep(0 if {moment!r} == "starts" else 1)
            os.kill(executor.workers()[0], signal.SIGSTOP)
        stopper = threading.Thread(target=stop)
        stopper.start()
        begin = time.monotonic()
        try:
            graph.start_run()
            graph.wait_until_idle(40)
        except penstock.PenstockError as error:
            print(error, flush=True)
        print("in time", time.monotonic() - begin < 20, flush=True)
        stopper.join()
        graph.close()
        executor.close()
    """)

    out, errors = process.communicate(timeout=PATIENCE_S * 2)

    assert "was stopped by a signal (SIGSTOP) for 1 s (stopped_timeout_s), and was killed" in out, (
        out,
        errors,
    )
    assert "in time True" in out
