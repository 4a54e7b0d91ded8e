"""Noisy detections of a rendered street, followed and counted in a graph: the counts are right."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import penstock

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
try:
    import street
finally:
    del sys.path[0]

pytestmark = pytest.mark.heavy
SECONDS, RATE = 43.0, 25.0
GRAPH = f"""
    input_stream: "found" output_stream: "events"
    node {{
      calculator: "TrackerCalculator"
      input_stream: "DETECTIONS:found" output_stream: "DETECTIONS:followed"
    }}
    node {{
      calculator: "ZonesCalculator"
      input_stream: "DETECTIONS:followed" output_stream: "EVENTS:events"
      node_options {{ [type.googleapis.com/penstock_detect.ZonesCalculatorOptions] {{
        line {{
          name: "line" point: {street.LINE_X} point: 0 point: {street.LINE_X} point: 1
          direction: "left" direction: "right"
        }} }} }}
    }}"""


@pytest.mark.parametrize("seed", [2, 7])
def test_all_that_cross_the_line_are_counted_by_class_and_direction(seed):
    film = street.things(SECONDS, np.random.default_rng(seed))
    truth = street.truth_of(film, SECONDS, RATE)
    fed = {"found": [(line["timestamp"], street.detections(line)) for line in street.noisy(truth, seed)]}

    counts = Counter(
        (event.label, event.direction)
        for packet in penstock.run(GRAPH, fed)["events"]
        for event in packet.payload
    )

    assert counts == Counter((one["label"], one["direction"]) for one in truth["crossings"])
    assert counts.total() > 50
