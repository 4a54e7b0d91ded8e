"""Executors chosen by the graph's config and by the application, several at once."""

from __future__ import annotations

import concurrent.futures
import sys
import textwrap
import threading

import pytest

from penstock import Calculator, CalculatorGraph, GraphRunError, Packet, Registry
from penstock.plugins.default_registry import default_registry
from penstock.plugins.discovery import PluginHost

#: Seconds after which a wait of a test has failed; long, since a loaded machine is no fault of it.
PATIENCE_S = 30.0


class Where(Calculator):
    """Passes its input on, and notes in the log which of its methods ran on which thread."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.set_timestamp_offset(0)
        cc.input_side_packets["LOG"].set(list)

    def note(self, cc, method):
        cc.input_side_packets["LOG"].payload.append((cc.node_name, method, threading.current_thread()))

    def open(self, cc):
        self.note(cc, "open")

    def process(self, cc):
        self.note(cc, "process")
        cc.output.add_packet(cc.input.packet)

    def close(self, cc):
        self.note(cc, "close")


class Meet(Calculator):
    """Comes back when as many calls as the barrier wants are inside at once."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.input_side_packets["BARRIER"].set(threading.Barrier)

    def process(self, cc):
        cc.input_side_packets["BARRIER"].payload.wait(PATIENCE_S)
        cc.output.add_packet(cc.input.packet)


class FailAt(Calculator):
    """Passes its input on, and fails at the payload 3."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])

    def process(self, cc):
        if cc.input.payload == 3:
            raise ValueError("at 3")
        cc.output.add_packet(cc.input.packet)


def with_calculators(registry):
    own = registry.child()
    for calculator in (Where, Meet, FailAt):
        own.add("calculator", calculator.__name__, calculator)
    return own


@pytest.fixture
def registry():
    return with_calculators(default_registry())


def watched(graph, stream="out"):
    """Return a list that will hold the payloads of a stream."""
    seen = []
    graph.observe_output_stream(stream, lambda _, packet: seen.append(packet.payload))
    return seen


def feed(graph, count, start=0):
    for number in range(start, start + count):
        graph.add_packet_to_input_stream("in", Packet(number, number))


def threads_of(log, node):
    return {thread for name, _, thread in log if name == node}


# --- by config --------------------------------------------------------------------------------

PLUGIN = """
    @hookimpl
    def penstock_components():
        return Components(executors={"TemporaryThreads": "penstock_try_temporary_threads:TemporaryThreads"})
"""
EXECUTOR = '''
    """An executor as a third party writes one: a thread for each backlog, gone when nothing is ready."""

    import threading

    from penstock import Executor, ExecutorLease


    class TemporaryThreads(Executor):
        made = []

        def __init__(self, name):
            self._name = name

        @classmethod
        def create(cls, options, defaults):
            cls.made.append(defaults)
            return cls(defaults.name)

        def lend_to(self, work):
            return _Threads(work, f"temporary-{self._name}")


    class _Threads(ExecutorLease):
        def __init__(self, work, name):
            self._work = work
            self._name = name
            self._threads = []

        def wake(self):
            thread = threading.Thread(target=self._work.run, name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()

        def stop(self, timeout=None):
            for thread in self._threads:
                thread.join(timeout)
            return not any(thread.is_alive() for thread in self._threads)
'''


@pytest.fixture
def third_party(tmp_path, monkeypatch):
    """Install a distribution that brings an executor, and return a registry of all plugins with it."""
    info = tmp_path / "penstock_try_temporary-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: penstock-try-temporary\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[penstock]\ntemporary = penstock_try_temporary\n")
    head = "from penstock import Components, hookimpl\n"
    (tmp_path / "penstock_try_temporary.py").write_text(head + textwrap.dedent(PLUGIN))
    (tmp_path / "penstock_try_temporary_threads.py").write_text(textwrap.dedent(EXECUTOR))
    monkeypatch.syspath_prepend(tmp_path)
    for variable in ("PENSTOCK_BLOCK_PLUGINS", "PENSTOCK_PLUGINS", "PENSTOCK_NO_PLUGINS"):
        monkeypatch.delenv(variable, raising=False)
    yield with_calculators(Registry(PluginHost().fill))
    for module in [name for name in sys.modules if name.startswith("penstock_try_temporary")]:
        del sys.modules[module]


def test_an_executor_from_a_strangers_plugin_is_named_in_the_graph_and_runs_its_nodes(third_party):
    before, log = set(threading.enumerate()), []
    graph = CalculatorGraph(
        'input_stream: "in" '
        'executor { name: "theirs" type: "TemporaryThreads" } '
        'node { calculator: "Where" input_stream: "in" output_stream: "a" input_side_packet: "LOG:log" } '
        'node { calculator: "Where" input_stream: "a" output_stream: "out" input_side_packet: "LOG:log" '
        'executor: "theirs" }',
        side_packets={"log": log},
        registry=third_party,
    )
    seen = watched(graph)
    for _ in range(2):
        graph.start_run()
        feed(graph, 100)
        graph.close(PATIENCE_S)

    from penstock_try_temporary_threads import TemporaryThreads  # installed by the fixture

    assert seen == [*range(100)] * 2
    assert {thread.name for thread in threads_of(log, "Where_2")} == {"temporary-theirs"}
    assert "temporary-theirs" not in {thread.name for thread in threads_of(log, "Where_1")}
    assert [(made.name, made.is_implied) for made in TemporaryThreads.made] == [("theirs", False)]
    assert set(threading.enumerate()) - before == set()


def test_a_strangers_executor_can_be_the_default_one(third_party):
    log = []
    graph = CalculatorGraph(
        'input_stream: "in" executor { type: "TemporaryThreads" } '
        'node { calculator: "Where" input_stream: "in" output_stream: "out" input_side_packet: "LOG:log" }',
        side_packets={"log": log},
        registry=third_party,
    )
    seen = watched(graph)
    with graph:
        graph.start_run()
        feed(graph, 20)

    assert seen == [*range(20)]
    assert {thread.name for thread in threads_of(log, "Where")} == {"temporary-"}


def test_nodes_on_separate_executors_run_each_on_its_own_and_packets_cross(registry):
    kinds = {
        "pool": 'type: "ThreadPoolExecutor" options { [penstock.ThreadPoolExecutorOptions.ext] '
        '{ num_threads: 2 thread_name_prefix: "p" } }',
        "single": 'type: "SingleThreadExecutor"',
        "low": 'type: "LowPriorityThreadPoolExecutor"',
    }
    names = ["", *kinds]
    nodes = [
        f'node {{ calculator: "Where" input_stream: "{reads}" output_stream: "{writes}" '
        f'input_side_packet: "LOG:log" executor: "{name}" }}'
        for name, reads, writes in zip(names, ["in", "a", "b", "c"], ["a", "b", "c", "out"], strict=True)
    ]
    log = []
    graph = CalculatorGraph(
        "\n".join(
            [
                'input_stream: "in" num_threads: 2',
                *(f'executor {{ name: "{name}" {kind} }}' for name, kind in kinds.items()),
                *nodes,
            ]
        ),
        side_packets={"log": log},
        registry=registry,
    )
    seen = watched(graph)
    graph.start_run()
    feed(graph, 300)
    graph.close(PATIENCE_S)

    assert seen == [*range(300)]
    used = [{thread.name.rpartition("-")[0] for thread in threads_of(log, f"Where_{n}")} for n in range(1, 5)]
    assert used == [{"penstock"}, {"p-pool"}, {"penstock-single"}, {"penstock-low"}]


def test_a_slow_node_on_a_thread_of_its_own_has_all_its_calls_there_and_shares_it_with_nobody(registry):
    log = []
    graph = CalculatorGraph(
        'input_stream: "in" num_threads: 3 '
        'executor { name: "slow" type: "SingleThreadExecutor" } '
        'node { calculator: "Where" name: "slow" input_stream: "in" output_stream: "a" '
        'input_side_packet: "LOG:log" executor: "slow" } '
        'node { calculator: "Where" name: "beside" input_stream: "in" output_stream: "b" '
        'input_side_packet: "LOG:log" } '
        'node { calculator: "Where" name: "below" input_stream: "a" output_stream: "out" '
        'input_side_packet: "LOG:log" }',
        side_packets={"log": log},
        registry=registry,
    )
    seen = watched(graph)
    graph.start_run()
    feed(graph, 200)
    graph.close(PATIENCE_S)

    (own,) = threads_of(log, "slow")
    assert own.name == "penstock-slow-0"
    assert own not in threads_of(log, "beside") | threads_of(log, "below")
    calls = [method for name, method, _ in log if name == "slow"]
    assert calls == ["open", *["process"] * 200, "close"]
    assert seen == [*range(200)]


@pytest.mark.parametrize("end", ["cancel", "error"])
def test_a_run_that_does_not_end_well_closes_a_node_on_its_own_thread_too(registry, end):
    log = []
    graph = CalculatorGraph(
        'input_stream: "in" executor { name: "slow" type: "SingleThreadExecutor" } '
        'node { calculator: "Where" input_stream: "in" output_stream: "a" '
        'input_side_packet: "LOG:log" executor: "slow" } '
        'node { calculator: "FailAt" input_stream: "in" output_stream: "b" }',
        side_packets={"log": log},
        registry=registry,
    )
    graph.start_run()
    feed(graph, 3)
    graph.wait_until_idle(PATIENCE_S)
    if end == "cancel":
        graph.cancel()
    else:
        feed(graph, 1, start=3)
    with pytest.raises(
        GraphRunError, match="the run was cancelled" if end == "cancel" else "ValueError: at 3"
    ):
        graph.wait_until_done(PATIENCE_S)

    assert {thread.name for thread in threads_of(log, "Where")} == {"penstock-slow-0"}
    assert [method for _, method, _ in log].count("close") == 1


# --- several graphs on one pool ---------------------------------------------------------------


@pytest.fixture
def pool():
    with concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="shared") as made:
        yield made


def graph_on(pool, registry, calculator="PassThroughCalculator", side=""):
    graph = CalculatorGraph(
        f'input_stream: "in" '
        f'node {{ calculator: "{calculator}" input_stream: "in" output_stream: "out" {side} }}',
        registry=registry,
    )
    graph.set_executor("", pool)
    return graph, watched(graph)


def test_two_graphs_are_inside_one_pool_at_the_same_time(registry, pool):
    graphs = [graph_on(pool, registry, "Meet", 'input_side_packet: "BARRIER:barrier"') for _ in range(2)]
    barrier = threading.Barrier(2)
    for graph, _ in graphs:
        graph.start_run({"barrier": barrier})
    for number in range(20):
        for graph, _ in graphs:
            feed(graph, 1, start=number)
    for graph, _ in graphs:
        graph.close(PATIENCE_S)

    assert [seen for _, seen in graphs] == [[*range(20)]] * 2


def test_more_graphs_than_threads_all_come_to_their_end_driven_by_threads_of_their_own(registry, pool):
    graphs = [graph_on(pool, registry) for _ in range(6)]

    def drive(graph):
        for _ in range(3):
            graph.start_run()
            feed(graph, 50)
            graph.close(PATIENCE_S)

    with concurrent.futures.ThreadPoolExecutor(6) as drivers:
        for done in [drivers.submit(drive, graph) for graph, _ in graphs]:
            done.result(PATIENCE_S)

    assert [seen for _, seen in graphs] == [[*range(50)] * 3] * 6


def test_a_graph_that_fails_or_is_cancelled_leaves_the_others_on_its_pool_alone(registry, pool):
    failing, _ = graph_on(pool, registry, "FailAt")
    cancelled, _ = graph_on(pool, registry)
    well, seen = graph_on(pool, registry)
    for graph in (failing, cancelled, well):
        graph.start_run()
    feed(well, 10)
    feed(failing, 4)
    with pytest.raises(GraphRunError, match="ValueError: at 3"):
        failing.wait_until_done(PATIENCE_S)
    cancelled.cancel()
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        cancelled.wait_until_done(PATIENCE_S)
    feed(well, 10, start=10)
    well.close(PATIENCE_S)

    assert seen == [*range(20)]
    assert pool.submit(lambda: "alive").result(PATIENCE_S) == "alive"


class OnTheSpot(concurrent.futures.Executor):
    """Runs a task where it is submitted, before `submit` returns."""

    def submit(self, fn, /, *args, **kwargs):
        future = concurrent.futures.Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_that_runs_tasks_on_the_spot_works_without_a_thread(registry):
    before = threading.active_count()
    graph = CalculatorGraph(
        'input_stream: "in" '
        'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "a" } '
        'node { calculator: "PassThroughCalculator" input_stream: "a" output_stream: "out" }',
        registry=registry,
    )
    graph.set_executor("", OnTheSpot())
    seen = watched(graph)
    for _ in range(2):
        graph.start_run()
        feed(graph, 50)
        assert threading.active_count() <= before
        graph.close(PATIENCE_S)

    assert seen == [*range(50)] * 2


def test_an_executor_with_a_type_in_the_graph_cannot_be_handed_in_too(registry, pool):
    graph = CalculatorGraph(
        'input_stream: "in" executor { name: "own" type: "SingleThreadExecutor" } '
        'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" '
        'executor: "own" }',
        registry=registry,
    )

    with pytest.raises(ValueError, match="executor 'own' has a type in the graph, but is handed in"):
        graph.set_executor("own", pool)


def test_num_threads_beside_a_named_executor_is_for_the_default_one(registry):
    log = []
    graph = CalculatorGraph(
        'input_stream: "in" num_threads: 1 executor { name: "own" type: "SingleThreadExecutor" } '
        'node { calculator: "Where" input_stream: "in" output_stream: "a" input_side_packet: "LOG:log" } '
        'node { calculator: "Where" input_stream: "in" output_stream: "b" input_side_packet: "LOG:log" '
        'executor: "own" }',
        side_packets={"log": log},
        registry=registry,
    )
    with graph:
        graph.start_run()
        feed(graph, 50)

    names = [{thread.name for thread in threads_of(log, f"Where_{n}")} for n in (1, 2)]
    assert names == [{"penstock-0"}, {"penstock-own-0"}]
