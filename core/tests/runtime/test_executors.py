from __future__ import annotations

import concurrent.futures
import threading
from typing import Any, ClassVar

import pytest

import penstock
from penstock.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    StatusCode,
)
from penstock.runtime.executors.executor import Executor
from penstock.runtime.executors.pool import PoolExecutor
from penstock.services import ServiceKey
from penstock_testing import InlineExecutor, calculator, testing_registry

TIMEOUT = 20
AddOne = calculator(
    lambda cc: cc.output.add(cc.input.payload + 1, cc.input_timestamp), name="AddOne", offset=0
)
Nothing = calculator(name="Nothing")


def noting_threads(seen: dict[str, set[str]], fail: bool = False):
    """Make a calculator that notes the thread of each of its calls."""

    def note(method):
        def run(cc):
            seen.setdefault(cc.node_name, set()).add(threading.current_thread().name)
            if fail and method == "process":
                raise ValueError("no")

        return run

    return calculator(note("process"), open=note("open"), close=note("close"), name="Noting")


@pytest.mark.parametrize("threads", [0, 1, 2, 4])
def test_packets_come_in_order_whatever_the_number_of_threads(make, threads) -> None:
    graph = make([(AddOne, "in", "a"), (AddOne, "a", "b"), (AddOne, "b", "out")], "in", threads=threads)
    got: list[tuple[int, int]] = []
    graph.observe_output_stream("out", lambda _, p: got.append((int(p.timestamp), p.payload)))
    graph.start_run()
    for i in range(300):
        graph.add_packet_to_input_stream("in", penstock.Packet(i, i))
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)

    assert got == [(i, i + 3) for i in range(300)]


def test_two_nodes_run_at_the_same_time_on_two_threads(make) -> None:
    barrier = threading.Barrier(2, timeout=TIMEOUT)

    def meet_the_other(cc):
        barrier.wait()

    meet = calculator(meet_the_other, name="Meet")
    graph = make([(meet, "in"), (meet, "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)

    assert not barrier.broken


def test_calls_of_one_node_overlap_where_the_graph_allows_and_leave_in_order(make) -> None:
    barrier = threading.Barrier(3, timeout=TIMEOUT)

    def process(cc):
        barrier.wait()
        cc.output.add(cc.input.payload, cc.input_timestamp)

    graph = make([(calculator(process), "in", "out", "max_in_flight: 3")], "in", threads=3)
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
    graph.start_run()
    for i in range(9):
        graph.add_packet_to_input_stream("in", penstock.Packet(i, i))
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)

    assert got == list(range(9))


@pytest.mark.parametrize("end", ["close", "cancel", "fail"])
def test_every_call_of_a_node_is_made_by_its_own_executor_to_the_very_end(make, pools, end) -> None:
    seen: dict[str, set[str]] = {}
    graph = make(
        [(noting_threads(seen, fail=end == "fail"), "in", "", 'executor: "own"'), (Nothing, "in")],
        "in",
        'executor { name: "own" }',
    )
    graph.set_executor("own", pools(1, "own"))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    if end == "close":
        graph.close_all_input_streams()
        graph.wait_until_done(TIMEOUT)
    else:
        graph.cancel() if end == "cancel" else None
        with pytest.raises(
            GraphRunError, match="the run was cancelled" if end == "cancel" else "ValueError: no"
        ):
            graph.wait_until_done(TIMEOUT)

    assert seen == {"Noting": {"own_0"}}


def test_a_packet_crosses_between_executors_and_wakes_the_other(make, pools) -> None:
    seen: dict[str, set[str]] = {}
    graph = make(
        [(AddOne, "in", "a"), (AddOne, "a", "b", 'executor: "other"'), (noting_threads(seen), "b")],
        "in",
        'executor { name: "other" }',
    )
    graph.set_executor("other", pools(1, "other"))
    got: list[object] = []
    graph.observe_output_stream("b", lambda _, p: got.append(p.payload))
    graph.start_run()
    for i in range(50):
        graph.add_packet_to_input_stream("in", penstock.Packet(i, i))
        graph.wait_until_idle(TIMEOUT)
        assert got == [i + 2 for i in range(i + 1)]


def test_several_graphs_share_one_pool_which_is_never_shut_down(pools) -> None:
    pool = pools(2)
    texts = 'input_stream: "in" node { calculator: "AddOne" input_stream: "in" output_stream: "out" }'
    graphs = [penstock.CalculatorGraph(texts, registry=testing_registry(AddOne)) for _ in range(4)]
    got: dict[int, list[object]] = {i: [] for i in range(4)}
    for i, graph in enumerate(graphs):
        graph.set_executor("", pool)
        graph.observe_output_stream("out", lambda _, p, i=i: got[i].append(p.payload))
        graph.start_run()
    for n in range(50):
        for graph in graphs:
            graph.add_packet_to_input_stream("in", penstock.Packet(n, n))
    for graph in graphs:
        graph.close(TIMEOUT)

    assert got == {i: [n + 1 for n in range(50)] for i in range(4)}
    assert pool.submit(lambda: "alive").result(TIMEOUT) == "alive"


def test_the_applications_own_tasks_run_beside_a_graph_in_its_pool(make, pools) -> None:
    pool = pools(1)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Nothing" input_stream: "in" }',
        registry=testing_registry(Nothing),
    )
    graph.set_executor("", pool)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)

    assert pool.submit(lambda: 42).result(TIMEOUT) == 42
    graph.close(TIMEOUT)


# --- what is refused --------------------------------------------------------------------------


def test_a_pool_that_pickles_its_tasks_is_refused(make) -> None:
    graph = make([(Nothing, "in")], "in", threads=0)
    pool = concurrent.futures.ProcessPoolExecutor(1)
    with pytest.raises(
        InvalidArgumentError,
        match="ProcessPoolExecutor runs its tasks elsewhere by pickling them; a graph needs",
    ):
        graph.set_executor("", pool)
    pool.shutdown()


def test_what_is_no_executor_is_refused(make) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"'int' is no executor; hand in a penstock.Executor or a concurrent"
    ):
        make([(Nothing, "in")], "in", threads=0).set_executor("", 3)


@pytest.mark.parametrize("name", ["default", "gpu", "__own"])
def test_reserved_names_are_refused(make, pools, name) -> None:
    with pytest.raises(InvalidArgumentError, match=f"executor name '{name}' is reserved"):
        make([(Nothing, "in")], "in", threads=0).set_executor(name, pools())


def test_another_executor_under_the_same_name_is_refused_and_the_same_is_not(make, pools) -> None:
    graph = make([(Nothing, "in")], "in", threads=0)
    pool = pools()
    graph.set_executor("", pool)
    graph.set_executor("", pool)
    with pytest.raises(AlreadyExistsError, match="executor '': another executor was already handed in"):
        graph.set_executor("", pools())


def test_an_executor_is_handed_in_before_the_first_run(make, pools) -> None:
    graph = make([(Nothing, "in")], "in")
    graph.start_run()
    graph.close(TIMEOUT)
    with pytest.raises(FailedPreconditionError, match="executor 'x': hand the graph's executors in before"):
        graph.set_executor("x", pools())


def test_a_named_executor_that_nobody_hands_in_is_refused_at_the_start(make) -> None:
    graph = make([(Nothing, "in", "", 'executor: "mine"')], "in", 'executor { name: "mine" }')
    with pytest.raises(InvalidArgumentError, match=r"executor 'mine'.*set_executor\('mine', \.\.\.\)"):
        graph.start_run()


def end_of(graph, *, packets: int = 0) -> BaseException | None:
    """Start a run, or go on with it, and return what it ends with, wherever that shows first."""
    try:
        if not packets:
            graph.start_run()
        for i in range(packets):
            graph.add_packet_to_input_stream("in", penstock.Packet(i, i))
    except penstock.PenstockError:
        if not graph.is_running:
            raise
    try:
        graph.close(TIMEOUT)
    except GraphRunError as error:
        return error
    return None


def test_a_pool_that_was_shut_down_ends_the_run_with_a_clear_error(make, pools) -> None:
    pool = pools(1)
    pool.shutdown()
    graph = make(
        [(Nothing, "in", "", 'executor: "mine"'), (Nothing, "in")], "in", 'executor { name: "mine" }'
    )
    graph.set_executor("mine", pool)

    error = end_of(graph)
    assert isinstance(error, GraphRunError)
    assert (
        "executor 'mine' cannot run anything: the pool ThreadPoolExecutor handed in with set_executor"
        in str(error)
    )
    assert "keep it running until the graph is done" in str(error)


def test_a_pool_shut_down_in_the_middle_ends_the_run_and_everything_is_closed(make) -> None:
    pool = concurrent.futures.ThreadPoolExecutor(1)
    closed: list[str] = []
    note = calculator(close=lambda cc: closed.append(cc.node_name), name="Note")
    graph = make([(note, "in", "", 'executor: "mine"'), (note, "in")], "in", 'executor { name: "mine" }')
    graph.set_executor("mine", pool)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    pool.shutdown()

    assert "takes no tasks" in str(end_of(graph, packets=3))
    assert sorted(closed) == ["Note_1", "Note_2"]


def test_a_task_that_the_pool_has_cancelled_is_not_waited_for(pools) -> None:
    pool, is_free = pools(1), threading.Event()
    busy = pool.submit(is_free.wait, TIMEOUT)
    lease = PoolExecutor(pool).lend_to(None)  # its work is never run
    lease.wake()
    assert lease.thread_count() == 1
    pool.shutdown(wait=False, cancel_futures=True)

    assert lease.stop(TIMEOUT / 4)
    is_free.set()
    assert busy.result(TIMEOUT)


class Refusing(Executor):
    """Lends nothing until `is_ready`."""

    def __init__(self) -> None:
        self.is_ready = False

    def lend_to(self, work):
        if not self.is_ready:
            raise InvalidArgumentError("not ready")
        return InlineExecutor().lend_to(work)


def test_a_start_that_an_executor_refuses_leaves_nothing_behind_and_may_be_tried_again(
    make, watching_threads
) -> None:
    refusing = Refusing()
    graph = make(
        [(AddOne, "in", "out", 'executor: "early"'), (Nothing, "in", "", 'executor: "late"')],
        "in",
        'executor { name: "early" } executor { name: "late" }',
        threads=0,
    )
    got: list[object] = []
    graph.observe_output_stream("out", lambda _, p: got.append(p.payload))
    graph.set_executor("early", watching_threads())  # lends its threads before the other one refuses
    graph.set_executor("late", refusing)
    before = threading.active_count()
    with pytest.raises(InvalidArgumentError, match="not ready"):
        graph.start_run()
    assert threading.active_count() <= before
    with pytest.raises(FailedPreconditionError, match="needs a run under way"):
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))

    refusing.is_ready = True
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)
    assert got == [2]


# --- a service with a thread of its own -------------------------------------------------------


class Device:
    """A toy service that owns one thread, as something that must be called from one thread does."""

    def __init__(self) -> None:
        self.pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="device")
        self.asked: list[str] = []

    def executor_for(self, node: str) -> concurrent.futures.Executor:
        self.asked.append(node)
        return self.pool


DEVICE: ServiceKey[Device] = ServiceKey("test.device")


def test_nodes_that_ask_to_run_on_a_service_run_where_it_says_and_others_do_not(make) -> None:
    seen: dict[str, set[str]] = {}
    device = Device()

    class OnDevice(noting_threads(seen)):  # type: ignore[misc]
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.run_on(DEVICE)

    graph = make([(OnDevice, "in"), (OnDevice, "in"), (noting_threads(seen), "in")], "in")
    graph.set_service(DEVICE, device)
    for _ in range(2):
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
        graph.close(TIMEOUT)
    device.pool.shutdown()

    assert seen["OnDevice_1"] == seen["OnDevice_2"] == {"device_0"}
    assert "device_0" not in seen["Noting"]
    assert device.asked == ["OnDevice_1", "OnDevice_2"] * 2


class Bench:
    """A toy service with a thread for each place, and none for the place "nowhere"."""

    def __init__(self, pools) -> None:
        self.pools = pools
        self.places: dict[str, concurrent.futures.Executor] = {}
        self.asked: list[tuple[str, str]] = []

    def executor_for(self, node: str, place: str = "") -> concurrent.futures.Executor | None:
        self.asked.append((node, place))
        if place == "nowhere":
            return None
        if place not in self.places:
            self.places[place] = self.pools(1, f"bench-{place}")
        return self.places[place]


BENCH: ServiceKey[Bench] = ServiceKey("test.bench")


def at(place, seen, *, optional=False):
    class At(noting_threads(seen)):  # type: ignore[misc]
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.use_service(BENCH, optional=optional)
            cc.run_on(BENCH, place)

    At.__name__ = f"At{place.title()}"
    return At


def test_a_service_with_several_places_runs_each_node_where_the_node_asks_to_be(make, pools) -> None:
    seen: dict[str, set[str]] = {}
    bench = Bench(pools)
    left, right, here = at("left", seen), at("right", seen), at("", seen)
    graph = make([(left, "in"), (right, "in"), (left, "in"), (here, "in")], "in")
    graph.set_service(BENCH, bench)
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)

    assert seen == {
        "AtLeft_1": {"bench-left_0"},
        "AtRight": {"bench-right_0"},
        "AtLeft_2": {"bench-left_0"},
        "At": {"bench-_0"},
    }
    assert bench.asked == [("AtLeft_1", "left"), ("AtRight", "right"), ("AtLeft_2", "left"), ("At", "")]


@pytest.mark.parametrize("executor", ["", 'executor: "mine"'])
def test_a_node_that_a_service_leaves_where_it_is_runs_on_its_own_executor(make, pools, executor) -> None:
    seen: dict[str, set[str]] = {}
    nowhere = at("nowhere", seen)
    graph = make([(nowhere, "in", "", executor)], "in", 'executor { name: "mine" }')
    graph.set_executor("mine", pools(1, "mine"))
    graph.set_service(BENCH, Bench(pools))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)

    assert {name.partition("_")[0] for name in seen["AtNowhere"]} == {"mine" if executor else "pool"}


def test_a_node_whose_optional_service_is_absent_runs_on_its_own_executor(make) -> None:
    seen: dict[str, set[str]] = {}
    graph = make([(at("left", seen, optional=True), "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)

    assert {name.partition("_")[0] for name in seen["AtLeft"]} == {"pool"}


def beside(seen):
    class Beside(noting_threads(seen)):  # type: ignore[misc]
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.run_on(BENCH, "left", if_there=True)

    return Beside


@pytest.mark.parametrize("user", ["the application", "another node"])
def test_a_node_may_run_on_a_service_that_it_does_not_ask_for_where_it_is_there(make, pools, user) -> None:
    seen: dict[str, set[str]] = {}
    bench = Bench(pools)
    made = ServiceKey("test.bench", create=lambda: bench)
    uses = calculator(name="Uses", contract=lambda cc: cc.use_service(made))
    graph = make([(beside(seen), "in"), *([(uses, "in")] if user == "another node" else [])], "in")
    if user == "the application":
        graph.set_service(BENCH, bench)
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)

    assert seen["Beside"] == {"bench-left_0"}


def test_a_node_of_a_named_executor_stays_there_whatever_service_there_is(make, pools) -> None:
    seen: dict[str, set[str]] = {}
    graph = make([(beside(seen), "in", "", 'executor: "mine"')], "in", 'executor { name: "mine" }')
    graph.set_executor("mine", pools(1, "mine"))
    graph.set_service(BENCH, Bench(pools))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)

    assert {name.partition("_")[0] for name in seen["Beside"]} == {"mine"}


def test_a_service_that_no_node_asks_for_is_not_made_to_run_on(make) -> None:
    seen: dict[str, set[str]] = {}
    made: list[str] = []
    key: ServiceKey[Any] = ServiceKey("test.unasked", create=lambda: made.append("made"))

    class Beside(noting_threads(seen)):  # type: ignore[misc]
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            cc.run_on(key, if_there=True)

    graph = make([(Beside, "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 1))
    graph.close(TIMEOUT)

    assert {name.partition("_")[0] for name in seen["Beside"]} == {"pool"}
    assert not made


def test_a_place_that_a_service_does_not_know_is_refused(make) -> None:
    here = calculator(name="Here", contract=lambda cc: cc.run_on(DEVICE, "left"))
    graph = make([(here, "in")], "in")
    device = Device()
    graph.set_service(DEVICE, device)
    with pytest.raises(
        InvalidArgumentError,
        match=r"^the graph's executors: node 'Here' asks to run at 'left' of service 'test.device', "
        r"but a Device has no executor_for\(node, place\); leave the place out$",
    ):
        graph.start_run()
    device.pool.shutdown()


def test_a_service_that_returns_no_executor_is_refused(make) -> None:
    class Liar:
        def executor_for(self, node):
            return node

    here = calculator(name="Here", contract=lambda cc: cc.run_on(DEVICE))
    graph = make([(here, "in")], "in")
    graph.set_service(DEVICE, Liar())
    with pytest.raises(
        InvalidArgumentError,
        match=r"^the graph's executors: node 'Here' asks to run on service 'test.device', whose "
        r"executor_for\(\) returned something else: 'str' is no executor; hand in a penstock.Executor or ",
    ):
        graph.start_run()


class Named(Executor):
    """Lends threads of its own to queues, which it names itself."""

    name = "left-hand"

    def lend_to(self, work):
        self.work = work
        return InlineExecutor().lend_to(work)


def test_the_queue_of_a_services_executor_is_called_as_the_executor_or_else_as_the_service(make) -> None:
    class Two:
        executors: ClassVar = {"a": Named(), "b": Refusing()}

        def executor_for(self, node, place):
            return self.executors[place]

    Two.executors["b"].is_ready = True
    places = [
        calculator(name=name, contract=lambda cc, place=place: cc.run_on(DEVICE, place))
        for name, place in (("First", "a"), ("Second", "b"))
    ]
    graph = make([(places[0], "in"), (places[1], "in")], "in")
    graph.set_service(DEVICE, Two())
    graph.start_run()
    names = [state.name for state in graph.snapshot().executors]
    graph.close(TIMEOUT)

    assert names == ["", "left-hand", "test.device"]


def test_a_service_that_runs_nothing_is_refused(make) -> None:
    here = calculator(name="Here", contract=lambda cc: cc.run_on(DEVICE))
    graph = make([(here, "in")], "in")
    graph.set_service(DEVICE, object())
    with pytest.raises(
        InvalidArgumentError,
        match=r"node 'Here' asks to run on service 'test.device', but a object has no executor_for",
    ):
        graph.start_run()


def test_a_missing_service_to_run_on_is_refused(make) -> None:
    here = calculator(name="Here", contract=lambda cc: cc.run_on(DEVICE))
    with pytest.raises(
        RuntimeError, match=r"service 'test.device', required by node 'Here', is not there"
    ) as caught:
        make([(here, "in")], "in").start_run()

    assert caught.value.code is StatusCode.INTERNAL


def test_an_executor_knows_whether_the_graph_gives_it_a_type(monkeypatch) -> None:
    told = {}

    def create(cls, _options, defaults):
        told[defaults.name] = defaults.is_implied
        return cls()

    monkeypatch.setattr(InlineExecutor, "create", classmethod(create))
    penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Nothing" input_stream: "in" executor: "mine" } '
        'executor { name: "mine" type: "ThreadPoolExecutor" }',
        registry=testing_registry(Nothing),
    )

    assert told == {"": True, "mine": False}
