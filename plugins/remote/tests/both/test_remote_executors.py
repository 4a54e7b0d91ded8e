"""What holds for every executor whose nodes work in other processes: on workers, and on a cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import threading
import time

import numpy as np
import pytest
import remote_calculators
from driving import EXECUTORS, PATIENCE_S, chains, failed

import penstock
from penstock.errors import CalculatorError, GraphConfigError, GraphRunError
from penstock.packs import default_registry
from penstock_remote.errors import RemoteError

pytestmark = pytest.mark.timeout(180)

#: Executor → its options for calls of several objects at once, and for nodes that share a process.
SEVERAL = {"ProcessExecutor": "num_processes: 3", "RayExecutor": "cancel_grace_s: 0.2"}
TOGETHER = {
    "ProcessExecutor": "num_processes: 2 cancel_grace_s: 0.2 colocate { }",
    "RayExecutor": "cancel_grace_s: 0.2 colocate { }",
}


@pytest.fixture(scope="module", params=sorted(EXECUTORS))
def kind(request):
    """The registered name of an executor; the cluster that it needs is there."""
    if request.param == "RayExecutor":
        request.getfixturevalue("cluster")
    return request.param


@pytest.fixture(autouse=True)
def nothing_left_of_workers(request, kind):
    """Check, where workers are used, that a test leaves no process, thread or descriptor behind."""
    if kind == "ProcessExecutor":
        request.getfixturevalue("nothing_left")


@pytest.fixture
def driven(registry, kind):
    """Make a `Driven` of a chain of calculators on the executor; it is closed with the test."""
    with chains(registry, kind, "cancel_grace_s: 0.2") as make:
        yield make


# --- where nodes live -------------------------------------------------------------------------


def test_a_stateless_node_has_an_object_in_each_of_several_processes(driven, kind) -> None:
    one = driven(("StatelessPid", "max_in_flight: 3"), options=SEVERAL[kind])

    places = one.run(*[0.05] * 12)

    assert len(places) == 12
    assert len({pid for pid, _ in places}) == 3
    assert one.graph.counters["StatelessPid-opened"] == 3
    assert one.graph.counters["StatelessPid-called"] == 12


@pytest.mark.timing
def test_any_other_node_has_one_object_whose_calls_overlap(driven, kind) -> None:
    one = driven(("ObjectAndPid", "max_in_flight: 3"), options=SEVERAL[kind])
    one.run(0)
    begin = time.perf_counter()

    places = one.run(*[0.5] * 3)

    assert len(set(places)) == 1
    assert time.perf_counter() - begin < 1.3, "three calls of half a second, one after the other, take 1.5 s"


def test_a_source_works_there(registry, kind) -> None:
    text = f"""
        executor {{ name: "there" type: "{kind}" }}
        node {{ calculator: "Counts" executor: "there" output_stream: "out" }}
    """
    got = []
    with penstock.CalculatorGraph(text, registry=registry) as graph:
        graph.observe_output_stream("out", lambda _, packet: got.append(packet.payload))
        graph.run(timeout=PATIENCE_S)

    assert got == list(range(50))


@pytest.mark.parametrize("options", ["", "colocate { }"])
def test_a_service_that_may_be_copied_comes_with_each_run(driven, kind, options) -> None:
    one = driven("Greets", "Echo", options=f"cancel_grace_s: 0.2 {options}")

    assert one.run("you") == [f"hello you, made in {os.getpid()}"]
    one.got.clear()
    one.graph.set_service(remote_calculators.GREETING, remote_calculators.Greeting("good day"))
    assert one.run("you") == [f"good day you, made in {os.getpid()}"]


def test_a_service_that_cannot_be_copied_is_an_error_that_names_the_node(driven) -> None:
    one = driven("Greets")
    one.graph.set_service(remote_calculators.GREETING, threading.Lock())

    words = "\n".join(map(str, failed(one)))
    assert "node 'Greets'" in words
    assert "cannot go to another process" in words


def test_coroutines_work_there(driven) -> None:
    assert driven("Waits").run(0.01, 0.0) == [0.01, 0.0]


def test_arrays_arrive_read_only_in_shared_memory(driven) -> None:
    assert driven("ArrayFlags").run(np.zeros((720, 1280, 3), np.uint8)) == [(False, False)]


def test_stop_ends_the_run(driven) -> None:
    one = driven("Does")
    one.graph.start_run()
    one.add("a", "stop")
    one.graph.wait_until_done(PATIENCE_S)

    assert one.got == ["a"]


def test_what_a_calculator_logs_comes_out_here_with_node_and_process(driven, caplog) -> None:
    one = driven("Does")
    with caplog.at_level(logging.WARNING):
        one.run("log", "a")
        one.graph.close(PATIENCE_S)

    (record,) = [record for record in caplog.records if record.name == "remote_calculators.does"]
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("[node 'Does', ")
    assert re.search(r", pid \d+\] 3 lines$", record.getMessage())
    assert record.process != os.getpid()


# --- what goes wrong --------------------------------------------------------------------------


def test_an_error_keeps_its_class_and_brings_the_traceback(driven) -> None:
    run_error, *causes = failed(driven("Does"), "own error")

    assert "node 'Does' (Does): process() failed at 0: OwnError: an error of its own" in str(run_error)
    assert isinstance(causes[0], CalculatorError)
    (own,) = [one for one in causes if isinstance(one, remote_calculators.OwnError)]
    assert 'raise OwnError("an error of its own")' in str(own.__cause__)


def test_an_error_that_cannot_be_pickled_comes_as_text(driven) -> None:
    error = next(one for one in failed(driven("Does"), "pair error") if isinstance(one, RemoteError))

    assert str(error) == "PairError: this and that"
    assert "raise PairError" in str(error.__cause__)


@pytest.mark.parametrize(
    ("calculator", "words"),
    [("FailsToOpen", "open() failed: OwnError: closed today"), ("FailsToBegin", "OwnError: no object today")],
)
def test_an_error_before_the_first_packet_is_told(driven, calculator, words) -> None:
    error, *_ = failed(driven(calculator))

    assert f"node '{calculator}'" in str(error)
    assert words in str(error)


@pytest.mark.parametrize(("payload", "place"), [(threading.Lock(), "input 0"), ("lock", "output 0")])
def test_a_payload_that_cannot_go_is_named_with_its_port_and_the_cure(driven, payload, place) -> None:
    error, *_ = failed(driven("Does"), "first", payload)

    assert f"node 'Does', {place} at 100: a 'lock' cannot go to another process (" in str(error)
    assert "keep the node local or give the type `__reduce__`" in str(error)


def test_a_process_that_is_stopped_for_a_while_goes_on(driven) -> None:
    assert driven("Naps").run("a", "b") == ["a", "b"]


def test_a_graph_says_when_a_class_cannot_be_found_there(registry, kind) -> None:
    class Local(remote_calculators.Echo):
        pass

    registry.add("calculator", "Local", Local)
    text = f"""
        input_stream: "in" executor {{ name: "there" type: "{kind}" }}
        node {{ calculator: "Local" executor: "there" input_stream: "in" output_stream: "out" }}
    """

    with pytest.raises(GraphConfigError, match="cannot be imported by another process; define it at the top"):
        penstock.CalculatorGraph(text, registry=registry)


# --- the same as on threads -------------------------------------------------------------------


def words_of_failure(registry, text, executor):
    """Feed a graph that fails, on an executor or on threads; return what its error says, without places."""
    graph = penstock.CalculatorGraph(text, registry=registry)
    if executor is not None:
        graph.set_executor("", executor)
    graph.start_run()
    for number in range(5):
        with contextlib.suppress(GraphRunError):
            graph.add_packet_to_input_stream("in", penstock.Packet(number, number), timeout=PATIENCE_S)
    graph.close_all_input_streams()
    with pytest.raises(GraphRunError) as caught:
        graph.wait_until_done(PATIENCE_S)
    return str(caught.value).split(" (at ", maxsplit=1)[0]


@pytest.mark.parametrize("shares_a_process", [False, True])
def test_a_graph_that_fails_fails_with_the_same_words(registry, kind, shares_a_process) -> None:
    from penstock_remote.colocate import Together

    text = """
        input_stream: "in"
        node { name: "first" calculator: "Echo" input_stream: "in" output_stream: "a" }
        node { name: "second" calculator: "Three" input_stream: "a" output_stream: "out" }
    """
    colocate = (Together(),) if shares_a_process else ()
    with contextlib.closing(default_registry().find("executor", kind)(colocate=colocate)) as executor:
        there = words_of_failure(registry, text, executor)

    assert "node 'second' (Three): process() failed at 3" in there
    assert there == words_of_failure(registry, text, None)


def test_packets_between_nodes_of_a_region_do_not_leave_it(driven, kind) -> None:
    one = driven("Does", "Kind", options=TOGETHER[kind])

    assert one.run("lock") == ["lock"], "a lock cannot be pickled"
    assert [node.name for node in one.graph.snapshot().nodes] == ["Does+Kind"]
    assert one.run("a", "b") == ["str", "str"]
