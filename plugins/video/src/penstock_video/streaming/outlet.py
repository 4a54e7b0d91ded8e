"""What a live sink sends frames to; the errors of that; and those outlets that libav writes to."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any, Final, Protocol

from av.video.frame import PictureType

from penstock.errors import InvalidArgumentError, PermissionDeniedError, UnavailableError
from penstock_video.streaming.hosts import resolved
from penstock_video.streaming.live_coding import Coder, even
from penstock_video.streaming.muxer import FAILURES, Muxer, words
from penstock_video.streaming.muxing import MuxingProcess
from penstock_video.streaming.muxing_process import DENIED, UNFIT
from penstock_video.streaming.relay import CLOSED, ENDED, Relay

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.errors import PenstockError
    from penstock_formats import ImageFrame
    from penstock_video.streaming.destination import Destination
    from penstock_video.streaming.live_coding import Quality

#: Bytes of a datagram: seven packets of MPEG-TS, which fit into one frame of Ethernet.
_DATAGRAM: Final = 7 * 188
#: How long a datagram may wait for room in the system's buffer, seconds.
_LOCAL_S: Final = 0.1
#: How much longer the process may take to say that there is no connection, seconds.
_LONGER_S: Final = 2.0

#: What a relay says where libav knows more.
_VAGUE: Final = ("", CLOSED, ENDED)


class Outlet(Protocol):
    """Takes frames, on the thread of the sink, but for `abort`."""

    #: Whether others have the stream: then there is nothing to mend where they are gone at its end.
    is_elsewhere: bool

    def begin(self, size: tuple[int, int], is_over: Callable[[], bool]) -> None:
        """Begin a connection for frames of a size (width, height), in pixels.

        Raises:
            UnavailableError: that failed, and may succeed later.
            PenstockError: that failed, and would again.
        """

    def wait(self) -> None:
        """Wait until a frame can be sent. Raises as `send`."""

    def send(self, frame: ImageFrame, time: int) -> None:
        """Send a frame of that size; `time` is its timestamp in microseconds.

        Raises:
            UnavailableError: the connection is lost.
            ResourceExhaustedError: there is no room for it.
        """

    def finish(self) -> None:
        """End the connection properly. Raises as `send`."""

    def abort(self) -> None:
        """Let whatever waits for the other end return soon. Called by any thread."""

    def discard(self) -> int:
        """End the connection without a word, and return how many frames are known to be lost. Raises nothing.

        These are frames that `send` has taken and that nobody will ever see.
        """


class ServerOutlet:
    """Publishes to a server of RTSP (over TCP) or RTMP, through a relay and a process of its own.

    Args:
        place: the server, with the path of the stream.
        quality: how to encode.
        open_s: seconds until the server must have taken the stream.
        stall_s: seconds that it may take no data.
    """

    is_elsewhere = True

    def __init__(self, place: Destination, quality: Quality, open_s: float, stall_s: float) -> None:
        self._place: Final = place
        self._quality: Final = quality
        self._open_s: Final = open_s
        self._stall_s: Final = stall_s
        self._relay: Relay | None = None
        self._process: MuxingProcess | None = None
        self._coder: Coder | None = None

    def begin(self, size: tuple[int, int], is_over: Callable[[], bool]) -> None:
        """Connect, and tell the server of the stream."""
        relay = self._relay = Relay(self._place, self._open_s, self._stall_s, is_over)
        try:
            self._set_up(relay, size)
        except BaseException:
            self.discard()
            raise

    def _set_up(self, relay: Relay, size: tuple[int, int]) -> None:
        address = self._address(relay.connect())
        form, options = self._form()
        self._process = process = MuxingProcess(
            address,
            form,
            options,
            quality=self._quality,
            size=even(size),
            longest_s=self._open_s + _LONGER_S,
        )
        said = process.wait_until_open()
        relay.settled()
        if not said.get("is_open"):
            raise self._refusal(said, relay.failure)
        self._coder = Coder(self._quality, size)

    def wait(self) -> None:
        """Wait until the server takes data."""
        assert self._relay is not None  # noqa: S101  # `begin` comes first
        self._relay.wait_until_clear()

    def send(self, frame: ImageFrame, time: int) -> None:
        """Send a frame."""
        relay, process, coder = self._relay, self._process, self._coder
        assert relay is not None  # noqa: S101  # `begin` comes first
        assert process is not None  # noqa: S101  # as above
        assert coder is not None  # noqa: S101  # as above
        made = coder.made(frame, time)
        try:
            process.write(made, is_key=made.pict_type == PictureType.I)
        except UnavailableError as error:
            raise UnavailableError(relay.failure or str(error)) from error

    def finish(self) -> None:
        """Tell the server that the stream ends."""
        try:
            if self._process is not None:
                self._process.end()
        finally:
            self.discard()

    def abort(self) -> None:
        """End the connection soon."""
        relay, process = self._relay, self._process
        if relay is not None:
            relay.abort()
        if process is not None:
            process.kill()

    def discard(self) -> int:
        """End the connection."""
        relay, process = self._relay, self._process
        if process is not None:
            process.close()
        if relay is not None:
            relay.close()
        self._relay = self._process = None
        return 0

    def _address(self, port: int) -> str:
        """Return the address of the relay, as libav takes it."""
        place = self._place
        user = f"{place.user}@" if place.user else ""
        return f"{place.kind}://{user}127.0.0.1:{port}{place.path}"

    def _form(self) -> tuple[str, dict[str, str]]:
        """Return libav's format, and its options."""
        place = self._place
        if place.kind == "rtsp":
            return "rtsp", {"rtsp_transport": "tcp"}
        scheme = "rtmps" if place.is_secure else "rtmp"
        host = f"[{place.host}]" if ":" in place.host else place.host
        called = f"{scheme}://{host}:{place.port}/{place.path.split('/')[1]}"
        return "flv", {"flvflags": "no_duration_filesize", "rtmp_tcurl": called}

    def _refusal(self, said: dict[str, Any], failure: str) -> PenstockError:
        """Return the error for a connection that did not come about."""
        kind, why = said.get("error"), str(said.get("words", ""))
        if kind == DENIED:
            return PermissionDeniedError(
                f"{self._place.shown}: the outlet's server refuses the user or the password: {why}; check "
                "both in the address"
            )
        if kind == UNFIT:
            return InvalidArgumentError(
                f"{self._place.shown}: codec {self._quality.codec} does not fit this outlet: {why}"
            )
        if kind is not None and failure in _VAGUE:
            return UnavailableError(why)  # the server has said what it does not like, and has gone
        return UnavailableError(failure or why or "the process that encodes has ended")


class UdpOutlet:
    """Sends MPEG-TS in datagrams. Nobody answers: whether anybody receives them is not known.

    Args:
        place: host and port, a multicast group too.
        quality: how to encode.
        open_s: seconds until the host's name must be resolved.
    """

    is_elsewhere = True

    def __init__(self, place: Destination, quality: Quality, open_s: float) -> None:
        self._place: Final = place
        self._quality: Final = quality
        self._open_s: Final = open_s
        self._muxer: Muxer | None = None
        self._coder: Coder | None = None
        self._socket: socket.socket | None = None

    def begin(self, size: tuple[int, int], is_over: Callable[[], bool]) -> None:
        """Resolve the name, and begin."""
        place = self._place
        family, address = resolved(place.host, place.port, socket.SOCK_DGRAM, self._open_s, is_over)
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._socket.connect(address)
            self._socket.settimeout(_LOCAL_S)
            target = _Datagrams(self._socket)
            self._muxer = Muxer(target, "mpegts", {"flush_packets": "1"}, self._quality, size)
        except FAILURES as error:
            self.discard()
            raise UnavailableError(words(error)) from error
        self._coder = Coder(self._quality, size)

    def wait(self) -> None:
        """Do nothing: datagrams can always be sent."""

    def send(self, frame: ImageFrame, time: int) -> None:
        """Send a frame."""
        assert self._muxer is not None  # noqa: S101  # `begin` comes first
        assert self._coder is not None  # noqa: S101  # as above
        try:
            self._muxer.write(self._coder.made(frame, time))
        except FAILURES as error:
            raise UnavailableError(words(error)) from error

    def finish(self) -> None:
        """Send what the encoder holds."""
        try:
            if self._muxer is not None:
                self._muxer.end()
        except FAILURES as error:
            raise UnavailableError(words(error)) from error
        finally:
            self.discard()

    def abort(self) -> None:
        """Do nothing: sending waits for nobody."""

    def discard(self) -> int:
        """Close the socket."""
        if self._muxer is not None:
            self._muxer.drop()
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        return 0


class _Datagrams:
    """A file for libav, each write of which becomes datagrams."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket: Final = connected

    def write(self, data: bytes) -> int:
        """Send all of `data`. What has no room in the system's buffer is lost, as datagrams may be."""
        view = memoryview(data)
        for begin in range(0, len(view), _DATAGRAM):
            with contextlib.suppress(TimeoutError, ConnectionRefusedError):  # nobody listens now
                self._socket.send(view[begin : begin + _DATAGRAM])
        return len(data)
