from __future__ import annotations

import itertools
import re

import pytest

from penstock.errors import GraphRunError, PenstockError, StatusCode, UnavailableError
from penstock.timestamp import MAX
from penstock_testing import ScheduleHarness, calculator, node, wired

Nothing = calculator(name="Nothing")
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
Endless = calculator(lambda cc: cc.output.add("x", max(0, cc.output.bound)), name="Endless")


def closed(harness) -> list[str]:
    return [line.removeprefix("close ") for line in harness.log if line.startswith("close")]


def summary(cc) -> None:
    cc.output.add(f"summary of {cc.node_name}", MAX)


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
            node(Pass, "in", "a", name="above"),
            node(failing(method), "a", "b"),
            node(Nothing, "b", name="below"),
            node(Nothing, "in", name="beside"),
            inputs="in",
        ),
        seed=seed,
    ).start()
    harness.add("in", 1, 1)
    with pytest.raises(
        GraphRunError, match=rf"node 'Bad' \(Bad\): {method}\(\) failed.*ValueError: {method} of Bad"
    ):
        harness.finish()

    opened = {line.split()[1] for line in harness.log if line.startswith("open")} - (
        {"Bad"} if method == "open" else set()
    )
    assert sorted(closed(harness)) == sorted(opened)


def test_the_error_names_node_calculator_method_and_time_and_keeps_its_cause() -> None:
    harness = ScheduleHarness(wired(node(failing("process"), "in", name="the_node"), inputs="in")).start()
    harness.add("in", 1, 42)
    with pytest.raises(GraphRunError) as caught:
        harness.finish()

    (error,) = caught.value.errors
    said = "node 'the_node' (Bad): process() failed at 42: ValueError: process of the_node"
    assert re.fullmatch(rf"{re.escape(said)} \(at [a-z_]+\.py:\d+ in \w+\)", str(error))
    assert (error.node, error.timestamp, error.method, error.calculator) == ("the_node", 42, "process", "Bad")
    assert isinstance(error.__cause__, ValueError)
    assert caught.value.__cause__ is error
    assert isinstance(caught.value, ValueError)


def test_what_a_failing_call_wrote_is_dropped() -> None:
    def write_and_fail(cc):
        cc.output.add("dropped", cc.input_timestamp)
        raise ValueError("no")

    harness = ScheduleHarness(
        wired(node(calculator(write_and_fail), "in", "a"), node(Nothing, "a"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    harness.run()

    assert harness.carried("a") == []
    assert "process Nothing" not in " ".join(harness.log)
    assert harness.freed == 1


# --- decision 27: no bound is sent because of a step that failed ------------------------------


def write_far(cc) -> None:
    cc.outputs[0].add("dropped", 30)


def promise_far(cc) -> None:
    cc.outputs[0].set_next_timestamp_bound(30)


def end_stream(cc) -> None:
    cc.outputs[0].close()


def fails_at(stamp: int, before=None, offset=None):
    """Return a calculator that passes packets on, and at `stamp` does something else and fails."""

    def process(cc):
        if cc.input_timestamp == stamp:
            if before is not None:
                before(cc)
            raise ValueError(f"at {stamp}")
        cc.output.add(cc.input.payload, cc.input_timestamp + max(0, offset or 0))

    return calculator(process, name="Bad", offset=offset)


@pytest.mark.parametrize("before", [None, write_far, promise_far, end_stream])
@pytest.mark.parametrize("offset", [None, 0, -1, 3])
def test_a_failed_call_sends_no_bound_neither_what_it_set_nor_what_its_offset_promises(
    offset, before
) -> None:
    looks = calculator(lambda cc: None, name="Looks", process_bounds=True)
    harness = ScheduleHarness(
        wired(node(fails_at(7, before, offset), "in", "out"), node(looks, "out"), inputs="in"),
        bounds_of=["out"],
    ).start()
    harness.add("in", "x", 1)
    harness.run()
    before_it = harness.carried("out"), harness.stream("out").bound, harness.stream("out").readers[0].bound
    harness.add("in", "y", 7)
    harness.complete(harness.call(harness.take()))
    harness.serve_observers()

    assert len(harness.errors) == 1
    after_it = harness.carried("out"), harness.stream("out").bound, harness.stream("out").readers[0].bound
    assert after_it == before_it
    assert not harness.stream("out").is_closed
    harness.run()
    assert harness.is_over
    assert harness.carried("out") == before_it[0]


def test_a_source_that_fails_sends_no_bound() -> None:
    def emit(cc):
        cc.output.add("dropped", 5)
        raise ValueError("no")

    harness = ScheduleHarness(
        wired(node(calculator(emit, offset=0), (), "out"), inputs=""), bounds_of=["out"]
    ).start()
    harness.run()

    assert len(harness.errors) == 1
    assert harness.carried("out") == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
@pytest.mark.parametrize("offset", [None, 0])
def test_of_parallel_calls_nothing_leaves_from_the_failed_one_on_in_whatever_order_they_end(
    offset, order
) -> None:
    harness = ScheduleHarness(
        wired(node(fails_at(2, offset=offset), "in", "out", max_in_flight=4), inputs="in"), bounds_of=["out"]
    ).start()
    harness.run()
    for stamp in range(4):
        harness.add("in", stamp, stamp)
    harness.serve_observers()
    held = [harness.call(harness.take()) for _ in range(4)]
    for number in order:
        harness.complete(held[number])
    harness.run()

    assert harness.carried("out") == [(0, 0), (1, 1)]
    assert harness.is_over
    assert len(harness.errors) == 1


@pytest.mark.parametrize("offset", [None, -1000])
def test_nothing_leaves_after_a_parallel_call_that_wrote_behind_an_earlier_one(offset) -> None:
    stamps = {0: 100, 1: 99, 2: 200}
    worker = calculator(
        lambda cc: cc.output.add("x", stamps[int(cc.input_timestamp)]), name="Worker", offset=offset
    )
    harness = ScheduleHarness(
        wired(node(worker, "in", "out", max_in_flight=3), inputs="in"), bounds_of=["out"]
    ).start()
    harness.run()
    for stamp in stamps:
        harness.add("in", stamp, stamp)
    harness.serve_observers()
    for one in [harness.call(harness.take()) for _ in stamps]:
        harness.complete(one)
    harness.run()

    assert harness.carried("out") == [(100, "x")]
    assert [error.timestamp for error in harness.errors] == [1]


def test_a_step_that_ends_well_after_a_failure_still_sends_its_bound() -> None:
    harness = ScheduleHarness(
        wired(node(failing("process"), "in"), node(Pass, "in", "out"), inputs="in"), bounds_of=["out"]
    ).start()
    harness.run()
    harness.add("in", "x", 3)
    harness.run()

    assert harness.carried("out") == [(3, "x")]
    assert len(harness.errors) == 1


def test_several_errors_of_one_run_come_together_and_none_is_lost() -> None:
    harness = ScheduleHarness(
        wired(
            node(failing("process", "close", name="A"), "in"),
            node(failing("close", name="B"), "in"),
            inputs="in",
        )
    ).start()
    harness.add("in", 1, 1)
    harness.run()
    with pytest.raises(GraphRunError) as caught:
        harness.finish()

    assert [error.node for error in caught.value.errors] == ["A", "A", "B"]
    assert "process of A" in str(caught.value)
    assert "close of B" in str(caught.value)
    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.reference("framework/tool/status_util_test.cc", "StatusTest.CombinedStatus")
@pytest.mark.parametrize(
    ("codes", "common"),
    [
        (["INVALID_ARGUMENT", "INVALID_ARGUMENT"], "INVALID_ARGUMENT"),
        (["NOT_FOUND", "INVALID_ARGUMENT"], "UNKNOWN"),
        (["INVALID_ARGUMENT"], "INVALID_ARGUMENT"),
    ],
)
def test_errors_that_come_together_are_all_told_and_have_their_common_code(codes, common) -> None:
    messages = ["error_with_this_string", "error_with_that_string"]
    errors = [
        PenstockError(message, code=StatusCode[code])
        for message, code in zip(messages[-len(codes) :], codes, strict=True)
    ]

    combined = GraphRunError(errors)

    assert combined.code is StatusCode[common]
    assert all(str(error) in str(combined) for error in errors)
    assert str(combined).startswith("the graph run failed: ")


def test_errors_of_different_kinds_have_no_common_code() -> None:
    def lost(cc):
        raise FileNotFoundError("gone")

    harness = ScheduleHarness(
        wired(node(failing("process"), "in"), node(calculator(close=lost), "in"), inputs="in")
    ).start()
    harness.add("in", 1, 1)
    harness.run()
    with pytest.raises(GraphRunError) as caught:
        harness.finish()

    assert [error.code for error in caught.value.errors] == [
        StatusCode.INVALID_ARGUMENT,
        StatusCode.NOT_FOUND,
    ]
    assert caught.value.code is StatusCode.UNKNOWN


def test_steps_that_were_ready_at_an_error_still_run_and_no_more_become_ready() -> None:
    harness = ScheduleHarness(
        wired(
            node(Pass, "in", "a", name="beside"),
            node(Nothing, "a", name="after"),
            node(failing("process"), "in"),
            inputs="in",
        )
    ).start()
    harness.run()
    harness.add("in", 1, 1)
    harness.run()

    processed = [line for line in harness.log if line.startswith("process")]
    assert processed == ["process Bad at 1", "process beside at 1"]


def test_after_an_error_what_close_writes_is_discarded() -> None:
    harness = ScheduleHarness(
        wired(
            node(calculator(close=summary, name="Writer"), "in", "a"),
            node(Nothing, "a"),
            node(failing("process"), "in"),
            inputs="in",
        )
    ).start()
    harness.add("in", 1, 1)
    harness.run()

    assert harness.is_over
    assert harness.carried("a") == []
    assert "close Writer" in harness.log


def test_a_side_packet_made_after_an_error_opens_nobody() -> None:
    maker = calculator(close=lambda cc: cc.output_side_packets[0].set(1), name="Maker")
    harness = ScheduleHarness(
        wired(
            node(failing("process"), "in"),
            node(maker, "in", side_outputs="made"),
            node(Nothing, side_inputs="made"),
            inputs="in",
        )
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
        wired(node(Endless, (), "ticks"), node(Pass, "ticks", "a"), node(Nothing, "a in"), inputs="in"),
        seed=seed,
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
