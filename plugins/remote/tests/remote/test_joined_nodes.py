"""Nodes of a plan while groups of them become one node each."""

from __future__ import annotations

import pytest

import penstock
from penstock_remote.joined_nodes import JoinedNodes
from penstock_remote.regions import with_regions


def plan_of(*nodes):
    """Return the plan of nodes "a b -> c", each called by the first stream that it writes."""
    lines = ['input_stream: "in"']
    for text in nodes:
        read, _, written = text.partition(" -> ")
        ports = " ".join(
            [
                *(f'input_stream: "{one}"' for one in read.split()),
                *(f'output_stream: "{one}"' for one in written.split()),
            ]
        )
        lines.append(f'node {{ calculator: "PassThroughCalculator" name: "{written.split()[0]}" {ports} }}')
    return penstock.CalculatorGraph("\n".join(lines))._plan


def joined_of(*nodes):
    """Return the nodes of such a plan, and name → number."""
    plan = plan_of(*nodes)
    return JoinedNodes(plan), {node.name: node.id for node in plan.nodes}


@pytest.fixture
def looked_at(monkeypatch):
    """Return a list that gets the number of each node whose writers are asked for."""
    numbers = []
    above = JoinedNodes.above

    def note(self, number):
        numbers.append(number)
        return above(self, number)

    monkeypatch.setattr(JoinedNodes, "above", note)
    return numbers


def test_what_reads_a_group_comes_behind_it_and_the_rest_stays_before() -> None:
    joined, number = joined_of("in -> a", "in -> other", "a -> below", "a -> b", "b -> last")

    group = joined.join([number["a"], number["b"]])

    assert group == number["b"]
    assert joined.order() == [number["other"], group, number["below"], number["last"]]
    assert joined.home[number["a"]] == group
    assert [joined.is_alone(number[name]) for name in ("a", "b", "other")] == [False, False, True]


def test_a_group_has_the_writers_and_readers_of_its_nodes() -> None:
    joined, number = joined_of("in -> a", "a -> b", "b -> c", "c -> d")

    group = joined.join([number["b"], number["c"]])

    assert joined.above(group) == {number["a"]}
    assert joined.readers(number["a"]) == {group}
    assert joined.above(number["d"]) == {group}
    assert joined.readers(group) == {group, number["d"]}, "its own nodes read one another"


def test_groups_can_be_joined_over_the_gaps_of_others() -> None:
    joined, number = joined_of("in -> a", "a -> b", "in -> x", "b -> c", "x -> y", "c -> d")

    first = joined.join([number["a"], number["b"], number["c"]])
    second = joined.join([number["x"], number["y"]])

    assert joined.order() == [first, second, number["d"]]
    assert list(joined.between([first, number["d"]])) == [first, second, number["d"]]


def test_each_group_looks_at_what_lies_between_its_nodes_and_not_at_the_whole_plan(looked_at) -> None:
    count, size = 300, 5
    plan = plan_of("in -> s0", *(f"s{n} -> s{n + 1}" for n in range(count - 1)))
    groups = [("", [f"s{n}" for n in range(begin, begin + size)]) for begin in range(0, count, size)]

    arranged = with_regions(plan, groups, ())

    assert len(arranged.nodes) == count // size
    assert len(looked_at) == 2 * count, "once for the stages of its group, and once when that is joined"
