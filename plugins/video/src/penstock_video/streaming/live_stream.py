"""A live stream, put together: address, outlet, desk, publisher and, for browsers, the web server."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from penstock.access import EVERYTHING
from penstock.errors import UnavailableError
from penstock_video.streaming.desk import Desk
from penstock_video.streaming.destination import destination
from penstock_video.streaming.hls import HlsOutlet, Playlist
from penstock_video.streaming.live_coding import Quality, check_frame, live_encoder
from penstock_video.streaming.options import Drop, LiveVideoSinkCalculatorOptions, check_together
from penstock_video.streaming.outlet import ServerOutlet, UdpOutlet
from penstock_video.streaming.publisher import Publisher

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from penstock.access import Access
    from penstock_formats import ImageFrame
    from penstock_live.api import VideoSite
    from penstock_video.streaming.destination import Destination
    from penstock_video.streaming.outlet import Outlet
    from penstock_video.streaming.publisher import Tally

_USUAL_FPS: Final = 30.0
_CURE: Final = 'pip install "penstock-video[http]"'
#: Frames further apart than this part of a segment, or than so many usual frames, begin HLS again.
_GAP: Final = 0.5
_GAP_FRAMES: Final = 2


class LiveStream:
    """One stream of frames to one address. Made, it has begun; `close` ends it.

    Args:
        address: as the option `address`.
        options: all others.
        title: of the page for browsers.
        fps: frames per second that the header says; 0: none.
        token: for browsers; None makes one.
        node: name of the node, for the log.
        access: what the graph may touch.

    Raises:
        InvalidArgumentError: address and options do not go together, or the file's folder is missing.
        PermissionDeniedError: the graph may not touch the address.
        UnavailableError: a port is taken, or libraries for browsers are not installed.

    After an error nothing is left behind.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        address: str,
        options: LiveVideoSinkCalculatorOptions,
        *,
        title: str = "video",
        fps: float = 0.0,
        token: str | None = None,
        node: str | None = None,
        access: Access = EVERYTHING,
    ) -> None:
        place = destination(address)
        check_together(place, options, token)
        self._site: VideoSite | None = None
        self._title: Final = title
        self._token: Final = token
        self._access: Final = access
        self._options: Final = options
        #: The address without passwords.
        self.shown: Final = place.shown
        outlet = self._outlet(place, options.fps or fps or _USUAL_FPS)
        self._desk: Final = Desk(is_kept=options.drop is Drop.NONE, is_paced=options.pace)
        retry_s = math.inf if options.retry_s == -1 else options.retry_s
        self._publisher: Final = Publisher(outlet, self._desk, place.shown, retry_s, node)

    @property
    def url(self) -> str:
        """The address for browsers, with the token; "" where nothing is served."""
        return "" if self._site is None else self._site.url

    @property
    def tally(self) -> Tally:
        """What was done so far."""
        return self._publisher.tally

    def drops(self) -> dict[str, int]:
        """Return how many frames were dropped since the last call, by reason."""
        return self._desk.drops()

    def offer(self, frame: ImageFrame, time: int) -> Future[None] | None:
        """Send a frame, or drop it. Returns what is done when it has been taken; None: there is no wait.

        Args:
            frame: GRAY8, SRGB or SRGBA. It is read later: nobody writes to a payload.
            time: its timestamp in microseconds, later than the one before.

        Raises:
            InvalidArgumentError: it is of another format.
            PenstockError: the stream was given up.
        """
        check_frame(frame, self.shown)
        self.check()
        return self._desk.offer(frame, time)

    def check(self) -> None:
        """Do nothing while the stream goes on.

        Raises:
            PenstockError: it was given up.
        """
        error = self._publisher.error
        if error is not None:
            raise error

    def close(self) -> None:
        """End the stream, within a second; threads, sockets and files are closed."""
        try:
            self._publisher.end()
        finally:
            if self._site is not None:
                self._site.close()

    # --- putting it together ------------------------------------------------------------------------

    def _outlet(self, place: Destination, fps: float) -> Outlet:
        options = self._options
        if place.kind == "http":
            return self._for_browsers(place)
        quality = Quality(
            live_encoder(options.codec),
            fps,
            options.crf,
            options.preset,
            options.bit_rate,
            options.keyframe_s,
            options.threads,
        )
        if place.kind == "hls":
            return self._hls(place, quality)
        self._access.connecting(place.shown)
        if place.kind == "udp":
            return UdpOutlet(place, quality, options.connect_timeout_s)
        return ServerOutlet(place, quality, options.connect_timeout_s, options.write_timeout_s)

    def _hls(self, place: Destination, quality: Quality) -> Outlet:
        segment_s = quality.keyframe_s
        gap_s = max(_GAP * segment_s, _GAP_FRAMES / quality.fps)
        path = self._access.writing(place.path)
        files = Playlist(path, segment_s + gap_s, self._options.window)
        for name in files.names():
            self._access.writing(path.with_name(name))
        files.check_folder(place.path)
        if self._options.serve:
            self._serve(destination(self._options.serve), lambda: None, files)
        return HlsOutlet(files, quality, gap_s)

    def _for_browsers(self, place: Destination) -> Outlet:
        _check_libraries(place.shown)
        from penstock_video.streaming.browsers import BrowserOutlet  # Pillow is in an extra

        outlet = BrowserOutlet(self._options.jpeg_quality, self._options.max_rate)
        outlet.serve(self._serve(place, outlet.newest, None))
        return outlet

    def _serve(
        self, place: Destination, newest: Callable[[], bytes | None], files: Playlist | None
    ) -> VideoSite:
        """Serve pictures or files from now on."""
        _check_libraries(place.shown)
        from penstock_live.api import TlsFiles, VideoSite, listen  # in an extra

        options = self._options
        self._access.connecting(place.shown)
        tls = None
        if place.is_secure:
            tls = TlsFiles(
                Path(self._access.reading(options.certificate)), Path(self._access.reading(options.key))
            )
            tls.check()
        listening, address = listen(place.host, place.port, is_tls=place.is_secure)
        try:
            self._site = VideoSite(
                listening,
                address,
                title=self._title,
                newest=newest,
                files=files,
                token=self._token,
                tls=tls,
                most_viewers=options.max_viewers,
            )
        except BaseException:
            listening.close()
            raise
        return self._site


def _check_libraries(shown: str) -> None:
    """Refuse an address for browsers where the libraries are missing.

    Raises:
        UnavailableError: says which, and what to install.
    """
    what = f"a live stream for browsers ({shown})"
    for name in ("penstock_live", "PIL"):
        if find_spec(name) is None:
            raise UnavailableError(
                f"a live stream for browsers ({shown}) needs {name}, which is not installed; {_CURE}"
            )
    from penstock_live.api import check_web  # in an extra

    check_web(what, _CURE)
