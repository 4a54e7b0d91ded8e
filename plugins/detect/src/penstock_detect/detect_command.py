"""The command `penstock detect`: its options and help.

What a run needs is imported when the command runs, which keeps `penstock --help` fast.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import click

from penstock_cli.api import EXIT_CODES, RunningCommand, read_manner, run_options

_LAYOUTS: Final = (
    "yolo-v5", "yolo-v8", "yolo-end-to-end", "yolox", "ssd", "detr", "labels-boxes-scores", "rtmdet",
    "centernet", "centerface", "yolo-v5-segment", "yolo-v8-segment", "yolo-v8-pose",
    "yolo-end-to-end-segment", "yolo-end-to-end-pose", "detr-rows", "detr-end-to-end", "classes",
)  # fmt: skip
_RESIZES: Final = ("letterbox", "letterbox-top-left", "stretch", "crop")
_INTERPOLATIONS: Final = ("linear", "antialias", "antialias-cubic")
_SCORES: Final = ("usual", "given", "sigmoid", "softmax")
_TRACKERS: Final = ("byte-track", "oc-sort")
#: How many classes of a whole picture are reported.
_MOST_CLASSES: Final = 5
_SIZE: Final = re.compile(r"([1-9]\d{0,5})x([1-9]\d{0,5})")


def _numbers(_: click.Context, __: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    """Return numbers with commas between them."""
    try:
        return None if value is None else tuple(map(float, value.split(",")))
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no list of numbers for detect, such as 103.53,116.28,123.675"
        ) from None


def _size(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """Return a width and a height."""
    if value is None:
        return None
    if (found := _SIZE.fullmatch(value)) is None:
        raise click.BadParameter(f"{value!r} is no width and height for detect, such as 640x480")
    return int(found[1]), int(found[2])


@click.command(
    "detect",
    cls=RunningCommand,
    short_help="Find and draw what a model of your own knows.",
    epilog=EXIT_CODES,
)
@click.argument("video", type=click.Path(path_type=Path), required=False)
@click.option(
    "-m",
    "--model",
    type=click.Path(path_type=Path),
    required=True,
    help="The model: an .onnx file, or a .tflite file.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A text file with the name of a class in each line.  [default: the names in the model's metadata]",
)
@click.option(
    "--layout",
    type=click.Choice(_LAYOUTS),
    help="What the outputs of the model are.  [default: told from names and shapes, if that is certain]",
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    help="Leave out what scores less.  [default: 0.25; 0.1 with --track or --zones, since weak detections "
    "tell where covered objects are; 0 for a model that says what a picture is, whose five best classes are "
    "reported]",
)
@click.option(
    "--max-overlap",
    type=click.FloatRange(0, 1),
    default=0.7,
    show_default=True,
    help="Keep one of two boxes of a class that share more of their union.",
)
@click.option(
    "--class",
    "classes",
    multiple=True,
    metavar="NAME",
    help="Find only this class, by name or number; repeatable.",
)
@click.option("--first-class", type=int, default=0, help="The number that the model gives the first class.")
@click.option(
    "--resize",
    type=click.Choice(_RESIZES),
    help="How frames become the size of the model's input.  [default: letterbox; of Ultralytics' exports "
    "stretch for RT-DETR, crop for classifiers]",
)
@click.option(
    "--interpolation",
    type=click.Choice(_INTERPOLATIONS),
    help="How they are resized: linear as OpenCV does, or antialias and antialias-cubic as Pillow's bilinear "
    "and bicubic, which classifiers are trained with.  [default: antialias with crop, else linear]",
)
@click.option(
    "--short-side",
    type=click.IntRange(min=1),
    metavar="PIXELS",
    help="With --resize crop: the shorter side of a frame before the size of the input is cut out of its "
    "middle, such as 256 for an input of 224.  [default: that of the input]",
)
@click.option(
    "--size",
    callback=_size,
    metavar="WxH",
    help="The size of the model's input, where the model leaves it open.",
)
@click.option("--bgr", is_flag=True, help="The model takes blue first, as models trained with OpenCV do.")
@click.option(
    "--scale",
    type=float,
    default=None,
    help="What values of pixels, 0 to 255, are multiplied with.  [default: 1/255]",
)
@click.option(
    "--mean",
    callback=_numbers,
    metavar="A,B,C",
    help="What is then taken off, one for each channel or one for all.",
)
@click.option("--std", callback=_numbers, metavar="A,B,C", help="What the result is divided by, likewise.")
@click.option(
    "--scores",
    type=click.Choice(_SCORES),
    default="usual",
    help="What makes probabilities of the model's scores.  [default: what the layout usually needs]",
)
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="NAME",
    help="Run the model on cuda, openvino, coreml, directml or another provider of onnxruntime; repeatable, "
    "the first that is there counts.  [default: the CPU]",
)
@click.option(
    "--threads", type=click.IntRange(min=1), default=1, show_default=True, help="Threads of one call."
)
@click.option(
    "--track",
    "is_tracked",
    is_flag=True,
    help="Follow objects: each has one id in all frames, on the picture and in --json, and a tail.",
)
@click.option(
    "--tracker",
    type=click.Choice(_TRACKERS),
    help="How objects are followed; oc-sort suits objects that turn while they are covered.  [default: "
    "byte-track]",
)
@click.option(
    "--zones",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Follow objects as --track does, count them at the lines and in the zones of this file of JSON, and "
    "print the counts at the end; docs/how-to/count-and-measure.md has its form.",
)
@click.option(
    "--events",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what crosses, enters and leaves to this file: .jsonl, .csv or .sqlite. Needs --zones.",
)
@click.option("--json", "as_lines", is_flag=True, help="Print what was found as JSON, a line for each frame.")
@click.option("--times", is_flag=True, help="Print the time of each node at the end.")
@click.option(
    "--show",
    is_flag=True,
    help="Show the frames in a window, at their times; needs penstock-cli[show] installed.",
)
@click.option(
    "--camera",
    type=click.IntRange(min=0),
    metavar="N",
    help="Read camera N until Ctrl-C; 0 is the first one. Not with VIDEO.",
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write; its ending chooses the container, or the kind of picture. A name without an "
    "ending is a folder for pictures. Existing files are replaced.  [default: penstock-detect.mp4, of "
    "pictures penstock-detect.png or a folder; none with --show or --json]",
)
@run_options
def detect_command(  # noqa: PLR0913  # an argument for each option
    *,
    video: Path | None,
    camera: int | None,
    out: Path | None,
    show: bool,
    as_lines: bool,
    times: bool,
    model: Path,
    labels: Path | None,
    is_tracked: bool,
    tracker: str | None,
    zones: Path | None,
    events: Path | None,
    **given: Any,
) -> None:
    """Find in each frame of a video, a picture or a camera what a model knows, and draw it.

    Boxes are drawn, and masks and key points where the model makes them; of a model that says what a whole
    picture is, its best classes are written into the corner. The model says the size of its input, and
    Ultralytics' exports the names of their classes; what a model does not say is an option here. Boxes of
    --json are left, top, right, bottom in fractions of the frame; masks are outlines.

    Of a camera the newest frame is taken when the one before is finished, and the others are dropped; of a
    file every frame is processed. The sound of VIDEO is copied into the new file. VIDEO may be a picture, or
    pictures: a folder, a list of paths (.txt), or a pattern in quotation marks, as 'shot_%04d.png'.

    \b
    Examples:
      penstock detect clip.mp4 --model best.onnx -o boxes.mp4
      penstock detect photo.jpg --model best-seg.onnx -o masks.png
      penstock detect clip.mp4 --model best.onnx --class person --json > people.jsonl
      penstock detect clip.mp4 --model best.onnx --track -o followed.mp4
      penstock detect street.mp4 --model best.onnx --zones zones.json --events events.csv -o counted.mp4
      penstock detect --camera 0 --show --model yolox_s.onnx --layout yolox --resize letterbox-top-left \\
        --bgr --scale 1 --labels coco.txt
    """  # noqa: D301
    if (video is None) == (camera is None):
        raise click.UsageError(
            f"{'neither' if video is None else 'both'} of VIDEO and --camera are given to detect; give "
            "exactly one of them"
        )
    is_tracked = is_tracked or zones is not None
    if tracker is not None and not is_tracked:
        raise click.UsageError(
            f"penstock detect --tracker {tracker} says how detected objects are followed; add --track"
        )
    if events is not None and zones is None:
        raise click.UsageError("penstock detect --events needs --zones, which says what an event is; add it")
    from dataclasses import replace

    from penstock_cli.api import OverVideo, existing_file, run_over_video  # on demand, as the module says
    from penstock_detect.command_graph import LINES, graph_text, making_of, write_line

    options = {name: given.pop(name) for name in _OF_MODEL}
    options["model_path"] = str(existing_file(model, "model").absolute())
    options["labels_path"] = "" if labels is None else str(existing_file(labels, "file of labels").absolute())
    making = making_of(options)
    if making.is_classifier and is_tracked:
        raise click.UsageError(
            "penstock detect follows and counts objects with --track and --zones, but the model "
            f"{str(model)!r} says what a whole picture is; leave them out"
        )
    if options["min_score"] is None:
        options["min_score"] = 0.0 if making.is_classifier else 0.1 if is_tracked else 0.25
    if making.is_classifier:
        options["max_candidates"] = _MOST_CLASSES
    if is_tracked:
        tracker = tracker or _TRACKERS[0]
    if out is None and not show and not as_lines:
        out = _default_out(video)
    wanted = OverVideo(
        graph=graph_text(options, tracker, making, as_lines=as_lines),
        command="penstock detect",
        what="detecting in",
        video=video,
        camera=camera,
        out=out,
        show=show,
        result=write_line if as_lines else None,
        results=LINES if as_lines else "results",
    )
    manner = replace(read_manner(**given), summary=times)
    if zones is None:
        run_over_video(wanted, manner)
        return
    from penstock_detect.zones.command_zones import run_with_zones

    run_with_zones(wanted, manner, existing_file(zones, "zones file"), events)


def _default_out(video: Path | None) -> Path:
    """Return where drawn frames go where nothing else is said."""
    from penstock_cli.api import are_pictures, default_picture_path  # on demand, as the module says

    if video is not None and are_pictures(video):
        return default_picture_path(video, "penstock-detect")
    return Path("penstock-detect.mp4")


#: The options that are options of DetectorSubgraph.
_OF_MODEL: Final = (
    "layout", "min_score", "max_overlap", "classes", "first_class", "resize", "interpolation", "short_side",
    "size", "bgr", "scale", "mean", "std", "scores", "providers", "threads",
)  # fmt: skip
