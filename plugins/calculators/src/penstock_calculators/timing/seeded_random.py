"""Random numbers that a seed determines, the same on every machine and with every Python.

The stream is the SHA-256 of seed, purpose and a counter, cut into 64-bit numbers. The standard
library's generator is not used, because its way of drawing integers may change between versions.
"""

from __future__ import annotations

import hashlib
import struct
from collections import deque

_WORD = 64


class SeededRandom:
    """Numbers that depend only on a seed, a purpose and the count of numbers drawn before.

    Block k is SHA-256 of the UTF-8 text "<seed> NUL <purpose> NUL <k>" (k in decimal, from 0), read as four
    big-endian unsigned 64-bit numbers. They cannot be guessed without the seed, and a seed shared by
    several purposes gives unrelated numbers to each.

    Args:
        seed: any text; a longer secret is harder to guess.
        purpose: the use of the numbers.
    """

    def __init__(self, seed: str, purpose: str) -> None:
        self._start = hashlib.sha256(f"{seed}\0{purpose}\0".encode())
        self._count = 0
        self._words: deque[int] = deque()

    def below(self, count: int) -> int:
        """Return one of 0 .. `count` - 1, each as likely as every other; `count` is 1 to 2**64."""
        # a word of the incomplete last round is drawn again: it would make small numbers more likely
        limit = (1 << _WORD) // count * count
        while True:
            word = self._word()
            if word < limit:
                return word % count

    def fraction(self) -> float:
        """Return a multiple of 2**-53 that is at least 0 and below 1."""
        return (self._word() >> (_WORD - 53)) / (1 << 53)

    def _word(self) -> int:
        if not self._words:
            block = self._start.copy()
            block.update(str(self._count).encode())
            self._count += 1
            self._words.extend(struct.unpack(">4Q", block.digest()))
        return self._words.popleft()
