"""GpuBuffer: one image, wherever it was last written, and in whatever form somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, final

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_gpu.buffers import texture, texture_copy  # noqa: F401  # they register what they can do
from penstock_gpu.buffers.frame_storage import FrameStorage, PixelArray
from penstock_gpu.buffers.gl_texture import GlTextureObject
from penstock_gpu.buffers.image import Image
from penstock_gpu.buffers.storage import register_converter, register_storage
from penstock_gpu.buffers.texture import TextureStorage
from penstock_gpu.contexts.here import context_here
from penstock_gpu.formats import GpuBufferFormat, checked_format, pixel_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from penstock_gpu.buffers.gl_texture import ConsumerSync
    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.contexts.external_context import ExternalContext
    from penstock_gpu.contexts.sync import GlSyncToken

__all__ = ["GpuBuffer", "register_converter", "register_storage"]

V = TypeVar("V")


@final
class GpuBuffer:
    """An image on the GPU or in main memory: a handle, whose copies share one image.

    Nothing is allocated until somebody asks for a view. A view to read makes the form that it needs out of
    one that is there, once, and keeps both; a view to write keeps its own form and drops all others. So an
    image that stays on the GPU is never copied to main memory, and the other way round.

    `copy.copy` gives another handle of the same image. Two buffers are equal when they are handles of
    the same image. A buffer without a size is no image: it is false, and equal to all such. Buffers
    pickle, as a copy of their pixels. Any number of threads may read at once; whoever writes must be alone.

    Args:
        width, height: pixels, at least 1 each, or 0 both for a buffer that is no image.
        format: what the pixels mean.

    Raises:
        InvalidArgumentError: one of width and height is 0, or one is negative, or no such format exists.
    """

    __slots__ = ("__weakref__", "_image")

    #: For errors of graphs in which the two are connected.
    __penstock_conversions__: ClassVar = {
        ImageFrame: ("ImageFrameToGpuBufferCalculator", "GpuBufferToImageFrameCalculator")
    }

    def __init__(
        self,
        width: int = 0,
        height: int = 0,
        format: GpuBufferFormat = GpuBufferFormat.BGRA32,  # noqa: A002  # the word that everyone expects
    ) -> None:
        self._image: Image | None = None
        if width or height:
            if width < 1 or height < 1:
                raise InvalidArgumentError(
                    f"a GpuBuffer of {width}x{height} is no image; give width and height of at least 1"
                )
            self._image = Image(int(width), int(height), checked_format(format))

    @classmethod
    def of_frame(cls, frame: ImageFrame) -> Self:
        """Return a buffer of a frame's pixels. They are not copied; a frame never changes.

        Raises:
            InvalidArgumentError: it is no frame, or of a format that no buffer has (GRAY16, SRGB48, SRGBA64,
                LAB8, SBGRA); says which have one.
        """
        if not isinstance(frame, ImageFrame):
            raise InvalidArgumentError(
                f"of_frame takes an ImageFrame, not {type(frame).__name__!r}; use of_array for arrays"
            )
        return cls.of_storage(FrameStorage.of_frame(frame))

    @classmethod
    def of_array(cls, array: ArrayLike, format: GpuBufferFormat | None = None, *, copy: bool = False) -> Self:  # noqa: A002  # as above
        """Return a buffer of an array's pixels.

        Args:
            array: (H, W), (H, W, 1) or (H, W, channels), at least 1 x 1, with the element type of `format`.
                Borrowed, not copied: the buffer keeps the memory alive and sees what is written to it, so the
                maker stops writing. It may be read-only. Strides are free; where the pixels of a row do not
                lie together, each upload copies them once more.
            format: what the pixels mean; None takes BGRA32 for (H, W, 4) uint8 (bytes are red, green, blue,
                alpha), RGB24, ONE_COMPONENT8, TWO_COMPONENT8, and for float32 and float16 the formats of
                one, two and four channels.
            copy: take a copy instead; the maker may go on writing.

        Raises:
            InvalidArgumentError: shape or element type fit no format, or not the one that is named. Nothing
                is kept.
        """
        return cls.of_storage(FrameStorage.of_array(np.asarray(array), format, copy=copy))

    @classmethod
    def of_texture(  # noqa: PLR0913  # what a foreign texture is
        cls,
        name: int,
        target: int,
        width: int,
        height: int,
        format: GpuBufferFormat = GpuBufferFormat.BGRA32,  # noqa: A002  # as above
        *,
        release: Callable[[ConsumerSync], None],
        context: GlContext | ExternalContext | None = None,
        sync: GlSyncToken | None = None,
    ) -> Self:
        """Return a buffer of a texture that somebody else made and owns.

        Args:
            name: of the texture in GL. It is complete: mipmapped, or with a filter that needs no mipmaps.
            target: GL_TEXTURE_2D (0x0DE1); or another one, for shaders that know it.
            width: pixels.
            height: pixels.
            format: what they mean.
            release: called once when nothing uses the texture any more, on the thread that lets go last,
                maybe within a garbage collection: so do no GL there and wait for nothing. It gets a
                `ConsumerSync`; before the owner draws to the texture again, or deletes it, `wait` or
                `wait_on_gpu` of that has to be called. What it raises is logged.
            context: where the texture was made, None for the current one.
            sync: a fence behind what the owner drew to it; None: all is drawn already.

        Raises:
            InvalidArgumentError: name, width or height is below 1, `release` cannot be called, or no such
                format exists.
            FailedPreconditionError: `context` is None, and none is current.
        """
        kind = checked_format(format)
        if name < 1 or width < 1 or height < 1:
            raise InvalidArgumentError(
                f"texture {name} of {width}x{height} is none; give its name and its size"
            )
        if not callable(release):
            raise InvalidArgumentError(
                f"release is {release!r}, but is called when the texture is free again"
            )
        made_in = context if context is not None else context_here("a buffer of a texture")
        foreign = GlTextureObject(
            name, target, width, height, kind, made_in, release=release, done_writing=sync
        )
        return cls.of_storage(TextureStorage(foreign))

    @classmethod
    def of_storage(cls, storage: Any) -> Self:
        """Return a buffer of one storage, for packs that bring their own.

        Args:
            storage: a `Storage` with `width`, `height` and `format`, the buffer's own from now on.
        """
        made = cls()
        made._image = Image(storage.width, storage.height, storage.format, (storage,))  # of this class
        return made

    @property
    def width(self) -> int:
        """Columns; 0 where there is no image."""
        return 0 if self._image is None else self._image.width

    @property
    def height(self) -> int:
        """Rows; 0 where there is no image."""
        return 0 if self._image is None else self._image.height

    @property
    def format(self) -> GpuBufferFormat:
        """What the pixels mean; UNKNOWN where there is no image."""
        return GpuBufferFormat.UNKNOWN if self._image is None else self._image.format

    @property
    def nbytes(self) -> int:
        """How many bytes the pixels have in their format's own layout, wherever they lie now.

        0 where there is no image, or one of several planes. Graphs say with it how much waits in queues.
        """
        return self.width * self.height * pixel_bytes(self.format)

    def __bool__(self) -> bool:
        return self._image is not None

    def read_view(self, view: type[V], **arguments: Any) -> V:
        """Return the image in some form, to read.

        Args:
            view: `ImageFrame`, or `numpy.ndarray` (read-only, (H, W) or (H, W, channels), of the format's
                element type), which are the same objects each time; or `GlTextureView`, which must be asked
                for where a context is current, and released; or a type that a further pack has registered.
            **arguments: of the view: `plane` of GlTextureView.

        Raises:
            FailedPreconditionError: the buffer is no image, or is empty, or somebody writes to it, or no
                context is current where one is needed.
            InvalidArgumentError: there is no way to this view from what the buffer has; names both.
            GlError: GL refuses. The buffer is as before.
        """
        found: V = self._shown().read(view, arguments)
        return found

    def write_view(self, view: type[V], **arguments: Any) -> V:
        """Return the image in some form, to write. All other forms are dropped.

        Where there is an image, the view begins with it, which may cost a copy; a fresh texture shows
        anything, a fresh array 0. What somebody read before, frames and arrays, keeps what it showed.

        Args:
            view: `GlTextureView`, in a context, to be released; or `numpy.ndarray`, C-contiguous, which is
                written to until the buffer is read or given on; or a type that a further pack has registered.
            **arguments: of the view: `plane` of GlTextureView.

        Raises:
            InvalidArgumentError: there is no way to this view; or it is ImageFrame, which never changes.
            FailedPreconditionError: the buffer is no image, or somebody else uses the texture, or no
                context is current where one is needed.
            GlError: GL refuses. The buffer is as before.
        """
        if view is ImageFrame:
            raise InvalidArgumentError(
                "an ImageFrame never changes, so that it is no view to write; "
                "ask for write_view(numpy.ndarray), or make another buffer with GpuBuffer.of_frame"
            )
        found: V = self._shown().write(view, arguments)
        return found

    def frame(self) -> ImageFrame:
        """Return the image as an ImageFrame: `read_view(ImageFrame)`."""
        return self.read_view(ImageFrame)

    def array(self) -> NDArray[Any]:
        """Return the image as a read-only array: `read_view(numpy.ndarray)`."""
        return self.read_view(np.ndarray)

    def storages(self) -> tuple[str, ...]:
        """Return the names of the storages that the image has now, in the order in which they came."""
        return () if self._image is None else tuple(type(each).__name__ for each in self._image.storages)

    def __copy__(self) -> Self:
        made = type(self)()
        made._image = self._image  # noqa: SLF001  # of this class
        return made

    def __eq__(self, other: object) -> bool:
        return self._image is other._image if isinstance(other, GpuBuffer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._image)

    def __reduce__(self) -> tuple[Any, ...]:
        if not self.storages():
            return GpuBuffer, (self.width, self.height, self.format)
        return _rebuild, (np.ascontiguousarray(self.array()), int(self.format))

    def __dlpack__(self, **request: Any) -> object:
        """Export the pixels in main memory to another library; see `ArrayPayload.__dlpack__`.

        That is `array()`, so that a texture is read back first. A consumer that asks for DLPack 1.0 gets a
        borrowed view that is flagged read-only. An older one cannot learn that it may not write, and gets a
        fresh copy, where NumPy's own read-only arrays refuse. For memory of a GPU see `penstock_gpu.cuda`.

        Raises:
            BufferError: another device is asked for, or no copy where one is needed.
        """
        return PixelArray(self.array()).__dlpack__(**request)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of main memory: (kDLCPU, 0)."""
        return 1, 0

    def _repr_png_(self) -> bytes | None:
        """Return what a notebook shows, a PNG of at most 1024 pixels a side; see `ImageFrame`.

        Never raises. None, and with it the plain repr, for a buffer that is empty or has no ImageFrame, or
        cannot be read back, and where neither OpenCV nor Pillow is installed.
        """
        try:
            return self.frame()._repr_png_()  # the notebook's protocol
        except Exception:  # noqa: BLE001  # where it is shown is no place to fail
            return None

    def __repr__(self) -> str:
        image = getattr(self, "_image", None)
        if image is None:
            return "<GpuBuffer without an image>"
        where = ", ".join(self.storages()) or "empty"
        return f"<GpuBuffer {image.format.name} {image.width}x{image.height} ({where})>"

    def _shown(self) -> Image:
        if self._image is None:
            raise FailedPreconditionError(
                "this GpuBuffer is no image, it has no size; make it with a width and a height"
            )
        return self._image


def _rebuild(array: NDArray[Any], kind: int) -> GpuBuffer:
    return GpuBuffer.of_array(array, GpuBufferFormat(kind))
