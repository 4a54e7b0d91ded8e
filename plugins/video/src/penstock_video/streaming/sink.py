"""LiveVideoSinkCalculator: shows frames as they come, to a server or to browsers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame, VideoHeader
from penstock_video.streaming.announcing import announce
from penstock_video.streaming.destination import destination
from penstock_video.streaming.live_stream import LiveStream
from penstock_video.streaming.options import LiveVideoSinkCalculatorOptions

if TYPE_CHECKING:
    from concurrent.futures import Future

    from penstock import CalculatorContext, CalculatorContract


class LiveVideoSinkCalculator(penstock.Calculator):
    """Send frames as they come: to an RTSP or RTMP server, by UDP, as HLS, or to browsers.

    Inputs:
        VIDEO: ImageFrame, GRAY8, SRGB or SRGBA. Its header's frame rate is used, if there is one.
    Input side packets:
        ADDRESS (optional): str or Path, which replaces the option `address`; for addresses with passwords.
        TOKEN (optional): str, for browsers, of at least 16 characters; without one, each run makes its own.
    Output side packets:
        URL (optional): str, the address for browsers, with the token; "" where nothing is served.

    Where frames go:

        rtsp://HOST/PATH, rtsps://   a server that takes streams, such as MediaMTX; H.264 over TCP
        rtmp://HOST/APP/KEY, rtmps://   a server, such as a streaming site has; H.264
        udp://HOST:PORT   MPEG-TS in datagrams, to one host or a multicast group
        out/live.m3u8   HLS: a playlist and segments beside it; `serve` lets browsers and players read them
        http://127.0.0.1:PORT   a page that each browser shows, /video.mjpeg and /picture.jpg; port 0: any

    Browsers need the token, as for the page of a running graph: the command line prints the whole address,
    programs read URL. Addresses that other machines reach need https://, `certificate` and `key`.

    The graph never waits: encoding and sending have a thread of their own, one frame waits for it, and a
    newer one takes its place. The ledger counts the replaced frames: "a newer frame came", or "not
    connected" while there is no connection. With `drop: NONE` each frame is sent and the graph waits; with
    `pace: true` besides, frames go at the pace of their timestamps, for files. While nobody looks at
    http://, frames are neither encoded nor counted as dropped.

    A lost connection comes back, with growing pauses: the log says so, and counters count: `sent`,
    `connections`, `failed_connections`, `ms_without_connection`. A connection that does not come back within
    `retry_s` ends the run at the next frame. A full disk is such a loss too: the segment is left out, and the
    playlist stays valid. Frames of another size begin the stream again. The end of the run ends the stream
    within a second, the playlist with EXT-X-ENDLIST.

    Options `LiveVideoSinkCalculatorOptions`: `address`, `drop` (OLD), `pace`, `retry_s` (60),
    `connect_timeout_s` (10), `write_timeout_s` (5), `codec` (H.264), `crf` (23), `preset` ("veryfast"),
    `bit_rate`, `keyframe_s` (2), `fps`, `threads`, `window` (6), `serve`, `max_rate` (30), `jpeg_quality`
    (80), `max_viewers` (16), `certificate`, `key`.

    Raises in `open`: InvalidArgumentError for an address or options that do not fit; UnavailableError where a
    port is taken, or where the libraries for browsers are missing: they are the extra `http`. In `process`
    and `close`: InvalidArgumentError for a frame of another format; UnavailableError where there is no
    connection within `retry_s`; ResourceExhaustedError where the disk stays full; PermissionDeniedError where
    the server refuses the password. All messages show addresses without passwords and keys.

    Config::

        node {
          calculator: "LiveVideoSinkCalculator"
          input_stream: "VIDEO:painted"
          node_options {
            [type.googleapis.com/penstock_video.LiveVideoSinkCalculatorOptions] {
              address: "rtsp://127.0.0.1:8554/camera"
              retry_s: -1
            }
          }
        }
    """

    Options = LiveVideoSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports that are connected, and where frames go.

        Raises:
            InvalidArgumentError: the option `address` is of no known form.
        """
        options = cc.options(LiveVideoSinkCalculatorOptions)
        cc.inputs["VIDEO"].set(ImageFrame, "frames (GRAY8, SRGB, SRGBA)")
        address = cc.input_side_packets["ADDRESS"]
        address.set_one_of(str, Path, description="where the frames go").optional()
        cc.input_side_packets["TOKEN"].set(str, "what browsers must have").optional()
        cc.output_side_packets["URL"].set(str, "the address for browsers").optional()
        reads, writes, connects = [options.certificate, options.key], [], []
        for one in (options.address, options.serve):
            if one:
                place = destination(one)
                if place.kind == "hls":
                    writes += [one, str(Path(one).with_suffix("")) + "-*.ts"]
                else:
                    connects.append(place.shown)
        cc.declare(
            may_skip=False,
            stateless=False,
            cost="high",
            reads=reads,
            writes=[*writes, address],
            connects=[*connects, address],
        )

    def open(self, cc: CalculatorContext) -> None:
        """Begin; the connection is made with the first frame."""
        options = cc.options(LiveVideoSinkCalculatorOptions)
        given = cc.input_side_packets
        address = str(given["ADDRESS"].payload) if "ADDRESS" in given else options.address
        if not address:
            raise InvalidArgumentError(
                "the live sink has no address for streaming frames; set it in the options, or give the side "
                "packet ADDRESS"
            )
        token: Any = given["TOKEN"].payload if "TOKEN" in given else None
        header = cc.inputs["VIDEO"].header.payload
        self._video = LiveStream(
            address,
            options,
            title=cc.inputs["VIDEO"].name,
            fps=header.frame_rate if isinstance(header, VideoHeader) else 0.0,
            token=token,
            node=cc.node_name,
            access=cc.service(ACCESS),
        )
        self._is_told = False
        self._counted = {"sent": 0, "connections": 0, "failed_connections": 0, "ms_without_connection": 0}
        try:
            if "URL" in cc.output_side_packets:
                cc.output_side_packets["URL"].set(self._video.url)
            announce(cc.inputs["VIDEO"].name, self._video)
        except BaseException:  # close() is not called after a failed open()
            self._video.close()
            raise

    def process(self, cc: CalculatorContext) -> Future[Any] | None:
        """Leave the frame for the thread that sends."""
        timestamp = cc.input_timestamp
        if not timestamp.is_range_value():
            raise InvalidArgumentError(
                f"the live sink has no place for a frame at {timestamp}; give it an ordinary timestamp"
            )
        self._is_told = True  # by an error that is raised here
        taken = self._video.offer(cc.inputs["VIDEO"].payload, int(timestamp))
        self._is_told = False
        self._count(cc)
        return taken

    def close(self, cc: CalculatorContext) -> None:
        """End the stream."""
        self._video.close()
        self._count(cc)
        if not self._is_told:
            self._video.check()

    def _count(self, cc: CalculatorContext) -> None:
        """Tell ledger and counters what has happened since the last call."""
        for reason, count in self._video.drops().items():
            cc.inputs["VIDEO"].count_dropped(reason, count)
        tally = self._video.tally
        now = {
            "sent": tally.sent,
            "connections": tally.connections,
            "failed_connections": tally.failures,
            "ms_without_connection": round(tally.away_s * 1000),
        }
        for name, value in now.items():
            if value != self._counted[name]:
                cc.counter(name).increment_by(value - self._counted[name])
        self._counted = now
