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
    with pytest.raises(InvalidArgumentError, match="without a tag must be given in ascending order"):
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


# --- the reference's tests of CalculatorRunner ------------------------------------------------------


class Negates(Calculator):
    """Negates two inputs, and repeats a side packet; its headers are the inputs' and a number."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.inputs[1].set(int)
        cc.outputs[0].set(int)
        cc.outputs[1].set(int)
        cc.outputs[2].set_same_as(cc.input_side_packets[0])
        cc.input_side_packets[0].set_any()
        cc.output_side_packets["SIDE_OUTPUT"].set_same_as(cc.input_side_packets[0])

    def open(self, cc):
        header = "".join(port.header.payload for port in cc.inputs)
        for i, port in enumerate(cc.outputs):
            port.set_header(Packet(f"{header}{i}"))
        cc.output_side_packets["SIDE_OUTPUT"].set(cc.input_side_packets[0].payload)

    def process(self, cc):
        for i in (0, 1):
            cc.outputs[i].add(-cc.inputs[i].payload, cc.input_timestamp)
        cc.outputs[2].add(cc.input_side_packets[0].payload, cc.input_timestamp)


@pytest.mark.reference("framework/calculator_runner_test.cc", "CalculatorRunner.RunsCalculator")
@pytest.mark.parametrize("length", range(3))
def test_headers_side_packets_and_packets_of_all_ports_are_there(length) -> None:
    run = run_calculator(
        Negates,
        {i: [(t, t * (i + 1)) for t in range(length)] for i in (0, 1)},
        outputs=[0, 1, 2],
        side_packets={0: 10 + length},
        headers={0: "header0", 1: "header1"},
        output_side_packets=["SIDE_OUTPUT"],
    )

    assert run.output_side_packets == {"SIDE_OUTPUT": 10 + length}
    assert run.headers == {i: f"header0header1{i}" for i in range(3)}
    written = {i: [(p.timestamp, p.payload) for p in packets] for i, packets in run.outputs.items()}
    assert written == {
        0: [(t, -t) for t in range(length)],
        1: [(t, -t * 2) for t in range(length)],
        2: [(t, 10 + length) for t in range(length)],
    }


class SumsByTag(Calculator):
    """Writes, for each tag, the sum of the inputs that have it."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set(int)
        for tag in cc.inputs.tags():
            cc.outputs[tag].set(int)

    def process(self, cc):
        for tag in cc.inputs.tags():
            ports = [cc.inputs[tag, i] for i in range(cc.inputs.count(tag))]
            cc.outputs[tag].add(sum(port.payload or 0 for port in ports), cc.input_timestamp)


@pytest.mark.reference("framework/calculator_runner_test.cc", "CalculatorRunner.MultiTagTestCalculatorOk")
def test_ports_may_have_tags_and_indexes() -> None:
    run = run_calculator(
        SumsByTag,
        {
            **{("A", i): [(t, 10 * t + i) for t in range(5)] for i in range(3)},
            "B": [(t, 100) for t in range(5)],
            **{i: [(t, t) for t in range(5) if t % 2 == i] for i in (0, 1)},
        },
        outputs=["A", "B", 0],
    )

    written = {key: [(p.timestamp, p.payload) for p in packets] for key, packets in run.outputs.items()}
    assert written == {
        "A": [(t, 10 * 3 * t + 3) for t in range(5)],
        "B": [(t, 100) for t in range(5)],
        0: [(t, t) for t in range(5)],
    }


@pytest.mark.reference(
    "framework/calculator_runner_test.cc", "CalculatorRunner.MultiTagTestInvalidStreamTagCrashes"
)
def test_a_port_that_is_given_twice_is_refused_with_both_names() -> None:
    graph = """
    input_stream: "a_0" input_stream: "a_1" input_stream: "a_2"
    node {
      calculator: "SumsByTag"
      input_stream: "A:0:a_0" input_stream: "A:a_1" input_stream: "A:2:a_2"
      output_stream: "A:output_a"
    }
    """
    words = "tag 'A' index 0 already has the name 'a_0' but is given the name 'a_1' too"
    with pytest.raises(GraphConfigError, match=words):
        CalculatorGraph(graph, registry=testing_registry(SumsByTag))
