"""Loops over lists. Expected values from the reference's description, and from runs of it."""

from __future__ import annotations

import numpy as np
import pytest

from penstock import CalculatorGraph, GraphConfigError, GraphRunError, Packet, Timestamp
from penstock.errors import PacketTypeError
from penstock.packs import default_registry
from penstock_calculators.limiting.gate import GateCalculator
from penstock_calculators.lists.begin_loop import (
    BeginLoopFloatCalculator,
    BeginLoopImageCalculator,
    BeginLoopIntCalculator,
    BeginLoopMatrixVectorCalculator,
    BeginLoopNormalizedRectCalculator,
    BeginLoopTensorCalculator,
)
from penstock_calculators.lists.containers import ListOf
from penstock_calculators.lists.end_loop import (
    EndLoopAffineMatrixCalculator,
    EndLoopBooleanCalculator,
    EndLoopCalculator,
    EndLoopFloatCalculator,
    EndLoopImageCalculator,
    EndLoopImageSizeCalculator,
    EndLoopNormalizedRectCalculator,
    EndLoopRenderDataCalculator,
    EndLoopTensorCalculator,
)
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_formats import Image, ImageFrame, Matrix, NormalizedRect, RenderData, Tensor
from penstock_testing import ScheduleHarness, calculator, node, run_calculator, wired

#: The reference's tests have such a calculator of their own.
EndLoopIntegersCalculator = EndLoopCalculator.named("EndLoopIntegersCalculator", ListOf(int))


def values(packets):
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def begin(**kinds):
    ports = ["ITERABLE:v", *kinds.get("inputs", ())]
    return node(BeginLoopFloatCalculator, ports, ["ITEM:i", "BATCH_END:be", *kinds.get("outputs", ())])


def end(item="i"):
    return node(EndLoopFloatCalculator, [f"ITEM:{item}", "BATCH_END:be"], "ITERABLE:o")


def only_even(cc):
    for port, output in zip(cc.inputs, cc.outputs, strict=True):
        if port.payload % 2 == 0:
            output.add_packet(port.packet)


def test_elements_come_at_the_times_of_the_loop_and_go_back_to_that_of_the_list():
    harness = ScheduleHarness(wired(begin(), end(), inputs="v"), bounds_of=["i", "be", "o"]).start()

    for timestamp, items in [(100, [1.0, 2.0, 3.0]), (200, []), (300, [4.0])]:
        harness.add("v", items, timestamp)
        harness.run()

    assert harness.carried("i") == [(0, 1.0), (1, 2.0), (2, 3.0), (3, None), (4, 4.0)]
    assert harness.carried("be") == [(2, 100), (3, 200), (4, 300)]
    assert harness.carried("o") == [(100, [1.0, 2.0, 3.0]), (200, None), (300, [4.0])]
    harness.finish()


def test_batch_end_carries_a_timestamp():
    run = run_calculator(BeginLoopIntCalculator, {"ITERABLE": [(10, [5])]}, outputs=["ITEM", "BATCH_END"])

    assert [(packet.payload, type(packet.payload)) for packet in run.outputs["BATCH_END"]] == [
        (10, Timestamp)
    ]


def test_a_clone_comes_with_every_element():
    cloned = begin(inputs=["CLONE:k"], outputs=["CLONE:kc"])
    body = node(PassThroughCalculator, "i kc", "i2 kc2")
    harness = ScheduleHarness(
        wired(cloned, body, end("i2"), inputs="v k"), bounds_of=["i", "be", "o", "kc2"]
    ).start()

    for stream, payload, timestamp in [
        ("v", [1.0, 2.0], 10), ("k", 7, 10), ("v", [3.0], 20), ("k", 8, 21), ("v", [], 30),
    ]:  # fmt: skip
        harness.add(stream, payload, timestamp)
        harness.run()
        if timestamp == 21:
            assert harness.carried("kc2") == [(0, 7), (1, 7)]  # nothing settles it for the third element
    harness.finish()

    assert harness.carried("i") == [(0, 1.0), (1, 2.0), (2, 3.0), (3, None), (4, None)]
    assert harness.carried("be") == [(1, 10), (2, 20), (3, 21), (4, 30)]
    assert harness.carried("o") == [(10, [1.0, 2.0]), (20, [3.0]), (21, None), (30, None)]
    assert harness.carried("kc2") == [(0, 7), (1, 7), (2, None), (3, None), (4, None)]


def test_every_clone_goes_to_the_output_of_its_own_index():
    run = run_calculator(
        BeginLoopIntCalculator,
        {"ITERABLE": [(1, [5, 6])], "CLONE:0": [(1, "a")], "CLONE:1": [(1, "b")]},
        outputs=["ITEM", "BATCH_END", "CLONE:0", "CLONE:1"],
    )

    assert values(run.outputs["CLONE:0"]) == [(0, "a"), (1, "a")]
    assert values(run.outputs["CLONE:1"]) == [(0, "b"), (1, "b")]


def test_a_clone_without_elements_is_counted_as_dropped():
    cloned = begin(inputs=["CLONE:k"], outputs=["CLONE:kc"])
    harness = ScheduleHarness(wired(cloned, inputs="v k")).start()
    for timestamp, items in [(1, [1.0]), (2, []), (3, [2.0])]:
        harness.add("v", items, timestamp)
    for timestamp in (1, 2, 3, 4):
        harness.add("k", "k", timestamp)
    harness.finish()

    (clones,), (lists,) = harness.stream("k").readers, harness.stream("v").readers
    assert (clones.delivered, clones.dropped) == (2, {"no item to go with": 2})
    assert (lists.delivered, lists.dropped) == (3, {})


def test_a_loop_that_lets_no_element_through_gives_a_bound():
    filtering = node(calculator(only_even, offset=0), "i", "even")
    harness = ScheduleHarness(wired(begin(), filtering, end("even"), inputs="v"), bounds_of=["o"]).start()

    for timestamp, items in [(1, [1, 3]), (2, [1, 2, 4]), (3, [5])]:
        harness.add("v", items, timestamp)
        harness.run()

    assert harness.carried("o") == [(1, None), (2, [2, 4]), (3, None)]
    harness.finish()


def test_a_timestamp_that_is_settled_without_a_list_moves_the_end_of_the_loop():
    harness = ScheduleHarness(wired(begin(), end(), inputs="v"), bounds_of=["o", "i"]).start()

    harness.set_bound("v", 50)
    harness.run()

    assert harness.carried("o") == [(49, None)]
    assert harness.carried("i") == [(0, None)]
    assert harness.carried("be") == [(0, 49)]
    harness.finish()


def test_input_tick_is_ignored():
    run = run_calculator(
        BeginLoopIntCalculator,
        {"ITERABLE": [(1, [5]), (3, [6])], "TICK": [(1, "t"), (2, "t"), (3, "t")]},
        outputs=["ITEM", "BATCH_END"],
    )

    assert values(run.outputs["ITEM"]) == [(0, 5), (2, 6)]
    assert values(run.outputs["BATCH_END"]) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("special", [Timestamp.PRESTREAM, Timestamp.MIN, Timestamp.MAX, Timestamp.POSTSTREAM])
def test_a_list_at_a_special_timestamp_goes_back_to_it(special):
    harness = ScheduleHarness(wired(begin(), end(), inputs="v")).start()
    harness.add("v", [1.0, 2.0], special)
    harness.finish()

    assert harness.carried("o") == [(special, [1.0, 2.0])]


def test_a_batch_without_items_before_all_others_does_not_end_the_output():
    run = run_calculator(
        EndLoopFloatCalculator,
        {"ITEM": [(1, 0.5)], "BATCH_END": [(0, Timestamp.PRESTREAM), (1, Timestamp(5))]},
        outputs=["ITERABLE"],
    )

    assert values(run.outputs["ITERABLE"]) == [(5, [0.5])]


def test_the_output_of_the_end_of_the_loop_does_not_depend_on_the_order_of_arrival():
    cloned = begin(inputs=["CLONE:k"], outputs=["CLONE:kc"])
    body = node(PassThroughCalculator, "i kc", "i2 kc2")
    plan = wired(cloned, body, end("i2"), inputs="v k")

    def drive(harness):
        harness.start()
        for timestamp, items in [(1, [1.0, 2.0]), (4, []), (5, [3.0]), (9, [4.0])]:
            harness.add("v", items, timestamp)
            harness.step()
        for timestamp in (1, 3, 5, 7):
            harness.add("k", timestamp, timestamp)
            harness.step()
        harness.finish()
        return harness.carried("o")

    seen = [drive(ScheduleHarness(plan, seed=seed, observe=["o"])) for seed in (None, *range(40))]

    assert all(one == [(1, [1.0, 2.0]), (5, [3.0]), (9, [4.0])] for one in seen)


def test_items_that_no_batch_end_follows_are_counted_as_dropped():
    harness = ScheduleHarness(wired(end(), inputs="i be")).start()
    for timestamp in range(4):
        harness.add("i", float(timestamp), timestamp)
    harness.add("be", Timestamp(70), 1)
    harness.finish()

    (items,) = harness.stream("i").readers
    assert harness.carried("o") == [(70, [0.0, 1.0])]
    assert (items.delivered, items.dropped) == (2, {"no batch end followed": 2})


def test_messages_and_matrices_go_through_as_the_same_objects():
    rects = [NormalizedRect(x_center=x, y_center=0, width=1, height=1) for x in (0.25, 0.5)]
    plan = wired(
        node(BeginLoopNormalizedRectCalculator, "ITERABLE:v", "ITEM:i BATCH_END:be"),
        node(EndLoopNormalizedRectCalculator, "ITEM:i BATCH_END:be", "ITERABLE:o"),
        inputs="v",
    )
    harness = ScheduleHarness(plan).start()
    harness.add("v", rects, 1)
    harness.finish()
    matrices = [Matrix(np.zeros((1, 2), np.float32))]
    run = run_calculator(
        BeginLoopMatrixVectorCalculator, {"ITERABLE": [(1, [matrices, []])]}, outputs=["ITEM", "BATCH_END"]
    )

    ((_, out),) = harness.carried("o")
    assert out is not rects
    assert [one is other for one, other in zip(out, rects, strict=True)] == [True, True]
    assert values(run.outputs["ITEM"]) == [(0, matrices), (1, [])]


def test_a_pair_of_width_and_height_is_an_image_size():
    run = run_calculator(
        EndLoopImageSizeCalculator,
        {"ITEM": [(0, (640, 480))], "BATCH_END": [(0, Timestamp(5))]},
        outputs=["ITERABLE"],
    )

    assert values(run.outputs["ITERABLE"]) == [(5, [(640, 480)])]


def test_tensors_and_images_go_around_as_the_same_objects():
    tensors = [Tensor(np.zeros((1, 2, 3), np.int8)), Tensor(np.zeros((), np.float32))]
    images = [Image(ImageFrame(np.zeros((2, 2), np.uint8)))]
    for begins, ends, payload in (
        (BeginLoopTensorCalculator, EndLoopTensorCalculator, tensors),
        (BeginLoopImageCalculator, EndLoopImageCalculator, images),
    ):
        plan = wired(
            node(begins, "ITERABLE:v", "ITEM:i BATCH_END:be"),
            node(ends, "ITEM:i BATCH_END:be", "ITERABLE:o"),
            inputs="v",
        )
        harness = ScheduleHarness(plan).start()
        harness.add("v", payload, 1)
        harness.finish()
        ((_, out),) = harness.carried("o")
        assert [one is other for one, other in zip(out, payload, strict=True)] == [True] * len(payload)


def test_drawings_and_affine_matrices_are_gathered():
    for ends, item in (
        (EndLoopRenderDataCalculator, RenderData()),
        (EndLoopAffineMatrixCalculator, (0.0,) * 16),
    ):
        run = run_calculator(
            ends, {"ITEM": [(0, item)], "BATCH_END": [(0, Timestamp(5))]}, outputs=["ITERABLE"]
        )
        assert values(run.outputs["ITERABLE"]) == [(5, [item])]


def test_an_element_of_another_type_is_refused():
    with pytest.raises(GraphRunError, match=r"holds a 'float', but the stream carries int"):
        run_calculator(BeginLoopIntCalculator, {"ITERABLE": [(1, [1, 0.5])]}, outputs=["ITEM", "BATCH_END"])


def test_an_int_is_not_a_bool_for_the_end_of_a_loop():
    with pytest.raises(PacketTypeError, match=r"'int'.*bool"):
        run_calculator(EndLoopBooleanCalculator, {"ITEM": [(0, 1)], "BATCH_END": []}, outputs=["ITERABLE"])


@pytest.mark.parametrize(
    ("calculator", "inputs", "outputs", "message"),
    [
        (EndLoopFloatCalculator, {"ITEM": []}, ["ITERABLE"], "BATCH_END"),
        (EndLoopFloatCalculator, {"BATCH_END": []}, ["ITERABLE"], "ITEM"),
        (BeginLoopFloatCalculator, {"ITERABLE": []}, ["ITEM"], "BATCH_END"),
        (BeginLoopFloatCalculator, {"CLONE": []}, ["ITEM", "BATCH_END", "CLONE"], "ITERABLE"),
        (
            BeginLoopFloatCalculator,
            {"ITERABLE": [], "CLONE": []},
            ["ITEM", "BATCH_END"],
            "the loop has 0 outputs CLONE, but 1 inputs CLONE; each input needs an output",
        ),
    ],
)
def test_invalid_ports_of_a_loop_are_refused(calculator, inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(calculator, inputs, outputs=outputs)


def test_an_empty_packet_of_a_list_counts_as_no_list():
    run = run_calculator(
        BeginLoopIntCalculator,
        {"ITERABLE": [Packet(timestamp=4), Packet([1], 9)]},
        outputs=["ITEM", "BATCH_END"],
    )

    assert values(run.outputs["ITEM"]) == [(1, 1)]
    assert values(run.outputs["BATCH_END"]) == [(0, 4), (1, 9)]


def increment(cc):
    cc.output.add(cc.input.payload + 1, cc.input_timestamp)


def multiply(cc):
    first, second = cc.inputs
    cc.output.add(first.payload * second.payload, cc.input_timestamp)


def list_or_none(cc):
    cc.output.add([] if cc.input.is_empty() else cc.input.payload, cc.input_timestamp)


def copy_tensor(cc):
    cc.output.add(Tensor(cc.input.payload.array.copy()), cc.input_timestamp)


IncrementCalculator = calculator(increment, offset=0, name="IncrementCalculator")


def counting_loop(iterable):
    """Return the nodes of a loop that adds 1."""
    return [
        node(BeginLoopIntCalculator, f"ITERABLE:{iterable}", "ITEM:int BATCH_END:end"),
        node(IncrementCalculator, "int", "int_plus_one"),
        node(EndLoopIntegersCalculator, "ITEM:int_plus_one BATCH_END:end", "ITERABLE:ints_plus_one"),
    ]


def looped(plan, output, feed):
    """Return what an output carries before the run ends, and that the end adds nothing.

    A feed has a dictionary for each timestamp, None to wait until idle.
    """
    harness = ScheduleHarness(plan, observe=[output]).start()
    for step in feed:
        if step is None:
            harness.run()
        else:
            timestamp, payloads = step
            for stream, payload in payloads.items():
                harness.add(stream, payload, timestamp)
    harness.run()
    carried = list(harness.carried(output))
    harness.finish()
    assert harness.carried(output) == carried
    return carried


@pytest.mark.parametrize(
    ("lists", "carried"),
    [
        pytest.param(
            [],
            [],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphTest.InputStreamForIterableIsEmpty",
            ),
        ),
        pytest.param(
            [(0, [])],
            [],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphTest.SingleEmptyVector",
            ),
        ),
        pytest.param(
            [(0, [0, 1, 2])],
            [(0, [1, 2, 3])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphTest.SingleNonEmptyVector",
            ),
        ),
        pytest.param(
            [(0, [0, 1]), (1, []), (2, [2, 3])],
            [(0, [1, 2]), (2, [3, 4])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphTest.MultipleVectors",
            ),
        ),
    ],
)
def test_each_element_goes_through_the_loop(lists, carried):
    plan = wired(*counting_loop("ints"), inputs="ints")

    assert looped(plan, "ints_plus_one", [(at, {"ints": items}) for at, items in lists]) == carried


@pytest.mark.parametrize(
    ("lists", "carried"),
    [
        pytest.param(
            [(0, []), None],
            [(0, [])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphProcessingEmptyPacketsTest.SingleEmptyVector",
            ),
        ),
        pytest.param(
            [(0, [0, 1, 2]), None],
            [(0, [1, 2, 3])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphProcessingEmptyPacketsTest.SingleNonEmptyVector",
            ),
        ),
        pytest.param(
            [(0, []), None, (1, [0, 1]), (2, []), None, (3, [2, 3]), (4, []), None],
            [(0, []), (1, [1, 2]), (2, []), (3, [3, 4]), (4, [])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphProcessingEmptyPacketsTest.MultipleVectors",
            ),
        ),
    ],
)
def test_a_bound_goes_through_the_loop_to_its_reader(lists, carried):
    plan = wired(
        node(GateCalculator, "ints DISALLOW:hold", "passed"),
        *counting_loop("passed"),
        node(calculator(list_or_none, offset=0, process_bounds=True), "ints_plus_one", "out"),
        inputs="ints hold",
    )
    feed = [one and (one[0], {"hold": not one[1], "ints": one[1]}) for one in lists]

    assert looped(plan, "out", feed) == carried


@pytest.mark.parametrize(
    ("feed", "carried"),
    [
        pytest.param(
            [(42, {"multiplier": 2})],
            [],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphWithClonedInputsTest.InputStreamForIterableIsEmpty",
            ),
        ),
        pytest.param(
            [(0, {"ints": [], "multiplier": 2})],
            [],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphWithClonedInputsTest.SingleEmptyVector",
            ),
        ),
        pytest.param(
            [(42, {"ints": [0, 1, 2], "multiplier": 2})],
            [(42, [0, 2, 4])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphWithClonedInputsTest.SingleNonEmptyVector",
            ),
        ),
        pytest.param(
            [
                (42, {"ints": [0, 1], "multiplier": 2}),
                (43, {"ints": [], "multiplier": 2}),
                (44, {"ints": [2, 3], "multiplier": 3}),
            ],
            [(42, [0, 2]), (44, [6, 9])],
            marks=pytest.mark.reference(
                "calculators/core/begin_end_loop_calculator_graph_test.cc",
                "BeginEndLoopCalculatorGraphWithClonedInputsTest.MultipleVectors",
            ),
        ),
    ],
)
def test_a_clone_is_a_factor_of_each_element(feed, carried):
    plan = wired(
        node(BeginLoopIntCalculator, "ITERABLE:ints CLONE:multiplier", "ITEM:int CLONE:factor BATCH_END:end"),
        node(calculator(multiply, offset=0), "int factor", "product"),
        node(EndLoopIntegersCalculator, "ITEM:product BATCH_END:end", "ITERABLE:products"),
        inputs="ints multiplier",
    )

    assert looped(plan, "products", feed) == carried


@pytest.mark.reference(
    "calculators/core/begin_end_loop_calculator_graph_test.cc",
    "BeginEndLoopCalculatorPossibleDataRaceTest.EndLoopForIntegersDoesNotRace",
)
def test_items_that_another_node_reads_too_are_left_as_they_are():
    registry = default_registry().child()
    for one in (BeginLoopIntCalculator, IncrementCalculator, EndLoopIntegersCalculator):
        registry.add("calculator", one.__name__, one)
    graph = CalculatorGraph(
        """
        num_threads: 4
        input_stream: "ints"
        node {
          calculator: "BeginLoopIntCalculator"
          input_stream: "ITERABLE:ints"
          output_stream: "ITEM:int"
          output_stream: "BATCH_END:end"
        }
        node { calculator: "IncrementCalculator" input_stream: "int" output_stream: "plus_one" }
        node {
          calculator: "EndLoopIntegersCalculator"
          input_stream: "ITEM:plus_one"
          input_stream: "BATCH_END:end"
          output_stream: "ITERABLE:ones"
        }
        node { calculator: "IncrementCalculator" input_stream: "plus_one" output_stream: "plus_two" }
        node {
          calculator: "EndLoopIntegersCalculator"
          input_stream: "ITEM:plus_two"
          input_stream: "BATCH_END:end"
          output_stream: "ITERABLE:twos"
        }
        """,
        registry=registry,
    )
    seen = {"ones": [], "twos": []}
    for name in seen:
        graph.observe_output_stream(name, lambda stream, packet: seen[stream].append(packet))
    graph.start_run()
    for i in range(100):
        graph.add_packet_to_input_stream("ints", Packet([i, i + 1, i + 2], i))
        graph.wait_until_idle(20)
        assert values(seen["ones"]) == [(i, [i + 1, i + 2, i + 3])]
        assert values(seen["twos"]) == [(i, [i + 2, i + 3, i + 4])]
        for packets in seen.values():
            packets.clear()
    graph.close(20)


@pytest.mark.reference(
    "calculators/core/begin_end_loop_calculator_graph_test.cc",
    "BeginEndTensorLoopCalculatorGraphTest.SingleNonEmptyVector",
)
def test_tensors_that_a_loop_copies_are_gathered():
    plan = wired(
        node(BeginLoopTensorCalculator, "ITERABLE:tensors", "ITEM:tensor BATCH_END:end"),
        node(calculator(copy_tensor, offset=0), "tensor", "copy"),
        node(EndLoopTensorCalculator, "ITEM:copy BATCH_END:end", "ITERABLE:copies"),
        inputs="tensors",
    )
    tensors = [Tensor(np.full((4, 3, 2, 1), i, np.float32)) for i in range(4)]

    ((timestamp, copies),) = looped(plan, "copies", [(0, {"tensors": tensors})])

    assert timestamp == 0
    assert [copy.array.shape for copy in copies] == [(4, 3, 2, 1)] * 4
    assert [np.unique(copy.array).tolist() for copy in copies] == [[0], [1], [2], [3]]
