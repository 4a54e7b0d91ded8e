"""What is counted at lines goes to a topic, an event after the other."""

from __future__ import annotations

import json

import pytest
from topics import Plain, name, sink, wait_until

import penstock
from penstock_formats import Detection, LocationData

pytest.importorskip("penstock_detect", reason="penstock-detect is not installed")

ZONES = {"lines": [{"name": "gate", "points": [[0.1, 0.5], [0.9, 0.5]], "directions": ["down", "up"]}]}
COUNTING = """
input_stream: "tracked"
node {
  calculator: "ZonesCalculator" input_stream: "DETECTIONS:tracked" output_stream: "EVENTS:events"
  node_options { [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] { zones_path: "zones.json" } }
}
node { calculator: "EventsToJsonCalculator" input_stream: "EVENTS:events" output_stream: "JSON:text" }
"""


def car(track, y):
    """Return a detection whose lower edge is at y."""
    made = Detection(label=["car"], score=[0.9], detection_id=track)
    made.location_data.format = LocationData.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = 0.4, y - 0.1, 0.1, 0.1
    return made


def test_crossings_are_published_in_their_order(broker, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zones.json").write_text(json.dumps(ZONES))
    topic = name("events")
    frames = [
        (i * 100_000, [car(7, 0.2 + 0.05 * i), *([car(8, 0.98 - 0.05 * i)] if i > 2 else [])])
        for i in range(14)
    ]

    with Plain(broker, topic) as plain:
        penstock.run(COUNTING + sink(broker, topic, 'input_stream: "VALUE:text"'), {"tracked": frames})
        assert wait_until(lambda: len(plain.heard) >= 2)

    messages = [json.loads(one.payload) for one in plain.heard]
    assert [[(one["track"], one["place"], one["direction"]) for one in events] for events in messages] == [
        [(7, "gate", "down")], [(8, "gate", "up")],
    ]  # fmt: skip
    assert all(one["event"] == "cross" and one["label"] == "car" for (one,) in messages)
