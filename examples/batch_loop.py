"""A model that takes one object at a time, called for each object of each frame.

    python examples/batch_loop.py

A function finds the objects of a frame: their places, and a list of small images. The two ends of a loop
take the list apart and put the results together again, at the time of the frame; between them a function
sees one image at a time. A frame without objects goes past the loop. The film is drawn by a generator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np

import penstock
from penstock_formats import Detection, ImageFrame

COLOURS = {"red": (220, 50, 40), "green": (40, 170, 80), "blue": (50, 90, 220)}


class Found(NamedTuple):
    """What `find` returns: a stream for each field."""

    places: list[tuple[int, int, int, int]]  # left, top, width, height
    crops: list[ImageFrame]


@penstock.register_calculator
@penstock.calculator
def balls() -> Iterator[tuple[penstock.Timestamp, ImageFrame]]:
    """Yield frames (SRGB, 320x180) with no, one, two and three balls."""
    for number in range(4):
        picture = np.full((180, 320, 3), 235, np.uint8)
        for i, colour in enumerate(list(COLOURS.values())[:number]):
            cv2.circle(picture, (60 + 95 * i, 60 + 25 * i + 5 * number), 30, colour, -1, cv2.LINE_AA)
        yield penstock.Timestamp(40_000 * number), ImageFrame(picture)


@penstock.register_calculator
@penstock.calculator
def find(frame: ImageFrame) -> Found:
    """Return what differs from the light background."""
    mask = (frame.array.min(axis=2) < 128).astype(np.uint8)  # noqa: PLR2004  # half of white
    _, _, boxes, _ = cv2.connectedComponentsWithStats(mask)
    places = sorted((left, top, width, height) for left, top, width, height, _ in boxes[1:].tolist())
    crops = [ImageFrame(frame.array[y : y + height, x : x + width].copy()) for x, y, width, height in places]
    return Found(places, crops)


@penstock.register_calculator
@penstock.calculator
def classify(crop: ImageFrame) -> Detection:
    """Return the name of a colour; a real model would be called here."""
    height, width = crop.array.shape[:2]
    middle = crop.array[height // 2, width // 2].astype(int)
    return Detection(label=[min(COLOURS, key=lambda name: int(abs(middle - COLOURS[name]).sum()))])


@penstock.register_calculator
@penstock.calculator
def mark(
    frame: ImageFrame, places: list[tuple[int, int, int, int]], labels: list[Detection] | None
) -> ImageFrame:
    """Return the frame with boxes and labels drawn into it; `labels` is None where there are no objects."""
    picture = frame.array.copy()
    for (x, y, width, height), one in zip(places, labels or [], strict=True):
        cv2.rectangle(picture, (x, y), (x + width, y + height), (0, 0, 0), 2)
        cv2.putText(picture, one.label[0], (x, y - 6), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 1)
    return ImageFrame(picture, frame.format)


GRAPH = """
output_stream: "labels"
output_stream: "marked"
node { calculator: "Balls" output_stream: "OUT:frame" }
node {
  calculator: "Find"
  input_stream: "FRAME:frame"
  output_stream: "PLACES:places"
  output_stream: "CROPS:crops"
}
node {
  calculator: "BeginLoopImageFrameCalculator"
  input_stream: "ITERABLE:crops"
  output_stream: "ITEM:crop"
  output_stream: "BATCH_END:end_of_the_list"
}
node { calculator: "Classify" input_stream: "CROP:crop" output_stream: "OUT:label" }
node {
  calculator: "EndLoopDetectionCalculator"
  input_stream: "ITEM:label"
  input_stream: "BATCH_END:end_of_the_list"
  output_stream: "ITERABLE:labels"
}
node {
  calculator: "Mark"
  input_stream: "FRAME:frame"
  input_stream: "PLACES:places"
  input_stream: "LABELS:labels"
  output_stream: "OUT:marked"
}
"""


def main() -> None:
    """Print what was found in each frame."""
    for row in penstock.CalculatorGraph(GRAPH).rows("labels", "marked"):
        labels = ", ".join(one.label[0] for one in row["labels"] or [])
        print(f"frame at {row.timestamp.seconds:.2f} s: {labels or 'nothing'}")


if __name__ == "__main__":
    main()
