from __future__ import annotations

import threading
import time

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError, StatusCode, WaitTimeoutError
from penstock_testing import calculator, testing_registry

TIMEOUT = 20
Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)


class Gate:
    """A process method that waits until the test opens it."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.open = threading.Event()

    def process(self, cc):
        self.entered.set()
        assert self.open.wait(TIMEOUT)
        for output in cc.outputs:
            output.add(cc.inputs[0].payload, cc.input_timestamp)


def add(graph, stamp: int, stream: str = "in") -> None:
    graph.add_packet_to_input_stream(stream, penstock.Packet(stamp, stamp))


# --- time-outs that tell the story ------------------------------------------------------------


def test_a_wait_that_expires_says_which_node_waits_on_which_stream_at_which_bound(make) -> None:
    graph = make([(Pass, "a", "c"), (calculator(name="Join"), "c b")], "a b")
    graph.start_run()
    add(graph, 7, "a")
    graph.set_input_stream_timestamp_bound("b", 5)
    with pytest.raises(WaitTimeoutError) as caught:
        graph.wait_until_done(0.05)

    story = str(caught.value)
    assert story.startswith("wait_until_done() took longer than 0.05 s\nthe run is running")
    assert "node 'Join' waits for stream 'b' (bound 5) to settle 7" in story
    assert "graph input 'b' is open; the application feeds or closes it" in story
    assert caught.value.code is StatusCode.DEADLINE_EXCEEDED
    graph.close(TIMEOUT)


def test_a_wait_that_expires_names_the_node_that_runs(make) -> None:
    gate = Gate()
    graph = make([(calculator(gate.process, name="Gated"), "in")], "in")
    graph.start_run()
    add(graph, 1)
    assert gate.entered.wait(TIMEOUT)
    with pytest.raises(
        WaitTimeoutError,
        match=r"wait_until_idle\(\) took longer than 0.01 s\n.*\n  node 'Gated' is running \(1 calls\)",
    ):
        graph.wait_until_idle(0.01)
    gate.open.set()
    graph.close(TIMEOUT)


def test_the_run_goes_on_after_a_wait_that_expired(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
    graph.start_run()
    with pytest.raises(WaitTimeoutError, match="wait_until_done"):
        graph.wait_until_done(0.01)
    add(graph, 1)
    graph.close(TIMEOUT)

    assert got == [1]


def test_a_time_out_of_zero_looks_and_does_not_wait(make) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    graph.wait_until_idle(0)
    began = time.monotonic()
    with pytest.raises(WaitTimeoutError, match="took longer than 0 s"):
        graph.wait_until_done(0)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "call",
    [
        lambda g: g.wait_until_done(),
        lambda g: g.wait_until_idle(),
        lambda g: g.wait_for_observed_output(),
        lambda g: g.cancel(),
        lambda g: g.pause(),
        lambda g: g.resume(),
        lambda g: g.close_input_stream("in"),
        lambda g: g.close_all_packet_sources(),
        lambda g: g.snapshot(),
    ],
)
def test_what_needs_a_run_says_so(make, call) -> None:
    with pytest.raises(FailedPreconditionError, match=r"needs a run; call start_run\(\) first"):
        call(make([(Nothing, "in")], "in"))


def test_waiting_for_the_end_twice_returns_at_once(make) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    graph.close(TIMEOUT)
    graph.wait_until_done(0)
    graph.close(0)
    graph.wait_until_idle(0)

    assert not graph.is_running
    assert graph.snapshot().state == "over"


def test_idle_reports_an_error_and_the_end_reports_it_again(make) -> None:
    def fail(cc):
        raise ValueError("no")

    graph = make([(calculator(fail), "in")], "in")
    graph.start_run()
    add(graph, 1)
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.wait_until_idle(TIMEOUT)
    assert graph.has_error()
    assert "ValueError: no" in graph.get_combined_error_message()
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.wait_until_done(TIMEOUT)
    assert not graph.has_error()
    assert graph.get_combined_error_message() == ""


# --- calls that would wait for themselves -----------------------------------------------------

BLOCKING = {
    "idle": lambda g: g.wait_until_idle(),
    "done": lambda g: g.wait_until_done(),
    "observed": lambda g: g.wait_for_observed_output(),
    "close": lambda g: g.close(),
}


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("what", sorted(BLOCKING))
def test_a_blocking_call_from_a_step_raises_at_once(make, what, threads) -> None:
    def process(cc):
        BLOCKING[what](graph)

    graph = make([(calculator(process), "in")], "in", threads=threads)
    graph.start_run()
    add(graph, 1)
    with pytest.raises(
        GraphRunError, match="was called from inside this graph's own step, observer or event loop"
    ) as caught:
        graph.wait_until_done(TIMEOUT)
    assert caught.value.code is StatusCode.FAILED_PRECONDITION


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("what", sorted(BLOCKING))
def test_a_blocking_call_from_an_observer_raises_at_once(make, what, threads) -> None:
    graph = make([(Pass, "in", "out")], "in", threads=threads)
    graph.observe_output_stream("out", lambda *_: BLOCKING[what](graph))
    graph.start_run()
    add(graph, 1)
    with pytest.raises(GraphRunError, match=r"observer of stream 'out' failed.*would wait for itself"):
        graph.wait_until_done(TIMEOUT)


def test_a_throttled_add_from_a_step_raises_and_says_the_cure(make) -> None:
    def process(cc):
        for i in range(5):
            graph.add_packet_to_input_stream("full", penstock.Packet(i, i))

    graph = make([(calculator(process), "in"), (Nothing, "full other")], "in full other", "max_queue_size: 1")
    graph.start_run()
    add(graph, 1)
    with pytest.raises(
        GraphRunError,
        match=r"adding to throttled stream 'full' was called from inside.*add with ADD_IF_NOT_FULL",
    ):
        graph.wait_until_done(TIMEOUT)


def test_a_poller_asked_from_a_step_raises_at_once(make) -> None:
    def process(cc):
        poller.next()

    graph = make([(calculator(process), "in")], "in other")
    poller = graph.add_output_stream_poller("other")
    graph.start_run()
    add(graph, 1)
    with pytest.raises(GraphRunError, match="the next packet of stream 'other' was called from inside"):
        graph.wait_until_done(TIMEOUT)


def test_a_step_may_add_to_its_own_graph_without_waiting(make) -> None:
    def process(cc):
        if cc.input.payload < 5:
            graph.add_packet_to_input_stream(
                "in", penstock.Packet(cc.input.payload + 1, cc.input_timestamp + 1)
            )

    graph = make([(calculator(process), "in")], "in")
    got: list[object] = []
    graph.observe_output_stream("in", lambda _, p: got.append(p.payload))
    graph.start_run()
    add(graph, 0)
    graph.wait_until_idle(TIMEOUT)

    assert got == [0, 1, 2, 3, 4, 5]
    graph.close(TIMEOUT)


def test_a_step_may_wait_for_another_graph(make) -> None:
    inner = make([(Pass, "in", "out")], "in")
    got: list[object] = []
    inner.observe_output_stream("out", lambda _, p: got.append(p.payload))

    def process(cc):
        inner.start_run()
        add(inner, 3)
        inner.close(TIMEOUT)

    outer = make([(calculator(process), "in")], "in")
    outer.start_run()
    add(outer, 1)
    outer.close(TIMEOUT)

    assert got == [3]


def test_a_step_may_cancel_its_own_run(make) -> None:
    closed = threading.Event()
    graph = make([(calculator(lambda cc: graph.cancel(), close=lambda cc: closed.set()), "in")], "in")
    graph.start_run()
    add(graph, 1)
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        graph.wait_until_done(TIMEOUT)

    assert closed.is_set()


# --- wait_for_observed_output -----------------------------------------------------------------


def test_waiting_for_output_returns_when_the_observer_has_seen_it(make) -> None:
    gate = Gate()
    seen: list[object] = []
    graph = make([(calculator(gate.process), "in", "out")], "in")
    graph.observe_output_stream("out", lambda _, p: seen.append(p.payload))
    graph.start_run()
    add(graph, 1)
    assert gate.entered.wait(TIMEOUT)
    with pytest.raises(WaitTimeoutError, match=r"observed output took longer than 0.01 s"):
        graph.wait_for_observed_output(0.01)
    gate.open.set()
    graph.wait_for_observed_output(TIMEOUT)
    assert seen == [1]
    graph.close(TIMEOUT)


def test_waiting_for_output_does_not_return_while_an_observer_is_still_at_it(make) -> None:
    entered, leave = threading.Event(), threading.Event()
    finished: list[int] = []

    def observe(_, packet):
        entered.set()
        assert leave.wait(TIMEOUT)
        finished.append(1)

    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("out", observe)
    graph.start_run()
    add(graph, 1)
    assert entered.wait(TIMEOUT)
    with pytest.raises(WaitTimeoutError, match="observed output took longer than"):
        graph.wait_for_observed_output(0.05)
    leave.set()
    graph.wait_for_observed_output(TIMEOUT)

    assert finished == [1]
    graph.close(TIMEOUT)


def test_output_that_came_before_the_wait_counts_once(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("out", lambda *_: None)
    graph.start_run()
    add(graph, 1)
    graph.wait_until_idle(TIMEOUT)
    graph.wait_for_observed_output(TIMEOUT)
    with pytest.raises(WaitTimeoutError, match="observed output"):
        graph.wait_for_observed_output(0.01)
    graph.close(TIMEOUT)


def test_a_run_that_ends_without_output_says_so(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    graph.observe_output_stream("out", lambda *_: None)
    graph.start_run()
    graph.close_all_input_streams()
    with pytest.raises(
        penstock.PenstockError, match="the graph's run is done, nothing more will be observed"
    ) as caught:
        graph.wait_for_observed_output(TIMEOUT)
    assert caught.value.code is StatusCode.OUT_OF_RANGE
    graph.wait_until_done(TIMEOUT)


# --- pausing, leaving -------------------------------------------------------------------------


def test_a_paused_graph_does_nothing_until_it_is_resumed(make) -> None:
    gate = Gate()
    graph = make([(calculator(gate.process, name="Gated"), "in", "a"), (Pass, "a", "out")], "in", threads=1)
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
    graph.start_run()
    add(graph, 1)
    assert gate.entered.wait(TIMEOUT)
    graph.pause()
    gate.open.set()
    with pytest.raises(WaitTimeoutError, match="the run is paused"):
        graph.wait_until_idle(0.05)
    assert got == []

    graph.resume()
    graph.close(TIMEOUT)
    assert got == [1]


def test_a_paused_run_can_be_cancelled(make) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    graph.pause()
    add(graph, 1)
    (paused,) = graph.snapshot().nodes
    graph.cancel()
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        graph.wait_until_done(TIMEOUT)

    assert (paused.ready, paused.steps) == (1, 0)
    assert graph.snapshot().nodes[0].state == "closed"


def test_leaving_a_with_block_ends_the_run(make) -> None:
    got: list[object] = []
    with make([(Pass, "in", "out")], "in") as graph:
        graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
        graph.start_run()
        add(graph, 1)

    assert got == [1]
    with pytest.raises(FailedPreconditionError, match="needs a run under way"):
        add(graph, 2)


def fail_inside(graph) -> None:
    with graph:
        graph.start_run()
        graph.wait_until_idle(TIMEOUT)
        raise KeyError("mine")


def test_an_exception_in_a_with_block_cancels_the_run_and_is_raised(make) -> None:
    closed = threading.Event()
    graph = make([(calculator(close=lambda cc: closed.set()), "in")], "in")
    with pytest.raises(KeyError, match="mine") as caught:
        fail_inside(graph)

    assert closed.is_set()
    assert not hasattr(caught.value, "__notes__")  # that the run was cancelled is no news


def test_what_else_fails_while_a_with_block_cancels_the_run_is_noted(make) -> None:
    def close(cc):
        raise ValueError("close")

    with pytest.raises(KeyError, match="mine") as caught:
        fail_inside(make([(calculator(close=close, name="Careless"), "in")], "in"))

    (note,) = caught.value.__notes__
    assert note.startswith("while the graph was cancelled: ")
    assert "ValueError: close" in note


def test_a_graph_that_is_forgotten_ends_its_run(make, pools) -> None:
    closed = threading.Event()
    note = calculator(close=lambda cc: closed.set(), name="Note")
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Note" input_stream: "in" }', registry=testing_registry(note)
    )
    graph.set_executor("", pools(1))
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    del graph

    assert closed.wait(TIMEOUT)
