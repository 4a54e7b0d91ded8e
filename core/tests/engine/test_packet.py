from __future__ import annotations

import gc
import weakref

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, SourceCodeInfo
from google.protobuf.message import Message

from penstock.engine.packet import NO_PAYLOAD, Packet
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
        Packet(NO_PAYLOAD, 3).get(str)


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


# --- the reference's own tests ------------------------------------------------------------------


class Base:
    def __init__(self, value: int) -> None:
        self.value = value


class Derived(Base):
    pass


@pytest.mark.reference("framework/packet_test.cc", "PacketTest.WorksAsExpected")
@pytest.mark.reference("framework/packet_delete_test.cc", "Packet.DeletesNonArray")
def test_two_packets_share_an_object_that_dies_with_the_second() -> None:
    payload = Base(22)
    alive = weakref.ref(payload)
    packet = Packet(payload)
    second = packet.at(packet.timestamp)
    assert second.get(Base).value == 22
    assert second.get(Base) is payload
    del payload, packet
    assert alive() is not None

    del second
    assert alive() is None


@pytest.mark.reference(
    "framework/packet_delete_test.cc", "Packet.DeletesBoundedArray", "Packet.DeletesUnboundedArray"
)
@pytest.mark.parametrize("size", range(10))
def test_a_payload_of_several_objects_dies_as_a_whole(size) -> None:
    payload = [Payload() for _ in range(size)]
    alive = weakref.WeakSet(payload)
    packet = Packet(payload)
    del payload
    assert len(alive) == size

    del packet
    assert len(alive) == 0


@pytest.mark.reference("framework/packet_test.cc", "PacketTest.UsesLvalueAndRvalueReferencePacketAtFunctions")
def test_at_leaves_the_packet_as_it_was() -> None:
    for payload, stamp in ((0, 100), (1, 200)):
        packet = Packet(payload)
        later = packet.at(stamp)

        assert (packet.get(int), later.get(int)) == (payload, payload)
        assert (packet.timestamp, later.timestamp) == (Timestamp.UNSET, Timestamp(stamp))


@pytest.mark.reference("framework/packet_test.cc", "PacketTest.HandlesAbstractClasses")
@pytest.mark.reference(
    "framework/api2/packet_test.cc", "PacketTest.Polymorphism", "PacketTest.PolymorphismAbstract"
)
def test_get_by_a_base_class() -> None:
    assert Packet(Derived(42)).get(Base).value == 42
    assert type(Packet(Derived(42)).get(Base)).__name__ == "Derived"


@pytest.mark.reference(
    "framework/packet_test.cc",
    "PacketTest.ReturnGenericProtobufMessage",
    "PacketTest.TryWrongProtobufMessageSubType",
    "PacketTest.GetProtoBase",
    "PacketTest.ValidateAsProtoMessageLite",
)
def test_a_message_is_got_as_its_class_or_as_any_message() -> None:
    kind = SourceCodeInfo.Location  # has repeated numbers
    packet = Packet(kind(path=[123]))

    assert packet.get(kind).path[0] == 123
    assert packet.get(Message).path[0] == 123
    with pytest.raises(PacketTypeError, match=r"'Location'.*'FileDescriptorProto'"):
        packet.get(FileDescriptorProto)
    with pytest.raises(PacketTypeError, match=r"'int'.*'Message'") as caught:
        Packet(3).get(Message)
    assert caught.value.code is StatusCode.INVALID_ARGUMENT


@pytest.mark.reference("framework/packet_test.cc", "PacketTest.GetVectorOfProtos")
def test_a_list_of_messages_is_a_payload() -> None:
    messages = [SourceCodeInfo.Location(path=[123]), SourceCodeInfo.Location(path=[456])]

    assert Packet(messages).get(list) == messages
    with pytest.raises(PacketTypeError, match=r"'int'.*'list'"):
        Packet(1).get(list)


@pytest.mark.reference(
    "framework/packet_test.cc", "PacketTest.MakePacketOfIntArray", "PacketTest.MakePacketOfIntVector"
)
def test_a_number_and_several_numbers_are_payloads() -> None:
    assert Packet(123).get(int) == 123
    assert Packet((32, 64, 128)).get(tuple) == (32, 64, 128)
    assert Packet([1, 2, 3]).get(list) == Packet([*range(1, 4)]).get(list)


@pytest.mark.reference(
    "framework/packet_test.cc", "PacketTest.TestForeignCleanupIsInvokedOnceWhenAllPacketCopiesDestroyed"
)
def test_what_shall_happen_at_the_end_of_a_payload_happens_once_after_its_last_packet() -> None:
    cleanups = []
    payload = Payload()
    weakref.finalize(payload, lambda: cleanups.append("now"))
    packet = Packet(payload)
    del payload
    copies = [packet.at(5) for _ in range(10)]
    copies.clear()
    assert cleanups == []

    copies = [packet.at(5) for _ in range(10)]
    del packet
    assert cleanups == []
    copies.clear()
    assert cleanups == ["now"]


@pytest.mark.reference(
    "framework/packet_test.cc", "PacketTest.Share", "PacketTest.SharedPtrWithPacketOwnership"
)
def test_who_holds_the_payload_keeps_it_after_the_packet() -> None:
    packet = Packet(Base(1))
    with pytest.raises(PacketTypeError) as wrong:
        packet.get(str)
    payload = packet.get(Base)
    packet = Packet()
    with pytest.raises(InternalError) as empty:
        packet.get(Base)
    assert (wrong.value.code, empty.value.code) == (StatusCode.INVALID_ARGUMENT, StatusCode.INTERNAL)
    del wrong, empty

    alive = weakref.ref(payload)
    gc.collect()
    assert alive() is payload
    del payload
    gc.collect()
    assert alive() is None


@pytest.mark.reference(
    "framework/api2/packet_test.cc",
    "PacketTest.PacketBaseDefault",
    "PacketTest.PacketBaseNonEmpty",
    "PacketTest.PacketNonEmpty",
    "PacketTest.PacketAdopting",
    "PacketTest.PacketGeneric",
)
@pytest.mark.reference("framework/api3/packet_test.cc", "PacketTest.PacketValidationWorks")
def test_a_packet_with_a_payload_is_not_empty() -> None:
    assert Packet().is_empty()
    for payload in (5, 1.0, 42):
        assert not Packet(payload).is_empty()


@pytest.mark.reference(
    "framework/api2/packet_test.cc", "PacketTest.PacketTimestamp", "PacketTest.PacketGenericTimestamp"
)
def test_each_copy_has_its_own_timestamp() -> None:
    packet = Packet(5)
    second = packet.at(1)
    third = second.at(3)

    assert [one.timestamp for one in (packet, second, third)] == [Timestamp.UNSET, Timestamp(1), Timestamp(3)]


@pytest.mark.reference(
    "framework/api2/packet_test.cc",
    "PacketTest.Get",
    "PacketTest.PacketFromGeneric",
    "PacketTest.PacketBaseSame",
)
@pytest.mark.reference("framework/api3/packet_test.cc", "PacketTest.MakePacketWorks")
def test_get_returns_the_object_that_was_given() -> None:
    payload = Base(5)
    assert Packet(payload).at(2).get(Base) is payload
    assert (Packet(5).get(int), Packet(5).payload) == (5, 5)

    for packet, payload, stamp in (
        (Packet(10), 10, Timestamp.UNSET),
        (Packet(20, 2000), 20, Timestamp(2000)),
    ):
        assert (packet.get(int), packet.timestamp) == (payload, stamp)


@pytest.mark.reference("framework/api2/packet_test.cc", "PacketTest.Has", "PacketTest.OneOf")
@pytest.mark.parametrize(
    ("payload", "own", "other"), [(5, int, bool), (Payload(), Payload, int), ("hi", str, int), (2, int, str)]
)
def test_get_tells_by_the_type_whether_the_payload_is_of_it(payload, own, other) -> None:
    assert Packet(payload).get(own) == payload
    with pytest.raises(PacketTypeError):
        Packet(payload).get(other)


@pytest.mark.reference(
    "framework/api2/packet_test.cc", "PacketTest.PacketBaseRefCount", "PacketTest.PacketRefCount"
)
def test_a_payload_lives_as_long_as_a_copy_of_its_packet() -> None:
    payload = Payload()
    alive = weakref.ref(payload)
    packet = Packet(payload)
    del payload
    second = packet
    packet = Packet()
    assert alive() is not None

    second = Packet()
    assert alive() is None
    assert second.is_empty()


@pytest.mark.reference("framework/api3/packet_test.cc", "PacketTest.PacketSharingWorks")
def test_a_payload_lives_as_long_as_somebody_holds_it() -> None:
    packet = Packet(Payload())
    with pytest.raises(PacketTypeError) as wrong:
        packet.get(int)
    assert wrong.value.code is StatusCode.INVALID_ARGUMENT
    del wrong
    payload = packet.get(Payload)
    alive = weakref.ref(payload)
    packet = Packet()
    assert alive() is not None

    del payload
    gc.collect()
    assert alive() is None
    with pytest.raises(InternalError, match="empty packet"):
        packet.get(Payload)


@pytest.mark.parametrize("make", [lambda t: Packet(5, t), lambda t: Packet(5).at(t), Timestamp])
def test_a_time_in_seconds_says_how_it_becomes_a_timestamp(make) -> None:
    with pytest.raises(
        TypeError,
        match=r"^a timestamp is a whole number of microseconds, not the float 1\.5; for seconds write "
        r"Timestamp\.from_seconds\(1\.5\)$",
    ):
        make(1.5)
    for value in ("1", None, float("nan")):
        with pytest.raises(TypeError, match=f"microseconds, not '{type(value).__name__}'$"):
            make(value)
