"""The process that logs: program.py SOCKET, which it reads entries from until it ends.

It answers "ready" when it has a place to log to, and "done" when all is written; else what is wrong.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import struct
import sys
from typing import Any, Final, NoReturn

import numpy as np
import rerun

#: Timestamps from here on, in microseconds, are of the calendar: 1973 and later.
CALENDAR_US: Final = 100_000_000_000_000


def main() -> NoReturn:
    """Log what comes, and end the process."""
    code = _serve()
    sys.stderr.flush()
    os._exit(code)  # the SDK's threads may wait for a viewer that is gone


def _serve() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the run, which then ends this
    with socket.socket(fileno=int(sys.argv[1])) as link:
        link.setblocking(True)  # noqa: FBT003  # the standard library's
        try:
            about = _read(link)
            recording = rerun.RecordingStream(about["application_id"], recording_id=about["recording_id"])
            recording.set_log_tick_enabled(False)  # Rerun's
            recording.set_log_time_enabled(False)  # Rerun's
            if about["path"]:
                recording.save(about["path"])
            else:
                recording.connect_grpc(about["url"])
            _write(link, "ready")
            while (entry := _read(link)) is not None:
                _log(recording, *entry)
            recording.flush(timeout_sec=about["timeout_s"])
            if about["path"]:
                recording.disconnect()
        except EOFError:
            return 1
        except Exception as error:  # noqa: BLE001  # told to the other side
            _write(link, f"{type(error).__name__}: {error}")
            return 1
        _write(link, "done")
    return 0


def _log(  # noqa: PLR0913, PLR0917  # the fields of an entry
    recording: Any, stamp: int, entity: str, archetype: str, arguments: dict[str, Any], jpeg_quality: int
) -> None:
    if stamp >= CALENDAR_US:
        recording.set_time("time", timestamp=np.datetime64(stamp, "us"))
    else:
        recording.set_time("time", duration=np.timedelta64(stamp, "us"))
    if "quaternion" in arguments:
        arguments["quaternion"] = rerun.Quaternion(xyzw=arguments["quaternion"])
    made = getattr(rerun, archetype)(**arguments)
    recording.log(entity, made.compress(jpeg_quality=jpeg_quality) if jpeg_quality else made)


def _read(link: socket.socket) -> Any:
    (size,) = struct.unpack("<Q", _exactly(link, 8))
    return pickle.loads(_exactly(link, size))  # noqa: S301  # of the process that has started this one


def _exactly(link: socket.socket, size: int) -> bytes:
    parts = bytearray(size)
    view = memoryview(parts)
    while view:
        count = link.recv_into(view)
        if not count:
            raise EOFError
        view = view[count:]
    return bytes(parts)


def _write(link: socket.socket, text: str) -> None:
    try:
        link.sendall(text.encode() + b"\n")
    except OSError:
        return  # nobody listens any more


if __name__ == "__main__":
    main()
