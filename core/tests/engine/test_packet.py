from __future__ import annotations

import gc
import weakref

import pytest

from penstock.engine.packet import NOTHING, Packet
from penstock.errors import InternalError, PacketTypeError, StatusCode
from penstock.timestamp import Timestamp


class Payload:
    pass


def test_a_packet_has_no_timestamp_unless_it_is_given_one() -> None:
    packet = Packet("x")

    assert packet.timestamp == Timestamp.UNSET
    assert packet.at(5).timestamp == Timestamp(5)
    assert packet.timestamp == Timestamp.UNSET


def test_a_packet_at_another_time_has_the_same_payload_and_is_equal() -> None:
    payload = Payload()
    packet = Packet(payload)

    assert packet.at(5).payload is payload
    assert packet == packet.at(5)
    assert hash(packet) == hash(packet.at(5))


def test_equal_payloads_that_are_two_objects_make_unequal_packets() -> None:
    assert Packet([1]) != Packet([1])
    assert Packet("x") != "x"


def test_empty_packets_are_equal_at_all_times() -> None:
    assert Packet() == Packet().at(7)
    assert Packet().at(7).is_empty()
    assert Packet().at(7).timestamp == 7
    assert Packet().payload is None


def test_none_is_a_payload() -> None:
    packet = Packet(None, 3)

    assert not packet.is_empty()
    assert packet.payload is None
    assert packet != Packet()


def test_get_returns_the_payload_where_the_type_is_right() -> None:
    assert Packet(True).get(int) is True  # the payload
    assert Packet("x").get(object) == "x"


def test_get_of_another_type_names_both_types() -> None:
    with pytest.raises(PacketTypeError, match="holds a 'str', but a 'int' was asked for") as caught:
        Packet("x").get(int)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT
    assert isinstance(caught.value, ValueError)


def test_get_of_an_empty_packet_says_that_it_is_empty() -> None:
    with pytest.raises(InternalError, match="expected a packet of type 'int', got an empty packet") as caught:
        Packet().get(int)

    assert caught.value.code is StatusCode.INTERNAL


def test_get_takes_nothing_for_a_payload_that_was_never_given() -> None:
    with pytest.raises(InternalError, match="got an empty packet"):
        Packet(NOTHING, 3).get(str)


def test_a_timestamp_must_be_a_whole_number() -> None:
    with pytest.raises(TypeError, match="float"):
        Packet("x", 1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="str"):
        Packet("x").at("5")  # type: ignore[arg-type]


def test_a_packet_has_no_room_for_anything_else() -> None:
    with pytest.raises(AttributeError, match="note"):
        Packet("x").note = 1  # type: ignore[attr-defined]


def test_a_payload_dies_with_the_last_packet_that_holds_it() -> None:
    payload = Payload()
    alive = weakref.ref(payload)
    packet = Packet(payload)
    later = packet.at(9)
    del payload, packet
    gc.collect()
    assert alive() is not None

    del later
    gc.collect()
    assert alive() is None


def test_a_packet_is_shown_with_its_payload_and_time() -> None:
    assert repr(Packet("x", 3)) == "Packet('x', 3)"
    assert repr(Packet(None, Timestamp.MAX)) == "Packet(None, Timestamp::Max())"
    assert repr(Packet(5)) == "Packet(5)"
    assert repr(Packet()) == "Packet()"
    assert repr(Packet(timestamp=4)) == "Packet(timestamp=4)"


class Pictured:
    def __init__(self, answer) -> None:
        self._answer = answer

    def _repr_png_(self):
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_a_notebook_gets_the_image_of_the_payload_or_none() -> None:
    assert Packet(Pictured(b"png"), 3)._repr_png_() == b"png"
    assert Packet(Pictured(RuntimeError("no")), 3)._repr_png_() is None
    assert Packet(Pictured("no bytes"), 3)._repr_png_() is None
    assert Packet(Pictured, 3)._repr_png_() is None
    assert Packet(3)._repr_png_() is None
    assert Packet()._repr_png_() is None
