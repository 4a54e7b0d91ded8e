from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import FailedPreconditionError, InvalidArgumentError, ResourceExhaustedError
from penstock.tags import TagMap, is_name, parse_tag_index, parse_tag_index_name

tags = st.from_regex(r"[A-Z_][A-Z0-9_]{0,6}", fullmatch=True)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A:1:b", ("A", 1, "b")),
        ("A:b", ("A", 0, "b")),
        ("b", ("", -1, "b")),
        ("_:0:_", ("_", 0, "_")),
        ("A:10000:b", ("A", 10_000, "b")),
    ],
)
def test_a_port_is_split_into_tag_index_and_name(text, parts) -> None:
    assert parse_tag_index_name(text) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "a:b",
        "A:01:b",
        "A:-1:b",
        "A::b",
        ":0:b",
        "0:b",
        "A:1:b:c",
        "A:1.0:b",
        "A:1:",
        "b\n",
        " b",
        "é",
    ],
)
def test_what_follows_no_grammar_is_quoted_and_corrected(text) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"is no port: write 'name', 'TAG:name' or 'TAG:index:name'"
    ):
        parse_tag_index_name(text)


def test_an_index_above_ten_thousand_is_refused() -> None:
    with pytest.raises(
        ResourceExhaustedError, match="'A:10001:b': the index of a port is 10001, more than the"
    ):
        parse_tag_index_name("A:10001:b")


@pytest.mark.parametrize("parse", [parse_tag_index, parse_tag_index_name])
def test_an_index_of_more_digits_than_python_reads_is_refused(parse) -> None:
    with pytest.raises(ResourceExhaustedError, match=r"the index of a port is 1{18}, more than"):
        parse(f"A:{'1' * 5000}" + (":b" if parse is parse_tag_index_name else ""))


@pytest.mark.parametrize(
    ("text", "parts"), [("TAG", ("TAG", 0)), ("TAG:1", ("TAG", 1)), (":2", ("", 2)), ("", ("", 0))]
)
def test_a_tag_and_index_is_split(text, parts) -> None:
    assert parse_tag_index(text) == parts


@pytest.mark.parametrize("text", ["TAG:", ":", "1", "tag", "TAG:01", "TAG:1:x"])
def test_what_is_no_tag_and_index_is_refused(text) -> None:
    with pytest.raises(InvalidArgumentError, match=r"is no port: write 'TAG', 'TAG:index' or ':index'"):
        parse_tag_index(text)


@pytest.mark.parametrize(
    ("text", "answer"), [("a", True), ("_1", True), ("A", False), ("1a", False), ("", False)]
)
def test_a_name_is_lower_case_and_begins_with_no_digit(text, answer) -> None:
    assert is_name(text) is answer


def test_ports_are_numbered_by_tag_in_byte_order_and_by_index() -> None:
    ports = TagMap(["B:1:b1", "x", "A:a", "B:0:b0", "y"])

    assert ports.names() == ("x", "y", "a", "b0", "b1")
    assert ports.ids() == (("", 0), ("", 1), ("A", 0), ("B", 0), ("B", 1))
    assert [port.entry for port in ports] == [1, 4, 2, 3, 0]


def test_an_index_given_twice_is_refused_with_the_cure() -> None:
    with pytest.raises(
        FailedPreconditionError, match=r"tag 'A' index 0 already has the name 'a' but.*'b' too; number"
    ):
        TagMap(["A:a", "A:b"])


@pytest.mark.parametrize(("entries", "missing"), [(["A:1:a"], 0), (["A:0:a", "A:3:b", "A:1:c"], 2)])
def test_a_hole_in_the_indexes_is_refused(entries, missing) -> None:
    with pytest.raises(FailedPreconditionError, match=f"tag 'A' has no entry for index {missing}"):
        TagMap(entries)


def test_a_stream_may_feed_two_ports() -> None:
    assert TagMap(["A:x", "B:x", "x"]).names() == ("x", "x", "x")


@given(tags, st.integers(0, 10_000), names)
def test_what_is_written_by_the_grammar_reads_back(tag, index, name) -> None:
    assert parse_tag_index_name(f"{tag}:{index}:{name}") == (tag, index, name)
    assert parse_tag_index(f"{tag}:{index}") == (tag, index)


@given(st.dictionaries(tags, st.integers(1, 4), max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_the_entries_does_not_matter_to_tagged_ports(counts, order) -> None:
    entries = [f"{tag}:{i}:s{i}" for tag, count in counts.items() for i in range(count)]
    shuffled = order.sample(entries, len(entries))

    assert TagMap(shuffled).ids() == TagMap(entries).ids()
