"""The edge-overlay graph against a plain loop over the same calls: frames per second, in one run.

    python benchmarks/edge_overlay.py VIDEO [--rounds 5] [--at-least 1.4]

Claim: on two cores the graph of examples/edge_overlay.pbtxt gives at least 1.4 times the frames per
second of a single-threaded Python loop over the same decode, filter and encode calls.

Fair play: both sides call the same functions of this workspace, PyAV and OpenCV with the same thread
counts (decoder, encoder and OpenCV one thread each unless told otherwise); both are warmed up; rounds
alternate; the machine's load is printed. Ratios within one run count, absolute numbers do not.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np

import penstock
from penstock_formats import ImageFormat
from penstock_video.files import FileSource
from penstock_video.writer import Settings, VideoWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "edge_overlay.pbtxt"
#: The one that the example names.
PRESET = "ultrafast"


def loop(video: str, target: Path, decoder_threads: int, encoder_threads: int) -> int:
    """Decode, make grey, find edges, paint, encode: frame after frame. Return how many frames."""
    source = FileSource(video, decoder_threads)
    header = source.header
    size = (header.width, header.height)
    settings = Settings("libx264", header.frame_rate, preset=PRESET, threads=encoder_threads)
    writer = VideoWriter(target, settings, size)
    paint = np.empty((header.height, header.width, 3), np.uint8)
    paint[:] = (0, 255, 0)
    count = 0
    while (read := source.read()) is not None:
        timestamp, picture = read
        edges = cv2.Canny(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), 100, 200)
        painted = picture.copy()
        cv2.copyTo(paint, edges, painted)
        writer.write(painted, ImageFormat.SRGB, timestamp)
        count += 1
    source.close()
    writer.finish()
    return count


def graph(video: str, target: Path, decoder_threads: int, encoder_threads: int) -> int:
    """Run the example's graph with those thread counts. Return how many frames."""
    text = EXAMPLE.read_text(encoding="utf-8")
    text = text.replace("test_pattern {", f"decoder_threads: {decoder_threads} test_pattern {{", 1)
    preset = f'preset: "{PRESET}"'
    text = text.replace(preset, f"{preset} threads: {encoder_threads}", 1)
    count = 0

    def one_more(_name: str, _packet: penstock.Packet) -> None:
        nonlocal count
        count += 1

    run = penstock.CalculatorGraph(text)
    run.observe_output_stream("painted", one_more)
    run.run({"input_video": video, "output_video": str(target)})
    return count


def rate(side: Callable[..., int], *arguments: object) -> float:
    """Return frames per second of one call."""
    start = time.perf_counter()
    count = side(*arguments)
    return count / (time.perf_counter() - start)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and return 1 where the ratio is too small."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("video")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--decoder-threads", type=int, default=1)
    parser.add_argument("--encoder-threads", type=int, default=1)
    parser.add_argument("--at-least", type=float, default=1.4, help="exit with 1 below this ratio")
    options = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    with tempfile.TemporaryDirectory() as folder:
        how = (options.video, Path(folder) / "out.mp4", options.decoder_threads, options.encoder_threads)
        frames = loop(*how), graph(*how)
        if frames[0] != frames[1]:
            raise SystemExit(f"the loop made {frames[0]} frames, the graph {frames[1]}: nothing to compare")
        rates = [(rate(loop, *how), rate(graph, *how)) for _ in range(options.rounds)]
    load = f", load {os.getloadavg()[0]:.2f}" if hasattr(os, "getloadavg") else ""
    print(f"{frames[0]} frames, {os.cpu_count()} cores{load}, {options.rounds} rounds")
    for name, side in (("loop", 0), ("graph", 1)):
        found = [pair[side] for pair in rates]
        print(f"{name:5}  {statistics.median(found):6.1f} frames/s  ({min(found):.1f} to {max(found):.1f})")
    ratio = statistics.median(pair[1] / pair[0] for pair in rates)
    print(f"graph / loop: {ratio:.2f} (at least {options.at_least:g} claimed)")
    return int(ratio < options.at_least)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
