"""Loops over inputs. Expected values from the reference's description of the calculators."""

from __future__ import annotations

import re

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, Timestamp
from penstock_calculators.lists.item_loop import BeginItemLoopCalculator, EndItemLoopCalculator
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_testing import ScheduleHarness, node, run_calculator, wired


def begin(*more):
    ins = ["ITEM:0:a", "ITEM:1:b", *(f"CLONE:{name}" for name in more)]
    return node(
        BeginItemLoopCalculator, ins, ["ITEM:i", "BATCH_END:be", *(f"CLONE:{name}c" for name in more)]
    )


def end(item="i"):
    return node(EndItemLoopCalculator, [f"ITEM:{item}", "BATCH_END:be"], ["ITEM:0:x", "ITEM:1:y"])


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def test_items_go_through_the_loop_one_by_one_and_back_to_their_places():
    harness = ScheduleHarness(wired(begin(), end(), inputs="a b"), bounds_of=["i", "be", "x", "y"]).start()

    for timestamp in (10, 20):
        harness.add("a", f"a{timestamp}", timestamp)
        harness.add("b", f"b{timestamp}", timestamp)
        harness.run()
    for stream in "ab":
        harness.set_bound(stream, 31)
        harness.run()

    assert harness.carried("i") == [(0, "a10"), (1, "b10"), (2, "a20"), (3, "b20"), (4, None)]
    assert harness.carried("be") == [(1, 10), (3, 20), (4, 30)]
    assert harness.carried("x") == [(10, "a10"), (20, "a20"), (30, None)]
    assert harness.carried("y") == [(10, "b10"), (20, "b20"), (30, None)]
    assert isinstance(harness.carried("be")[0][1], Timestamp)
    harness.finish()


def test_a_clone_comes_with_every_item_and_as_a_bound_where_it_has_no_packet():
    body = node(PassThroughCalculator, "i kc", "i2 kc2")
    harness = ScheduleHarness(
        wired(begin("k"), body, end("i2"), inputs="a b k"), bounds_of=["kc", "kc2"]
    ).start()
    for timestamp in (1, 2, 3):
        harness.add("a", timestamp, timestamp)
        harness.add("b", -timestamp, timestamp)
    harness.add("k", "k1", 1)
    harness.add("k", "k3", 3)
    harness.finish()

    assert harness.carried("kc") == [(0, "k1"), (1, "k1"), (3, None), (4, "k3"), (5, "k3")]
    assert harness.carried("kc2") == [(0, "k1"), (1, "k1"), (2, None), (3, None), (4, "k3"), (5, "k3")]
    assert harness.carried("x") == [(1, 1), (2, 2), (3, 3)]
    assert harness.carried("y") == [(1, -1), (2, -2), (3, -3)]


def test_a_clone_without_items_is_counted_as_dropped_and_uses_up_a_tick():
    harness = ScheduleHarness(wired(begin("k"), inputs="a b k")).start()
    harness.add("k", "k", 1)
    for stream in "abk":
        harness.add(stream, stream, 2)
    harness.finish()

    (clones,) = harness.stream("k").readers
    assert harness.carried("i") == [(1, "a"), (2, "b")]
    assert harness.carried("be") == [(0, 1), (2, 2)]
    assert (clones.delivered, clones.dropped) == (1, {"no item to go with": 1})


@pytest.mark.parametrize(("a", "b", "missing"), [([(1, 0)], [], r"\[1\]"), ([], [(1, 0)], r"\[0\]")])
def test_some_items_without_the_others_are_refused(a, b, missing):
    with pytest.raises(GraphRunError, match=f"inputs ITEM {missing} have no packet where others have one"):
        run_calculator(BeginItemLoopCalculator, {"ITEM:0": a, "ITEM:1": b}, outputs=["ITEM", "BATCH_END"])


@pytest.mark.parametrize("items", [[(0, "a")], [(0, "a"), (1, "b"), (2, "c")]])
def test_another_number_of_items_than_outputs_is_refused(items):
    with pytest.raises(GraphRunError, match=f"the batch of 9 ends with {len(items)} items, but there are 2"):
        run_calculator(
            EndItemLoopCalculator,
            {"ITEM": items, "BATCH_END": [(items[-1][0], Timestamp(9))]},
            outputs=["ITEM:0", "ITEM:1"],
        )


def test_a_batch_without_items_gives_a_bound_on_all_outputs():
    harness = ScheduleHarness(wired(end(), inputs="i be"), bounds_of=["x", "y"]).start()
    harness.set_bound("i", 1)
    harness.add("be", Timestamp(40), 0)
    harness.run()

    assert harness.carried("x") == harness.carried("y") == [(40, None)]
    harness.finish()


def test_items_that_no_batch_end_follows_are_counted_as_dropped():
    harness = ScheduleHarness(wired(end(), inputs="i be")).start()
    harness.add("i", "a", 0)
    harness.finish()

    (items,) = harness.stream("i").readers
    assert (items.delivered, items.dropped) == (0, {"no batch end followed": 1})


def test_the_output_does_not_depend_on_the_order_of_arrival():
    plan = wired(begin(), node(PassThroughCalculator, "i", "i2"), end("i2"), inputs="a b")

    def drive(harness):
        harness.start()
        for stream in "ab":
            for timestamp in (1, 2, 5):
                harness.add(stream, f"{stream}{timestamp}", timestamp)
                harness.step()
        harness.finish()
        return harness.carried("x"), harness.carried("y")

    seen = [drive(ScheduleHarness(plan, seed=seed, observe=["x", "y"])) for seed in (None, *range(30))]

    wanted = tuple([(timestamp, f"{stream}{timestamp}") for timestamp in (1, 2, 5)] for stream in "ab")
    assert all(one == wanted for one in seen)


@pytest.mark.parametrize(
    ("calculator", "inputs", "outputs", "message"),
    [
        (BeginItemLoopCalculator, {"CLONE": []}, ["ITEM", "BATCH_END", "CLONE"], "ITEM"),
        (BeginItemLoopCalculator, {"ITEM": []}, ["ITEM"], "BATCH_END"),
        (
            BeginItemLoopCalculator,
            {"ITEM": []},
            ["ITEM", "BATCH_END", "CLONE"],
            "there are 1 outputs CLONE, but 0 inputs CLONE",
        ),
        (EndItemLoopCalculator, {"ITEM": []}, ["ITEM"], "BATCH_END"),
        (EndItemLoopCalculator, {"ITEM": [], "BATCH_END": []}, [], "ITEM"),
    ],
)
def test_invalid_ports_of_a_loop_are_refused(calculator, inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(calculator, inputs, outputs=outputs)


def test_the_examples_of_the_docstrings_are_the_two_ends_of_one_loop():
    first, last = (
        one.__doc__.partition("Example config::")[2]
        for one in (BeginItemLoopCalculator, EndItemLoopCalculator)
    )

    graph = CalculatorGraph(
        'input_stream: "left_hand" input_stream: "right_hand" input_stream: "frame"'
        f"{first}"
        'node { calculator: "PassThroughCalculator" input_stream: "hand" output_stream: "gesture" }'
        f"{last}"
    )

    assert set(re.findall(r'calculator: "(\w+)"', graph.text_config)) == {
        "BeginItemLoopCalculator",
        "PassThroughCalculator",
        "EndItemLoopCalculator",
    }
