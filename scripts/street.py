"""Renders a street whose truth is known: cars, buses and people who cross, cover one another and turn around.

    python scripts/street.py street.mp4 [--truth street.json] [--noisy found.jsonl] [--seconds 20] [--seed 1]

The truth has for each frame the box of each object, its number and how much of it is seen, and each crossing
of a line. `--noisy` writes the detections that a model might make of it, in lines like the ones of
`penstock detect --json`: boxes that are a little wrong, some missed, some of nothing. The same seed gives the
same objects.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import av
import cv2
import numpy as np

from penstock_formats import Detection, LocationData

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Picture = NDArray[np.uint8]

LABELS: Final = ("person", "car", "bus")
#: Width and height at the front edge of the picture, in shares of the picture's height.
SIZES: Final = ((0.11, 0.32), (0.52, 0.22), (1.0, 0.44))
#: Where lanes are (the bottom of a car, in shares of the height), and where they lead: right or left.
LANES: Final = ((0.56, 1), (0.65, 1), (0.76, -1), (0.88, -1))
PAVEMENTS: Final = (0.47, 0.985)
CROSSINGS: Final = (0.26, 0.74)
#: What stands still and covers: left, top, right, bottom in shares of the picture, and how near it is.
COVERS: Final = ((0.40, 0.12, 0.435, 1.0, 1.0), (0.58, 0.20, 0.68, 0.475, 0.475))
#: The line that is crossed: it goes from the top to the bottom.
LINE_X: Final = 0.5
ASPECT: Final = 16 / 9
#: Objects of which less is seen, or less is in the picture, are no part of the truth.
LEAST_SEEN: Final = 0.25


class Thing(NamedTuple):
    """An object, and how it moves."""

    number: int
    label: int
    #: When it starts, in seconds, and where: shares of the picture, the middle of its lower edge.
    start: float
    place: tuple[float, float]
    #: In shares of the picture's width and height a second.
    speed: tuple[float, float]
    #: Its speed changes by this share, in a rhythm of its own.
    change: float
    phase: float
    #: When it turns around, in seconds after its start; infinite: never.
    turn: float
    size: float
    colour: tuple[int, int, int]

    def at(self, time: float) -> tuple[float, float]:
        """Return the middle of its lower edge at a time, in shares of the picture."""
        way = self._way(time - self.start)
        if time - self.start > self.turn:
            way = 2 * self._way(self.turn) - way
        return self.place[0] + self.speed[0] * way, self.place[1] + self.speed[1] * way

    def _way(self, time: float) -> float:
        return time + self.change * (math.sin(1.3 * time + self.phase) - math.sin(self.phase)) / 1.3

    def box(self, time: float) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom in shares of the picture; they may be outside of it."""
        x, y = self.at(time)
        width, height = SIZES[self.label]
        scale = self.size * (0.25 + 0.75 * (y - 0.4) / 0.6)
        half = width * scale / ASPECT / 2
        return x - half, y - height * scale, x + half, y


class Seen(NamedTuple):
    """An object in a frame."""

    thing: Thing
    #: Left, top, right and bottom in shares of the picture, cut at its edges.
    box: tuple[float, float, float, float]
    #: How much of it is neither outside nor covered, 0 to 1.
    share: float


def things(seconds: float, random: np.random.Generator) -> list[Thing]:
    """Return all objects of a film, in the order of their starts."""
    starts: list[tuple[float, dict[str, Any]]] = []
    for y, way in LANES:
        time, speed = float(random.uniform(-6, 0)), float(random.uniform(0.16, 0.30))
        while time < seconds:
            label = 2 if random.random() < 0.15 else 1  # noqa: PLR2004  # few buses
            starts.append((time, {
                "label": label, "place": (-0.25 if way > 0 else 1.25, y), "speed": (way * speed, 0.0),
                "change": 0.15, "turn": math.inf, "phase": float(random.uniform(0, 1)),
            }))  # fmt: skip
            time += float(random.uniform(2.6, 6.0)) + (1.5 if label == 2 else 0)  # noqa: PLR2004  # a bus
    for y in PAVEMENTS:
        for time in np.sort(random.uniform(-12, seconds, max(2, int(seconds / 2.2)))).tolist():
            way = 1 if random.random() < 0.5 else -1  # noqa: PLR2004  # as many one way as the other
            turn = float(random.uniform(3, 8)) if random.random() < 0.3 else math.inf  # noqa: PLR2004  # some
            starts.append((time, {
                "label": 0, "place": (-0.05 if way > 0 else 1.05, y + float(random.uniform(-0.012, 0.01))),
                "speed": (way * float(random.uniform(0.05, 0.09)), 0.0), "change": 0.3, "turn": turn,
                "phase": float(random.uniform(0, 6)),
            }))  # fmt: skip
    for time in np.sort(random.uniform(-3, seconds, max(2, int(seconds / 3)))).tolist():
        way = 1 if random.random() < 0.5 else -1  # noqa: PLR2004  # as many one way as the other
        x = CROSSINGS[int(random.integers(2))] + float(random.uniform(-0.03, 0.03))
        starts.append((time, {
            "label": 0, "place": (x, 0.44 if way > 0 else 1.3),
            "speed": (float(random.uniform(-0.01, 0.01)), way * float(random.uniform(0.07, 0.11))),
            "change": 0.2, "turn": math.inf, "phase": float(random.uniform(0, 6)),
        }))  # fmt: skip
    starts.sort(key=lambda one: one[0])
    return [
        Thing(
            number=i + 1,
            start=time,
            size=float(random.uniform(0.9, 1.1)),
            colour=tuple(random.integers(40, 220, 3).tolist()),
            **more,
        )
        for i, (time, more) in enumerate(starts)
    ]


def seen_at(film: list[Thing], time: float) -> list[Seen]:
    """Return the objects of a frame, the farthest first."""
    width, height = 480, 270
    owner = np.zeros((height, width), np.int32)
    there = [one for one in film if one.start <= time]
    layers: list[tuple[float, int, tuple[float, ...]]] = [
        (one.at(time)[1], one.number, one.box(time)) for one in there
    ]
    layers += [(near, -1, (left, top, right, bottom)) for left, top, right, bottom, near in COVERS]
    layers.sort(key=lambda one: one[:2])
    for _, number, (left, top, right, bottom) in layers:
        rows = slice(max(0, round(top * height)), max(0, round(bottom * height)))
        owner[rows, max(0, round(left * width)) : max(0, round(right * width))] = number
    found = []
    for one in sorted(there, key=lambda one: (one.at(time)[1], one.number)):
        left, top, right, bottom = box = one.box(time)
        whole = max(1, round((right - left) * width) * round((bottom - top) * height))
        share = min(1.0, np.count_nonzero(owner == one.number) / whole)
        cut = tuple(min(max(edge, 0.0), 1.0) for edge in box)
        if share > 0 and cut[2] - cut[0] > 0 and cut[3] - cut[1] > 0:
            found.append(Seen(one, cut, share))  # type: ignore[arg-type]  # four edges
    return found


def truth_of(film: list[Thing], seconds: float, rate: float) -> dict[str, Any]:
    """Return the frames, and the crossings of the line."""
    frames, crossings, before = [], [], dict[int, float]()
    for i in range(round(seconds * rate)):
        stamp = round(1e6 * i / rate)
        objects = []
        for thing, box, share in sorted(seen_at(film, i / rate), key=lambda one: one.thing.number):
            x = thing.at(i / rate)[0]
            last = before.get(thing.number, x)
            if (last < LINE_X) != (x < LINE_X):
                crossings.append({
                    "timestamp": stamp, "id": thing.number, "label": LABELS[thing.label],
                    "direction": "right" if x > last else "left",
                })  # fmt: skip
            before[thing.number] = x
            if share >= LEAST_SEEN:
                objects.append({
                    "id": thing.number, "label": LABELS[thing.label], "class": thing.label,
                    "box": [round(edge, 5) for edge in box], "visible": round(share, 3),
                })  # fmt: skip
        frames.append({"timestamp": stamp, "objects": objects})
    line = [[LINE_X, 0.0], [LINE_X, 1.0]]
    return {"rate": rate, "line": line, "frames": frames, "crossings": crossings}


def noisy(
    truth: dict[str, Any], seed: int, *, missed: float = 0.08, wrong: float = 0.3
) -> Iterator[dict[str, Any]]:
    """Yield what a detector might find, a frame at a time.

    Args:
        truth: of `truth_of`.
        seed: of the noise.
        missed: share of the objects that are seen as a whole and not found; covered ones are missed more.
        wrong: detections of nothing, in a frame.
    """
    random = np.random.default_rng(seed)
    for frame in truth["frames"]:
        found = []
        for one in frame["objects"]:
            if random.random() < missed + 0.6 * (1 - one["visible"]) ** 2:
                continue
            left, top, right, bottom = one["box"]
            size = np.array([right - left, bottom - top] * 2)
            box = np.array(one["box"]) + 0.025 * size * random.normal(size=4)
            score = 0.88 * one["visible"] ** 0.5 + 0.08 * random.normal()
            found.append(_detection(one["class"], score, box))
        for _ in range(random.poisson(wrong)):
            x, y, width, height = random.uniform((0.05, 0.4, 0.02, 0.05), (0.9, 0.9, 0.1, 0.2))
            box = np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2])
            found.append(_detection(int(random.integers(3)), random.uniform(0.1, 0.65), box))
        found.sort(key=lambda one: -one["score"])
        yield {"timestamp": frame["timestamp"], "detections": found}


def _detection(label: int, score: float, box: NDArray[np.float64]) -> dict[str, Any]:
    return {
        "label": LABELS[label],
        "class": label,
        "score": round(float(min(max(score, 0.05), 0.99)), 4),
        "box": [round(float(edge), 5) for edge in box],
    }


# --- pictures -----------------------------------------------------------------------------------------


def detections(line: dict[str, Any]) -> list[Detection]:
    """Return the detections of a frame, as `noisy` yields them, as messages with label, number and score."""
    made = []
    for one in line["detections"]:
        left, top, right, bottom = one["box"]
        box = {"xmin": left, "ymin": top, "width": right - left, "height": bottom - top}
        place = {"format": LocationData.RELATIVE_BOUNDING_BOX, "relative_bounding_box": box}
        made.append(
            Detection(
                label=[one["label"]], label_id=[one["class"]], score=[one["score"]], location_data=place
            )
        )
    return made


def background(width: int, height: int) -> Picture:
    """Return the street without anybody, (height, width, 3), uint8, red first."""
    made = np.zeros((height, width, 3), np.uint8)
    bands = (
        (0.0, 0.30, (176, 205, 230)), (0.30, 0.42, (150, 140, 130)), (0.42, 0.49, (178, 174, 168)),
        (0.49, 0.92, (84, 86, 92)), (0.92, 1.0, (170, 166, 160)),
    )  # fmt: skip
    for top, bottom, colour in bands:
        made[round(top * height) : round(bottom * height)] = colour
    for i in range(9):
        left, top = i * width // 9, round((0.06 + 0.05 * (i * 7 % 4)) * height)
        colour = (150 + 10 * (i * 5 % 7), 120 + 12 * (i * 3 % 6), 105 + 9 * (i * 2 % 8))
        cv2.rectangle(made, (left, top), (left + width // 9 - 3, round(0.42 * height)), colour, -1)
        for row in range(4):
            for column in range(3):
                x, y = left + (column * 2 + 1) * width // 63, top + round((0.03 + 0.075 * row) * height)
                if y < 0.38 * height:
                    size = (x + width // 90, y + round(0.04 * height))
                    cv2.rectangle(made, (x, y), size, (96, 116, 140), -1)
    for x in range(0, width, max(1, width // 16)):
        for share in (0.605, 0.705, 0.82):
            cv2.rectangle(
                made,
                (x, round(share * height)),
                (x + width // 32, round((share + 0.006) * height)),
                (220, 220, 210),
                -1,
            )
    for middle in CROSSINGS:
        for i in range(7):
            top = round((0.50 + 0.06 * i) * height)
            left, right = round((middle - 0.05) * width), round((middle + 0.05) * width)
            cv2.rectangle(made, (left, top), (right, top + round(0.03 * height)), (214, 214, 208), -1)
    return made


def draw(picture: Picture, one: Thing, time: float) -> None:
    """Draw an object into a picture."""
    height, width = picture.shape[:2]
    left, top, right, bottom = one.box(time)
    across, down = (right - left) * width, (bottom - top) * height

    def at(x: float, y: float) -> tuple[int, int]:
        return round(left * width + x * across), round(top * height + y * down)

    dark = tuple(part // 2 for part in one.colour)
    if one.label == 0:
        swing = 0.32 * math.sin(9 * time + one.phase)
        for side in (-1, 1):
            cv2.line(
                picture,
                at(0.5, 0.6),
                at(0.5 + side * swing, 0.99),
                dark,
                max(1, round(0.16 * across)),
                cv2.LINE_AA,
            )
        cv2.rectangle(picture, at(0.22, 0.22), at(0.78, 0.64), one.colour, -1)
        cv2.circle(picture, at(0.5, 0.11), max(1, round(0.1 * down)), (224, 184, 150), -1, cv2.LINE_AA)
        return
    upper = 0.0 if one.label == 2 else 0.35  # noqa: PLR2004  # a bus is a box
    cv2.rectangle(picture, at(0, upper), at(1, 0.85), one.colour, -1)
    if one.label == 1:
        roof = np.array([at(0.18, 0.36), at(0.3, 0.0), at(0.72, 0.0), at(0.86, 0.36)])
        cv2.fillPoly(picture, [roof], dark, cv2.LINE_AA)
        cv2.rectangle(picture, at(0.33, 0.08), at(0.5, 0.32), (200, 222, 232), -1)
        cv2.rectangle(picture, at(0.54, 0.08), at(0.7, 0.32), (200, 222, 232), -1)
    else:
        for i in range(5):
            cv2.rectangle(picture, at(0.05 + 0.19 * i, 0.12), at(0.19 + 0.19 * i, 0.45), (200, 222, 232), -1)
    for x in (0.2, 0.8):
        cv2.circle(picture, at(x, 0.86), max(1, round(0.14 * down)), (28, 28, 32), -1, cv2.LINE_AA)


def pictures(film: list[Thing], seconds: float, rate: float, size: tuple[int, int]) -> Iterator[Picture]:
    """Yield the frames, (height, width, 3), uint8, red first."""
    width, height = size
    empty = background(width, height)
    for i in range(round(seconds * rate)):
        picture, time = empty.copy(), i / rate
        layers: list[tuple[float, Any]] = [(one.at(time)[1], one) for one in film if one.start <= time]
        layers += [(near, tuple(box)) for *box, near in COVERS]
        for _, one in sorted(layers, key=lambda layer: layer[0]):
            if isinstance(one, Thing):
                draw(picture, one, time)
            else:
                corners = (
                    (round(one[0] * width), round(one[1] * height)),
                    (round(one[2] * width), round(one[3] * height)),
                )
                cv2.rectangle(picture, *corners, (92, 74, 58), -1)
        yield picture


def write_video(path: Path, film: list[Thing], seconds: float, rate: float, size: tuple[int, int]) -> None:
    """Write the film as H.264, or as MPEG-4 where libav has no encoder for that."""
    codec = "libx264" if "libx264" in av.codecs_available else "mpeg4"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=Fraction(rate).limit_denominator(1001))
        stream.width, stream.height = size
        stream.pix_fmt, stream.bit_rate = "yuv420p", 4_000_000
        for picture in pictures(film, seconds, rate, size):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def _size(text: str) -> tuple[int, int]:
    """Return an even width and height."""
    found = re.fullmatch(r"([1-9]\d{1,3})x([1-9]\d{1,3})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1280x720, of 10 to 9999 pixels")
    return int(found[1]) // 2 * 2, int(found[2]) // 2 * 2


def main() -> int:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("video", type=Path, nargs="?", help="the file to write: .mp4 or .mkv")
    parser.add_argument("--truth", type=Path, help="write the truth as JSON")
    parser.add_argument("--noisy", type=Path, help="write noisy detections as lines of JSON")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=25.0, help="frames a second")
    parser.add_argument("--size", type=_size, default=(1280, 720), help="WxH")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.seconds <= 0 or given.rate <= 0:
        parser.error("--seconds and --rate must be above 0")
    if not (given.video or given.truth or given.noisy):
        parser.error("nothing is to be written: name a video, --truth FILE or --noisy FILE")
    film = things(given.seconds, np.random.default_rng(given.seed))
    truth = truth_of(film, given.seconds, given.rate)
    if given.truth:
        given.truth.write_text(json.dumps(truth), encoding="utf-8")
    if given.noisy:
        lines = (json.dumps(line, separators=(",", ":")) for line in noisy(truth, given.seed))
        given.noisy.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if given.video:
        write_video(given.video, film, given.seconds, given.rate, given.size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
