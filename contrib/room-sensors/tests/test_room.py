"""RoomSubgraph: the room of three sensors, several rooms in one graph, and a thousand readings."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import penstock
from penstock.packs import default_registry
from penstock_room_sensors.calibration import CALIBRATION, RoomCalibration, RoomThresholds
from penstock_room_sensors.room_presence import RoomPresence
from penstock_room_sensors.room_state import RoomState

PATIENCE_S = 30.0
S = 1_000_000
STREAMS = ("loudness", "brightness", "state", "presence")


def room(prefix="", options=""):
    """Return the lines of one room, whose streams all begin with the prefix."""
    return f"""
    input_stream: "{prefix}mic"
    input_stream: "{prefix}light"
    input_stream: "{prefix}frames"
    node {{
      calculator: "RoomSubgraph"
      name: "{prefix}room"
      input_stream: "LOUDNESS:{prefix}mic"
      input_stream: "BRIGHTNESS:{prefix}light"
      input_stream: "TICK:{prefix}frames"
      output_stream: "LOUDNESS:{prefix}loudness"
      output_stream: "BRIGHTNESS:{prefix}brightness"
      output_stream: "STATE:{prefix}state"
      output_stream: "PRESENCE:{prefix}presence"
      node_options {{ [type.googleapis.com/penstock_room_sensors.RoomSubgraphOptions] {{ {options} }} }}
    }}
    """


def run(config, feed, streams=STREAMS, calibration=None):
    """Feed (stream, timestamp, payload) in the order given; return each stream's (timestamp, payload)."""
    seen = {name: [] for name in streams}
    with penstock.CalculatorGraph(config) as graph:
        if calibration is not None:
            graph.set_service(CALIBRATION, calibration)
        for name in streams:
            graph.observe_output_stream(
                name, lambda stream, packet: seen[stream].append((int(packet.timestamp), packet.payload))
            )
        graph.start_run()
        for stream, at, payload in feed:
            graph.add_packet_to_input_stream(stream, penstock.Packet(payload, at))
    assert graph.ledger().adds_up
    return seen


def test_at_each_frame_the_last_readings_are_sent_with_state_and_presence():
    seen = run(
        room(),
        [
            ("mic", 1, 40),  # whole numbers of dB, as microphones give them
            ("light", 2, 300),
            ("frames", 3, "frame"),
            ("mic", 4, 90),
            ("frames", 5, "frame"),
            ("light", 6, 10),
            ("frames", 7, "frame"),
        ],
    )

    assert seen["loudness"] == [(3, 40), (5, 90), (7, 90)]
    assert seen["brightness"] == [(3, 300), (5, 300), (7, 10)]
    assert seen["state"] == [
        (3, RoomState(is_loud=False, is_dark=False)),
        (5, RoomState(is_loud=True, is_dark=False)),
        (7, RoomState(is_loud=True, is_dark=True)),
    ]
    assert seen["presence"] == [
        (3, RoomPresence(True, 1, 2)),
        (5, RoomPresence(True, 2, 2)),
        (7, RoomPresence(True, 1, 2)),
    ]


def test_the_age_of_a_reading_is_that_of_the_reading_and_not_of_its_clone():
    seen = run(
        room(options="max_age: 5"),
        [
            ("mic", 1, 90.0),
            ("light", 1, 10),
            ("frames", 6, "frame"),
            ("light", 7, 10),
            ("frames", 7, "frame"),
        ],
    )

    assert seen["loudness"] == [(6, 90.0), (7, 90.0)]
    assert seen["presence"] == [(6, RoomPresence(True, 1, 2)), (7, RoomPresence(False, 0, 1))]


def test_without_options_a_reading_is_fresh_for_ten_seconds_and_one_vote_is_enough():
    seen = run(
        room(),
        [("mic", 0, 90.0), ("light", 0, 10), ("frames", 10 * S, "frame"), ("frames", 10 * S + 1, "frame")],
    )

    assert seen["presence"] == [(10 * S, RoomPresence(True, 1, 2))]


def test_two_rooms_in_one_graph_have_thresholds_and_votes_of_their_own():
    calibration = RoomCalibration({"cinema": RoomThresholds(loud_from_db=95.0, dark_below_lux=1)})
    feed = [("mic", 1, 90.0), ("light", 1, 10), ("frames", 1, "frame")]
    both = room(prefix="a_") + room(prefix="b_", options='room: "cinema" votes: 2')

    seen = run(
        both,
        [(prefix + stream, at, payload) for prefix in ("a_", "b_") for stream, at, payload in feed],
        ["a_state", "a_presence", "b_state", "b_presence"],
        calibration,
    )

    assert seen == {
        "a_state": [(1, RoomState(is_loud=True, is_dark=True))],
        "a_presence": [(1, RoomPresence(True, 1, 2))],
        "b_state": [(1, RoomState(is_loud=False, is_dark=False))],
        "b_presence": [(1, RoomPresence(False, 1, 2))],
    }


def test_the_file_is_a_graph_of_its_own_and_names_the_type_that_it_is_registered_by():
    file = default_registry().find("subgraph", "RoomSubgraph")

    assert isinstance(file, Path)
    assert 'type: "RoomSubgraph"' in file.read_text(encoding="utf-8").splitlines()
    seen = run(
        file,
        [
            ("room_mic_signal", 1, 90.0),
            ("room_lighting_sensor", 1, 10),
            ("room_video_tick_signal", 2, "frame"),
        ],
        ["room_state", "room_presence"],
    )
    assert seen == {
        "room_state": [(2, RoomState(is_loud=True, is_dark=True))],
        "room_presence": [(2, RoomPresence(True, 1, 2))],
    }


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_readings_in_any_order_of_arrival_give_the_expected_results(seed):
    order = random.Random(seed)  # noqa: S311  # a test's order
    span = 100_000
    feeds = {
        "mic": [(at, order.uniform(40, 100)) for at in sorted(order.sample(range(1, span), 400))],
        "light": [(at, order.randrange(100)) for at in sorted(order.sample(range(1, span), 300))],
        "frames": [(at, "frame") for at in sorted(order.sample(range(1, span), 300))],
    }
    waiting = {name: list(feed) for name, feed in feeds.items()}
    feed = []
    while waiting:
        name = order.choice(sorted(waiting))
        feed.append((name, *waiting[name].pop(0)))
        if not waiting[name]:
            del waiting[name]

    seen = run("num_threads: 3 max_queue_size: -1 " + room(options="max_age: 500 votes: 1"), feed)

    expected = [(at, *votes_at(at, feeds)) for at, _ in feeds["frames"]]
    assert seen["presence"] == [
        (at, RoomPresence(votes >= 1, votes, voters)) for at, votes, voters in expected if voters
    ]
    assert len(seen["presence"]) > 100


def votes_at(at, feeds):
    """Return (votes, voters) of the readings that are at most 500 old at a frame."""
    last = {name: [one for one in feeds[name] if one[0] <= at][-1:] for name in ("mic", "light")}
    fresh = {name: [value for t, value in one if at - t <= 500] for name, one in last.items()}
    votes = sum(value >= 70 for value in fresh["mic"]) + sum(value >= 50 for value in fresh["light"])
    return votes, len(fresh["mic"]) + len(fresh["light"])
