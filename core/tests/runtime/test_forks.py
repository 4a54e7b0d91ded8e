"""A process that forks while a graph runs: the run is the parent's, and over in the child."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

import penstock
from penstock.config import sharing
from penstock.errors import GraphRunError
from penstock_testing import calculator

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

TIMEOUT = 20
CHILD_S = 10
Packet = penstock.Packet


def in_child(function) -> str:
    """Return what a function returns in a forked child, or how the child ended."""
    end, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            signal.alarm(CHILD_S)
            os.write(theirs, str(function()).encode())
        except BaseException as error:  # noqa: BLE001  # told to the parent
            os.write(theirs, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(end, "rb") as answer:
        said = answer.read().decode()
    _, status = os.waitpid(pid, 0)
    return said or f"ended with status {status}"


def end_in_child(graph) -> str:
    try:
        graph.close(CHILD_S)
    except GraphRunError as error:
        return f"{graph.is_running} {error}"
    return "no error"


@pytest.fixture
def graph(make):
    """Return a graph with a fork in the second of three calls; `graph.said` has what the child says."""
    said = []

    def process(cc) -> None:
        if cc.input.payload == 1:
            said.append(in_child(lambda: end_in_child(made)))
        cc.output.add(cc.input.payload, cc.input_timestamp)

    closed = []
    forks = calculator(process, name="Forks", close=lambda cc: closed.append(os.getpid()))
    made = make([(forks, "in", "out")], "in")
    return made, said, closed


def test_a_run_is_over_in_a_child_that_a_calculator_forks_and_goes_on_in_the_parent(graph) -> None:
    made, said, closed = graph
    seen = []
    made.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    made.start_run()

    for number in range(3):
        made.add_packet_to_input_stream("in", Packet(number, number))
    made.close(TIMEOUT)

    told = f"the run goes on in process {os.getpid()}; this process was forked from it"
    assert [one.startswith("False ") and told in one for one in said] == [True], said
    assert seen == [0, 1, 2]
    assert closed == [os.getpid()]  # the child closes nothing of the parent's
    assert made.ledger().adds_up


def test_a_fork_while_another_thread_changes_the_graph_hangs_in_no_call_of_the_child(make) -> None:
    graph = make([(calculator(lambda cc: None, name="Sink"), "in", "")], "in")
    graph.start_run()
    is_held, may_end = threading.Event(), threading.Event()

    def hold(_schedule) -> None:
        is_held.set()
        may_end.wait(TIMEOUT)

    thread = threading.Thread(target=graph._runs.runner.change, args=(hold,))
    thread.start()
    assert is_held.wait(TIMEOUT)

    said = in_child(lambda: end_in_child(graph))

    may_end.set()
    thread.join()
    assert said.startswith("False the graph run failed: the run goes on in process"), said
    graph.close(TIMEOUT)


def test_a_child_can_load_and_run_graphs_of_its_own(make) -> None:
    graph = make([(calculator(lambda cc: None, name="Sink"), "in", "")], "in")
    graph.start_run()

    def run() -> list[int]:
        with penstock.CalculatorGraph('input_stream: "a" output_stream: "a"') as own:
            seen = []
            own.observe_output_stream("a", lambda _, packet: seen.append(packet.payload))
            own.start_run()
            own.add_packet_to_input_stream("a", Packet(1, 1), timeout=CHILD_S)
            own.close(CHILD_S)
        return seen

    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with sharing._LOCK:
            is_held.set()
            may_end.wait(TIMEOUT)

    thread = threading.Thread(target=hold)
    thread.start()
    assert is_held.wait(TIMEOUT)
    said = in_child(run)
    may_end.set()
    thread.join()

    assert said == "[1]"
    graph.close(TIMEOUT)


def test_a_forked_child_that_ends_as_programs_do_waits_for_no_run_of_its_parent() -> None:
    script = """
        import os, sys, time
        import penstock
        graph = penstock.CalculatorGraph('input_stream: "a" output_stream: "a"')
        graph.start_run()
        pid = os.fork()
        if not pid:
            sys.exit(3)  # with all that is done at the end of an interpreter
        began = time.monotonic()
        _, status = os.waitpid(pid, 0)
        graph.add_packet_to_input_stream("a", penstock.Packet(1, 1))
        graph.close(10)
        print(os.WEXITSTATUS(status), time.monotonic() - began < 4)
    """

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, "3 True\n"), done.stderr
