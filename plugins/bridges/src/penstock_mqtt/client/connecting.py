"""A socket of a broker, made so that it can be given up at any moment."""

from __future__ import annotations

import errno
import ipaddress
import os
import selectors
import socket
import ssl
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from paho.mqtt.client import Client

if TYPE_CHECKING:
    from penstock_mqtt.client.settings import Settings

#: How long a wait takes no notice of `is_over`.
_SLICE_S: Final = 0.05
#: What a connect that takes its time returns.
_UNDER_WAY: Final = (0, errno.EINPROGRESS, errno.EWOULDBLOCK, errno.EALREADY)


class GivenUp(Exception):  # noqa: N818  # no error: somebody has asked for it
    """The connection is wanted no more."""


class SlicedClient(Client):
    """A client of paho whose connecting is done in small steps; all else is as there."""

    def __init__(self, settings: Settings, timeout_s: float, is_over: threading.Event, **more: Any) -> None:
        super().__init__(**more)
        self._settings: Final = settings
        self._patience_s: Final = timeout_s
        self._is_over: Final = is_over
        #: The present socket, to cut it.
        self.raw: socket.socket | None = None

    def _create_socket(self) -> Any:
        """Return a socket that is connected, and encrypted where that is wanted.

        Raises:
            OSError: it cannot be connected; TimeoutError: not in time.
            GivenUp: it is wanted no more.
        """
        end = monotonic() + self._patience_s
        last: OSError = TimeoutError(f"connecting found no address within {self._patience_s:.1f} s")
        for family, place in self._addresses(end):
            made = socket.socket(family, socket.SOCK_STREAM)
            try:
                made.setblocking(False)  # noqa: FBT003  # the standard library's
                self._connect(made, place, end)
                self.raw = self._encrypted(made, end)
            except OSError as error:
                made.close()
                last = error
            except BaseException:
                made.close()
                raise
            else:
                return self.raw
        raise last

    def cut(self) -> None:
        """End the present connection without a word."""
        if self.raw is not None:
            try:
                self.raw.shutdown(socket.SHUT_RDWR)
            except OSError:
                return  # it has ended already

    def _addresses(self, end: float) -> list[tuple[int, Any]]:
        host, port = self._settings.host, self._settings.port
        try:
            literal = ipaddress.ip_address(host)
        except ValueError:
            return self._looked_up(host, port, end)
        return [(socket.AF_INET6 if literal.version == 6 else socket.AF_INET, (host, port))]  # noqa: PLR2004

    def _looked_up(self, host: str, port: int, end: float) -> list[tuple[int, Any]]:
        """Look a name up on a thread, since that can take as long as it likes."""
        found: list[Any] = []

        def look() -> None:
            try:
                found.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
            except OSError as error:
                found.append(error)

        thread = threading.Thread(target=look, name=f"looks up {host}", daemon=True)
        thread.start()
        while not found:
            self._check(end, f"the name {host!r} was not looked up")
            thread.join(_SLICE_S)
        if isinstance(found[0], OSError):
            raise found[0]
        return [(one[0], one[4]) for one in found[0]]

    def _connect(self, made: socket.socket, place: Any, end: float) -> None:
        error = made.connect_ex(place)
        while not self._is_ready(made, selectors.EVENT_WRITE):
            self._check(end, "no answer")
        error = made.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) or (0 if error in _UNDER_WAY else error)
        if error:
            raise OSError(error, os.strerror(error))

    def _encrypted(self, made: socket.socket, end: float) -> socket.socket:
        context = self._settings.tls
        if context is None:
            return made
        wrapped = context.wrap_socket(
            made, server_hostname=self._settings.host, do_handshake_on_connect=False
        )
        try:
            while True:
                try:
                    wrapped.do_handshake()
                except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as wants:
                    is_write = isinstance(wants, ssl.SSLWantWriteError)
                    event = selectors.EVENT_WRITE if is_write else selectors.EVENT_READ
                    while not self._is_ready(wrapped, event):
                        self._check(end, "no answer to TLS")
                else:
                    return wrapped
        except BaseException:
            wrapped.close()
            raise

    def _check(self, end: float, what: str) -> None:
        if self._is_over.is_set():
            raise GivenUp
        if monotonic() >= end:
            raise TimeoutError(f"{what} within {self._patience_s:.1f} s")

    @staticmethod
    def _is_ready(made: socket.socket, event: int) -> bool:
        with selectors.DefaultSelector() as selector:
            selector.register(made, event)
            return bool(selector.select(_SLICE_S))
