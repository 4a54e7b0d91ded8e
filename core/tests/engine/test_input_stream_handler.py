from __future__ import annotations

import pytest

from penstock.engine.flow import FlowControl
from penstock.engine.input_port import Input
from penstock.engine.input_stream_handler import NOT_READY, READY_FOR_CLOSE, InputStreamHandler
from penstock.engine.packet import Packet
from penstock.engine.stream import InputStream
from penstock.errors import InvalidArgumentError
from penstock.timestamp import DONE, MAX, MIN, ONE_OVER_POSTSTREAM, POSTSTREAM, PRESTREAM, UNSTARTED


class Streams:
    """Some input streams under a policy, without a node."""

    def __init__(
        self, count: int, handler: InputStreamHandler | None = None, *, bounds: bool = False
    ) -> None:
        flow = FlowControl()
        self.streams = [InputStream(f"s{i}", None, flow) for i in range(count)]
        self.handler = handler or InputStreamHandler()
        self.handler.process_bounds = bounds
        self.handler.prepare(self.streams)
        self.look, self.fill = self.handler.look, self.handler.fill

    def packet(self, number: int, *stamps: int) -> None:
        for stamp in stamps:
            self.streams[number].queue.append(Packet(f"{number}@{stamp}", stamp))
            self.streams[number].bound = stamp + 1 if stamp < MAX else ONE_OVER_POSTSTREAM

    def bound(self, number: int, bound: int) -> None:
        self.streams[number].bound = bound

    def take(self, timestamp: int) -> list[object]:
        """Fill an input set and return its payloads, or what is settled where there is none."""
        ports = [Input(stream) for stream in self.streams]
        self.fill(timestamp, ports)
        return [int(port.packet.timestamp) if port.is_empty() else port.payload for port in ports]


class TwoSets(InputStreamHandler):
    """The first stream alone, all others together."""

    def sync_sets(self):
        return [[0], range(1, len(self.inputs))]


# --- one set ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3])
def test_nothing_is_ready_before_anything_came(count) -> None:
    streams = Streams(count)

    assert streams.look() == NOT_READY
    assert streams.handler.waits_at == PRESTREAM


def test_a_single_stream_is_ready_at_its_oldest_packet() -> None:
    streams = Streams(1)
    streams.packet(0, 3, 7)

    assert streams.look() == 3
    assert streams.take(3) == ["0@3"]
    assert streams.look() == 7


def test_a_packet_waits_until_it_is_settled_on_all_streams() -> None:
    streams = Streams(2)
    streams.packet(0, 5)
    streams.bound(1, 5)
    assert streams.look() == NOT_READY
    assert streams.handler.waits_at == 5

    streams.bound(1, 6)
    assert streams.look() == 5
    assert streams.take(5) == ["0@5", 5]


def test_packets_of_one_timestamp_come_together_and_the_smallest_first() -> None:
    streams = Streams(2)
    streams.packet(0, 4, 6)
    streams.packet(1, 2, 4)

    assert streams.look() == 2
    assert streams.take(2) == [3, "1@2"]
    assert streams.look() == 4
    assert streams.take(4) == ["0@4", "1@4"]
    assert streams.look() == NOT_READY
    assert streams.handler.waits_at == 5


def test_a_closed_stream_settles_everything() -> None:
    streams = Streams(2)
    streams.packet(0, 5)
    streams.bound(1, DONE)

    assert streams.look() == 5
    assert streams.take(5) == ["0@5", MAX]


@pytest.mark.parametrize("end", [DONE, ONE_OVER_POSTSTREAM])
@pytest.mark.parametrize("count", [1, 2])
def test_a_node_closes_when_all_its_streams_have_ended(end, count) -> None:
    streams = Streams(count)
    for number in range(count):
        assert streams.look() == NOT_READY
        streams.bound(number, end)

    assert streams.look() == READY_FOR_CLOSE


def test_queued_packets_are_taken_before_a_node_closes() -> None:
    streams = Streams(1)
    streams.packet(0, 1)
    streams.bound(0, DONE)

    assert streams.look() == 1
    streams.take(1)
    assert streams.look() == READY_FOR_CLOSE


def test_looking_twice_answers_the_same() -> None:
    streams = Streams(2, bounds=True)
    streams.packet(0, 3)
    streams.bound(1, 9)

    assert [streams.look(), streams.look()] == [3, 3]


def test_a_done_flag_comes_with_the_last_packet_and_not_before() -> None:
    streams = Streams(1)
    streams.packet(0, 1, 2)
    streams.bound(0, DONE)
    port = Input(streams.streams[0])

    streams.fill(streams.look(), [port])
    assert not port.is_done()
    streams.fill(streams.look(), [port])
    assert port.is_done()


def test_a_prestream_packet_is_alone_and_ends_its_stream() -> None:
    streams = Streams(1)
    streams.streams[0].queue.append(Packet("p", PRESTREAM))
    streams.bound(0, ONE_OVER_POSTSTREAM)

    assert streams.look() == PRESTREAM
    streams.take(PRESTREAM)
    assert streams.look() == READY_FOR_CLOSE


# --- process bounds ---------------------------------------------------------------------------


def test_with_process_bounds_a_settled_timestamp_is_ready_without_packets() -> None:
    streams = Streams(2, bounds=True)
    assert streams.look() == NOT_READY
    streams.bound(0, 10)
    assert streams.look() == NOT_READY

    streams.bound(1, 8)
    assert streams.look() == 7
    assert streams.take(7) == [9, 7]
    assert streams.look() == NOT_READY
    assert streams.handler.waits_at == 8


def test_with_process_bounds_a_first_bound_at_min_settles_nothing() -> None:
    streams = Streams(1, bounds=True)
    streams.bound(0, MIN)
    assert streams.look() == NOT_READY

    streams.bound(0, MIN + 5)
    assert streams.look() == MIN + 4


def test_with_process_bounds_a_packet_is_processed_once_and_not_again_as_a_bound() -> None:
    streams = Streams(1, bounds=True)
    streams.packet(0, 5)

    assert streams.look() == 5
    streams.take(5)
    assert streams.look() == NOT_READY


def test_with_process_bounds_what_is_settled_before_a_packet_is_skipped_to_the_packet() -> None:
    streams = Streams(2, bounds=True)
    streams.packet(0, 20)
    streams.bound(1, 11)

    assert streams.look() == 10
    assert streams.take(10) == [19, 10]
    streams.bound(1, 30)
    assert streams.look() == 20


def test_with_process_bounds_a_packet_at_poststream_is_ready_at_poststream() -> None:
    streams = Streams(1, bounds=True)
    streams.streams[0].queue.append(Packet("last", POSTSTREAM))
    streams.bound(0, ONE_OVER_POSTSTREAM)

    assert streams.look() == POSTSTREAM
    assert streams.take(POSTSTREAM) == ["last"]
    assert streams.look() == READY_FOR_CLOSE


def test_with_process_bounds_the_end_of_a_stream_closes_and_is_not_processed() -> None:
    streams = Streams(1, bounds=True)
    streams.packet(0, 5)
    streams.look()
    streams.take(5)
    streams.bound(0, DONE)

    assert streams.look() == READY_FOR_CLOSE


# --- several sets -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        ([[0], [2]], "has stream 's1' (position 1) in no sets"),
        ([[0, 1], [1, 2]], "has stream 's1' (position 1) in 2 sets"),
        ([[0, 1, 1], [2]], "has stream 's1' (position 1) in 2 sets"),
        ([], "has stream 's0' (position 0) in no sets"),
        ([[0, 1]], "has stream 's2' (position 2) in no sets"),
    ],
)
def test_a_policy_whose_sets_do_not_have_each_input_once_is_refused(sets, said) -> None:
    class Forgetful(InputStreamHandler):
        def sync_sets(self):
            return sets

    with pytest.raises(InvalidArgumentError) as caught:
        Streams(3, Forgetful())

    assert str(caught.value) == (f"node '': Forgetful.sync_sets() {said}; each input must be in exactly one")


def test_a_set_does_not_wait_for_another() -> None:
    streams = Streams(3, TwoSets())
    streams.packet(0, 5)

    assert streams.look() == 5
    assert streams.take(5) == ["0@5", UNSTARTED, UNSTARTED]
    streams.packet(1, 3)
    assert streams.look() == NOT_READY
    streams.bound(2, 4)
    assert streams.look() == 3
    assert streams.take(3) == [5, "1@3", 3]


def test_the_smallest_timestamp_goes_first_and_ties_go_to_the_set_listed_first() -> None:
    streams = Streams(2, TwoSets())
    streams.packet(0, 5, 8)
    streams.packet(1, 3, 8)

    assert streams.look() == 3
    assert streams.take(3) == [4, "1@3"]
    assert streams.look() == 5
    streams.take(5)
    assert streams.look() == 8
    assert streams.take(8) == ["0@8", 7]
    assert streams.look() == 8
    assert streams.take(8) == [8, "1@8"]


def test_a_set_that_has_ended_is_left_out_and_the_last_one_closes_the_node() -> None:
    streams = Streams(2, TwoSets())
    streams.bound(0, DONE)
    assert streams.look() == NOT_READY
    streams.packet(1, 4)
    assert streams.look() == 4
    streams.take(4)

    streams.bound(1, DONE)
    assert streams.look() == READY_FOR_CLOSE


def test_with_process_bounds_the_set_that_comes_second_keeps_its_packet() -> None:
    streams = Streams(2, TwoSets(), bounds=True)
    streams.packet(0, 1)
    streams.packet(1, 2)

    assert streams.look() == 1
    assert streams.take(1) == ["0@1", 1]
    assert streams.look() == 2
    assert streams.take(2) == [1, "1@2"]
    assert streams.look() == NOT_READY


def test_of_several_sets_that_wait_the_last_one_says_what_is_forwarded_as_in_the_reference() -> None:
    streams = Streams(2, TwoSets())
    streams.bound(0, 3)
    streams.bound(1, 10)

    assert streams.look() == NOT_READY
    assert streams.handler.waits_at == 10


# --- what a handler may override --------------------------------------------------------------


class Newest(InputStreamHandler):
    """Takes the newest packet of the only stream."""

    def look(self) -> int:
        queue = self.inputs[0].queue
        return queue[-1].stamp if queue else super().look()

    def fill(self, timestamp, inputs) -> None:  # as the base's
        stream = self.inputs[0]
        while len(stream.queue) > 1:
            stream.pop()
        inputs[0].fill(stream.pop())


def test_a_handler_that_decides_for_itself_is_asked_in_every_look() -> None:
    streams = Streams(1, Newest())
    streams.packet(0, 1, 2, 3)

    assert streams.look() == 3
    assert streams.take(3) == ["0@3"]
    assert streams.look() == NOT_READY


# --- what a node calls ------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_the_short_cut_that_a_node_calls_does_what_look_and_fill_do(count, bounds) -> None:
    slow, quick = Streams(count, bounds=bounds), Streams(count, bounds=bounds)
    advance = quick.handler.bind()
    ports = [Input(stream) for stream in quick.streams]
    found = []
    for streams in (slow, quick):
        streams.packet(0, 1, 4, POSTSTREAM)
        if count > 1:
            streams.packet(1, 4, 6)
            streams.bound(1, DONE)

    while (t := slow.look()) not in (NOT_READY, READY_FOR_CLOSE):
        found.append((t, slow.take(t)))

    for expected_at, expected in found:
        assert advance(ports) == expected_at
        shown = [int(port.packet.timestamp) if port.is_empty() else port.payload for port in ports]
        assert shown == expected
    assert advance(ports) == t
    assert quick.handler.waits_at == slow.handler.waits_at


def test_a_policy_that_takes_late_only_looks_when_the_node_becomes_ready() -> None:
    class Late(InputStreamHandler):
        takes_late = True

    streams = Streams(1, Late())
    streams.packet(0, 3)
    port = Input(streams.streams[0])

    assert streams.handler.bind()([port]) == 3
    assert port.is_empty()
    assert len(streams.streams[0].queue) == 1
