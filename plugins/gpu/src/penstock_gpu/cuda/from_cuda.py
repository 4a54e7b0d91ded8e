"""`of_cuda`: a GpuBuffer with the pixels of an array on the CUDA device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.cuda.array import CudaArray
from penstock_gpu.cuda.bridge import bridge_of
from penstock_gpu.cuda.foreign_array import CudaSource
from penstock_gpu.cuda.storage import context_here
from penstock_gpu.formats import format_of_array

if TYPE_CHECKING:
    from penstock_gpu.contexts.context import GlContext


def of_cuda(array: object, format: int | None = None, *, context: GlContext | None = None) -> GpuBuffer:  # noqa: A002  # the word that everyone expects
    """Return a GpuBuffer with the pixels of an array on the CUDA device, by a copy there.

    The caller may change the array once that work is ordered after the copy, and may drop it at once: it is
    kept until the copy is done.

    Args:
        array: (H, W) or (H, W, channels), row 0 first, uint8, float16 or float32, with `__dlpack__` or
            `__cuda_array_interface__`: a torch.Tensor, a cupy.ndarray. The elements of a row are contiguous;
            there may be gaps between rows.
        format: what the pixels mean; None: the usual format of that shape and type, as for
            `GpuBuffer.of_array`.
        context: the OpenGL context, on the same device; None: the one that is current on this thread.

    Raises:
        CudaUnavailableError: CUDA cannot be used with this context.
        FailedPreconditionError: no context is current, and `context` is None.
        InvalidArgumentError: the array is not on this device, or fits no format; says what to do.
    """
    here = context or context_here("of_cuda")

    def make() -> GpuBuffer:
        source = CudaSource.of(array, bridge_of(here))
        like = np.broadcast_to(np.zeros((), source.dtype), source.shape)
        kind = format_of_array(like, format)
        height, width = source.shape[:2]
        buffer = GpuBuffer(width, height, kind)
        with buffer.write_view(CudaArray) as target:
            target.copy_from(source)
        return buffer

    return here.run(make)
