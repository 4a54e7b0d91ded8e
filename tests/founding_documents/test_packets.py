"""The packet examples of the first document: a packet owns its data, another one shares it later."""

from __future__ import annotations

import gc
import weakref

import pytest

from penstock import Packet, PenstockError, StatusCode, Timestamp


class MyDataClass:
    def __init__(self, argument):
        self.argument = argument


def test_a_packet_is_made_from_data_and_another_from_it_at_another_timestamp():
    data = MyDataClass("constructor_argument")
    p = Packet(data)
    p2 = p.at(Timestamp.POSTSTREAM)

    assert p.timestamp == Timestamp.UNSET
    assert p2.timestamp == Timestamp.POSTSTREAM
    assert p2.payload is data
    assert p == p2
    assert not p2.is_empty()


def test_the_data_is_reached_by_its_type():
    p = Packet(MyDataClass("constructor_argument"))

    assert p.get(MyDataClass).argument == "constructor_argument"
    with pytest.raises(PenstockError, match="holds a 'MyDataClass', but a 'int' was asked for") as caught:
        p.get(int)
    assert caught.value.code is StatusCode.INVALID_ARGUMENT


def test_the_data_dies_with_the_last_packet_that_holds_it():
    data = MyDataClass("constructor_argument")
    alive = weakref.ref(data)
    p = Packet(data)
    p2 = p.at(1)
    del data, p
    gc.collect()
    assert alive() is not None

    del p2
    gc.collect()
    assert alive() is None


def test_an_empty_packet_with_a_timestamp_stays_empty():
    p = Packet().at(7)

    assert p.is_empty()
    assert p.timestamp == 7
    with pytest.raises(PenstockError, match="expected a packet of type 'int', got an empty packet"):
        p.get(int)
