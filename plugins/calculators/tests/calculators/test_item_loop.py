"""Loops over inputs. Expected values from the reference's description of the calculators."""

from __future__ import annotations

import re

import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, StatusCode, Timestamp
from penstock_calculators.lists.item_loop import BeginItemLoopCalculator, EndItemLoopCalculator
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_testing import ScheduleHarness, calculator, node, run_calculator, wired


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


def increment(cc):
    if not cc.input.is_empty():
        cc.output.add(cc.input.payload + 1, cc.input_timestamp)


def multiply(cc):
    cc.output.add(cc.inputs["A"].payload * cc.inputs["B"].payload, cc.input_timestamp)


def counting_loop(inputs, outputs):
    """Return a loop that adds 1 to each item."""
    return wired(
        node(
            BeginItemLoopCalculator,
            [f"ITEM:{i}:int{i}" for i in range(inputs)],
            ["ITEM:item", "BATCH_END:end"],
        ),
        node(calculator(increment), "item", "item_plus_one"),
        node(
            EndItemLoopCalculator,
            ["ITEM:item_plus_one", "BATCH_END:end"],
            [f"ITEM:{i}:out{i}" for i in range(outputs)],
        ),
        inputs=[f"int{i}" for i in range(inputs)],
    )


def multiplying_loop():
    """Return a loop that multiplies two items by a third number."""
    return wired(
        node(
            BeginItemLoopCalculator,
            ["ITEM:0:int0", "ITEM:1:int1", "CLONE:int2"],
            ["ITEM:item", "CLONE:clone", "BATCH_END:end"],
        ),
        node(calculator(multiply), "A:item B:clone", "product"),
        node(EndItemLoopCalculator, ["ITEM:product", "BATCH_END:end"], ["ITEM:0:out0", "ITEM:1:out1"]),
        inputs="int0 int1 int2",
    )


def looped(plan, *sets):
    """Return what the outputs carry before the run ends, and that the end adds nothing.

    A set is a timestamp and a number for each input, None for a bound.
    """
    outputs = [name for name in plan.stream_ids if name.startswith("out")]
    harness = ScheduleHarness(plan, observe=outputs).start()
    for timestamp, numbers in sets:
        for i, number in enumerate(numbers):
            if number is None:
                harness.set_bound(f"int{i}", timestamp + 1)
            else:
                harness.add(f"int{i}", number, timestamp)
        harness.run()
    carried = [list(harness.carried(name)) for name in outputs]
    harness.finish()
    assert [harness.carried(name) for name in outputs] == carried
    return carried


@pytest.mark.parametrize(
    ("count", "sets", "carried"),
    [
        pytest.param(
            2,
            [],
            [[], []],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.NoItemPackets",
            ),
        ),
        pytest.param(
            3,
            [(0, [None] * 3)],
            [[], [], []],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.AllEmptyItemPackets",
            ),
        ),
        pytest.param(
            3,
            [(0, [None] * 3), (1, [None] * 3)],
            [[], [], []],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.MultipleAllEmptyItemPackets",
            ),
        ),
        pytest.param(
            3,
            [(0, [0, 1, 2])],
            [[(0, 1)], [(0, 2)], [(0, 3)]],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.NonEmptyItemPackets",
            ),
        ),
        pytest.param(
            2,
            [(0, [0, 1]), (1, [2, 3]), (4, [5, 6])],
            [[(0, 1), (1, 3), (4, 6)], [(0, 2), (1, 4), (4, 7)]],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.MultipleInputSets",
            ),
        ),
        pytest.param(
            1,
            [(1000, [None]), (1001, [1])],
            [[(1001, 2)]],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.AllowsArbitraryTimestampChange",
            ),
        ),
    ],
)
def test_numbers_leave_a_loop_that_adds_one_at_their_own_times(count, sets, carried):
    assert looped(counting_loop(count, count), *sets) == carried


@pytest.mark.parametrize(
    ("sets", "carried"),
    [
        pytest.param(
            [],
            [[], []],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.CloneWithNoItemPackets",
            ),
        ),
        pytest.param(
            [(0, [None, None, None])],
            [[], []],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.CloneWithAllEmptyItemPackets",
            ),
        ),
        pytest.param(
            [(0, [None, None, 42])],
            [[], []],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.CloneWithEmptyItemPackets",
            ),
        ),
        pytest.param(
            [(0, [2, 3, 5])],
            [[(0, 10)], [(0, 15)]],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.CloneWithNonEmptyItemPackets",
            ),
        ),
        pytest.param(
            [(0, [1, 2, 5]), (1, [2, 3, 5]), (3, [5, 6, 5])],
            [[(0, 5), (1, 10), (3, 25)], [(0, 10), (1, 15), (3, 30)]],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.CloneWithMultipleInputSets",
            ),
        ),
    ],
)
def test_a_clone_is_a_factor_of_each_item(sets, carried):
    assert looped(multiplying_loop(), *sets) == carried


@pytest.mark.reference(
    "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
    "BeginEndLoopCalculatorGraphItemDeathTest.DISABLED_EmptyCloneWithNonEmptyItemPackets",
)
def test_a_node_that_needs_a_missing_clone_fails():
    with pytest.raises(GraphRunError, match=r"node 'Multiply'.* failed at 0: TypeError: unsupported"):
        looped(multiplying_loop(), (0, [2, 3, None]))


@pytest.mark.parametrize(
    ("plan", "numbers", "message"),
    [
        pytest.param(
            counting_loop(3, 3),
            [0, 1, None],
            r"inputs ITEM \[2\] have no packet where others have one",
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.SomeEmptyItemPackets",
            ),
        ),
        pytest.param(
            multiplying_loop(),
            [None, 3, 5],
            r"inputs ITEM \[0\] have no packet where others have one",
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.CloneWithSomeEmptyItemPackets",
            ),
        ),
        pytest.param(
            counting_loop(2, 3),
            [3, 5],
            "the batch of 0 ends with 2 items, but there are 3 outputs",
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.MoreOutputsThanInputs",
            ),
        ),
        pytest.param(
            counting_loop(3, 2),
            [4, 6, 8],
            "the batch of 0 ends with 3 items, but there are 2 outputs",
            marks=pytest.mark.reference(
                "calculators/core/begin_end_item_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphItemTest.LessOutputsThanInputs",
            ),
        ),
    ],
)
def test_another_number_of_items_is_an_error_with_the_code_of_the_reference(plan, numbers, message):
    with pytest.raises(GraphRunError, match=message) as caught:
        looped(plan, (0, numbers))

    assert caught.value.code is StatusCode.INTERNAL


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
            "the loop has 1 outputs CLONE, but 0 inputs CLONE",
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
