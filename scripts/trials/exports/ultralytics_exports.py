"""Export models of Ultralytics, run them here and by its own `predict`, and compare what both find.

    uv run python scripts/trials/exports/ultralytics_exports.py --python PYTHON
    uv run python scripts/trials/exports/ultralytics_exports.py --python PYTHON --model yolov8n-seg+dynamic

PYTHON is an interpreter whose environment has ultralytics, torch, torchvision, onnx, onnxruntime and
onnxslim, and for `--litert` litert-torch and ai-edge-litert; without the option the script reads the
environment variable PENSTOCK_ULTRALYTICS_PYTHON. Nothing is downloaded: the
models come from the YAML files of the package, with random weights (`ultralytics_end.py` says how they come
to find something).

Two pictures of a street are used, 1280 x 720 and 500 x 333. For each model a row says its layout and how many
detections both have, and the greatest differences of each pair: of boxes and key points in
pixels of the picture, of scores, and of masks as 1 minus the least share of their union that both cover. A
model whose task has no layout must be refused with the name of the task. The exit status is 1 where something
differs by more than the limits below.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import cv2
import numpy as np

import penstock
from penstock.errors import PenstockError
from penstock_detect.resizing import Resize, place_of

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from street import pictures, things

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

END: Final = Path(__file__).with_name("ultralytics_end.py")
MODELS: Final = (
    "yolov8n-cls", "rtdetr-l", "yolov5n", "yolov8n", "yolov9t", "yolo11n", "yolo12n", "yolo26n",
    "yolov10n+end2end", "yolo26n+end2end", "yolov8n-seg", "yolo11n-seg", "yolo26n-seg",
    "yolo26n-seg+end2end", "yolov8n-pose", "yolo11n-pose", "yolo26n-pose", "yolo26n-pose+end2end",
    "yolo11n-cls", "yolo26n-cls", "yolov8n-obb+nms", "yolo11n-obb", "yolo26n-obb+end2end",
    "yolov8n+dynamic", "yolov8n-seg+dynamic", "yolov8n-pose+dynamic", "yolov8n-cls+dynamic",
    "rtdetr-l+dynamic", "yolo26n+end2end+dynamic", "yolo26n-seg+end2end+dynamic",
    "yolo26n-pose+end2end+dynamic", "yolov8n+nms", "yolo26n+nms", "yolov10n+nms", "yolov8n-seg+nms",
    "yolo26n-seg+nms", "yolov8n-pose+nms", "yolov8n+half", "yolo11n-seg+half", "yolo11n-pose+half",
    "yolov8n-cls+half", "rtdetr-l+half", "yolo26n+half+end2end", "yolov8n+simplify",
)  # fmt: skip
#: As .tflite files.
LITERT: Final = (
    "yolov8n-cls+litert", "yolov8n+litert", "yolov8n-seg+litert", "yolov8n-pose+litert",
    "yolo26n+end2end+litert", "yolo11n+litert", "yolo26n-seg+end2end+litert", "yolov8n-obb+litert",
    "rtdetr-l+litert", "yolo26n-pose+end2end+litert",
)  # fmt: skip
#: Width and height of the pictures.
SIZES: Final = ((1280, 720), (500, 333))
#: Side of the input of all models but classifiers.
SIDE: Final = 640
SCORE: Final = 0.25
#: The greatest differences: pixels, scores, and the share of two masks that only one covers. `predict` scales
#: both sides of a picture by one factor, where the resized picture has whole pixels: at the far edge of 333
#: rows that is a fifth of a pixel.
MOST_PIXELS: Final = 0.3
MOST_SCORE: Final = 1e-3
MOST_MASK: Final = 0.05
#: Masks of fewer pixels are not compared: a row or column more is much of them.
LEAST_MASK: Final = 1000
#: Probabilities of a classifier.
MOST_PROBABILITY: Final = 1e-4
#: Of all detections this share may be found by one side alone: two boxes may share almost exactly 0.7.
MOST_ALONE: Final = 0.02
PATIENCE_S: Final = 900.0

GRAPH: Final = """
input_stream: "image" %s
node { calculator: "DetectorSubgraph" input_stream: "IMAGE:image" %s
  node_options { [type.googleapis.com/penstock_detect.DetectorSubgraphOptions] {
    model_path: "%s" min_score: %s max_candidates: 30000 } } }
"""


class Found(NamedTuple):
    """What one side finds in a picture."""

    #: (n, 6): left, top, right, bottom in pixels within the picture, score, class.
    boxes: NDArray[Any]
    #: (n, rows, columns) of bool: the picture within the model's input; or None.
    masks: NDArray[Any] | None = None
    #: (n, k, 2): x and y in pixels within the picture; or None.
    points: NDArray[Any] | None = None
    #: (classes,): of a classifier, the probability of each.
    classes: NDArray[Any] | None = None


class Differences(NamedTuple):
    """How far two results are from each other."""

    ours: int
    theirs: int
    #: Found by both.
    both: int
    pixels: float = 0.0
    score: float = 0.0
    #: None where there are none.
    points: float | None = None
    mask: float | None = None
    most_score: float = MOST_SCORE

    def words(self) -> str:
        """Return what is beyond the limits, or ""."""
        faults = []
        alone = self.ours + self.theirs - 2 * self.both
        if alone > MOST_ALONE * (self.ours + self.theirs):
            faults.append(f"{alone} are found by one side alone")
        if not self.both:
            faults.append("nothing is found by both")
        for name, value, most in (
            ("boxes", self.pixels, MOST_PIXELS), ("points", self.points or 0, MOST_PIXELS),
            ("masks", self.mask or 0, MOST_MASK), ("scores", self.score, self.most_score),
        ):  # fmt: skip
            if value > most:
                faults.append(f"{name} differ by {value:.4g}")
        return ", ".join(faults)


def compared(ours: Found, theirs: Found) -> Differences:
    """Return the differences of two results, each detection with the nearest one of its class."""
    if ours.classes is not None and theirs.classes is not None:
        score = float(np.abs(ours.classes - theirs.classes).max())
        # The best class may be another one where two are almost as probable.
        is_same = bool(theirs.classes[ours.classes.argmax()] > theirs.classes.max() - MOST_PROBABILITY)
        return Differences(1, 1, int(is_same), score=score, most_score=MOST_PROBABILITY)
    pairs = list(_pairs(ours.boxes, theirs.boxes))
    if not pairs:
        return Differences(len(ours.boxes), len(theirs.boxes), 0)
    mine, others = map(list, zip(*pairs, strict=True))
    differences = np.abs(ours.boxes[mine] - theirs.boxes[others])
    points = mask = None
    if ours.points is not None and theirs.points is not None:
        points = float(np.abs(ours.points[mine] - theirs.points[others]).max())
    if ours.masks is not None and theirs.masks is not None:
        mask = _greatest_of_masks(ours.masks[mine], theirs.masks[others])
    return Differences(
        len(ours.boxes), len(theirs.boxes), len(pairs),
        float(differences[:, :4].max()), float(differences[:, 4].max()), points, mask,
    )  # fmt: skip


def _pairs(ours: NDArray[Any], theirs: NDArray[Any]) -> list[tuple[int, int]]:
    """Return the numbers of each pair: of one class, and less than 2 pixels apart."""
    if not len(ours) or not len(theirs):
        return []
    apart = np.abs(ours[:, None, :4] - theirs[None, :, :4]).max(axis=2)
    apart += np.abs(ours[:, None, 4] - theirs[None, :, 4])  # of boxes that are cut alike, by their scores
    apart[ours[:, None, 5] != theirs[None, :, 5]] = np.inf
    pairs = []
    while apart.min() < 2:  # noqa: PLR2004  # pixels
        one, other = np.unravel_index(int(apart.argmin()), apart.shape)
        pairs.append((int(one), int(other)))
        apart[one, :] = apart[:, other] = np.inf
    return pairs


def _greatest_of_masks(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """Return the greatest share of a union that only one mask covers; masks of few pixels are left out."""
    greatest = 0.0
    for one, other in zip(ours, theirs, strict=True):
        union = np.count_nonzero(one | other)
        if union >= LEAST_MASK:
            greatest = max(greatest, np.count_nonzero(one ^ other) / union)
    return greatest


def ours_of(path: Path, picture: NDArray[np.uint8], kind: str) -> Found:
    """Return what a graph finds.

    Args:
        path: of the model.
        picture: (rows, columns, 3), red first.
        kind: "boxes", "masks" or "classes".

    Raises:
        PenstockError: the model is refused.
    """
    tags = {"classes": ("CLASSIFICATIONS",), "masks": ("DETECTIONS", "MASKS")}.get(kind, ("DETECTIONS",))
    ends = " ".join(f'output_stream: "{tag}:{tag.lower()}"' for tag in tags)
    outs = " ".join(f'output_stream: "{tag.lower()}"' for tag in tags)
    least = 0 if kind == "classes" else SCORE
    streams = penstock.run(GRAPH % (outs, ends, path, least), {"image": [(0, picture)]})
    made: dict[str, Any] = {name: packets[0].payload for name, packets in streams.items()}
    if kind == "classes":
        scores = np.zeros(max(one.index for one in made["classifications"].classification) + 1)
        for one in made["classifications"].classification:
            scores[one.index] = one.score
        return Found(np.empty((0, 6)), classes=scores)
    height, width = picture.shape[:2]
    boxes, points = [], []
    for one in made["detections"]:
        box = one.location_data.relative_bounding_box
        corners = [[box.xmin, box.ymin], [box.xmin + box.width, box.ymin + box.height]]
        boxes.append([*_within(corners, width, height).ravel(), one.score[0], one.label_id[0]])
        near = [[point.x, point.y] for point in one.location_data.relative_keypoints]
        points.append(_within(near, width, height))
    masks = [one.array > 0 for one in made.get("masks", ())]
    found = np.array(boxes).reshape(-1, 6)
    if masks:
        all_masks = np.array(masks)
        has_mask = all_masks.any(axis=(1, 2))  # `predict` leaves out the others
        return Found(found[has_mask], all_masks[has_mask])
    return Found(found, points=np.array(points) if points and points[0].size else None)


def _within(points: Any, width: int, height: int) -> NDArray[Any]:
    """Return points in pixels, moved to the edge of the picture if they are beyond it: `predict` does so."""
    scaled = np.array(points, float).reshape(-1, 2) * [width, height]
    return scaled.clip(0, [width, height])


def theirs_of(path: Path, size: tuple[int, int]) -> Found:
    """Return what `predict` has found in a picture of a size."""
    with np.load(path) as file:
        made = dict(file)
    if "classes" in made:
        return Found(np.empty((0, 6)), classes=made["classes"])
    masks, points = made.get("masks"), made.get("points")
    if masks is not None:
        place = place_of(Resize.LETTERBOX, *size, SIDE, SIDE)
        masks = masks[:, place.top : place.bottom, place.left : place.right]
        has_mask = masks.any(axis=(1, 2))  # some have one beside the picture alone
        return Found(made["boxes"].astype(float)[has_mask], masks[has_mask])
    boxes = made["boxes"].astype(float)
    boxes[:, :4] = boxes[:, :4].clip(0, [*size, *size])  # a transformer's boxes may go beyond the picture
    if points is not None:
        points = points[..., :2].astype(float).clip(0, size)
    return Found(boxes, points=points)


def row_of(told: dict[str, Any], street: list[Path], folder: Path) -> dict[str, Any]:
    """Compare one model; return the row of the table, with "fault" where something differs.

    Args:
        told: by the other end.
        street: the pictures.
        folder: with the results of the other end.
    """
    if "fault" in told:
        return told
    row, path = dict(told), Path(told["file"])
    try:
        row["layout"] = _layout(path)
    except PenstockError as error:
        is_meant = told["model"].partition("+")[0].endswith("-obb") and "'obb', of which no layout" in str(
            error
        )
        return row | {"layout": "refused"} | ({} if is_meant else {"fault": str(error).splitlines()[-1]})
    kind = "classes" if row["layout"] == "CLASSES" else "masks" if "SEGMENT" in row["layout"] else "boxes"
    all_of_them = []
    for i, (one, size) in enumerate(zip(street, SIZES, strict=True)):
        picture = cv2.imread(str(one))
        assert picture is not None  # noqa: S101  # this script has written it
        ours = ours_of(path, cv2.cvtColor(picture, cv2.COLOR_BGR2RGB).astype(np.uint8), kind)
        all_of_them.append(compared(ours, theirs_of(folder / f"{i}.npz", size)))
    if faults := [one.words() for one in all_of_them if one.words()]:
        row["fault"] = "; ".join(faults)
    return row | _summed(all_of_them)


def _summed(all_of_them: list[Differences]) -> dict[str, Any]:
    made: dict[str, Any] = {
        name: sum(getattr(one, name) for one in all_of_them) for name in ("ours", "theirs", "both")
    }
    for name in ("pixels", "score", "points", "mask"):
        values = [getattr(one, name) for one in all_of_them if getattr(one, name) is not None]
        made[name] = max(values) if values else None
    return made


def _layout(path: Path) -> str:
    from penstock_detect.detector_options import DetectorSubgraphOptions
    from penstock_detect.detector_subgraph import told_of

    return told_of(DetectorSubgraphOptions(model_path=str(path))).layout.name


def exported(
    python: str, models: Sequence[str], street: list[Path], seed: int, folder: Path
) -> Iterator[dict[str, Any]]:
    """Let the other end work; yield what it says of each model, also where it dies on the way."""
    environment = os.environ | {
        "YOLO_CONFIG_DIR": str(folder), "YOLO_AUTOINSTALL": "false", "YOLO_OFFLINE": "true",
        "YOLO_VERBOSE": "false", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    command = [python, str(END), str(folder), str(seed), ",".join(models), *map(str, street)]
    log = folder / "errors.txt"
    left = list(models)
    with log.open("w") as errors, subprocess.Popen(  # noqa: S603  # our own file
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
    ) as process:  # fmt: skip
        watch = threading.Timer(PATIENCE_S * len(models), process.kill)
        watch.start()
        try:
            assert process.stdout is not None  # noqa: S101  # it is a pipe
            for line in process.stdout:
                if line.startswith("RESULT "):
                    told: dict[str, Any] = json.loads(line.removeprefix("RESULT "))
                    left.remove(told["model"])
                    yield told
        finally:
            watch.cancel()
            process.kill()
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    for name in left:
        yield {"model": name, "fault": f"no export: {lines[-1] if lines else process.returncode}"}


def write_street(folder: Path) -> list[Path]:
    """Write the pictures; return their paths."""
    film = things(6, np.random.default_rng(3))
    *_, last = pictures(film, 6, 1, SIZES[0])
    paths = []
    for size in SIZES:
        paths.append(folder / f"street-{size[0]}x{size[1]}.png")
        small = cv2.resize(np.asarray(last), size, interpolation=cv2.INTER_AREA)
        cv2.imwrite(str(paths[-1]), cv2.cvtColor(small, cv2.COLOR_RGB2BGR))
    return paths


def written(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    cells = [row["model"], row.get("layout", "")]
    for name in ("ours", "theirs", "both", "pixels", "score", "points", "mask"):
        value = row.get(name)
        cells.append("" if value is None else f"{value:.2g}" if isinstance(value, float) else str(value))
    return "| " + " | ".join([*cells, row.get("fault", "")]) + " |"


def main() -> int:
    """Try each model, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=os.environ.get("PENSTOCK_ULTRALYTICS_PYTHON"))
    parser.add_argument("--model", action="append", metavar="NAME", help="only this one; repeatable")
    parser.add_argument("--litert", action="store_true", help="try .tflite files in the place of .onnx ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave models and results there")
    given = parser.parse_args()
    if not given.python:
        parser.error("give --python, an interpreter with ultralytics, or set PENSTOCK_ULTRALYTICS_PYTHON")
    print("| model | layout | ours | theirs | both | boxes | scores | points | masks | |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    has_fault, versions = False, set[str]()
    with tempfile.TemporaryDirectory(prefix="penstock-exports-") as temporary:
        folder = Path(temporary) if given.keep is None else given.keep.absolute()
        folder.mkdir(parents=True, exist_ok=True)
        street = write_street(folder)
        models = given.model or (LITERT if given.litert else MODELS)
        for told in exported(given.python, models, street, given.seed, folder):
            row = row_of(told, street, folder / told["model"])
            print(written(row), flush=True)
            has_fault |= "fault" in row
            versions |= {row["version"]} if "file" in row else set()
    print(f"\nultralytics {', '.join(sorted(versions)) or 'was not run'}")
    return int(has_fault)


if __name__ == "__main__":
    sys.exit(main())
