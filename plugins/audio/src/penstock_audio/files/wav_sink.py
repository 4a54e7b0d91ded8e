"""WavSinkCalculator: writes sound to a WAV file."""

from __future__ import annotations

import errno
import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

import penstock
from penstock.access import ACCESS
from penstock.errors import InvalidArgumentError, PenstockError, ResourceExhaustedError
from penstock_audio.files.wav_writer import WavFile
from penstock_audio.series.time_series import Regularity, check_channels, series_header
from penstock_formats import Matrix

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract

#: What the system answers where there is no room: on the disk, in the user's quota, under a limit of sizes.
_FULL: Final = {getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)}
#: What a header has room for.
_MOST_CHANNELS: Final = 2**14 - 1
_MOST_RATE: Final = 2**24


class SampleFormat(Enum):
    """How samples are written."""

    #: 16 bits; what leaves -1 to 1 is cut.
    INT16 = 0
    #: 32 bits, as they are.
    FLOAT32 = 1


@attrs.frozen(kw_only=True)
class WavSinkCalculatorOptions:
    """How samples are written.

    Attributes:
        sample_format: INT16 or FLOAT32.
    """

    sample_format: SampleFormat = SampleFormat.INT16


class WavSinkCalculator(penstock.Calculator):
    """Writes a series to a WAV file, which plays while it grows.

    The only input (Matrix, channels by samples, float32, with a TimeSeriesHeader). Input side packet
    OUTPUT_FILE_PATH (str or Path, ending with .wav). A WAV file has no times: samples are written one after
    the other, and the log tells of timestamps that do not agree with their number.

    The file grows beside the target (`out.partial.wav`) and is renamed when the run ends, however it ends;
    the target is complete or unchanged. After `kill -9` the growing file is there, and plays up to at most a
    second before its last sample; no run overwrites it. A file of 4 GiB or more becomes RF64.

    Options `WavSinkCalculatorOptions`: `sample_format`: INT16 (default; full scale is -1 to 1, and what
    leaves it is cut) or FLOAT32. It is a calculator of Penstock's own.

    Raises in `open`: InvalidArgumentError for a missing header, one that a WAV file cannot say, and a path
    that cannot be written. In `process` and `close`: ResourceExhaustedError for a full disk, PenstockError
    for another failure of it; both name the file that is left, and how many seconds it has.

    Example config::

        node {
          calculator: "WavSinkCalculator"
          input_stream: "samples"
          input_side_packet: "OUTPUT_FILE_PATH:output_sound"
          node_options {
            [type.googleapis.com/penstock_audio.WavSinkCalculatorOptions] { sample_format: FLOAT32 }
          }
        }
    """

    Options = WavSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Take a series and a path."""
        cc.inputs[0].set(Matrix, "a series")
        cc.input_side_packets["OUTPUT_FILE_PATH"].set_one_of(str, Path, description="the file")
        cc.options(WavSinkCalculatorOptions)
        writes = [cc.input_side_packets["OUTPUT_FILE_PATH"]]
        cc.declare(may_skip=False, stateless=False, cost="high", writes=writes)

    def open(self, cc: CalculatorContext) -> None:
        """Begin the file.

        Raises:
            InvalidArgumentError: there is no header, or one that a WAV file cannot say; the path cannot be
                written.
        """
        header = series_header(cc.inputs[0], needs_rate=True)
        rate, channels = round(header.sample_rate), header.num_channels
        if not (1 <= rate <= _MOST_RATE and rate == header.sample_rate and 1 <= channels <= _MOST_CHANNELS):
            raise InvalidArgumentError(
                f"stream {cc.inputs[0].name!r} has {header.sample_rate:g} samples a second and {channels} "
                f"channels, but a WAV file has a whole number up to {_MOST_RATE} and from 1 to "
                f"{_MOST_CHANNELS}; resample it before",
                stream=cc.inputs[0].name,
            )
        self._rate, self._channels = rate, channels
        self._target = cc.service(ACCESS).writing(str(cc.input_side_packets["OUTPUT_FILE_PATH"].payload))
        _check_target(self._target)
        self._regularity = Regularity(rate, cc.node_name)
        self._failed = False
        is_float = cc.options(WavSinkCalculatorOptions).sample_format is SampleFormat.FLOAT32
        try:
            self._file = WavFile(self._target, rate, channels, is_float=is_float)
        except OSError as error:
            raise self._refused(error) from error

    def process(self, cc: CalculatorContext) -> None:
        """Write a packet.

        Raises:
            InvalidArgumentError: the matrix has other rows than the header says.
            PenstockError: the disk failed.
        """
        port = cc.inputs[0]
        matrix = check_channels(port, self._channels, cc.stamp)
        self._regularity.look(port.name, cc.stamp, matrix.columns)
        try:
            self._file.write(matrix.array)
        except OSError as error:
            self._failed = True
            raise self._broken(error) from error

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Complete the file, and rename it to the target.

        Raises:
            PenstockError: the disk failed.
        """
        if self._failed:
            self._file.leave()
            return
        try:
            self._file.publish()
        except OSError as error:
            self._file.leave()
            raise self._broken(error) from error

    def _refused(self, error: OSError) -> PenstockError:
        said = f"{str(self._target)!r} cannot be written: {error.strerror}"
        if error.errno in _FULL:
            return ResourceExhaustedError(f"WAV sink: {said}; make room on the disk")
        return InvalidArgumentError(f"WAV sink: {said}; check OUTPUT_FILE_PATH")

    def _broken(self, error: OSError) -> PenstockError:
        kind, cure = PenstockError, "check the disk"
        if error.errno in _FULL:
            kind, cure = ResourceExhaustedError, "make room on the disk"
        seconds = self._file.frames / self._rate
        return kind(
            f"WAV file {str(self._target)!r}: writing failed: {error.strerror}; {str(self._file.path)!r} "
            "plays, up to at "
            f"most a second before {seconds:.1f} s; {cure}"
        )


def _check_target(target: Path) -> None:
    """Check whether a file can be written at `target`.

    Raises:
        InvalidArgumentError: it does not end with .wav, its directory does not exist, or it must not be
            written.
    """
    said = f"{str(target)!r} cannot be written"
    if target.suffix.lower() != ".wav":
        raise InvalidArgumentError(f"WAV sink: {said}: it does not end with .wav; name such a file")
    if not target.parent.is_dir():
        raise InvalidArgumentError(
            f"WAV sink: {said}: there is no directory {str(target.parent)!r}; make it first"
        )
    if target.is_dir():
        raise InvalidArgumentError(f"WAV sink: {said}: it is a directory; name a file")
    for path in (target.parent, target):
        if path.exists() and not os.access(path, os.W_OK):
            raise InvalidArgumentError(
                f"WAV sink: {said}: no permission for {str(path)!r}; choose another path"
            )
