"""The text in a video: found, read and followed by two models, as one graph.

    python examples/read_text.py [VIDEO] [-o OUT.mp4] [--json] [--show] [--camera N]

Needs the extra `detect` of Penstock, and the models of PP-OCR, which the package rapidocr ships (Apache-2.0):
`pip install --no-deps rapidocr`. The first model marks the pixels of text; a function makes a turned
rectangle of each line. A loop lets the second model read each line, cut out and turned. A line that stays
gets a number, and the text that its readings agree on. Lines are read along their longer side. Without VIDEO
a film with three signs is rendered. Drawn text has ASCII letters only; what is printed has all.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import sys
import tempfile
from collections import defaultdict, deque
from collections.abc import Iterator
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
    run_over_video,
)
from penstock_cli.failures import as_failure
from penstock_detect import read_model
from penstock_formats import Detection, ImageFrame, NormalizedRect, Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

INK = 0.3  # of a pixel's probability, from which on it is text
SURE = 0.6  # mean probability of a line
SPREAD = 1.6  # the model marks the middle of lines: what is added, as a share of area over perimeter
LEAST = 5  # pixels of the model's input that a line is high
TALL, STEP, WIDEST = 48, 32, 1600  # pixels: height of a line for the second model, its widths
READ = 0.5  # score of a reading from which on it counts
KEPT = 15  # readings of a line that vote
LINES = 1000  # of which readings are kept, the newest ones
GONE = 0.5  # seconds after which a line that is not found is forgotten
FRAMES, WIDTH, HEIGHT = 36, 640, 360

# --- a film whose truth is known ----------------------------------------------------------------------

SIGNS = ("PENSTOCK", "Gate 12", "open daily")


def render(number: int) -> NDArray[np.uint8]:
    """Return a frame of the film, (360, 640, 3), red first: one sign moves, one is turned, one comes late."""
    picture = np.full((HEIGHT, WIDTH, 3), (58, 84, 96), np.uint8)
    write(picture, SIGNS[0], (60 + 4 * number, 90), 1.6, (250, 250, 240))
    turned = np.full_like(picture, (58, 84, 96))
    write(turned, SIGNS[1], (250, 230), 1.4, (250, 210, 60))
    turn = cv2.getRotationMatrix2D((320, 220), -18, 1)
    cv2.warpAffine(turned, turn, (WIDTH, HEIGHT), turned, borderMode=cv2.BORDER_REPLICATE)
    np.copyto(picture, turned, where=(turned != (58, 84, 96)).any(axis=2, keepdims=True))
    if number >= FRAMES // 3:
        write(picture, SIGNS[2], (40, 330), 1.1, (170, 240, 180))
    return picture


def write(picture: NDArray[np.uint8], text: str, place: tuple[int, int], size: float, colour: Any) -> None:
    """Write a text into a picture; `place` is its lower left corner in pixels."""
    cv2.putText(picture, text, place, cv2.FONT_HERSHEY_DUPLEX, size, colour, 3, cv2.LINE_AA)


@penstock.register_calculator
@penstock.calculator
def signs() -> Iterator[tuple[penstock.Timestamp, ImageFrame]]:
    """Yield the film: SRGB, 640 x 360, 12 frames a second."""
    for number in range(FRAMES):
        yield penstock.Timestamp(83_333 * number), ImageFrame(render(number))


def film(folder: Path) -> Path:
    """Write the film into a folder, and return its path."""
    path = folder / "signs.mp4"
    graph = penstock.CalculatorGraph(FILM)
    graph.start_run({"film": str(path)})
    graph.wait_until_done(60)
    return path


# --- lines of text ------------------------------------------------------------------------------------


@penstock.register_calculator
@penstock.calculator
def find_lines(marked: list[Tensor], padding: tuple, frame: ImageFrame) -> list[NormalizedRect]:  # type: ignore[type-arg]  # 4 floats
    """Return a turned rectangle for each line; `marked` has probabilities, (1, 1, height, width)."""
    likely = marked[0].array[0, 0]
    rows, columns = likely.shape
    left, top, right, bottom = padding
    # What pixels of the marks are in the frame, which has another aspect ratio than the model's input.
    scale = np.array(
        [frame.width / (columns * (1 - left - right)), frame.height / (rows * (1 - top - bottom))]
    )
    start = np.array([left * columns, top * rows])
    contours, _ = cv2.findContours((likely >= INK).astype(np.uint8), cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    found = []
    for contour in contours:
        centre, (wide, high), angle = cv2.minAreaRect(contour)
        if min(wide, high) < LEAST / 2 or probability(likely, contour) < SURE:
            continue
        more = SPREAD * wide * high / (wide + high)  # on both sides together
        size = (np.array([wide, high]) + more) * scale.mean()
        if size[1] > size[0]:  # along the longer side
            size, angle = size[::-1], angle - 90
        x, y = (np.array(centre) - start) * scale / (frame.width, frame.height)
        width, height = size / (frame.width, frame.height)
        turn = math.radians((angle + 90) % 180 - 90)
        found.append(NormalizedRect(x_center=x, y_center=y, width=width, height=height, rotation=turn))
    return sorted(found, key=lambda one: (round(one.y_center * 20), one.x_center))


def probability(likely: NDArray[np.float32], contour: NDArray[np.int32]) -> float:
    """Return the mean probability of the pixels within a contour."""
    left, top, width, height = cv2.boundingRect(contour)
    mask = np.zeros((height, width), np.uint8)
    cv2.drawContours(mask, [contour], -1, 1, -1, offset=(-left, -top))
    return cv2.mean(likely[top : top + height, left : left + width], mask)[0]


@penstock.register_calculator
@penstock.calculator
def cut_out(frame: ImageFrame, lines: list[NormalizedRect]) -> list[Tensor]:
    """Return each line as the second model takes it: (1, 3, 48, width), blue first, -1 to 1."""
    return [Tensor(strip(frame, line)) for line in lines]


def strip(frame: ImageFrame, line: NormalizedRect) -> NDArray[np.float32]:
    """Return the pixels of a line, turned to be level, (1, 3, 48, width)."""
    corners = corners_of(line, frame.width, frame.height)
    size = np.maximum(np.round([line.width * frame.width, line.height * frame.height]), 1).astype(int)
    here = np.array([[0, 0], [size[0], 0], [0, size[1]]], np.float32)
    turn = cv2.getAffineTransform(corners[[0, 1, 3]].astype(np.float32), here)
    cut = cv2.warpAffine(frame.array[..., :3], turn, size.tolist(), borderMode=cv2.BORDER_REPLICATE)
    width = min(max(round(size[0] * TALL / size[1]), 1), WIDEST)
    way = cv2.INTER_AREA if size[1] > TALL else cv2.INTER_LINEAR
    pixels = cv2.resize(cut, (width, TALL), interpolation=way)
    made = np.zeros((1, 3, TALL, -(-width // STEP) * STEP), np.float32)
    made[0, :, :, :width] = pixels[..., ::-1].transpose(2, 0, 1) / np.float32(127.5) - 1
    return made


def corners_of(line: NormalizedRect, width: float, height: float) -> NDArray[np.float64]:
    """Return the corners of a turned rectangle in pixels, (4, 2), clockwise from where its text begins."""
    half = np.array([line.width * width, line.height * height]) / 2
    flat = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half
    sine, cosine = math.sin(line.rotation), math.cos(line.rotation)
    turned = flat @ np.array([[cosine, sine], [-sine, cosine]])
    made: NDArray[np.float64] = turned + np.array([line.x_center * width, line.y_center * height])
    return made


@penstock.register_calculator
@penstock.calculator
def read_lines(
    scores: list[Tensor] | None,
    lines: list[NormalizedRect],
    frame: ImageFrame,
    *,
    letters: penstock.SidePacket[tuple],  # type: ignore[type-arg]  # of texts
) -> list[Detection]:
    """Return a detection for each line that says something: of scores (1, steps, letters), none without."""
    read = [(*text_of(one.array[0], letters), line) for one, line in zip(scores or [], lines, strict=True)]
    ratio = frame.height / frame.width
    return [detection(text, score, corners_of(line, 1, ratio), frame) for text, score, line in read if text]


def text_of(table: NDArray[np.float32], letters: tuple[str, ...]) -> tuple[str, float]:
    """Return what scores (steps, letters) say, and how sure that is; the first letter stands for none.

    The best letter of each step counts; equal ones one after the other are one letter.
    """
    best = table.argmax(axis=1)
    is_letter = (best > 0) & (np.diff(best, prepend=0) != 0)
    text = "".join(letters[number] for number in best[is_letter])
    return text.strip(), float(table.max(axis=1)[is_letter].mean()) if is_letter.any() else 0.0


def detection(text: str, score: float, corners: NDArray[np.float64], frame: ImageFrame) -> Detection:
    """Return a text as a message; corners (4, 2) in widths of the frame."""
    corners = corners * (1, frame.width / frame.height)
    (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
    made = Detection(label=[text], score=[score])
    place = made.location_data
    place.format = place.RELATIVE_BOUNDING_BOX
    box = place.relative_bounding_box
    box.xmin, box.ymin, box.width, box.height = left, top, right - left, bottom - top
    for x, y in corners:
        place.relative_keypoints.add(x=x, y=y)
    return made


# --- lines that stay ----------------------------------------------------------------------------------


@penstock.register_calculator
@penstock.calculator
class AgreeOnTexts:
    """Gives each line the text that its last readings agree on; `detection_id` says which line it is."""

    def __init__(self) -> None:
        self._readings: defaultdict[int, deque[tuple[str, float]]] = defaultdict(lambda: deque(maxlen=KEPT))

    def process(self, lines: list[Detection]) -> list[Detection]:
        """Return the lines of a frame in the order of their numbers."""
        made = []
        for one in sorted(lines, key=lambda one: one.detection_id):
            readings = self._readings[one.detection_id]
            readings.append((one.label[0], one.score[0]))
            votes: defaultdict[str, float] = defaultdict(float)
            for text, score in readings:
                votes[text] += score
            agreed = Detection()
            agreed.CopyFrom(one)
            agreed.label[0] = max(votes, key=votes.__getitem__)
            agreed.score[0] = max(score for text, score in readings if text == agreed.label[0])
            made.append(agreed)
        while len(self._readings) > LINES:
            del self._readings[min(self._readings)]
        return made


# --- the graph ----------------------------------------------------------------------------------------

FILM = """
input_side_packet: "film"
node { calculator: "Signs" output_stream: "OUT:frame" }
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:frame"
  input_side_packet: "OUTPUT_FILE_PATH:film"
}"""
GRAPH = """
max_queue_size: 4
input_side_packet: "input_video"
input_side_packet: "output_video"
input_side_packet: "letters"
output_stream: "drawn"
output_stream: "results"
node {
  calculator: "VideoDecoderCalculator"
  input_side_packet: "INPUT_FILE_PATH:input_video"
  output_stream: "VIDEO:frame"
}

# Where text is.
node {
  calculator: "DetectorInputCalculator"
  input_stream: "IMAGE:frame"
  output_stream: "TENSORS:whole"
  output_stream: "LETTERBOX_PADDING:padding"
  node_options { [type.googleapis.com/penstock_detect.DetectorInputCalculatorOptions] {
    width: SIDE height: SIDE bgr: true mean: 0.5 std: 0.5 pad_value: 0 } }
}
node {
  calculator: "OnnxInferenceCalculator"
  input_stream: "TENSORS:whole"
  output_stream: "TENSORS:marked"
  max_in_flight: 2
  node_options { [type.googleapis.com/penstock_tensors.OnnxInferenceCalculatorOptions] {
    model_path: "FOLDER/PP-OCRv6_det_small.onnx" } }
}
node {
  calculator: "FindLines"
  input_stream: "MARKED:marked"
  input_stream: "PADDING:padding"
  input_stream: "FRAME:frame"
  output_stream: "OUT:lines"
}

# What each line says.
node {
  calculator: "CutOut"
  input_stream: "FRAME:frame"
  input_stream: "LINES:lines"
  output_stream: "OUT:strips"
}
node {
  calculator: "BeginLoopTensorCalculator"
  input_stream: "ITERABLE:strips"
  output_stream: "ITEM:strip"
  output_stream: "BATCH_END:end_of_the_lines"
}
node {
  calculator: "OnnxInferenceCalculator"
  input_stream: "TENSOR:strip"
  output_stream: "TENSOR:letters_of_strip"
  max_in_flight: 2
  node_options { [type.googleapis.com/penstock_tensors.OnnxInferenceCalculatorOptions] {
    model_path: "FOLDER/PP-OCRv6_rec_small.onnx" } }
}
node {
  calculator: "EndLoopTensorCalculator"
  input_stream: "ITEM:letters_of_strip"
  input_stream: "BATCH_END:end_of_the_lines"
  output_stream: "ITERABLE:scores"
}
node {
  calculator: "ReadLines"
  input_stream: "SCORES:scores"
  input_stream: "LINES:lines"
  input_stream: "FRAME:frame"
  input_side_packet: "LETTERS:letters"
  output_stream: "OUT:readings"
}

# Which line each reading is of, and what its readings agree on.
node {
  calculator: "TrackerCalculator"
  input_stream: "DETECTIONS:readings"
  output_stream: "DETECTIONS:followed"
  node_options { [type.googleapis.com/penstock_detect.TrackerCalculatorOptions] {
    high_score: READ low_score: READ new_score: READ min_hits: 1 lost_seconds: GONE class_aware: false } }
}
node { calculator: "AgreeOnTexts" input_stream: "LINES:followed" output_stream: "OUT:results" }

# To look at.
node {
  calculator: "DetectionOverlayCalculator"
  input_stream: "IMAGE:frame"
  input_stream: "DETECTIONS:results"
  output_stream: "IMAGE:drawn"
}
node {
  calculator: "VideoEncoderCalculator"
  input_stream: "VIDEO:drawn"
  input_side_packet: "OUTPUT_FILE_PATH:output_video"
  input_side_packet: "AUDIO_FILE_PATH:input_video"
  node_options { [type.googleapis.com/penstock.OpenCvVideoEncoderCalculatorOptions] { audio_optional: true } }
}
"""


def models() -> Path:
    """Return the folder of the models.

    Raises:
        FileMissing: they are not installed.
    """
    try:
        package = importlib.metadata.distribution("rapidocr")
    except importlib.metadata.PackageNotFoundError as error:
        raise FileMissing("the models of PP-OCR are not installed: pip install --no-deps rapidocr") from error
    return Path(str(package.locate_file("rapidocr/models")))


def letters() -> tuple[str, ...]:
    """Return what the second model's classes stand for: nothing, the letters of its metadata, a space."""
    path = models() / "PP-OCRv6_rec_small.onnx"
    if not path.exists():
        raise FileMissing(f"{path} does not exist; this example reads the models of rapidocr 3.10")
    listed = read_model(path.name, path.read_bytes()).metadata["character"].splitlines()
    return ("", *listed, " ")


# --- the command --------------------------------------------------------------------------------------


@attrs.define
class Seen:
    """Remembers which text was read when. One thread at a time calls it."""

    as_lines: bool = False
    #: Number of a line → its text, and the microseconds of its first and last frame.
    lines: dict[int, tuple[str, int, int]] = attrs.field(factory=dict)

    def add(self, packet: penstock.Packet) -> None:
        """Remember the lines of a frame, and print them as JSON where that is wanted."""
        stamp = int(packet.timestamp)
        payload: Any = packet.payload
        for one in payload:
            _, first, _ = self.lines.get(one.detection_id, ("", stamp, stamp))
            self.lines[one.detection_id] = (one.label[0], first, stamp)
        if self.as_lines:
            line = {"timestamp": stamp, "lines": [as_data(one) for one in payload]}
            click.echo(json.dumps(line, ensure_ascii=False, separators=(",", ":")))

    def tell(self) -> None:
        """Print each text once, with the seconds in which it was seen."""
        for number, (text, first, last) in sorted(self.lines.items()):
            click.echo(f"#{number}  {first / 1e6:.2f} to {last / 1e6:.2f} s  {text}")


def as_data(one: Detection) -> dict[str, object]:
    """Return a line as JSON has it: corners in fractions of the frame, from where the text begins."""
    corners = [[round(point.x, 4), round(point.y, 4)] for point in one.location_data.relative_keypoints]
    return {"id": one.detection_id, "text": one.label[0], "score": round(one.score[0], 3), "corners": corners}


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXIT_CODES)
@click.argument("video", type=click.Path(path_type=Path), required=False)
@click.option("--camera", type=click.IntRange(min=0), metavar="N", help="Read camera N until Ctrl-C.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="The file to write.  [default: none]")
@click.option("--json", "as_lines", is_flag=True, help="Print a line of JSON for each frame.")
@click.option(
    "--size",
    type=click.IntRange(64, 4096),
    default=640,
    show_default=True,
    help="Width and height that the first model sees, in pixels; larger finds smaller text, but is slower.",
)
@click.option("--show", is_flag=True, help="Show the frames in a window; needs penstock-cli[show].")
def main(  # noqa: PLR0913  # an argument for each option
    *, video: Path | None, camera: int | None, out: Path | None, as_lines: bool, size: int, show: bool
) -> None:
    """Read the text in VIDEO, a picture or a camera, or in a rendered film."""
    if video is not None and camera is not None:
        raise WrongUsage("give VIDEO or --camera, one of them")
    seen = Seen(as_lines)
    side = str(-(-size // STEP) * STEP)
    try:
        with tempfile.TemporaryDirectory() as folder:
            sides = {"letters": letters()}
            text = GRAPH.replace("SIDE", side).replace("READ", str(READ)).replace("GONE", str(GONE))
            text = text.replace("FOLDER", models().as_posix())
            if video is None and camera is None:
                video = film(Path(folder))
            wanted = OverVideo(
                graph=text, command="read_text", what="reading", sides=sides, video=video, camera=camera,
                out=out, show=show, result=seen.add,
            )  # fmt: skip
            run_over_video(wanted, Manner(progress=sys.stderr.isatty(), summary=False))
    except (penstock.PenstockError, OSError) as error:
        raise as_failure(error) from error
    if not as_lines:
        seen.tell()


if __name__ == "__main__":
    main()
