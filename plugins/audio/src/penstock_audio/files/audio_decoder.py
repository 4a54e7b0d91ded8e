"""AudioDecoderCalculator: sends the sound of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import penstock
from penstock import STOP, Packet
from penstock.access import ACCESS
from penstock.config.calculator_options_pb2 import CalculatorOptions
from penstock.errors import InvalidArgumentError
from penstock_audio.files.audio_file import AudioFile, has_stream
from penstock_audio.messages.audio_decoder_pb2 import AudioDecoderOptions, AudioStreamOptions
from penstock_audio.series.time_series import MICROSECONDS
from penstock_formats import Matrix, TimeSeriesHeader

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop


#: The largest gap: some 30 years.
_LONGEST_S: Final = 1e9


class AudioDecoderCalculator(penstock.Calculator):
    """Sends the sound of an audio or video file, as it is decoded: one packet in each call.

    Input side packets: INPUT_FILE_PATH (str or Path); OPTIONS (AudioDecoderOptions or CalculatorOptions,
    optional), merged over the options of the node. Outputs: AUDIO (Matrix, channels by samples, float32, with
    a TimeSeriesHeader); AUDIO_HEADER (optional), without packets, which has the same header, for an
    AddHeaderCalculator. In the reference AUDIO itself has no header.

    Samples are in the rate and the channels of the file; integers become -1 to 1. A packet has the samples of
    a frame of the codec, or at most 4096 bytes of a WAV file. The first packet has the
    file's time, in microseconds, and times are counted in samples from there on. Where the file's own times
    differ by more than `allowed_gap_seconds`, as in a recording with a pause, counting starts again; packets
    whose times go back are dropped, with a warning. Sound and frames of a file that a VideoDecoderCalculator
    reads are in step. The stream ends with the file.

    Options `AudioDecoderOptions`: `audio_stream { stream_index (0) allow_missing ignore_decode_failures
    correct_pts_for_rollover }`, at most one, by default the first stream, which the reference asks for;
    `start_time` and `end_time`, in seconds: only packets that begin between them are sent; Penstock's own
    `allowed_gap_seconds` (5, as in the reference).

    Raises in `open`: InvalidArgumentError for a file that is missing, broken or without such a stream. In
    `process`: PenstockError where the file cannot be read or decoded any further.

    Source of the behaviour: MediaPipe `calculators/audio/audio_decoder_calculator.cc` and
    `util/audio_decoder.cc`.

    Example config::

        node {
          calculator: "AudioDecoderCalculator"
          input_side_packet: "INPUT_FILE_PATH:input_video"
          output_stream: "AUDIO:samples"
          options { [penstock.AudioDecoderOptions.ext] { audio_stream { stream_index: 0 } } }
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports.

        Raises:
            InvalidArgumentError: the options ask for several streams, or for what no stream can carry.
        """
        cc.input_side_packets["INPUT_FILE_PATH"].set_one_of(str, Path, description="the file")
        options_packet = cc.input_side_packets["OPTIONS"]
        options_packet.set_one_of(
            AudioDecoderOptions, CalculatorOptions, description="replaces the options"
        ).optional()
        cc.outputs["AUDIO"].set(Matrix, "the sound, a series")
        cc.outputs["AUDIO_HEADER"].set(
            TimeSeriesHeader, "no packets; its header is AUDIO's header"
        ).optional()
        _check(cc.options(AudioDecoderOptions))
        path = [cc.input_side_packets["INPUT_FILE_PATH"]]
        cc.declare(may_skip=False, stateless=False, cost="high", reads=path, connects=path)

    def open(self, cc: CalculatorContext) -> None:
        """Open the file, and send the header.

        Raises:
            InvalidArgumentError: it is missing, broken or has no such stream; the options cannot be.
        """
        options = _merged(cc)
        _check(options)
        wanted = options.audio_stream[0] if options.audio_stream else AudioStreamOptions()
        access = cc.service(ACCESS)
        path = access.medium(str(cc.input_side_packets["INPUT_FILE_PATH"].payload))
        self._start = options.start_time * MICROSECONDS if options.HasField("start_time") else None
        self._end = options.end_time * MICROSECONDS if options.HasField("end_time") else None
        self._file: AudioFile | None = None
        if not (wanted.allow_missing and not has_stream(path, wanted.stream_index, access)):
            self._file = AudioFile(path, wanted, options.allowed_gap_seconds, cc.node_name, access)
            cc.outputs["AUDIO"].set_header(Packet(self._file.header))
        if "AUDIO_HEADER" in cc.outputs:
            if self._file is not None:
                cc.outputs["AUDIO_HEADER"].set_header(Packet(self._file.header))
            cc.outputs["AUDIO_HEADER"].close()

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Send the next packet, or end the stream.

        Raises:
            PenstockError: the file cannot be read or decoded any further.
        """
        if self._file is None:
            return STOP
        while (read := self._file.read()) is not None:
            stamp, samples = read
            if self._end is not None and stamp > self._end:
                return STOP
            if self._start is None or stamp >= self._start:
                cc.outputs["AUDIO"].add(Matrix(samples), stamp)
                return None
        return STOP

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Close the file."""
        if self._file is not None:
            self._file.close()


def _merged(cc: CalculatorContext) -> AudioDecoderOptions:
    options = AudioDecoderOptions()
    options.CopyFrom(cc.options(AudioDecoderOptions))
    if "OPTIONS" in cc.input_side_packets:
        given = cc.input_side_packets["OPTIONS"].payload
        if isinstance(given, CalculatorOptions):
            given = given.Extensions[AudioDecoderOptions.ext]
        options.MergeFrom(given)  # type: ignore[arg-type]  # by contract
    return options


def _check(options: AudioDecoderOptions) -> None:
    """Check what does not depend on the file.

    Raises:
        InvalidArgumentError: the options ask for several streams, or for what no stream can carry.
    """
    if len(options.audio_stream) > 1:
        raise InvalidArgumentError(
            f"options have {len(options.audio_stream)} audio_stream, but one is decoded; use a node for each"
        )
    if any(one.output_regressing_timestamps for one in options.audio_stream):
        raise InvalidArgumentError(
            "the audio decoder's output_regressing_timestamps is set, but no stream can carry packets whose "
            "times go back; leave it out"
        )
    if not 0 <= options.allowed_gap_seconds <= _LONGEST_S:
        raise InvalidArgumentError(
            f"the audio decoder's allowed_gap_seconds is {options.allowed_gap_seconds}, but must be from 0 "
            f"to {_LONGEST_S:g}"
        )
