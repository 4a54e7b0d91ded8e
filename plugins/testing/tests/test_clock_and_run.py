from __future__ import annotations

import concurrent.futures
import threading

import pytest

from penstock import STOP, Calculator, CalculatorGraph, Packet
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, WaitTimeoutError
from penstock.lowlevel import CLOCK
from penstock_testing import InlineExecutor, ManualClock, calculator, run_calculator, testing_registry


def test_time_passes_only_when_the_test_moves_the_clock() -> None:
    clock = ManualClock(5.0)
    assert clock() == 5.0

    clock.advance(2.5)
    assert clock() == 7.5


def test_time_does_not_go_back() -> None:
    with pytest.raises(ValueError, match=r"time cannot go back by 1 s"):
        ManualClock().advance(-1)


def test_a_thread_that_sleeps_until_a_moment_wakes_when_the_clock_reaches_it() -> None:
    clock = ManualClock()
    woken = []
    sleeper = threading.Thread(target=lambda: woken.append(clock.sleep_until(3.0)))
    sleeper.start()
    clock.advance(1.0)
    clock.advance(2.0)
    sleeper.join(10)

    assert woken == [True]
    assert clock.sleep_until(99.0, timeout_s=0.0) is False


def add_all(cc) -> None:
    cc.counter("calls").increment()
    cc.outputs[0].add(sum(port.payload or 0 for port in cc.inputs), cc.input_timestamp)


Add = calculator(add_all, name="Add")


def test_a_calculator_runs_in_one_line() -> None:
    run = run_calculator(Add, {0: [(1, 10), Packet(20, 2)], 1: [(2, 5)]}, outputs=[0])

    assert [(p.timestamp, p.payload) for p in run.outputs[0]] == [(1, 10), (2, 25)]
    assert run.counters == {"calls": 2}


def test_what_it_cuts_from_lists_is_returned_by_reason() -> None:
    def first(cc):
        for port in cc.inputs:
            if not port.is_empty():
                port.count_cut("most is 1", len(port.payload) - 1)
        cc.inputs[0].count_cut("of all", 4)

    run = run_calculator(
        calculator(first, name="First"), {0: [(1, "abc"), (2, "ab")], 1: [(1, "abcd")]}, outputs=[0]
    )

    assert run.cuts == {"most is 1": 6, "of all": 8}


def test_tags_headers_and_side_packets_are_given_and_returned_by_port() -> None:
    def open_(cc):
        cc.outputs["OUT"].set_header(
            Packet((cc.inputs["IN", 1].header.payload, cc.input_side_packets["FACTOR"].payload))
        )
        cc.output_side_packets["MADE"].set("made")

    run = run_calculator(
        calculator(lambda cc: cc.outputs["OUT"].add("x", cc.input_timestamp), open=open_, name="Tagged"),
        {"IN": [(1, 1)], "IN:1": []},
        outputs=["OUT"],
        headers={"IN:1": "head"},
        side_packets={"FACTOR": 3},
        output_side_packets=["MADE"],
    )

    assert run.headers == {"OUT": ("head", 3)}
    assert run.output_side_packets == {"MADE": "made"}
    assert [p.payload for p in run.outputs["OUT"]] == ["x"]


def test_a_failing_calculator_raises_as_a_run_would() -> None:
    def fail(cc):
        raise ValueError("no")

    with pytest.raises(GraphRunError, match=r"node 'Fail' \(Fail\): process\(\) failed at 1: ValueError: no"):
        run_calculator(calculator(fail), {0: [(1, 1)]})


def test_a_contract_that_does_not_fit_is_refused() -> None:
    needy = calculator(name="Needy", contract=lambda cc: cc.inputs["MISSING"].set(int))

    with pytest.raises(GraphConfigError, match="MISSING"):
        run_calculator(needy, {0: []})


def test_untagged_ports_come_in_order() -> None:
    with pytest.raises(InvalidArgumentError, match="give untagged ports in ascending order"):
        run_calculator(Add, {1: [], 0: []}, outputs=[0])


def order_of(seed: int | None) -> list[str]:
    """Return in which order an inline graph calls four nodes that are ready together."""
    log: list[str] = []
    note = calculator(lambda cc: log.append(cc.node_name), name="Note")
    text = 'input_stream: "in"' + 4 * ' node { calculator: "Note" input_stream: "in" }'
    graph = CalculatorGraph(text, registry=testing_registry(note))
    graph.set_executor("", InlineExecutor(seed))
    graph.start_run()
    graph.wait_until_idle(20)
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    graph.close(20)
    return log


def test_an_inline_executor_takes_the_scheduler_s_order_or_that_of_its_seed() -> None:
    assert order_of(None) == ["Note_4", "Note_3", "Note_2", "Note_1"]
    assert all(order_of(seed) == order_of(seed) for seed in range(5))
    assert len({tuple(order_of(seed)) for seed in range(12)}) > 3


def test_an_inline_graph_does_nothing_outside_of_waits() -> None:
    calls: list[int] = []
    graph = CalculatorGraph(
        'input_stream: "in" node { calculator: "Note" input_stream: "in" }',
        registry=testing_registry(calculator(lambda cc: calls.append(1), name="Note")),
    )
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(1, 1))
    assert calls == []

    graph.wait_until_idle(20)
    assert calls == [1]
    graph.close(20)


class Paced(Calculator):
    """A source that writes the time of the graph's clock."""

    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set(float)
        cc.use_service(CLOCK)

    def process(self, cc):
        cc.output.add(cc.service(CLOCK)(), 1)
        return STOP


class Waits(Calculator):
    """Does not come back before the test says so."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.input_side_packets["GATE"].set(threading.Event)

    def process(self, cc):
        assert cc.input_side_packets["GATE"].payload.wait(30)


def test_a_source_reads_the_clock_that_the_test_moves() -> None:
    clock = ManualClock(41.0)
    clock.advance(1.0)
    graph = CalculatorGraph(
        'node { calculator: "Paced" output_stream: "time" }', registry=testing_registry(Paced)
    )
    graph.set_clock(clock)
    seen = []
    graph.observe_output_stream("time", lambda _, packet: seen.append(packet.payload))

    graph.run(timeout=60)

    assert seen == [42.0]


def test_the_time_out_of_a_wait_reads_the_clock_that_the_test_moves() -> None:
    class Asked(ManualClock):
        was_asked = threading.Event()

        def __call__(self):
            self.was_asked.set()
            return super().__call__()

    def move() -> None:
        assert clock.was_asked.wait(30)
        clock.advance(3600)

    clock, gate = Asked(), threading.Event()
    graph = CalculatorGraph(
        'input_stream: "in" node { calculator: "Waits" input_stream: "in" input_side_packet: "GATE:gate" }',
        registry=testing_registry(Waits),
    )
    graph.set_clock(clock)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        graph.set_executor("", pool)
        graph.start_run({"gate": gate})
        graph.add_packet_to_input_stream("in", Packet(1, 1))
        mover = threading.Thread(target=move)
        mover.start()

        with pytest.raises(WaitTimeoutError, match=r"wait_until_idle\(\) took longer than 3000 s"):
            graph.wait_until_idle(timeout=3000)

        mover.join(30)
        gate.set()
        graph.close()
