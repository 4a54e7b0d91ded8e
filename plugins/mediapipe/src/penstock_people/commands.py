"""The commands `penstock hands`, `penstock faces` and `penstock pose`: their options and help.

What a run needs is imported when a command runs, which keeps `penstock --help` fast.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from penstock_cli.api import EXIT_CODES, FileOrAddress, RunningCommand, read_manner, run_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock import Packet
    from penstock_cli.api import Address

    F = TypeVar("F", bound=Callable[..., Any])

_PACE: Final = "RealTimePaceCalculator"


def _over_video(command: F) -> F:
    """Add the argument and the options that the three commands share."""
    for option in (
        click.option(
            "--json", "as_lines", is_flag=True, help="Print what was found as JSON, a line for each frame."
        ),
        click.option(
            "--rows",
            "as_rows",
            is_flag=True,
            help="Print what was found as rows, with tabs between columns.",
        ),
        click.option("--times", is_flag=True, help="Print the time of each node at the end."),
        click.option(
            "--show",
            is_flag=True,
            help="Show the frames in a window, at their times; needs penstock-cli[show] installed.",
        ),
        click.option(
            "--live",
            is_flag=True,
            help="Read VIDEO at its own speed, like a camera: frames that come too fast are dropped.",
        ),
        click.option(
            "--camera",
            type=click.IntRange(min=0),
            metavar="N",
            help="Read camera N until Ctrl-C; 0 is the first one. Not with VIDEO.",
        ),
        click.option(
            "-o",
            "--out",
            type=click.Path(path_type=Path),
            help="The file to write; its ending chooses the container, or the kind of picture. A name "
            "without an ending is a folder for pictures. Existing files are replaced.  "
            "[default: penstock-COMMAND.mp4, of pictures penstock-COMMAND.png or a folder; none with --show, "
            "--json or --rows]",
        ),
        click.option(
            "--skip-broken",
            is_flag=True,
            help="Leave out pictures that cannot be read, in place of ending with an error; each is named.",
        ),
        click.argument("video", type=FileOrAddress(path_type=Path), required=False),
    ):
        command = option(command)
    return command


@click.command(
    "hands", cls=RunningCommand, short_help="Find and draw the hands in a video.", epilog=EXIT_CODES
)
@_over_video
@click.option(
    "-n",
    "--hands",
    "count",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="How many hands to look for. More cost time while they are not in view.",
)
@click.option("--fast", is_flag=True, help="Use the smaller models: half the time, less exact.")
@run_options
def hands_command(*, count: int, fast: bool, **given: Any) -> None:
    """Find the hands in each frame of a video or a camera, with 21 landmarks each, and draw them.

    The model that finds hands runs only while fewer than -n of them are in view; hands that were found are
    followed. The hands of one frame are computed on two cores at once. The graph is hands.pbtxt of
    penstock-mediapipe.

    Of a camera the newest frame is taken when the one before is finished, and the others are dropped; of a
    file every frame is processed, and its sound is copied into the new file. VIDEO may be an address, such as
    rtsp://HOST/PATH, which is read until Ctrl-C and connected again when it is lost.

    VIDEO may be a picture, or pictures: a folder, a list of paths (.txt), or a pattern in quotation marks, as
    'shot_%04d.png'. Each is looked at for itself. They are written as pictures of the same names, or as a
    video.

    \b
    Examples:
      penstock hands clip.mp4 -o hands.mp4
      penstock hands photo.jpg -o hands.png
      penstock hands photos -o drawn
      penstock hands --camera 0 --show -n 4
      penstock hands rtsp://ann:secret@10.0.0.5/cam --show
      penstock hands clip.mp4 --json > hands.jsonl
    """  # noqa: D301
    kind = "lite" if fast else "full"
    files = (
        f"palm_detection/palm_detection_{kind}.tflite",
        f"hand_landmark/hand_landmark_{kind}.tflite",
        "hand_landmark/handedness.txt",
    )
    _run("hands", {"num_hands": count, "model_complexity": 0 if fast else 1}, files, **given)


@click.command(
    "faces", cls=RunningCommand, short_help="Find and draw the faces in a video.", epilog=EXIT_CODES
)
@_over_video
@click.option(
    "-n",
    "--faces",
    "count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many faces to look for.",
)
@click.option("--fine", is_flag=True, help="Refine eyes and lips and add the irises; takes longer.")
@run_options
def faces_command(*, count: int, fine: bool, **given: Any) -> None:
    """Find the faces in each frame of a video or a camera, with 468 landmarks each, and draw them.

    Faces are found at up to two metres from the camera, and then followed. The graph is faces.pbtxt of
    penstock-mediapipe. Frames are dropped, sound is copied, and pictures are read and written, as in
    `penstock hands`.

    \b
    Examples:
      penstock faces clip.mp4 -o faces.mp4
      penstock faces photo.jpg -o face.png
      penstock faces --camera 0 --show --fine
      penstock faces clip.mp4 --rows
    """  # noqa: D301
    model = "face_landmark_with_attention" if fine else "face_landmark"
    files = ("face_detection/face_detection_short_range.tflite", f"face_landmark/{model}.tflite")
    _run("faces", {"num_faces": count, "with_attention": fine}, files, **given)


@click.command("pose", cls=RunningCommand, short_help="Find and draw a person's pose.", epilog=EXIT_CODES)
@_over_video
@click.option("--raw", is_flag=True, help="Leave the landmarks as the model gives them, without smoothing.")
@run_options
def pose_command(*, raw: bool, **given: Any) -> None:
    """Find the pose of one person in each frame of a video or a camera, with 33 landmarks, and draw it.

    The graph is pose.pbtxt of penstock-mediapipe. Frames are dropped, sound is copied, and pictures are read
    and written, as in `penstock hands`. The landmarks of pictures are not smoothed.

    \b
    Examples:
      penstock pose clip.mp4 -o pose.mp4
      penstock pose photo.jpg -o pose.png
      penstock pose --camera 0 --show
      penstock pose clip.mp4 --json
    """  # noqa: D301
    files = ("pose_detection/pose_detection.tflite", "pose_landmark/pose_landmark_full.tflite")
    _run("pose", {"model_complexity": 1, "smooth_landmarks": not raw}, files, **given)


def _run(  # noqa: PLR0913  # an argument for each option
    name: str,
    sides: dict[str, object],
    models: tuple[str, ...],
    *,
    video: Path | Address | None,
    camera: int | None,
    live: bool,
    out: Path | None,
    skip_broken: bool,
    show: bool,
    as_lines: bool,
    as_rows: bool,
    times: bool,
    **manner: Any,
) -> None:
    """Check the options they share, and run a graph of this pack."""
    if (video is None) == (camera is None):
        raise click.UsageError(
            f"{'neither' if video is None else 'both'} of VIDEO and --camera are given to look for people; "
            "give exactly one of them"
        )
    if live and video is None:
        raise click.UsageError(
            "--live looks for people in a VIDEO as if it were a camera; leave it out with --camera"
        )
    if as_lines and as_rows:
        raise click.UsageError(
            "--json and --rows both print the landmarks of people to stdout; leave out one of them"
        )
    from penstock_cli.api import (  # on demand, as the module says
        OverVideo,
        are_pictures,
        default_picture_path,
        is_live_address,
        run_over_video,
    )
    from penstock_people.graph_files import graph_text
    from penstock_people.needs import check_needs, model_paths
    from penstock_people.printing import json_lines, rows

    result: Callable[[Packet], None] | None = json_lines(name) if as_lines else rows() if as_rows else None
    is_stills = are_pictures(video)
    if skip_broken and not is_stills:
        raise click.UsageError(
            "--skip-broken is for pictures of people; leave it out with a video or a camera"
        )
    if out is None and not show and result is None:
        out = Path(f"penstock-{name}.mp4")
        out = default_picture_path(video, f"penstock-{name}") if video is not None and is_stills else out
    if is_stills:  # nothing is known of one picture from the one before
        sides = {**sides, "use_prev_landmarks": False}
        sides |= {"smooth_landmarks": False} if "smooth_landmarks" in sides else {}
    read = replace(read_manner(**manner), summary=times)
    check_needs(model_paths(*models))
    run_over_video(
        OverVideo(
            graph=graph_text(f"{name}.pbtxt"),
            command=f"penstock {name}",
            what=f"finding {'a pose' if name == 'pose' else name} in",
            sides=sides,
            video=video,
            camera=camera,
            as_camera=_PACE if live and not is_live_address(video) else "",
            out=out,
            skips=skip_broken,
            named="PeopleResultsCalculator",
            show=show,
            result=result,
        ),
        read,
    )
