from __future__ import annotations

import random

import pytest

from penstock import Timestamp
from penstock.errors import GraphRunError, InvalidArgumentError, NotFoundError, TimestampError
from penstock.lowlevel import MAX, MIN
from penstock_stream_handlers.messages.timestamp_align_pb2 import (
    TimestampAlignInputStreamHandlerOptions,
)
from penstock_stream_handlers.timestamp_align import TimestampAlignInputStreamHandler
from penstock_testing import ScheduleHarness, calculator, node, wired


def base(tag_index):
    return TimestampAlignInputStreamHandlerOptions(timestamp_base_tag_index=tag_index)


@pytest.fixture
def camera(watched):
    return watched(TimestampAlignInputStreamHandler, "CAMERA:cam VIDEO:vid", base("CAMERA"))


@pytest.mark.reference(
    "framework/stream_handler/timestamp_align_input_stream_handler_test.cc",
    "TimestampAlignInputStreamHandlerTest.Initialization",
)
def test_until_the_others_have_come_the_base_goes_alone_and_then_their_first_packets_meet(camera):
    camera.add("cam", 101)
    assert camera.seen == [(101, "cam101")]

    camera.add("cam", 102)
    camera.add("vid", 1)
    assert camera.seen[1:] == [(102, "cam102")]

    camera.add("cam", 103)
    assert camera.seen[2:] == [(103, "cam103 vid1")]
    assert camera.calls[2].stamps == {"cam": 103, "vid": 103}

    camera.add("cam", 104)
    assert len(camera.calls) == 3

    camera.add("vid", 4)
    assert camera.seen[3:] == [(104, "cam104")]

    camera.close("cam", "vid")
    assert camera.seen[4:] == [(106, "vid4")]
    assert camera.calls[4].stamps == {"cam": 106, "vid": 106}
    assert camera.is_closed


def test_streams_of_one_rate_stay_together(camera):
    camera.add("vid", 0)
    for tick in range(1, 5):
        camera.add("cam", 1000 + 10 * tick)
        camera.add("vid", 10 * tick)

    assert camera.seen == [(1010 + 10 * tick, f"cam{1010 + 10 * tick} vid{10 * tick}") for tick in range(4)]


def test_packets_of_the_others_wait_until_the_base_has_one(camera):
    camera.add("vid", 1, 2)
    assert camera.calls == []

    camera.add("cam", 50)
    camera.bound("cam", 52)
    assert camera.seen == [(50, "cam50 vid1"), (51, "vid2")]


def test_offsets_are_fixed_only_when_every_stream_has_a_packet(watched):
    run = watched(TimestampAlignInputStreamHandler, "BASE:a X:b Y:c", base("BASE"))
    run.add("b", 1)
    run.add("a", 11, 12)
    assert run.seen == [(11, "a11"), (12, "a12")]

    run.add("c", 500)
    run.add("a", 13)
    assert run.seen[2:] == [(13, "a13 b1 c500")]
    run.add("a", 14)
    run.add("c", 501)
    run.add("b", 2)
    assert run.seen[3:] == [(14, "a14 b2 c501")]


def test_a_bound_is_moved_like_a_packet(camera):
    camera.add("vid", 0)
    camera.add("cam", 100, 110)
    assert len(camera.calls) == 1

    camera.bound("vid", 10)
    assert len(camera.calls) == 1
    camera.bound("vid", 11)
    assert camera.seen[1:] == [(110, "cam110")]


def test_a_single_stream_passes_as_it_is(watched):
    alone = watched(TimestampAlignInputStreamHandler, "a", base(":0"))
    alone.add("a", 3, 4)
    alone.close("a")

    assert alone.seen == [(3, "a3"), (4, "a4")]
    assert alone.is_closed


def test_a_single_stream_that_ends_without_a_packet_closes_the_node(watched):
    plan = wired(
        node(calculator(name="Align"), "a", handler=TimestampAlignInputStreamHandler, options=[base(":0")]),
        node(calculator(name="Other"), "b"),
        inputs="a b",
    )
    harness = ScheduleHarness(plan).start()
    harness.close_input("a")
    harness.run()

    assert harness.log[-1] == "close Align"
    assert not harness.is_over


def test_an_offset_passes_on_bounds_on_the_clock_of_the_base(passed_on):
    handler, ports, options = TimestampAlignInputStreamHandler, "CAMERA:cam VIDEO:vid", base("CAMERA")
    before = [("vid", 500), ("cam", 20)]
    after = [("vid", 0, "v"), ("cam", 100, "c"), ("cam", 200), ("vid", 50)]

    assert passed_on(handler, ports, before, options) == [19]
    assert passed_on(handler, ports, after, options) == [100, 149]


def test_the_first_untagged_stream_is_the_base_by_default(watched):
    run = watched(TimestampAlignInputStreamHandler, "a b")
    run.add("b", 1)
    run.add("a", 7)

    assert run.seen == [(7, "a7 b1")]


def test_a_base_that_ends_first_leaves_the_node_open_until_the_run_ends(camera):
    camera.add("cam", 5)
    camera.close("cam")
    camera.add("vid", 1)
    assert not camera.is_closed

    camera.close("vid")
    assert camera.is_closed
    assert camera.harness.is_over
    assert camera.seen == [(5, "cam5")]
    assert camera.dropped("vid") == {"the reader had closed": 1}


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
@pytest.mark.parametrize("special", ["cam", "vid"])
def test_special_timestamps_cannot_be_moved_and_end_the_run(camera, special, stamp):
    camera.add_only("vid", *([stamp] if special == "vid" else [1]), payload="v")
    camera.add_only("cam", *([stamp] if special == "cam" else [1]), payload="c")
    camera.harness.run()

    with pytest.raises(
        GraphRunError, match=rf"stream '{special}' has a packet at Timestamp::P\w+\(\), .* clock"
    ) as failed:
        camera.harness.finish()
    error = failed.value.errors[0]
    assert (error.node, error.stream, error.timestamp) == ("watched", special, int(stamp))
    assert isinstance(error.__cause__, TimestampError)


def test_times_that_leave_the_range_stop_at_its_end_and_no_packet_is_lost(camera):
    camera.add("vid", 0)
    camera.add("cam", MAX - 1)
    camera.add("vid", 5, 6, 7)
    camera.close("cam", "vid")

    assert [call.packets.get("vid") for call in camera.calls] == ["vid0", "vid5", "vid6", "vid7"]
    assert [call.at for call in camera.calls] == [MAX - 1, MAX, MAX, MAX]
    assert camera.is_closed


def test_times_below_the_range_stop_at_its_start(camera):
    camera.add("vid", 100)
    camera.add("cam", MIN)
    camera.close("cam", "vid")

    assert camera.seen == [(MIN, f"cam{MIN} vid100")]


@pytest.mark.parametrize("seed", range(5))
def test_once_aligned_what_comes_does_not_depend_on_the_order_of_arrival(watched, seed):
    order = random.Random(seed)  # noqa: S311  # a test's order
    run = watched(TimestampAlignInputStreamHandler, "CAMERA:cam VIDEO:vid", base("CAMERA"))
    run.add("vid", 0)
    run.add("cam", 100)
    waiting = {"cam": [101, 103, 104, 108], "vid": [1, 2, 4, 7, 8]}
    while any(waiting.values()):
        stream = order.choice([name for name, stamps in waiting.items() if stamps])
        run.add_only(stream, waiting[stream].pop(0))
        if order.random() < 0.5:
            run.harness.step()
    run.harness.finish()

    assert run.seen == [
        (100, "cam100 vid0"),
        (101, "cam101 vid1"),
        (102, "vid2"),
        (103, "cam103"),
        (104, "cam104 vid4"),
        (107, "vid7"),
        (108, "cam108 vid8"),
    ]


@pytest.mark.parametrize(
    ("tag_index", "error", "message"),
    [
        ("AUDIO", NotFoundError, "node 'watched': timestamp_base_tag_index: there is no input 'AUDIO'"),
        ("", NotFoundError, "there is no input 0 by tag and index; connected are: 'CAMERA', 'VIDEO'"),
        ("camera", InvalidArgumentError, "timestamp_base_tag_index: 'camera' is no port"),
    ],
)
def test_a_base_that_the_node_does_not_have_is_refused_before_the_run(watched, tag_index, error, message):
    with pytest.raises(error, match=message):
        watched(TimestampAlignInputStreamHandler, "CAMERA:cam VIDEO:vid", base(tag_index))
