"""Tells the command line of streams that begin. Without a command line nobody listens.

The address for browsers has the token, so that it is no part of the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_video.streaming.live_stream import LiveStream

#: Called with the name of a stream and where it goes, on any thread.
LISTENERS: Final[list[Callable[[str, LiveStream], object]]] = []


def announce(stream: str, video: LiveStream) -> None:
    """Tell of a stream that has begun."""
    for listener in tuple(LISTENERS):
        listener(stream, video)
