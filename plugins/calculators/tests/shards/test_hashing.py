"""Which shard a key belongs to."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidArgumentError
from penstock_shards import shard_of

keys = st.one_of(st.text(), st.binary(), st.integers())


@given(keys, st.integers(1, 20))
def test_a_key_that_moves_when_a_shard_is_added_moves_to_that_shard(key, count):
    before, after = shard_of(key, count), shard_of(key, count + 1)

    assert 0 <= before < count
    assert after in (before, count)


@pytest.mark.parametrize("count", [2, 8, 100])
def test_another_shard_takes_its_share_of_the_keys_and_no_more(count):
    sample = [f"sensor {number}" for number in range(20_000)]
    moved = sum(shard_of(key, count) != shard_of(key, count + 1) for key in sample)

    assert moved / len(sample) == pytest.approx(1 / (count + 1), rel=0.15)


def test_the_keys_are_spread_evenly():
    counts = np.bincount([shard_of(number, 8) for number in range(16_000)], minlength=8)

    assert counts.min() > 1_800
    assert counts.max() < 2_200


def test_the_shard_is_the_same_in_every_process_and_release():
    # These numbers are a promise: programs in other languages may split the same way.
    assert [shard_of(key, 8) for key in ("door", "roof", b"\x00\xff", 0, -7, 2**70)] == EXPECTED
    other = subprocess.run(
        [sys.executable, "-c", "from penstock_shards import shard_of; print(shard_of('door', 8))"],
        env={**os.environ, "PYTHONHASHSEED": "123"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert int(other.stdout) == EXPECTED[0]


EXPECTED = [7, 0, 3, 0, 7, 7]


def test_two_splits_with_different_salts_have_nothing_to_do_with_each_other():
    sample = [f"sensor {number}" for number in range(32_000)]

    for first, second in (("", "drivers"), ("drivers", "")):
        there = [key for key in sample if shard_of(key, 4, salt=first) == 2]
        counts = np.bincount([shard_of(key, 4, salt=second) for key in there], minlength=4)
        assert counts / len(there) == pytest.approx([0.25] * 4, abs=0.02)
    assert {shard_of(key, 4) for key in sample if shard_of(key, 4, salt="") == 2} == {2}


def test_a_salt_that_is_too_long_is_refused_with_its_length():
    assert 0 <= shard_of("a", 4, salt="ü" * 8) < 4
    with pytest.raises(InvalidArgumentError, match=r"salt 'üüüüüüüüü' has 18 bytes; it can have 16 at most$"):
        shard_of("a", 4, salt="ü" * 9)


@given(st.integers(), st.integers(1, 20))
def test_a_number_its_digits_and_their_bytes_are_one_key(number, count):
    assert shard_of(number, count) == shard_of(str(number), count) == shard_of(str(number).encode(), count)


def test_integers_of_numpy_are_keys_too():
    assert shard_of(np.int64(41), 8) == shard_of(41, 8)


@pytest.mark.parametrize("key", [1.0, None, ("a", 1), ["a"]])
def test_another_type_is_refused_even_where_an_equal_integer_was_a_key(key):
    shard_of(1, 4)
    with pytest.raises(InvalidArgumentError, match=rf"str, bytes or an integer, not {type(key).__name__}$"):
        shard_of(key, 4)


def test_there_is_at_least_one_shard():
    with pytest.raises(
        InvalidArgumentError, match="a key is hashed to 0 shards, but there must be at least 1"
    ):
        shard_of("a", 0)
