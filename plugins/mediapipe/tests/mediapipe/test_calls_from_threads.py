"""MediaPipe's `CalculatorGraph` from several threads: a packet that is refused ends the run for all."""

from __future__ import annotations

import threading

import pytest

from penstock_mediapipe import packet_creator
from penstock_mediapipe.calculator_graph import CalculatorGraph

TIMEOUT = 30
GRAPH = """
input_stream: "in" output_stream: "out"
node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }
"""


def in_thread(call):
    """Call in a thread; return a function that waits for it, and returns its result or error."""
    came = []

    def run():
        try:
            came.append(call())
        except Exception as error:  # noqa: BLE001  # returned
            came.append(error)

    thread = threading.Thread(target=run)
    thread.start()

    def result():
        thread.join(TIMEOUT)
        assert not thread.is_alive()
        return came[0]

    return result


@pytest.fixture
def graph():
    made = CalculatorGraph(graph_config=GRAPH)
    made.start_run()
    made.add_packet_to_input_stream("in", packet_creator.create_int(5), 5)
    made.wait_until_idle()
    return made


def add(graph, timestamp):
    graph.add_packet_to_input_stream("in", packet_creator.create_int(timestamp), timestamp)


@pytest.mark.parametrize("method", ["wait_until_idle", "wait_until_done"])
def test_a_thread_that_waits_is_told_which_packet_was_refused(graph, method, monkeypatch):
    core = getattr(graph._graph, method)
    is_waiting, may_go_on = threading.Event(), threading.Event()

    def slow():
        is_waiting.set()
        assert may_go_on.wait(TIMEOUT)
        return core()

    monkeypatch.setattr(graph._graph, method, slow)
    waited = in_thread(getattr(graph, method))
    assert is_waiting.wait(TIMEOUT)
    add(graph, 3)
    may_go_on.set()

    error = waited()
    assert isinstance(error, ValueError)
    assert "Packet timestamp mismatch" in str(error)


def test_a_thread_that_adds_is_told_which_packet_was_refused(graph, monkeypatch):
    core = graph._graph.add_packet_to_input_stream

    def after_another(*given):
        monkeypatch.undo()
        in_thread(lambda: add(graph, 3))()
        core(*given)

    monkeypatch.setattr(graph._graph, "add_packet_to_input_stream", after_another)
    with pytest.raises(ValueError, match="Packet timestamp mismatch"):
        add(graph, 6)


def test_of_two_packets_that_are_refused_the_first_is_told(graph, monkeypatch):
    refuse = graph._refuse

    def after_another(*given):
        monkeypatch.undo()
        in_thread(lambda: add(graph, 3))()
        refuse(*given)

    monkeypatch.setattr(graph, "_refuse", after_another)
    with pytest.raises(ValueError, match="received 3"):
        add(graph, 4)
    with pytest.raises(ValueError, match="received 3"):
        graph.wait_until_done()


def test_a_start_that_is_refused_forgets_nothing(graph, monkeypatch):
    core = graph._graph.start_run

    def after_another(*given):
        in_thread(lambda: add(graph, 3))()
        core(*given)

    monkeypatch.setattr(graph._graph, "start_run", after_another)
    with pytest.raises(RuntimeError):
        graph.start_run()
    assert graph.has_error()
    monkeypatch.undo()
    with pytest.raises(ValueError, match="Packet timestamp mismatch"):
        graph.wait_until_done()
    graph.start_run()
    assert not graph.has_error()
    graph.close()


def test_a_packet_that_comes_as_another_thread_closes_the_input_ends_the_run(graph, monkeypatch):
    core = graph._graph.close_input_stream

    def before_another(name):
        core(name)
        assert in_thread(lambda: add(graph, 7))() is None

    monkeypatch.setattr(graph._graph, "close_input_stream", before_another)
    graph.close_input_stream("in")
    with pytest.raises(ValueError, match="Packet timestamp mismatch"):
        graph.wait_until_done()


def test_a_packet_that_is_refused_after_the_end_was_told_is_refused_for_want_of_a_run(graph, monkeypatch):
    refuse = graph._refuse

    def after_the_end(*given):
        graph.close_input_stream("in")
        in_thread(graph.wait_until_done)()
        refuse(*given)

    monkeypatch.setattr(graph, "_refuse", after_the_end)
    with pytest.raises(RuntimeError, match="is called before StartRun"):
        add(graph, 3)
    assert not graph.has_error()


@pytest.mark.parametrize("method", ["close_input_stream", "close_all_packet_sources"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_run_that_begins_while_inputs_are_being_closed_has_them_closed(method, when, monkeypatch):
    graph = CalculatorGraph(graph_config=GRAPH)
    close = getattr(graph._graph, method)

    def begin():
        graph.start_run()
        add(graph, 5)

    def with_another(*given):
        if when == "before":
            in_thread(begin)()
            close(*given)
        else:
            graph.start_run()
            close(*given)
            in_thread(lambda: add(graph, 6))()

    monkeypatch.setattr(graph._graph, method, with_another)
    getattr(graph, method)(*["in"] * (method == "close_input_stream"))

    if when == "before":
        add(graph, 6)
    with pytest.raises(ValueError, match="Graph has errors"):
        add(graph, 7)
    with pytest.raises(ValueError, match=r"received 6|closed"):
        graph.wait_until_done()


def test_an_input_that_could_not_be_closed_is_not_taken_for_closed(graph):
    with pytest.raises(RuntimeError):
        graph.close_input_stream("other")
    add(graph, 6)
    graph.close()
    assert graph._being_closed.total() == 0
