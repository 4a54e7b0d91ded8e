from __future__ import annotations

import gc
import weakref

import pytest

import penstock
from penstock.errors import (
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from penstock.services import GRAPH, ServiceKey
from penstock.testing import calculator, testing_registry

TIMEOUT = 20
Nothing = calculator(name="Nothing")
Packet = penstock.Packet


def run_once(graph, count: int = 5) -> None:
    graph.start_run()
    for i in range(count):
        graph.add_packet_to_input_stream("in", Packet(i, i))
    graph.close(TIMEOUT)


def test_a_header_of_a_graph_input_is_given_at_the_start_of_a_run(make) -> None:
    seen: list[object] = []
    graph = make([(calculator(open=lambda cc: seen.append(cc.input.header.payload)), "in")], "in")
    for header in ("first", "second"):
        graph.start_run(stream_headers={"in": header})
        graph.close(TIMEOUT)
    graph.start_run()
    graph.close(TIMEOUT)

    assert seen == ["first", "second", None]
    with pytest.raises(NotFoundError, match="there is no graph input 'inn'"):
        graph.start_run(stream_headers={"inn": 1})


def test_counters_belong_to_the_graph_and_go_on_from_run_to_run(make) -> None:
    def process(cc):
        cc.counter("packets").increment()
        cc.counter("weight").increment_by(10)

    graph = make(
        [(calculator(process, name="Counted"), "in"), (calculator(process, name="Counted"), "in")], "in"
    )
    for _ in range(2):
        run_once(graph, 3)

    assert graph.counters == {
        "Counted_1-packets": 6,
        "Counted_1-weight": 60,
        "Counted_2-packets": 6,
        "Counted_2-weight": 60,
    }


def test_a_counter_loses_nothing_among_threads(make) -> None:
    def process(cc):
        counter = cc.counter("n")
        for _ in range(200):
            counter.increment()

    graph = make([(calculator(process), "in", "", "max_in_flight: 4")], "in", threads=4)
    run_once(graph, 40)

    assert graph.counters == {"Process-n": 8000}


WORD: ServiceKey[list[str]] = ServiceKey("test.word")
MADE: ServiceKey[list[str]] = ServiceKey("test.made", create=lambda: ["made"])
BROKEN: ServiceKey[list[str]] = ServiceKey("test.broken", create=lambda: 1 / 0)  # type: ignore[arg-type,return-value]


def asking(key, seen, *, optional=False, declare=True):
    def contract(cc):
        if declare:
            cc.use_service(key, optional=optional)

    return calculator(open=lambda cc: seen.append(cc.service(key)), contract=contract, name="Asking")


def test_a_service_of_the_application_reaches_the_calculators_that_ask(make) -> None:
    seen: list[object] = []
    word = ["word"]
    graph = make([(asking(WORD, seen), "")])
    graph.set_service(WORD, word)
    graph.run(timeout=TIMEOUT)

    assert seen[0] is word
    assert graph.get_service(WORD) is word
    assert graph.get_service(MADE) is None


def test_a_service_that_can_be_made_is_made_once_and_kept(make) -> None:
    seen: list[object] = []
    graph = make([(asking(MADE, seen), "")], "in")
    for _ in range(2):
        graph.start_run()
        graph.close(TIMEOUT)

    assert seen[0] == ["made"]
    assert seen[0] is seen[1] is graph.get_service(MADE)


@pytest.mark.parametrize(
    ("key", "reason"),
    [(WORD, "it was not set, and does not say how to make one"), (BROKEN, "division by zero")],
)
def test_a_missing_service_starts_nothing_and_is_named_with_the_node(make, key, reason) -> None:
    graph = make([(asking(key, []), "")])
    with pytest.raises(
        UnavailableError,
        match=f"service '{key.name}', required by node 'Asking', is not there: {reason}; set it",
    ):
        graph.run()


@pytest.mark.parametrize("key", [WORD, BROKEN])
def test_an_optional_service_that_is_absent_is_an_error_only_for_who_takes_it(make, key) -> None:
    graph = make([(asking(key, [], optional=True), "")])
    with pytest.raises(
        GraphRunError, match=f"optional service '{key.name}' is not there; set it with graph.set_service"
    ):
        graph.run(timeout=TIMEOUT)


def test_a_service_that_is_not_in_the_contract_is_not_given(make) -> None:
    graph = make([(asking(WORD, [], declare=False), "")])
    graph.set_service(WORD, ["word"])
    with pytest.raises(
        GraphRunError, match=r"node 'Asking': service 'test.word' is not in its contract; call"
    ):
        graph.run(timeout=TIMEOUT)


def test_a_calculator_may_look_at_its_own_graph_in_every_run(make) -> None:
    seen: list[object] = []

    def process(cc):
        graph = cc.service(GRAPH)
        state = graph.snapshot()
        seen.append((state.state, state.nodes[0].running, state.nodes[0].steps, graph.is_timed))
        texts.append((graph.text_config, graph.binary_config))

    texts: list[object] = []
    looking = calculator(process, contract=lambda cc: cc.use_service(GRAPH), name="Looking")
    graph = make([(looking, "in")], "in")
    run_once(graph, 2)
    graph.set_timing()
    run_once(graph, 1)

    assert seen == [("running", 1, 0, False), ("running", 1, 1, False), ("running", 1, 0, True)]
    assert texts == [(graph.text_config, graph.binary_config)] * 3
    assert graph.get_service(GRAPH) is None


def test_a_graph_that_is_looked_at_can_be_dropped_while_it_runs() -> None:
    kept: list[object] = []
    looking = calculator(
        open=lambda cc: kept.append(cc.service(GRAPH)),
        contract=lambda cc: cc.use_service(GRAPH),
        name="Looking",
    )
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Looking" input_stream: "in" }',
        registry=testing_registry(looking),
    )
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    gone = weakref.ref(graph)
    gc.collect()
    gc.disable()  # only counting references may free it
    try:
        del graph
        assert gone() is None
    finally:
        gc.enable()
    assert kept[0].snapshot().nodes[0].name == "Looking"


def test_an_application_may_give_its_own_view_of_the_graph(make) -> None:
    seen: list[object] = []
    graph = make([(asking(GRAPH, seen), "")])
    graph.set_service(GRAPH, "its own")
    graph.run(timeout=TIMEOUT)

    assert seen == ["its own"]


@pytest.mark.parametrize(
    ("config", "said", "is_timed"),
    [
        ("", None, False),
        ("", True, True),
        ("enable_profiler: true", None, True),
        ("enable_profiler: true", False, False),
        ("enable_profiler: false", None, False),
    ],
)
def test_calls_are_timed_where_the_graph_or_else_the_application_says_so(config, said, is_timed) -> None:
    timed: list[bool] = []

    def process(cc):
        timed.append(cc.service(GRAPH).is_timed)

    looking = calculator(process, contract=lambda cc: cc.use_service(GRAPH), name="Looking")
    graph = penstock.CalculatorGraph(
        f"profiler_config {{ {config} }}"
        'input_stream: "in" node { calculator: "Looking" input_stream: "in" }',
        registry=testing_registry(looking),
    )
    if said is not None:
        graph.set_timing(said)
    run_once(graph, 1)

    assert timed == [is_timed]
    assert (graph.snapshot().nodes[0].busy_s > 0) == is_timed


def test_no_service_is_none(make) -> None:
    with pytest.raises(InvalidArgumentError, match=r"service 'test.word': the object is None"):
        make([(Nothing, "in")], "in").set_service(WORD, None)
