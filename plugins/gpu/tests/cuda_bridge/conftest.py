"""A fake CUDA driver: the table of its functions, with OpenGL's own mapping as its memory.

It stands where `cuda.bindings.driver` does, at the lowest level that this pack calls: status first, then
values. An address "on the device" is what glMapBufferRange gives, so that what goes through it are real
pixels of a real OpenGL; OpenGL itself refuses to touch a buffer that is mapped. What the CUDA documentation
asks of its callers is checked: a CUDA context pushed, an OpenGL context current on the thread, no second
mapping, nothing unregistered that is mapped. Streams do their work at once; their order is in `log`.
"""

# ruff: noqa: N802  # the names are CUDA's

from __future__ import annotations

import ctypes
import enum
import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from penstock_gpu import gl
from penstock_gpu.cuda import bridge as cuda_bridge
from penstock_gpu.cuda import dlpack
from penstock_gpu.cuda.driver import CudaDriver


class Status(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_ALREADY_MAPPED = 208
    CUDA_ERROR_NOT_MAPPED = 211
    CUDA_ERROR_INVALID_GRAPHICS_CONTEXT = 219
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_NOT_READY = 600


OK = Status.CUDA_SUCCESS


class FakeCuda:
    """The table. `log` has every call that orders work: (name, arguments)."""

    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)
    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
    CUgraphicsRegisterFlags = SimpleNamespace(CU_GRAPHICS_REGISTER_FLAGS_NONE=0)
    CUGLDeviceList = SimpleNamespace(CU_GL_DEVICE_LIST_ALL=1)
    CUmemorytype = SimpleNamespace(CU_MEMORYTYPE_DEVICE=2)
    CUpointer_attribute = SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9)
    CUDA_MEMCPY2D = SimpleNamespace
    CUstream = int

    def __init__(self, devices=("Fake A", "Fake B"), of_gl=(1,)):
        self.names = devices
        self.of_gl = of_gl
        self.log = []
        self.pushed = []
        self.retained = 0
        self.live = set()
        self.registered = {}
        self.mapped = {}
        self.streams = {}
        self.busy_events = False
        self.refuse = {}
        self.on_other_devices = {}
        self._numbers = itertools.count(1000)

    # --- the driver and its devices ---

    def cuInit(self, flags):
        return (self._refusal("cuInit") or OK,)

    def cuGetErrorString(self, status):
        return OK, f"fake words for {int(status)}".encode()

    def cuDeviceGetCount(self):
        return OK, len(self.names)

    def cuDeviceGet(self, ordinal):
        return OK, ordinal

    def cuDeviceGetName(self, length, device):
        return OK, self.names[device].encode().ljust(length, b"\0")

    def cuGLGetDevices(self, most, which):
        if not self._in_gl():
            return Status.CUDA_ERROR_INVALID_GRAPHICS_CONTEXT, 0, None
        if not self.of_gl:
            return Status.CUDA_ERROR_NO_DEVICE, 0, None
        return OK, len(self.of_gl), [*self.of_gl, *[0] * (most - len(self.of_gl))]

    def cuPointerGetAttribute(self, what, pointer):
        return OK, self.on_other_devices.get(pointer, self.of_gl[0])

    # --- contexts ---

    def cuDevicePrimaryCtxRetain(self, device):
        self.retained += 1
        return OK, f"primary {device}"

    def cuDevicePrimaryCtxRelease(self, device):
        self.retained -= 1
        return (OK,)

    def cuCtxPushCurrent(self, context):
        self.pushed.append(context)
        return (OK,)

    def cuCtxPopCurrent(self):
        return OK, self.pushed.pop()

    def cuCtxSynchronize(self):
        return self._ordered("cuCtxSynchronize")

    # --- streams and events ---

    def cuStreamCreate(self, flags):
        return self._made("stream", flags)

    def cuStreamDestroy(self, stream):
        return self._ended(stream)

    def cuStreamGetFlags(self, stream):
        return OK, self.streams[stream]

    def cuEventCreate(self, flags):
        return self._made("event", flags)

    def cuEventDestroy(self, event):
        return self._ended(event)

    def cuEventRecord(self, event, stream):
        return self._ordered("cuEventRecord", event, stream)

    def cuStreamWaitEvent(self, stream, event, flags):
        return self._ordered("cuStreamWaitEvent", stream, event)

    def cuEventQuery(self, event):
        return (Status.CUDA_ERROR_NOT_READY if self.busy_events else OK,)

    # --- buffers of OpenGL ---

    def cuGraphicsGLRegisterBuffer(self, name, flags):
        if refused := self._refusal("cuGraphicsGLRegisterBuffer") or self._fault():
            return refused, None
        resource = next(self._numbers)
        self.registered[resource] = name
        self.log.append(("cuGraphicsGLRegisterBuffer", name))
        return OK, resource

    def cuGraphicsUnregisterResource(self, resource):
        if fault := self._fault():
            return (fault,)
        if resource in self.mapped:
            return (Status.CUDA_ERROR_ALREADY_MAPPED,)
        del self.registered[resource]
        self.log.append(("cuGraphicsUnregisterResource", resource))
        return (OK,)

    def cuGraphicsMapResources(self, count, resource, stream):
        if fault := self._refusal("cuGraphicsMapResources") or self._fault():
            return (fault,)
        if resource in self.mapped:
            return (Status.CUDA_ERROR_ALREADY_MAPPED,)
        assert count == 1
        self.mapped[resource] = self._address(self.registered[resource])
        return self._ordered("cuGraphicsMapResources", resource, stream)

    def cuGraphicsResourceGetMappedPointer(self, resource):
        if refused := self._refusal("cuGraphicsResourceGetMappedPointer"):
            return refused, None, None
        pointer, size = self.mapped[resource]
        return OK, pointer, size

    def cuGraphicsUnmapResources(self, count, resource, stream):
        if fault := self._fault():
            return (fault,)
        if resource not in self.mapped:
            return (Status.CUDA_ERROR_NOT_MAPPED,)
        del self.mapped[resource]
        gl.glBindBuffer(gl.GL_COPY_WRITE_BUFFER, self.registered[resource])
        gl.glUnmapBuffer(gl.GL_COPY_WRITE_BUFFER)
        gl.glBindBuffer(gl.GL_COPY_WRITE_BUFFER, 0)
        return self._ordered("cuGraphicsUnmapResources", resource, stream)

    # --- memory ---

    def cuMemcpyDtoDAsync(self, target, source, nbytes, stream):
        ctypes.memmove(target, source, nbytes)
        return self._ordered("cuMemcpyDtoDAsync", nbytes, stream)

    def cuMemcpy2DAsync(self, what, stream):
        assert (what.srcMemoryType, what.dstMemoryType) == (2, 2)
        for row in range(what.Height):
            ctypes.memmove(
                what.dstDevice + row * what.dstPitch, what.srcDevice + row * what.srcPitch, what.WidthInBytes
            )
        return self._ordered("cuMemcpy2DAsync", what.Height, stream)

    # --- how it is done ---

    def calls(self):
        """Return the names of the calls so far that order work, and forget them."""
        names = [name for name, *_ in self.log]
        self.log.clear()
        return names

    def _ordered(self, name, *arguments):
        if not self.pushed:
            return (Status.CUDA_ERROR_INVALID_CONTEXT,)
        self.log.append((name, *arguments))
        return (OK,)

    def _made(self, kind, flags):
        if not self.pushed:
            return Status.CUDA_ERROR_INVALID_CONTEXT, None
        made = next(self._numbers)
        self.live.add(made)
        if kind == "stream":
            self.streams[made] = flags
        return OK, made

    def _ended(self, made):
        if made not in self.live:
            return (Status.CUDA_ERROR_INVALID_HANDLE,)
        self.live.remove(made)
        return (OK,)

    def _fault(self):
        if not self.pushed:
            return Status.CUDA_ERROR_INVALID_CONTEXT
        return None if self._in_gl() else Status.CUDA_ERROR_INVALID_GRAPHICS_CONTEXT

    def _refusal(self, name):
        return self.refuse.get(name)

    def _in_gl(self):
        return bool(gl.get_string(gl.GL_VERSION))

    def _address(self, name):
        gl.glBindBuffer(gl.GL_COPY_WRITE_BUFFER, name)
        size = (ctypes.c_int64 * 1)()
        gl.glGetBufferParameteri64v(gl.GL_COPY_WRITE_BUFFER, gl.GL_BUFFER_SIZE, size)
        both = gl.GL_MAP_READ_BIT | gl.GL_MAP_WRITE_BIT
        pointer = gl.glMapBufferRange(gl.GL_COPY_WRITE_BUFFER, 0, size[0], both)
        gl.glBindBuffer(gl.GL_COPY_WRITE_BUFFER, 0)
        return pointer, size[0]


class OnDevice:
    """A NumPy array that claims to be on a CUDA device, in place of an array of torch or CuPy."""

    def __init__(self, array, ordinal=1, *, kind=dlpack.Device.CUDA, is_old=False):
        self.array = array
        self.device = (int(kind), ordinal)
        self.is_old = is_old
        self.asked = []
        self.released = 0

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, **others):
        if self.is_old and others:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        self.asked.append((stream, others))
        array = self.array
        kinds = {"u": 1, "f": 2, "i": 0, "c": 5}
        described = dlpack.Tensor(
            array.ctypes.data,
            array.shape,
            tuple(step // array.itemsize for step in array.strides),
            kinds[array.dtype.kind],
            8 * array.itemsize,
            self.device,
        )
        return dlpack.give(described, self._release, versioned="max_version" in others)

    def _release(self):
        self.released += 1


class OnDeviceByInterface:
    """The same by `__cuda_array_interface__`."""

    def __init__(self, array, **others):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "strides": None if array.flags.c_contiguous else array.strides,
            "version": 3,
            **others,
        }


class Taker:
    """Takes a CUDA view by DLPack as torch would; `array` is a NumPy array on the memory."""

    def __init__(self, view, *, stream=None, max_version=(1, 1)):
        capsule = view.__dlpack__(stream=stream, max_version=max_version)
        self.taken = dlpack.take(capsule)
        described = self.taken.tensor
        letters = {1: "u", 2: "f"}
        dtype = np.dtype(f"{letters[described.kind]}{described.bits // 8}")
        count = int(np.prod(described.shape)) * dtype.itemsize
        memory = (ctypes.c_uint8 * count).from_address(described.pointer)
        self.array = np.frombuffer(memory, dtype).reshape(described.shape)

    def free(self):
        self.array = None
        self.taken.close()


@pytest.fixture
def cuda(monkeypatch):
    """The fake driver in place of the real one."""
    table = FakeCuda()
    driver = CudaDriver(table)
    monkeypatch.setattr(cuda_bridge, "load", lambda: driver)
    return table


@pytest.fixture
def on_device():
    return OnDevice


@pytest.fixture
def by_interface():
    return OnDeviceByInterface


@pytest.fixture
def taker():
    return Taker
