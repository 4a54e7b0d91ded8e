from __future__ import annotations

import pytest

from penstock.engine.input_stream_handler import READY_FOR_CLOSE, InputStreamHandler
from penstock.engine.outcome import STOP
from penstock.errors import GraphRunError, StreamClosedError
from penstock.timestamp import MAX
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Endless = calculator(lambda cc: cc.output.add("x", max(0, cc.output.bound)), name="Endless")


def closed(harness) -> list[str]:
    return [line.removeprefix("close ") for line in harness.log if line.startswith("close")]


# --- STOP -------------------------------------------------------------------------------------


def test_stop_from_a_node_with_inputs_closes_sources_and_graph_inputs_and_ends_well() -> None:
    def stop_at_3(cc):
        return STOP if cc.inputs["IN"].payload == 3 else None

    harness = ScheduleHarness(
        wired(
            node(Endless, (), "ticks"),
            node(calculator(stop_at_3, name="Stopper"), "IN:in"),
            node(Nothing, "ticks", name="below"),
            node(Nothing, "other", name="beside"),
            inputs="in other",
        )
    ).start()
    for stamp in range(4):
        harness.add("in", stamp, stamp)
    for _ in range(20):
        harness.step()
    harness.run()

    assert harness.is_over
    assert harness.errors == []
    assert sorted(closed(harness)) == ["Endless", "Stopper", "below", "beside"]
    with pytest.raises(
        StreamClosedError,
        match="graph input 'other' takes no more: the graph is stopping: node 'Stopper' returned STOP",
    ):
        harness.add("other", 1, 1)


def test_what_is_under_way_at_a_stop_is_still_delivered_to_its_end() -> None:
    def stop_first(cc):
        cc.output.add("stopped", cc.input_timestamp)
        return STOP

    harness = ScheduleHarness(
        wired(node(calculator(stop_first, name="Stopper"), "in", "a"), node(Pass, "a", "b"), inputs="in")
    ).start()
    for stamp in range(3):
        harness.add("in", stamp, stamp)
    harness.run()

    assert harness.carried("b") == [(0, "stopped"), (1, "stopped"), (2, "stopped")]
    assert harness.is_over
    assert harness.errors == []


def test_stop_of_one_source_ends_that_source_alone() -> None:
    once = calculator(lambda cc: cc.output.add("once", 0) or STOP, name="Once")
    harness = ScheduleHarness(wired(node(once, (), "a"), node(Pass, "in", "b"), inputs="in")).start()
    harness.run()
    assert closed(harness) == ["Once"]

    harness.add("in", 1, 1)
    harness.finish()
    assert harness.carried("b") == [(1, 1)]
    assert harness.schedule.stopped_by is None


@pytest.mark.parametrize("method", ["open", "close"])
def test_stop_means_something_from_process_only(method) -> None:
    harness = ScheduleHarness(
        wired(node(calculator(**{method: lambda cc: STOP}, name="N"), "in"), inputs="in")
    )
    with pytest.raises(ValueError, match=rf"node 'N': {method}\(\) returned penstock.STOP"):
        harness.start().finish()


# --- the last closes --------------------------------------------------------------------------


def summary(cc) -> None:
    cc.output.add(f"summary of {cc.node_name}", MAX)


def test_what_close_writes_is_delivered_downstream() -> None:
    writer = calculator(close=summary, name="Writer")
    copy = calculator(
        lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp), close=lambda cc: None, name="Copy"
    )
    plan = wired(node(writer, "in", "a"), node(copy, "a", "b"), inputs="in")

    assert explore(plan, lambda harness: harness.start().finish())["b"] == [(MAX, "summary of Writer")]


def test_nodes_still_open_at_the_end_are_closed_upstream_first_and_their_outputs_delivered() -> None:
    seen = []
    first = calculator(close=summary, name="First")
    keep = calculator(lambda cc: seen.append(cc.inputs[0].payload), close=summary, name="Keep")
    last = calculator(lambda cc: seen.append(cc.input.payload), name="Last")
    harness = ScheduleHarness(
        wired(
            node(first, "in back", "a", back_edges="back"),
            node(keep, "a", "b"),
            node(last, "b"),
            node(Pass, "a", "back"),
            inputs="in",
        )
    ).start()
    harness.finish()

    assert closed(harness)[0] == "First"
    assert seen == ["summary of First", "summary of Keep"]
    assert harness.carried("back") == [(MAX, "summary of First")]


def test_a_node_in_a_cycle_that_never_ends_by_itself_is_closed_and_the_run_ends_well() -> None:
    adder = calculator(
        lambda cc: cc.output.add(sum(p.payload for p in cc.inputs if p.payload), cc.input_timestamp),
        name="Adder",
    )
    delay = calculator(
        lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp + 1),
        open=lambda cc: cc.output.add(0, 0),
        name="Delay",
    )
    plan = wired(
        node(adder, "in old", "sum", back_edges="old", handler=EarlyClose),
        node(delay, "sum", "old"),
        inputs="in",
    )

    def drive(harness):
        harness.start()
        for stamp in range(5):
            harness.add("in", stamp + 1, stamp)
        harness.finish()

    assert explore(plan, drive)["sum"] == [(0, 1), (1, 3), (2, 6), (3, 10), (4, 15)]


class EarlyClose(InputStreamHandler):
    """Closes when any stream is done."""

    def look(self) -> int:
        return READY_FOR_CLOSE if any(stream.is_done() for stream in self.inputs) else super().look()


def test_packets_left_in_the_queues_of_a_closed_node_are_dropped_and_counted() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "a b", handler=EarlyClose), inputs="a b")).start()
    harness.run()
    for stamp in range(3):
        harness.add("a", stamp, stamp)
    harness.close_input("b")
    harness.run()

    assert closed(harness) == ["Nothing"]
    (reader,) = harness.stream("a").readers
    assert (reader.dropped, len(reader.queue)) == ({"the reader had closed": 3}, 0)
    assert harness.freed == 3
    harness.add("a", "more", 9)
    assert (reader.dropped, harness.freed) == ({"the reader had closed": 4}, 4)
    harness.finish()


def test_a_close_that_fails_is_an_error_of_a_run_that_went_well() -> None:
    def fail(cc):
        raise OSError("disk full")

    harness = ScheduleHarness(
        wired(node(calculator(close=fail, name="Bad"), "in"), node(Nothing, "in"), inputs="in")
    )
    with pytest.raises(
        GraphRunError, match=r"node 'Bad' \(Bad\): close\(\) failed: OSError: disk full"
    ) as caught:
        harness.start().finish()

    assert caught.value.timestamp is None
    assert sorted(closed(harness)) == ["Bad", "Nothing"]


def test_the_run_ends_only_when_all_streams_are_closed() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "a"), node(Pass, "a", "b"), inputs="in")).start()
    harness.run()
    assert not harness.is_over
    harness.finish()

    assert all(stream.is_closed for stream in harness.schedule.streams)
