"""The other end of `muxing_process`: starts it, gives it frames, and ends it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock.errors import UnavailableError
from penstock.packs import child_command
from penstock_video.streaming.muxing_process import FRAME, LENGTH

if TYPE_CHECKING:
    import av

    from penstock_video.streaming.live_coding import Quality

_MODULE: Final = "penstock_video.streaming.muxing_process"
#: How long the process may take to end by itself when its input has ended, seconds.
_LAST_S: Final = 2.0


class MuxingProcess:
    """One process for one stream. `kill` may be called by any thread, all else by one.

    Args:
        address: for libav.
        form: libav's name of the container.
        options: of the container.
        quality: how to encode.
        size: (width, height) of the frames, even.
        longest_s: after so many seconds without an answer to `wait_until_open` it is killed.
    """

    def __init__(  # noqa: PLR0913  # the task
        self,
        address: str,
        form: str,
        options: dict[str, str],
        *,
        quality: Quality,
        size: tuple[int, int],
        longest_s: float,
    ) -> None:
        self._process: Final = subprocess.Popen(  # noqa: S603  # this module's neighbour, with this Python
            child_command(_MODULE),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # libav's own messages may have the password
            bufsize=0,
        )
        self._longest_s: Final = longest_s
        task = {
            "address": address,
            "form": form,
            "options": options,
            "quality": attrs.asdict(quality),
            "size": size,
        }
        self._task: Final = json.dumps(task).encode()

    def wait_until_open(self) -> dict[str, Any]:
        """Return the first answer; {} where there is none."""
        timer = threading.Timer(self._longest_s, self.kill)
        timer.daemon = True
        timer.start()
        try:
            self._write(LENGTH.pack(len(self._task)), self._task)
            return self._answer()
        except UnavailableError:
            return {}
        finally:
            timer.cancel()
            timer.join()

    def write(self, frame: av.VideoFrame, *, is_key: bool) -> None:
        """Give it a frame; waits until it has taken the one before.

        Raises:
            UnavailableError: it has ended; says why, if that is known.
        """
        self._write(FRAME.pack(frame.pts or 0, is_key), *(memoryview(plane) for plane in frame.planes))

    def end(self) -> None:
        """Let it end the stream, and wait for that.

        Raises:
            UnavailableError: it could not.
        """
        self._close_input()
        said = self._answer()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_S)
        if said or self._process.poll() != 0:
            raise UnavailableError(str(said.get("words", "it was cut off")))

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def close(self) -> None:
        """End it at once, and release all that belongs to it. May be called again."""
        self.kill()
        self._close_input()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _write(self, *parts: Any) -> None:
        assert self._process.stdin is not None  # noqa: S101  # a pipe
        try:
            for part in parts:
                view = memoryview(part).cast("B")
                while view:
                    view = view[self._process.stdin.write(view) or 0 :]
        except (OSError, ValueError) as error:  # a broken pipe, or one that was closed
            said = self._answer()
            raise UnavailableError(str(said.get("words", "it was cut off"))) from error

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None  # noqa: S101  # a pipe
        with contextlib.suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads(self._process.stdout.readline() or b"{}")
            return found
        return {}

    def _close_input(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
