"""Scenarios 36, 37 and 39: policies whose results depend on arrival, with arrivals made certain."""

from __future__ import annotations

import threading

import pytest

import penstock
from penstock import STOP
from penstock_stream_handlers.messages.fixed_size_pb2 import FixedSizeInputStreamHandlerOptions


def test_s36_fixed_size_works_on_the_newest_and_settles_nothing_that_it_dropped(bench):
    bench.start(
        bench.net("in", f"SeenPass in -> out | {bench.handler('FixedSize')}"), watch=["out"], bounds=True
    )
    bench.during = {1: lambda: bench.add("in", 1, 2, 3)}
    bench.add_one_by_one("in", 0)

    assert bench.calls == ["0: in=0", "3: in=3"]
    assert bench.seen["out"] == [(0, 0), (3, 3)]
    assert bench.drops() == [("in", "newer packets waited", 2)]
    bench.end()


@pytest.mark.reference(
    "framework/stream_handler/fixed_size_input_stream_handler_test.cc",
    "FixedSizeInputStreamHandlerTest.LateArrivalDrop",
)
@pytest.mark.parametrize(
    ("keeps_all", "expected"),
    [
        (False, {"out0": [5, 6], "out1": [5, 6, 7], "out2": [5, 6, 7]}),
        (True, {"out0": [1, 2, 3, 4, 5, 6], "out1": [3, 4, 5, 6, 7], "out2": [4, 5, 6, 7]}),
    ],
)
def test_s37_a_cut_of_one_queue_cuts_all_unless_each_shall_keep_some(bench, keeps_all, expected):
    options = f"trigger_queue_size: 4 target_queue_size: 3 fixed_min_size: {str(keeps_all).lower()}"
    bench.start(
        bench.net(
            "in0 in1 in2", f"Pass in0 in1 in2 -> out0 out1 out2 | {bench.handler('FixedSize', options)}"
        ),
        watch=["out0", "out1", "out2"],
    )
    bench.add("in0", *range(1, 7))
    bench.add_one_by_one("in1", *range(3, 8))
    assert bench.seen == {"out0": [], "out1": [], "out2": []}
    bench.add_one_by_one("in2", *range(4, 8))
    bench.end()

    assert bench.seen == {name: [(t, t) for t in stamps] for name, stamps in expected.items()}


class InTurn:
    """Lets a source send ten packets for each that the slow node behind it takes, one before the first."""

    def __init__(self):
        self._changed = threading.Condition()
        self._sent = self._taken = 0
        self._is_over = False

    def sent(self):
        """Count a packet, and wait until the next one may be sent."""
        with self._changed:
            self._sent += 1
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._sent <= max(10 * self._taken, 1), 20)

    def taken(self):
        """Count a packet, and wait until the next one may be taken."""
        with self._changed:
            self._taken += 1
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: self._sent > 10 * self._taken or self._is_over, 20)

    def end(self):
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


class Fast(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets[0].set(InTurn)
        cc.outputs[0].set(int)

    def open(self, cc):
        self._next = 0

    def process(self, cc):
        turns = cc.input_side_packets[0].payload
        if self._next == 100:
            turns.end()
            return STOP
        cc.output.add(0, self._next)
        self._next += 1
        turns.sent()
        return None


class Slow(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.input_side_packets[0].set(InTurn)
        cc.outputs[0].set(int)

    def process(self, cc):
        cc.output.add(0, cc.input.packet.timestamp)
        cc.input_side_packets[0].payload.taken()


@pytest.mark.reference(
    "framework/stream_handler/fixed_size_input_stream_handler_test.cc",
    "FixedSizeInputStreamHandlerTest.DropsPackets",
)
@pytest.mark.parametrize("keeps_some", ["false", "true"])
def test_s36_of_ten_packets_that_come_in_a_call_the_newest_is_next(pool, keeps_some):
    handler = pool.handler("FixedSize", f"fixed_min_size: {keeps_some}")
    turns = 'input_side_packet: "turns"'
    pool.run(
        pool.net("", f"Fast -> in | {turns}", f"Slow in -> out | {turns} {handler}"),
        Fast,
        Slow,
        sides={"turns": InTurn()},
        watch=["out"],
    )

    assert [at for at, _ in pool.seen["out"]] == [0, 9, 19, 29, 39, 49, 59, 69, 79, 89, 99]


@pytest.mark.reference(
    "framework/stream_handler/fixed_size_input_stream_handler_test.cc",
    "FixedSizeInputStreamHandlerTest.DropsPacketsInFullStream",
)
@pytest.mark.parametrize("keeps_some", ["false", "true"])
def test_s36_a_source_goes_on_when_the_full_queue_behind_it_is_cut(bench, keeps_some):
    sides = 'input_side_packet: "MAX_COUNT:max" input_side_packet: "BATCH_SIZE:size"'
    handler = bench.handler("FixedSize", f"fixed_min_size: {keeps_some}")
    bench.run(
        bench.net(
            "",
            f"CountingSourceCalculator -> in | {sides}",
            f"Pass in -> out | {handler}",
            more="max_queue_size: 10\n",
        ),
        sides={"max": 10, "size": 10},
        watch=["out"],
    )

    assert bench.seen["out"][-1] == (99, 99)


class FixedPass(penstock.Calculator):
    """Hands its inputs on, and asks for the policy itself."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        options = FixedSizeInputStreamHandlerOptions(
            fixed_min_size=True, trigger_queue_size=2, target_queue_size=2
        )
        cc.set_input_stream_handler("FixedSizeInputStreamHandler", options)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        for source, target in zip(cc.inputs, cc.outputs, strict=True):
            if not source.is_empty():
                target.add_packet(source.packet)


@pytest.mark.reference(
    "framework/stream_handler/fixed_size_input_stream_handler_test.cc",
    "FixedSizeInputStreamHandlerTest.ParallelWriteAndRead",
)
@pytest.mark.reference(
    "framework/stream_handler/set_input_stream_handler_test.cc",
    "FixedSizeInputStreamHandlerTest.ParallelWriteAndRead",
)
@pytest.mark.parametrize(
    ("kind", "count", "options"),
    [
        ("Pass", 3, "trigger_queue_size: 3 target_queue_size: 1 fixed_min_size: false"),
        ("Pass", 3, "trigger_queue_size: 3 target_queue_size: 1 fixed_min_size: true"),
        ("FixedPass", 4, ""),
    ],
)
def test_s37_streams_that_are_filled_by_threads_lose_the_same_packets(pool, kind, count, options):
    names = range(count)
    handler = pool.handler("FixedSize", options) if options else ""
    pool.start(
        pool.net(
            " ".join(f"in{i}" for i in names),
            f"{kind} {' '.join(f'in{i}' for i in names)} -> {' '.join(f'out{i}' for i in names)} | {handler}",
        ),
        FixedPass,
        watch=[f"out{i}" for i in names],
    )
    failed = []

    def write(stream):
        try:
            for at in range(50):
                pool.add(stream, at)
        except penstock.PenstockError as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(f"in{i}",)) for i in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(20)
    pool.end()

    assert failed == []
    assert len(pool.seen["out0"]) > 0
    assert all(packets == pool.seen["out0"] for packets in pool.seen.values())


@pytest.mark.reference(
    "framework/stream_handler/timestamp_align_input_stream_handler_test.cc",
    "TimestampAlignInputStreamHandlerTest.Initialization",
)
def test_s39_align_moves_the_others_to_the_clock_of_the_base(bench):
    align = bench.handler("TimestampAlign", 'timestamp_base_tag_index: "CAMERA"')
    bench.start(
        bench.net("camera video", f"Pass CAMERA:camera VIDEO:video -> CAMERA:cam VIDEO:vid | {align}"),
        watch=["cam", "vid"],
    )
    cam, vid = bench.seen["cam"], bench.seen["vid"]

    bench.add_one_by_one("camera", 101)
    assert cam == [(101, 101)]
    bench.add_one_by_one("camera", 102)
    bench.add_one_by_one("video", 1)
    assert (cam[1:], vid) == ([(102, 102)], [])
    bench.add_one_by_one("camera", 103)
    assert (cam[2:], vid) == ([(103, 103)], [(103, 1)])
    bench.add_one_by_one("camera", 104)
    assert (cam[3:], vid[1:]) == ([], [])
    bench.add_one_by_one("video", 4)
    assert (cam[3:], vid[1:]) == ([(104, 104)], [])
    bench.end()
    assert (cam[4:], vid[1:]) == ([], [(106, 4)])


@pytest.mark.reference(
    "framework/stream_handler/timestamp_align_input_stream_handler_test.cc",
    "TimestampAlignInputStreamHandlerTest.TickRate",
)
def test_s39_what_is_aligned_can_be_the_tick_of_a_cloner(bench):
    align = bench.handler("TimestampAlign", 'timestamp_base_tag_index: ":0"')
    bench.start(
        bench.net("camera video", f"PacketClonerCalculator camera video video -> cam vid | {align}"),
        watch=["cam", "vid"],
    )
    second = 1_000_000

    bench.add_one_by_one("video", (0, 0))
    assert bench.seen == {"cam": [], "vid": []}
    bench.add_one_by_one("camera", (100 * second, 0))
    assert bench.seen == {"cam": [(100 * second, 0)], "vid": [(100 * second, 0)]}
    bench.add_one_by_one("video", (second // 2, 1))
    assert len(bench.seen["cam"]) == len(bench.seen["vid"]) == 1
    bench.add("video", (second, 2))
    bench.add_one_by_one("camera", (101 * second, 1))
    expected = {
        "cam": [(100 * second, 0), (100 * second + second // 2, 0), (101 * second, 1)],
        "vid": [(100 * second, 0), (100 * second + second // 2, 1), (101 * second, 2)],
    }
    assert bench.seen == expected

    bench.end()
    assert bench.seen == expected
