"""The options of LiveVideoSinkCalculator, and which of them go with an address."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

import attrs

from penstock.errors import InvalidArgumentError
from penstock_video.source import MAX_THREADS, RATES
from penstock_video.streaming.destination import destination

if TYPE_CHECKING:
    from penstock_video.streaming.destination import Destination

_CRF = 63
_LONGEST_S = 3600.0
_VIEWERS = 1000
_JPEG = (1, 95)


class Drop(Enum):
    """What happens to frames while the one before is being sent."""

    OLD = "old"
    NONE = "none"


@attrs.frozen(kw_only=True)
class LiveVideoSinkCalculatorOptions:
    """Where a stream goes, and how.

    Attributes:
        address: rtsp://HOST/PATH, rtsps://, rtmp://HOST/APP/KEY, rtmps://, udp://HOST:PORT,
            http://127.0.0.1:PORT (https:// with `certificate` and `key`), or a file that ends with .m3u8. The
            side packet ADDRESS replaces it, and is the place for addresses with passwords and keys.
        drop: OLD: a newer frame takes the place of the one that waits, and the graph never waits. NONE: each
            frame is sent, and the graph waits.
        pace: let frames go at the pace of their timestamps, for files, which come faster. Implies drop: NONE.
        retry_s: how long to try to connect, at the beginning and after each loss, until the run ends with an
            error. 0: the first failure ends it; -1: never.
        connect_timeout_s: how long a server may take until it has accepted the stream.
        write_timeout_s: how long it may take no data.
        codec: a four-letter code or libav's name of an encoder; "" is H.264, which servers and players know.
        crf: constant quality, lower is better, for encoders that have it.
        preset: speed against size, for libx264 and libx265.
        bit_rate: bits per second at most; 0: no limit.
        keyframe_s: time between key frames, for which a new viewer waits; of HLS the length of a segment.
        fps: expected frames per second; 0: the header's, else 30. Times come from the timestamps.
        threads: of the encoder; 0: libav decides.
        window: of HLS: segments in the playlist; 0: all, and none is deleted.
        serve: of HLS: http://127.0.0.1:PORT, where the playlist and its segments are served; "": nowhere.
        max_rate: of http: pictures in a second, at most.
        jpeg_quality: of http: from 1 to 95.
        max_viewers: of http: how many may look at once.
        certificate, key: PEM files of https.
    """

    address: str = ""
    drop: Drop = Drop.OLD
    pace: bool = False
    retry_s: float = 60.0
    connect_timeout_s: float = 10.0
    write_timeout_s: float = 5.0
    codec: str = ""
    crf: float = 23.0
    preset: str = "veryfast"
    bit_rate: int = 0
    keyframe_s: float = 2.0
    fps: float = 0.0
    threads: int = 0
    window: int = 6
    serve: str = ""
    max_rate: float = 30.0
    jpeg_quality: int = 80
    max_viewers: int = 16
    certificate: str = ""
    key: str = ""

    def __attrs_post_init__(self) -> None:
        lowest, highest = RATES
        self._check("retry_s", self.retry_s == -1 or 0 <= self.retry_s < math.inf, "-1, or 0 or more")
        for name in ("connect_timeout_s", "write_timeout_s", "keyframe_s"):
            is_fine = 0 < getattr(self, name) <= _LONGEST_S
            self._check(name, is_fine, f"more than 0, and up to {_LONGEST_S:g}")
        self._check("crf", 0 <= self.crf <= _CRF, f"from 0 to {_CRF}")
        self._check("bit_rate", self.bit_rate >= 0, "0 or more")
        rates = f"from {lowest:g} to {highest:.0f}"
        self._check("fps", self.fps == 0 or lowest <= self.fps <= highest, f"0 or {rates}")
        self._check("threads", 0 <= self.threads <= MAX_THREADS, f"from 0 to {MAX_THREADS}")
        self._check("window", self.window == 0 or self.window >= 3, "0, or 3 or more")  # noqa: PLR2004  # as RFC 8216 asks
        self._check("max_rate", lowest <= self.max_rate <= highest, rates)
        low, high = _JPEG
        self._check("jpeg_quality", low <= self.jpeg_quality <= high, f"from {low} to {high}")
        self._check("max_viewers", 1 <= self.max_viewers <= _VIEWERS, f"from 1 to {_VIEWERS}")

    def _check(self, name: str, is_fine: bool, must: str) -> None:  # noqa: FBT001  # private
        if not is_fine:
            raise InvalidArgumentError(
                f"streaming option {name} is {getattr(self, name)!r}, but must be {must}"
            )


def check_together(place: Destination, options: LiveVideoSinkCalculatorOptions, token: str | None) -> None:
    """Accept options that mean something for an address.

    Raises:
        InvalidArgumentError: `serve`, `token`, `certificate` or `key` do not go with it.
    """
    served = destination(options.serve) if options.serve else None
    if served is not None and (place.kind != "hls" or served.kind != "http"):
        raise InvalidArgumentError(
            f"streaming option serve is {options.serve!r}, but must be http://HOST:PORT, for a playlist, a "
            f"file that ends with .m3u8; the address is {place.shown!r}"
        )
    site = place if place.kind == "http" else served
    if token is not None and site is None:
        raise InvalidArgumentError(
            f"streaming options: the address {place.shown!r} is not for browsers, and takes no TOKEN"
        )
    has_files = bool(options.certificate and options.key)
    is_secure = site is not None and site.is_secure
    if is_secure != has_files or bool(options.certificate) != bool(options.key):
        raise InvalidArgumentError(
            f"streaming options certificate and key go with https://, and need it; the address is "
            f"{place.shown!r}"
        )
