"""Addresses of hosts, with a time-out and an end that others can bring about."""

from __future__ import annotations

import ipaddress
import socket
import threading
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

#: How often a wait looks whether it is to end, seconds.
_LOOK_S: Final = 0.05


def resolved(
    host: str, port: int, kind: socket.SocketKind, timeout_s: float, is_over: Callable[[], bool]
) -> tuple[socket.AddressFamily, Any]:
    """Return the family and the socket address of a host.

    The system's resolver cannot be interrupted: for a name, it has a thread of its own, which ends when the
    resolver does, even if that is after the time-out.

    Raises:
        UnavailableError: there is no such host, the time is up, or `is_over` returns true.
    """
    if _is_number(host):
        return _ask(host, port, kind)
    answers: SimpleQueue[Any] = SimpleQueue()

    def look() -> None:
        try:
            answers.put(_ask(host, port, kind))
        except OSError as error:
            answers.put(error)

    threading.Thread(target=look, name="penstock-resolver", daemon=True).start()
    end = monotonic() + timeout_s
    while not is_over():
        try:
            found = answers.get(timeout=_LOOK_S)
        except Empty:
            if monotonic() > end:
                raise UnavailableError(f"host {host!r} was not resolved within {timeout_s:g} s") from None
            continue
        if isinstance(found, OSError):
            why = found.strerror or found
            raise UnavailableError(f"host {host!r} does not resolve: {why}") from found
        family, place = found
        return family, place
    raise UnavailableError("the search for the host was given up")


def _ask(host: str, port: int, kind: socket.SocketKind) -> tuple[socket.AddressFamily, Any]:
    family, _, _, _, place = socket.getaddrinfo(host, port, type=kind)[0]
    return family, place


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
