"""Rerun's log of a run: the process that logs, and what is sent to it, within a time-out."""

from __future__ import annotations

import os
import pickle
import select
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import uuid
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, Final

from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.packs import child_command
from penstock_bridges import check_needs

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock_rerun.entries import Entry

#: How long the process may take to start: it imports Rerun's SDK.
_START_S: Final = 60.0
#: What is quoted of the process's own complaints.
_QUOTED: Final = 300


class RerunLog:
    """Logs entries into a file or a viewer; threads may share it. Close it.

    Args:
        what: uses it, as errors name it.
        path: the file that there is to be, or None.
        address: of a viewer, "HOST:PORT", where there is no path.
        application_id: groups recordings in the viewer.
        timeout_s: how long viewer or disk may take no data.

    Raises:
        FailedPreconditionError: Rerun's SDK is not installed.
        UnavailableError: no viewer is at the address, the file cannot be made, or the process does not start.
        InvalidArgumentError: the address is none.
    """

    def __init__(
        self, what: str, path: Path | None, address: str, application_id: str, timeout_s: float
    ) -> None:
        check_needs(what, "rerun")
        self._path: Final = path
        self._place: Final = str(path) if path is not None else address
        self._timeout_s: Final = timeout_s
        self._partial: Final = None if path is None else path.with_name(f"{path.name}.partial")
        self._lock: Final = threading.Lock()
        self._heard = b""
        about = {
            "path": "" if self._partial is None else str(self._partial),
            "url": "" if path is not None else _url(address, timeout_s),
            "application_id": application_id,
            "recording_id": str(uuid.uuid4()),
            "timeout_s": timeout_s,
        }
        self._complaints: Final[IO[bytes]] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `_end`
        self._link, theirs = socket.socketpair()
        try:
            with theirs:
                self._process: Final = _started(theirs, self._complaints)
            self._send(about)
            self._expect("ready", _START_S)
        except BaseException:
            self._end()
            raise

    def write(self, entries: Iterable[Entry]) -> None:
        """Log entries.

        Raises:
            UnavailableError: viewer or disk take no data; all later calls raise it too.
        """
        with self._lock:
            for entry in entries:
                self._send(tuple(entry))

    def close(self) -> None:
        """End the log; what was logged is then in the file, or with the viewer.

        Raises:
            UnavailableError: not all of it is.
        """
        try:
            with self._lock:
                self._send(None)
                self._expect("done", 2 * self._timeout_s)
            if self._partial is not None and self._path is not None:
                self._partial.replace(self._path)
        finally:
            self._end()

    def abandon(self) -> None:
        """End the process, and leave no file."""
        self._end()

    def _send(self, one: Any) -> None:
        data = pickle.dumps(one, pickle.HIGHEST_PROTOCOL)
        view = memoryview(struct.pack("<Q", len(data)) + data)
        end = monotonic() + self._timeout_s
        while view:
            can_read, can_write, _ = select.select(
                [self._link], [self._link], [], max(0.0, end - monotonic())
            )
            if can_read:
                raise self._failed(self._said(0.0))  # nothing is said in between but an error
            if not can_write:
                raise self._failed(f"the Rerun viewer takes no data for {self._timeout_s:g} s")
            try:
                view = view[self._link.send(view[: 1 << 16], getattr(socket, "MSG_DONTWAIT", 0)) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._failed(str(error)) from error

    def _expect(self, wanted: str, within_s: float) -> None:
        said = self._said(within_s)
        if said != wanted:
            raise self._failed(said or f"no answer within {within_s:g} s")

    def _said(self, within_s: float) -> str:
        """Return the next line that the process says; "" where it says none, or has ended."""
        end = monotonic() + within_s
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self._link], [], [], max(0.0, end - monotonic()))
            try:
                more = self._link.recv(4096) if ready else b""
            except OSError:
                more = b""
            if not more:
                return ""
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode(errors="replace")

    def _failed(self, why: str) -> UnavailableError:
        self._complaints.seek(0)
        lines = self._complaints.read().decode(errors="replace").strip().splitlines()
        more = f" ({lines[-1][-_QUOTED:]})" if lines else ""
        return UnavailableError(f"Rerun cannot log to {self._place}: {why or 'its process has ended'}{more}")

    def _end(self) -> None:
        self._link.close()
        process: subprocess.Popen[bytes] | None = getattr(self, "_process", None)
        if process is not None:
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._complaints.close()
        if self._partial is not None:
            self._partial.unlink(missing_ok=True)


def _started(theirs: socket.socket, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(  # noqa: S603  # ours
        child_command("penstock_rerun.client.program", str(theirs.fileno())),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=complaints,
        pass_fds=[theirs.fileno()],
        env={**os.environ, "PYTHONPATH": paths, "RUST_LOG": "error", "NO_COLOR": "1"},
    )


def host_and_port(address: str) -> tuple[str, int]:
    """Return the host and port of a viewer's address: "HOST:PORT", or "rerun+http://HOST:PORT/proxy".

    Raises:
        InvalidArgumentError: it is none.
    """
    scheme, mark, rest = address.partition("://")
    text = rest.removesuffix("/proxy") if mark else address
    host, _, port = text.rpartition(":")
    if (mark and scheme not in ("rerun", "rerun+http")) or not host or not port.isdecimal() or "/" in text:
        raise InvalidArgumentError(
            f'the address for the Rerun log is {address!r}; write "HOST:PORT" of a viewer, such as '
            '"127.0.0.1:9876"'
        )
    return host.strip("[]"), int(port)


def _url(address: str, timeout_s: float) -> str:
    """Return the address as Rerun's SDK wants it, if somebody listens there."""
    host, port = host_and_port(address)
    try:
        socket.create_connection((host, port), timeout_s).close()
    except OSError as error:
        raise UnavailableError(
            f"the Rerun log finds no viewer at {address}: {error}; start one with `rerun`, or name a "
            ".rrd file"
        ) from error
    return f"rerun+http://{f'[{host}]' if ':' in host else host}:{port}/proxy"
