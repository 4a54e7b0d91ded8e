"""What is easily got wrong about graph files and contracts; numbers as in `test_table.py`."""

from __future__ import annotations

import logging

import pytest

import penstock
from penstock import GraphConfigError, StatusCode
from penstock_testing import calculator


def test_quirk47_an_optional_side_packet_that_nobody_gives_is_no_port_in_that_run(bench):
    seen = []
    look = calculator(
        open=lambda cc: seen.append(
            "SIDE" in cc.input_side_packets and cc.input_side_packets["SIDE"].payload
        ),
        name="Look",
        contract=lambda cc: cc.input_side_packets["SIDE"].set_any().optional(),
    )
    graph = bench.load(bench.net("in", 'Look in | input_side_packet: "SIDE:side"'), look)
    for sides in ({}, {"side": "here"}, {}):
        graph.start_run(sides)
        bench.end()

    assert seen == [False, "here", False]


class Untyped(penstock.Calculator):
    """Forgets to declare its output side packet."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()

    def process(self, cc):
        cc.output_side_packets[0].set("x")


def test_quirk48_a_side_packet_without_a_declared_type_is_a_fault(bench):
    """Decision 4: every fault at once; the reference does not look at output side packets."""
    with pytest.raises(GraphConfigError, match="output side packet"):
        bench.load(bench.net("in", 'Untyped in | output_side_packet: "made"'), Untyped)


def test_quirk49_63_a_graph_output_that_nobody_produces_is_accepted_with_a_warning(bench, caplog):
    """Decision 11: the reference says nothing."""
    with caplog.at_level(logging.WARNING, "penstock"):
        bench.start(bench.net("in", "Pass in -> out", more='output_stream: "nowhere"\n'), watch=["out"])
    bench.add("in", 1)
    bench.end()

    assert "'nowhere'" in caplog.text
    assert bench.seen["out"] == [(1, 1)]


def test_quirk50_all_faults_come_at_once_in_the_order_of_the_file(bench):
    """Decision 4: the reference reports the first mismatch of types only."""
    to_int = calculator(name="ToInt", contract=lambda cc: cc.outputs[0].set(int))
    from_str = calculator(name="FromText", contract=lambda cc: cc.inputs[0].set(str))
    text = bench.net(
        "in", "ToInt in -> a", "FromText a -> b", "NoSuchCalculator b -> c", "FromText a -> d", "Pass e -> f"
    )

    with pytest.raises(GraphConfigError) as caught:
        bench.load(text, to_int, from_str)

    faults = [str(fault) for fault in caught.value.faults]
    for part, fault in zip(
        ("'a' carries int", "NoSuchCalculator", "'a' carries int", "'e'"), faults, strict=True
    ):
        assert part in fault
    assert [fault.code for fault in caught.value.faults][:2] == [StatusCode.UNKNOWN, StatusCode.NOT_FOUND]


@pytest.mark.parametrize("first", ["options", "node_options"])
def test_quirk52_options_go_before_node_options(bench, first):
    kind = "GateCalculatorOptions"
    given = {
        "options": f"options {{ [mediapipe.{kind}.ext] {{ allow: false }} }}",
        "node_options": f"node_options {{ [type.googleapis.com/mediapipe.{kind}] {{ allow: true }} }}",
    }
    more = " ".join(sorted(given.values(), key=lambda text: not text.startswith(first)))
    bench.start(bench.net("in", f"GateCalculator in -> out | {more}"), watch=["out"])
    bench.add("in", 1)
    bench.end()
    assert bench.seen["out"] == []

    bench.start(bench.net("in", f"GateCalculator in -> out | {given['node_options']}"), watch=["out"])
    bench.add("in", 1)
    bench.end()
    assert bench.seen["out"] == [(1, 1)]


def test_quirk58_a_port_of_any_type_agrees_with_all_and_a_chain_of_them_carries_one_type(bench):
    to_int = calculator(name="ToInt", contract=lambda cc: cc.outputs[0].set(int))
    from_str = calculator(name="FromText", contract=lambda cc: cc.inputs[0].set(str))

    bench.load(bench.net("in", "ToInt in -> a", "Merge a -> b"), to_int)
    with pytest.raises(GraphConfigError, match="'c' carries int"):
        bench.load(
            bench.net("in", "ToInt in -> a", "Pass a -> b", "Pass b -> c", "FromText c -> d"),
            to_int,
            from_str,
        )
