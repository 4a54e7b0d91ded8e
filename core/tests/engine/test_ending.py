from __future__ import annotations

import pytest

from penstock.engine.calculator import STOP
from penstock.engine.policy import READY_FOR_CLOSE, InputStreamHandler
from penstock.engine.timestamp import MAX
from penstock.errors import GraphRunError, StatusCode, StreamClosedError, UnavailableError
from penstock.testing import ScheduleHarness, calculator, explore, node, wired

Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Endless = calculator(
    lambda cc: cc.output.add("x", max(0, cc.output.bound)), name="Endless"
)


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
            node(Nothing, "ticks other"),
            inputs="in other",
            max_queue_size=1,
        )
    ).start()
    for stamp in range(4):
        harness.add("in", stamp, stamp)
        harness.run()

    assert harness.is_over
    assert harness.errors == []
    assert sorted(closed(harness)) == ["Endless", "Nothing", "Stopper"]
    with pytest.raises(StreamClosedError, match="graph input 'other' takes no more: the graph is stopping: node 'Stopper' returned STOP"):
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
    harness = ScheduleHarness(wired(node(calculator(**{method: lambda cc: STOP}, name="N"), "in"), inputs="in"))
    with pytest.raises(ValueError, match=rf"node 'N': {method}\(\) returned penstock.STOP"):
        harness.start().finish()


# --- the last closes --------------------------------------------------------------------------


def summary(cc) -> None:
    cc.output.add(f"summary of {cc.node_name}", MAX)


def test_what_close_writes_is_delivered_downstream() -> None:
    writer = calculator(close=summary, name="Writer")
    copy = calculator(lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp), close=lambda cc: None, name="Copy")
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
        lambda cc: cc.output.add(sum(p.payload for p in cc.inputs if p.payload), cc.input_timestamp), name="Adder"
    )
    delay = calculator(
        lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp + 1), open=lambda cc: cc.output.add(0, 0), name="Delay"
    )
    plan = wired(
        node(adder, "in old", "sum", back_edges="old", handler=EarlyClose), node(delay, "sum", "old"), inputs="in"
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


def test_packets_left_in_the_queues_of_a_closed_node_are_let_go_and_counted() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "a b", handler=EarlyClose), inputs="a b")).start()
    harness.run()
    for stamp in range(3):
        harness.add("a", stamp, stamp)
    harness.close_input("b")
    harness.run()

    assert closed(harness) == ["Nothing"]
    (reader,) = harness.stream("a").readers
    assert (reader.dropped, len(reader.queue)) == (3, 0)
    assert harness.freed == 3
    harness.add("a", "more", 9)
    assert (reader.dropped, harness.freed) == (4, 4)
    harness.finish()


def test_a_close_that_fails_is_an_error_of_a_run_that_went_well() -> None:
    def fail(cc):
        raise OSError("disk full")

    harness = ScheduleHarness(wired(node(calculator(close=fail, name="Bad"), "in"), node(Nothing, "in"), inputs="in"))
    with pytest.raises(GraphRunError, match=r"node 'Bad' \(Bad\): close\(\) failed: OSError: disk full") as caught:
        harness.start().finish()

    assert caught.value.timestamp is None
    assert sorted(closed(harness)) == ["Bad", "Nothing"]


def test_the_run_ends_only_when_all_streams_are_closed() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "a"), node(Pass, "a", "b"), inputs="in")).start()
    harness.run()
    assert not harness.is_over
    harness.finish()

    assert all(stream.is_closed for stream in harness.schedule.streams)


# --- errors -----------------------------------------------------------------------------------


def failing(*methods: str, name: str = "Bad"):
    def fail(method):
        def run(cc):
            raise ValueError(f"{method} of {cc.node_name}")

        return run

    return calculator(**{method: fail(method) for method in methods}, name=name)


@pytest.mark.parametrize("seed", [None, *range(6)])
@pytest.mark.parametrize("method", ["open", "process", "close"])
def test_whatever_fails_every_opened_calculator_is_closed_exactly_once(method, seed) -> None:
    harness = ScheduleHarness(
        wired(
            node(Pass, "in", "a", name="above"), node(failing(method), "a", "b"), node(Nothing, "b", name="below"),
            node(Nothing, "in", name="beside"), inputs="in",
        ),
        seed=seed,
    ).start()  # fmt: skip
    harness.add("in", 1, 1)
    with pytest.raises(GraphRunError, match=rf"node 'Bad' \(Bad\): {method}\(\) failed.*ValueError: {method} of Bad"):
        harness.finish()

    opened = {line.split()[1] for line in harness.log if line.startswith("open")} - ({"Bad"} if method == "open" else set())
    assert sorted(closed(harness)) == sorted(opened)


def test_the_error_names_node_calculator_method_and_time_and_keeps_its_cause() -> None:
    harness = ScheduleHarness(wired(node(failing("process"), "in", name="the_node"), inputs="in")).start()
    harness.add("in", 1, 42)
    with pytest.raises(GraphRunError) as caught:
        harness.finish()

    (error,) = caught.value.errors
    assert str(error) == "node 'the_node' (Bad): process() failed at 42: ValueError: process of the_node"
    assert (error.node, error.timestamp, error.method, error.calculator) == ("the_node", 42, "process", "Bad")
    assert isinstance(error.__cause__, ValueError)
    assert caught.value.__cause__ is error
    assert isinstance(caught.value, ValueError)


def test_what_a_failing_call_wrote_is_dropped() -> None:
    def write_and_fail(cc):
        cc.output.add("dropped", cc.input_timestamp)
        raise ValueError("no")

    harness = ScheduleHarness(wired(node(calculator(write_and_fail), "in", "a"), node(Nothing, "a"), inputs="in")).start()
    harness.add("in", 1, 1)
    harness.run()

    assert harness.carried("a") == []
    assert "process Nothing" not in " ".join(harness.log)
    assert harness.freed == 1


def test_several_errors_of_one_run_come_together_and_none_is_lost() -> None:
    harness = ScheduleHarness(
        wired(node(failing("process", "close", name="A"), "in"), node(failing("close", name="B"), "in"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    with pytest.raises(GraphRunError) as caught:
        harness.finish()

    assert [error.node for error in caught.value.errors] == ["A", "A", "B"]
    assert "process of A" in str(caught.value)
    assert "close of B" in str(caught.value)
    assert caught.value.code is StatusCode.INVALID_ARGUMENT


def test_errors_of_different_kinds_have_no_common_code() -> None:
    def lost(cc):
        raise FileNotFoundError("gone")

    harness = ScheduleHarness(
        wired(node(failing("process"), "in"), node(calculator(close=lost), "in"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    with pytest.raises(GraphRunError) as caught:
        harness.finish()

    assert [error.code for error in caught.value.errors] == [StatusCode.INVALID_ARGUMENT, StatusCode.NOT_FOUND]
    assert caught.value.code is StatusCode.UNKNOWN


def test_steps_that_were_ready_at_an_error_still_run_and_no_more_become_ready() -> None:
    harness = ScheduleHarness(
        wired(node(Pass, "in", "a", name="beside"), node(Nothing, "a", name="after"), node(failing("process"), "in"), inputs="in")
    ).start()
    harness.run()
    harness.add("in", 1, 1)
    harness.run()

    processed = [line for line in harness.log if line.startswith("process")]
    assert processed == ["process Bad at 1", "process beside at 1"]


def test_after_an_error_what_close_writes_is_discarded() -> None:
    harness = ScheduleHarness(
        wired(node(calculator(close=summary, name="Writer"), "in", "a"), node(Nothing, "a"), node(failing("process"), "in"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    harness.run()

    assert harness.is_over
    assert harness.carried("a") == []
    assert "close Writer" in harness.log


def test_a_side_packet_made_after_an_error_opens_nobody() -> None:
    maker = calculator(close=lambda cc: cc.output_side_packets[0].set(1), name="Maker")
    harness = ScheduleHarness(
        wired(node(failing("process"), "in"), node(maker, "in", side_outputs="made"), node(Nothing, side_inputs="made"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    harness.run()

    assert "open Nothing" not in harness.log
    assert harness.is_over


def test_a_source_that_fails_has_no_input_timestamp_to_name() -> None:
    harness = ScheduleHarness(wired(node(failing("process"), (), "out"))).start()
    with pytest.raises(GraphRunError, match=r"process\(\) failed: ValueError") as caught:
        harness.finish()

    assert caught.value.timestamp is None


# --- cancel, pause, errors from outside -------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("steps", [0, 1, 4, 9])
def test_cancelling_at_any_time_ends_with_one_close_each(steps, seed) -> None:
    harness = ScheduleHarness(
        wired(node(Endless, (), "ticks"), node(Pass, "ticks", "a"), node(Nothing, "a in"), inputs="in"), seed=seed
    ).start()
    for _ in range(steps):
        harness.step()
    harness.cancel()
    harness.run()

    assert harness.is_over
    opened = {line.split()[1] for line in harness.log if line.startswith("open")}
    assert sorted(closed(harness)) == sorted(opened)
    assert [error.code for error in harness.errors] == [StatusCode.CANCELLED]
    with pytest.raises(GraphRunError, match="the run was cancelled") as caught:
        harness.finish()
    assert caught.value.code is StatusCode.CANCELLED


def test_cancelling_a_run_that_is_over_changes_nothing() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "in"), inputs="in")).start().finish()
    harness.cancel()

    assert harness.errors == []


def test_a_paused_run_gives_out_no_steps_and_goes_on_when_resumed() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "a"), node(Pass, "a", "b"), inputs="in")).start()
    harness.run()
    harness.add("in", 1, 1)
    running = harness.take()
    harness.pause()
    harness.complete(harness.call(running))
    harness.serve_observers()
    assert harness.take() is None
    assert harness.ready() == ["Pass_2"]
    harness.add("in", 2, 2)

    harness.resume()
    harness.finish()
    assert harness.carried("b") == [(1, 1), (2, 2)]


def test_pausing_before_the_end_holds_the_end_back() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "in"), inputs="in")).start()
    harness.run()
    harness.pause()
    harness.close_input()
    harness.run()
    assert not harness.is_over

    harness.resume()
    harness.run()
    assert harness.is_over


def test_cancelling_a_paused_run_ends_it() -> None:
    harness = ScheduleHarness(wired(node(Pass, "in", "a"), inputs="in")).start()
    harness.run()
    harness.add("in", 1, 1)
    harness.pause()
    harness.cancel()
    harness.run()

    assert harness.is_over
    assert closed(harness) == ["Pass"]


def test_a_failed_run_cannot_be_paused_and_ends() -> None:
    harness = ScheduleHarness(wired(node(Nothing, "in"), inputs="in")).start()
    harness.run()
    harness.fail(UnavailableError("the camera is gone"))
    harness.pause()
    harness.run()

    assert harness.is_over
    assert closed(harness) == ["Nothing"]
    assert [str(error) for error in harness.errors] == ["the camera is gone"]
