"""Trackers of Roboflow's `trackers` and `supervision`, or of `norfair`, in a loop by hand; without Penstock.

    PEERS/bin/python benchmarks/peers/trackers_by_hand.py RATE LOST_SECONDS < FRAMES.json

Prints name → [frames of (id, box), milliseconds a frame], for the ones of this environment: `norfair` needs
NumPy 1, and `trackers` NumPy 2.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

#: Boxes are in pixels of such an image.
SCALE = np.array([1280, 720] * 2)


#: Of `norfair`, which has no default: 1 minus the share of their union that two boxes of an object have.
NORFAIR_DISTANCE = 0.7


def found(supervision: Any, frame: dict[str, Any]) -> Any:
    """Return the detections of a frame."""
    if not frame["detections"]:
        return supervision.Detections.empty()
    return supervision.Detections(
        xyxy=np.array([one["box"] for one in frame["detections"]]) * SCALE,
        confidence=np.array([one["score"] for one in frame["detections"]]),
        class_id=np.array([one["class"] for one in frame["detections"]]),
    )


def roboflow(rate: float, lost: float) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Return name → a function of a frame, which returns ids and boxes in pixels."""
    supervision: Any = import_module("supervision")
    trackers: Any = import_module("trackers")
    frames = {"frame_rate": rate, "lost_track_buffer": round(30 * lost)}  # frames at 30 a second, both say
    old = supervision.ByteTrack(**frames)
    byte, oc = trackers.ByteTrackTracker(**frames), trackers.OCSORTTracker(**frames)

    def ids(made: Any) -> tuple[list[int], Any]:
        return ([] if made.tracker_id is None else made.tracker_id.tolist()), made.xyxy

    def timed(tracker: Any) -> Callable[[dict[str, Any]], Any]:
        return lambda frame: ids(
            tracker.update(found(supervision, frame), timestamp=frame["timestamp"] / 1e6)
        )

    return {
        "supervision.ByteTrack": lambda frame: ids(old.update_with_detections(found(supervision, frame))),
        "trackers.ByteTrackTracker": timed(byte),
        "trackers.OCSORTTracker": timed(oc),
    }


def norfair(rate: float, lost: float) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Return the tracker of `norfair` likewise, for boxes whose class is the same."""
    library: Any = import_module("norfair")
    tracker = library.Tracker("iou", NORFAIR_DISTANCE, hit_counter_max=max(round(rate * lost), 2))

    def update(frame: dict[str, Any]) -> Any:
        seen = [
            library.Detection(
                (np.array(one["box"]) * SCALE).reshape(2, 2), np.full(2, one["score"]), label=one["class"]
            )
            for one in frame["detections"]
        ]
        numbers = set(map(id, seen))
        made = [one for one in tracker.update(seen) if id(one.last_detection) in numbers]
        return [one.id for one in made], [one.last_detection.points.ravel() for one in made]

    return {"norfair.Tracker": update}


def main() -> None:
    """Follow the frames of standard input with each of them."""
    warnings.simplefilter("ignore")  # that supervision's tracker has moved
    lines = json.load(sys.stdin)
    rate, lost = float(sys.argv[1]), float(sys.argv[2])
    results = {}
    contestants = norfair if find_spec("norfair") else roboflow
    for name, update in contestants(rate, lost).items():
        frames, spent = [], 0.0
        for line in lines:
            begin = perf_counter()
            ids, boxes = update(line)
            spent += perf_counter() - begin
            scaled = (np.array(boxes).reshape(-1, 4) / SCALE).tolist()
            frames.append([(key, box) for key, box in zip(ids, scaled, strict=True) if key >= 0])
        results[name] = (frames, 1e3 * spent / len(lines))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
