"""Trackers of Roboflow's `trackers` and `supervision` in a loop by hand; runs without Penstock.

    PEERS/bin/python benchmarks/peers/trackers_by_hand.py RATE LOST_SECONDS < FRAMES.json

Prints name → [frames of (id, box), milliseconds a frame].
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

#: Boxes are in pixels of such an image.
SCALE = np.array([1280, 720] * 2)


def found(supervision: Any, frame: dict[str, Any]) -> Any:
    """Return the detections of a frame."""
    if not frame["detections"]:
        return supervision.Detections.empty()
    return supervision.Detections(
        xyxy=np.array([one["box"] for one in frame["detections"]]) * SCALE,
        confidence=np.array([one["score"] for one in frame["detections"]]),
        class_id=np.array([one["class"] for one in frame["detections"]]),
    )


def contestants(supervision: Any, rate: float, lost: float) -> dict[str, Callable[[Any, float], Any]]:
    """Return name → a function of detections and seconds."""
    trackers: Any = import_module("trackers")
    frames = {"frame_rate": rate, "lost_track_buffer": round(30 * lost)}  # frames at 30 a second, both say
    old = supervision.ByteTrack(**frames)
    byte, oc = trackers.ByteTrackTracker(**frames), trackers.OCSORTTracker(**frames)
    return {
        "supervision.ByteTrack": lambda seen, _: old.update_with_detections(seen),
        "trackers.ByteTrackTracker": lambda seen, seconds: byte.update(seen, timestamp=seconds),
        "trackers.OCSORTTracker": lambda seen, seconds: oc.update(seen, timestamp=seconds),
    }


def main() -> None:
    """Follow the frames of standard input with each of them."""
    warnings.simplefilter("ignore")  # that supervision's tracker has moved
    supervision: Any = import_module("supervision")
    lines = json.load(sys.stdin)
    results = {}
    for name, update in contestants(supervision, float(sys.argv[1]), float(sys.argv[2])).items():
        frames, spent = [], 0.0
        for line in lines:
            seen = found(supervision, line)
            begin = perf_counter()
            made = update(seen, line["timestamp"] / 1e6)
            spent += perf_counter() - begin
            ids = [] if made.tracker_id is None else made.tracker_id.tolist()
            boxes = (made.xyxy / SCALE).tolist() if len(made) else []
            frames.append([(key, box) for key, box in zip(ids, boxes, strict=True) if key >= 0])
        results[name] = (frames, 1e3 * spent / len(lines))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
