"""One slip in the ports of a node is one fault, which says what to write."""

from __future__ import annotations

import pytest


@pytest.fixture
def joined(declare, faults):
    """Return the faults of a node whose calculator has two inputs, an optional one, and an output."""

    def joined(inside):
        found = faults(f'input_stream: "x" input_stream: "y"\nnode {{ calculator: "Join"\n {inside} }}')
        return [words.partition("'Join': ")[2] for _, words in found]

    def contract(cc):
        for tag in ("VIDEO", "MASK"):
            cc.inputs[tag].set_any()
        cc.inputs["TICK"].set_any().optional()
        cc.input_side_packets["MODEL"].set_any().optional()
        cc.outputs["OUT"].set_any()

    declare("Join", contract)
    return joined


INPUTS = "its inputs are: 'MASK', 'TICK', 'VIDEO'"
MODEL = ": 'MODEL'"
OUT = 'output_stream: "OUT:o"'


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (
            f'input_stream: "VIDOE:x" input_stream: "MASK:y" {OUT}',
            [f"""has no input 'VIDOE' (did you mean "VIDEO:x"?); {INPUTS}"""],
        ),
        (
            f'input_stream: "MASC:y" input_stream: "VIDOE:x" {OUT}',
            [
                f"""has no input 'MASC' (did you mean "MASK:y"?); {INPUTS}""",
                f"""has no input 'VIDOE' (did you mean "VIDEO:x"?); {INPUTS}""",
            ],
        ),
        (
            f'input_stream: "x" input_stream: "MASK:y" {OUT}',
            [f"""has no input 0 (did you mean "VIDEO:x"?); {INPUTS}"""],
        ),
        (
            f'input_stream: "VIDEO:x" input_stream: "MASK:y" input_stream: "TIK:x" {OUT}',
            [f"""has no input 'TIK' (did you mean "TICK:x"?); {INPUTS}"""],
        ),
        (
            f'input_stream: "VIDEO:x" input_stream: "MASK:y" input_stream: "EXTRA:x" {OUT}',
            [f"has no input 'EXTRA'; {INPUTS}"],
        ),
        (
            f'input_stream: "VIDEO:x" input_stream: "MASK:y" input_side_packet: "MODLE:m" {OUT}',
            [
                """has no input side packet 'MODLE' (did you mean "MODEL:m"?); its input side packets are"""
                + MODEL
            ],
        ),
        (
            'input_stream: "VIDEO:x" input_stream: "MASK:y" output_stream: "o"',
            ["""has no output 0 (did you mean "OUT:o"?); its outputs are: 'OUT'"""],
        ),
        (
            f'input_stream: "VIDEO:x" {OUT}',
            ["""needs input 'MASK', but nothing is connected to it; add input_stream: "MASK:name\""""],
        ),
        (
            f'input_stream: "VIDOE:x" {OUT}',
            [
                """needs input 'MASK', but nothing is connected to it; add input_stream: "MASK:name\"""",
                f"""has no input 'VIDOE' (did you mean "VIDEO:x"?); {INPUTS}""",
            ],
        ),
    ],
)
def test_a_port_that_does_not_exist_says_which_one_is_meant_and_that_one_is_not_missing_too(
    joined, inside, words
):
    assert joined(inside) == words
