from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import json
import sys
import threading
import time

import attrs
import pytest

from penstock import Calculator, CalculatorGraph, GraphRunError, Packet, WaitTimeoutError
from penstock.explain import ExecutorState, StreamWait
from penstock_testing import InlineExecutor, testing_registry


class Weighty:
    """Asks whether the lock of the run is held while its size is asked for."""

    def __init__(self, is_locked) -> None:
        self.graph = None
        self.was_locked = []
        self.is_locked = is_locked

    @property
    def nbytes(self) -> int:
        self.was_locked.append(self.is_locked(self.graph))
        return 70


class Speechless:
    @property
    def nbytes(self) -> int:
        raise RuntimeError("no size")


class Both(Calculator):
    """Waits for two inputs."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set_any()

    def process(self, cc) -> None:
        """Takes what comes."""


def test_the_bytes_that_wait_are_counted_without_the_lock_where_payloads_say_them(is_locked) -> None:
    graph = CalculatorGraph(
        'input_stream: "a" input_stream: "b" node { calculator: "Both" input_stream: "a" input_stream: "b" }',
        registry=testing_registry(Both),
    )
    payload = Weighty(is_locked)
    payload.graph = graph
    graph.start_run()
    for timestamp, one in enumerate([payload, Speechless(), payload]):
        graph.add_packet_to_input_stream("a", Packet(one, timestamp))

    (stream,) = (s for s in graph.snapshot().streams if s.name == "a")

    assert (stream.queued, stream.queued_bytes) == (3, 140)
    assert payload.was_locked == [False, False]
    graph.close(30)


# --- all of it as data ----------------------------------------------------------------------------


def line_of(function, text):
    """Return the file, and the number of the line of a function that has these words."""
    lines, first = inspect.getsourcelines(function)
    (offset,) = (i for i, line in enumerate(lines) if text in line)
    return inspect.getsourcefile(function), first + offset


class Held(Calculator):
    """Its calls say that they have come, and wait until the test releases them."""

    def __init__(self) -> None:
        self.number = 0

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()

    def process(self, cc) -> None:
        ENTERED.release()
        LEAVE.wait(TIMEOUT)  # here it stands


class AlsoHeld(Held):
    """The same code under another name."""


def held_function() -> None:
    ENTERED.release()
    LEAVE.wait(TIMEOUT)  # here the function stands


#: A module as packs have it that make calculators from functions.
FORMS: dict[str, object] = {"__name__": "forms", "Held": Held, "held_function": held_function}
exec(  # noqa: S102  # a module of its own, with a mark
    """
__penstock_calls_functions__ = True

class HeldFunction(Held):
    def process(self, cc):
        held_function()
""",
    FORMS,
)


class Awaiting(Calculator):
    """Awaits until it is cancelled."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()

    async def process(self, cc) -> None:
        task = asyncio.get_running_loop().create_task(started())
        await task
        await asyncio.Event().wait()  # here it awaits


async def started() -> None:
    # the task that awaits this one is resumed by a later turn of the loop, in the one that wakes the test
    asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, ENTERED.release)


class Handed(Calculator):
    """Hands its work elsewhere."""

    future: concurrent.futures.Future

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()

    def process(self, cc):
        ENTERED.release()
        return self.future


HAS_LOCK = getattr(sys, "_is_gil_enabled", lambda: True)()
reads_stacks = pytest.mark.skipif(
    not HAS_LOCK and sys.version_info < (3, 14),
    reason="without its lock, Python 3.13 crashes when a stack of a running thread is read: gh-152355",
)
TIMEOUT = 30
ENTERED = threading.Semaphore(0)
LEAVE = threading.Event()


@pytest.fixture
def held():
    """Give a maker of graphs; whatever their calculators wait for comes in the end."""
    LEAVE.clear()
    graphs = []
    with concurrent.futures.ThreadPoolExecutor(4, thread_name_prefix="pool") as pool:

        def start(text, *calculators, calls):
            graph = CalculatorGraph(f'input_stream: "in" {text}', registry=testing_registry(*calculators))
            graph.set_executor("", pool)
            if "executor {" in text:
                graph.set_executor("other", pool)
            graphs.append(graph)
            graph.start_run()
            graph.add_packet_to_input_stream("in", Packet(3, 7))
            for _ in range(calls):
                assert ENTERED.acquire(timeout=TIMEOUT)
            return graph

        yield start
        LEAVE.set()
        for graph in graphs:
            graph.cancel()
            with pytest.raises(GraphRunError, match="cancelled"):
                graph.wait_until_done(TIMEOUT)


def calls_of(graph, node):
    """Return the calls of a node that have not come back."""
    (state,) = (state for state in graph.snapshot().nodes if state.name == node)
    return state.calls


@reads_stacks
def test_a_running_call_stands_where_the_calculator_stands(held) -> None:
    graph = held('node { calculator: "Held" input_stream: "in" output_stream: "out" }', Held, calls=1)

    (call,) = calls_of(graph, "Held")

    assert (call.method, call.timestamp, call.function) == ("process", "7", "process")
    assert (call.file, call.line) == line_of(Held.process, "# here it stands")
    assert call.thread.startswith("pool")
    assert call.inside.startswith(f"{threading.__file__}:")
    assert call.inside.endswith((" in wait", " in __enter__", " in __exit__"))  # there, or about to be


@reads_stacks
def test_a_calculator_made_from_a_function_stands_in_the_function(held) -> None:
    graph = held(
        'node { calculator: "HeldFunction" input_stream: "in" output_stream: "out" }',
        FORMS["HeldFunction"],
        calls=1,
    )

    (call,) = calls_of(graph, "HeldFunction")

    assert call.function == "held_function"
    assert (call.file, call.line) == line_of(held_function, "# here the function stands")


@pytest.mark.skipif(
    not HAS_LOCK,
    reason="without its lock, Python can read no local variable of a running thread: gh-144446",
)
def test_calls_of_the_same_code_are_told_apart_by_their_arguments(held) -> None:
    graph = held(
        'node { calculator: "Held" input_stream: "in" output_stream: "a" max_in_flight: 2 } '
        'node { calculator: "AlsoHeld" input_stream: "in" output_stream: "b" }',
        Held,
        AlsoHeld,
        calls=2,
    )
    graph.add_packet_to_input_stream("in", Packet(3, 8))
    assert ENTERED.acquire(timeout=TIMEOUT)

    two, one = calls_of(graph, "Held"), calls_of(graph, "AlsoHeld")

    assert [call.timestamp for call in (*two, *one)] == ["7", "8", "7"]
    assert len({call.thread for call in (*two, *one)}) == 3
    assert {call.line for call in (*two, *one)} == {line_of(Held.process, "# here it stands")[1]}


@pytest.mark.skipif(
    not HAS_LOCK,
    reason="without its lock, Python can read no coroutine of a running thread: gh-120321",
)
def test_a_call_that_awaits_stands_where_its_coroutine_does(held) -> None:
    graph = held('node { calculator: "Awaiting" input_stream: "in" }', Awaiting, calls=1)

    (call,) = calls_of(graph, "Awaiting")
    deadline = time.monotonic() + TIMEOUT
    while not call.file and time.monotonic() < deadline:  # the run may not have noted the coroutine yet
        (call,) = calls_of(graph, "Awaiting")

    assert (call.file, call.line) == line_of(Awaiting.process, "# here it awaits")
    assert call.thread == ""
    assert call.inside.endswith(" in wait")


def test_without_the_lock_calls_of_the_same_code_are_not_told_apart(held, monkeypatch) -> None:
    graph = held(
        'node { calculator: "Held" input_stream: "in" output_stream: "a" } '
        'node { calculator: "AlsoHeld" input_stream: "in" output_stream: "b" }',
        Held,
        AlsoHeld,
        calls=2,
    )
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)

    (one,), (other,) = calls_of(graph, "Held"), calls_of(graph, "AlsoHeld")

    assert (one.method, one.line, other.method, other.line) == ("process", 0, "process", 0)


@pytest.mark.skipif(
    sys.version_info >= (3, 14), reason="from 3.14 on frames have locks of their own: gh-128421"
)
def test_without_the_lock_python_3_13_reads_no_stack_of_another_thread(held, monkeypatch) -> None:
    graph = held('node { calculator: "Held" input_stream: "in" output_stream: "out" }', Held, calls=1)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    monkeypatch.setattr(sys, "_current_frames", lambda: pytest.fail("stacks are read"))

    with pytest.raises(WaitTimeoutError) as caught:
        graph.wait_until_idle(timeout=0.01)

    assert "node 'Held': where process() at 7 stands cannot be seen" in str(caught.value)


def test_without_the_lock_the_own_stack_is_still_read(monkeypatch) -> None:
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    seen = []

    class Looks(Held):
        def process(self, cc) -> None:
            seen.append(graph.snapshot())  # here it looks

    graph = CalculatorGraph(
        'input_stream: "in" node { calculator: "Looks" input_stream: "in" output_stream: "out" }',
        registry=testing_registry(Looks),
    )
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(3, 7))
    graph.close(TIMEOUT)

    (call,) = seen[0].nodes[0].calls
    assert (call.file, call.line) == line_of(Looks.process, "# here it looks")


def test_without_the_lock_no_coroutine_is_read(held, monkeypatch) -> None:
    graph = held('node { calculator: "Awaiting" input_stream: "in" }', Awaiting, calls=1)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)

    while (call := calls_of(graph, "Awaiting")[0]).thread:  # until it has left the pool's thread
        threading.Event().wait(0.001)

    assert str(call) == "node 'Awaiting': where process() at 7 stands cannot be seen"


class ToldInWords(Awaiting):
    """Awaits what says in words where it is."""

    async def wait(self) -> None:
        await super().process(None)

    def process(self, cc):
        return InWords(self.wait())


class InWords:
    """A wait that says in words what it waits for."""

    def __init__(self, coroutine) -> None:
        self.coroutine = coroutine

    def __await__(self):
        return self.coroutine.__await__()

    def standing(self) -> str:
        return "out for lunch"


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_wait_may_say_in_words_where_its_call_is(held, monkeypatch, has_lock) -> None:
    graph = held('node { calculator: "ToldInWords" input_stream: "in" }', ToldInWords, calls=1)
    if not has_lock:
        monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    deadline = time.monotonic() + TIMEOUT
    while not (call := calls_of(graph, "ToldInWords")[0]).elsewhere and time.monotonic() < deadline:
        threading.Event().wait(0.001)  # the run may not have noted what it awaits yet

    assert str(call) == "node 'ToldInWords': process() at 7 is out for lunch"


def test_of_a_call_that_was_handed_elsewhere_is_said_that_it_cannot_be_seen(held) -> None:
    Handed.future = concurrent.futures.Future()
    graph = held('node { calculator: "Handed" input_stream: "in" }', Handed, calls=1)
    while calls_of(graph, "Handed")[0].file:  # until it has left the thread
        threading.Event().wait(0.001)

    (call,) = calls_of(graph, "Handed")

    assert (call.thread, call.line, call.inside) == ("", 0, "")
    assert str(call) == "node 'Handed': where process() at 7 stands cannot be seen"


@reads_stacks
def test_a_wait_that_expires_says_where_the_running_calls_stand(held) -> None:
    graph = held('node { calculator: "Held" input_stream: "in" output_stream: "out" }', Held, calls=1)
    file, line = line_of(Held.process, "# here it stands")

    with pytest.raises(WaitTimeoutError) as caught:
        graph.wait_until_idle(timeout=0.01)

    assert f"node 'Held': process() at 7 stands at {file}:{line} in process, inside " in str(caught.value)
    assert graph.why().calls == calls_of(graph, "Held")


def test_a_node_that_waits_names_the_streams_as_data() -> None:
    graph = CalculatorGraph(
        'input_stream: "a" input_stream: "b" input_stream: "c" '
        'node { calculator: "Both" input_stream: "a" input_stream: "b" input_stream: "c" }',
        registry=testing_registry(Both),
    )
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    (idle,) = graph.snapshot().nodes
    graph.add_packet_to_input_stream("a", Packet(1, 5))
    graph.set_input_stream_timestamp_bound("b", 9)
    graph.set_input_stream_timestamp_bound("c", 5)
    graph.wait_until_idle(TIMEOUT)
    (node,) = graph.snapshot().nodes

    assert [wait.stream for wait in idle.waits_on] == ["a", "b", "c"]
    assert {wait.timestamp for wait in idle.waits_on} == {""}
    assert node.waits_on == (StreamWait("c", "5", "5"),)
    assert node.waits_for == "stream 'c' (bound 5) to settle 5"
    graph.close(TIMEOUT)
    assert graph.snapshot().nodes[0].waits_on == ()


def test_dropped_packets_are_counted_by_their_reason() -> None:
    graph = CalculatorGraph(
        'input_stream: "a" input_stream: "b" node { calculator: "Both" input_stream: "a" input_stream: "b" }',
        registry=testing_registry(Both),
    )
    graph.set_late_packet_mode("a", "DROP")
    graph.start_run()
    for timestamp in (5, 4, 3, 6):
        graph.add_packet_to_input_stream("a", Packet(1, timestamp))

    stream = graph.snapshot().streams[0]

    assert (stream.dropped, stream.drops) == (2, {"late": 2})
    assert stream.dropped_at == {"": {"late": 2}}, "at the graph input"
    graph.close(TIMEOUT)


class NeedsBoth(Calculator):
    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()
        cc.inputs[1].set_any()

    def process(self, cc) -> None:
        for port in cc.inputs:
            if not port.is_empty():
                port.count_dropped("the other one is missing")


def test_packets_that_a_reader_has_dropped_are_counted_too() -> None:
    graph = CalculatorGraph(
        'input_stream: "a" input_stream: "b" '
        'node { calculator: "NeedsBoth" input_stream: "a" input_stream: "b" }',
        registry=testing_registry(NeedsBoth),
    )
    with graph:
        graph.start_run()
        for timestamp in range(3):
            graph.add_packet_to_input_stream("a", Packet(1, timestamp))

    stream = graph.snapshot().streams[0]

    assert (stream.dropped, stream.drops) == (
        3,
        {"the other one is missing": 3},
    )
    assert stream.dropped_at == {"NeedsBoth": {"the other one is missing": 3}}


def test_executors_say_whose_calls_they_run_and_with_how_many_threads(held) -> None:
    graph = held(
        'executor { name: "other" } '
        'node { calculator: "Held" input_stream: "in" output_stream: "a" } '
        'node { calculator: "AlsoHeld" input_stream: "in" output_stream: "b" executor: "other" } ',
        Held,
        AlsoHeld,
        calls=2,
    )
    taken = graph.snapshot()

    for state, name in zip(taken.executors, ["", "other"], strict=True):
        # a thread that has just opened a node may not have left yet
        assert 1 <= state.threads <= 4
        expected = ExecutorState(
            name, "ThreadPoolExecutor", 1, state.threads, running=1, ready=0, attentive=0
        )
        assert attrs.evolve(state, attentive=0) == expected
    assert [state.executor for state in taken.nodes] == ["", "other"]


def test_steps_that_wait_for_a_thread_are_counted_at_their_executor() -> None:
    graph = CalculatorGraph(
        'input_stream: "a" executor { name: "inline" } '
        'node { calculator: "Both" input_stream: "a" executor: "inline" }',
        registry=testing_registry(Both),
    )
    graph.set_executor("inline", InlineExecutor())
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    graph.add_packet_to_input_stream("a", Packet(1, 1))

    inline = graph.snapshot().executors[-1]

    assert inline == ExecutorState("inline", "InlineExecutor", 1, threads=0, running=0, ready=1, attentive=0)
    graph.close(TIMEOUT)


@reads_stacks
def test_a_snapshot_can_be_written_as_json(held) -> None:
    graph = held('node { calculator: "Held" input_stream: "in" output_stream: "out" }', Held, calls=1)

    written = json.loads(json.dumps(attrs.asdict(graph.snapshot())))

    assert written["nodes"][0]["calls"][0]["function"] == "process"
    assert written["streams"][0]["bound"] == "8"
    assert written["executors"][0]["threads"] >= 1
