from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import NoReturn

import pytest

import penstock
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from penstock.explain import GRAPH
from penstock.runtime.run_view import RunView
from penstock.services import ServiceKey
from penstock_testing import calculator, testing_registry

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
    [(WORD, "it was not set, and its key cannot make one"), (BROKEN, "division by zero")],
)
def test_a_missing_service_starts_nothing_and_is_named_with_the_node(make, key, reason) -> None:
    graph = make([(asking(key, []), "")])
    with pytest.raises(
        UnavailableError,
        match=f"service '{key.name}', required by node 'Asking', is not there: {reason}; set it",
    ):
        graph.run()


@pytest.mark.reference(
    "framework/graph_service_test.cc", "ServiceBindingTest.CrashesWhenGettingNullServiceObject"
)
@pytest.mark.parametrize(
    ("key", "reason"),
    [(WORD, "is not there"), (BROKEN, r"could not be made: ZeroDivisionError: division by zero \(at .+\)")],
)
def test_an_optional_service_that_is_absent_is_an_error_only_where_it_is_taken(make, key, reason) -> None:
    graph = make([(asking(key, [], optional=True), "")])
    with pytest.raises(
        GraphRunError, match=f"optional service '{key.name}' {reason}; set it with graph.set_service"
    ):
        graph.run(timeout=TIMEOUT)


def test_an_optional_service_that_cannot_be_made_is_tried_once_in_a_run_and_reported(make, caplog) -> None:
    tried: list[str] = []

    def fail() -> NoReturn:
        tried.append("here")
        raise OSError("no device")

    key: ServiceKey[object] = ServiceKey("test.device", create=fail)
    contract = lambda cc: cc.use_service(key, optional=True)  # noqa: E731  # as `calculator` takes it
    make([(calculator(contract=contract, name=name), "") for name in ("First", "Second")]).run(
        timeout=TIMEOUT
    )

    assert tried == ["here"]
    (record,) = caplog.records
    said = "optional service 'test.device' could not be made: OSError: no device (at test_services.py:"
    assert record.getMessage().startswith(said)
    assert record.node == "First"


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


def test_a_calculator_sees_in_the_ledger_what_waits(make) -> None:
    seen: list[tuple[int, int]] = []

    def process(cc):
        (stream,) = [one for one in cc.service(GRAPH).ledger().streams if one.name == "in"]
        seen.append((stream.added, stream.readers[0].in_flight))

    looking = calculator(process, contract=lambda cc: cc.use_service(GRAPH), name="Looking")
    graph = make([(looking, "in")], "in", threads=0)
    graph.start_run()
    for i in range(2):
        graph.add_packet_to_input_stream("in", Packet(i, i))
    graph.close(TIMEOUT)

    assert seen == [(2, 1), (2, 0)]


def test_a_view_knows_nothing_before_the_run_has_started() -> None:
    with pytest.raises(FailedPreconditionError, match="the run has not started; ask in open"):
        RunView(plan=None, is_timed=False).ledger()


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
    with pytest.raises(InvalidArgumentError, match=r"set_service of 'test\.word': the object is None"):
        make([(Nothing, "in")], "in").set_service(WORD, None)
    with pytest.raises(InvalidArgumentError, match=r"set_service of 'test\.word': the object is None"):
        penstock.CalculatorGraph("", services={WORD: None})


def test_services_may_be_given_with_the_graph(make) -> None:
    seen: list[object] = []
    word = ["word"]
    graph = penstock.CalculatorGraph(
        'node { calculator: "Asking" }', registry=testing_registry(asking(WORD, seen)), services={WORD: word}
    )
    assert graph.get_service(WORD) is word

    graph.run(timeout=TIMEOUT)
    assert seen[0] is word


# --- services that are closed -----------------------------------------------------------------


class Closable:
    """A service that notes when it is closed, and on which thread; raises then what the test asks for."""

    def __init__(self, log, failing=None, name="") -> None:
        self.log = log
        self.failing = failing
        self.name = name
        self.is_closed = threading.Event()

    def close(self):
        self.log.append(f"close {self.name}".strip())
        self.thread = threading.current_thread()
        self.is_closed.set()
        if self.failing is not None:
            raise self.failing


@pytest.fixture
def closable():
    """Return a function that makes keys of closable services, and what has been made and closed."""
    log: list[str] = []
    made: list[Closable] = []

    def key(failing=None, name=""):
        def create():
            log.append(f"make {name}".strip())
            made.append(Closable(log, failing, name))
            return made[-1]

        return ServiceKey(f"test.closable{name}", create=create)

    key.log, key.made = log, made
    return key


def test_a_service_that_the_graph_made_lives_from_run_to_run_and_is_closed_with_the_graph(
    make, closable
) -> None:
    seen: list[object] = []
    key = closable()
    note = calculator(
        open=lambda cc: seen.append(cc.service(key)),
        contract=lambda cc: cc.use_service(key),
        close=lambda cc: closable.log.append("node closes"),
        name="Note",
    )
    graph = make([(note, "in")], "in")
    for _ in range(2):
        graph.start_run()
        graph.close_all_packet_sources()
        graph.wait_until_done(TIMEOUT)
    assert closable.log == ["make", "node closes", "node closes"]

    graph.close()
    graph.close()
    assert closable.log == ["make", "node closes", "node closes", "close"]
    assert graph.get_service(key) is None

    run_once(graph, 1)
    assert closable.log[4:] == ["make", "node closes", "close"]
    assert seen == [closable.made[0], closable.made[0], closable.made[1]]


def test_a_service_of_the_application_is_not_closed_by_the_graph(make, closable) -> None:
    given = Closable(closable.log)
    key = closable()
    graph = make([(asking(key, []), "")])
    graph.set_service(key, given)
    with graph:
        graph.run(timeout=TIMEOUT)

    del graph
    gc.collect()
    assert closable.log == []


def test_a_service_that_took_the_place_of_one_that_the_graph_made_stays(make, closable) -> None:
    key = closable()
    graph = make([(asking(key, []), "")])
    graph.run(timeout=TIMEOUT)
    given = Closable([])
    graph.set_service(key, given)
    graph.close()

    assert closable.log == ["make", "close"]
    assert graph.get_service(key) is given


@pytest.mark.parametrize("how", ["with", "with and an error", "with after the run", "penstock.run"])
def test_the_end_of_a_block_closes_what_the_graph_made(make, closable, how) -> None:
    key = closable()
    asks = asking(key, [])
    if how == "penstock.run":
        registry = testing_registry(asks)
        penstock.run('node { calculator: "Asking" }', registry=registry, timeout=TIMEOUT)
    elif how == "with and an error":
        graph = make([(asks, "in")], "in")
        graph.start_run()
        with pytest.raises(ZeroDivisionError), graph:
            1 / 0  # noqa: B018
    else:
        with make([(asks, "")]) as graph:
            graph.start_run()
            if how == "with after the run":
                graph.wait_until_done(TIMEOUT)

    assert closable.log == ["make", "close"]


def test_a_run_that_fails_and_one_that_cannot_start_leave_nothing_open(make, closable) -> None:
    def fail(cc):
        1 / 0  # noqa: B018

    key = closable()
    failing = calculator(open=fail, contract=lambda cc: cc.use_service(key), name="Failing")
    graph = make([(failing, "in")], "in")
    graph.start_run()
    with pytest.raises(GraphRunError, match="division by zero"):
        graph.close(TIMEOUT)
    assert closable.log == ["make", "close"]

    def contract(cc):
        cc.use_service(key)
        cc.use_service(BROKEN)

    graph = make([(calculator(open=lambda cc: None, contract=contract, name="Both"), "")])
    with pytest.raises(UnavailableError, match=r"test\.broken"):
        graph.start_run()
    graph.close()
    assert closable.log == ["make", "close", "make", "close"]


def test_an_interrupt_while_services_are_made_leaves_nothing_open(make, closable) -> None:
    def interrupt():
        raise KeyboardInterrupt

    key = closable()

    def contract(cc):
        cc.use_service(key)
        cc.use_service(ServiceKey("test.interrupted", create=interrupt))

    graph = make([(calculator(open=lambda cc: None, contract=contract, name="Both"), "")])
    with pytest.raises(KeyboardInterrupt):
        graph.start_run()
    graph.close()
    assert closable.log == ["make", "close"]


def test_services_close_in_reverse_order_and_all_of_them_whatever_one_raises(make, closable) -> None:
    first = closable(OSError("stuck"), "1")
    second = closable(name="2")
    third = closable(OSError("lost"), "3")

    def contract(cc):
        for key in (first, second, third):
            cc.use_service(key)

    graph = make([(calculator(open=lambda cc: None, contract=contract, name="Three"), "")])
    graph.run(timeout=TIMEOUT)
    with pytest.raises(
        penstock.PenstockError, match=r"^service 'test\.closable3' failed to close: lost\n"
    ) as e:
        graph.close()

    assert closable.log == ["make 1", "make 2", "make 3", "close 3", "close 2", "close 1"]
    assert e.value.__notes__ == ["service 'test.closable1' failed to close: stuck"]
    assert isinstance(e.value.__cause__, OSError)
    graph.close()


def test_an_error_of_the_run_comes_first_and_what_a_service_says_is_added_to_it(make, closable) -> None:
    key = closable(OSError("stuck"))

    def fail(cc):
        1 / 0  # noqa: B018

    failing = calculator(open=fail, contract=lambda cc: cc.use_service(key), name="Failing")
    graph = make([(failing, "in")], "in")
    graph.start_run()
    with pytest.raises(GraphRunError, match="division by zero") as caught:
        graph.close(TIMEOUT)
    assert caught.value.__notes__ == ["service 'test.closable' failed to close: stuck"]


def test_a_close_that_times_out_leaves_the_services_to_the_run(make, closable) -> None:
    key = closable()
    go_on = threading.Event()
    stuck = calculator(lambda cc: go_on.wait(TIMEOUT) and None, contract=lambda cc: cc.use_service(key))
    graph = make([(stuck, "in")], "in")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    with pytest.raises(penstock.WaitTimeoutError):
        graph.close(0.01)
    assert closable.log == ["make"]

    go_on.set()
    graph.close(TIMEOUT)
    assert closable.log == ["make", "close"]


@pytest.mark.parametrize("is_running", [False, True])
def test_a_graph_that_is_dropped_closes_what_it_made_after_its_run_on_another_thread(
    closable, is_running
) -> None:
    key = closable()
    note = calculator(
        open=lambda cc: None,
        contract=lambda cc: cc.use_service(key),
        close=lambda cc: closable.log.append("node closes"),
        name="Note",
    )
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Note" input_stream: "in" }', registry=testing_registry(note)
    )
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    if not is_running:
        graph.close_all_packet_sources()
        graph.wait_until_done(TIMEOUT)
    del graph
    gc.collect()

    service = closable.made[0]
    assert service.is_closed.wait(TIMEOUT)
    assert service.thread is not threading.current_thread()
    service.thread.join(TIMEOUT)
    assert not service.thread.is_alive()
    assert closable.log == ["make", "node closes", "close"]


def test_a_service_that_fails_to_close_after_its_graph_is_dropped_is_logged(closable, caplog) -> None:
    key = closable(OSError("stuck"))
    graph = penstock.CalculatorGraph(
        'node { calculator: "Asking" }', registry=testing_registry(asking(key, []))
    )
    graph.run(timeout=TIMEOUT)
    del graph
    gc.collect()
    assert closable.made[0].is_closed.wait(TIMEOUT)
    closable.made[0].thread.join(TIMEOUT)

    assert "of a forgotten graph: service 'test.closable' failed to close: stuck" in caplog.text


EXITING = """
import atexit, sys, threading
import penstock
from penstock import ServiceKey
from penstock_testing import calculator, testing_registry
from penstock_testing.inline import InlineExecutor

class Service:
    def __init__(self):
        atexit.register(print, "atexit of the service's own")
    def close(self):
        print("service closes")
    def executor_for(self, node):
        return InlineExecutor()

KEY = ServiceKey("test.exiting", create=Service)
note = calculator(
    open=lambda cc: print("node opens"), close=lambda cc: print("node closes"),
    contract=lambda cc: cc.run_on(KEY), name="Note",
)
graph = penstock.CalculatorGraph(
    'input_stream: "in" node { calculator: "Note" input_stream: "in" }', registry=testing_registry(note)
)
graph.start_run()
graph.wait_until_idle(20)
if sys.argv[1] == "done":
    graph.close_all_packet_sources()
    graph.wait_until_done(20)
print("script ends")
"""


@pytest.mark.parametrize(
    ("state", "lines"),
    [
        ("running", ["node opens", "script ends", "node closes", "service closes"]),
        ("done", ["node opens", "node closes", "script ends", "service closes"]),
    ],
)
def test_the_end_of_the_interpreter_ends_runs_then_services_then_what_these_registered(state, lines) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXITING, state], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.splitlines() == [*lines, "atexit of the service's own"]


def test_a_service_is_made_beside_the_graph_file_where_there_is_one(tmp_path, monkeypatch) -> None:
    registry = testing_registry()
    key = ServiceKey("tests.beside", create=lambda: "no file", create_beside=lambda folder: folder)
    found: list[object] = []
    registry.add(
        "calculator",
        "Asks",
        calculator(open=lambda cc: found.append(cc.service(key)), contract=lambda cc: cc.use_service(key)),
    )
    text = 'input_stream: "in" node { calculator: "Asks" input_stream: "in" }'
    (tmp_path / "graph.pbtxt").write_text(text)
    monkeypatch.chdir(tmp_path)

    for source in (text, tmp_path / "graph.pbtxt", Path("graph.pbtxt")):
        run_once(penstock.CalculatorGraph(source, registry=registry))

    assert found == ["no file", str(tmp_path), str(tmp_path)]


def test_a_key_that_makes_its_service_only_beside_a_file_needs_a_file(tmp_path) -> None:
    registry = testing_registry()
    key = ServiceKey[object]("tests.only-beside", create_beside=lambda folder: folder)
    registry.add("calculator", "Asks", calculator(contract=lambda cc: cc.use_service(key)))
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { calculator: "Asks" input_stream: "in" }', registry=registry
    )

    with pytest.raises(UnavailableError, match="it was not set, and its key cannot make one"):
        graph.start_run()
