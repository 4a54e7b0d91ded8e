"""The texture that a calculator reads from or draws to during one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, overload

from penstock.errors import InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_gpu.buffers.buffer import GpuBuffer

if TYPE_CHECKING:
    from types import TracebackType

    from penstock_gpu.buffers.texture_storage import GlTextureView

F = TypeVar("F", GpuBuffer, ImageFrame)


class GlTexture:
    """A texture that a calculator reads from or draws to, during one call of `process`.

    Made by `GlCalculatorHelper`. Release it, or use it in a `with` block, in the context in which it was
    made; then other contexts may use it. Never keep one between calls: keep the buffer.
    """

    __slots__ = ("_view", "buffer", "height", "name", "shared", "target", "width")

    def __init__(self, buffer: GpuBuffer, view: GlTextureView) -> None:
        #: The buffer whose pixels it holds.
        self.buffer: Final = buffer
        self._view: GlTextureView | None = view
        #: The texture itself, which outlives this; not for calculators.
        self.shared: Final = view.texture
        #: The GL name.
        self.name: Final[int] = view.name
        #: GL_TEXTURE_2D.
        self.target: Final[int] = view.target
        #: `width`, `height`: in pixels.
        self.width: Final[int] = view.width
        self.height: Final[int] = view.height

    @overload
    def get_frame(self) -> GpuBuffer: ...
    @overload
    def get_frame(self, kind: type[F]) -> F: ...
    def get_frame(self, kind: type[Any] = GpuBuffer) -> Any:
        """Return the image, and release the texture: other contexts now see what was drawn.

        Args:
            kind: `GpuBuffer`, a reference without cost, or `ImageFrame`, which waits for the drawing and
                copies the pixels to main memory, once for each buffer.

        Raises:
            InvalidArgumentError: `kind` is neither, or the buffer's format has no ImageFrame.
        """
        if kind is GpuBuffer:
            self.release()
            return self.buffer
        if kind is ImageFrame:
            self.release()
            return self.buffer.frame()
        raise InvalidArgumentError(
            f"GlTexture.get_frame: {kind!r} is no kind of frame; use GpuBuffer or ImageFrame"
        )

    def release(self) -> None:
        """Release the texture. A second call does nothing. `helper.release` releases several at once."""
        view = self.take_view()
        if view is not None:
            view.release()

    def take_view(self) -> GlTextureView | None:
        """Return the view, which the caller then releases; None if it is released already."""
        view, self._view = self._view, None
        return view

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "" if self._view is not None else ", released"
        return f"<GlTexture {self.name}, {self.width}x{self.height}{state}>"
