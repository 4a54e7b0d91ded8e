from __future__ import annotations

import copy
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import timestamp as ts
from penstock.errors import TimestampError
from penstock.timestamp import Timestamp

SPECIAL = ["UNSET", "UNSTARTED", "PRESTREAM", "MIN", "MAX", "POSTSTREAM", "ONE_OVER_POSTSTREAM", "DONE"]
ordinary = st.integers(ts.MIN + 1, ts.MAX - 1)


@pytest.mark.reference("framework/timestamp_test.cc", "TimestampTest.SpecialValueDifferences")
def test_the_special_values_lie_at_both_ends_of_64_bits_in_this_order() -> None:
    values = [int(getattr(Timestamp, name)) for name in SPECIAL]

    assert values == [-(2**63), -(2**63) + 1, -(2**63) + 2, -(2**63) + 3, *range(2**63 - 4, 2**63)]
    assert sorted(values) == values


@pytest.mark.parametrize(
    ("name", "is_special", "is_range", "is_allowed"),
    [
        ("UNSET", True, False, False),
        ("UNSTARTED", True, False, False),
        ("PRESTREAM", True, False, True),
        ("MIN", True, True, True),
        ("MAX", True, True, True),
        ("POSTSTREAM", True, False, True),
        ("ONE_OVER_POSTSTREAM", True, False, False),
        ("DONE", True, False, False),
    ],
)
def test_each_special_value_says_what_it_may_be_used_for(name, is_special, is_range, is_allowed) -> None:
    value = getattr(Timestamp, name)

    assert value.is_special_value() is is_special
    assert value.is_range_value() is is_range
    assert value.is_allowed_in_stream() is is_allowed


def test_an_ordinary_timestamp_is_no_special_value() -> None:
    assert not Timestamp(0).is_special_value()
    assert Timestamp(0).is_range_value()
    assert Timestamp(0).is_allowed_in_stream()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("PRESTREAM", "ONE_OVER_POSTSTREAM"),
        ("MAX", "ONE_OVER_POSTSTREAM"),
        ("POSTSTREAM", "ONE_OVER_POSTSTREAM"),
        ("DONE", "ONE_OVER_POSTSTREAM"),
        ("UNSTARTED", "MIN"),
        ("UNSET", "MIN"),
    ],
)
def test_what_may_follow_a_special_value_in_a_stream(before, after) -> None:
    assert getattr(Timestamp, before).next_allowed_in_stream() == getattr(Timestamp, after)


@pytest.mark.parametrize(
    ("after", "before"),
    [
        ("DONE", "MAX"),
        ("ONE_OVER_POSTSTREAM", "MAX"),
        ("POSTSTREAM", "UNSTARTED"),
        ("PRESTREAM", "UNSTARTED"),
        ("MIN", "UNSTARTED"),
    ],
)
def test_what_may_precede_a_special_value_in_a_stream(after, before) -> None:
    assert getattr(Timestamp, after).previous_allowed_in_stream() == getattr(Timestamp, before)


def test_neighbours_at_the_ends_of_the_ordinary_range_are_the_ends() -> None:
    assert Timestamp(ts.MAX - 1).next_allowed_in_stream() == Timestamp.MAX
    assert Timestamp.MIN.next_allowed_in_stream() == ts.MIN + 1
    assert Timestamp(ts.MIN + 1).previous_allowed_in_stream() == Timestamp.MIN


@given(ordinary)
def test_an_ordinary_timestamp_is_followed_and_preceded_by_its_neighbours(t) -> None:
    assert ts.next_allowed(t) == t + 1
    assert ts.previous_allowed(t) == t - 1


def test_adding_and_subtracting_clamps_to_the_range() -> None:
    assert Timestamp(ts.MAX - 100) + 200 == Timestamp.MAX
    assert Timestamp(ts.MIN + 100) - 200 == Timestamp.MIN
    assert Timestamp.MAX + 0 == Timestamp.MAX
    assert 5 + Timestamp(7) == Timestamp(12)
    assert isinstance(Timestamp(7) - 5, Timestamp)


@given(ordinary, st.integers(-(2**64), 2**64))
def test_arithmetic_never_leaves_the_range_and_is_exact_inside_it(t, offset) -> None:
    assert Timestamp(t) + offset == min(max(t + offset, ts.MIN), ts.MAX)


def test_the_difference_of_two_timestamps_is_a_plain_number_of_microseconds() -> None:
    difference = Timestamp(12) - Timestamp(7)

    assert difference == 5
    assert type(difference) is int
    assert 12 - Timestamp(7) == 5
    assert type(12 - Timestamp(7)) is int


@pytest.mark.parametrize(
    "name", ["UNSET", "UNSTARTED", "PRESTREAM", "POSTSTREAM", "ONE_OVER_POSTSTREAM", "DONE"]
)
def test_values_outside_the_range_take_no_part_in_arithmetic(name) -> None:
    value = getattr(Timestamp, name)

    with pytest.raises(TimestampError, match=r"Timestamp::\w+\(\) takes no part in arithmetic"):
        _ = value + 0
    with pytest.raises(TimestampError, match="takes no part in arithmetic"):
        _ = value - Timestamp(0)


def test_sums_and_negatives_of_timestamps_make_no_sense() -> None:
    with pytest.raises(TypeError, match="two timestamps cannot be added"):
        _ = Timestamp(1) + Timestamp(2)
    with pytest.raises(TypeError, match="has no negative"):
        _ = -Timestamp(1)


@pytest.mark.reference("framework/timestamp_test.cc", "TimestampDeathTest.ConstructorDieOnSpecialValue")
@pytest.mark.parametrize("name", SPECIAL)
def test_no_special_value_can_be_made_from_its_number(name) -> None:
    with pytest.raises(
        TimestampError, match=rf"is {ts.show(getattr(ts, name))[:-2]}.*take special values by name"
    ):
        Timestamp(int(getattr(Timestamp, name)))


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_a_number_beyond_64_bits_is_no_timestamp(number) -> None:
    with pytest.raises(TimestampError, match="out of range"):
        Timestamp(number)


def test_a_float_is_no_timestamp() -> None:
    with pytest.raises(TypeError, match="float"):
        Timestamp(1.0)  # type: ignore[arg-type]


def test_a_timestamp_of_a_timestamp_is_itself_even_when_special() -> None:
    assert Timestamp(Timestamp.DONE) is Timestamp.DONE


def test_seconds_and_milliseconds_round_half_away_from_zero() -> None:
    assert Timestamp.from_seconds(2.5) == 2_500_000
    assert Timestamp.from_milliseconds(0.0005) == 1
    assert Timestamp.from_milliseconds(-0.0005) == -1
    assert Timestamp.from_milliseconds(0.0004) == 0
    assert Timestamp.from_microseconds(7) == 7


def test_rounding_is_right_where_adding_a_half_would_not_be() -> None:
    below_half = math.nextafter(0.5, 0.0)

    assert Timestamp.from_milliseconds(below_half / 1000) == 0
    for microseconds in (2**52 + 1, -(2**52) - 1):
        assert microseconds / 1000 * 1000 == microseconds  # no rounding before the one that is tested
        assert Timestamp.from_milliseconds(microseconds / 1000) == microseconds


@pytest.mark.parametrize("seconds", [math.inf, -math.inf, math.nan])
def test_infinite_seconds_are_no_timestamp(seconds) -> None:
    with pytest.raises(TimestampError, match="are no timestamp"):
        Timestamp.from_seconds(seconds)


def test_seconds_beyond_64_bits_are_no_timestamp() -> None:
    with pytest.raises(TimestampError, match="out of range"):
        Timestamp.from_seconds(1e30)


def test_a_timestamp_reads_back_in_every_unit() -> None:
    t = Timestamp(1_500_000)

    assert (t.seconds, t.milliseconds, t.microseconds) == (1.5, 1500.0, 1_500_000)
    assert type(t.microseconds) is int


def test_a_timestamp_is_written_as_a_number_or_by_its_name() -> None:
    assert str(Timestamp(-100)) == "-100"
    assert str(Timestamp.MAX) == "Timestamp::Max()"
    assert f"{Timestamp.PRESTREAM}" == "Timestamp::PreStream()"
    assert f"{Timestamp(7):05d}" == "00007"
    assert repr(Timestamp(3)) == "Timestamp(3)"
    assert repr(Timestamp.DONE) == "Timestamp.DONE"


@pytest.mark.parametrize("value", [Timestamp(5), Timestamp.UNSET, Timestamp.MAX])
def test_a_timestamp_survives_pickling_and_copying(value) -> None:
    for twin in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):  # noqa: S301  # our own bytes
        assert twin == value
        assert type(twin) is Timestamp


def test_a_timestamp_equals_and_hashes_like_its_number() -> None:
    assert Timestamp(5) == 5
    assert {Timestamp(5)} == {5}
    assert Timestamp(4) < 5 < Timestamp(6)


@given(st.integers(ts.MIN, ts.MAX), st.integers(-100, 100))
def test_a_shift_is_clamped_addition(t, offset) -> None:
    assert ts.shifted(t, offset) == max(ts.MIN, min(ts.MAX, t + offset))


# --- the reference's own tests ------------------------------------------------------------------

T = Timestamp
LARGE, SMALL = 2**63 // 2 + 100, -(2**63) // 2 - 100


@pytest.mark.reference("framework/timestamp_test.cc", "TimestampTest.IsSpecial")
@pytest.mark.parametrize(
    ("value", "is_special", "is_range", "is_allowed"),
    [
        (T.UNSET, True, False, False),
        (T.UNSTARTED, True, False, False),
        (T.PRESTREAM, True, False, True),
        (T.MIN, True, True, True),
        (T.MIN + 1, False, True, True),
        (T(0), False, True, True),
        (T.MAX - 1, False, True, True),
        (T.MAX, True, True, True),
        (T.POSTSTREAM, True, False, True),
        (T.ONE_OVER_POSTSTREAM, True, False, False),
        (T.DONE, True, False, False),
    ],
)
def test_what_a_value_may_be_used_for(value, is_special, is_range, is_allowed) -> None:
    assert value.is_special_value() is is_special
    assert value.is_range_value() is is_range
    assert value.is_allowed_in_stream() is is_allowed


@pytest.mark.reference(
    "framework/timestamp_test.cc", "TimestampTest.NextAllowedInStream", "TimestampTest.HasNextAllowedInStream"
)
@pytest.mark.parametrize(
    ("value", "following"),
    [
        (T.PRESTREAM, T.ONE_OVER_POSTSTREAM),
        (T.MIN, T.MIN + 1),
        (T.MIN + 1, T.MIN + 2),
        (T(-1000), T(-999)),
        (T(0), T(1)),
        (T(1000), T(1001)),
        (T.MAX - 2, T.MAX - 1),
        (T.MAX - 1, T.MAX),
        (T.MAX, T.ONE_OVER_POSTSTREAM),
        (T.POSTSTREAM, T.ONE_OVER_POSTSTREAM),
        (T.ONE_OVER_POSTSTREAM, T.ONE_OVER_POSTSTREAM),
        (T.DONE, T.ONE_OVER_POSTSTREAM),
    ],
)
def test_a_value_has_a_next_one_that_a_stream_allows_or_none(value, following) -> None:
    found = value.next_allowed_in_stream()

    assert found == following
    has_next = T.MIN <= value < T.MAX
    assert found.is_allowed_in_stream() is has_next


def test_differences_and_sums_at_the_ends_of_64_bits() -> None:
    """The reference aborts where a difference leaves 64 bits; here it is exact."""
    large, small = T(LARGE), T(SMALL)

    assert not large.is_special_value()
    assert not small.is_special_value()
    assert large - large == small - small == 0
    assert small - large == SMALL - LARGE
    with pytest.raises(TimestampError, match="PostStream"):
        _ = T.POSTSTREAM + 0
    with pytest.raises(TimestampError, match="out of range"):
        T.from_seconds(1.0e13)


@pytest.mark.reference(
    "framework/timestamp_test.cc", "TimestampTest.Constructor", "TimestampTest.Differences"
)
def test_differences_comparisons_and_sums_of_ordinary_values() -> None:
    assert T(1) == 1
    t0, t10, t20 = T(0), T(10), T(20)

    assert (t0 - t0, t10 - t10, t20 - t10, t10 - t0, t0 - t10, t10 - t20) == (0, 0, 10, 10, -10, -10)
    assert t0 < t10 < t20
    assert t0 <= t0 <= t10 <= t10 <= t20 <= t20  # noqa: PLR0124  # each with itself too
    assert t20 > t10 > t0
    assert t20 >= t20 >= t10 >= t10 >= t0 >= t0  # noqa: PLR0124  # as above
    assert not t10 > t10  # noqa: PLR0124  # as above
    assert not t10 < t10  # noqa: PLR0124  # as above
    assert t0 + 10 == 10 + t0 == t10
    assert t10 - 10 == -10 + t10 == t0


@pytest.mark.reference(
    "framework/timestamp_test.cc", "TimestampTest.Clamping", "TimestampTest.AddZeroToMinAndMax"
)
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (T.MAX - 100 + 100, T.MAX),
        (T.MAX - 100 + 200, T.MAX),
        (T.MAX - 100 + 99, T.MAX - 1),
        (T.MIN + 100 - 100, T.MIN),
        (T.MIN + 100 - 200, T.MIN),
        (T.MIN + 100 - 99, T.MIN + 1),
        (T.MAX + 0, T.MAX),
        (T.MIN + 0, T.MIN),
        (T.MAX - 0, T.MAX),
        (T.MIN - 0, T.MIN),
    ],
)
def test_sums_stay_between_the_least_and_the_greatest_value(value, expected) -> None:
    assert value == expected
    assert T.MAX - 100 != T.MAX
    assert T.MIN + 100 != T.MIN


@pytest.mark.reference("framework/timestamp_test.cc", "TimestampTest.IncrementInPlace")
def test_a_name_may_be_given_a_later_and_an_earlier_value() -> None:
    value = first = T(100)
    for offset, expected in (
        (100, 200),
        (1, 201),
        (-51, 150),
        (-150, 0),
        (10, 10),
        (-50, -40),
        (1, -39),
        (-1, -40),
    ):
        value += offset
        assert value == expected
        value -= -offset
        value -= offset
        assert value == expected
    assert isinstance(value, T)
    assert first == 100


@pytest.mark.reference("framework/timestamp_test.cc", "TimestampTest.TimestampStaticConstructors")
def test_values_from_seconds_milliseconds_and_microseconds() -> None:
    assert T.from_seconds(2.5).microseconds == 2_500_000
    assert T.from_milliseconds(2.5).microseconds == 2_500
    assert T.from_microseconds(25).microseconds == 25


@pytest.mark.reference("framework/timestamp_test.cc", "TimestampTest.DebugString")
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (T.UNSET, "Timestamp::Unset()"),
        (T.UNSTARTED, "Timestamp::Unstarted()"),
        (T.PRESTREAM, "Timestamp::PreStream()"),
        (T.MIN, "Timestamp::Min()"),
        (T(-100), "-100"),
        (T(0), "0"),
        (T(100), "100"),
        (T.MAX, "Timestamp::Max()"),
        (T.POSTSTREAM, "Timestamp::PostStream()"),
        (T.ONE_OVER_POSTSTREAM, "Timestamp::OneOverPostStream()"),
        (T.DONE, "Timestamp::Done()"),
    ],
)
def test_each_value_in_words(value, words) -> None:
    assert str(value) == words
