"""Which write a packet that was read comes from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock_views.traces.arrows import Writes


def writes(*given, is_complete=True):
    return Writes(given, is_complete=is_complete)


def test_a_packet_comes_from_the_last_write_before_it_with_its_mark():
    found = writes((("a", 1, 7), 30, 1), (("a", 1, 7), 10, 2), (("b", 1, 7), 5, 3))

    assert [found.before(at, ("a", 1, 7), "Node") for at in (9, 10, 29, 30, 99)] == [
        None, (10, 2), (10, 2), (30, 1), (30, 1),
    ]  # fmt: skip


def test_a_packet_that_was_given_another_timestamp_is_the_oldest_that_its_reader_has_not_had():
    found = writes(*[(("a", t, 7), 10 * t, t) for t in (1, 2, 3)])

    assert [found.before(25, ("a", 100 + i, 7), "Node") for i in range(3)] == [(10, 1), (20, 2), None]
    assert found.before(25, ("a", 100, 7), "Other") == (10, 1)
    assert found.before(25, ("a", 100, 8), "Other") is None
    assert found.before(35, ("a", 103, 7), "Node") == (30, 3)


def test_where_records_were_lost_no_packet_is_guessed():
    found = writes((("a", 1, 7), 10, 1), is_complete=False)

    assert found.before(20, ("a", 5, 7), "Node") is None
    assert found.before(20, ("a", 1, 7), "Node") == (10, 1)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=12), st.integers(0, 20))
@settings(max_examples=50)
def test_no_packet_comes_from_a_write_after_it_or_from_another_packet(written, at):
    found = writes(*[(("a", stamp, stamp), moment, stamp) for stamp, moment in written])

    for stamp in range(4):
        answer = found.before(at, ("a", stamp, stamp), "Node")
        earlier = [moment for one, moment in written if one == stamp and moment <= at]
        assert answer == ((max(earlier), stamp) if earlier else None)
