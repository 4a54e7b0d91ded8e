"""Shared memory for payloads on their way: one process takes blocks of it, others map it and read.

An arena is a file in memory without a name: its descriptor is handed over, and it is gone when the last
process that has it ends, however that ends. A block lives until the last object that looks at it is dead,
which weak references tell; they may be called at any time and on any thread, so they only append to a deque.
"""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from bisect import bisect_left
from collections import deque
from importlib import import_module
from importlib.util import find_spec
from secrets import token_hex
from typing import Any, Final

import numpy as np

#: Blocks begin at multiples of it: enough for every instruction of a processor, and a cache line.
_ALIGNMENT: Final = 64
#: The module of the standard library with `shm_open`, where the system has it.
_POSIX_MEMORY: Final = "_posixshmem"


class Block(weakref.ref["np.ndarray[Any, Any]"]):
    """A weak reference to the array over a block, which all views of it refer to as their base."""

    __slots__ = ("arena", "dead", "key", "offset", "token")

    #: The key of the array in `BLOCKS`.
    key: int
    #: Where the block lies.
    arena: Arena
    #: The offset of its first byte.
    offset: int
    #: `dead`, `token`: what gets the token when the array is dead.
    dead: deque[Any]
    token: Any


#: `id` of each array over a block that lives → its block. An entry is gone before its array's memory is.
BLOCKS: Final[dict[int, Block]] = {}


class Arena:
    """A mapping of shared memory of a size, to read.

    Args:
        number: of the arena, the same in all processes.
        descriptor: of the file in memory; stays the caller's.
        size: in bytes. Pages that nobody has touched take no memory.
    """

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        self.number: Final = number
        self.size: Final = size
        self._map: Final = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
        self._addresses: Final = [_address(self._map)]

    def view(self, shape: Any, kind: Any, offset: int, dead: deque[Any], token: Any) -> np.ndarray[Any, Any]:
        """Return a read-only array over a block; `dead` gets `token` after its last view.

        Raises:
            ValueError, TypeError: there is no such block, or no such array.
        """
        return self._watched(np.ndarray(shape, kind, self._map, offset), offset, dead, token)

    def offset_of(self, address: int, size: int) -> int | None:
        """Return at which offset so many bytes at an address lie, or None where they lie elsewhere."""
        for begin in self._addresses:
            if begin <= address and address + size <= begin + self.size:
                return address - begin
        return None

    def _watched(
        self, array: np.ndarray[Any, Any], offset: int, dead: deque[Any], token: Any
    ) -> np.ndarray[Any, Any]:
        block = Block(array, _end)
        block.key = key = id(array)
        block.arena = self
        block.offset = offset
        block.dead = dead
        block.token = token
        BLOCKS[key] = block
        return array


def _end(block: Block) -> None:
    """Note that the array over a block is dead: on any thread, in the middle of anything."""
    del BLOCKS[block.key]
    block.dead.append(block.token)


def _address(memory: Any) -> int:
    found: int = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
    return found


class OwnArena(Arena):
    """An arena of which this process takes blocks; all methods may be called from any thread."""

    def __init__(self, number: int, descriptor: int, size: int) -> None:
        super().__init__(number, descriptor, size)
        self._own_map: Final = mmap.mmap(descriptor, size)
        self._addresses.append(_address(self._own_map))
        self._lock: Final = threading.Lock()
        #: Free parts by their offset; no two of them touch.
        self._offsets = [0]
        self._sizes = {0: size}
        self._dead: Final[deque[tuple[int, int]]] = deque()

    def take(self, shape: Any, kind: Any, size: int) -> np.ndarray[Any, Any] | None:
        """Return a writable array of `size` bytes over a block, which is freed with the last view of it.

        Its values are undefined. None where there is no room.

        Raises:
            ValueError, TypeError: there is no array of this shape and kind of elements.
        """
        asked = -(-size // _ALIGNMENT) * _ALIGNMENT
        with self._lock:
            offset = self._take_dead(asked)
            if offset is None:
                self._take_back()
                offset = self._take_free(asked)
            if offset is None:
                return None
        try:
            array = np.ndarray(shape, kind, self._own_map, offset)
        except BaseException:
            self._dead.append((offset, asked))
            raise
        return self._watched(array, offset, self._dead, (offset, asked))

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


def has_memory_files() -> bool:
    """Return whether this system has files in memory whose descriptors can be handed over: not on Windows."""
    return hasattr(os, "memfd_create") or find_spec(_POSIX_MEMORY) is not None


def memory_file(size: int) -> int:
    """Return the descriptor of a new file in memory without a name, of a size; the caller closes it.

    Raises:
        OSError: the system gives none.
    """
    descriptor = (
        os.memfd_create("penstock", os.MFD_CLOEXEC) if hasattr(os, "memfd_create") else _posix_memory()
    )
    try:
        os.ftruncate(descriptor, size)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _posix_memory() -> int:
    """Return the descriptor of new shared memory of POSIX, as macOS has it; its name is gone at once.

    `multiprocessing.shared_memory` keeps the name until it is unlinked, and cannot be closed while an array
    looks at it. So this takes the calls of the system that it takes.
    """
    posix_memory: Any = import_module(_POSIX_MEMORY)
    name = f"/penstock-{token_hex(8)}"  # 26 characters; macOS takes 31
    descriptor: int = posix_memory.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600)
    try:
        posix_memory.shm_unlink(name)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
