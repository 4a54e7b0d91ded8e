"""Scenarios 1-6: timestamps, packets, and the grammar of ports."""

from __future__ import annotations

import re

import pytest

from penstock import GraphConfigError, Packet, StatusCode, Timestamp
from penstock.errors import (
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    PacketTypeError,
    ResourceExhaustedError,
    TimestampError,
)
from penstock.port_tags import TagMap, parse_tag_index_name

T = Timestamp


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (T.MAX - 100 + 200, T.MAX),
        (T.MIN + 100 - 200, T.MIN),
        (T.MIN + 0, T.MIN),
        (T.PRESTREAM.next_allowed_in_stream(), T.ONE_OVER_POSTSTREAM),
        (T.MAX.next_allowed_in_stream(), T.ONE_OVER_POSTSTREAM),
        (T.UNSTARTED.next_allowed_in_stream(), T.MIN),
        (T.DONE.previous_allowed_in_stream(), T.MAX),
        (T.POSTSTREAM.previous_allowed_in_stream(), T.UNSTARTED),
    ],
)
def test_s01_arithmetic_stays_in_the_range_and_steps_over_what_no_stream_may_carry(value, expected):
    assert value == expected
    assert isinstance(value, Timestamp)


def test_s01_arithmetic_on_a_timestamp_outside_the_range_raises():
    with pytest.raises(TimestampError, match="PostStream"):
        T.POSTSTREAM + 0


@pytest.mark.parametrize("special", [T.UNSET, T.PRESTREAM, T.MIN, T.MAX, T.DONE])
def test_s01_a_special_value_cannot_be_made_from_its_number(special):
    with pytest.raises(TimestampError, match=re.escape(str(special))):
        Timestamp(int(special))


def test_s02_units_and_words():
    assert T.from_seconds(2.5) == 2_500_000
    assert (str(T.MAX), str(T(-100)), str(T.DONE)) == ("Timestamp::Max()", "-100", "Timestamp::Done()")


def test_s03_a_packet_at_another_time_has_the_same_payload_and_is_equal():
    packet = Packet("x")
    later = packet.at(5)

    assert (packet.timestamp, later.timestamp) == (T.UNSET, 5)
    assert packet == later
    assert later.payload is packet.payload
    assert Packet() == Packet().at(7)


def test_s03_equality_is_identity_of_the_payload():
    assert Packet([1], 5) != Packet([1], 5)


def test_s03_asking_a_packet_for_the_wrong_type_raises_and_names_both():
    with pytest.raises(PacketTypeError, match=r"'str'.*'int'") as wrong:
        Packet("x").get(int)
    with pytest.raises(InternalError, match="empty packet") as empty:
        Packet().get(int)

    assert (wrong.value.code, empty.value.code) == (StatusCode.INVALID_ARGUMENT, StatusCode.INTERNAL)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A:1:b", ("A", 1, "b")), ("A:b", ("A", 0, "b")), ("b", ("", -1, "b")), ("_1:2:_1", ("_1", 2, "_1"))],
)
def test_s05_a_port_is_read_as_tag_index_and_name(text, expected):
    assert parse_tag_index_name(text) == expected


FAULTY_PORTS = ["", "A", "a:b", "A:01:b", "A:-1:b", "A::b", ":0:b", "0:b", "A:1:b:c"]


@pytest.mark.parametrize("text", FAULTY_PORTS)
def test_s05_a_port_against_the_grammar_is_refused_and_quoted(bench, text):
    with pytest.raises(InvalidArgumentError, match=re.escape(repr(text))):
        parse_tag_index_name(text)
    graph = f'input_stream: "in" node {{ calculator: "Merge" input_stream: "{text}" output_stream: "out" }}'
    with pytest.raises(GraphConfigError, match=re.escape(repr(text))):
        bench.load(graph)


def test_s05_an_index_above_ten_thousand_is_refused():
    assert parse_tag_index_name("A:10000:b") == ("A", 10_000, "b")
    with pytest.raises(
        ResourceExhaustedError, match="index of a port is 10001, more than the limit 'ports' of 10000"
    ):
        parse_tag_index_name("A:10001:b")


def test_s06_ports_are_numbered_by_tag_and_then_by_index():
    ports = TagMap(["B:1:b1", "x", "A:a", "B:0:b0", "y"])

    assert ports.names() == ("x", "y", "a", "b0", "b1")
    assert ports.ids() == (("", 0), ("", 1), ("A", 0), ("B", 0), ("B", 1))


def test_s06_a_calculator_meets_its_ports_in_that_order(bench):
    bench.start(bench.net("b1 x a b0 y", "Merge B:1:b1 x A:a B:0:b0 y -> out"), watch=["out"])
    for name in ("b1", "x", "a", "b0", "y"):
        bench.add(name, (1, name))
    bench.end()

    assert bench.seen["out"] == [(1, "1: x y a b0 b1")]


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (["A:a", "A:b"], "tag 'A' index 0 already has the name 'a' but is given the name 'b' too"),
        (["A:1:a"], "tag 'A' has no entry for index 0"),
    ],
)
def test_s06_an_index_given_twice_or_left_out_is_refused(bench, ports, message):
    with pytest.raises(FailedPreconditionError, match=message):
        TagMap(ports)
    with pytest.raises(GraphConfigError, match=message):
        bench.load(bench.net("a b", f"Merge {' '.join(ports)} -> out"))
