"""Sends the frames of a video file, a camera or the test pattern, with their times."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFormat, ImageFrame, VideoHeader
from penstock_video.copied_audio import save_audio
from penstock_video.file_and_camera_reader import FileSource, camera_source
from penstock_video.live.live_source import is_network
from penstock_video.live.whole_reader import Given, NetworkVideo
from penstock_video.messages.decoder_pb2 import VideoDecoderCalculatorOptions
from penstock_video.pattern import PatternSource
from penstock_video.source import MAX_THREADS

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Outcome
    from penstock_video.source import Source


class VideoDecoderCalculator(penstock.Calculator):
    """Read video, one frame in each call.

    Registered as VideoDecoderCalculator and as OpenCvVideoDecoderCalculator, the name of MediaPipe's.

    Input side packets:
        INPUT_FILE_PATH: str or Path, a file, or as str an address that libav reads. Optional where the
            options name a camera or the test pattern, which are read if this side packet is not given.
    Outputs:
        VIDEO: ImageFrame of the option `format`, read-only. Its stream header is the VideoHeader, with the
            size of the first frame; where a file changes its size, each frame has its own.
        VIDEO_PRESTREAM (optional): the VideoHeader at PRESTREAM; closed at once.
    Output side packets:
        SAVED_AUDIO_PATH (optional): str, a temporary file with the audio, copied without decoding, for
            the encoder's AUDIO_FILE_PATH; the application deletes it. "" with a warning where there is
            no audio.

    Timestamps, in microseconds: of a file, each frame's presentation time, exactly; of the test
    pattern, likewise from 0; with `wall_clock` these plus the time of the run's start since 1970; of
    a camera, the time of capture since 1970. Edit lists are followed, and times that wrap, in MPEG-TS, go on.
    A frame whose time is not later than the one before is dropped; with `restart: CONTINUE`, times that go
    back by a frame's duration or more begin a new part, one frame's duration after the part before, as where
    two recordings were put together (their sound, which is copied from the file, stays at its own times). The
    ledger counts dropped frames, and packets that cannot be decoded, by reason. The stream ends with the
    file, or after the pattern's `frames`; a camera's does not end.

    Options `VideoDecoderCalculatorOptions`: `camera_index` (tried on Linux), `test_pattern { width height
    fps frames }`, `wall_clock` (false), `decoder_threads` (0: libav decides), `format` (SRGB; or SRGBA,
    GRAY8, GRAY16, SRGB48, SRGBA64, or KEEP for the nearest to the file's), `restart` (DROP). GRAY16 is exact
    where the file has 16 bits of grey, such as depth in millimetres in FFV1 or PNG; 8 bits become 16 times
    257. The log says once what is converted. Reading, decoding and conversion run without the GIL.

    An address is read as a file is, from its beginning to its end, and no frame is dropped: the sender has
    10 s to answer and 5 s for each frame, and one that ends earlier than it said, or did not say when, was
    lost. `LiveVideoCalculator` is for cameras: it connects again. Waits for an address occupy no thread, and
    end within a second when the run is cancelled.

    Raises in `open`, where the first frame is decoded: InvalidArgumentError for a missing or broken
    file, one without video, a missing camera, or nothing to read. UnavailableError in `open` and `process`
    for an address that cannot be read, is silent, or was lost.

    Config::

        node {
          calculator: "VideoDecoderCalculator"
          input_side_packet: "INPUT_FILE_PATH:input_video"
          output_stream: "VIDEO:frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports that are connected."""
        options = cc.options(VideoDecoderCalculatorOptions)
        path = cc.input_side_packets["INPUT_FILE_PATH"].set_one_of(str, Path, description="the video file")
        if options.HasField("camera_index") or options.HasField("test_pattern"):
            path.optional()
        cc.outputs["VIDEO"].set(ImageFrame, "frames of one format")
        cc.outputs["VIDEO_PRESTREAM"].set(VideoHeader, "the video's header, at PRESTREAM").optional()
        cc.output_side_packets["SAVED_AUDIO_PATH"].set(str, "file with the audio, or empty").optional()
        devices = [f"camera {options.camera_index}"] if cls._is_camera(cc, options) else []
        cc.declare(may_skip=False, stateless=False, is_live=bool(devices), cost="high", devices=devices)
        cc.declare(reads=[path], connects=[path])

    def open(self, cc: CalculatorContext) -> Outcome:
        """Open the source, and send its header; where it is an address, when it has answered."""
        options = cc.options(VideoDecoderCalculatorOptions)
        self._offset = 0
        if options.wall_clock and not self._is_camera(cc, options):
            self._offset = time.time_ns() // 1000
        self._network = _network(cc, options)
        if self._network is not None:
            return self._open_network(cc, self._network)
        self._source = source = _source(cc, options)
        try:
            self._announce(cc, source.header)
        except BaseException:  # close() is not called after a failed open()
            source.close()
            raise
        return None

    def process(self, cc: CalculatorContext) -> Outcome:
        """Send the next frame, or end the stream; for an address that has sent none yet, wait."""
        network = self._network
        read = self._source.read() if network is None else network.read()
        for reason, count in (network or self._source).take_dropped().items():
            cc.outputs["VIDEO"].count_dropped(reason, count)
        if read is None:
            if network is None or network.is_at_end():
                return penstock.STOP
            return network.wait()
        timestamp, picture = read
        cc.outputs["VIDEO"].add(ImageFrame(picture, self._format), timestamp + self._offset)
        return None

    def close(self, cc: CalculatorContext) -> Outcome:  # noqa: ARG002  # the interface
        """Close the file, device or connection."""
        if self._network is not None:
            return self._network.close()
        self._source.close()
        return None

    async def _open_network(self, cc: CalculatorContext, network: NetworkVideo) -> None:
        header = await network.opened()
        if header is None:
            return
        try:
            self._announce(cc, header, network)
            if "SAVED_AUDIO_PATH" in cc.output_side_packets:
                cc.output_side_packets["SAVED_AUDIO_PATH"].set(network.saved_audio)
        except BaseException:
            await network.close()
            raise

    @staticmethod
    def _is_camera(
        cc: CalculatorContext | CalculatorContract, options: VideoDecoderCalculatorOptions
    ) -> bool:
        return options.HasField("camera_index") and "INPUT_FILE_PATH" not in cc.input_side_packets

    def _announce(
        self, cc: CalculatorContext, header: VideoHeader, network: NetworkVideo | None = None
    ) -> None:
        self._format = header.format
        cc.outputs["VIDEO"].set_header(penstock.Packet(header))
        if "VIDEO_PRESTREAM" in cc.outputs:
            cc.outputs["VIDEO_PRESTREAM"].add(header, penstock.Timestamp.PRESTREAM)
            cc.outputs["VIDEO_PRESTREAM"].close()
        if "SAVED_AUDIO_PATH" in cc.output_side_packets and network is None:
            given = "INPUT_FILE_PATH" in cc.input_side_packets
            path = os.fspath(cc.input_side_packets["INPUT_FILE_PATH"].payload) if given else ""  # type: ignore[call-overload]  # by contract
            saved = save_audio(path, cc.node_name, cc.service(ACCESS)) if path else ""
            cc.output_side_packets["SAVED_AUDIO_PATH"].set(saved)


def _network(cc: CalculatorContext, options: VideoDecoderCalculatorOptions) -> NetworkVideo | None:
    """Open the address that the side packet names; return None where it names none."""
    if "INPUT_FILE_PATH" not in cc.input_side_packets:
        return None
    name = os.fspath(cc.input_side_packets["INPUT_FILE_PATH"].payload)  # type: ignore[call-overload]  # by contract
    if not is_network(name):
        return None
    _check_threads(options)
    return NetworkVideo(
        name,
        Given(options.decoder_threads, _format(options), _goes_on(options)),
        node=cc.node_name,
        access=cc.service(ACCESS),
        is_unwanted=lambda: cc.is_stopping,
        saves_audio="SAVED_AUDIO_PATH" in cc.output_side_packets,
    )


def _format(options: VideoDecoderCalculatorOptions) -> ImageFormat | None:
    return ImageFormat(options.format) if options.format else None


def _goes_on(options: VideoDecoderCalculatorOptions) -> bool:
    return options.restart == VideoDecoderCalculatorOptions.CONTINUE


def _check_threads(options: VideoDecoderCalculatorOptions) -> None:
    if not 0 <= options.decoder_threads <= MAX_THREADS:
        raise InvalidArgumentError(
            f"the decoder's decoder_threads is {options.decoder_threads}, but must be from 0 to {MAX_THREADS}"
        )


def _source(cc: CalculatorContext, options: VideoDecoderCalculatorOptions) -> Source:
    """Open the source that side packet or options name.

    Raises:
        InvalidArgumentError: neither names one, or the options name two.
    """
    _check_threads(options)
    if "INPUT_FILE_PATH" in cc.input_side_packets:
        access = cc.service(ACCESS)
        path = access.medium(cc.input_side_packets["INPUT_FILE_PATH"].payload)  # type: ignore[arg-type]  # by contract
        return FileSource(
            path,
            options.decoder_threads,
            node=cc.node_name,
            access=access,
            format=_format(options),
            goes_on=_goes_on(options),
        )
    if options.HasField("camera_index") and options.HasField("test_pattern"):
        raise InvalidArgumentError(
            "the decoder's options name both camera_index and test_pattern; leave out one of them"
        )
    if options.HasField("camera_index"):
        cc.service(ACCESS).using("devices", f"camera {options.camera_index}")
        return camera_source(options.camera_index, options.decoder_threads, _format(options))
    if options.HasField("test_pattern"):
        return PatternSource(options.test_pattern, _format(options))
    raise InvalidArgumentError(
        "the decoder has nothing to decode: give the side packet INPUT_FILE_PATH, or use test_pattern"
    )
