"""The option `--publish`, and what the command line prints of streams for browsers; imports nothing heavy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock_cli.api import say
from penstock_video.streaming.announcing import LISTENERS

if TYPE_CHECKING:
    from penstock_video.streaming.live_video import LiveVideo


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
        from penstock_video.streaming.command_line import begin  # brings libav

        begin(ctx)


def _tell(stream: str, video: LiveVideo) -> None:
    if video.url:
        say(f"stream {stream!r} is shown at {video.url}")
