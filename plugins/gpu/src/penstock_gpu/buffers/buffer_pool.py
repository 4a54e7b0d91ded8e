"""The pool of GpuBuffers whose textures are used again."""

from __future__ import annotations

from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.buffers.gl_texture_object import GlTextureObject
from penstock_gpu.buffers.texture_pool import TexturePool, TexturePoolOptions
from penstock_gpu.buffers.texture_storage import TextureStorage
from penstock_gpu.contexts.current_context import current_share_group
from penstock_gpu.formats import GpuBufferFormat, checked_format


class GpuBufferPool(TexturePool[GlTextureObject]):
    """Makes buffers whose textures are used again. Thread-safe.

    A buffer keeps its texture alive, not this pool: textures that come back after the pool is gone or closed
    are deleted.

    Args:
        options: how much is kept.
    """

    def __init__(self, options: TexturePoolOptions = TexturePoolOptions()) -> None:  # noqa: B008  # it is frozen
        super().__init__(options, GlTextureObject.create, current_share_group)

    def get(
        self,
        width: int,
        height: int,
        format: GpuBufferFormat = GpuBufferFormat.BGRA32,  # noqa: A002  # the word that everyone expects
    ) -> GpuBuffer:
        """Return a buffer with a texture, new or reused; its content is undefined until it is drawn to.

        A context must be current. A context that writes to the buffer waits on the GPU until the texture's
        earlier readers are done.

        Raises:
            InvalidArgumentError: the size is not positive, or no texture has the format.
            FailedPreconditionError: no context is current; call it in `GlContext.run`.
            GlError: GL fails to make the texture.
        """
        return GpuBuffer.of_storage(TextureStorage(self.take(width, height, checked_format(format))))
