"""Pools of textures that are used again: making a texture costs more than drawing to it.

A pool lends textures and takes each one back when nothing uses its buffer any more. Which sizes it keeps
follows MediaPipe's `GpuBufferMultiPool`, `ReusablePool` and `ResourceCache`: a size is pooled from its second
request on, the sizes with the fewest requests go first, and old requests count less. How many textures of a
size it keeps depends on how many were in use at once.

A texture comes back on the thread that releases it last, maybe during a garbage collection. So giving it back
never waits for a lock: the texture goes to a queue, which the next holder of the lock empties. Textures are
deleted outside the lock.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import attrs
from attrs import validators

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock_gpu.formats import GpuBufferFormat

    #: Width, height, format, and the share group of the contexts that see the texture.
    _Key = tuple[int, int, GpuBufferFormat, object]


class PooledTexture(Protocol):
    """The part of a texture that a pool uses."""

    #: The `SizePool` that takes it back, or None.
    home: Any

    @property
    def is_in_use(self) -> bool:
        """Whether there is a view of it, or a dropped view is still to be released."""

    def delete(self) -> None:
        """Delete the texture later."""


T = TypeVar("T")
X = TypeVar("X", bound=PooledTexture)
_KEPT_AT_LEAST: Final = 2


@attrs.frozen
class TexturePoolOptions:
    """How much a pool keeps. The defaults are the reference's, except for `keep_count`, which is 2 there.

    Attributes:
        keep_count: how many textures of one size there may be, including those in use, before one that comes
            back is deleted. None: as many as were in use at once in the current and the previous counting
            period (see `scrub_every`), at least 2, so that a graph in a steady state makes no new ones.
        max_pool_count: how many sizes are counted; those with the fewest requests are dropped.
        min_requests_before_pool: requests for a size until its textures are kept; 1 keeps them at once.
        scrub_every: requests until all counts are halved and the sizes whose count falls to 0 are dropped.

    Raises:
        InvalidArgumentError: a number is negative, or `min_requests_before_pool` or `scrub_every` below 1.
    """

    keep_count: int | None = attrs.field(
        default=None, validator=validators.optional(validators.instance_of(int))
    )
    max_pool_count: int = attrs.field(default=10, validator=validators.instance_of(int))
    min_requests_before_pool: int = attrs.field(default=2, validator=validators.instance_of(int))
    scrub_every: int = attrs.field(default=50, validator=validators.instance_of(int))

    def __attrs_post_init__(self) -> None:
        for name, least in (
            ("keep_count", 0),
            ("max_pool_count", 0),
            ("min_requests_before_pool", 1),
            ("scrub_every", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InvalidArgumentError(
                    f"the texture pool's {name} is {value}, but must be at least {least}"
                )


class SizePool(Generic[X]):
    """The textures of one size, format and share group. Textures in use refer to it, and its owner closes it.

    Args:
        keep_count: see `TexturePoolOptions`.
    """

    __slots__ = ("_before", "_keep_count", "_lock", "_most", "_returned", "free", "in_use", "is_open")

    def __init__(self, keep_count: int | None) -> None:
        self._keep_count = keep_count
        self._most = 0  # in use at once, since `begin_period`
        self._before = 0  # the same of the period before
        self._lock = threading.Lock()
        self._returned: deque[X | None] = deque()  # None: only look for surplus ones
        #: Unused textures; the last one came back last.
        self.free: deque[X] = deque()
        #: How many textures buffers use.
        self.in_use = 0
        self.is_open = True

    def take(self) -> X | None:
        """Return the free texture that came back last, or None; in both cases one more counts as in use.

        A texture is skipped while the release of a view of it is pending: a garbage collection finalises
        buffers and views in any order.
        """
        free = self.free
        with self._lock:
            if self._returned:
                self._collect()
            self.in_use += 1
            self._most = max(self._most, self.in_use)
            found = None
            if free:
                found = free.pop()
                if found.is_in_use:
                    free.append(found)
                    found = next((one for one in reversed(free) if not one.is_in_use), None)
                    if found is not None:
                        free.remove(found)
            surplus = self._surplus()
        for texture in surplus:
            texture.delete()
        if self._returned:
            self._settle()
        return found

    def give_back(self, texture: X) -> None:
        """Take a texture back. Never waits: safe in finalisers, on any thread."""
        self._returned.append(texture)
        self._settle()

    def cancel(self) -> None:
        """Undo the count of `take` after making the texture failed."""
        with self._lock:
            self.in_use -= 1
        self._settle()

    def begin_period(self) -> None:
        """Begin a counting period, and drop the count of the one before the last; for one thread at a time.

        It does not take the lock, whose holder has to collect what came back: a concurrent `take` may count
        for the previous period.
        """
        self._before, self._most = self._most, self.in_use

    def trim(self) -> None:
        """Delete surplus free textures. Never waits, as `give_back`."""
        self._returned.append(None)
        self._settle()

    def close(self) -> None:
        """Delete the free textures, and from now on those that come back. Never waits, as `give_back`."""
        self.is_open = False
        self.trim()

    def _settle(self) -> None:
        """Collect the textures that came back, and delete surplus ones outside the lock.

        If the lock is held, maybe by this same thread, its holder does so when it has released the lock.
        """
        while self._returned and self._lock.acquire(blocking=False):
            try:
                self._collect()
                surplus = self._surplus()
            finally:
                self._lock.release()
            for texture in surplus:
                texture.delete()

    def _collect(self) -> None:
        while self._returned:
            texture = self._returned.popleft()
            if texture is not None:
                texture.home = None  # until it is taken again: no reference cycle keeps a pool alive
                self.free.append(texture)
                self.in_use -= 1

    def _surplus(self) -> Sequence[X]:
        """Remove and return the surplus free textures, the longest unused first."""
        if not self.free:
            return ()
        if not self.is_open:
            keep = 0
        elif self._keep_count is None:
            keep = max(_KEPT_AT_LEAST, self._most, self._before) - self.in_use
        else:
            keep = self._keep_count - self.in_use
        too_many = len(self.free) - max(keep, 0)
        return [self.free.popleft() for _ in range(too_many)] if too_many > 0 else ()


class _Count(Generic[X]):
    """The number of requests for a size, and its pool once it has enough of them."""

    __slots__ = ("pool", "requests")

    def __init__(self) -> None:
        self.requests = 0
        self.pool: SizePool[X] | None = None


class _Local(threading.local):
    """State of one thread: the pool of the innermost `used_by_default`, or None."""

    pool: TexturePool[Any] | None = None


_LOCAL: Final = _Local()


def default_texture(
    width: int,
    height: int,
    format: GpuBufferFormat,  # noqa: A002  # the word that everyone expects
    make: Callable[[int, int, GpuBufferFormat], X],
) -> X:
    """Return a texture of this thread's default pool, or what `make` returns if it has none."""
    pool = _LOCAL.pool
    if pool is None:
        return make(width, height, format)
    found: X = pool.take(width, height, format)
    return found


class TexturePool(Generic[X]):
    """Lends textures that are used again. Thread-safe.

    A texture does not keep this pool alive: textures that come back after the pool is gone or closed are
    deleted.

    Args:
        options: how much is kept.
        make: makes a texture of that width, height and format, in the current context.
        group: returns the share group of the current context.
    """

    def __init__(
        self,
        options: TexturePoolOptions,
        make: Callable[[int, int, GpuBufferFormat], X],
        group: Callable[[], object],
    ) -> None:
        self.options = options
        self._make = make
        self._group = group
        self._lock = threading.Lock()
        self._counts: dict[_Key, _Count[X]] = {}
        self._requests = 0
        self._is_closed = False

    def take(self, width: int, height: int, format: GpuBufferFormat) -> X:  # noqa: A002  # as above
        """Return a texture that comes back to this pool when it is released.

        Raises:
            FailedPreconditionError: no context is current; call it in `GlContext.run`.
            Whatever `make` raises.
        """
        pool = self._pool_of((width, height, format, self._group()))
        if pool is None:
            return self._make(width, height, format)
        texture = pool.take()
        if texture is None:
            try:
                texture = self._make(width, height, format)
            except BaseException:
                pool.cancel()
                raise
        texture.home = pool
        return texture

    @property
    def free(self) -> int:
        """How many textures are free."""
        return sum(len(pool.free) for pool in self._pools())

    @property
    def in_use(self) -> int:
        """How many pooled textures buffers use."""
        return sum(pool.in_use for pool in self._pools())

    @property
    def sizes(self) -> tuple[tuple[int, int, GpuBufferFormat], ...]:
        """The sizes and formats whose textures are kept."""
        with self._lock:
            return tuple(key[:3] for key, count in self._counts.items() if count.pool is not None)

    def close(self) -> None:
        """Delete all free textures, and each one in use when it comes back. May be called again.

        A closed pool still lends textures, and keeps none.
        """
        with self._lock:
            self._is_closed = True
            gone = self._evict(self._counts.keys())
        _close(gone)

    @contextmanager
    def used_by_default(self) -> Iterator[None]:
        """Return a `with` block in which new textures of this thread come from this pool.

        This applies to the textures of empty buffers that are drawn to, and of uploads. Blocks nest; the
        innermost counts.
        """
        before, _LOCAL.pool = _LOCAL.pool, self
        try:
            yield
        finally:
            _LOCAL.pool = before

    def serve(self, call: Callable[[], T]) -> T:
        """Call a function within `used_by_default`, and return what it returns."""
        before, _LOCAL.pool = _LOCAL.pool, self
        try:
            return call()
        finally:
            _LOCAL.pool = before

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():  # the contexts have ended, and this module has lost its names
            return
        _close([count.pool for count in getattr(self, "_counts", {}).values() if count.pool is not None])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.sizes)} sizes, {self.in_use} in use, {self.free} free>"

    def _pools(self) -> list[SizePool[X]]:
        with self._lock:
            return [count.pool for count in self._counts.values() if count.pool is not None]

    def _pool_of(self, key: _Key) -> SizePool[X] | None:
        """Count one request, and return the pool of that size, or None if it has none yet."""
        options = self.options
        with self._lock:
            if self._is_closed:
                return None
            count = self._counts.get(key)
            if count is None:
                count = self._counts[key] = _Count()
            count.requests += 1
            if count.pool is None and count.requests >= options.min_requests_before_pool:
                count.pool = SizePool(options.keep_count)
            found = count.pool
            gone = self._evict(self._too_many()) if len(self._counts) > options.max_pool_count else []
            self._requests += 1
            is_scrubbed = self._requests >= options.scrub_every
            if is_scrubbed:
                gone += self._scrub()
        if gone:
            _close(gone)
        if is_scrubbed:
            for pool in self._pools():
                pool.trim()
        return found if found is not None and found.is_open else None

    def _too_many(self) -> list[_Key]:
        """Return the sizes beyond the limit: those with the fewest requests, of these the newest."""
        by_use = sorted(self._counts, key=lambda key: -self._counts[key].requests)  # stable: the oldest first
        return by_use[self.options.max_pool_count :]

    def _scrub(self) -> list[SizePool[X]]:
        self._requests = 0
        for count in self._counts.values():
            count.requests //= 2
            if count.pool is not None:
                count.pool.begin_period()
        return self._evict([key for key, count in self._counts.items() if not count.requests])

    def _evict(self, keys: Any) -> list[SizePool[X]]:
        found = [self._counts.pop(key).pool for key in tuple(keys)]
        return [pool for pool in found if pool is not None]


def _close(pools: list[SizePool[Any]]) -> None:
    for pool in pools:
        pool.close()
