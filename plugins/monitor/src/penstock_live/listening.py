"""Where a server listens, and by which names it may be called.

A page of another site can make a browser send requests to this machine, under the other site's name (DNS
rebinding) or from its own pages. So a request must name the machine in `Host` by one of the names here,
and an `Origin`, if there is one, must be the same as that `Host`.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING, Final

import attrs

from penstock.errors import InvalidArgumentError, UnavailableError

if TYPE_CHECKING:
    from pathlib import Path

_PORTS: Final = 65536
#: Connections that wait to be accepted.
_BACKLOG: Final = 64


@attrs.frozen
class TlsFiles:
    """The files of a server that is reached by TLS, both PEM."""

    #: Its certificate, and those between it and the authority.
    certificate: Path
    #: Its private key, without a password.
    key: Path

    def check(self) -> None:
        """Read both.

        Raises:
            InvalidArgumentError: one of them cannot be read, or they do not belong together.
        """
        for what, path in (("certificate", self.certificate), ("key", self.key)):
            try:
                path.read_bytes()
            except OSError as error:
                raise InvalidArgumentError(
                    f"listening by TLS: {what} file {str(path)!r} cannot be read: "
                    f"{error.strerror or error}; name a PEM file"
                ) from error
        try:
            # an empty password keeps OpenSSL from asking for one on the terminal
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key, lambda: "")
        except (ssl.SSLError, ValueError) as error:
            raise InvalidArgumentError(
                f"listening by TLS: certificate {str(self.certificate)!r} and key {str(self.key)!r} cannot "
                f"be used: {error}; both must be PEM files, the key without a password and of this "
                "certificate"
            ) from error


@attrs.frozen
class Address:
    """Where a server listens."""

    #: As it was given: an address or a name.
    host: str
    #: The port that it has.
    port: int
    #: Whether it is reached by TLS.
    is_tls: bool = False

    @property
    def origin(self) -> str:
        """What its URLs begin with, as in "http://127.0.0.1:8000"."""
        name = socket.gethostname() if is_any(self.host) else self.host
        return f"{self.scheme}://{f'[{name}]' if ':' in name else name}:{self.port}"

    @property
    def scheme(self) -> str:
        """The scheme: "http" or "https"."""
        return "https" if self.is_tls else "http"

    def names(self, reached_at: str) -> frozenset[str]:
        """Return what `Host` may name, in lower case, without a port.

        Any port may follow: a tunnel (`ssh -L`) gives the same server another one.

        Args:
            reached_at: the address of this machine that the client has connected to.
        """
        names = {self.host, reached_at}
        if is_loopback(self.host):
            names |= {"localhost", "127.0.0.1", "::1"}
        if is_any(self.host):
            names.add(socket.gethostname())
        return frozenset(name.lower() for name in names if name)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_any(host: str) -> bool:
    """Return whether an address stands for all addresses of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def listen(host: str, port: int, *, is_tls: bool) -> tuple[socket.socket, Address]:
    """Return a socket that listens, and its address. The caller closes it.

    Args:
        host: an address or a name of this machine.
        port: 0 for any that is free.
        is_tls: whether it will be reached by TLS.

    Raises:
        InvalidArgumentError: the port is not between 0 and 65535; or others can reach the address, and it is
            without TLS.
        UnavailableError: the port is taken, or the machine has no such address.
    """
    if not 0 <= port < _PORTS:
        raise InvalidArgumentError(
            f"port {port} for listening: must be between 0 and {_PORTS - 1}; 0 takes any free one"
        )
    if not is_tls and not is_loopback(host):
        raise InvalidArgumentError(
            f"listening at address {host!r}, which other machines can reach, needs TLS: give a certificate "
            "and its key, or serve on 127.0.0.1 and let a tunnel (ssh -L) lead there"
        )
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise UnavailableError(
            f"listening at address {host!r} is not possible: {error.strerror or error}"
        ) from error
    try:
        # a port whose last server has just ended can be taken again; one that is in use cannot
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise UnavailableError(
            f"listening at port {port} of {host!r} is not possible: {error.strerror or error}; take another "
            "port, or 0 for any that is free"
        ) from error
    return listening, Address(host, listening.getsockname()[1], is_tls)
