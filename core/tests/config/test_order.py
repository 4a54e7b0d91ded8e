import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.check.order import stable_order


@st.composite
def shuffled_dags(draw):
    """For each node, the nodes above it; the numbers say nothing about the order."""
    size = draw(st.integers(0, 25))
    number = list(range(size))
    draw(st.randoms(use_true_random=False)).shuffle(number)
    above = [[] for _ in range(size)]
    for later in range(1, size):
        for earlier in draw(st.lists(st.integers(0, later - 1), max_size=4)):
            above[number[later]].append(number[earlier])
    return above


def lowest_ready_first(above):
    """The same order, computed in three lines and in quadratic time."""
    order = []
    while len(order) < len(above):
        order.append(min(n for n in range(len(above)) if n not in order and set(above[n]) <= set(order)))
    return order


@given(shuffled_dags())
def test_the_lowest_node_that_is_ready_always_comes_next(above):
    assert stable_order(above) == (lowest_ready_first(above), [])


def test_nodes_in_order_stay_as_they_are():
    assert stable_order([[], [0], [], [2, 1, 1]])[0] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("above", "cycles"),
    [
        ([[0]], [[0]]),
        ([[2], [0], [1]], [[0, 1, 2]]),
        ([[1], [2], [0]], [[0, 2, 1]]),
        ([[1], [0], [3, 1], [2]], [[0, 1], [2, 3]]),
        ([[1], [0, 2], [1]], [[0, 1]]),
        ([[], [0, 2], [1], [2]], [[1, 2]]),
    ],
)
def test_cycles_are_named_along_their_edges_from_their_lowest_node(above, cycles):
    assert stable_order(above)[1] == cycles


@given(shuffled_dags(), st.data())
def test_every_cycle_that_is_named_exists_and_no_cycle_goes_unnamed(above, data):
    for _ in range(data.draw(st.integers(0, 6))):
        if above:
            node = st.integers(0, len(above) - 1)
            above[data.draw(node)].append(data.draw(node))

    order, cycles = stable_order(above)

    for cycle in cycles:
        assert all(one in above[other] for one, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    assert bool(cycles) == (len(order) < len(above))
    assert order == list(lowest_ready_first_of(above, order))
    named = [node for cycle in cycles for node in cycle]
    assert len(named) == len(set(named))


def lowest_ready_first_of(above, among):
    """Yield the order of those nodes, without the others."""
    left, done = set(among), []
    while left:
        ready = min(n for n in left if set(above[n]) <= set(done))
        left.remove(ready)
        done.append(ready)
        yield ready


def test_long_chains_and_cycles_need_no_recursion():
    size = 50_000
    backwards = [[node + 1] for node in range(size - 1)] + [[]]

    assert stable_order(backwards)[0] == list(range(size - 1, -1, -1))
    backwards[-1] = [0]
    assert len(stable_order(backwards)[1][0]) == size


def test_many_cycles_with_tails_are_taken_apart():
    rng = random.Random(7)  # noqa: S311  # a made-up graph
    size = 20_000
    above = [[(node + 1) % size if rng.random() < 0.9 else node - 1] for node in range(size)]

    order, cycles = stable_order(above)

    assert len(order) + sum(map(len, cycles)) <= size
    assert cycles


def sources(size, edges):
    """Return, for each node, the nodes above it."""
    return [[a for a, b in edges if b == node] for node in range(size)]


@pytest.mark.parametrize(
    ("size", "edges", "order"),
    [
        pytest.param(
            3,
            [],
            [0, 1, 2],
            marks=pytest.mark.reference(
                "framework/deps/topologicalsorter_test.cc", "TopologicalSorterTest.NoConnection"
            ),
        ),
        pytest.param(
            5,
            [(4, 0), (4, 1), (4, 2), (0, 3), (1, 3), (3, 2)],
            [4, 0, 1, 3, 2],
            marks=pytest.mark.reference(
                "framework/deps/topologicalsorter_test.cc", "TopologicalSorterTest.SimpleDAG"
            ),
        ),
        pytest.param(
            5,
            [(3, 2), (4, 0), (4, 2), (4, 1), (3, 2), (4, 2), (1, 3), (0, 3), (1, 3), (3, 2)],
            [4, 0, 1, 3, 2],
            marks=pytest.mark.reference(
                "framework/deps/topologicalsorter_test.cc", "TopologicalSorterTest.DuplicatedEdges"
            ),
        ),
    ],
)
def test_the_order_of_the_reference(size, edges, order):
    assert stable_order(sources(size, edges)) == (order, [])


@pytest.mark.reference("framework/deps/topologicalsorter_test.cc", "TopologicalSorterTest.Cycle")
def test_the_cycle_of_the_reference():
    edges = [(4, 0), (4, 1), (4, 2), (0, 3), (1, 3), (3, 2), (2, 1)]

    assert stable_order(sources(5, edges))[1] == [[1, 3, 2]]
