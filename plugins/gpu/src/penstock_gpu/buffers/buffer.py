"""GpuBuffer: one image, wherever it was last written, and in the form that the caller asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, final

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_formats import ImageFrame
from penstock_gpu.buffers import texture_copy, texture_storage  # noqa: F401  # they register storages and converters
from penstock_gpu.buffers.buffer_image import Image
from penstock_gpu.buffers.frame_storage import FrameStorage, PixelArray
from penstock_gpu.buffers.gl_texture_object import GlTextureObject
from penstock_gpu.buffers.storage import register_converter, register_storage
from penstock_gpu.buffers.texture_storage import TextureStorage
from penstock_gpu.contexts.current_context import current_context
from penstock_gpu.formats import GpuBufferFormat, checked_format, pixel_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from penstock_gpu.buffers.gl_texture_object import ConsumerSync
    from penstock_gpu.contexts.context import GlContext
    from penstock_gpu.contexts.external_context import ExternalContext
    from penstock_gpu.contexts.sync import GlSyncToken

__all__ = ["GpuBuffer", "register_converter", "register_storage"]

V = TypeVar("V")


@final
class GpuBuffer:
    """A handle of an image on the GPU or in main memory. Copies of a handle share the image.

    Nothing is allocated until a view is requested. A view to read makes the form that it needs from an
    existing one, once, and keeps both; a view to write keeps its own form and drops all others. So an image
    that stays on the GPU is never copied to main memory, and vice versa.

    `copy.copy` gives another handle of the same image. Two buffers are equal when they are handles of
    the same image. A buffer without a size is no image: it is false, and equal to all other such buffers. A
    buffer is pickled as a copy of its pixels. Any number of threads may read at once; a writer needs
    exclusive access.

    Args:
        width, height: pixels, at least 1 each, or both 0 for a buffer that is no image.
        format: what the pixels mean.

    Raises:
        InvalidArgumentError: only one of width and height is 0, one is negative, or the format does not
            exist.
    """

    __slots__ = ("__weakref__", "_image")

    #: It hands out its memory, and is nevertheless not taken for an array: see `penstock.adapters`.
    __penstock_payload__: ClassVar = True

    #: Named in errors of graphs that connect the two types.
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
            InvalidArgumentError: it is no frame, or has a format that no buffer has (GRAY16, SRGB48, SRGBA64,
                LAB8, SBGRA); says which formats work.
        """
        if not isinstance(frame, ImageFrame):
            raise InvalidArgumentError(
                f"a buffer's of_frame takes an ImageFrame, not {type(frame).__name__!r}; use of_array for "
                "arrays"
            )
        return cls.of_storage(FrameStorage.of_frame(frame))

    @classmethod
    def of_array(cls, array: ArrayLike, format: GpuBufferFormat | None = None, *, copy: bool = False) -> Self:  # noqa: A002  # as above
        """Return a buffer of an array's pixels.

        Args:
            array: (H, W), (H, W, 1) or (H, W, channels), at least 1 x 1, with the element type of `format`.
                Borrowed, not copied: the buffer keeps the memory alive and sees later writes, so the caller
                must stop writing. It may be read-only. Any strides are allowed; if the pixels of a row are
                not contiguous, each upload makes one more copy.
            format: what the pixels mean; None takes BGRA32 for (H, W, 4) uint8 (bytes are red, green, blue,
                alpha), RGB24, ONE_COMPONENT8, TWO_COMPONENT8, and for float32 and float16 the formats of
                one, two and four channels.
            copy: take a copy instead; the caller may continue to write.

        Raises:
            InvalidArgumentError: shape or element type fit no format, or not the given one. Nothing is kept.
        """
        return cls.of_storage(FrameStorage.of_array(np.asarray(array), format, copy=copy))

    @classmethod
    def of_texture(  # noqa: PLR0913  # the properties of a foreign texture
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
        """Return a buffer of a texture that the caller made and owns.

        Args:
            name: the texture's GL name. The texture is complete: mipmapped, or with a filter that needs no
                mipmaps.
            target: GL_TEXTURE_2D (0x0DE1), or another one that the shaders use.
            width: pixels.
            height: pixels.
            format: what they mean.
            release: called once when nothing uses the texture any more, on the thread that releases it last,
                maybe during a garbage collection: so it must call no GL and wait for nothing. It gets a
                `ConsumerSync`; before the owner draws to the texture again, or deletes it, it must call
                `wait` or `wait_on_gpu` of that. Errors of `release` are logged.
            context: the context that made the texture, None for the current one.
            sync: a fence after the owner's drawing; None if the drawing is complete.

        Raises:
            InvalidArgumentError: name, width or height is below 1, `release` is not callable, or the format
                does not exist.
            FailedPreconditionError: `context` is None, and no context is current.
        """
        kind = checked_format(format)
        if name < 1 or width < 1 or height < 1:
            raise InvalidArgumentError(
                f"a GpuBuffer cannot have texture {name} of {width}x{height}, which does not exist; give "
                "its name and its size"
            )
        if not callable(release):
            raise InvalidArgumentError(
                f"a GpuBuffer's release is {release!r}, expected a function to call when the texture is free "
                "again"
            )
        made_in = context if context is not None else current_context("a buffer of a texture")
        foreign = GlTextureObject(
            name, target, width, height, kind, made_in, release=release, done_writing=sync
        )
        return cls.of_storage(TextureStorage(foreign))

    @classmethod
    def of_storage(cls, storage: Any) -> Self:
        """Return a buffer of one storage, for packs with storages of their own.

        Args:
            storage: a `Storage` with `width`, `height` and `format`; the buffer owns it from now on.
        """
        made = cls()
        made._image = Image(storage.width, storage.height, storage.format, (storage,))  # of this class
        return made

    @property
    def width(self) -> int:
        """Columns; 0 if there is no image."""
        return 0 if self._image is None else self._image.width

    @property
    def height(self) -> int:
        """Rows; 0 if there is no image."""
        return 0 if self._image is None else self._image.height

    @property
    def format(self) -> GpuBufferFormat:
        """What the pixels mean; UNKNOWN if there is no image."""
        return GpuBufferFormat.UNKNOWN if self._image is None else self._image.format

    @property
    def nbytes(self) -> int:
        """How many bytes the pixels have in their format's layout, wherever they are now.

        0 if there is no image, or one with several planes. Graphs report with it the bytes in their queues.
        """
        return self.width * self.height * pixel_bytes(self.format)

    def __bool__(self) -> bool:
        return self._image is not None

    def read_view(self, view: type[V], **arguments: Any) -> V:
        """Return the image in the form of `view`, to read.

        Args:
            view: `ImageFrame`, or `numpy.ndarray` (read-only, (H, W) or (H, W, channels), of the format's
                element type), which are the same objects each time; or `GlTextureView`, which must be asked
                for where a context is current, and released; or a type that a further pack has registered.
            **arguments: of the view: `plane` of GlTextureView.

        Raises:
            FailedPreconditionError: the buffer is no image, or is empty, or is being written to, or no
                context is current where one is needed.
            InvalidArgumentError: no converter leads from the buffer's storages to this view; names both.
            GlError: GL refuses. The buffer is as before.
        """
        found: V = self._shown().read(view, arguments)
        return found

    def write_view(self, view: type[V], **arguments: Any) -> V:
        """Return the image in the form of `view`, to write. All other forms are dropped.

        A view of a written buffer begins with its pixels, which may cost a copy; of an empty buffer, a
        texture is undefined and an array is 0. Frames and arrays that were read before keep their pixels.

        Args:
            view: `GlTextureView`, in a context, to be released; or `numpy.ndarray`, C-contiguous, which may
                be written to until the buffer is read or forwarded; or a type that another pack has
                registered.
            **arguments: of the view: `plane` of GlTextureView.

        Raises:
            InvalidArgumentError: no converter leads to this view; or it is ImageFrame, which never changes.
            FailedPreconditionError: the buffer is no image, or the texture is in use, or no context is
                current where one is needed.
            GlError: GL refuses. The buffer is as before.
        """
        if view is ImageFrame:
            raise InvalidArgumentError(
                "a GpuBuffer has no view to write that is an ImageFrame, since that never changes; "
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
        """Return the names of the image's storages, in the order in which they were made."""
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

        It exports `array()`, so a texture is read back first. A consumer that asks for DLPack 1.0 gets a
        borrowed view that is flagged read-only. An older consumer cannot learn that it may not write, and
        gets a copy, where NumPy's own read-only arrays refuse. For memory of a GPU see `penstock_gpu.cuda`.

        Raises:
            BufferError: the consumer asks for another device, or forbids a copy where one is needed.
        """
        return PixelArray(self.array()).__dlpack__(**request)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of main memory: (kDLCPU, 0)."""
        return 1, 0

    def _repr_png_(self) -> bytes | None:
        """Return a PNG of at most 1024 pixels a side for notebooks; see `ImageFrame`.

        Never raises. Returns None, so that the notebook shows the plain repr, for a buffer that is empty, has
        no ImageFrame, or cannot be read back, and if neither OpenCV nor Pillow is installed.
        """
        try:
            return self.frame()._repr_png_()  # the notebook's protocol
        except Exception:  # noqa: BLE001  # showing a buffer must not fail
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
