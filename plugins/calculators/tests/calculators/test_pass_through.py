from __future__ import annotations

import pytest

from penstock import GraphConfigError, Packet
from penstock_calculators.routing.pass_through import PassThroughCalculator
from penstock_testing import run_calculator


def test_every_packet_leaves_unchanged_at_the_port_of_its_tag_and_index():
    payload = object()

    run = run_calculator(
        PassThroughCalculator,
        {"A:0": [(1, payload)], "A:1": [(2, "two")], "B": [(1, None)]},
        outputs=["A:0", "A:1", "B"],
    )

    assert run.outputs["A:0"] == [Packet(payload, 1)]
    assert [(p.payload, p.timestamp) for p in run.outputs["A:1"]] == [("two", 2)]
    assert [(p.payload, p.timestamp) for p in run.outputs["B"]] == [(None, 1)]


@pytest.mark.reference(
    "calculators/core/pass_through_calculator_test.cc", "PassThroughCalculatorTest.PassesPackets"
)
def test_streams_of_different_types_pass():
    run = run_calculator(PassThroughCalculator, {0: [(0, 42)], 1: [(0, "str")]}, outputs=[0, 1])

    assert run.outputs == {0: [Packet(42, 0)], 1: [Packet("str", 0)]}


def test_headers_and_side_packets_are_forwarded():
    model = object()

    run = run_calculator(
        PassThroughCalculator,
        {0: [(1, 1)]},
        outputs=[0],
        headers={0: "header"},
        side_packets={"MODEL": model},
        output_side_packets=["MODEL"],
    )

    assert run.headers[0] == "header"
    assert run.output_side_packets["MODEL"] is model


def test_calls_are_counted():
    run = run_calculator(PassThroughCalculator, {0: [(t, t) for t in range(7)]}, outputs=[0])

    assert run.counters == {"PassThrough": 7}


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (
            {0: [], 1: []},
            [0],
            "the same tags and indexes to pass packets through, but are 0, 1 and 0",
        ),
        (
            {"A": []},
            ["B"],
            "must have the same tags and indexes to pass packets through, but are 'A' and 'B'",
        ),
    ],
)
def test_ports_that_do_not_match_are_refused(inputs, outputs, message):
    with pytest.raises(GraphConfigError, match=message):
        run_calculator(PassThroughCalculator, inputs, outputs=outputs)


def test_output_side_packets_that_do_not_match_are_refused():
    with pytest.raises(
        GraphConfigError, match="input side packets and output side packets must have the same"
    ):
        run_calculator(
            PassThroughCalculator,
            {0: []},
            outputs=[0],
            side_packets={"A": 1},
            output_side_packets=["B"],
        )
