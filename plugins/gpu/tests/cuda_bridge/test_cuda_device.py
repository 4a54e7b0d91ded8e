"""The CUDA bridge on a real device: skipped where there is none, saying why.

With PENSTOCK_GPU_DEVICE=cuda:0, or another, nothing is skipped for want of a device: then it is to be there.
"""

from __future__ import annotations

import importlib
import os

import numpy as np
import pytest

from penstock_gpu.buffers.buffer import GpuBuffer
from penstock_gpu.buffers.texture_storage import GlTextureView
from penstock_gpu.contexts.context import GlContext
from penstock_gpu.cuda import CudaArray, of_cuda, why_no_cuda
from penstock_gpu.cuda.bridge import bridge_of
from penstock_gpu.errors import GpuUnavailableError
from penstock_gpu.formats import GpuBufferFormat

F = GpuBufferFormat
SHAPES = [
    ((720, 1280, 4), np.uint8),
    ((33, 65, 3), np.uint8),
    ((33, 65), np.float32),
    ((33, 65, 4), np.float16),
]
LIBRARIES = ["torch", "cupy"]


def absent(why):
    """Skip, or fail if the environment requires a CUDA device."""
    if os.environ.get("PENSTOCK_GPU_DEVICE", "").startswith("cuda"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="module")
def gl_context():
    try:
        context = GlContext.create(name="cuda device test", api="gl")
    except GpuUnavailableError as error:
        absent(f"no OpenGL: {error}")
    reason = why_no_cuda(context)
    if reason:
        context.close()
        absent(reason)
    yield context
    assert context.close()


@pytest.fixture(scope="module")
def bridge(gl_context):
    return gl_context.run(lambda: bridge_of(gl_context))


@pytest.fixture(params=LIBRARIES)
def library(request, gl_context, bridge):
    """A library of arrays on CUDA, as (to its array, to NumPy, from DLPack)."""
    module = pytest.importorskip(request.param)
    if request.param == "torch":
        device = f"cuda:{bridge.ordinal}"
        return (
            (lambda array: module.from_numpy(array).to(device)),
            (lambda array: array.cpu().numpy()),
            module,
        )
    module.cuda.Device(bridge.ordinal).use()
    return module.asarray, module.asnumpy, module


class Memory:
    """Memory of the driver itself, so that a machine without array libraries tests the bridge too."""

    def __init__(self, bridge, array):
        self.bridge, self.shape, self.typestr = bridge, array.shape, array.dtype.str
        with bridge.driver.current(bridge._primary):
            self.pointer = int(bridge.driver.call("cuMemAlloc", array.nbytes))
            bridge.driver.call("cuMemcpyHtoD", self.pointer, array.ctypes.data, array.nbytes)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.typestr, "data": (self.pointer, False), "version": 3}

    def free(self):
        with self.bridge.driver.current(self.bridge._primary):
            self.bridge.driver.call("cuMemFree", self.pointer)


def image(shape, dtype, seed=0):
    random = np.random.default_rng(seed)
    return (
        random.integers(0, 256, shape, np.uint8) if dtype == np.uint8 else random.random(shape).astype(dtype)
    )


def in_texture(context, array):
    def make():
        buffer = GpuBuffer.of_array(array)
        with buffer.write_view(GlTextureView):
            return buffer

    return context.run(make)


def test_the_context_runs_on_the_device_that_egl_names(gl_context, bridge):
    assert not gl_context.is_software
    if gl_context.device.cuda is not None and "CUDA_VISIBLE_DEVICES" not in os.environ:
        assert bridge.ordinal == gl_context.device.cuda


@pytest.mark.parametrize(("shape", "dtype"), SHAPES)
def test_memory_of_the_driver_goes_there_and_back(gl_context, bridge, shape, dtype):
    array = image(shape, dtype)
    memory = Memory(bridge, array)
    buffer = of_cuda(memory, context=gl_context)
    in_gl = gl_context.run(lambda: buffer.write_view(GlTextureView))
    in_gl.release()
    np.testing.assert_array_equal(buffer.array(), array)

    back = np.empty_like(array)
    with in_texture(gl_context, array).read_view(CudaArray) as view, bridge.driver.current(bridge._primary):
        bridge.driver.call("cuStreamSynchronize", bridge.stream)
        bridge.driver.call("cuMemcpyDtoH", back.ctypes.data, view.pointer, back.nbytes)

    np.testing.assert_array_equal(back, array)
    memory.free()


@pytest.mark.parametrize(("shape", "dtype"), SHAPES)
def test_a_texture_goes_to_the_library_without_main_memory(gl_context, library, shape, dtype):
    _, to_numpy, module = library
    array = image(shape, dtype)
    buffer = in_texture(gl_context, array)
    before = gl_context.readbacks

    with buffer.read_view(CudaArray) as view:
        theirs = module.from_dlpack(view)
    del buffer

    np.testing.assert_array_equal(to_numpy(theirs), array)
    assert gl_context.readbacks == before


@pytest.mark.parametrize(("shape", "dtype"), SHAPES)
def test_an_array_of_the_library_goes_to_a_texture_without_main_memory(gl_context, library, shape, dtype):
    to_theirs, _, _ = library
    array = image(shape, dtype)
    before = gl_context.uploads

    buffer = of_cuda(to_theirs(array), context=gl_context)
    gl_context.run(lambda: buffer.write_view(GlTextureView).release())

    assert gl_context.uploads == before
    np.testing.assert_array_equal(buffer.array(), array)


def test_a_hundred_frames_through_both_sides_are_right_and_register_few_buffers(gl_context, bridge, library):
    to_theirs, to_numpy, module = library
    before = bridge.registered

    for number in range(100):
        array = image((64, 96, 4), np.uint8, number)
        with in_texture(gl_context, array).read_view(CudaArray) as view:
            theirs = module.from_dlpack(view)
        turned = of_cuda(255 - theirs, context=gl_context)
        gl_context.run(lambda b=turned: b.write_view(GlTextureView).release())
        np.testing.assert_array_equal(turned.array(), 255 - array)
        del theirs

    assert bridge.registered <= before + 6
    assert to_numpy(to_theirs(array)).shape == array.shape


def test_an_array_that_is_not_contiguous_and_one_of_the_cpu_are_refused(gl_context, library):
    to_theirs, _, _ = library
    array = image((8, 12, 4), np.uint8)

    with pytest.raises(ValueError, match=r"use tensor\.contiguous\(\) or cupy\.ascontiguousarray"):
        of_cuda(to_theirs(array)[:, ::2], context=gl_context)
    torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    for host in [array, *([torch.from_numpy(array)] if torch else [])]:
        with pytest.raises(ValueError, match=r"use GpuBuffer\.of_array"):
            of_cuda(host, context=gl_context)


def test_non_blocking_streams_are_waited_for(gl_context, library):
    to_theirs, _, module = library
    if module.__name__ != "torch":
        pytest.skip("tested with torch, whose further streams are non-blocking")
    array = image((512, 512, 4), np.uint8)
    stream = module.cuda.Stream()
    for _ in range(20):
        with module.cuda.stream(stream):
            theirs = to_theirs(array)
            for _ in range(50):
                theirs = theirs + 1
            buffer = of_cuda(theirs, context=gl_context)
        gl_context.run(lambda b=buffer: b.write_view(GlTextureView).release())
        np.testing.assert_array_equal(buffer.array(), array + np.uint8(50))
