"""Live sources stamp their packets with microseconds since 1970, and so meet in one order."""

from __future__ import annotations

import itertools
import random

import pytest

import penstock
from penstock import STOP, Timestamp

#: 2024-05-01 12:00:00 UTC, in microseconds since 1970.
NOON_US = 1_714_564_800_000_000
#: A camera at 30 frames a second, and a microphone with blocks of 10 ms that share some moments with it.
CAMERA = [NOON_US + i * 33_333 for i in range(8)]
MICROPHONE = sorted({NOON_US + i * 10_000 for i in range(20)} | set(CAMERA[2:4]))
EXPECTED = [
    (t, (f"c{t}" if t in CAMERA else None, f"m{t}" if t in MICROPHONE else None))
    for t in sorted({*CAMERA, *MICROPHONE})
]


class Meet(penstock.Calculator):
    """Writes what both streams have at a moment."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for port in cc.inputs:
            port.set(str)
        cc.outputs[0].set(tuple)

    def process(self, cc):
        cc.output.add(tuple(port.payload for port in cc.inputs), cc.input_timestamp)


MEET = 'node { calculator: "Meet" input_stream: "camera" input_stream: "microphone" output_stream: "met" }'
FED = 'input_stream: "camera" input_stream: "microphone"\n' + MEET


def packets():
    camera = [("camera", t, f"c{t}") for t in CAMERA]
    microphone = [("microphone", t, f"m{t}") for t in MICROPHONE]
    return camera, microphone


def shuffled(seed):
    """Deal both streams together at random; each keeps its own order."""
    camera, microphone = packets()
    turns = ["camera"] * len(camera) + ["microphone"] * len(microphone)
    random.Random(seed).shuffle(turns)  # noqa: S311  # a test's order
    sources = {"camera": iter(camera), "microphone": iter(microphone)}
    return [next(sources[turn]) for turn in turns]


ARRIVALS = {
    "camera first": list(itertools.chain(*packets())),
    "microphone first": list(itertools.chain(*reversed(packets()))),
    "by time": sorted(itertools.chain(*packets()), key=lambda packet: packet[1]),
    **{f"shuffled {seed}": shuffled(seed) for seed in range(4)},
}


def test_microseconds_since_1970_are_ordinary_timestamps():
    assert Timestamp.from_seconds(1_714_564_800) == NOON_US
    assert Timestamp(NOON_US).seconds == 1_714_564_800.0


@pytest.mark.parametrize("waits", [False, True], ids=["at once", "one by one"])
@pytest.mark.parametrize("arrival", ARRIVALS)
def test_two_live_streams_meet_in_one_order_whatever_order_they_arrive_in(bench, arrival, waits):
    bench.start(FED, Meet, watch=["met"])
    for stream, t, payload in ARRIVALS[arrival]:
        bench.add(stream, t, payload)
        if waits:
            bench.idle()
    bench.end()

    assert bench.seen["met"] == EXPECTED


class Live(penstock.Calculator):
    """A source that stamps what it captures with the capture time."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.input_side_packets["CAPTURED"].set(list)
        cc.outputs[0].set(str)

    def open(self, cc):
        self.captured = iter(cc.input_side_packets["CAPTURED"].payload)

    def process(self, cc):
        for t, payload in self.captured:
            cc.output.add(payload, t)
            return None
        return STOP


LIVE = """
node { calculator: "Live" input_side_packet: "CAPTURED:%s" output_stream: "%s" }
node { calculator: "Live" input_side_packet: "CAPTURED:%s" output_stream: "%s" }
"""


@pytest.mark.parametrize("first", ["camera", "microphone"])
def test_two_live_sources_meet_in_one_order_whoever_runs_first(bench, first):
    second = "microphone" if first == "camera" else "camera"
    text = LIVE % (f"{first}_data", first, f"{second}_data", second) + MEET
    camera, microphone = packets()
    bench.load(
        text,
        Live,
        Meet,
        watch=["met"],
        side_packets={
            "camera_data": [packet[1:] for packet in camera],
            "microphone_data": [packet[1:] for packet in microphone],
        },
    )
    bench.graph.start_run()
    bench.done()

    assert bench.seen["met"] == EXPECTED
