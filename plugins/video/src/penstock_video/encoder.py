"""Writes frames to a video file whose times are the packets' timestamps."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import penstock
from penstock.access import ACCESS, redacted
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.log import get_logger, place
from penstock_formats import ImageFrame, VideoHeader
from penstock_formats.api import format_converter
from penstock_video import hardware
from penstock_video.frames import PIXELS, encoded_size
from penstock_video.libav_encoders import encoder_name
from penstock_video.live.live_source import is_network
from penstock_video.messages.encoder_pb2 import OpenCvVideoEncoderCalculatorOptions as Options
from penstock_video.partial import leftovers
from penstock_video.source import MAX_THREADS, MICROSECONDS, RATES
from penstock_video.targets import check_target
from penstock_video.writer import Settings, VideoWriter

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

_LOG: Final = get_logger("video")
_USUAL_FPS: Final = 30.0
_DAY_US: Final = 86_400 * MICROSECONDS


class VideoEncoderCalculator(penstock.Calculator):
    """Write frames to a video file.

    Registered as VideoEncoderCalculator and as OpenCvVideoEncoderCalculator, the name of MediaPipe's.

    Inputs:
        VIDEO: ImageFrame, GRAY8, SRGB or SRGBA, all of one size.
        VIDEO_PRESTREAM (optional): VideoHeader at PRESTREAM, for its frame rate.
    Input side packets:
        OUTPUT_FILE_PATH: str or Path; the ending chooses the container: mp4, mov, mkv, webm, avi, ...
        AUDIO_FILE_PATH (optional): str or Path of a file whose audio streams are copied; with "" or an
            address a warning is logged and the file gets no audio.

    Times in the file are the packets' timestamps: exact in mp4 and mov, whole milliseconds in mkv and
    webm, whole frames in avi; with codec mpeg4 they are rounded to 1/60000 s, with MPEG-1 to whole frames.
    Where the first frame is at a negative time or at a day or more, as with times since 1970, the file begins
    at zero and records the first frame's time as its creation time (`timeline` chooses).

    Audio is copied packet by packet, without decoding, with the times that it has in its file, moved with
    the frames where these are moved. It ends with the last frame, so a run that was cut short gives a short
    file; where that is also the last frame of the audio's own file, all audio is copied. mkv, webm and avi
    have no negative times: where the audio begins before zero, as AAC in mp4 does by 21 ms, the whole file
    begins that much later. `audio_optional` is for files of any kind: without audio, or with audio that the
    container cannot hold, the video is written alone, and the log has the reason.

    The file grows under another name beside the target (`out.partial.mp4`) and is renamed in `close`,
    which is called at every end of a run: after an error or Ctrl-C the target holds the frames up to
    then, and plays. Without a single frame no file is made, and the log says so.

    At every moment the growing file plays, up to at most two seconds before the last frame that came (at
    less than three frames a second: up to five frames before). Where the disk is full, it stays and the
    error names it; the target is unchanged. Where the process is killed, it stays too, and the next run for
    the same target logs a warning that names it, and writes to a name of its own. mp4 and mov are fragmented
    while they grow, and ordinary files when they are complete.

    Without `codec` mp4, mov, mkv and avi are H.264 by libx264, which plays everywhere: a library under the
    GPL that PyAV's wheels contain. Where PyAV comes without it, mp4 and mkv are AV1 by libsvtav1 or VP9 by
    libvpx (both BSD), and others MPEG-4. webm is VP9. Encoders without copyleft: "av01" and "vp90" (mp4, mkv,
    webm), "vp80" (webm, mkv). gif has 256 colours for each frame, and times of 1/100 s; frames of
    the same 1/100 s are an error. Pictures (png, jpg) are for a PictureSinkCalculator.

    Encoders of devices have libav's names: "h264_nvenc", "hevc_nvenc", "av1_nvenc" (NVIDIA), "h264_vaapi"
    (Linux), "h264_videotoolbox" (macOS), "h264_qsv" (Intel), "h264_amf" (AMD) and so on. They are opened in
    `open` to see whether they work. Where they do not, the log has the reason, and an encoder in software
    makes the same format; with `hardware_required` that is an error.

    H.264 and H.265 need even sides: the last column or row of odd frames comes twice, and the log says so.
    VP9, AV1 and MPEG-4 keep odd sides.

    Options `OpenCvVideoEncoderCalculatorOptions`: `codec` (see above), `video_format`, `fps`
    (else the header's, else 30: a hint, times come from the timestamps), `width` and `height` (frames
    must have that size), `crf` (23 for H.264, 28 for H.265, 33 for VP9, 35 for AV1), `preset` ("veryfast"),
    `threads` (0: as many as use the processors), `bit_rate`, `timeline`, `audio_optional` (false),
    `hardware_required` (false). Conversion and encoding run without the GIL. Colours become BT.601, limited
    range.

    Raises in `open`: InvalidArgumentError for a directory that is missing or not writable, a path
    that does not end in `video_format` or ends as a picture, or an unknown codec; UnavailableError for a
    device's encoder that does not work, with `hardware_required`. In `process`: the same for a frame of
    another size or format, or where codec, container, size and audio do not go together;
    ResourceExhaustedError where the disk, a quota or a limit of file sizes is full, PenstockError where
    writing fails otherwise: the growing file stays and the error names it. PenstockError where the audio
    cannot be read further: the file then has all frames up to then, and their audio up to there. `close`
    raises the same.

    Config::

        node {
          calculator: "VideoEncoderCalculator"
          input_stream: "VIDEO:painted"
          input_side_packet: "OUTPUT_FILE_PATH:output_video"
          node_options {
            [type.googleapis.com/penstock.OpenCvVideoEncoderCalculatorOptions] {
              codec: "avc1"
              crf: 20
            }
          }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports that are connected."""
        cc.inputs["VIDEO"].set(ImageFrame, "frames of one size (GRAY8, SRGB, SRGBA)")
        cc.inputs["VIDEO_PRESTREAM"].set(VideoHeader, "the video's header, at PRESTREAM").optional()
        cc.input_side_packets["OUTPUT_FILE_PATH"].set_one_of(str, Path, description="the file to write")
        audio = cc.input_side_packets["AUDIO_FILE_PATH"]
        audio.set_one_of(str, Path, description="file with the audio, or empty").optional()
        writes = [cc.input_side_packets["OUTPUT_FILE_PATH"]]
        devices = _devices(cc.options(Options))
        cc.declare(
            may_skip=False, stateless=False, cost="high", reads=[audio], writes=writes, devices=devices
        )

    def open(self, cc: CalculatorContext) -> None:
        """Check path and options; the file is opened with the first frame."""
        self._options = options = cc.options(Options)
        self._target = cc.service(ACCESS).writing(cc.input_side_packets["OUTPUT_FILE_PATH"].payload)  # type: ignore[arg-type]  # by contract
        ending = options.video_format
        if ending and self._target.suffix.lower() != f".{ending.lower()}":
            raise InvalidArgumentError(
                f"the encoder's video file {str(self._target)!r} does not end in '.{ending}', which "
                "video_format demands; change one of them"
            )
        _check_numbers(options)
        check_target(self._target)
        self._tell_leftovers(cc)
        header = cc.inputs["VIDEO"].header.payload
        self._fps = options.fps if options.fps > 0 else _rate(header)
        self._codec = options.codec
        if not hardware.is_hardware(options.codec):
            self._codec = encoder_name(options.codec, self._target.suffix)
        for device in _devices(options):
            cc.service(ACCESS).using("devices", device)
        #: Size for which the encoder of a device was tried.
        self._tried = (0, 0)
        self._try_hardware(cc, _size(header, options) or hardware.USUAL_SIZE)
        self._audio = self._audio_file(cc)
        self._writer: VideoWriter | None = None

    def process(self, cc: CalculatorContext) -> None:
        """Take the header, or write one frame."""
        if "VIDEO_PRESTREAM" in cc.inputs and not cc.inputs["VIDEO_PRESTREAM"].is_empty():
            self._fps = self._fps or _rate(cc.inputs["VIDEO_PRESTREAM"].payload)
        if cc.inputs["VIDEO"].is_empty():
            return
        frame: ImageFrame = cc.inputs["VIDEO"].payload
        timestamp = cc.input_timestamp
        if not timestamp.is_range_value():
            raise InvalidArgumentError(
                f"a frame at {timestamp} cannot be encoded into a file; give it an ordinary timestamp"
            )
        if self._writer is None:
            self._writer = self._start(cc, frame, int(timestamp))
        self._check(frame, self._writer.size)
        self._writer.write(frame.array, frame.format, int(timestamp))

    def close(self, cc: CalculatorContext) -> None:
        """Finish the file."""
        writer, self._writer = self._writer, None
        if writer is None:
            _LOG.warning(
                "%r: no frame came, so no file was written", str(self._target), extra=place(cc.node_name)
            )
        else:
            writer.finish()

    def _tell_leftovers(self, cc: CalculatorContext) -> None:
        for left in leftovers(self._target):
            _LOG.warning(
                "%r was left by an earlier run that wrote %r and was killed or failed, unless another "
                "process writes it now; it plays up to where it ended: rename it to keep it, or delete it",
                str(left), str(self._target),
                extra=place(cc.node_name),
            )  # fmt: skip

    def _start(self, cc: CalculatorContext, frame: ImageFrame, timestamp: int) -> VideoWriter:
        """Open the file for frames like the first."""
        options = self._options
        wanted = (options.width or frame.width, options.height or frame.height)
        self._check(frame, wanted)
        self._try_hardware(cc, wanted)
        made = encoded_size(self._codec, wanted)
        if made != wanted:
            _LOG.warning(
                "%r: frames are %dx%d, and %s needs even sides, so the file is %dx%d: the last column or row "
                "comes twice",
                str(self._target), *wanted, self._codec, *made,
                extra=place(cc.node_name),
            )  # fmt: skip
        far = timestamp < 0 or timestamp >= _DAY_US
        from_zero = options.timeline == Options.FROM_ZERO or (options.timeline == Options.AUTO and far)
        settings = Settings(
            self._codec,
            self._fps or _USUAL_FPS,
            options.crf if options.HasField("crf") else None,
            options.preset,
            options.threads,
            options.bit_rate,
            self._audio,
            options.audio_optional,
            cc.node_name,
        )
        return VideoWriter(self._target, settings, wanted, -timestamp if from_zero else 0)

    def _try_hardware(self, cc: CalculatorContext, size: tuple[int, int]) -> None:
        """Where a device encodes, open its encoder once; where that fails, take one in software."""
        if not hardware.is_hardware(self._codec) or self._tried == size:
            return
        self._tried = size
        name, why = self._codec, hardware.why_not(self._codec, size, self._fps or _USUAL_FPS)
        if not why:
            return
        if self._options.hardware_required:
            raise UnavailableError(
                f"the encoder of video file {str(self._target)!r} cannot use {name!r}: {why}; leave out "
                "hardware_required, or name another codec"
            )
        self._codec = hardware.in_software(name, self._target.suffix)
        _LOG.warning(
            "%r: the encoder %s cannot be used, so %s encodes: %s",
            str(self._target), name, self._codec, why,
            extra=place(cc.node_name),
        )  # fmt: skip

    def _check(self, frame: ImageFrame, size: tuple[int, int]) -> None:
        if frame.format not in PIXELS:
            raise InvalidArgumentError(
                f"the encoder of video file {str(self._target)!r} takes GRAY8, SRGB or SRGBA, but the frame "
                f"is {frame!r}; put a {format_converter(frame.format)} before the encoder"
            )
        if (frame.width, frame.height) != size:
            raise InvalidArgumentError(
                f"the encoder of video file {str(self._target)!r} has begun with {size[0]}x{size[1]}, but "
                f"the frame is {frame.width}x{frame.height}; scale with an ImageTransformationCalculator "
                "before the encoder"
            )

    @staticmethod
    def _audio_file(cc: CalculatorContext) -> str | None:
        if "AUDIO_FILE_PATH" not in cc.input_side_packets:
            return None
        path = os.fspath(cc.input_side_packets["AUDIO_FILE_PATH"].payload)  # type: ignore[call-overload]  # by contract
        if not path:
            _LOG.warning("AUDIO_FILE_PATH is empty, so the file gets no audio", extra=place(cc.node_name))
            return None
        if is_network(path):
            _LOG.warning(
                "AUDIO_FILE_PATH is the address %s, whose sound is not copied; SAVED_AUDIO_PATH of the "
                "decoder saves the sound of a file on a server",
                redacted(path),
                extra=place(cc.node_name),
            )
            return None
        if not os.path.exists(path):  # noqa: PTH110  # a str
            raise InvalidArgumentError(
                f"the video encoder's AUDIO_FILE_PATH {path!r} does not exist; check it"
            )
        return str(cc.service(ACCESS).reading(path))


def _rate(header: object) -> float:
    """Return the frame rate of a VideoHeader; 0 where there is no such header."""
    return header.frame_rate if isinstance(header, VideoHeader) else 0.0


def _devices(options: Options) -> list[str]:
    """Return the device that encodes, as an `Access` names it, or none."""
    return [f"encoder {options.codec}"] if hardware.is_hardware(options.codec) else []


def _size(header: object, options: Options) -> tuple[int, int] | None:
    """Return (width, height) as far as options or a VideoHeader say; None: they are not known yet."""
    of = header if isinstance(header, VideoHeader) else VideoHeader()
    width, height = options.width or of.width, options.height or of.height
    return (width, height) if width > 0 and height > 0 else None


def _check_numbers(options: Options) -> None:
    """Refuse a rate that no file can have, and threads that libav would start without a limit."""
    lowest, highest = RATES
    if not (options.fps <= 0 or lowest <= options.fps <= highest):
        raise InvalidArgumentError(
            f"the encoder's fps is {options.fps:g}, but must be 0 or from {lowest:g} to {highest:.0f}"
        )
    if not 0 <= options.threads <= MAX_THREADS:
        raise InvalidArgumentError(
            f"the encoder's threads is {options.threads}, but must be from 0 to {MAX_THREADS}"
        )
