"""`--publish` of `penstock run` and `penstock demo`: streams of a graph that are sent while it runs.

Ports are taken before the graph is loaded, so that a taken one ends the command before anything starts.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from penstock.errors import InvalidArgumentError, NotFoundError, PenstockError
from penstock_cli.api import WrongUsage, plural, say
from penstock_video.streaming.announcing import LISTENERS, announce

if TYPE_CHECKING:
    from penstock import CalculatorGraph, Packet
    from penstock_video.streaming.live_stream import LiveStream

#: Key in `click.Context.meta`.
_PUBLISHING: Final = "penstock_video.publishing"


def options() -> list[click.Parameter]:
    """Return new options of a command."""
    return [
        click.Option(
            ["--publish"],
            multiple=True,
            metavar="STREAM=ADDRESS",
            help="Send the frames of a stream to ADDRESS while the graph runs: rtsp:// or rtmp:// for a "
            "server, udp://HOST:PORT, a file that ends with .m3u8 for HLS, or http://127.0.0.1:PORT for "
            "browsers, whose address is printed on stderr. The newest frame goes first; frames that are not "
            "sent in time are dropped, and counted. May be repeated.",
        )
    ]


def prepare(ctx: click.Context) -> None:
    """Print where browsers find the streams of the run, and begin the streams of `--publish`.

    Raises:
        WrongUsage: an address is none, or options do not go together.
        PenstockError: a port is taken, or libraries for browsers are not installed.
    """
    LISTENERS.append(_tell)
    ctx.call_on_close(lambda: LISTENERS.remove(_tell))
    if ctx.params["publish"]:
        _begin(ctx)


def _tell(stream: str, video: LiveStream) -> None:
    if video.url:
        say(f"stream {stream!r} is shown at {video.url}")


def _begin(ctx: click.Context) -> None:
    """Begin the streams of `--publish`.

    Raises:
        WrongUsage: an address is none, or options do not go together.
        PenstockError: a port is taken, or libraries for browsers are not installed.
    """
    publishing = ctx.meta[_PUBLISHING] = _Publishing(is_quiet=bool(ctx.params.get("quiet")))
    ctx.call_on_close(publishing.end)
    for given in ctx.params["publish"]:
        stream, mark, address = given.partition("=")
        if not (stream and mark and address):
            raise WrongUsage(f"--publish {given!r}: write STREAM=ADDRESS")
        try:
            publishing.add(stream, address)
        except InvalidArgumentError as error:
            raise WrongUsage(f"--publish {stream}: {error}") from error


def observe(graph: CalculatorGraph) -> None:
    """Take the frames of a graph whose run is about to start."""
    publishing = _publishing()
    if publishing is not None:
        publishing.observe(graph)


def _publishing() -> _Publishing | None:
    ctx = click.get_current_context(silent=True)
    return None if ctx is None else ctx.meta.get(_PUBLISHING)


class _Publishing:
    """The streams of one command."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet: Final = is_quiet
        self._videos: Final[list[tuple[str, LiveStream]]] = []
        self._graph: CalculatorGraph | None = None
        #: What is wrong with the streams that are asked for; "" where nothing is.
        self.unknown = ""

    def add(self, stream: str, address: str) -> None:
        """Begin a stream. Raises as `LiveStream`."""
        from penstock_video.streaming.live_stream import LiveStream  # brings libav
        from penstock_video.streaming.options import LiveVideoSinkCalculatorOptions

        video = LiveStream(address, LiveVideoSinkCalculatorOptions(address=address), title=stream)
        self._videos.append((stream, video))
        announce(stream, video)

    def observe(self, graph: CalculatorGraph) -> None:
        """Take the frames of the command's first graph."""
        if self._graph is not None:
            return
        self._graph = graph
        for stream, video in self._videos:
            try:
                graph.observe_output_stream(stream, _Taker(video).take)
            except NotFoundError as error:
                self.unknown = f"--publish {stream}: {error}"
        if self.unknown:  # a hook cannot refuse a run, but an observer can end it
            for name in _streams(graph):
                graph.observe_output_stream(name, self._refuse)

    def _refuse(self, _stream: str, _packet: Packet) -> None:
        raise InvalidArgumentError(self.unknown)

    def end(self) -> None:
        """End the streams, and say what became of the frames.

        Raises:
            WrongUsage: the graph had no such stream.
        """
        failure: PenstockError | None = None
        for stream, video in self._videos:
            video.close()
            if self._graph is not None and not self._is_quiet and not self.unknown:
                say(_account(stream, video))
            try:
                video.check()
            except PenstockError as error:
                failure = error
        if self.unknown:
            raise WrongUsage(self.unknown)
        if failure is not None and sys.exc_info()[1] is None:  # else the command has failed already
            raise failure


class _Taker:
    """What observes a stream."""

    def __init__(self, video: LiveStream) -> None:
        self._video: Final = video

    def take(self, stream: str, packet: Packet) -> None:
        """Send a frame.

        Raises:
            InvalidArgumentError: it is no ImageFrame, or of a format that cannot be sent.
            PenstockError: the stream was given up.
        """
        from penstock_formats import ImageFrame  # as above

        frame = packet.payload
        if not isinstance(frame, ImageFrame):
            raise InvalidArgumentError(
                f"--publish {stream}: a packet holds {type(frame).__name__}, but must hold an ImageFrame; "
                "name a stream of frames",
                stream=stream,
            )
        self._video.offer(frame, int(packet.timestamp))


def _streams(graph: CalculatorGraph) -> list[str]:
    """Return the names of all streams that nodes write."""
    from penstock.config import CalculatorGraphConfig  # imports protobuf

    config = CalculatorGraphConfig.FromString(graph.binary_config)
    return [entry.rpartition(":")[2] for node in config.node for entry in node.output_stream]


def _account(stream: str, video: LiveStream) -> str:
    """Return what became of the frames, in words."""
    tally, drops = video.tally, video.drops()
    said = f"stream {stream!r}: {plural(tally.sent, 'frame')} sent to {video.shown}"
    if tally.connections > 1:
        said += f"; connected again {plural(tally.connections - 1, 'time')}, {tally.away_s:.1f} s without"
    if drops:
        said += "; dropped " + ", ".join(f"{count} ({reason})" for reason, count in sorted(drops.items()))
    return said
