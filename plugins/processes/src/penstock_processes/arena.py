"""Shared memory for payloads on their way: one process takes blocks of it, others map it and read.

An arena is a file in memory without a name: its descriptor is handed over, and it is gone when the last
process that has it ends, however that ends. A block lives until the last object that looks at it is dead,
which weak references tell; they may be called at any time and on any thread, so they only append to a deque.
"""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import threading
import weakref
from bisect import bisect_left
from collections import deque
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: Blocks begin at multiples of it: enough for every instruction of a processor, and a cache line.
_ALIGNMENT: Final = 64


class Arena:
    """A mapping of shared memory of a size.

    Args:
        number: of the arena, the same in all processes.
        descriptor: of the file in memory; stays the caller's.
        size: in bytes. Pages that nobody has touched take no memory.
    """

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        self.number: Final = number
        self.size: Final = size
        self._map: Final = mmap.mmap(descriptor, size)
        whole = (ctypes.c_ubyte * size).from_buffer(self._map)
        self.address: Final = ctypes.addressof(whole)

    def block(self, offset: int, size: int, when_dead: Callable[[Any], object]) -> Any:
        """Return an object with the buffer interface over a part; `when_dead` is called after the last view.

        `when_dead` must only note the event: it may be called on any thread, in the middle of anything.
        """
        block = (ctypes.c_ubyte * size).from_buffer(self._map, offset)
        _WATCHED.add(block, when_dead)
        return block


class _Watched:
    """Weak references that are kept until their object is dead."""

    def __init__(self) -> None:
        self._references: dict[int, weakref.ref[Any]] = {}
        self._numbers = itertools.count()

    def add(self, watched: object, when_dead: Callable[[Any], object]) -> None:
        number = next(self._numbers)

        def dead(reference: Any) -> None:
            del self._references[number]
            when_dead(reference)

        self._references[number] = weakref.ref(watched, dead)


_WATCHED: Final = _Watched()


class OwnArena(Arena):
    """An arena of which this process takes blocks; all methods may be called from any thread."""

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        super().__init__(number, descriptor, size)
        self._lock: Final = threading.Lock()
        #: Free parts by their offset; no two of them touch.
        self._offsets = [0]
        self._sizes = {0: size}
        self._dead: Final[deque[tuple[int, int]]] = deque()

    def take(self, size: int) -> Any:
        """Return a writable block, freed with the last view of it; None where there is no room."""
        asked = -(-size // _ALIGNMENT) * _ALIGNMENT
        with self._lock:
            offset = self._take_dead(asked)
            if offset is None:
                self._take_back()
                offset = self._take_free(asked)
            if offset is None:
                return None
        return self.block(offset, size, lambda _: self._dead.append((offset, asked)))

    def free_bytes(self) -> int:
        """Return how many bytes no block holds."""
        with self._lock:
            self._take_back()
            return sum(self._sizes.values())

    def _take_dead(self, asked: int) -> int | None:
        """Return the part that has become free last if it is as large as asked: caches still have it."""
        try:
            offset, size = self._dead.pop()
        except IndexError:
            return None
        if size == asked:
            return offset
        self._dead.append((offset, size))
        return None

    def _take_free(self, asked: int) -> int | None:
        """Return the first free part that is large enough."""
        for position, offset in enumerate(self._offsets):
            free = self._sizes[offset]
            if free >= asked:
                del self._sizes[offset]
                if free == asked:
                    del self._offsets[position]
                else:
                    self._offsets[position] = offset + asked
                    self._sizes[offset + asked] = free - asked
                return offset
        return None

    def _take_back(self) -> None:
        while self._dead:
            offset, size = self._dead.popleft()
            position = bisect_left(self._offsets, offset)
            if position < len(self._offsets) and self._offsets[position] == offset + size:
                size += self._sizes.pop(self._offsets.pop(position))
            before = self._offsets[position - 1] if position else None
            if before is not None and before + self._sizes[before] == offset:
                self._sizes[before] += size
            else:
                self._offsets.insert(position, offset)
                self._sizes[offset] = size


def memory_file(size: int) -> int:
    """Return the descriptor of a new file in memory without a name, of a size; the caller closes it.

    Raises:
        OSError: the system gives none.
    """
    descriptor = os.memfd_create("penstock", os.MFD_CLOEXEC)
    try:
        os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
