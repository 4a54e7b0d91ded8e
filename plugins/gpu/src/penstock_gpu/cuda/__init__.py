"""GpuBuffers in CUDA: `buffer.read_view(CudaArray)` for CuPy and PyTorch, and back by `of_cuda(tensor)`.

    from penstock_gpu.cuda import CudaArray, of_cuda

    with buffer.read_view(CudaArray) as pixels:
        tensor = torch.from_dlpack(pixels)    # shares the memory, and holds it as long as it lives
    edges = of_cuda(tensor)                   # a GpuBuffer again

Pixels never pass through main memory: between a texture and CUDA there is one copy on the device, into or
out of a pixel buffer object that CUDA has registered. Importing this package registers the view with
GpuBuffers. It needs the extra `penstock-gpu[cuda]`, NVIDIA's driver, and an OpenGL context (desktop GL) on a
CUDA device; if one of these is missing, a request for the view raises `CudaUnavailableError`, which says what
is missing.

Work of OpenGL and CUDA is ordered on the device; the host does not wait. Views are made in the current OpenGL
context, or else in the one that holds the pixels.
"""

from penstock_gpu.cuda.array import CudaArray
from penstock_gpu.cuda.bridge import why_no_cuda
from penstock_gpu.cuda.driver import CudaError
from penstock_gpu.cuda.from_cuda import of_cuda
from penstock_gpu.cuda.storage import CudaStorage
from penstock_gpu.errors import CudaUnavailableError

__all__ = ["CudaArray", "CudaError", "CudaStorage", "CudaUnavailableError", "of_cuda", "why_no_cuda"]
