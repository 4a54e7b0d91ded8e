"""`penstock demo`: edges drawn over a video, the graph of `edge_overlay.pbtxt`."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import click

from penstock import CalculatorGraph
from penstock_cli.failures import WrongUsage
from penstock_cli.loading import existing, load
from penstock_cli.run import Manner, run_graph
from penstock_cli.saying import say
from penstock_cli.summary import files
from penstock_cli.wording import plural, rate

if TYPE_CHECKING:
    from pathlib import Path

_GRAPH: Final = "edge_overlay.pbtxt"
_DECODER_OPTIONS: Final = "penstock.VideoDecoderCalculatorOptions"
#: The stream of finished pictures in the graph.
_FINISHED: Final = "painted"


def run_demo(video: Path | None, out: Path, frames: int | None, manner: Manner) -> None:
    """Draw the edges of a video, or of the moving test pattern, over it, into a video file.

    Args:
        video: a file; None for the test pattern.
        out: the file to write; an existing one is replaced when the new one is finished.
        frames: how many of the test pattern; 0 for endless, None for what the graph says.
        manner: how the run is shown.

    Raises:
        click.ClickException: a file is missing, or a pack is, or the two files are one.
        GraphRunError, click.exceptions.Exit: as `run_graph`.
    """
    with manner.log_said():
        sides: dict[str, object] = {"output_video": str(out)}
        if video is not None:
            sides["input_video"] = str(existing(video, "video"))
            _keep_apart(video, out)
        graph = load(lambda: CalculatorGraph(_graph(frames)))
        if not manner.quiet:
            say(f"drawing edges over {video or 'the moving test pattern'}, into {out}")
        outcome, written = run_graph(graph, sides, manner)
        if not manner.quiet:
            done = next(stream.added for stream in outcome.snapshot.streams if stream.name == _FINISHED)
            said = f"{plural(done, 'frame')} at {rate(done / outcome.wall_s)}"
            click.echo(f"{said}, written to {files(written)}" if written else f"{said}, nothing was written")


def graph_text() -> str:
    """Return the graph that the demo runs."""
    return resources.files("penstock_cli").joinpath(_GRAPH).read_text(encoding="utf-8")


def _keep_apart(video: Path, out: Path) -> None:
    if out.exists() and out.samefile(video):
        raise WrongUsage(f"{str(out)!r} is the video that is read; name another file with -o")


def _graph(frames: int | None) -> Any:  # noqa: ANN401  # text, or a CalculatorGraphConfig
    """Return the graph, its test pattern as long as asked for."""
    if frames is None:
        return graph_text()
    from penstock.config import read_graph  # noqa: PLC0415  # brings protobuf
    from penstock.runtime.default import default_registry  # noqa: PLC0415  # loads the plugins

    registry = default_registry()
    config = read_graph(graph_text(), registry)
    entry = registry.option(_DECODER_OPTIONS)
    options = entry.load()() if entry is not None else None
    for packed in (packed for node in config.node for packed in node.node_options):
        if options is not None and packed.Unpack(options):
            options.test_pattern.frames = frames
            packed.Pack(options)
    return config
