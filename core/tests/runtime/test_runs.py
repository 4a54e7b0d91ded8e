from __future__ import annotations

import contextlib
import gc
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest

import penstock
from penstock.errors import FailedPreconditionError, GraphRunError
from penstock.plugins import default_registry
from penstock_testing import calculator, testing_registry

TIMEOUT = 20
Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Packet = penstock.Packet


# --- again and again --------------------------------------------------------------------------


class Payload:
    """What can be counted while it lives."""


def feed_counted(graph, alive: list[weakref.ref[Payload]], count: int = 5) -> None:
    for i in range(count):
        payload = Payload()
        alive.append(weakref.ref(payload))
        graph.add_packet_to_input_stream("in", Packet(payload, i))


def run_once(graph, count: int = 5) -> list[weakref.ref[Payload]]:
    alive: list[weakref.ref[Payload]] = []
    graph.start_run()
    feed_counted(graph, alive, count)
    graph.close(TIMEOUT)
    return alive


def open_files() -> int:
    descriptors = Path("/proc/self/fd")
    return len(list(descriptors.iterdir())) if descriptors.is_dir() else 0


def test_a_graph_counts_its_runs(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    assert graph.run_count == 0
    run_once(graph)
    assert graph.run_count == 1
    with pytest.raises(penstock.GraphConfigError):
        graph.start_run({"no_such_side_packet": 1})
    assert graph.run_count == 1
    run_once(graph)
    assert graph.run_count == 2


def test_a_hundred_runs_leave_no_thread_no_file_and_no_packet_behind(make) -> None:
    async def process(cc):
        cc.output.add_packet(cc.input.packet)

    seen: list[int] = []
    nodes = [
        (Pass, "in", "a"),
        (calculator(process, name="Async"), "a", "b"),
        (Nothing, "b"),
        (Pass, "b", "out", "max_in_flight: 2"),
    ]
    graph = make(nodes, "in")
    graph.observe_output_stream("out", lambda _, p: seen.append(int(p.timestamp)))
    poller = graph.add_output_stream_poller("b")
    run_once(graph)
    poller.reset()
    gc.collect()
    threads, files, objects = set(threading.enumerate()), open_files(), len(gc.get_objects())

    alive = []
    for _ in range(100):
        alive += run_once(graph)
    poller.reset()
    gc.collect()

    assert seen == [*range(5)] * 101
    assert [ref for ref in alive if ref() is not None] == []
    assert set(threading.enumerate()) <= threads  # a thread that another test has left may end
    assert open_files() == files
    assert len(gc.get_objects()) - objects - len(alive) < 100


def test_a_run_that_failed_leaves_nothing_behind_either(make) -> None:
    def fail(cc):
        if int(cc.input_timestamp) == 2:
            raise ValueError("no")

    graph = make([(calculator(fail), "in"), (Pass, "in", "out")], "in")
    alive = []
    threads = None
    for _ in range(20):
        graph.start_run()
        with contextlib.suppress(GraphRunError):  # it may come to know while it feeds
            feed_counted(graph, alive)
        with pytest.raises(GraphRunError, match="ValueError: no"):
            graph.close(TIMEOUT)
        threads = threads or threading.active_count()
    gc.collect()

    assert [ref for ref in alive if ref() is not None] == []
    assert threading.active_count() <= threads


def test_a_second_run_may_start_with_smaller_timestamps(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    got: list[int] = []
    graph.observe_output_stream("out", lambda _, p: got.append(int(p.timestamp)))
    for start in (1000, 0):
        graph.start_run()
        for i in range(3):
            graph.add_packet_to_input_stream("in", Packet(i, start + i))
        graph.close(TIMEOUT)

    assert got == [1000, 1001, 1002, 0, 1, 2]


def test_each_run_makes_its_calculators_and_the_next_one_or_the_end_of_the_graph_releases_them() -> None:
    made: list[weakref.ref[object]] = []

    class Fresh(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()

        def __init__(self):
            made.append(weakref.ref(self))
            self.state = "fresh"

        def process(self, cc):
            assert self.state == "fresh"
            self.state = "used"

    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Fresh" input_stream: "in" }', registry=testing_registry(Fresh)
    )
    for _ in range(3):
        run_once(graph, 1)
    gc.collect()
    assert [ref() is None for ref in made] == [True, True, False]

    del graph
    gc.collect()
    assert [ref() for ref in made] == [None] * 3


def test_a_graph_runs_again_after_an_error(make) -> None:
    def process(cc):
        if cc.input.payload == "bad":
            raise ValueError("no")
        cc.output.add_packet(cc.input.packet)

    graph = make([(calculator(process), "in", "out")], "in")
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("bad", 1))
    with pytest.raises(GraphRunError, match="ValueError: no"):
        graph.close(TIMEOUT)

    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("good", 0))
    graph.close(TIMEOUT)
    assert got == ["good"]


def test_a_grown_limit_is_forgotten_by_the_next_run(make) -> None:
    graph = make([(Nothing, "a b")], "a b", "max_queue_size: 1")
    for _ in range(2):
        graph.start_run()
        graph.wait_until_idle(TIMEOUT)
        assert {stream.limit for stream in graph.snapshot().streams} == {1}
        for i in range(4):
            graph.add_packet_to_input_stream("a", Packet(i, i))
            graph.wait_until_idle(TIMEOUT)
        assert max(stream.limit for stream in graph.snapshot().streams) == 5
        graph.close(TIMEOUT)


@pytest.mark.parametrize("what", ["start_run", "run"])
def test_a_graph_that_runs_cannot_be_started_again(make, what) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    with pytest.raises(
        (FailedPreconditionError),
        match=r"start_run is not possible while the graph runs|the graph has inputs",
    ):
        getattr(graph, what)()
    graph.close(TIMEOUT)


def test_run_needs_a_graph_without_inputs(make) -> None:
    with pytest.raises(
        FailedPreconditionError,
        match=r"the graph has inputs \('in'\), which run\(\) cannot feed; use start_run",
    ):
        make([(Nothing, "in")], "in").run()


# --- hooks of plugins -------------------------------------------------------------------------


@pytest.fixture
def hooked(monkeypatch):
    """Return a graph that calls hooks of plugins, their calls, and a dict of the errors that they raise."""
    told, raises = [], {}

    def hook(name):
        def call(graph, *arguments):
            told.append((name, graph.run_count, graph.is_running, *arguments))
            if name in raises:
                raise raises[name]

        return (SimpleNamespace(plugin="mine", call=call),)

    names = ("run_prepared", "run_started", "run_ended")
    hooks = {name: hook(name) for name in names}
    monkeypatch.setattr(default_registry, "default_run_hooks", hooks.__getitem__)
    monkeypatch.setattr(
        default_registry, "default_registry", lambda: testing_registry(calculator(name="Idle"))
    )
    graph = penstock.CalculatorGraph('input_stream: "in" node { calculator: "Idle" input_stream: "in" }')
    return graph, told, raises


def test_hooks_come_before_a_run_is_made_when_it_starts_and_when_it_has_ended(hooked) -> None:
    graph, told, _ = hooked
    graph.start_run()
    assert told == [("run_prepared", 0, False), ("run_started", 0, True)]

    graph.cancel()
    with pytest.raises(GraphRunError) as caught:
        graph.wait_until_done(TIMEOUT)

    assert told[2:] == [("run_ended", 1, False, caught.value)]


def test_a_hook_that_raises_is_logged_with_its_plugin_and_the_run_goes_on(hooked, caplog) -> None:
    graph, told, raises = hooked
    raises |= {name: ValueError(name) for name in ("run_prepared", "run_started", "run_ended")}
    graph.start_run()
    graph.close(TIMEOUT)

    assert [name for name, *_ in told] == ["run_prepared", "run_started", "run_ended"]
    assert [record.getMessage() for record in caplog.records] == [
        f"plugin 'mine': its hook penstock_{name} failed" for name, *_ in told
    ]


# --- what a node does wrong -------------------------------------------------------------------


def test_a_calculator_that_cannot_be_made_is_an_error_of_the_start(make) -> None:
    class Fragile(penstock.Calculator):
        def __init__(self):
            raise OSError("no device")

        @classmethod
        def get_contract(cls, cc):
            pass

    graph = make([(Fragile, "")])
    with pytest.raises(
        penstock.CalculatorError, match=r"node 'Fragile' \(Fragile\): __init__\(\) failed: OSError: no device"
    ):
        graph.start_run()
    with pytest.raises(FailedPreconditionError, match="needs a run"):
        graph.wait_until_done()


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit()])
def test_any_base_exception_of_a_step_is_an_error_of_the_run(make, error) -> None:
    def fail(cc):
        raise error

    closed = threading.Event()
    graph = make([(calculator(fail, close=lambda cc: closed.set()), "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with pytest.raises(GraphRunError, match=type(error).__name__) as caught:
        graph.wait_until_done(TIMEOUT)

    assert caught.value.errors[0].__cause__ is error
    assert closed.is_set()


def test_a_keyboard_interrupt_in_a_step_comes_out_as_one(make) -> None:
    def fail(cc):
        raise KeyboardInterrupt

    graph = make([(calculator(fail), "in")], "in", threads=0)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with pytest.raises(KeyboardInterrupt) as caught:
        graph.wait_until_done(TIMEOUT)

    assert isinstance(caught.value.__cause__, GraphRunError)
