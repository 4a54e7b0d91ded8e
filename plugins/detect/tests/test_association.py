"""Overlaps and pairs, against plain loops and every permutation."""

from __future__ import annotations

import itertools

import numpy as np

from penstock_detect.tracking.association import overlaps, pairs


def test_overlaps_are_those_of_areas():
    some = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 5, 5], [3, 3, 2, 2]], float)

    found = overlaps(some, some)

    assert found[0, 0] == found[1, 1] == 1
    assert found[0, 1] == found[1, 0] == 1 / 7
    assert not found[2:].any()  # without an area, and turned inside out
    assert overlaps(some, np.zeros((0, 4))).shape == (4, 0)


def test_pairs_have_the_largest_sum_of_all():
    random = np.random.default_rng(5)
    for _ in range(60):
        n, m = random.integers(1, 6, 2)
        worth, allowed = random.uniform(0.1, 1, (n, m)), random.random((n, m)) < 0.6
        best = 0.0
        wide = np.where(allowed, worth, 0)
        wide = wide if n <= m else wide.T
        for columns in itertools.permutations(range(wide.shape[1]), wide.shape[0]):
            best = max(best, sum(wide[i, j] for i, j in enumerate(columns)))

        rows, columns = pairs(worth, allowed)

        assert allowed[rows, columns].all()
        assert len(set(rows.tolist())) == len(set(columns.tolist())) == len(rows)
        np.testing.assert_allclose(worth[rows, columns].sum(), best)


def test_nothing_allowed_is_no_pair():
    rows, columns = pairs(np.ones((2, 3)), np.zeros((2, 3), bool))

    assert len(rows) == len(columns) == 0
