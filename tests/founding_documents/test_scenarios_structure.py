"""Conformance scenarios on the structure of graphs: what is sorted, and what is refused and how."""

from __future__ import annotations

import pytest

import penstock
from penstock import GraphConfigError, StatusCode


class Merge(penstock.Calculator):
    """Never runs: the graphs that name it are refused."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()


def passing(*links, more=""):
    """Return a chain of pass-through nodes, one for each (input, output)."""
    return "".join(
        f'node {{ calculator: "PassThroughCalculator" input_stream: "{a}" output_stream: "{b}" {more} }}\n'
        for a, b in links
    )


def test_nodes_in_scrambled_order_are_sorted(bench):
    bench.start('input_stream: "in"\n' + passing(("b", "c"), ("in", "a"), ("a", "b")), watch=["c"])
    bench.add("in", 1, "x")
    bench.end()

    assert bench.seen["c"] == [(1, "x")]
    text = bench.graph.text_config
    outputs = [text.index(f'output_stream: "{name}"') for name in "abc"]
    assert outputs == sorted(outputs)


FAULTY = {
    "a cycle": (
        """input_stream: "in"
        node { name: "one" calculator: "Merge" input_stream: "in" input_stream: "b" output_stream: "a" }
        node { name: "two" calculator: "Merge" input_stream: "a" output_stream: "b" }""",
        StatusCode.UNKNOWN,
        "these nodes form a cycle: one → two",
    ),
    "a stream that two nodes write": (
        'input_stream: "in"\n' + passing(("in", "a"), ("in", "a")),
        StatusCode.UNKNOWN,
        "'a'",
    ),
    "a stream that nobody writes": (
        'input_stream: "in"\n' + passing(("nowhere", "a")),
        StatusCode.UNKNOWN,
        "'nowhere'",
    ),
    "an executor that is not declared": (
        'input_stream: "in"\n' + passing(("in", "a"), more='executor: "xyz"'),
        StatusCode.INVALID_ARGUMENT,
        "'xyz'",
    ),
    "an executor that is declared twice": (
        2 * 'executor { name: "xyz" type: "SingleThreadExecutor" }\n'
        + 'input_stream: "in"\n'
        + passing(("in", "a")),
        StatusCode.INVALID_ARGUMENT,
        "'xyz'",
    ),
    "num_threads beside a default executor": (
        'num_threads: 2 executor { type: "SingleThreadExecutor" }\ninput_stream: "in"\n'
        + passing(("in", "a")),
        StatusCode.INVALID_ARGUMENT,
        "num_threads",
    ),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_a_graph_of_the_wrong_shape_is_refused_with_the_place_and_the_name(bench, fault):
    text, code, message = FAULTY[fault]

    with pytest.raises(GraphConfigError, match=r"line \d+, column \d+: ") as caught:
        bench.load(text, Merge)

    assert caught.value.code is code
    assert len(caught.value.faults) == 1
    assert message in str(caught.value)


def test_all_faults_of_a_graph_come_at_once_in_the_order_of_the_file(bench):
    text = 'input_stream: "in"\n' + passing(("nowhere", "a"), ("elsewhere", "b"), ("in", "in"))

    with pytest.raises(GraphConfigError) as caught:
        bench.load(text)

    assert ["'nowhere'" in str(f) for f in caught.value.faults] == [True, False, False]
    assert "'elsewhere'" in str(caught.value.faults[1])
    assert "'in'" in str(caught.value.faults[2])
