"""The generator's definition, written out once more."""

from __future__ import annotations

import hashlib
import itertools

import pytest

from penstock_calculators.timing.seeded_random import SeededRandom


def words(seed, purpose):
    for block in itertools.count():
        digest = hashlib.sha256(f"{seed}\0{purpose}\0{block}".encode()).digest()
        yield from (int.from_bytes(digest[i : i + 8], "big") for i in range(0, 32, 8))


def test_numbers_are_those_of_the_definition():
    random = SeededRandom("seed", "test")

    assert [random.below(2**64) for _ in range(10)] == list(itertools.islice(words("seed", "test"), 10))


def test_numbers_stay_the_same_from_version_to_version():
    random = SeededRandom("seed", "test")

    assert [random.below(1000) for _ in range(8)] == [819, 600, 94, 888, 589, 346, 997, 199]


def test_numbers_below_a_limit_are_drawn_again_where_they_would_be_unfair():
    count = 3 * 2**62  # a quarter of all words are beyond it
    fair = [word for word in itertools.islice(words("s", "p"), 100) if word < count]
    random = SeededRandom("s", "p")

    assert [random.below(count) for _ in range(len(fair))] == fair
    assert len(fair) < 100


def test_fractions_are_the_upper_bits_of_a_word():
    random = SeededRandom("s", "p")

    drawn = [random.fraction() for _ in range(1000)]

    assert drawn == [(word >> 11) / 2**53 for word in itertools.islice(words("s", "p"), 1000)]
    assert all(0 <= one < 1 for one in drawn)
    assert sum(drawn) / 1000 == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("seed", "purpose"), [("t", "p"), ("s", "q"), ("s\0p", "")])
def test_another_seed_or_purpose_gives_other_numbers(seed, purpose):
    assert SeededRandom(seed, purpose).below(2**64) != SeededRandom("s", "p").below(2**64)
