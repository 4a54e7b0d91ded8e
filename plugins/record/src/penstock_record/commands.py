"""The commands record, replay, diff and repair. What they need is imported when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from penstock_cli.api import (
    EXIT_CODES,
    RunningCommand,
    WrongUsage,
    access_options,
    debug_option,
    import_option,
    json_option,
    read_manner,
    run_options,
    subgraph_option,
)

_FILE: Final = click.Path(path_type=Path)
_pictures: Final = click.option(
    "--pictures",
    type=click.Choice(["lossless", "raw", "jpeg", "h264"]),
    default="lossless",
    show_default=True,
    help="How images are written: lossless and raw keep them exactly; jpeg and h264 are smaller and lossy. "
    "Foxglove shows all but lossless.",
)


@click.command("record", cls=RunningCommand, short_help="Run a graph and record streams.", epilog=EXIT_CODES)
@click.argument("graph", type=_FILE)
@click.option("-o", "--out", type=_FILE, default="run.mcap", show_default=True, help="The file to write.")
@click.option("--streams", metavar="A,B", help="The streams to record.")
@click.option(
    "--inputs", is_flag=True, help="Record what the sources write: nodes without inputs. The default."
)
@click.option("--all", "everything", is_flag=True, help="Record all streams of the graph.")
@click.option("--keep", multiple=True, metavar="NAME", help="A side packet to record; may be repeated.")
@click.option(
    "--compress",
    type=click.Choice(["zstd", "none"]),
    help="Compress the file or not; by default it is compressed unless it has images.",
)
@_pictures
@click.option("--side", "sides", multiple=True, metavar="NAME=VALUE", help="A side packet, as for `run`.")
@import_option
@subgraph_option
@run_options
@access_options(writes=True)
def record_command(  # noqa: PLR0913, PLR0917  # one for each option
    graph: Path,
    out: Path,
    streams: str | None,
    inputs: bool,  # noqa: FBT001
    everything: bool,  # noqa: FBT001
    keep: tuple[str, ...],
    compress: str | None,
    pictures: str,
    sides: tuple[str, ...],
    **manner: Any,
) -> None:
    """Run a graph file to its end, and record streams into an MCAP file.

    The file has packets, timestamps, settled times, headers and side packets exactly as they were, and the
    graph. Images are compressed without loss; with --pictures raw, jpeg or h264 Foxglove and Rerun show
    them. A slow disk slows the run down; nothing is dropped. A killed process loses at most the packets of a
    quarter of a second: `penstock repair` saves the others.

    \b
    Examples:
      penstock record graph.pbtxt -o run.mcap --side input_video=in.mp4
      penstock record graph.pbtxt --streams frame,edges
      penstock replay run.mcap graph.pbtxt
    """  # noqa: D301  # \b is click's mark for text that stays as it is
    if sum((streams is not None, inputs, everything)) > 1:
        raise click.UsageError(
            "--streams, --inputs and --all do not go together in a command; leave out all but one"
        )
    from penstock_cli.api import read_sides  # on demand, as the module says
    from penstock_record.runs import record

    chosen = None if streams is None else [name.strip() for name in streams.split(",") if name.strip()]
    record(
        graph,
        out,
        chosen,
        keep,
        read_sides(sides),
        read_manner(**manner),
        everything=everything,
        compress=compress,
        pictures=pictures,
    )


@click.command("replay", cls=RunningCommand, short_help="Run a graph on a recording.", epilog=EXIT_CODES)
@click.argument("recording", type=_FILE)
@click.argument("graph", type=_FILE, required=False)
@click.option(
    "--from", "streams", metavar="A,B", help="The streams to play; by default all that the graph has."
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="0 as fast as the graph can, 1 as it was recorded, 2 twice as fast.",
)
@click.option("--side", "sides", multiple=True, metavar="NAME=VALUE", help="A side packet, as for `run`.")
@click.option("--record", "out", type=_FILE, help="Record the same streams again, to be compared by `diff`.")
@_pictures
@import_option
@subgraph_option
@run_options
@access_options(writes=True)
def replay_command(  # noqa: PLR0913, PLR0917  # one for each option
    recording: Path,
    graph: Path | None,
    streams: str | None,
    speed: float,
    sides: tuple[str, ...],
    out: Path | None,
    pictures: str,
    **manner: Any,
) -> None:
    """Run a graph with recorded streams in the place of what wrote them.

    GRAPH is the graph of the recording if it is not given. Nodes that only served to make the recorded
    streams, such as a camera, are left out. Side packets that were recorded are given again, unless --side
    says otherwise. Calculators of your own are not in the file: give --import here too. Where images were
    recorded as JPEG or H.264, a line says so.

    \b
    Examples:
      penstock replay run.mcap
      penstock replay run.mcap changed.pbtxt --from frame
      penstock replay run.mcap --speed 1
    """  # noqa: D301
    from penstock_cli.api import read_sides  # on demand, as the module says
    from penstock_record.runs import replay

    chosen = None if streams is None else [name.strip() for name in streams.split(",") if name.strip()]
    replay(
        recording,
        graph,
        chosen,
        read_sides(sides),
        read_manner(**manner),
        speed=speed,
        out=out,
        pictures=pictures,
    )


@click.command("diff", short_help="Compare two recordings.", epilog=EXIT_CODES)
@click.argument("first", type=_FILE)
@click.argument("second", type=_FILE)
@click.option("--streams", metavar="A,B", help="The streams to compare; by default all.")
@click.option(
    "--tolerance",
    "tolerances",
    multiple=True,
    metavar="STREAM=NUMBER",
    help="How much numbers of a stream may differ, such as painted=1; may be repeated.",
)
@json_option("a JSON list of differences")
@debug_option
def diff_command(
    first: Path,
    second: Path,
    streams: str | None,
    tolerances: tuple[str, ...],
    as_text: bool,  # noqa: FBT001
) -> None:
    """Compare two recordings, and show the first difference of each stream.

    Packets and headers are compared by timestamp, type and payload; not when they came. Exit code 1 means
    that there are differences.

    \b
    Examples:
      penstock diff before.mcap after.mcap
      penstock diff before.mcap after.mcap --streams painted --tolerance painted=1
    """  # noqa: D301
    from penstock_record.runs import show_differences  # on demand, as the module says

    chosen = None if streams is None else [name.strip() for name in streams.split(",") if name.strip()]
    if show_differences(first, second, chosen, _numbers(tolerances), is_json=as_text):
        click.get_current_context().exit(1)


def _numbers(tolerances: tuple[str, ...]) -> dict[str, float]:
    """Return stream → tolerance.

    Raises:
        WrongUsage: an option is none.
    """
    found: dict[str, float] = {}
    for text in tolerances:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise WrongUsage(f"--tolerance {text!r}: write it as STREAM=NUMBER, such as painted=1")
    return found


@click.command("repair", short_help="Make a cut recording whole.", epilog=EXIT_CODES)
@click.argument("recording", type=_FILE)
@click.option("-o", "--out", type=_FILE, help="The new file.  [default: RECORDING is replaced]")
@debug_option
def repair_command(recording: Path, out: Path | None) -> None:
    """Make a whole file of a recording that was cut off, as by a process that was killed or a full disk.

    What a killed process loses is what came last: at most 64 KiB, and at most the packets of a quarter of a
    second. The exit code is 1 where no packet is saved.

    \b
    Examples:
      penstock repair run.mcap
      penstock repair run.mcap -o whole.mcap
    """  # noqa: D301
    from penstock_record.runs import show_repair  # on demand, as the module says

    show_repair(recording, out)


#: In the order of the help page.
COMMANDS: Final = (record_command, replay_command, diff_command, repair_command)
