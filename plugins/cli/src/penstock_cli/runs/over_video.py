"""Runs a pack's graph over a video, a camera's frames, or a video as if it were a camera.

A command of a pack gives the text of its graph, and says with `OverVideo` what to read and where results
go. The graph has a decoder that sends a stream of frames, a stream of drawn frames that an encoder reads,
and a stream with a packet of results for each frame. Of live frames only the newest one waits: a flow
limiter is put behind the source, and the others are dropped. Frames of a file are never dropped.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from statistics import quantiles
from time import monotonic
from typing import TYPE_CHECKING, Final

import click

from penstock import CalculatorGraph
from penstock.access import redacted
from penstock_cli.loading import load
from penstock_cli.runs.addresses import Address, address_sides, is_live_address, read_address
from penstock_cli.runs.live_source import add_limiter, leave_out, read_camera
from penstock_cli.runs.notes import refuse_notes
from penstock_cli.runs.picture_files import (
    are_pictures,
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
from penstock_cli.wording import duration, plural, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from penstock import Packet, Registry
    from penstock.config import CalculatorGraphConfig
    from penstock.explain import Ledger
    from penstock_cli.runs.manner import Manner
    from penstock_cli.runs.watch import Outcome

#: How many ages are remembered, the newest ones: an hour at 30 frames a second.
_REMEMBERED: Final = 108_000
_VIDEO_INPUT: Final = "input_video"
_VIDEO_OUTPUT: Final = "output_video"


@dataclass(frozen=True)
class OverVideo:
    """A graph, what it reads, and where its frames and results go.

    Attributes:
        graph: the text of the graph. It reads the side packet `input_video` and writes to `output_video`.
        command: for messages and the window, such as "penstock hands".
        what: what the graph does, such as "finding hands in".
        sides: its other side packets, name → payload.
        video: the file or address to read, or a picture, or a folder, list or pattern of pictures; None for
        the camera.
        camera: index of the camera to read; None for the file.
        as_camera: the calculator that forwards frames at their times, to read the file as if it were a
        camera; "" to read it as fast as the graph takes it. out: the file to write, replaced when the new
        one is finished, or a picture, or a pattern or folder for pictures; None for no file. skips: leave out
        pictures that cannot be read. named: the calculator that gets the names of pictures as its input NAME;
        "" for none. show: whether to open a window. result: called with each packet
        of results, in order, on a thread of the graph; None: nobody reads them. It may raise
        BrokenPipeError, which ends the run. The summary is then not printed on stdout. frames, drawn,
        results: names of the graph's streams.
    """

    graph: str
    command: str
    what: str
    sides: Mapping[str, object] = field(default_factory=dict)
    video: Path | Address | None = None
    camera: int | None = None
    as_camera: str = ""
    out: Path | None = None
    skips: bool = False
    named: str = ""
    show: bool = False
    result: Callable[[Packet], None] | None = None
    frames: str = "frame"
    drawn: str = "drawn"
    results: str = "results"

    @property
    def is_live(self) -> bool:
        """Whether frames that come too fast are dropped."""
        return is_live_address(self.video) or self.camera is not None or bool(self.as_camera)

    @property
    def finished(self) -> str:
        """The stream whose packets say that a frame is finished."""
        return self.drawn if self.out is not None or self.show else self.results


def run_over_video(wanted: OverVideo, manner: Manner) -> None:
    """Run the graph to the end of the video, or until Ctrl-C.

    At the end a line says how many frames came in, were processed and were dropped, and of live frames how
    old they were when they were finished.

    Raises:
        click.ClickException: a file or a pack is missing, both files are the same, or no window can be
        opened. GraphRunError, click.exceptions.Exit: as `run_graph`. BrokenPipeError: nobody reads the
        results any more.
    """
    if wanted.result is not None:
        manner = replace(manner, summary=False)
    with manner.log_said(), ExitStack() as stack:
        sides = _sides(wanted)
        window = None
        if wanted.show:
            from penstock_cli.runs.window import Window  # needs the packages of the extra "show"

            window = stack.enter_context(Window.opened(wanted.command))
        graph, captured = _loaded(wanted, manner.max_queued_bytes)
        ages = _Ages(graph, captured, wanted.finished) if wanted.is_live else None
        results = _Results(graph, wanted.results, wanted.result) if wanted.result is not None else None
        if not manner.quiet:
            say(_words(wanted))
        wait: Callable[[float], None] | None = None
        if window is not None:
            from penstock_cli.runs.screen import Screen  # only for this

            wait = Screen(graph, wanted.drawn, window, is_live=wanted.is_live).wait
        try:
            outcome, written = run_graph(graph, sides, manner, wait=wait)
        except click.exceptions.Exit:  # Ctrl-C, the usual end of a camera's run
            if not manner.quiet:
                _tell(_counted(graph.ledger(), wanted, captured, ages), wanted)
            raise
        if results is not None and results.broken is not None:
            raise results.broken
        hold_picture(window, wanted.video)
        if not manner.quiet:
            said = _counted(outcome.ledger, wanted, captured, ages)
            _tell(f"{said}{_speed(outcome, wanted)}{_told(outcome, files(written), wanted)}", wanted)
        if manner.strict:
            refuse_notes(outcome)


def config_over_video(wanted: OverVideo, registry: Registry) -> tuple[CalculatorGraphConfig, str]:
    """Return the graph with the changes for what is wanted, and the name of the stream of all frames."""
    from penstock.config import read_graph  # imports protobuf

    config = read_graph(wanted.graph, registry)
    if wanted.camera is not None:
        read_camera(config, registry, wanted.camera, wanted.frames)
    if isinstance(wanted.video, Address):
        read_address(config, wanted.video)
    with_pictures(
        config, registry, (wanted.video, wanted.frames), wanted.out, skips=wanted.skips, named=wanted.named
    )
    wanted_streams = [wanted.drawn] if wanted.show else []
    if wanted.result is not None or wanted.finished == wanted.results:
        wanted_streams.append(wanted.results)
    if wanted.out is None:
        leave_out(config, [wanted.drawn], wanted_streams)
    else:
        leave_out(config, [], [*wanted_streams, wanted.drawn])
    captured = wanted.frames
    if wanted.is_live:
        captured = add_limiter(config, registry, wanted.frames, wanted.finished, pace=wanted.as_camera)
    return config, captured


class _Ages:
    """How old frames were when they were finished, in seconds. Threads of the graph call it."""

    def __init__(self, graph: CalculatorGraph, captured: str, finished: str) -> None:
        #: Timestamps and times of frames that are not finished, oldest first.
        self._stamps: deque[int] = deque()
        self._times: deque[float] = deque()
        self._seconds: deque[float] = deque(maxlen=_REMEMBERED)
        graph.observe_output_stream(captured, self._begin)
        graph.observe_output_stream(finished, self._end)

    def _begin(self, _stream: str, packet: Packet) -> None:
        self._times.append(monotonic())
        self._stamps.append(packet.timestamp)

    def _end(self, _stream: str, packet: Packet) -> None:
        now = monotonic()
        began = now
        while self._stamps and self._stamps[0] <= packet.timestamp:
            self._stamps.popleft()
            began = self._times.popleft()
        self._seconds.append(now - began)

    def words(self) -> str:
        """Return the ages as text; "" where no frame was finished."""
        ages = sorted(self._seconds)
        if len(ages) < 2:  # noqa: PLR2004  # quantiles need two
            return ""
        median, most = quantiles(ages, n=20, method="inclusive")[9::9]
        return f"; results were {duration(median)} old in the median, 95 of 100 at most {duration(most)}"


class _Results:
    """Hands results over, until nobody reads them."""

    def __init__(self, graph: CalculatorGraph, stream: str, read: Callable[[Packet], None]) -> None:
        self._graph = graph
        self._read = read
        #: What the reader raised when it was gone.
        self.broken: BrokenPipeError | None = None
        graph.observe_output_stream(stream, self._take)

    def _take(self, _stream: str, packet: Packet) -> None:
        if self.broken is not None:
            return
        try:
            self._read(packet)
        except BrokenPipeError as error:
            self.broken = error
            self._graph.close_all_packet_sources()


def _sides(wanted: OverVideo) -> dict[str, object]:
    sides: dict[str, object] = dict(wanted.sides)
    if isinstance(wanted.video, Address):
        sides.update(address_sides(wanted.video))
    elif wanted.video is not None:
        sides[_VIDEO_INPUT] = path_read(wanted.video)
    if wanted.out is not None:
        sides[_VIDEO_OUTPUT] = path_written(wanted.out, wanted.video)
    return sides


def _loaded(wanted: OverVideo, max_queued_bytes: float | None) -> tuple[CalculatorGraph, str]:
    from penstock.plugins.default_registry import default_registry  # loads the plugins

    names: list[str] = []

    def make() -> CalculatorGraph:
        config, captured = config_over_video(wanted, default_registry())
        names.append(captured)
        return CalculatorGraph(config, max_queued_bytes=max_queued_bytes)

    return load(make), names[0]


def _words(wanted: OverVideo) -> str:
    """Return a line that says what is about to be done."""
    source = f"camera {wanted.camera}" if wanted.video is None else redacted(str(wanted.video))
    targets = [f"into {wanted.out}"] if wanted.out is not None else []
    targets += ["in a window (Esc closes it)"] if wanted.show else []
    return ", ".join([f"{wanted.what} {source}", *([" and ".join(targets)] if targets else [])])


def _counted(ledger: Ledger, wanted: OverVideo, captured: str, ages: _Ages | None) -> str:
    """Return how many frames came in, were processed, and were dropped, as text."""
    streams = {stream.name: stream for stream in ledger.streams}
    passed = {name: stream.added - sum(stream.dropped.values()) for name, stream in streams.items()}
    came, done = streams[captured].added, passed[wanted.finished]
    dropped = came - passed[wanted.frames]
    noun = "picture" if are_pictures(wanted.video) else "frame"
    said = f"{plural(came, noun)} in, {done:,} processed, {dropped:,} dropped"
    return said + ("" if ages is None else ages.words())


def _speed(outcome: Outcome, wanted: OverVideo) -> str:
    return f"; {rate(_added(outcome, wanted.finished) / outcome.wall_s)}"


def _added(outcome: Outcome, name: str) -> int:
    return next(stream.added for stream in outcome.snapshot.streams if stream.name == name)


def _told(outcome: Outcome, written: str, wanted: OverVideo) -> str:
    if wanted.out is None:
        return ", shown" if wanted.show else ""
    if are_pictures_out(wanted.out) and not written:
        count = _added(outcome, wanted.drawn)
        written = pictures_told(wanted.out, count) if count else ""
    return f", written to {written}" if written else ", nothing was written"


def _tell(said: str, wanted: OverVideo) -> None:
    """Print a line where the results are not: on stdout, or on stderr beside results."""
    if wanted.result is None:
        click.echo(said)
    else:
        say(said)
