"""A process that encodes frames and writes them to a server: `python -m` and the name of this module.

libav holds up the interpreter that it runs in until a server has answered, so that has one of its own. What
it reads on its standard input: the length of the task (4 bytes), the task as JSON, then for each frame time
and kind (`FRAME`) and its planes. At the end of the input it ends the stream. It answers in lines of JSON:
`{"is_open": true}` when the server has taken the stream, and `{"error": ..., "words": ...}`.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import av
import av.error
from av.video.frame import PictureType

from penstock_video.streaming.live_coding import TIME_BASE, Quality
from penstock_video.streaming.muxer import FAILURES, Muxer, words

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Time in microseconds, and whether it must be a key frame.
FRAME: Final = struct.Struct("<q?")
LENGTH: Final = struct.Struct("<I")
PIXELS: Final = "yuv420p"
#: Kinds of errors: the server refuses the user, the stream does not fit, all else.
DENIED: Final = "denied"
UNFIT: Final = "unfit"
FAILED: Final = "failed"


def main() -> None:
    """Carry out one task."""
    given = sys.stdin.buffer
    length = LENGTH.unpack(_read(given, LENGTH.size))[0]
    task = json.loads(_read(given, length))
    size = tuple(task["size"])
    try:
        muxer = Muxer(task["address"], task["form"], task["options"], Quality(**task["quality"]), size)
    except FAILURES as error:
        _answer(error=_kind(error), words=words(error))
        return
    _answer(is_open=True)
    try:
        for frame in frames(given, size):
            muxer.write(frame)
        muxer.end()
    except FAILURES as error:
        _answer(error=FAILED, words=words(error))
        muxer.drop()


def frames(given: BinaryIO, size: tuple[int, int]) -> Iterator[av.VideoFrame]:
    """Yield the frames up to the end of the input."""
    while head := given.read(FRAME.size):
        time, is_key = FRAME.unpack(head)
        frame = av.VideoFrame(*size, PIXELS)
        for plane in frame.planes:
            plane.update(_read(given, plane.buffer_size))
        frame.pts, frame.time_base = time, TIME_BASE
        if is_key:
            frame.pict_type = PictureType.I
        yield frame


def _read(given: BinaryIO, count: int) -> bytes:
    data = given.read(count)
    if len(data) < count:
        sys.exit(1)  # the other process has ended
    return data


def _answer(**said: Any) -> None:
    sys.stdout.write(f"{json.dumps(said)}\n")
    sys.stdout.flush()


def _kind(error: Exception) -> str:
    if isinstance(error, (av.error.HTTPUnauthorizedError, av.error.HTTPForbiddenError)):
        return DENIED
    is_unfit = isinstance(error, av.error.ArgumentError) or not isinstance(error, av.error.FFmpegError)
    return UNFIT if is_unfit else FAILED


if __name__ == "__main__":
    main()
