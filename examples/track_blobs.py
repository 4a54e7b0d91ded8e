"""Objects followed through a video without a neural network: a slow detector, and optical flow in between.

    python examples/track_blobs.py [VIDEO] [-o OUT.mp4] [--show] [--limit N]

Needs the extra `mediapipe` of Penstock. The detector finds what moves before a still background. A limiter
gives it a frame only when it has finished the one before; in all others the boxes of the frame before move
with the optical flow inside of them. What the detector finds takes the id of the box that it overlaps. At the
end it says who was followed, and which limit cut the others. Without VIDEO four blobs are rendered.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import cv2
import numpy as np

import penstock
from penstock_cli.existing_files import existing_file
from penstock_cli.failures import WrongUsage, as_failure
from penstock_cli.runs.manner import Manner
from penstock_cli.runs.run import run_graph
from penstock_cli.runs.summary import files
from penstock_formats import (
    Detection,
    ImageFrame,
    LocationData,
    NormalizedLandmarkList,
    RenderData,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from penstock.explain import Ledger

MOST = 8  # objects that are followed, unless --limit says otherwise
SURE = 0.8  # below this score of a box the detector is asked again
FRAMES, WIDTH, HEIGHT, RADIUS = 120, 640, 360, 36
COLOURS = ((205, 80, 70), (40, 140, 150), (70, 100, 200), (215, 150, 60))

# --- a film whose truth is known ----------------------------------------------------------------------


def centres(number: int) -> list[tuple[float, float]]:
    """Return where the four blobs are in a frame of the film, in pixels; nobody is there in the first."""
    turn = 2 * math.pi * number / FRAMES
    return [
        (
            WIDTH / 2 + 230 * math.cos(turn + i * math.pi / 2),
            HEIGHT / 2 + 105 * math.sin(turn + i * math.pi / 2),
        )
        for i in range(4 if number else 0)
    ]


def render(number: int, ground: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a frame of the film: balls of four colours with spots, which turn as they go."""
    picture = ground.copy()
    for i, (x, y) in enumerate(centres(number)):
        centre = (round(16 * x), round(16 * y))  # in sixteenths of a pixel
        cv2.circle(picture, centre, 16 * RADIUS, COLOURS[i], -1, cv2.LINE_AA, shift=4)
        for k in range(5):
            angle = 0.05 * number + 2 * math.pi * k / 5
            spot = (round(16 * (x + 20 * math.cos(angle))), round(16 * (y + 20 * math.sin(angle))))
            cv2.circle(picture, spot, 16 * 6, (245, 245, 240), -1, cv2.LINE_AA, shift=4)
    return picture


@penstock.register_calculator
@penstock.calculator
def blobs() -> Iterator[tuple[penstock.Timestamp, ImageFrame]]:
    """Yield the film: SRGB, 640x360, 25 frames a second."""
    noise = np.random.default_rng(1).normal(0, 60, (HEIGHT, WIDTH))
    texture = cv2.GaussianBlur(noise, (0, 0), 3)[..., None] + np.linspace(60, 110, HEIGHT)[:, None, None]
    ground = np.clip(texture * (0.8, 1.0, 1.1), 0, 255).astype(np.uint8)
    for number in range(FRAMES):
        yield penstock.Timestamp(40_000 * number), ImageFrame(render(number, ground))


# --- what the standard calculators lack ---------------------------------------------------------------


@penstock.register_calculator
@penstock.calculator
def wanted(frame: ImageFrame, tracked: list[Detection] | None, *, limit: penstock.SidePacket[int]) -> bool:
    """Return whether the detector is to look: somebody may be missing, or a box is no longer sure."""
    del frame  # says when
    return not tracked or len(tracked) < limit or min(one.score[0] for one in tracked) < SURE


@penstock.register_calculator
@penstock.calculator
def oldest_first(objects: list[Detection]) -> list[Detection]:
    """Return those with an id in its order, then the new ones from the left: a limit cuts the end."""

    def rank(one: Detection) -> tuple[float, float]:
        left = one.location_data.relative_bounding_box.xmin
        return (one.detection_id, 0) if one.HasField("detection_id") else (math.inf, left)

    return sorted(objects, key=rank)


@penstock.register_calculator
@penstock.calculator
class Number:
    """Gives each object without an id the next one."""

    def __init__(self) -> None:
        self._given = 0

    def process(self, objects: list[Detection]) -> list[Detection]:
        """Return all of them; those that have an id as they are."""
        return [one if one.HasField("detection_id") else self._numbered(one) for one in objects]

    def _numbered(self, found: Detection) -> Detection:
        made = Detection()
        made.CopyFrom(found)
        self._given += 1
        made.detection_id = self._given
        return made


class Corners(NamedTuple):
    """What `corners` returns, a stream for each field."""

    points: list[NormalizedLandmarkList]
    ids: list[int]


@penstock.register_calculator
@penstock.calculator
def corners(objects: list[Detection]) -> Corners:
    """Return two corners of each box, and its id: landmarks can be smoothed."""
    boxes = [one.location_data.relative_bounding_box for one in objects]
    points = [((box.xmin, box.ymin), (box.xmin + box.width, box.ymin + box.height)) for box in boxes]
    return Corners(
        [NormalizedLandmarkList(landmark=[{"x": x, "y": y} for x, y in pair]) for pair in points],
        [one.detection_id for one in objects],
    )


@penstock.register_calculator
@penstock.calculator
def boxes(objects: list[Detection], points: list[NormalizedLandmarkList]) -> list[Detection]:
    """Return the objects with boxes between smooth corners."""
    made = []
    for one, (low, high) in zip(objects, (two.landmark for two in points), strict=True):
        box = LocationData.RelativeBoundingBox(
            xmin=low.x, ymin=low.y, width=high.x - low.x, height=high.y - low.y
        )
        place = LocationData(format=LocationData.RELATIVE_BOUNDING_BOX, relative_bounding_box=box)
        made.append(Detection(detection_id=one.detection_id, score=one.score, location_data=place))
    return made


@penstock.register_calculator
@penstock.calculator
def drawing(objects: list[Detection]) -> RenderData:
    """Return a box and a number for each object."""
    data, color = RenderData(), {"r": 190, "g": 255, "b": 60}
    for one in objects:
        box = one.location_data.relative_bounding_box
        data.render_annotations.add(
            rectangle={
                "left": box.xmin,
                "top": box.ymin,
                "right": box.xmin + box.width,
                "bottom": box.ymin + box.height,
                "normalized": True,
            },
            color=color,
            thickness=3,
        )
        text = data.render_annotations.add(color=color, thickness=2).text
        text.display_text, text.font_height, text.normalized = f"#{one.detection_id}", 0.06, True
        # above the box, or inside of it where that would be outside of the frame
        text.left, text.baseline = box.xmin + 0.005, box.ymin + (-0.02 if box.ymin > 0.08 else 0.08)  # noqa: PLR2004
    return data


# --- the graph ----------------------------------------------------------------------------------------

BLOBS = 'node { calculator: "Blobs" output_stream: "OUT:frame" }'
DECODER = """
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
}"""
TRACKING = """
max_queue_size: 6
input_side_packet: "limit"
output_stream: "steady"
output_stream: "drawn"
executor {
  name: "detector"
  type: "ThreadPoolExecutor"
  options { [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 } }
}

# The memory: what was followed in the frame before, and that frame.
node {
  calculator: "PreviousLoopbackCalculator"
  input_stream: "MAIN:frame"
  input_stream: "LOOP:tracked"
  input_stream_info { tag_index: "LOOP" back_edge: true }
  output_stream: "PREV_LOOP:tracked_before"
}
node {
  calculator: "PreviousLoopbackCalculator"
  input_stream: "MAIN:frame"
  input_stream: "LOOP:frame"
  output_stream: "PREV_LOOP:frame_before"
}

# The slow detector: it gets a frame when it is free, and when somebody may be missing.
node {
  calculator: "FlowLimiterCalculator"
  input_stream: "frame"
  input_stream: "FINISHED:found"
  input_stream_info { tag_index: "FINISHED" back_edge: true }
  output_stream: "offered"
}
node {
  calculator: "Wanted"
  input_stream: "FRAME:frame"
  input_stream: "TRACKED:tracked_before"
  input_side_packet: "LIMIT:limit"
  output_stream: "OUT:wanted"
}
node {
  calculator: "GateCalculator"
  input_stream: "offered"
  input_stream: "ALLOW:wanted"
  output_stream: "seen"
}
node {
  calculator: "MotionDetectionCalculator"
  input_stream: "IMAGE:seen"
  output_stream: "DETECTIONS:found"
  executor: "detector"
}

# In every frame: each box moves with what is inside of it.
node {
  calculator: "BeginLoopDetectionCalculator"
  input_stream: "ITERABLE:tracked_before"
  input_stream: "CLONE:0:frame_before"
  input_stream: "CLONE:1:frame"
  output_stream: "ITEM:one_before"
  output_stream: "CLONE:0:its_frame_before"
  output_stream: "CLONE:1:its_frame"
  output_stream: "BATCH_END:end_of_the_list"
}
node {
  calculator: "BoxFlowCalculator"
  input_stream: "DETECTION:one_before"
  input_stream: "PREV_IMAGE:its_frame_before"
  input_stream: "IMAGE:its_frame"
  output_stream: "DETECTION:one"
}
node {
  calculator: "EndLoopDetectionCalculator"
  input_stream: "ITEM:one"
  input_stream: "BATCH_END:end_of_the_list"
  output_stream: "ITERABLE:moved"
}

# What was found replaces what it overlaps, and takes its id.
node {
  calculator: "AssociationDetectionCalculator"
  input_stream: "moved"
  input_stream: "found"
  output_stream: "joined"
  options { [penstock.AssociationCalculatorOptions.ext] { min_similarity_threshold: 0.2 } }
}
node { calculator: "OldestFirst" input_stream: "OBJECTS:joined" output_stream: "OUT:ordered" }
node {
  calculator: "ClipDetectionVectorSizeCalculator"
  name: "limit"
  input_stream: "ordered"
  input_side_packet: "limit"
  output_stream: "few"
}
node { calculator: "Number" input_stream: "OBJECTS:few" output_stream: "OUT:tracked" }

# To look at: smooth corners, boxes and numbers over the frame.
node { calculator: "ImagePropertiesCalculator" input_stream: "IMAGE:frame" output_stream: "SIZE:size" }
node {
  calculator: "Corners"
  input_stream: "OBJECTS:tracked"
  output_stream: "POINTS:points"
  output_stream: "IDS:ids"
}
node {
  calculator: "MultiLandmarksSmoothingCalculator"
  input_stream: "NORM_LANDMARKS:points"
  input_stream: "TRACKING_IDS:ids"
  input_stream: "IMAGE_SIZE:size"
  output_stream: "NORM_FILTERED_LANDMARKS:smooth_points"
  options {
    [penstock.LandmarksSmoothingCalculatorOptions.ext] { one_euro_filter { min_cutoff: 1.5 beta: 20 } }
  }
}
node {
  calculator: "Boxes"
  input_stream: "OBJECTS:tracked"
  input_stream: "POINTS:smooth_points"
  output_stream: "OUT:steady"
}
node { calculator: "Drawing" input_stream: "OBJECTS:steady" output_stream: "OUT:to_draw" }
node {
  calculator: "AnnotationOverlayCalculator"
  input_stream: "IMAGE:frame"
  input_stream: "to_draw"
  output_stream: "IMAGE:drawn"
}
"""
ENCODER = """
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
}"""
GRAPH = BLOBS + TRACKING


def play(graph: penstock.CalculatorGraph) -> None:
    """Run the graph of the rendered blobs to its end."""
    graph.start_run({"limit": MOST})
    graph.wait_until_done()


# --- the command --------------------------------------------------------------------------------------


class Followed:
    """Remembers who was followed for how many frames. Only the graph calls it, one packet at a time."""

    def __init__(self) -> None:
        self.frames: dict[int, int] = {}

    def add(self, _stream: str, packet: penstock.Packet) -> None:
        """Count the objects of one frame."""
        for one in packet.payload:
            self.frames[one.detection_id] = self.frames.get(one.detection_id, 0) + 1


def tell(followed: Followed, ledger: Ledger) -> None:
    """Print who was followed, how many frames the detector saw, and which limit cut somebody."""
    for identity, frames in sorted(followed.frames.items()):
        click.echo(f"#{identity}: followed for {frames} frames")
    added = {stream.name: stream.added for stream in ledger.streams}
    click.echo(f"the detector saw {added['seen']} of {added['frame']} frames")
    for cut in ledger.cuts:
        click.echo(str(cut))


def track(video: Path | None, out: Path | None, limit: int, manner: Manner, *, show: bool) -> None:
    """Follow what moves in a video, or in the rendered blobs; write and show it as wanted, and tell of it."""
    sides: dict[str, object] = {"limit": limit}
    if video is not None:
        sides["input_video"] = str(existing_file(video, "video"))
        if out is not None and out.exists() and out.samefile(video):
            raise WrongUsage(f"{str(out)!r} is the video that is read; name another file with -o")
    if out is not None:
        sides["output_video"] = str(out)
    parts = [BLOBS if video is None else DECODER, TRACKING, ENCODER if out is not None else ""]
    graph = penstock.CalculatorGraph("".join(parts))
    followed = Followed()
    graph.observe_output_stream("steady", followed.add)
    if show:
        from penstock_cli.runs.screen import Screen  # needs penstock-cli[show]
        from penstock_cli.runs.window import Window  # likewise

        with Window.opened("track_blobs") as window:
            wait: Callable[[float], None] = Screen(graph, "drawn", window, is_live=False).wait
            outcome, written = run_graph(graph, sides, manner, wait=wait)
    else:
        outcome, written = run_graph(graph, sides, manner)
    tell(followed, outcome.ledger)
    if written:
        click.echo(f"written: {files(written)}")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("video", type=click.Path(path_type=Path), required=False)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write; its ending chooses the container.",
)
@click.option("--show", is_flag=True, help="Show the frames in a window; needs penstock-cli[show].")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=MOST,
    show_default=True,
    help="How many objects are followed.",
)
def main(video: Path | None, out: Path | None, limit: int, *, show: bool) -> None:
    """Follow what moves in VIDEO, or four rendered blobs: a box and a number for each object."""
    manner = Manner(progress=sys.stderr.isatty(), summary=False)
    try:
        with manner.log_said():
            track(video, out, limit, manner, show=show)
    except (penstock.PenstockError, OSError) as error:
        raise as_failure(error) from error


if __name__ == "__main__":
    main()
