"""Pixel buffers that are lent to the CUDA side, and their users there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.cuda.bridge import CudaBridge, PixelBuffer


class CudaPixels:
    """A pixel buffer, mapped as long as the CUDA side uses it.

    When the last use ends, a job in the context unmaps it; when nothing refers to this object any more, the
    buffer goes back to the free ones. Both can happen on any thread, and during a garbage collection, so this
    class takes no lock: a set, whose operations are atomic, holds the uses. The context lives until then,
    also when its resources are closed.

    Args:
        context: current on this thread.
        bridge: of that context.
        nbytes: size of the pixels.
    """

    def __init__(self, context: GlContext, bridge: CudaBridge, nbytes: int) -> None:
        #: `context`, `bridge`: as given.
        self.context = context
        self.bridge = bridge
        self._users: set[Hold] = set()
        self._waits_for_all = False
        #: Its address on the device while it is mapped.
        self.pointer = 0
        #: The pixel buffer; OpenGL must not use it while it is mapped.
        self.buffer: PixelBuffer = bridge.take(nbytes)
        context.hold()

    @property
    def is_used(self) -> bool:
        """Whether the CUDA side uses the memory."""
        return bool(self._users)

    def map(self) -> Hold:
        """Begin to use the memory. The context must be current."""
        hold = Hold(self)
        try:
            self.pointer = self.bridge.map(self.buffer)
        except BaseException:
            hold.end()
            raise
        return hold

    def note_stream(self, stream: int | None) -> None:
        """Record that work on a stream uses the memory; None: on unknown streams. Any thread."""
        if stream is None or not self.bridge.is_ordinary(stream):
            self._waits_for_all = True

    def unmap(self) -> None:
        """Give the memory back to OpenGL unless it is in use. The context must be current."""
        if not self._users:  # no use begins meanwhile, since `map` needs this context too
            everything, self._waits_for_all = self._waits_for_all, False
            self.bridge.unmap(self.buffer, everything=everything)

    def forget(self, hold: Hold) -> None:
        """End a use. Any thread; waits for nothing, raises nothing."""
        self._users.discard(hold)
        if not self._users:
            _later(self.context, self.unmap)

    def remember(self, hold: Hold) -> None:
        """Begin a use."""
        self._users.add(hold)

    def __del__(self) -> None:
        """Return the buffer to the free ones."""
        buffer: PixelBuffer | None = getattr(self, "buffer", None)
        if buffer is not None:  # else it was never made
            bridge, everything = self.bridge, self._waits_for_all

            def give_back() -> None:
                bridge.unmap(buffer, everything=everything)
                bridge.give_back(buffer)

            _later(self.context, give_back)
            self.context.let_go()


class Hold:
    """One use of memory by the CUDA side: from construction until `end`.

    Args:
        pixels: the memory; if the context is not current, it must be mapped already.
    """

    __slots__ = ("pixels",)

    def __init__(self, pixels: CudaPixels) -> None:
        self.pixels = pixels
        pixels.remember(self)

    def end(self) -> None:
        """End the use. Any thread; a second call has no effect."""
        self.pixels.forget(self)


def _later(context: GlContext, job: Callable[[], None]) -> None:
    # If the context has ended, so has its bridge: then the job has no effect in any context.
    context.share_group.discard(job, context)
