"""When the messages of a bag come, beside other topics; and what becomes of late ones."""

from __future__ import annotations

import threading
import time

import pytest
from bags import PATIENCE_S, START, read, run, source
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import penstock
from penstock.errors import GraphRunError
from penstock_ros.order import Reorder, Waiting

TYPES = get_typestore(Stores.ROS2_HUMBLE)
KIND = "geometry_msgs/msg/PointStamped"


def stamped(us, x=0.0):
    stamp = TYPES.types["builtin_interfaces/msg/Time"](sec=us // 1_000_000, nanosec=us % 1_000_000 * 1000)
    header = TYPES.types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
    point = TYPES.types["geometry_msgs/msg/Point"](x=float(x), y=0.0, z=0.0)
    return TYPES.types[KIND](header=header, point=point)


def bag_of(path, messages):
    """Write (topic, log time, stamp), in microseconds after START."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topics = dict.fromkeys(topic for topic, *_ in messages)
        made = {topic: writer.add_connection(topic, KIND, typestore=TYPES) for topic in topics}
        for number, (topic, log, stamp) in enumerate(messages):
            one = stamped(stamp and START + stamp, number)
            writer.write(made[topic], (START + log) * 1000, TYPES.serialize_cdr(one, KIND))


def times(found):
    return [stamp - START for stamp, _ in found]


def dropped(ledger, stream):
    (found,) = [one for one in ledger.streams if one.name == stream]
    return dict(found.dropped)


def test_times_are_of_the_header_or_of_the_log(tmp_path):
    bag_of(tmp_path / "b", [("/a", 100, 60), ("/a", 200, 170), ("/a", 300, 0)])
    assert times(read(tmp_path / "b", "/a")[0][0]) == [60, 170, 300], "without a stamp: the log time"
    assert times(read(tmp_path / "b", "/a", "times: LOG")[0][0]) == [100, 200, 300]


def test_topics_leave_in_the_order_of_their_stamps(tmp_path):
    # The camera's messages are logged 80 ms after their stamps.
    imu = [("/imu", n * 5000 + 1, n * 5000 + 1) for n in range(200)]
    camera = [("/cam", n * 33_333 + 80_000, n * 33_333 + 1) for n in range(27)]
    bag_of(tmp_path / "b", sorted([*imu, *camera], key=lambda one: one[1]))
    text = (
        source(tmp_path / "b", "a b", "/imu /cam")
        + """
    node { calculator: "ImmediateMuxCalculator" input_stream: "a" input_stream: "b" output_stream: "both" }
    """
    )
    got, ledger = run(text, streams=["both"])

    stamps = {n * 5000 + 1 for n in range(200)} | {n * 33_333 + 1 for n in range(27)}
    assert times(got["both"]) == sorted(stamps), "none was behind another"
    assert not dropped(ledger, "a")
    assert not dropped(ledger, "b")


def test_a_join_waits_for_no_topic_that_is_silent(tmp_path):
    """The other topic has nothing for an hour, at the pace of the bag."""
    often = [("/often", n * 1000, n * 1000) for n in range(500)]
    bag_of(tmp_path / "b", [*often, ("/seldom", 3_600_000_000, 3_600_000_000)])
    text = (
        source(tmp_path / "b", "often seldom", "/often /seldom", "reorder_ms: 10 speed: 1")
        + """
    node { calculator: "MakePairCalculator" input_stream: "often" input_stream: "seldom" output_stream: "p" }
    """
    )
    joined = threading.Semaphore(0)
    with penstock.CalculatorGraph(text) as graph:
        graph.observe_output_stream("p", lambda *_: joined.release())
        graph.start_run()
        for _ in range(499):  # nothing can be said of the last one's time before the next message
            assert joined.acquire(timeout=PATIENCE_S), graph.why()
        graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(PATIENCE_S)


def test_a_late_message_is_dropped_and_counted(tmp_path):
    messages = [
        ("/a", 0, 0), ("/a", 10, 20), ("/a", 20, 20), ("/a", 30, 30), ("/b", 1_000_000, 1_000_000),
        ("/a", 2_000_000, 40), ("/a", 2_000_010, 2_000_005),
    ]  # fmt: skip
    bag_of(tmp_path / "b", [(topic, log, stamp or 1) for topic, log, stamp in messages])
    (a, b), ledger = read(tmp_path / "b", "/a /b", "reorder_ms: 100")

    assert times(a) == [1, 20, 30, 2_000_005]
    assert times(b) == [1_000_000]
    assert dropped(ledger, "s0") == {"not after the message before": 2}
    (stream,) = [one for one in ledger.streams if one.name == "s0"]
    assert stream.added == 6


def test_a_late_message_may_get_its_log_time(tmp_path):
    messages = [("/a", 10, 20), ("/a", 25, 20), ("/a", 30, 30), ("/a", 31, 30), ("/a", 31, 31)]
    bag_of(tmp_path / "b", messages)
    ((a,), ledger) = read(tmp_path / "b", "/a", "late: LOG_TIME")
    assert times(a) == [20, 25, 30, 31]
    assert dropped(ledger, "s0") == {"not after the message before": 1}


def test_the_window_is_as_wide_as_it_is_said_to_be(tmp_path):
    messages = [("/a", n * 10_000, n * 10_000 or 1) for n in range(20)]
    messages.insert(15, ("/b", 140_001, 30_001))  # 110 ms after its stamp
    bag_of(tmp_path / "b", messages)
    assert times(read(tmp_path / "b", "/a /b", "reorder_ms: 120")[0][1]) == [30_001]
    (_, b), ledger = read(tmp_path / "b", "/a /b", "reorder_ms: 90")
    assert b == []
    assert dropped(ledger, "s1") == {"not after the message before": 1}


def test_a_topic_with_another_clock_neither_holds_the_others_nor_fills_memory():
    reorder = Reorder(1000)
    held = left = 0
    for n in range(10_000):
        # The first topic's clock began with the machine.
        for place, stamp in ((0, n), (1, 10**9 + n)):
            reorder.put(Waiting(stamp=stamp, log_ns=n * 100, place=place, message=None))
            while reorder.take() is not None:
                left += 1
        held = max(held, 2 * (n + 1) - left)
    while reorder.take(at_end=True) is not None:
        left += 1
    assert left == 20_000
    assert held < 100


def test_a_part_of_a_bag(tmp_path):
    bag_of(tmp_path / "b", [("/a", n * 100_000, n * 100_000 or 1) for n in range(20)])
    found = read(tmp_path / "b", "/a", "start_s: 0.5 duration_s: 0.3")[0][0]
    assert times(found) == [500_000, 600_000, 700_000]


def test_the_pace_of_the_bag(tmp_path):
    bag_of(tmp_path / "b", [("/a", n * 100_000, n * 100_000 or 1) for n in range(5)])
    begin = time.monotonic()
    assert len(read(tmp_path / "b", "/a", "speed: 2")[0][0]) == 5
    assert time.monotonic() - begin >= 0.2


def test_a_run_that_waits_for_a_gap_is_cancelled_at_once(tmp_path):
    bag_of(tmp_path / "b", [("/a", 1, 1), ("/a", 3_600_000_000, 3_600_000_000)])
    reached = threading.Event()
    before = threading.active_count()
    with penstock.CalculatorGraph(source(tmp_path / "b", "a", "/a", "speed: 1")) as graph:
        graph.observe_output_stream("a", lambda *_: reached.set())
        graph.start_run()
        assert reached.wait(PATIENCE_S)
        begin = time.monotonic()
        graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(PATIENCE_S)
        assert time.monotonic() - begin < 1
    assert threading.active_count() <= before
