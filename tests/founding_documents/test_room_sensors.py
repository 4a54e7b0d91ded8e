"""The packet cloner: the document's code line by line, the installed one, and the room with three sensors."""

from __future__ import annotations

import numpy as np
import pytest

import penstock
from penstock import Packet
from penstock_formats import ImageFrame


class PacketClonerCalculator(penstock.Calculator):
    """For every packet on the last stream, outputs the latest packet of all other streams."""

    @classmethod
    def get_contract(cls, cc) -> None:
        tick_signal_index = len(cc.inputs) - 1
        for i in range(tick_signal_index):
            cc.inputs[i].set_any()
            cc.outputs[i].set_same_as(cc.inputs[i])
        cc.inputs[tick_signal_index].set_any()

    def open(self, cc):
        self.tick_signal_index = len(cc.inputs) - 1
        self.current = [Packet()] * self.tick_signal_index
        for i in range(self.tick_signal_index):
            if not cc.inputs[i].header.is_empty():
                cc.outputs[i].set_header(cc.inputs[i].header)

    def process(self, cc):
        for i in range(self.tick_signal_index):
            if not cc.inputs[i].packet.is_empty():
                self.current[i] = cc.inputs[i].packet
        if not cc.inputs[self.tick_signal_index].packet.is_empty():
            for i in range(self.tick_signal_index):
                if not self.current[i].is_empty():
                    cc.outputs[i].add_packet(self.current[i].at(cc.input_timestamp))
                else:
                    cc.outputs[i].set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


@pytest.fixture(params=["transcribed", "installed"])
def cloner(request):
    """The calculators to register: the document's own, or none, so that the pack's is found."""
    return (PacketClonerCalculator,) if request.param == "transcribed" else ()


CLONED = ["cloned_room_mic_signal", "cloned_lighting_sensor"]
JOIN = """
node {
  calculator: "CallbackCalculator"
  input_stream: "cloned_room_mic_signal"
  input_stream: "cloned_lighting_sensor"
  input_stream: "room_video_tick_signal"
  input_side_packet: "VECTOR_CALLBACK:on_row"
}
"""
FRAMES = [ImageFrame(np.full((2, 2, 3), i, np.uint8)) for i in range(5)]
#: (stream, timestamp, payload) in order of time: the room gets loud, then the light goes out.
READINGS = [
    ("room_video_tick_signal", 0, FRAMES[0]),
    ("room_mic_signal", 5, 42),
    ("room_video_tick_signal", 10, FRAMES[1]),
    ("room_lighting_sensor", 20, 300),
    ("room_video_tick_signal", 20, FRAMES[2]),
    ("room_mic_signal", 22, 80),
    ("room_mic_signal", 25, 90),
    ("room_video_tick_signal", 30, FRAMES[3]),
    ("room_lighting_sensor", 31, 2),
    ("room_video_tick_signal", 40, FRAMES[4]),
]
FULL_PICTURE = [
    (0, None, None, FRAMES[0]),
    (10, 42, None, FRAMES[1]),
    (20, 42, 300, FRAMES[2]),
    (30, 90, 300, FRAMES[3]),
    (40, 90, 2, FRAMES[4]),
]


ARRIVALS = {
    "in order of time": READINGS,
    "stream by stream": sorted(READINGS, key=lambda reading: reading[0]),
    "the frames first": sorted(READINGS, key=lambda reading: reading[0], reverse=True),
}


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_each_frame_meets_the_last_loudness_and_brightness(bench, graph_text, cloner, arrival):
    rows = []

    def on_row(packets):
        rows.append((packets[2].timestamp, *(packet.payload for packet in packets)))

    bench.start(graph_text("room_sensors") + JOIN, *cloner, side_packets={"on_row": on_row})
    for stream, timestamp, payload in ARRIVALS[arrival]:
        bench.add(stream, timestamp, payload)
    bench.end()

    assert rows == FULL_PICTURE


def test_the_clones_have_the_times_of_the_tick_and_begin_with_the_first_value(bench, graph_text, cloner):
    bench.start(graph_text("room_sensors"), *cloner, watch=CLONED)
    for stream, timestamp, payload in READINGS:
        bench.add(stream, timestamp, payload)
    bench.end()

    assert bench.seen == {
        "cloned_room_mic_signal": [(10, 42), (20, 42), (30, 90), (40, 90)],
        "cloned_lighting_sensor": [(20, 300), (30, 300), (40, 2)],
    }


def test_before_the_first_value_the_bound_says_that_nothing_comes(bench, graph_text, cloner):
    bench.start(graph_text("room_sensors"), *cloner, watch=CLONED, bounds=True)
    for stream in ("room_mic_signal", "room_lighting_sensor"):
        bench.graph.set_input_stream_timestamp_bound(stream, 8)
    bench.add("room_video_tick_signal", 7, FRAMES[0])
    bench.idle()

    assert bench.seen == {stream: [(7, None)] for stream in CLONED}
    bench.end()


def test_a_clone_is_the_same_object_at_another_time(bench, graph_text, cloner):
    bench.start(graph_text("room_sensors"), *cloner, watch=CLONED)
    reading = [42]
    bench.add("room_mic_signal", 1, reading)
    for t in (1, 2):
        bench.add("room_video_tick_signal", t, FRAMES[0])
    bench.end()

    assert [(t, clone is reading) for t, clone in bench.seen[CLONED[0]]] == [(1, True), (2, True)]


def test_headers_are_passed_along(bench, graph_text, cloner):
    headers = []

    class HeaderReader(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc) -> None:
            for port in cc.inputs:
                port.set_any()

        def open(self, cc):
            headers.extend(port.header.payload for port in cc.inputs)

        def process(self, cc):
            raise AssertionError("no packet was sent")

    reader = f'node {{ calculator: "HeaderReader" input_stream: "{CLONED[0]}" input_stream: "{CLONED[1]}" }}'
    bench.load(graph_text("room_sensors") + reader, *cloner, HeaderReader)
    bench.graph.start_run(stream_headers={"room_mic_signal": "decibel"})
    bench.end()

    assert headers == ["decibel", None]


def test_the_example_config_in_the_comment_clones_two_base_signals(bench, graph_text, cloner):
    inputs = ["first_base_signal", "second_base_signal", "tick_signal"]
    text = "".join(f'input_stream: "{name}"\n' for name in inputs) + graph_text("packet_cloner_example")
    clones = ["cloned_first_base_signal", "cloned_second_base_signal"]
    bench.start(text, *cloner, watch=clones)

    bench.add("first_base_signal", 1, "a")
    bench.add("second_base_signal", 2, "b")
    for t in (1, 2, 3):
        bench.add("tick_signal", t, True)
    bench.end()

    assert bench.seen == {
        "cloned_first_base_signal": [(1, "a"), (2, "a"), (3, "a")],
        "cloned_second_base_signal": [(2, "b"), (3, "b")],
    }
