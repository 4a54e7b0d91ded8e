from __future__ import annotations

import pytest

from penstock.engine.outcome import STOP
from penstock.engine.packet import Packet
from penstock.errors import GraphConfigError, GraphRunError
from penstock_testing import ScheduleHarness, calculator, node, wired

Nothing = calculator(name="Nothing")


def heads(log, stream=0):
    """Make a calculator that notes the header it sees in each method, and forwards it."""

    def note(method):
        def run(cc):
            header = cc.inputs[stream].header
            log.append((cc.node_name, method, header.payload))
            if method == "open":
                for output in cc.outputs:
                    output.set_header(header)

        return run

    return calculator(note("process"), open=note("open"), close=note("close"), name="Heads")


def test_a_node_opens_after_all_nodes_above_it() -> None:
    for seed in range(6):
        harness = ScheduleHarness(
            wired(
                node(Nothing, "in", "a", name="top"),
                node(Nothing, "a", "b", name="left"),
                node(Nothing, "a", "c", name="right"),
                node(Nothing, "b c", "d", name="bottom"),
                inputs="in",
            ),
            seed=seed,
        ).start()
        harness.finish()

        opened = [line.removeprefix("open ") for line in harness.log if line.startswith("open")]
        assert opened[0] == "top"
        assert opened[-1] == "bottom"


def test_headers_arrive_before_open_and_stay_readable() -> None:
    log: list[tuple[str, str, object]] = []
    harness = ScheduleHarness(wired(node(heads(log), "in", "out"), node(heads(log), "out"), inputs="in"))
    harness.start({"in": "the header"})
    harness.add("in", 1, 1)
    harness.finish()

    assert log[:2] == [("Heads_1", "open", "the header"), ("Heads_2", "open", "the header")]
    assert {payload for _, _, payload in log} == {"the header"}
    assert len(log) == 5


def test_without_a_header_an_empty_one_arrives() -> None:
    log: list[tuple[str, str, object]] = []
    ScheduleHarness(wired(node(heads(log), "in"), inputs="in")).start().finish()

    assert log == [("Heads", "open", None), ("Heads", "close", None)]


def test_a_back_edge_is_not_waited_for() -> None:
    stop_after = calculator(lambda cc: None, name="Loop")
    harness = ScheduleHarness(
        wired(node(stop_after, "in back", "a", back_edges="back"), node(Nothing, "a", "back"), inputs="in")
    ).start()
    harness.run()

    assert harness.log == ["open Loop", "open Nothing"]


def test_packets_written_in_open_arrive_before_the_reader_opens() -> None:
    early = calculator(open=lambda cc: cc.output.add("early", 0), name="Early")
    seen: list[tuple[int, object]] = []
    keep = calculator(lambda cc: seen.append((int(cc.input_timestamp), cc.input.payload)), name="Keep")
    harness = ScheduleHarness(wired(node(early, "in", "out"), node(keep, "out"), inputs="in")).start()
    first = harness.take()
    harness.complete(harness.call(first))

    assert len(harness.schedule.nodes[1].inputs[0].queue) == 1
    harness.finish()
    assert seen == [(0, "early")]


def test_a_node_waits_for_a_side_packet_that_another_makes() -> None:
    got: list[object] = []

    def make(cc):
        cc.output_side_packets[0].set(cc.input.payload)
        assert harness.ready() == ["Taker"]

    maker = calculator(make, name="Maker")
    taker = calculator(
        lambda cc: STOP, open=lambda cc: got.append(cc.input_side_packets[0].payload), name="Taker"
    )
    harness = ScheduleHarness(
        wired(
            node(maker, "in", side_outputs="made"), node(taker, (), "ticks", side_inputs="made"), inputs="in"
        )
    ).start()
    harness.run()
    assert harness.log == ["open Maker"]

    harness.add("in", "value", 1)
    harness.run()
    assert got == ["value"]
    harness.finish()


def test_a_side_packet_made_in_close_still_opens_the_node_that_waits_for_it() -> None:
    maker = calculator(close=lambda cc: cc.output_side_packets[0].set(1), name="Maker")
    source = calculator(lambda cc: cc.output.add("x", 0) or STOP, name="Source")
    harness = ScheduleHarness(
        wired(
            node(maker, "in", side_outputs="made"), node(source, (), "out", side_inputs="made"), inputs="in"
        )
    ).start()
    harness.finish()

    assert harness.log == ["open Maker", "close Maker", "open Source", "process Source at 0", "close Source"]
    assert harness.carried("out") == [(0, "x")]


def test_a_node_whose_side_packet_never_comes_never_opens_and_the_run_ends_well() -> None:
    taker = calculator(name="Taker")
    harness = ScheduleHarness(
        wired(node(Nothing, "in", side_outputs="made"), node(taker, "in", side_inputs="made"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    harness.finish()

    assert "Taker" not in " ".join(harness.log)


def test_a_side_packet_from_outside_is_there_in_open() -> None:
    got = []
    taker = calculator(open=lambda cc: got.append(cc.input_side_packets["MODEL"].payload), name="Taker")
    model = object()
    ScheduleHarness(
        wired(node(taker, side_inputs="MODEL:model")), side_packets={"model": model}
    ).start().finish()

    assert got == [model]


def test_a_missing_side_packet_is_refused_before_anything_runs() -> None:
    with pytest.raises(
        GraphConfigError, match="side packet 'model' of node 'Nothing' is required but was not given"
    ):
        ScheduleHarness(wired(node(Nothing, side_inputs="MODEL:model")))


def test_an_optional_side_packet_that_nobody_gave_is_absent() -> None:
    seen = []

    def contract(cc):
        cc.input_side_packets["MODEL"].optional()

    taker = calculator(open=lambda cc: seen.append("MODEL" in cc.input_side_packets), contract=contract)
    ScheduleHarness(wired(node(taker, side_inputs="MODEL:model"))).start().finish()
    ScheduleHarness(wired(node(taker, side_inputs="MODEL:model")), side_packets={"model": 1}).start().finish()

    assert seen == [False, True]


def test_a_node_without_streams_is_opened_and_closed_and_never_processed() -> None:
    harness = ScheduleHarness(wired(node(Nothing))).start().finish()

    assert harness.log == ["open Nothing", "close Nothing"]


def test_a_graph_without_nodes_is_over_at_once() -> None:
    assert ScheduleHarness(wired()).start().is_over


def test_a_failing_open_keeps_the_nodes_below_it_unopened() -> None:
    def fail(cc):
        cc.output.add("dropped", 0)
        raise ValueError("no model")

    harness = ScheduleHarness(
        wired(
            node(Nothing, "in", "a", name="above"),
            node(calculator(open=fail, name="Bad"), "a", "b"),
            node(Nothing, "b", name="below"),
            inputs="in",
        )
    ).start()
    with pytest.raises(GraphRunError, match=r"node 'Bad' \(Bad\): open\(\) failed: ValueError: no model"):
        harness.finish()

    assert harness.log == ["open above", "open Bad", "close above"]
    assert harness.carried("b") == []


def test_a_header_can_be_set_in_open_only_and_reaches_every_reader() -> None:
    log: list[tuple[str, str, object]] = []
    setter = calculator(open=lambda cc: cc.output.set_header(Packet("h")), name="Setter")
    ScheduleHarness(
        wired(node(setter, "in", "a"), node(heads(log), "a"), node(heads(log), "a"), inputs="in")
    ).start().finish()

    assert [entry for entry in log if entry[1] == "open"] == [
        ("Heads_1", "open", "h"),
        ("Heads_2", "open", "h"),
    ]


def test_an_output_closed_in_open_is_done_for_its_readers() -> None:
    closer = calculator(open=lambda cc: cc.output.close(), name="Closer")
    harness = ScheduleHarness(wired(node(closer, "in", "a"), node(Nothing, "a"), inputs="in")).start()
    harness.run()

    assert harness.log == ["open Closer", "open Nothing", "close Nothing"]
