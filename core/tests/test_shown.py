from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import Packet
from penstock.shown import shown


class Plain:
    """Has no repr of its own."""


class Words(str):
    __slots__ = ()


class Array:
    """As an array of any library: its repr writes elements."""

    shape = (480, 640, 3)
    dtype = "uint8"

    def __repr__(self) -> str:
        raise AssertionError("the elements were written")


class Number(Array):
    shape = ()

    def __repr__(self) -> str:
        return "number(3)"


def raising(error, **attributes):
    """Return an object whose repr raises; `attributes` are of its class."""

    def fail(_):
        raise error

    return type("Broken", (), {"__repr__": fail, **attributes})()


def answering(answer):
    """Return an object whose repr is `answer`."""
    return type("Talker", (), {"__repr__": lambda _: answer})()


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (3, "3"),
        (True, "True"),
        (None, "None"),
        ("hello", "'hello'"),
        (Words("hello"), "'hello'"),
        (b"abc", "b'abc'"),
        (b"a" * 1000, "b'aaaaaaaaaaaa'… (1000 bytes)"),
        ([1, [2, [3, [4]]]], "[1, [2, [3, [...]]]]"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, ...]"),
        ((), "()"),
        ({"b": 1, "a": 2}, "{'b': 1, 'a': 2}"),
        (dict.fromkeys(range(9), 0), "{0: 0, 1: 0, 2: 0, 3: 0, ...}"),
        ({3, 1, 2}, "{1, 2, 3}"),
        (set(), "set()"),
        (frozenset({"x"}), "{'x'}"),
        (Plain(), "<Plain>"),
        (Array(), "<Array (480, 640, 3) uint8>"),
        (Number(), "number(3)"),
        (answering("two\n   lines"), "two lines"),
        (raising(RuntimeError("no")), "<Broken>"),
        (answering(7), "<Talker>"),
        (answering(""), "<Talker>"),
    ],
)
def test_a_payload_is_shown_in_a_few_words(payload, words) -> None:
    assert shown(payload) == words


def test_of_a_huge_number_the_size_is_shown() -> None:
    assert shown(10**5000) == "<int of 16610 bits>"
    assert shown(-(2**189)) == str(-(2**189))
    assert shown(2**190) == "<int of 191 bits>"


def test_long_words_are_cut_at_the_length_asked_for() -> None:
    assert shown(answering("abcdefghij"), 6) == "abcde…"
    assert shown(answering("abcdef"), 6) == "abcdef"
    assert shown(answering("a" + " " * 5000 + "x"), 6) == "a…"
    assert shown(raising(KeyError()), 4) == "<Br…"


@pytest.mark.timing
def test_a_payload_with_millions_of_elements_is_shown_at_once() -> None:
    million = list(range(1_000_000))
    payloads = [million, set(million), dict.fromkeys(million), bytes(50_000_000), "x" * 50_000_000]

    began = time.process_time()
    words = [repr(Packet([payload, payload], 3)) for payload in payloads]

    assert time.process_time() - began < 0.1  # sorting or writing out one of them takes longer
    assert max(map(len, words)) < 80


class Uncomparable:
    def __init__(self) -> None:
        self._hash = 3

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other):
        return self is other

    def __lt__(self, other):
        raise RuntimeError("no order")

    def __repr__(self) -> str:
        return "uncomparable"


def test_elements_without_an_order_are_shown_all_the_same() -> None:
    assert shown({Uncomparable(), Uncomparable()}) == "{uncomparable, uncomparable}"


_WEIRD = st.one_of(
    st.builds(raising, st.sampled_from([ValueError("x"), RecursionError(), MemoryError(), StopIteration()])),
    st.builds(answering, st.one_of(st.text(), st.integers(), st.none())),
    st.builds(lambda e: raising(e, shape=property(lambda _: 1 / 0), dtype=3), st.just(OSError())),
    st.builds(lambda n: type("Odd", (), {"shape": n, "dtype": n})(), st.integers()),
    st.builds(Uncomparable),
    st.floats(),
    st.integers(),
    st.text(),
    st.binary(),
)


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        _WEIRD, lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(), inner, max_size=6)
    ),
    st.integers(1, 80),
)
def test_no_payload_makes_its_packet_raise(payload, longest) -> None:
    words = shown(payload, longest)

    assert 1 <= len(words) <= longest
    assert "\n" not in words
    assert repr(Packet(payload, 7)).endswith(", 7)")
