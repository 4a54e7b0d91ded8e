"""`Served`: the readings of a run that `penstock_live` serves: `/reading`, and `/events`, of an address."""

from __future__ import annotations

import urllib.error
import urllib.request
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit, urlunsplit

import msgspec

from penstock_cli.failures import FileMissing
from penstock_monitor import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A server sends something every ten seconds.
_SILENT_S: Final = 30.0
#: How many characters of an answer that is an error are shown.
_TOLD: Final = 200
#: No reading is longer; one of 5,000 nodes has 4 MB.
_LONGEST: Final = 64 << 20
_THIS_MACHINE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Served:
    """A run that another process serves.

    Args:
        address: as `penstock run GRAPH --serve` prints it.
        token: goes before the one in the address; other users of the machine see the arguments of a command.
    """

    def __init__(self, address: str, token: str = "") -> None:
        parts = urlsplit(address)
        self._parts: Final = parts._replace(query=urlencode({"token": token})) if token else parts
        #: The address without the token.
        self.title: Final = f"{self._parts.scheme}://{self._parts.netloc}"
        handlers: list[Any] = []
        if self._parts.hostname in _THIS_MACHINE:
            handlers.append(urllib.request.ProxyHandler({}))  # a proxy could not reach it
        self._open: Final = urllib.request.build_opener(*handlers).open

    def reading(self) -> Reading:
        """Return the newest reading.

        Raises:
            FileMissing: nothing answers, or what answers is no server of readings.
        """
        with self._ask("reading") as answer:
            return self._decoded(answer.read(_LONGEST))

    def readings(self) -> Iterator[Reading]:
        """Yield readings as they come, until the server is closed.

        Raises:
            FileMissing: as above, or the connection was lost.
        """
        with self._ask("events") as answer:
            kind, data = b"", b""
            while line := self._line(answer):
                name, _, value = line.partition(b":")
                if name == b"event":
                    kind = value.strip()
                elif name == b"data":
                    data += value.strip()
                elif not line.strip():
                    if kind == b"end":
                        return
                    if data:
                        yield self._decoded(data)
                    kind, data = b"", b""

    def _line(self, answer: Any) -> bytes:
        try:
            line: bytes = answer.readline(_LONGEST)
        except OSError as error:
            raise FileMissing(
                f"the connection to {self.title}, where the served graph runs, was lost: {error}"
            ) from error
        return line

    def _ask(self, path: str) -> Any:
        address = urlunsplit((self._parts.scheme, self._parts.netloc, f"/{path}", self._parts.query, ""))
        try:
            return self._open(address, timeout=_SILENT_S)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(_TOLD).decode(errors="replace").strip()
            raise FileMissing(f"{self.title} answers {error.code} {error.reason}: {said}") from error
        except (OSError, ValueError, HTTPException) as error:  # a port that is no number, among others
            reason = getattr(error, "reason", error)
            raise FileMissing(
                f"no served graph answers at {self.title}: {reason}; start one with penstock run GRAPH "
                "--serve, and give the address that it prints"
            ) from error

    def _decoded(self, data: bytes) -> Reading:
        try:
            return msgspec.json.decode(data, type=Reading)
        except msgspec.MsgspecError as error:
            raise FileMissing(f"the served graph at {self.title} sent no reading: {error}") from error
