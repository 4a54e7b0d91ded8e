"""Neighbours that share a process are one node of the driver; here the process is the other end of pickle."""

from __future__ import annotations

import concurrent.futures
import pickle
import random
import threading

import pytest

import penstock
from penstock import STOP, Calculator
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    WaitTimeoutError,
)
from penstock.lowlevel import CLOSE, DONE, OPEN, PROCESS
from penstock.packs import default_registry
from penstock.services import ServiceKey, ServiceScope
from penstock_remote.calls import Answer, Call, Opening
from penstock_remote.colocate import Together, colocated
from penstock_remote.description import described
from penstock_remote.errors import output_fault
from penstock_remote.hosted import hosted
from penstock_remote.movable import check_all_movable
from penstock_remote.region_end import end_of
from penstock_remote.regions import region_of
from penstock_remote.stand_in import RemoteCalculator
from penstock_testing import InlineExecutor
from penstock_testing.random_graphs import random_graph, random_registry, run_random_graph

TIMEOUT = 20
#: Nodes whose `close` was called.
CLOSED = []
SHARED = ServiceKey("tests.regions", create=lambda: "made there", scope=ServiceScope.PROCESS)


class Elsewhere(InlineExecutor):
    """Makes nodes and regions at the other end of pickle, where all objects of a run live."""

    places = True

    def __init__(self, *colocate, change=lambda call: call):
        super().__init__()
        self.colocate = colocate or (Together(),)
        self.change = change
        self.regions = []
        self.calls = []
        self.services = {}

    def check(self, plan, name):
        check_all_movable(plan, name)

    def arrange(self, plan, name, watched):
        return colocated(plan, name, self.colocate, watched)

    def place(self, node, plan):
        what = described(node, plan)
        region = region_of(node)
        if region is not None:
            self.regions.append([one.name for one in region.nodes])
        made = []

        def exchange(call, write):
            if not made:
                made.append(hosted(pickle.loads(pickle.dumps(what)), default_registry(), self.services))  # noqa: S301  # just made
            sent = Call(*pickle.loads(pickle.dumps(tuple(self.change(call)))))  # noqa: S301  # just made
            answer = Answer(*pickle.loads(pickle.dumps(tuple(made[0].call(sent)))))  # noqa: S301  # just made
            self.calls.append((node.name, sent.method))
            return write(answer)

        return RemoteCalculator(exchange, end_of(node, plan))


class Number(Calculator):
    """One input and one output of numbers, at the same timestamps."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set(int)
        cc.set_timestamp_offset(0)


class Add(Number):
    """Adds what is there."""

    def process(self, cc):
        cc.counter("calls").increment()
        cc.output.add(sum(p.payload for p in cc.inputs if not p.is_empty()), cc.input_timestamp)


class AddLater(Number):
    """Adds in a coroutine."""

    async def process(self, cc):
        cc.output.add(sum(p.payload for p in cc.inputs if not p.is_empty()), cc.input_timestamp)


class Head(Number):
    """Adds what came back to what comes in; writes nothing where nothing comes in."""

    def process(self, cc):
        new, back = cc.inputs
        if not new.is_empty():
            cc.output.add(new.payload + back.payload, cc.input_timestamp)


class Odd(Number):
    """Passes odd numbers."""

    def process(self, cc):
        if cc.input.payload % 2:
            cc.output.add(cc.input.payload, cc.input_timestamp)
        else:
            cc.input.count_dropped("even")
            cc.output.count_dropped("not odd")
            cc.input.count_cut("most is 1", 3)


class Tail(Number):
    """Writes each number one microsecond later, and 0 before all: the way back of a cycle."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def open(self, cc):
        cc.output.add(0, 0)

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp + 1)


class Fails(Number):
    """Fails at 2; its `close` says that it was called."""

    def process(self, cc):
        if cc.input.payload == 2:
            raise ValueError("no 2")
        cc.output.add(cc.input.payload, cc.input_timestamp)

    def close(self, cc):
        CLOSED.append(cc.node_name)


class Stops(Number):
    """Says STOP at 3."""

    def process(self, cc):
        cc.output.add(cc.input.payload, cc.input_timestamp)
        return STOP if cc.input.payload == 3 else None


class Counts(Calculator):
    """A source of five numbers; every other call writes nothing."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(int)

    def open(self, cc):
        self.number = -1

    def process(self, cc):
        self.number += 1
        if self.number % 2:
            return None
        if self.number == 10:
            return STOP
        cc.output.add(self.number, self.number)
        return None


class Informs(Number):
    """Makes a side packet and a header in `open`, with a service of the process."""

    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.output_side_packets["MADE"].set(str)
        cc.input_side_packets["START"].set(int)
        cc.use_service(SHARED)

    def open(self, cc):
        cc.output.set_header(penstock.Packet("a header"))
        cc.output_side_packets["MADE"].set(cc.service(SHARED))
        self.start = cc.input_side_packets["START"].payload

    def process(self, cc):
        cc.output.add(self.start + cc.input.payload, cc.input_timestamp)


class Informed(Calculator):
    """Writes the header and the side packet that it got, behind each number."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(str)
        cc.input_side_packets["MADE"].set(str)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        header, made = cc.input.header.payload, cc.input_side_packets["MADE"].payload
        cc.output.add(f"{cc.input.payload} {header} {made}", cc.input_timestamp)


class Finishes(Calculator):
    """Writes the number of packets when it closes."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set(int)

    def open(self, cc):
        self.count = 0

    def process(self, cc):
        self.count += 1

    def close(self, cc):
        cc.output.add(self.count, penstock.Timestamp.POSTSTREAM)


CALCULATORS = (Add, AddLater, Head, Odd, Tail, Fails, Stops, Counts, Informs, Informed, Finishes)


def node(text, name="", **fields):
    """Return a node: "Add a b -> c"; fields are added as they are."""
    left, _, right = text.partition(" -> ")
    calculator, *inputs = left.split()
    lines = [f'calculator: "{calculator}"', f'name: "{name or calculator.lower()}"']
    lines += [f'input_stream: "{one}"' for one in inputs]
    lines += [f'output_stream: "{one}"' for one in right.split()]
    lines += [f"{field}: {value}" for field, value in fields.items()]
    return f"node {{ {' '.join(lines)} }}"


def graph_of(*parts, executor=None, inputs=("in",)):
    registry = default_registry().child()
    for one in (*CALCULATORS, Endless):
        registry.add("calculator", one.__name__, one)
    text = "\n".join([*(f'input_stream: "{name}"' for name in inputs), *parts])
    graph = penstock.CalculatorGraph(text, registry=registry)
    if executor is not None:
        graph.set_executor("", executor)
    return graph


def watch(graph, *streams):
    """Note what comes on streams; return where."""
    seen = {name: [] for name in streams}
    for name in streams:
        graph.observe_output_stream(name, lambda name, p: seen[name].append((int(p.timestamp), p.payload)))
    return seen


def feed(graph, numbers, name="in"):
    for number in numbers:
        graph.add_packet_to_input_stream(name, penstock.Packet(number, number), timeout=TIMEOUT)


def finish(graph):
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)
    graph.close()


def regions(*parts, groups=((),), inputs=("in",)):
    """Return the names of the nodes of each region, and those of the whole arranged graph, in order."""
    executor = Elsewhere(*(Together(tuple(one)) for one in groups))
    graph = graph_of(*parts, executor=executor, inputs=inputs)
    graph.start_run()
    names = [one.name for one in graph.snapshot().nodes]
    finish(graph)
    return executor.regions, names


# --- which nodes are neighbours ---------------------------------------------------------------

CHAIN = (node("Add in -> a", "n1"), node("Add a -> b", "n2"), node("Add b -> c", "n3"))


def test_neighbours_are_one_node_of_the_driver() -> None:
    assert regions(*CHAIN) == ([["n1", "n2", "n3"]], ["n1+n2+n3"])


def test_a_long_name_has_the_first_and_the_last_node() -> None:
    _, names = regions(*CHAIN, node("Add c -> d", "n4"))

    assert names == ["n1+...+n4"]


def test_a_region_of_one_name_has_that_name() -> None:
    found, names = regions(
        node("Add in -> a", "face__one"),
        node("Add a -> b", "face__two"),
        node("Add b -> c"),
        groups=[["face"]],
    )

    assert (found, names) == ([["face__one", "face__two"]], ["face", "add"])


def test_nodes_that_no_stream_connects_are_no_region() -> None:
    assert regions(node("Add in -> a", "n1"), node("Add in -> b", "n2")) == ([], ["n1", "n2"])


def test_a_node_between_makes_two_regions_of_one() -> None:
    nodes = [*CHAIN, node("Add a -> x", "other"), node("Add x c -> d", "n4"), node("Add d -> e", "n5")]

    found, names = regions(*nodes, groups=[["n1", "n2", "n3", "n4", "n5"]])

    assert found == [["n1", "n2", "n3"], ["n4", "n5"]]
    assert names == ["n1+n2+n3", "other", "n4+n5"]


def test_a_side_packet_between_makes_two_regions_too() -> None:
    nodes = [
        node("Informs in -> a", "n1", output_side_packet='"MADE:made"', input_side_packet='"START:start"'),
        node("Add a -> b", "n2"),
        node("Informs b -> c", "n3", output_side_packet='"MADE:more"', input_side_packet='"START:start"'),
        node("Informed c -> d", "n4", input_side_packet='"MADE:made"'),
    ]
    executor = Elsewhere(Together(("n1", "n2", "n3")))
    graph = graph_of('input_side_packet: "start"', *nodes, executor=executor)
    seen = watch(graph, "d")
    graph.start_run({"start": 10})
    feed(graph, [1])
    finish(graph)

    assert executor.regions == [["n1", "n2", "n3"]]
    assert seen == {"d": [(1, "21 a header made there")]}


def test_two_groups_that_feed_each_other_make_no_circle() -> None:
    nodes = [
        node("Add in -> a", "a1"),
        node("Add in -> c", "b1"),
        node("Add a c -> d", "a2"),
        node("Add c a -> b", "b2"),
    ]

    found, names = regions(*nodes, groups=[["a1", "a2"], ["b1", "b2"]])

    assert found == [["a1", "a2"]], "b2 reads a1, and a2 reads b1"
    assert sorted(names) == ["a1+a2", "b1", "b2"]


@pytest.mark.parametrize(
    "policy",
    [
        '"ImmediateInputStreamHandler"',
        '"FixedSizeInputStreamHandler"',
        '"Timeout" options { [penstock.TimeoutOptions.ext] { timeout_ms: 9e5 } }',
    ],
)
def test_a_node_that_time_may_matter_to_stays_a_node(policy) -> None:
    odd_one = node("Add a -> b", "n2", input_stream_handler=f"{{ input_stream_handler: {policy} }}")

    found, names = regions(CHAIN[0], odd_one, CHAIN[2], node("Add c -> d", "n4"))

    assert (found, names) == ([["n3", "n4"]], ["n1", "n2", "n3+n4"])


def test_a_group_may_be_called_one_by_one() -> None:
    executor = Elsewhere(Together((), one_by_one=True))
    graph = graph_of(*CHAIN, executor=executor)
    graph.start_run()
    finish(graph)

    assert executor.regions == []


def test_nodes_of_another_executor_are_none_of_it() -> None:
    elsewhere = Elsewhere()
    graph = graph_of(
        'executor { name: "there" }',
        *(one.replace("calculator:", 'executor: "there" calculator:') for one in CHAIN[:2]),
        CHAIN[2],
    )
    graph.set_executor("there", elsewhere)
    graph.set_executor("", InlineExecutor())
    seen = watch(graph, "c")
    graph.start_run()
    feed(graph, [1, 2])
    finish(graph)

    assert elsewhere.regions == [["n1", "n2"]]
    assert seen["c"] == [(1, 1), (2, 2)]


def test_packets_of_a_local_node_reach_the_region_behind_it() -> None:
    elsewhere = Elsewhere()
    graph = graph_of(
        'executor { name: "there" }',
        CHAIN[0],
        *(one.replace("calculator:", 'executor: "there" calculator:') for one in CHAIN[1:]),
    )
    graph.set_executor("there", elsewhere)
    graph.set_executor("", InlineExecutor())
    seen = watch(graph, "c")
    graph.start_run()
    feed(graph, range(20))
    finish(graph)

    assert elsewhere.regions == [["n2", "n3"]]
    assert seen["c"] == [(n, n) for n in range(20)]
    assert elsewhere.calls.count(("n2+n3", PROCESS)) <= 21, "each packet is one call, and so is the end"


# --- the same as without ----------------------------------------------------------------------


@pytest.mark.parametrize("graphs", [80, pytest.param(500, marks=pytest.mark.slow)])
def test_random_graphs_are_the_same_in_regions(graphs: int) -> None:
    count = 0
    for seed in range(graphs):
        graph = random_graph(seed)
        chance = random.Random(seed)  # noqa: S311  # not for secrets
        names = [
            one.name for one in penstock.CalculatorGraph(graph.text, registry=random_registry())._plan.nodes
        ]
        groups = {}
        for name in names:
            groups.setdefault(0 if seed % 3 == 0 else chance.randrange(3), []).append(name)
        executor = Elsewhere(*(Together(tuple(group)) for group in groups.values()))

        here, there = run_random_graph(graph), run_random_graph(graph, executor)

        assert there.packets == here.packets, (seed, groups, graph)
        assert there.counters == here.counters, (seed, groups, graph)
        count += sum(len(one) for one in executor.regions)
    assert count > graphs, "there were regions"


def cycle(*, in_region):
    """Run a cycle of two nodes, with a third one on its way back; return what came out."""
    executor = Elsewhere(Together(tuple(in_region))) if in_region is not None else None
    graph = graph_of(
        node("Head in back -> a", "head", input_stream_info='{ tag_index: ":1" back_edge: true }'),
        node("Add a -> b", "middle"),
        node("Tail b -> back", "tail"),
        executor=executor,
    )
    seen = watch(graph, "b")
    graph.start_run()
    feed(graph, range(6))
    finish(graph)
    return seen, executor


@pytest.mark.parametrize(
    ("group", "found"),
    [
        (["head", "middle", "tail"], [["head", "middle", "tail"]]),
        (["head", "middle"], []),
        (["middle", "tail"], [["middle", "tail"]]),
    ],
)
def test_cycles_are_inside_of_a_region_or_go_through_it(group, found) -> None:
    here, _ = cycle(in_region=None)

    there, executor = cycle(in_region=group)

    assert there == here
    assert here["b"] == [(0, 0), (1, 1), (2, 3), (3, 6), (4, 10), (5, 15)]
    assert executor.regions == found


def test_a_source_works_in_a_region_when_nothing_enters() -> None:
    executor = Elsewhere()
    graph = graph_of(node("Counts -> a", "n1"), node("Odd a -> b", "n2"), node("Add a -> c", "n3"), inputs=())
    graph.set_executor("", executor)
    seen = watch(graph, "b", "c")

    graph.run(timeout=TIMEOUT)

    assert executor.regions == [["n1", "n2", "n3"]]
    assert seen == {"b": [], "c": [(n, n) for n in (0, 2, 4, 6, 8)]}
    assert graph.ledger().adds_up


def test_a_source_stays_a_node_where_something_enters() -> None:
    nodes = [node("Counts -> a", "n1"), node("Add a in -> b", "n2"), node("Add b -> c", "n3")]

    assert regions(*nodes)[0] == [["n2", "n3"]]


def test_a_source_is_throttled_by_what_waits_outside() -> None:
    executor = Elsewhere()
    graph = graph_of(node("Counts -> a", "n1"), node("Add a -> b", "n2"), executor=executor, inputs=())
    poller = graph.add_output_stream_poller("b")
    poller.set_max_queue_size(1)
    graph.start_run()
    with pytest.raises(WaitTimeoutError):
        graph.wait_until_done(0.1)
    called = executor.calls.count(("n1+n2", PROCESS))
    packets = [packet.payload for packet in poller]
    graph.wait_until_done(TIMEOUT)

    assert called == 1
    assert packets == [0, 2, 4, 6, 8]


class Endless(Counts):
    """A source without end, which says that it was closed."""

    def process(self, cc):
        self.number += 1
        cc.output.add(self.number, self.number)

    def close(self, cc):
        CLOSED.append(cc.node_name)


TWO_SOURCES = (node("Endless -> a", "n1"), node("Endless -> b", "n2"))


@pytest.mark.parametrize("how", ["close", "cancel", "fail"])
def test_all_sources_of_a_region_are_closed(how) -> None:
    CLOSED.clear()
    last = node("Fails a -> c", "n3") if how == "fail" else node("Add a b -> c", "n3")
    more = [node("Add c b -> d", "n4")]
    elsewhere = Elsewhere()
    graph = graph_of(*TWO_SOURCES, last, *more, executor=elsewhere, inputs=())
    watch(graph, "a", "b", "d")
    graph.start_run()
    if how == "close":
        graph.wait_for_observed_output(TIMEOUT)
        graph.close(TIMEOUT)
    elif how == "cancel":
        graph.wait_for_observed_output(TIMEOUT)
        graph.cancel()
        with pytest.raises(GraphRunError, match="cancelled"):
            graph.wait_until_done(TIMEOUT)
    else:
        with pytest.raises(GraphRunError, match="no 2"):
            graph.wait_until_done(TIMEOUT)

    assert elsewhere.regions == [["n1", "n2", "n3", "n4"]]
    assert [name for name in sorted(CLOSED) if name != "n3"] == ["n1", "n2"]


@pytest.mark.parametrize("last", [CLOSE, PROCESS])
def test_what_nodes_write_when_they_close_comes_out(last) -> None:
    executor = Elsewhere()
    graph = graph_of(node("Add in -> a", "n1"), node("Finishes a -> b", "n2"), executor=executor)
    seen = watch(graph, "b")
    graph.start_run()
    feed(graph, [1, 2, 3])
    if last == PROCESS:
        graph.close_all_input_streams()
        graph.wait_until_done(TIMEOUT)
    graph.close(TIMEOUT)

    assert [payload for _, payload in seen["b"]] == [3]
    assert executor.regions == [["n1", "n2"]]


def test_coroutines_are_waited_for() -> None:
    graph = graph_of(node("AddLater in -> a", "n1"), node("Add a -> b", "n2"), executor=Elsewhere())
    seen = watch(graph, "b")
    graph.start_run()
    feed(graph, [1, 2, 3])
    finish(graph)

    assert seen["b"] == [(1, 1), (2, 2), (3, 3)]


def test_a_region_runs_again_with_new_objects() -> None:
    graph = graph_of(node("Add in -> a", "n1"), node("Finishes a -> b", "n2"), executor=Elsewhere())
    seen = watch(graph, "b")
    for _ in range(2):
        graph.start_run()
        feed(graph, [1, 2])
        graph.close_all_input_streams()
        graph.wait_until_done(TIMEOUT)
    graph.close()

    assert [payload for _, payload in seen["b"]] == [2, 2]


# --- what can be seen of it -------------------------------------------------------------------


def test_an_inner_stream_can_be_observed() -> None:
    graph = graph_of(*CHAIN, executor=Elsewhere())
    seen = watch(graph, "a", "c")
    graph.start_run()
    feed(graph, [4])
    finish(graph)

    assert seen == {"a": [(4, 4)], "c": [(4, 4)]}


def test_rows_of_an_inner_stream_are_asked_for_before_the_run() -> None:
    graph = graph_of(*CHAIN, executor=Elsewhere())
    rows = graph.rows("a", "c")
    graph.start_run()
    feed(graph, [4])
    graph.close_all_input_streams()
    assert [row["a"] for row in rows] == [4]
    graph.close()

    graph.start_run()
    with pytest.raises(
        FailedPreconditionError, match="'b' could miss packets: it does not leave the process"
    ):
        graph.rows("b")
    finish(graph)


def test_counters_are_those_of_the_nodes() -> None:
    graph = graph_of(*CHAIN, executor=Elsewhere())
    graph.start_run()
    feed(graph, [1, 2, 3])
    finish(graph)

    assert graph.counters == {"n1-calls": 3, "n2-calls": 3, "n3-calls": 3}


def test_the_ledger_tells_what_was_dropped_inside() -> None:
    graph = graph_of(node("Odd in -> a", "n1"), node("Add a -> b", "n2"), node("Odd b -> c", "n3"))
    graph.set_executor("", Elsewhere())
    watch(graph, "c")
    graph.start_run()
    feed(graph, [1, 2, 3, 4, 5])
    finish(graph)
    ledger = graph.ledger()

    assert ledger.adds_up, str(ledger)
    assert {one.name: one.added for one in ledger.streams} == {"in": 5, "a": 5, "b": 3, "c": 3}
    assert [(one.stream, one.reason, one.count) for one in ledger.drops] == [
        ("in", "even", 2),
        ("a", "not odd", 2),
    ]
    assert [(one.place, one.reason, one.count) for one in ledger.cuts] == [
        ("node 'n1+n2+n3' input 0", "inside, node 'n1' on 'in': most is 1", 6)
    ]
    assert {one.name: one.place for one in ledger.streams}["a"] == "node 'n1+n2+n3'"


def test_a_drop_before_a_stream_that_leaves_counts_as_added_to_it() -> None:
    graph = graph_of(node("Add in -> a", "n1"), node("Odd a -> b", "n2"), executor=Elsewhere())
    watch(graph, "b")
    graph.start_run()
    feed(graph, [1, 2])
    finish(graph)
    ledger = graph.ledger()

    assert ledger.adds_up, str(ledger)
    assert {one.name: one.added for one in ledger.streams} == {"in": 2, "a": 2, "b": 2}
    assert [(one.stream, one.place, one.count) for one in ledger.drops if one.reason == "not odd"] == [
        ("b", "node 'n1+n2'", 1)
    ]


def test_why_names_the_stream_for_which_packets_wait_inside() -> None:
    graph = graph_of(node("Add a b -> c", "n1"), node("Add c -> d", "n2"), inputs=("a", "b"))
    graph.set_executor("", Elsewhere())
    graph.start_run()
    feed(graph, [1], "a")
    graph.wait_until_idle(TIMEOUT)

    story = str(graph.why())

    finish(graph)
    assert "n1+n2" in story
    assert "'b'" in story
    assert "waits for stream 'a'" not in story


# --- back-pressure ----------------------------------------------------------------------------


def most_added(executor, limit):
    """Return how many packets a graph takes of an input whose partner has none, until that is an error."""
    graph = graph_of(
        f"max_queue_size: {limit} report_deadlock: true",
        node("Add a b -> c", "n1"),
        node("Add c -> d", "n2"),
        inputs=("a", "b"),
    )
    graph.set_executor("", executor)
    graph.start_run()
    for count in range(1, 100):
        graph.add_packet_to_input_stream("a", penstock.Packet(count, count))
        try:
            graph.wait_until_idle(TIMEOUT)
        except GraphRunError:
            return count
    return None


@pytest.mark.parametrize("limit", [1, 3])
def test_what_waits_inside_throttles_the_inputs_as_it_would_outside(limit) -> None:
    assert most_added(Elsewhere(), limit) == most_added(InlineExecutor(), limit) == limit


def test_a_deadlock_raises_the_limit_of_a_queue_inside() -> None:
    graph = graph_of(
        "max_queue_size: 1",
        node("Counts -> s", "source"),
        node("Add s a -> c", "n1"),
        node("Add c -> d", "n2"),
        inputs=("a",),
    )
    elsewhere = Elsewhere(Together(("n1", "n2")))
    graph.set_executor("", elsewhere)
    seen = watch(graph, "d")
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)  # all five wait for `a`
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)

    assert elsewhere.regions == [["n1", "n2"]]
    assert [stamp for stamp, _ in seen["d"]] == [0, 2, 4, 6, 8]


# --- ends -------------------------------------------------------------------------------------


def test_the_error_of_a_node_names_the_node_and_all_are_closed() -> None:
    CLOSED.clear()
    graph = graph_of(node("Fails in -> a", "n1"), node("Fails a -> b", "n2"), executor=Elsewhere())
    graph.start_run()
    feed(graph, [1, 2])
    with pytest.raises(GraphRunError) as caught:
        graph.wait_until_done(TIMEOUT)

    (error,) = [one for one in caught.value.errors if isinstance(one, penstock.errors.CalculatorError)]
    assert str(error).startswith(
        "node 'n1' (Fails): process() failed at 2: ValueError: no 2 (at test_regions.py:"
    )
    assert isinstance(error.__cause__, ValueError)
    assert error.__cause__.__cause__ is not None, "the traceback of the other process"
    assert sorted(CLOSED) == ["n1", "n2"]


def test_where_another_node_fails_what_waits_inside_is_dropped() -> None:
    graph = graph_of(
        node("Add a b -> c", "n1"),
        node("Add c -> d", "n2"),
        node("Fails in -> x", "fails"),
        inputs=("a", "b", "in"),
    )
    elsewhere = Elsewhere(Together(("n1", "n2")))
    graph.set_executor("", elsewhere)
    graph.start_run()
    feed(graph, [1], "a")
    graph.wait_until_idle(TIMEOUT)
    feed(graph, [2])
    with pytest.raises(GraphRunError, match="no 2"):
        graph.wait_until_done(TIMEOUT)

    assert "n1-calls" not in graph.counters


def test_stop_inside_ends_the_sources_of_the_graph() -> None:
    graph = graph_of(node("Stops in -> a", "n1"), node("Add a -> b", "n2"), executor=Elsewhere())
    seen = watch(graph, "b")
    graph.start_run()
    feed(graph, [1, 2, 3])
    graph.wait_until_done(TIMEOUT)

    assert [payload for _, payload in seen["b"]] == [1, 2, 3]
    with pytest.raises(FailedPreconditionError):
        feed(graph, [4])


def test_a_cancelled_call_ends_between_two_nodes() -> None:
    made = hosted_chain()
    made.call(opening())
    waiting = threading.Event()

    def cancel(step):
        waiting.set()
        made.cancel()

    made._run.schedule.nodes[0].process = cancel  # where a call of a node is under way
    made._run.schedule.nodes[0].step.call = cancel

    with pytest.raises(concurrent.futures.CancelledError):
        made.call(Call(PROCESS, 1, [(1, False, 1)], [0], input_bounds=[2]))
    assert waiting.is_set()
    assert made.call(Call(CLOSE, DONE, [(1, True)], [0])).outputs[0] is not None


def hosted_chain():
    """Return the other end of a region of three nodes."""
    graph = graph_of(*CHAIN)
    plan = colocated(graph._plan, "", (Together(),), {graph._plan.stream_ids["c"]})
    return hosted(described(plan.nodes[0], plan), default_registry(), {})


def opening():
    return Call(OPEN, 0, [(0, False)], [0], Opening([], [()], [True], []))


def test_a_region_must_be_opened_before_it_is_called() -> None:
    with pytest.raises(FailedPreconditionError, match="opened before"):
        hosted_chain().call(Call(PROCESS, 0, [(0, False, 1)], [0], input_bounds=[1]))


def test_another_version_of_a_contract_is_refused() -> None:
    graph = graph_of(*CHAIN)
    plan = colocated(graph._plan, "", (Together(),), ())
    what = described(plan.nodes[0], plan)
    first = (*what.nodes[0][:3], ("input 0: float",))

    with pytest.raises(InvalidArgumentError, match=r"node 'n1' does not fit: .*has another contract here"):
        hosted(what._replace(nodes=(first, *what.nodes[1:])), default_registry(), {})


def test_a_payload_that_cannot_leave_is_named_with_its_stream() -> None:
    made = hosted_chain()
    fault = output_fault(made, Answer([([(5, threading.Lock())], 6, False)]), 5)

    assert str(fault).startswith(
        "remote node 'n1+n2+n3', output c at 5: a 'lock' cannot go to another process"
    )
