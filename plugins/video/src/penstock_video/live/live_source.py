"""What a live source is called, how libav opens it, and what errors say of it."""

from __future__ import annotations

import errno
import os
import socket
import sys
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

import av.error

from penstock.access import redacted
from penstock.errors import InvalidArgumentError, PenstockError, UnavailableError
from penstock_formats.api import libav_options
from penstock_video.file_and_camera_reader import camera_device, device_options
from penstock_video.live.options import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.access import Access

#: Schemes whose waits have time-outs here. Others, such as "concat:", read files.
_NETWORK: Final = frozenset((
    "ftp", "gopher", "http", "https", "httpproxy", "mms", "mmsh", "mmst", "rist", "rtmp", "rtmpe", "rtmps",
    "rtmpt", "rtmpte", "rtmpts", "rtp", "rtsp", "rtsps", "sap", "sftp", "srt", "srtp", "tcp", "tls", "udp",
    "udplite",
))  # fmt: skip
#: Said by libav's errors, without their numbers.
_SAID: Final[tuple[tuple[type[Exception], str], ...]] = (
    (av.error.HTTPUnauthorizedError, "it refuses the user name or password (401)"),
    (av.error.HTTPForbiddenError, "it does not allow this (403)"),
    (av.error.HTTPNotFoundError, "it has no such stream (404)"),
    (ConnectionRefusedError, "nothing listens there (connection refused)"),
)


class Place(NamedTuple):
    """A live source."""

    #: For libav; may have a password.
    name: str
    #: For people.
    shown: str
    #: libav's name of the kind of device; None for an address.
    device: str | None
    #: For libav.
    options: Mapping[str, str]

    @property
    def is_camera(self) -> bool:
        """Whether it is a camera of this machine."""
        return self.device is not None


def is_network(name: str) -> bool:
    """Return whether a name is an address that libav reads over a network."""
    scheme, mark, _ = name.partition("://")
    return bool(mark) and scheme.lower() in _NETWORK


def camera_of(source: str) -> str | None:
    """Return what an `Access` calls a camera of this machine: "camera 0", "/dev/video0"; None for others."""
    if source.isascii() and source.isdecimal():
        return f"camera {int(source)}"
    return source if source.startswith("/dev/") else None


def place_of(source: str, access: Access, transport: Transport = Transport.TCP) -> Place:
    """Return the place of a source, if it may be used.

    Args:
        source: an address with "://", the number of a camera, or on Linux "/dev/videoN".
        access: of the graph.
        transport: of RTSP.

    Raises:
        InvalidArgumentError: it is none of them, or there is no such camera.
        PermissionDeniedError: it may not be used.
    """
    camera = camera_of(source)
    if camera is not None:
        access.using("devices", camera)
        if source.isdecimal():
            name, device = camera_device(int(source))
        else:
            name, device = _device_file(source), "v4l2"
        return Place(name, camera, device, device_options(device))
    if not is_network(source):
        raise InvalidArgumentError(
            f"{redacted(source)!r} is no live source: give an address, such as rtsp://HOST/PATH, or the "
            "number of a camera; VideoDecoderCalculator reads files"
        )
    access.connecting(source)
    options = dict(libav_options(access, source))
    if urlsplit_or_none(source, "scheme").startswith("rtsp"):
        options["rtsp_transport"] = transport.value.lower()
    return Place(source, redacted(source), None, options)


def urlsplit_or_none(address: str, part: str) -> str:
    """Return a part of an address; "" where it has none, or is no address that can be taken apart."""
    try:
        return str(getattr(urlsplit(address), part) or "")
    except ValueError:
        return ""


def resolve(place: Place) -> None:
    """Look up the name of the host, which no time-out of libav covers.

    Raises:
        UnavailableError: it has no address.
    """
    host = urlsplit_or_none(place.name, "hostname")
    scheme = urlsplit_or_none(place.name, "scheme")
    if place.is_camera or not host or (scheme in {"http", "https"} and os.environ.get("http_proxy")):
        return
    try:
        socket.getaddrinfo(host, None)
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or str(error)
        raise UnavailableError(
            f"the live source {place.shown!r} cannot be read: the host {host!r} is not known: {said}"
        ) from None


def refused(place: Place, error: Exception) -> PenstockError:
    """Return the error for an error of libav when it opened or read a place. It has no password."""
    if isinstance(error, av.error.ProtocolNotFoundError):
        scheme = urlsplit_or_none(place.name, "scheme")
        return InvalidArgumentError(
            f"the live source {place.shown!r} cannot be read: this build of FFmpeg does not know {scheme!r}; "
            "use another protocol, or a PyAV that is built against an FFmpeg that has it"
        )
    said = next((words for kind, words in _SAID if isinstance(error, kind)), None)
    if said is None and getattr(error, "errno", None) == errno.EIO:
        said = "the connection has broken off (input/output error)"
    if said is None:
        said = redacted(str(getattr(error, "strerror", None) or error))
    return UnavailableError(f"the live source {place.shown!r} cannot be read: {said}")


def _device_file(name: str) -> str:
    if not sys.platform.startswith("linux"):
        raise InvalidArgumentError(
            f"the live source {name!r} is a camera of Linux; give the number of a camera here"
        )
    if not os.path.exists(name):  # noqa: PTH110  # a str
        raise InvalidArgumentError(f"the live source {name!r} does not exist; check the number of the camera")
    return name
