"""One image, wherever its pixels are: a handle of an ImageFrame, or of an image on the GPU.

The invariant: the handle is not empty and does not change; the pixels are shared, never copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self, final

from penstock.errors import PacketTypeError
from penstock_formats.image_frame import ImageFrame

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from penstock_formats.image_format import ImageFormat


class GpuImage(Protocol):
    """What an image on the GPU has, for `Image` to hold it; penstock-gpu's GpuBuffer does."""

    @property
    def width(self) -> int:
        """Columns."""

    @property
    def height(self) -> int:
        """Rows."""

    @property
    def nbytes(self) -> int:
        """The size of the pixels in bytes."""

    @classmethod
    def of_frame(cls, frame: ImageFrame) -> Self:
        """Return such an image of a frame's pixels."""

    def frame(self) -> ImageFrame:
        """Return the pixels in main memory: a copy, made once."""

    def read_view(self, view: Any) -> Any:
        """Return the image as another library takes it."""


@final
class Image:
    """An image on the CPU or on the GPU, as newer calculators of the reference take it.

    The handle shares what it holds: no pixel is copied. Two images are equal when they are the same
    object. An image on the CPU pickles, as a copy.

    Args:
        held: an ImageFrame, or an image on the GPU such as penstock-gpu's GpuBuffer.

    Raises:
        PacketTypeError: it is neither.
    """

    __slots__ = ("__weakref__", "_held")

    def __init__(self, held: ImageFrame | GpuImage) -> None:
        if not isinstance(held, ImageFrame) and not hasattr(type(held), "read_view"):
            raise PacketTypeError(
                f"an Image holds an ImageFrame or an image on the GPU, not a {type(held).__name__!r}; "
                "make an ImageFrame of an array first"
            )
        self._held = held

    @property
    def held(self) -> ImageFrame | GpuImage:
        """What it was made of."""
        return self._held

    @property
    def uses_gpu(self) -> bool:
        """Whether the pixels are on the GPU."""
        return not isinstance(self._held, ImageFrame)

    @property
    def frame(self) -> ImageFrame:
        """The image in main memory; of an image on the GPU a copy, which the first call makes.

        Raises:
            PenstockError: the pixels cannot be copied from the GPU: what penstock-gpu raises.
        """
        return self._held if isinstance(self._held, ImageFrame) else self._held.frame()

    @property
    def width(self) -> int:
        """Columns."""
        return self._held.width

    @property
    def height(self) -> int:
        """Rows."""
        return self._held.height

    @property
    def format(self) -> ImageFormat:
        """What the pixels mean. Raises as `frame`."""
        return self.frame.format

    @property
    def array(self) -> NDArray[Any]:
        """The read-only pixels: (H, W, channels), or (H, W) for one channel. Raises as `frame`."""
        return self.frame.array

    @property
    def nbytes(self) -> int:
        """The size of the pixels in bytes, for the byte accounting of queues."""
        return self._held.nbytes

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001  # NumPy's protocol
        """Return the pixels as `ImageFrame` does. Raises as `frame`."""
        return self.frame.__array__(dtype, copy)

    def _repr_png_(self) -> bytes | None:
        """Return what a notebook shows, as `ImageFrame` does."""
        show = getattr(self._held, "_repr_png_", None)
        shown: bytes | None = show() if show is not None else None
        return shown

    def __reduce__(self) -> tuple[Any, ...]:
        return Image, (self._held,)

    def __repr__(self) -> str:
        held = getattr(self, "_held", None)
        if held is None:  # the constructor raised, and a traceback shows the object
            return "<Image unfinished>"
        return f"<Image of {held!r}>"
