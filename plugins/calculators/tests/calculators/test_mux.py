"""Expected values from the reference's description of the calculator."""

from __future__ import annotations

import pytest

from penstock import GraphConfigError, GraphRunError
from penstock_calculators.routing.mux import MuxCalculator
from penstock_stream_handlers.mux import MuxInputStreamHandler
from penstock_testing import OneSetInputStreamHandler, ScheduleHarness, explore, node, run_calculator, wired

ROWS = [
    (1, 1, 2, 1), (3, 5, 8, 2), (13, 21, 34, 0), (55, 89, 144, 2),
    (233, 377, 610, 0), (987, 1597, 2584, 1), (4181, 6765, 10946, 2),
]  # fmt: skip
SELECTED = [1, 8, 13, 144, 233, 1597, 10946]
INPUTS = "INPUT:0:a INPUT:1:b INPUT:2:c SELECT:s"


def mux(handler):
    return wired(node(MuxCalculator, INPUTS, "OUTPUT:out", handler=handler), inputs="a b c s")


def feed(harness):
    harness.start()
    for timestamp, row in enumerate(ROWS):
        for stream, value in zip("abcs", row, strict=True):
            harness.add(stream, value, timestamp)
            harness.step()


@pytest.mark.parametrize("handler", [OneSetInputStreamHandler, MuxInputStreamHandler])
def test_the_selected_input_comes_out_under_every_order_with_either_policy(handler):
    carried = explore(mux(handler), lambda harness: (feed(harness), harness.finish()), seeds=range(12))

    assert carried["out"] == list(enumerate(SELECTED))


def test_inputs_that_are_not_selected_are_not_waited_for():
    harness = ScheduleHarness(mux(MuxInputStreamHandler), bounds_of=["out"]).start()
    harness.add("s", 1, 1)
    harness.add("b", "B", 1)
    harness.run()

    assert harness.carried("out") == [(1, "B")]
    harness.finish()


def test_a_selected_input_without_a_packet_gives_a_bound():
    harness = ScheduleHarness(mux(MuxInputStreamHandler), bounds_of=["out"]).start()
    harness.add("s", 0, 1)
    harness.add("a", "late", 5)
    harness.run()

    assert harness.carried("out") == [(1, None)]
    harness.finish()


def test_the_contract_asks_for_the_mux_policy_only_where_a_stream_selects():
    requests = {}

    class Spy(MuxCalculator):
        @classmethod
        def get_contract(cls, cc):
            super().get_contract(cc)
            requests["SELECT" in cc.inputs] = cc.input_stream_handler

    wired(node(Spy, INPUTS, "OUTPUT:out"), inputs="a b c s")
    wired(node(Spy, "INPUT:a", "OUTPUT:out", side_inputs="SELECT:s"), inputs="a")

    assert requests[True].name == "MuxInputStreamHandler"
    assert requests[False] is None


def test_a_side_packet_selects_for_the_whole_run():
    run = run_calculator(
        MuxCalculator,
        {"INPUT:0": [(1, "a"), (2, "b")], "INPUT:1": [(1, "A"), (3, "C")]},
        outputs=["OUTPUT"],
        side_packets={"SELECT": 1},
    )

    assert [(packet.stamp, packet.payload) for packet in run.outputs["OUTPUT"]] == [(1, "A"), (3, "C")]


def test_what_is_not_selected_is_counted_as_dropped():
    harness = ScheduleHarness(mux(OneSetInputStreamHandler))
    feed(harness)
    harness.add("a", 0, 100)  # no SELECT there
    harness.finish()

    dropped = [harness.stream(stream).readers[0].dropped for stream in "abcs"]
    assert dropped == [{"not selected": 6}, {"not selected": 5}, {"not selected": 4}, {}]


@pytest.mark.parametrize("index", [-1, 3])
def test_a_selection_that_is_no_input_fails_the_run(index):
    harness = ScheduleHarness(mux(OneSetInputStreamHandler)).start()
    harness.add("s", index, 1)

    with pytest.raises(GraphRunError, match=f"SELECT holds {index}, but there are inputs INPUT:0 to INPUT:2"):
        harness.finish()


def test_a_side_packet_that_is_no_input_fails_the_run():
    with pytest.raises(GraphRunError, match="SELECT holds 2, but there are inputs INPUT:0 to INPUT:0"):
        run_calculator(MuxCalculator, {"INPUT": []}, outputs=["OUTPUT"], side_packets={"SELECT": 2})


@pytest.mark.parametrize(
    ("inputs", "sides", "message"),
    [
        ({"INPUT": []}, {}, "SELECT and side packet SELECT are neither connected"),
        ({"INPUT": [], "SELECT": []}, {"SELECT": 0}, "SELECT and side packet SELECT are both connected"),
        ({"SELECT": []}, {}, "there is no input INPUT"),
    ],
)
def test_invalid_ports_of_a_mux_are_refused(inputs, sides, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(MuxCalculator, inputs, outputs=["OUTPUT"], side_packets=sides)
