"""A WAV file that plays while it grows, and after the process that writes it was killed.

The header always says how much sound there is: it is written again, behind the samples, after each second of
them. A file of 4 GiB or more is RF64 (EBU Tech 3306), for which room is kept from the beginning.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

#: Sizes in a RIFF header have 32 bits.
_MOST: Final = 2**32 - 1
_PCM, _FLOAT = 1, 3
#: RIFF, 12 bytes; JUNK or ds64, 36; fmt, 26; fact, 12; the head of data, 8.
_HEADER_BYTES: Final = 94


class WavFile:
    """A new file beside the target, which becomes the target when it is complete.

    Args:
        target: ends with .wav; the growing file has ".partial" before that, and a number where it exists.
        rate: samples a second.
        channels: of each frame.
        is_float: float32 samples instead of int16.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, target: Path, rate: int, channels: int, *, is_float: bool) -> None:
        self._target: Final = target
        self._rate: Final = rate
        self._channels: Final = channels
        self._is_float: Final = is_float
        self._width: Final = 4 if is_float else 2
        #: Samples of each channel that were written.
        self.frames = self._told = 0
        for count in itertools.count(1):
            number = "" if count == 1 else f"-{count}"
            #: The path of the growing file.
            self.path = target.with_name(f"{target.stem}.partial{number}{target.suffix}")
            with contextlib.suppress(FileExistsError):
                self._file = self.path.open("xb", buffering=0)
                break
        try:
            self._tell()
        except BaseException:
            self.delete()
            raise

    def write(self, samples: NDArray[np.float32]) -> None:
        """Append samples, (channels, n); what leaves -1 to 1 is cut in int16.

        Raises:
            OSError: the disk failed. What the header tells of is there and plays.
        """
        if self._is_float:
            data = np.ascontiguousarray(samples.T, "<f4")
        else:
            scaled = np.rint(np.clip(np.nan_to_num(samples.T), -1, 1) * 2.0**15)
            data = np.ascontiguousarray(np.minimum(scaled, 2**15 - 1), "<i2")
        self._write(data.tobytes())
        self.frames += samples.shape[1]
        if self.frames - self._told >= self._rate:
            self._tell()

    def publish(self) -> None:
        """Complete the file, and rename it to the target.

        Raises:
            OSError: the disk failed. The file stays under its own name, and plays.
        """
        self._tell()
        self._file.close()
        self.path.replace(self._target)

    def leave(self) -> None:
        """Close the file under its own name; it ends with the samples that its header tells of."""
        with contextlib.suppress(OSError):  # the disk failed before, and that error is the one to tell
            self._file.truncate(_HEADER_BYTES + self._told * self._channels * self._width)
        with contextlib.suppress(OSError):
            self._file.close()

    def delete(self) -> None:
        """Close and delete the file."""
        with contextlib.suppress(OSError):
            self._file.close()
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _tell(self) -> None:
        """Write the header for the samples that are there."""
        end = self._file.tell()
        self._file.seek(0)
        self._write(self._header())
        self._file.seek(max(end, _HEADER_BYTES))
        self._told = self.frames

    def _header(self) -> bytes:
        frame = self._channels * self._width
        size = self.frames * frame
        whole = _HEADER_BYTES - 8 + size + size % 2
        is_long = whole > _MOST
        ds64 = struct.pack("<QQQI", whole, size, self.frames, 0) if is_long else bytes(28)
        kind = _FLOAT if self._is_float else _PCM
        fields = (kind, self._channels, self._rate, self._rate * frame, frame, 8 * self._width, 0)
        return b"".join(
            (
                struct.pack("<4sI4s", b"RF64" if is_long else b"RIFF", _MOST if is_long else whole, b"WAVE"),
                struct.pack("<4sI", b"ds64" if is_long else b"JUNK", 28) + ds64,
                struct.pack("<4sIHHIIHHH", b"fmt ", 18, *fields),
                struct.pack("<4sII", b"fact", 4, min(self.frames, _MOST)),
                struct.pack("<4sI", b"data", _MOST if is_long else size),
            )
        )

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:  # a disk that is nearly full takes a part
            view = view[self._file.write(view) :]
