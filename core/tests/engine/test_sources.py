from __future__ import annotations

import pytest

from penstock.engine.outcome import STOP
from penstock.errors import GraphRunError, StatusCode
from penstock.timestamp import Timestamp
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

Nothing = calculator(name="Nothing")


def counted(counter: list[int], count: int, *, in_open: int = 0):
    """Make a source that emits numbers of a shared counter, `count` of them, at the same timestamps."""

    def emit(cc):
        cc.output.add(counter[0], counter[0])
        counter[0] += 1

    class Left:
        now = count

    def open_(cc):
        Left.now = count - in_open
        for _ in range(in_open):
            emit(cc)

    def process(cc):
        emit(cc)
        Left.now -= 1
        return None if Left.now else STOP

    return calculator(process, open=open_, name="Counted")


def values(harness, stream):
    return [payload for _, payload in harness.carried(stream)]


def test_a_source_runs_until_it_says_stop_and_its_last_packets_are_delivered() -> None:
    harness = ScheduleHarness(wired(node(counted([0], 3), (), "out"), node(Nothing, "out"))).start().finish()

    assert harness.carried("out") == [(0, 0), (1, 1), (2, 2)]
    assert harness.log[-3:] == ["close Counted", "process Nothing at 2", "close Nothing"] or harness.log[
        -3:
    ] == [
        "process Nothing at 2",
        "close Counted",
        "close Nothing",
    ]


def test_a_source_sees_timestamp_0_in_process() -> None:
    stamps = []
    note = lambda cc: stamps.append(cc.input_timestamp) or None  # noqa: E731  # twice the same
    source = calculator(lambda cc: note(cc) or STOP, open=note, close=note)
    ScheduleHarness(wired(node(source, (), "out"))).start().finish()

    assert stamps == [Timestamp.UNSTARTED, 0, Timestamp.DONE]


def test_layers_run_one_after_another_and_sources_of_one_layer_take_turns() -> None:
    counter = [0]
    harness = ScheduleHarness(
        wired(
            node(counted(counter, 5), (), "a", layer=0),
            node(counted(counter, 5), (), "b", layer=1),
            node(counted(counter, 5), (), "c", layer=1),
            node(counted(counter, 5), (), "d", layer=2),
        )
    ).start()
    harness.finish()

    assert values(harness, "a") == [0, 1, 2, 3, 4]
    for i, pair in enumerate(zip(values(harness, "b"), values(harness, "c"), strict=True)):
        assert sorted(pair) == [5 + 2 * i, 6 + 2 * i]
    assert values(harness, "d") == [15, 16, 17, 18, 19]


@pytest.mark.parametrize("seed", range(6))
def test_a_layer_waits_for_all_work_of_the_one_before(seed) -> None:
    first, second = counted([0], 3), counted([0], 2)
    plan = wired(
        node(second, (), "late", name="Second", layer=1),
        node(first, (), "early", name="First"),
        node(calculator(lambda cc: cc.output.add(1, cc.input_timestamp), name="Work"), "early", "worked"),
        node(Nothing, "worked"),
    )
    harness = ScheduleHarness(plan, seed=seed).start().finish()

    processed = [line.split()[1] for line in harness.log if line.startswith("process")]
    assert set(processed[: processed.index("Second")]) == {"First", "Work", "Nothing"}
    assert processed.count("Nothing") == 3
    assert set(processed[processed.index("Second") :]) == {"Second"}


def test_a_layer_is_kept_when_throttled() -> None:
    counter = [0]
    harness = ScheduleHarness(
        wired(
            node(counted(counter, 5), (), "a"),
            node(counted(counter, 5, in_open=1), (), "b", layer=1),
            node(Nothing, "a b"),
            max_queue_size=1,
        )
    ).start()
    harness.finish()

    assert values(harness, "b") == [0, 6, 7, 8, 9]
    assert values(harness, "a") == [1, 2, 3, 4, 5]


def test_a_lower_layer_that_waits_for_a_higher_one_is_reported_as_a_deadlock() -> None:
    maker = calculator(lambda cc: cc.output_side_packets[0].set(1) or STOP, name="Maker")
    harness = ScheduleHarness(
        wired(
            node(maker, (), "a", side_outputs="made", layer=1),
            node(counted([0], 1), (), "b", side_inputs="made", name="Early"),
        )
    ).start()
    with pytest.raises(
        GraphRunError,
        match=r"deadlock: source node 'Maker' in layer 1 cannot start, because source node 'Early' in",
    ) as caught:
        harness.finish()

    assert caught.value.code is StatusCode.UNKNOWN
    assert caught.value.node == "Maker"
    assert "process" not in " ".join(harness.log)
    assert "close Maker" in harness.log


def test_a_layer_that_waits_goes_on_when_the_side_packet_comes_from_outside_the_layers() -> None:
    maker = calculator(lambda cc: cc.output_side_packets[0].set(1), name="Maker")
    harness = ScheduleHarness(
        wired(
            node(maker, "in", side_outputs="made"),
            node(counted([0], 1), (), "late", layer=1, name="Late"),
            node(counted([0], 1), (), "early", side_inputs="made", name="Early"),
            inputs="in",
        )
    ).start()
    harness.run()
    assert "process" not in " ".join(harness.log)

    harness.add("in", 1, 1)
    harness.finish()
    assert harness.log.index("process Early at 0") < harness.log.index("process Late at 0")


def test_sources_of_one_graph_give_the_same_under_every_order() -> None:
    def emit(name, stamps):
        class Left:
            now: list[int]

        def open_(cc):
            Left.now = list(stamps)

        def process(cc):
            if not Left.now:
                return STOP
            cc.output.add(name, Left.now.pop(0))
            return None

        return calculator(process, open=open_, name=name)

    join = calculator(
        lambda cc: cc.output.add(tuple(port.payload for port in cc.inputs), cc.input_timestamp), name="Join"
    )
    plan = wired(
        node(emit("A", [1, 3, 5]), (), "a"),
        node(emit("B", [2, 3, 4, 8]), (), "b"),
        node(join, "a b", "c"),
        max_queue_size=1,
    )

    assert explore(plan, lambda harness: harness.start().finish())["c"] == [
        (1, ("A", None)),
        (2, (None, "B")),
        (3, ("A", "B")),
        (4, (None, "B")),
        (5, ("A", None)),
        (8, (None, "B")),
    ]


def test_closing_the_sources_closes_them_before_their_next_step() -> None:
    endless = calculator(
        lambda cc: cc.output.add(1, cc.outputs.items[0].bound if cc.output.bound > 0 else 0), name="Endless"
    )
    harness = ScheduleHarness(wired(node(endless, (), "out"), node(Nothing, "in out"), inputs="in")).start()
    for _ in range(8):
        harness.step()
    harness.close_sources()
    harness.run()

    assert harness.is_over
    assert harness.errors == []
    assert harness.log.count("close Endless") == 1
    assert "close Nothing" in harness.log


def test_sources_that_never_started_are_closed_too() -> None:
    harness = ScheduleHarness(
        wired(node(counted([0], 1), (), "a"), node(counted([0], 1), (), "b", layer=3, name="Late"))
    ).start()
    harness.close_sources()
    harness.finish()

    assert sorted(harness.log) == ["close Counted", "close Late", "open Counted", "open Late"]


@pytest.mark.reference("framework/calculator_base_test.cc", "CalculatorTest.SourceProcessOrder")
def test_a_source_is_as_far_behind_as_the_least_bound_of_its_outputs() -> None:
    def begin(cc):
        cc.outputs[0].set_next_timestamp_bound(10)
        cc.outputs[1].set_next_timestamp_bound(11)

    source = calculator(lambda cc: cc.outputs[0].set_next_timestamp_bound(100), open=begin, name="TwoOutputs")
    harness = ScheduleHarness(wired(node(source, (), "a b"))).start()
    harness.step()
    assert harness.node("TwoOutputs").behind() == 10
    harness.step()
    assert harness.node("TwoOutputs").behind() == 11
