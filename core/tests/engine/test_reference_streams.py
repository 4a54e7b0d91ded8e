"""Both ends of a stream as in the reference's tests, with its inputs and expected values.

They are its files `input_stream_manager_test.cc` and `output_stream_manager_test.cc`. A policy that counts
how often it looks shows what the reader gets to know.
"""

from __future__ import annotations

import weakref

import pytest

from penstock import STOP, Packet
from penstock.engine.input_stream_handler import NOT_READY, InputStreamHandler
from penstock.errors import PacketTypeError, PenstockError
from penstock.timestamp import (
    DONE,
    MAX,
    MIN,
    ONE_OVER_POSTSTREAM,
    POSTSTREAM,
    PRESTREAM,
    UNSET,
    UNSTARTED,
    Timestamp,
)
from penstock_testing import ScheduleHarness, calculator, node, wired

LOST = "the test drops it"


class Looks(InputStreamHandler):
    """Is never ready, and counts how often it is asked."""

    looks = 0

    def look(self) -> int:
        self.looks += 1
        return NOT_READY


class LooksAtArrivals(Looks):
    ignores_timestamps = True


class Reading:
    """The reading end of a graph input of str, and the fate of its packets."""

    def __init__(
        self, policy: type[Looks] = Looks, max_queue_size: int = -1, payload_type: type = str
    ) -> None:
        reader = calculator(name="Reader", contract=lambda cc: cc.inputs[0].set(payload_type))
        self.plan = wired(
            node(reader, "a_test", handler=policy),
            node(calculator(name="Busy"), "busy"),
            inputs="a_test busy",
            max_queue_size=max_queue_size,
        )
        self.begin()

    def begin(self) -> None:
        """Begin a run."""
        self.harness = ScheduleHarness(self.plan, observe=()).start()
        self.harness.run()
        self.harness.add("busy", "x", 0)
        self.harness.take()  # so that the graph is not idle, where limits may grow
        self.stream = self.harness.stream("a_test").readers[0]
        self.policy = self.harness.node("Reader").policy
        self.policy.looks = 0
        self.waits_from_the_start = len(self.stream.queue)

    def add(self, *packets: tuple[object, int]) -> bool:
        """Add packets, payload and timestamp, as one; return whether the reader was called."""
        before = self.policy.looks
        for payload, stamp in packets:
            self.harness.add("a_test", payload, stamp)
        return self.policy.looks > before

    def bound(self, bound: int) -> bool:
        """Set the bound; return whether the reader was called."""
        before = self.policy.looks
        self.harness.set_bound("a_test", bound)
        return self.policy.looks > before

    def take(self, stamp: int) -> tuple[object, int]:
        """Take what is there at a timestamp, as (payload, number of packets before it, which are lost)."""
        lost = self.stream.drop_below(stamp, LOST)
        packet = self.stream.pop_at(stamp)
        return packet.payload, lost

    def head(self) -> tuple[object, int] | None:
        """Return the oldest packet that waits."""
        queue = self.stream.queue
        return (queue[0].payload, queue[0].stamp) if queue else None


THREE = [("packet 1", 10), ("packet 2", 20), ("packet 3", 30)]

# --- the reading end ------------------------------------------------------------------------------------


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPackets")
def test_packets_that_are_added_wait_and_the_reader_is_told() -> None:
    reading = Reading()
    packets = [Packet(payload, stamp) for payload, stamp in THREE]
    assert not reading.stream.queue

    for packet in packets:
        reading.harness.add_packet("a_test", packet)

    assert reading.policy.looks == 1
    assert [packet.payload for packet in reading.stream.queue] == ["packet 1", "packet 2", "packet 3"]
    assert not any(packet.is_empty() for packet in packets)


@pytest.mark.parametrize(
    "stamp",
    [
        pytest.param(
            UNSET,
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketUnset"
            ),
        ),
        pytest.param(
            UNSTARTED,
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketUnstarted"
            ),
        ),
        pytest.param(
            ONE_OVER_POSTSTREAM,
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketOneOverPostStream"
            ),
        ),
        pytest.param(
            DONE,
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketDone"
            ),
        ),
    ],
)
def test_a_timestamp_that_no_stream_may_have_is_refused_by_its_name(stamp) -> None:
    reading = Reading()

    with pytest.raises(PenstockError) as caught:
        reading.add(("packet 1", stamp))

    assert str(Timestamp.of(stamp)) in str(caught.value)
    assert reading.policy.looks == 0


@pytest.mark.parametrize(
    "stamp",
    [
        pytest.param(
            PRESTREAM,
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketsOnlyPreStream"
            ),
        ),
        pytest.param(
            POSTSTREAM,
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketsOnlyPostStream"
            ),
        ),
    ],
)
def test_one_packet_before_or_after_all_others_waits(stamp) -> None:
    reading = Reading()

    assert reading.add(("packet 1", stamp))
    assert reading.head() == ("packet 1", stamp)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        pytest.param(
            PRESTREAM,
            10,
            ["Timestamp::OneOverPostStream()"],
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketsAfterPreStream"
            ),
        ),
        pytest.param(
            10,
            POSTSTREAM,
            ["Timestamp::PostStream()"],
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketsBeforePostStream"
            ),
        ),
        pytest.param(
            20,
            10,
            ["10", "21"],
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc", "InputStreamManagerTest.AddPacketsReverseTimestamps"
            ),
        ),
    ],
)
def test_a_packet_that_cannot_follow_is_refused_with_what_can(first, second, words) -> None:
    reading = Reading()
    reading.add(("packet 1", first))
    looks = reading.policy.looks

    with pytest.raises(PenstockError) as caught:
        reading.add(("packet 2", second))

    assert [word for word in words if word not in str(caught.value)] == []
    assert reading.policy.looks == looks


@pytest.mark.reference(
    "framework/input_stream_manager_test.cc", "InputStreamManagerTest.PopPacketAtTimestamp"
)
def test_what_is_taken_at_a_timestamp_is_there_or_empty_and_what_comes_before_is_lost() -> None:
    reading = Reading()
    assert reading.head() is None
    assert reading.add(*THREE)
    assert reading.head() == ("packet 1", 10)

    assert reading.take(5) == (None, 0)
    assert reading.head() == ("packet 1", 10)
    assert reading.take(10) == ("packet 1", 0)
    assert reading.head() == ("packet 2", 20)
    assert reading.take(15) == (None, 0)
    assert reading.head() == ("packet 2", 20)
    assert reading.take(30) == ("packet 3", 1)
    assert reading.head() is None
    assert not reading.stream.is_done()

    looks = reading.policy.looks
    reading.harness.close_input("a_test")
    assert reading.policy.looks > looks
    assert reading.take(40) == (None, 0)
    assert reading.stream.is_done()


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.PopQueueHead")
def test_the_oldest_packet_is_taken_whatever_its_timestamp() -> None:
    reading = Reading(LooksAtArrivals)
    assert reading.add(*THREE)
    for payload, stamp in THREE:
        assert reading.head() == (payload, stamp)
        taken = reading.stream.pop()
        assert (taken.payload, taken.stamp) == (payload, stamp)
        assert not reading.stream.is_done()
    assert reading.head() is None

    looks = reading.policy.looks
    reading.harness.close_input("a_test")
    assert reading.policy.looks > looks
    assert reading.stream.is_done()


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.BadPacketType")
def test_a_payload_of_another_type_is_refused() -> None:
    reading = Reading()

    with pytest.raises(PacketTypeError, match=r"holds a 'int', but the stream carries str"):
        reading.add((10, 10))

    assert reading.policy.looks == 0
    assert reading.head() is None


@pytest.mark.reference(
    "framework/input_stream_manager_test.cc",
    "InputStreamManagerTest.Close",
    "InputStreamManagerTest.ReuseInputStreamManager",
)
def test_a_stream_is_empty_after_its_end_and_at_the_start_of_the_next_run() -> None:
    reading = Reading()
    for _ in range(2):
        assert reading.waits_from_the_start == 0
        assert reading.add(*THREE)
        assert reading.take(40) == (None, 3)
        assert reading.head() is None
        assert not reading.stream.is_done()
        reading.harness.close_input("a_test")
        assert reading.head() is None
        reading.begin()


@pytest.mark.reference(
    "framework/input_stream_manager_test.cc", "InputStreamManagerTest.MultipleNotifications"
)
def test_the_reader_is_told_of_the_first_packet_in_an_empty_queue_only() -> None:
    reading = Reading()
    assert reading.add(("packet 1", 10))
    assert not reading.add(("packet 2", 20))
    assert not reading.add(("packet 3", 30))
    assert reading.take(50) == (None, 3)
    assert reading.add(("packet 4", 60), ("packet 5", 70))


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.SetHeader")
def test_a_header_reaches_the_reading_end() -> None:
    reading = Reading()
    header = ScheduleHarness(reading.plan).start({"a_test": "blah"}).stream("a_test").readers[0].header

    assert (header.payload, header.stamp) == ("blah", UNSET)


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.BackwardsInTime")
def test_neither_bounds_nor_packets_go_back_in_time() -> None:
    """Where the reference takes an input set at 150, the bound is 151 already: nothing else is taken here."""
    reading = Reading()
    assert reading.add(*THREE[:2])
    assert not reading.bound(50)
    with pytest.raises(PenstockError, match=r"40.*50"):
        reading.bound(40)
    with pytest.raises(PenstockError, match=r"30.*50"):
        reading.add(("packet 3", 30))

    assert reading.take(100) == (None, 2)
    assert reading.add(("packet 4", 110))
    reading.bound(151)
    assert reading.take(150) == (None, 1)
    with pytest.raises(PenstockError, match=r"130.*151"):
        reading.add(("packet 5", 130))


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.TimestampBound")
def test_a_bound_is_news_only_where_no_packet_waits() -> None:
    reading = Reading()
    assert reading.add(*THREE[:2])
    for bound in (30, 40, 50):
        assert reading.stream.head_or_bound() == 10
        assert not reading.bound(bound)
    assert reading.stream.head_or_bound() == 10
    assert reading.take(10) == ("packet 1", 0)
    assert reading.stream.head_or_bound() == 20
    assert reading.take(20) == ("packet 2", 0)
    assert reading.stream.head_or_bound() == 50
    assert reading.take(50) == (None, 0)

    for bound in (60, 70, 80):
        assert reading.bound(bound)
        assert reading.stream.head_or_bound() == bound
    assert reading.add(("packet 3", 90))
    assert reading.stream.head_or_bound() == 90
    assert reading.take(90) == ("packet 3", 0)
    assert reading.stream.head_or_bound() == 91
    reading.harness.close_input("a_test")
    assert reading.head() is None
    assert reading.stream.head_or_bound() == DONE


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.QueueSizeTest")
def test_a_queue_is_full_from_its_limit_on_until_it_is_below() -> None:
    reading = Reading(max_queue_size=2)
    stream, is_throttled = reading.stream, lambda: reading.harness.is_throttled("a_test")
    assert reading.add(*THREE)
    assert (stream.is_full, is_throttled()) == (True, True)
    assert reading.take(50) == (None, 3)
    assert (stream.is_full, is_throttled()) == (False, False)
    assert reading.harness.stream("a_test").added == 3

    assert reading.add(("packet 4", 60), ("packet 5", 70))
    assert (stream.is_full, is_throttled()) == (True, True)
    assert reading.harness.stream("a_test").added == 5


@pytest.mark.reference("framework/input_stream_manager_test.cc", "InputStreamManagerTest.InputReleaseTest")
def test_a_payload_is_gone_when_the_packet_that_was_taken_is() -> None:
    class Tracked:
        pass

    reading = Reading(max_queue_size=3, payload_type=Tracked)
    alive: weakref.WeakSet[Tracked] = weakref.WeakSet()
    for stamp in (1, 2, 3):
        payload = Tracked()
        alive.add(payload)
        reading.add((payload, stamp))
        del payload
    assert len(alive) == 3
    assert reading.stream.is_full

    for left, stamp in ((2, 1), (1, 2), (0, 3)):
        packet = reading.stream.pop_at(stamp)
        assert len(alive) == left + 1
        assert not reading.stream.is_full
        del packet
        assert len(alive) == left


@pytest.mark.parametrize(
    "stamps",
    [
        pytest.param(
            [PRESTREAM, 10],
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc",
                "InputStreamManagerTest.AddPacketsAfterPreStreamUntimed",
            ),
        ),
        pytest.param(
            [10, POSTSTREAM],
            marks=pytest.mark.reference(
                "framework/input_stream_manager_test.cc",
                "InputStreamManagerTest.AddPacketsBeforePostStreamUntimed",
            ),
        ),
    ],
)
def test_a_reader_that_ignores_timestamps_gets_packets_before_and_after_others(stamps) -> None:
    reading = Reading(LooksAtArrivals)

    assert reading.add(*((f"packet {i}", stamp) for i, stamp in enumerate(stamps, 1)))
    assert [packet.stamp for packet in reading.stream.queue] == stamps


@pytest.mark.reference(
    "framework/input_stream_manager_test.cc", "InputStreamManagerTest.BackwardsInTimeUntimed"
)
def test_a_reader_that_ignores_timestamps_lets_time_go_back() -> None:
    reading = Reading(LooksAtArrivals)
    assert reading.add(*THREE[:2])
    assert not reading.bound(50)
    assert not reading.bound(40)
    assert not reading.add(("packet 3", 30))
    for _ in range(3):
        reading.stream.pop()
        assert not reading.stream.is_done()
    assert reading.add(("packet 4", 110))
    reading.stream.pop()
    assert not reading.stream.is_done()
    assert reading.add(("packet 5", 130))


# --- the writing end ------------------------------------------------------------------------------------


def packet(stamp):
    return lambda output: output.add(f"packet at {stamp}", stamp)


def bound(stamp):
    return lambda output: output.set_next_timestamp_bound(stamp)


def close(output):
    output.close()


class Writing:
    """A node of one input at a timestamp, and what it writes to an output of str in `open` or `process`."""

    def __init__(self, *actions, offset=None, at=0, in_open=False) -> None:
        def write(cc) -> None:
            for action in actions:
                action(cc.output)

        writer = calculator(
            None if in_open else write,
            open=write if in_open else None,
            name="Writer",
            offset=offset,
            contract=lambda cc: cc.outputs[0].set(str),
        )
        self.harness = ScheduleHarness(
            wired(
                node(writer, "in", "out"), node(calculator(name="Reader"), "out", handler=Looks), inputs="in"
            )
        ).start()
        self.harness.run()
        if not in_open:
            self.harness.add("in", "x", at)
            self.harness.complete(self.harness.call(self.harness.take()))
        self.out = self.harness.stream("out")
        self.waiting = [one.stamp for one in self.out.readers[0].queue]


#: After which writes of one call, and with which input, the bound is which; PRESTREAM where nothing is said.
#: The reference asks for the bound at the last inputs with the writes of the first ones, which here break the
#: promise of the offset: there nothing is written.
TWO = [packet(10), packet(20)]
BOUNDS = {
    "ComputeOutputTimestampBoundWithoutOffset": [
        (None, 0, [], PRESTREAM),
        (None, 0, TWO[:1], 11),
        (None, 0, TWO, 21),
        (None, 0, [*TWO, bound(100)], 100),
        (None, MAX, [*TWO, bound(100)], 100),
    ],
    "ComputeOutputTimestampBoundWithOffset": [
        (0, 0, [], 1),
        (0, 0, TWO[:1], 11),
        (0, 0, TWO, 21),
        (0, 0, [*TWO, bound(100)], 100),
        (0, MAX, [], POSTSTREAM),
        (0, POSTSTREAM, [], ONE_OVER_POSTSTREAM),
    ],
    "ComputeOutputTimestampBoundWithNegativeOffset": [
        (-10, 0, [], -9),
        (-10, 0, TWO[:1], 11),
        (-10, 0, TWO, 21),
        (-10, 0, [*TWO, bound(100)], 100),
        (-10, MAX, [], MAX - 9),
        (-10, POSTSTREAM, [], ONE_OVER_POSTSTREAM),
    ],
    "ComputeOutputTimestampBoundWithoutOffsetForPreStream": [
        (None, PRESTREAM, [], PRESTREAM),
        (None, PRESTREAM, [packet(20)], 21),
        (None, PRESTREAM, [packet(20), close], DONE),
    ],
    "ComputeOutputTimestampBoundWithOffsetForPreStream": [
        (0, PRESTREAM, [], MIN),
        (0, PRESTREAM, [packet(20)], 21),
        (0, PRESTREAM, [packet(20), close], DONE),
    ],
}


def check_bounds(name, *, in_open=False):
    for offset, at, actions, expected in BOUNDS[name]:
        writing = Writing(*actions, offset=offset, at=at, in_open=in_open)
        assert writing.harness.errors == []
        assert writing.out.bound == expected


@pytest.mark.reference(
    "framework/output_stream_manager_test.cc",
    "OutputStreamManagerTest.ComputeOutputTimestampBoundWithoutOffset",
    "OutputStreamManagerTest.ComputeOutputTimestampBoundWithoutOffsetForPreStream",
)
@pytest.mark.parametrize(
    "name",
    [
        "ComputeOutputTimestampBoundWithoutOffset",
        "ComputeOutputTimestampBoundWithoutOffsetForPreStream",
    ],
)
def test_without_an_offset_only_what_is_written_moves_the_bound(name) -> None:
    check_bounds(name)


@pytest.mark.reference(
    "framework/output_stream_manager_test.cc",
    "OutputStreamManagerTest.ComputeOutputTimestampBoundWithOffset",
    "OutputStreamManagerTest.ComputeOutputTimestampBoundWithNegativeOffset",
    "OutputStreamManagerTest.ComputeOutputTimestampBoundWithOffsetForPreStream",
)
@pytest.mark.parametrize(
    "name",
    [
        "ComputeOutputTimestampBoundWithOffset",
        "ComputeOutputTimestampBoundWithNegativeOffset",
        "ComputeOutputTimestampBoundWithOffsetForPreStream",
    ],
)
def test_with_an_offset_the_input_moves_the_bound_too(name) -> None:
    check_bounds(name)


@pytest.mark.parametrize(
    "offset",
    [
        pytest.param(
            None,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc",
                "OutputStreamManagerTest.ComputeOutputTimestampBoundWithoutOffsetAfterOpenNode",
            ),
        ),
        pytest.param(
            0,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc",
                "OutputStreamManagerTest.ComputeOutputTimestampBoundWithOffsetAfterOpenNode",
            ),
        ),
    ],
)
@pytest.mark.parametrize(
    ("actions", "expected"), [([], PRESTREAM), ([packet(20)], 21), ([packet(20), close], DONE)]
)
def test_after_open_only_what_is_written_moves_the_bound(offset, actions, expected) -> None:
    assert Writing(*actions, offset=offset, in_open=True).out.bound == expected


@pytest.mark.reference("framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacket")
def test_what_a_call_writes_reaches_the_reader_when_the_call_has_ended() -> None:
    seen = []
    writing = Writing(
        packet(10), packet(20), packet(30), lambda output: seen.append(len(output.stream.readers[0].queue))
    )

    assert seen == [0]
    assert (writing.out.bound, writing.waiting, writing.harness.errors) == (31, [10, 20, 30], [])


@pytest.mark.reference(
    "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.ShouldReportNumPacketsAdded"
)
def test_packets_that_are_written_are_counted() -> None:
    assert Writing(packet(1), packet(2)).out.added == 2


@pytest.mark.parametrize(
    "stamp",
    [
        pytest.param(
            UNSET,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketUnset"
            ),
        ),
        pytest.param(
            UNSTARTED,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketUnstarted"
            ),
        ),
        pytest.param(
            ONE_OVER_POSTSTREAM,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc",
                "OutputStreamManagerTest.AddPacketOneOverPostStream",
            ),
        ),
        pytest.param(
            DONE,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketdDone"
            ),
        ),
    ],
)
def test_a_packet_at_such_a_timestamp_is_one_error_and_changes_nothing(stamp) -> None:
    writing = Writing(packet(stamp))

    (error,) = writing.harness.errors
    assert str(Timestamp.of(stamp)) in str(error)
    assert (writing.out.bound, writing.waiting) == (PRESTREAM, [])


@pytest.mark.parametrize(
    "stamp",
    [
        pytest.param(
            PRESTREAM,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketOnlyPreStream"
            ),
        ),
        pytest.param(
            POSTSTREAM,
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketOnlyPostStream"
            ),
        ),
    ],
)
def test_one_packet_before_or_after_all_others_is_the_last(stamp) -> None:
    writing = Writing(packet(stamp), at=stamp)

    assert (writing.out.bound, writing.waiting) == (ONE_OVER_POSTSTREAM, [stamp])
    assert writing.harness.errors == []


class Source:
    """A source that does one thing in each call."""

    def __init__(self, *actions) -> None:
        left = list(actions)
        self.bounds: list[int] = []

        def process(cc):
            self.bounds.append(cc.output.stream.bound)
            left.pop(0)(cc.output)
            return None if left else STOP

        source = calculator(process, name="Source", contract=lambda cc: cc.outputs[0].set(str))
        self.harness = ScheduleHarness(
            wired(node(source, (), "out"), node(calculator(name="Reader"), "out", handler=Looks))
        ).start()
        self.harness.run()


@pytest.mark.parametrize(
    ("first", "second", "between", "words"),
    [
        pytest.param(
            packet(PRESTREAM),
            packet(10),
            ONE_OVER_POSTSTREAM,
            ["Timestamp::OneOverPostStream()"],
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketAfterPreStream"
            ),
        ),
        pytest.param(
            packet(10),
            packet(POSTSTREAM),
            11,
            ["Timestamp::PostStream()"],
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.AddPacketBeforePostStream"
            ),
        ),
        pytest.param(
            packet(20),
            packet(10),
            21,
            ["10", "21"],
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc",
                "OutputStreamManagerTest.AddPacketReverseTimestamps",
            ),
        ),
        pytest.param(
            bound(50),
            bound(40),
            50,
            ["50", "40"],
            marks=pytest.mark.reference(
                "framework/output_stream_manager_test.cc",
                "OutputStreamManagerTest.SetNextTimestampBoundReverseTimestamps",
            ),
        ),
    ],
)
def test_what_cannot_follow_what_an_earlier_call_wrote_is_one_error(first, second, between, words) -> None:
    source = Source(first, second)

    assert source.bounds == [PRESTREAM, between]
    (error,) = source.harness.errors
    assert [word for word in words if word not in str(error)] == []


@pytest.mark.reference("framework/output_stream_manager_test.cc", "OutputStreamManagerTest.BadPacketType")
def test_a_payload_of_another_type_is_one_error() -> None:
    (error,) = Writing(lambda output: output.add(10, 10)).harness.errors

    assert isinstance(error.__cause__, PacketTypeError)


@pytest.mark.reference("framework/output_stream_manager_test.cc", "OutputStreamManagerTest.SetHeader")
def test_a_header_reaches_the_writing_end_and_the_reading_end() -> None:
    out = Writing(lambda output: output.set_header(Packet("header")), in_open=True).out

    for header in (out.header, out.readers[0].header):
        assert (header.payload, header.stamp) == ("header", UNSET)


@pytest.mark.reference(
    "framework/output_stream_manager_test.cc", "OutputStreamManagerTest.SetHeaderWithTimestamp"
)
def test_a_header_with_a_timestamp_is_one_error() -> None:
    writing = Writing(lambda output: output.set_header(Packet("header", 10)), in_open=True)

    assert len(writing.harness.errors) == 1
