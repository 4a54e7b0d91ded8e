"""Where a stream goes: an address taken apart, and how it may be shown."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

import attrs

from penstock.errors import InvalidArgumentError

#: Scheme → kind, and the port where the address names none; None: it must name one.
_SCHEMES: Final = {
    "rtsp": ("rtsp", 554),
    "rtsps": ("rtsp", 322),
    "rtmp": ("rtmp", 1935),
    "rtmps": ("rtmp", 443),
    "udp": ("udp", None),
    "http": ("http", 0),
    "https": ("http", 0),
}
_SECURE: Final = ("rtsps", "rtmps", "https")
_PLAYLIST: Final = ".m3u8"
_FORMS: Final = (
    "give rtsp://HOST/PATH or rtmp://HOST/APP/KEY for a server, udp://HOST:PORT, http://127.0.0.1:PORT for "
    "browsers, or a file that ends with .m3u8 for HLS"
)
_HIDDEN: Final = "***"
_WRITTEN: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


@attrs.frozen
class Destination:
    """An address of a live sink."""

    #: "rtsp", "rtmp", "udp", "http" or "hls".
    kind: str
    #: The address without passwords, keys and tokens, for messages.
    shown: str
    #: Host and port; "" and 0 where it is a file. Port 0 of "http": any that is free.
    host: str = ""
    port: int = 0
    #: Path and query of a server, or the file of the playlist.
    path: str = ""
    #: "USER:PASSWORD" as it stands in the address; "" for none.
    user: str = attrs.field(default="", repr=False)
    #: Whether the connection is by TLS.
    is_secure: bool = False


def destination(address: str) -> Destination:
    """Take an address apart.

    Raises:
        InvalidArgumentError: it is of no form that a live sink knows. The message has no password.
    """
    found = _WRITTEN.fullmatch(address)
    if found is None:
        if address.lower().endswith(_PLAYLIST):
            return Destination("hls", address, path=address)
        raise InvalidArgumentError(
            f"streaming destination {address!r} is none that a live sink knows; {_FORMS}"
        )
    scheme = found[1].lower()
    if scheme == "srt":
        raise InvalidArgumentError(
            f"streaming destination {shown(address)!r}: SRT is not in the FFmpeg libraries of PyAV's wheels; "
            "publish to an RTSP or RTMP server that sends SRT, or use udp://"
        )
    if scheme not in _SCHEMES:
        raise InvalidArgumentError(
            f"streaming destination {shown(address)!r}: the scheme {scheme!r} is unknown; {_FORMS}"
        )
    kind, usual = _SCHEMES[scheme]
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidArgumentError(
            f"streaming destination {shown(address)!r}: {_without_text(error)}; {_FORMS}"
        ) from None
    if not host or (port is None and usual is None):
        missing = "host" if not host else "port"
        raise InvalidArgumentError(f"streaming destination {shown(address)!r} has no {missing}; {_FORMS}")
    user = parts.netloc.rpartition("@")[0]
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    _check_path(kind, address, path, user)
    number = port if port is not None else usual or 0
    return Destination(kind, shown(address), host, number, path, user, scheme in _SECURE)


def shown(address: str) -> str:
    """Return an address without its password, query and fragment; of RTMP without the stream's key too."""
    found = _WRITTEN.fullmatch(address)
    if found is None:
        return address
    place, slash, path = re.split(r"[?#]", found[2], maxsplit=1)[0].partition("/")
    user, at, host = place.rpartition("@")
    name, colon, _ = user.partition(":")
    if found[1].lower().startswith("rtmp"):
        app, _, key = path.rpartition("/")
        path = f"{app}/{_HIDDEN}" if app and key else path
    return f"{found[1]}://{name}{f':{_HIDDEN}' if colon else ''}{at}{host}{slash}{path}"


def _check_path(kind: str, address: str, path: str, user: str) -> None:
    """Refuse what the kind cannot do with."""
    if kind == "rtmp" and not re.match(r"/[^/]+/.", path):
        raise InvalidArgumentError(
            f"streaming destination {shown(address)!r} has no stream; write rtmp://HOST/APP/KEY, as the "
            "server says"
        )
    if kind == "rtsp" and path in {"", "/"}:
        raise InvalidArgumentError(
            f"streaming destination {shown(address)!r} has no path; write rtsp://HOST/PATH, where PATH names "
            "the stream"
        )
    if kind in {"udp", "http"} and (path not in {"", "/"} or user):
        raise InvalidArgumentError(
            f"streaming destination {shown(address)!r} has more than host and port, which {kind}:// does not "
            "take; leave the rest out"
        )


def _without_text(error: ValueError) -> str:
    """Return what is wrong with an address, without its text, which may hold a password."""
    return "the port is no number up to 65535" if "ort" in str(error) else "it cannot be read"
