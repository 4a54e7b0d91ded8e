"""Samples that have come and are not used up, with the times of the packets that they came in."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

import numpy as np

from penstock_audio.series.time_series import later, microseconds_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class SampleBuffer:
    """A queue of samples. What is pushed is borrowed until it has been dropped.

    Args:
        channels: rows of each block.
        rate: samples a second.
    """

    def __init__(self, channels: int, rate: float) -> None:
        self._channels: Final = channels
        self._rate: Final = rate
        self._blocks: deque[tuple[NDArray[np.float32], int]] = deque()
        #: Samples of the first block that were dropped.
        self._gone = 0
        #: Samples that are there.
        self.count = 0

    def push(self, samples: NDArray[np.float32], stamp: int) -> None:
        """Append the samples of a packet, (channels, n)."""
        if samples.shape[1]:
            self._blocks.append((samples, stamp))
            self.count += samples.shape[1]

    def copy(self, count: int) -> tuple[NDArray[np.float32], int | None]:
        """Return the first `count` samples, with zeros behind the last one that there is.

        Returns:
            (channels, count) in fresh memory; and the time of the last sample before the zeros, None where
            there is none.
        """
        made = np.zeros((self._channels, count), np.float32)
        done, begin, last = 0, self._gone, None
        for samples, stamp in self._blocks:
            part = min(samples.shape[1] - begin, count - done)
            if part <= 0:
                break
            made[:, done : done + part] = samples[:, begin : begin + part]
            last = later(stamp, microseconds_of(begin + part - 1, self._rate))
            done, begin = done + part, 0
        return made, last

    def drop(self, count: int) -> None:
        """Drop the first `count` samples, or all if there are fewer."""
        count = min(count, self.count)
        self.count -= count
        self._gone += count
        while self._blocks and self._gone >= self._blocks[0][0].shape[1]:
            self._gone -= self._blocks.popleft()[0].shape[1]
