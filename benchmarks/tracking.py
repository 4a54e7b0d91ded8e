"""Trackers beside each other, on the same noisy detections of streets whose truth is known.

`scripts/street.py` makes the streets; the figures are MOTA, IDF1 and switches of ids (`tracking_figures.py`).
Every tracker runs with its own defaults, but keeps lost tracks for the same time. The peers run in an
environment of their own, called by hand once a frame:

    uv venv PEERS && uv pip install -p PEERS trackers==2.6.1 supervision==0.26.1
    uv venv NORFAIR && uv pip install -p NORFAIR norfair==2.3.0      # it needs NumPy 1
    python benchmarks/tracking.py [--peers PEERS/bin/python NORFAIR/bin/python] [--seeds 1 2 3 4]
        [--seconds 40] [--every 1 3] [--lost 1] [--json FILE]

It prints a row for each tracker, and takes no part in `run_all.py`: it measures what is found, not how fast.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from tracking_figures import Box, Figures, figures

import penstock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from street import detections, noisy, things, truth_of

if TYPE_CHECKING:
    from collections.abc import Sequence

RATE: Final = 25.0
OURS: Final = ("BYTE_TRACK", "OC_SORT")
PEER: Final = Path(__file__).resolve().parent / "peers" / "trackers_by_hand.py"
GRAPH: Final = """
input_stream: "found" output_stream: "followed"
node { calculator: "TrackerCalculator" input_stream: "DETECTIONS:found" output_stream: "DETECTIONS:followed"
  node_options { [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {
    algorithm: %s lost_seconds: %s } } }
"""


def ours(lines: Sequence[dict[str, Any]], algorithm: str, lost: float) -> tuple[list[list[Box]], float]:
    """Follow the detections in a graph. Return the boxes of each frame, and milliseconds a frame."""
    fed: list[Any] = [(line["timestamp"], detections(line)) for line in lines]
    begin = perf_counter()
    packets: Any = penstock.run(GRAPH % (algorithm, lost), {"found": fed})["followed"]
    spent = 1e3 * (perf_counter() - begin) / len(lines)
    frames = []
    for packet in packets:
        boxes = [(one.detection_id, one.location_data.relative_bounding_box) for one in packet.payload]
        frames.append(
            [
                Box(key, (box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height))
                for key, box in boxes
            ]
        )
    return frames, spent


def by_hand(
    python: str, lines: Sequence[dict[str, Any]], rate: float, lost: float
) -> dict[str, tuple[list[list[Box]], float]]:
    """Let the peers follow the detections. Return name → boxes of each frame, and milliseconds a frame."""
    command = [python, str(PEER), str(rate), str(lost)]
    done = subprocess.run(  # noqa: S603  # our own file
        command, input=json.dumps(lines), capture_output=True, text=True, check=True, timeout=900
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return {
        name: ([[Box(key, box) for key, box in frame] for frame in frames], spent)
        for name, (frames, spent) in found.items()
    }


def row(name: str, of_seeds: Sequence[tuple[Figures, float]]) -> dict[str, object]:
    """Return the sums and means over the streets."""
    all_figures = [one for one, _ in of_seeds]
    objects = sum(one.objects for one in all_figures)
    faults = sum(one.missed + one.wrong + one.switches for one in all_figures)
    return {
        "tracker": name,
        "objects": objects,
        "missed": sum(one.missed for one in all_figures),
        "wrong": sum(one.wrong for one in all_figures),
        "switches": sum(one.switches for one in all_figures),
        "MOTA": round(1 - faults / objects, 3),
        "IDF1": round(float(np.mean([one.idf1 for one in all_figures])), 3),
        "ms": round(float(np.median([spent for _, spent in of_seeds])), 2),
    }


def rows(given: argparse.Namespace, every: int) -> list[dict[str, object]]:
    """Return a row for each tracker, with every so-many frame of the streets."""
    results: dict[str, list[tuple[Figures, float]]] = {}
    for seed in given.seeds:
        truth = truth_of(things(given.seconds, np.random.default_rng(seed)), given.seconds, RATE)
        lines = list(noisy(truth, seed))[::every]
        objects = [[Box(one["id"], one["box"]) for one in frame["objects"]] for frame in truth["frames"]]
        found = {f"penstock {name}": ours(lines, name, given.lost) for name in OURS}
        for python in given.peers:
            found |= by_hand(python, lines, RATE / every, given.lost)
        for name, (frames, spent) in found.items():
            results.setdefault(name, []).append((figures(objects[::every], frames), spent))
    return [row(name, of_seeds) for name, of_seeds in results.items()]


def main() -> int:
    """Print a table for each rate."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", nargs="+", default=[], help="Pythons of environments with other trackers")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--every", type=int, nargs="+", default=[1, 3], help="use every so-many frame")
    parser.add_argument("--lost", type=float, default=1.0, help="for how many seconds lost tracks are kept")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    tables = {f"{RATE / every:.1f}": rows(given, every) for every in given.every}
    for rate, table in tables.items():
        print(f"\n{rate} frames a second\n\n| {' | '.join(table[0])} |\n|{'---|' * len(table[0])}")
        for line in table:
            print(f"| {' | '.join(map(str, line.values()))} |")
    if given.json:
        given.json.write_text(json.dumps(tables, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
