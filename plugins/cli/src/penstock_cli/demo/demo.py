"""`penstock demo`: edges drawn over half of a video, on the GPU or on the CPU, into a file or a window."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from penstock import CalculatorGraph
from penstock.access import redacted
from penstock_cli.demo.demo_graph import FINISHED, FRAMES, demo_config
from penstock_cli.demo.on_gpu import Place, choose
from penstock_cli.loading import load
from penstock_cli.runs.addresses import Address, address_sides, is_live_address
from penstock_cli.runs.notes import refuse_notes
from penstock_cli.runs.picture_files import (
    are_pictures_out,
    hold_picture,
    path_read,
    path_written,
    pictures_told,
    with_pictures,
)
from penstock_cli.runs.run import run_graph
from penstock_cli.runs.summary import files
from penstock_cli.saying import say
from penstock_cli.wording import plural, rate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock_cli.runs.manner import Manner
    from penstock_cli.runs.watch import Outcome


@dataclass(frozen=True)
class Demo:
    """What the demo does."""

    #: The file or address to read, or pictures; None for the camera or the test pattern.
    video: Path | Address | None = None
    #: Index of the camera to read; None for no camera.
    camera: int | None = None
    #: Length of the test pattern, 0 for endless; None for the length in the graph.
    frames: int | None = None
    #: The file to write, replaced when the new one is finished, or pictures; None for no file.
    out: Path | None = None
    #: True requires OpenGL, of a software renderer too; False takes the CPU; None takes the GPU if it is
    #: available in hardware.
    gpu: bool | None = None
    #: Whether to open a window.
    show: bool = False

    @property
    def is_live(self) -> bool:
        """Whether frames come in real time."""
        return is_live_address(self.video) or self.camera is not None


def run_demo(wanted: Demo, manner: Manner) -> None:
    """Draw the edges of a video, a camera's frames or the moving test pattern over it.

    Raises:
        click.ClickException: a file or a pack is missing, both files are the same, the required GPU is
            not available, or no window can be opened.
        GraphRunError, click.exceptions.Exit: as `run_graph`.
    """
    _check_source(wanted)
    with manner.log_said(), ExitStack() as stack:
        sides = _sides(wanted)
        window = None
        if wanted.show:
            from penstock_cli.runs.window import Window  # needs the packages of the extra "show"

            window = stack.enter_context(Window.opened("penstock demo"))
        place = _place(wanted, None if window is None else window.shared)
        stack.callback(place.close)
        if window is not None:
            window.sees_textures = place.is_shared
        graph = load(lambda: _graph(wanted, place, manner.max_queued_bytes))
        place.serve(graph)
        if not manner.quiet:
            say(_words(wanted))
            say(place.said)
            say(_engine())
        wait: Callable[[float], None] | None = None
        if window is not None:
            from penstock_cli.runs.screen import Screen  # only for this

            wait = Screen(graph, FINISHED, window, is_live=wanted.is_live).wait
        outcome, written = run_graph(graph, sides, manner, wait=wait)
        hold_picture(window, wanted.video)
        if not manner.quiet:
            click.echo(_told(outcome, files(written), wanted))
        if manner.strict:
            refuse_notes(outcome)


def _engine() -> str:
    from penstock_cli.machine.engine import engine_words  # reads metadata

    return f"engine: {engine_words()}"


def _sides(wanted: Demo) -> dict[str, object]:
    sides: dict[str, object] = {}
    if isinstance(wanted.video, Address):
        sides.update(address_sides(wanted.video))
    elif wanted.video is not None:
        sides["input_video"] = path_read(wanted.video)
    if wanted.out is not None:
        sides["output_video"] = path_written(wanted.out, wanted.video)
    return sides


def _place(wanted: Demo, shared: object) -> Place:
    from penstock.plugins.default_registry import default_registry  # loads the plugins

    return choose(wanted.gpu, default_registry(), shared)


def _graph(wanted: Demo, place: Place, max_queued_bytes: float | None) -> CalculatorGraph:
    from penstock.plugins.default_registry import default_registry  # loads the plugins

    registry = default_registry()
    config = demo_config(
        registry,
        on_gpu=place.is_gpu,
        frames=wanted.frames,
        camera=wanted.camera,
        address=wanted.video if isinstance(wanted.video, Address) else None,
        writes=wanted.out is not None,
    )
    with_pictures(config, registry, (wanted.video, FRAMES[place.is_gpu]), wanted.out)
    return CalculatorGraph(config, max_queued_bytes=max_queued_bytes)


def _words(wanted: Demo) -> str:
    """Return a line that says what the demo is about to do."""
    source = "the moving test pattern"
    if wanted.video is not None:
        source = redacted(str(wanted.video))
    elif wanted.camera is not None:
        source = f"camera {wanted.camera}"
    targets = [f"into {wanted.out}"] if wanted.out is not None else []
    targets += ["in a window (Esc closes it)"] if wanted.show else []
    return f"drawing edges over {source}, {' and '.join(targets)}"


def _check_source(wanted: Demo) -> None:
    """Refuse more than one thing to read."""
    if wanted.video is not None and wanted.camera is not None:
        raise click.UsageError("demo: --camera reads a camera and VIDEO is a file; leave out one of them")
    if wanted.frames is not None and (wanted.video is not None or wanted.camera is not None):
        raise click.UsageError(
            "demo: --frames is for the test pattern; a VIDEO is read to its end, a camera until Ctrl-C"
        )


def _told(outcome: Outcome, written: str, wanted: Demo) -> str:
    """Return a line that says what the demo has done."""
    done = next(stream.added for stream in outcome.snapshot.streams if stream.name == FINISHED)
    said = f"{plural(done, 'frame')} at {rate(done / outcome.wall_s)}"
    if wanted.out is None:
        return f"{said}, shown"
    if done and not written and are_pictures_out(wanted.out):
        written = pictures_told(wanted.out, done)
    return f"{said}, written to {written}" if written else f"{said}, nothing was written"
