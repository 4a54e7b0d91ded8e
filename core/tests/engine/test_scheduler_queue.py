from __future__ import annotations

import pytest

from penstock.engine.outcome import STOP
from penstock_testing import ScheduleHarness, calculator, node, wired

Nothing = calculator(name="Nothing")
Forward = calculator(lambda cc: cc.output.add(cc.input.payload, cc.input_timestamp), name="Forward", offset=0)


def counting(name: str, stamps: list[int], *, log: list[str] | None = None):
    """Make a source that emits at `stamps`, one in each call, and then stops."""

    class State:
        left: list[int]

    def start(cc):
        State.left = list(stamps)

    def emit(cc):
        if log is not None:
            log.append(cc.node_name)
        stamp = State.left.pop(0)
        cc.output.add(stamp, stamp)
        return None if State.left else STOP

    return calculator(emit, open=start, name=name)


def test_open_comes_before_all_else_and_lower_nodes_first() -> None:
    harness = ScheduleHarness(
        wired(
            node(Nothing, "a", name="first"),
            node(Nothing, name="second"),
            node(Nothing, "a", name="third"),
            inputs="a",
        )
    ).start()
    harness.add("a", 1, 1)

    assert harness.ready() == ["first", "second", "third"]


def test_open_of_a_late_node_comes_before_steps_that_wait() -> None:
    maker = calculator(lambda cc: cc.output_side_packets[0].set("s"), name="Maker")
    harness = ScheduleHarness(
        wired(
            node(Nothing, "a", name="busy"),
            node(Nothing, "a", name="late", side_inputs="made"),
            node(maker, "a", side_outputs="made"),
            inputs="a",
        )
    ).start()
    harness.run()
    harness.add("a", 1, 1)
    assert harness.ready() == ["Maker", "busy"]

    harness.complete(harness.call(harness.take()))

    assert harness.ready() == ["late", "busy"]
    harness.finish()
    assert harness.log.index("open late") < harness.log.index("process busy at 1")


def test_of_nodes_with_inputs_the_one_nearest_the_output_comes_first() -> None:
    harness = ScheduleHarness(
        wired(*(node(Nothing, "a", name=f"n{i}") for i in range(4)), inputs="a")
    ).start()
    harness.run()
    harness.add("a", 1, 1)

    assert harness.ready() == ["n3", "n2", "n1", "n0"]


def test_a_chain_carries_one_packet_to_its_end_before_it_takes_the_next() -> None:
    harness = ScheduleHarness(wired(node(Forward, "a", "b"), node(Forward, "b", "c"), inputs="a")).start()
    harness.run()
    harness.log.clear()
    harness.add("a", 1, 1)
    harness.add("a", 2, 2)
    harness.run()

    assert harness.log == [
        "process Forward_1 at 1",
        "process Forward_2 at 1",
        "process Forward_1 at 2",
        "process Forward_2 at 2",
    ]


def test_a_source_waits_until_no_node_with_inputs_is_ready() -> None:
    harness = ScheduleHarness(
        wired(node(counting("Source", [1, 2]), (), "s"), node(Forward, "s", "t"), node(Nothing, "t"))
    ).start()
    harness.finish()

    assert [line for line in harness.log if line.startswith("process")] == [
        "process Source at 0",
        "process Forward at 1",
        "process Nothing at 1",
        "process Source at 0",
        "process Forward at 2",
        "process Nothing at 2",
    ]


def test_of_sources_the_one_furthest_behind_comes_first_and_ties_go_to_the_lower_id() -> None:
    log: list[str] = []
    harness = ScheduleHarness(
        wired(
            node(counting("Slow", [0, 10, 20], log=log), (), "a"),
            node(counting("Fast", [0, 30, 40], log=log), (), "b"),
        )
    ).start()
    harness.finish()

    assert log == ["Slow", "Fast", "Slow", "Fast", "Slow", "Fast"]
    assert [t for t, _ in harness.carried("b")] == [0, 30, 40]


def test_a_source_that_falls_behind_catches_up_before_the_others_go_on() -> None:
    log: list[str] = []
    harness = ScheduleHarness(
        wired(
            node(counting("Sparse", [100, 200], log=log), (), "a"),
            node(counting("Dense", [50, 60, 70, 150], log=log), (), "b"),
        )
    ).start()
    harness.finish()

    assert log == ["Sparse", "Dense", "Dense", "Dense", "Dense", "Sparse"]


def test_a_lower_layer_comes_first_whatever_the_ids_say() -> None:
    harness = ScheduleHarness(
        wired(node(counting("Second", [0]), (), "a", layer=1), node(counting("First", [0]), (), "b"))
    ).start()
    harness.finish()

    assert [line for line in harness.log if line.startswith("process")] == [
        "process First at 0",
        "process Second at 0",
    ]


@pytest.mark.parametrize("seed", range(8))
def test_a_seed_picks_any_ready_step_and_the_same_one_again(seed) -> None:
    def log_of(seed):
        plan = wired(*(node(Nothing, "a", name=f"n{i}") for i in range(5)), inputs="a")
        harness = ScheduleHarness(plan, seed=seed).start()
        harness.add("a", 1, 1)
        harness.finish()
        return harness.log

    assert log_of(seed) == log_of(seed)
    assert sorted(log_of(seed)) == sorted(log_of(None))


def test_different_seeds_take_different_orders() -> None:
    orders = set()
    for seed in range(20):
        plan = wired(*(node(Nothing, "a", name=f"n{i}") for i in range(5)), inputs="a")
        harness = ScheduleHarness(plan, seed=seed).start()
        harness.run()
        orders.add(tuple(harness.log))

    assert len(orders) > 5


def test_each_executor_has_a_queue_of_its_own() -> None:
    plan = wired(
        node(Nothing, "a", name="here"), node(Nothing, "a", name="there", executor="other"), inputs="a"
    )
    harness = ScheduleHarness(plan).start()

    assert [[n.name for n in queue.nodes()] for queue in harness.schedule.queues] == [["here"], ["there"]]
    assert [queue.name for queue in harness.schedule.queues] == ["", "other"]
    assert harness.schedule.queues[1].is_fresh
