"""A pixel buffer that is lent to the CUDA side, and who uses it there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.cuda.bridge import CudaBridge, PixelBuffer


class CudaPixels:
    """A pixel buffer, mapped as long as anybody uses it on the CUDA side.

    When the last of them lets go, a job of the context's thread unmaps it; when nobody refers to this
    object any more, the buffer goes back to those that are free. Both can happen on any thread, and within a
    garbage collection, so that no lock is taken here: a set whose operations are atomic holds the users.
    The context lives until then, also when its resources are closed.

    Args:
        context: current on this thread.
        bridge: of that context.
        nbytes: of the pixels.

    Attributes:
        context, bridge: those.
        buffer: the pixel buffer; OpenGL must leave it alone while it is mapped.
        pointer: its address on the device while it is mapped.
    """

    def __init__(self, context: GlContext, bridge: CudaBridge, nbytes: int) -> None:
        self.context = context
        self.bridge = bridge
        self._users: set[Hold] = set()
        self._waits_for_all = False
        self.pointer = 0
        self.buffer: PixelBuffer = bridge.take(nbytes)
        context.hold()

    @property
    def is_used(self) -> bool:
        """Whether somebody uses the memory on the CUDA side."""
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
        """Note that work on a stream uses the memory; None: on streams unknown here. Any thread."""
        if stream is None or not self.bridge.is_ordinary(stream):
            self._waits_for_all = True

    def unmap(self) -> None:
        """Give the memory back to OpenGL unless somebody uses it. The context must be current."""
        if not self._users:  # nobody begins meanwhile: that needs this context, too
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
        """Put the buffer to the free ones."""
        buffer: PixelBuffer | None = getattr(self, "buffer", None)
        if buffer is not None:  # else it was never made
            bridge, everything = self.bridge, self._waits_for_all

            def give_back() -> None:
                bridge.unmap(buffer, everything=everything)
                bridge.give_back(buffer)

            _later(self.context, give_back)
            self.context.let_go()


class Hold:
    """One use of memory that is lent to the CUDA side: from when it is made until `end`.

    Args:
        pixels: whose memory; mapped already where the context is not current.
    """

    __slots__ = ("pixels",)

    def __init__(self, pixels: CudaPixels) -> None:
        self.pixels = pixels
        pixels.remember(self)

    def end(self) -> None:
        """Let go. Any thread; a second call does nothing that matters."""
        self.pixels.forget(self)


def _later(context: GlContext, job: Callable[[], None]) -> None:
    # Where the context has ended its bridge has, too: then the job finds nothing to do, wherever it runs.
    context.share_group.discard(job, context)
