"""Scenario 60, but for its subgraphs: what is sorted, and what is refused and how."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock import GraphConfigError, StatusCode
from penstock.errors import AlreadyExistsError, InvalidArgumentError


def test_s60_nodes_in_scrambled_order_are_sorted(bench):
    bench.start(bench.net("in", "Pass b -> c", "Pass in -> a", "Pass a -> b"), watch=["c"])
    bench.add("in", (1, "x"))
    bench.end()

    assert bench.seen["c"] == [(1, "x")]
    text = bench.graph.text_config
    outputs = [text.index(f'output_stream: "{name}"') for name in "abc"]
    assert outputs == sorted(outputs)


UNKNOWN, INVALID, NOT_FOUND = StatusCode.UNKNOWN, StatusCode.INVALID_ARGUMENT, StatusCode.NOT_FOUND
DECLARED = 'executor { name: "xyz" type: "SingleThreadExecutor" }\n'
DEFAULT = 'executor { type: "SingleThreadExecutor" }\n'

#: What is wrong → what stands before the nodes, the nodes, code, part of the message.
FAULTY = {
    "a cycle": (
        "", ["Merge in b -> a | name: 'one'", "Merge a -> b | name: 'two'"], UNKNOWN, "cycle: one → two",
    ),
    "a node that reads itself": ("", ["Merge in a -> a | name: 'one'"], UNKNOWN, "'one'"),
    "a stream that two nodes write": ("", ["Pass in -> a", "Pass in -> a"], UNKNOWN, "'a'"),
    "a stream that is a graph input and written": ("", ["Pass in -> in"], UNKNOWN, "'in'"),
    "a stream that nobody writes": ("", ["Pass nowhere -> a"], UNKNOWN, "'nowhere'"),
    "an executor that is not declared": ("", ["Pass in -> a | executor: 'xyz'"], INVALID, "'xyz'"),
    "an executor that is declared twice": (2 * DECLARED, ["Pass in -> a"], INVALID, "'xyz'"),
    "a default executor that is declared twice": (2 * DEFAULT, ["Pass in -> a"], INVALID, "default executor"),
    "num_threads beside a default executor": (
        f"num_threads: 2 {DEFAULT}", ["Pass in -> a"], INVALID, "num_threads",
    ),
    "a reserved name of an executor": (
        'executor { name: "__gpu" type: "SingleThreadExecutor" }\n', ["Pass in -> a"], INVALID, "reserved",
    ),
    "a reserved name of a node's executor": ("", ["Pass in -> a | executor: '__gpu'"], INVALID, "reserved"),
    "an executor of a type that nobody provides": (
        'executor { name: "xyz" type: "NoSuchExecutor" }\n', ["Pass in -> a"], NOT_FOUND, "NoSuchExecutor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTY)
def test_s60_a_graph_of_the_wrong_shape_is_refused_with_the_place_and_the_name(pool, fault):
    before, nodes, code, message = FAULTY[fault]

    with pytest.raises(GraphConfigError, match=r"line \d+, column \d+: ") as caught:
        pool.load(pool.net("in", *nodes, more=before))

    assert len(caught.value.faults) == 1
    assert caught.value.code is code
    assert message in str(caught.value)


def test_s60_num_threads_beside_an_executor_with_a_name_is_accepted(pool):
    pool.start(
        pool.net("in", "Pass in -> out | executor: 'xyz'", more=f"num_threads: 2 {DECLARED}"), watch=["out"]
    )
    pool.add("in", 1)
    pool.end()

    assert pool.seen["out"] == [(1, 1)]


def test_s60_an_executor_without_a_type_must_be_handed_in(pool):
    graph = pool.load(
        pool.net("in", "Pass in -> out | executor: 'mine'", more='executor { name: "mine" }\n'), watch=["out"]
    )
    with pytest.raises(InvalidArgumentError, match=r"executor 'mine' has no type in the graph; hand it in"):
        graph.start_run()

    with ThreadPoolExecutor(1) as threads:
        graph.set_executor("mine", threads)
        graph.set_executor("mine", threads)
        with ThreadPoolExecutor(1) as others, pytest.raises(AlreadyExistsError, match="'mine'"):
            graph.set_executor("mine", others)
        graph.start_run()
        pool.add("in", 1)
        pool.end()

    assert pool.seen["out"] == [(1, 1)]


def test_s60_an_executor_with_a_type_cannot_be_handed_in(pool):
    graph = pool.load(pool.net("in", "Pass in -> out | executor: 'xyz'", more=DECLARED))

    with ThreadPoolExecutor(1) as threads:
        with pytest.raises(InvalidArgumentError, match="'xyz' has a type in the graph"):
            graph.set_executor("xyz", threads)
        with pytest.raises(InvalidArgumentError, match="'__gpu' is reserved"):
            graph.set_executor("__gpu", threads)
