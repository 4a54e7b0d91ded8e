"""The connection of an OpenGL context to its CUDA device: pixel buffers that both sides can address.

CUDA cannot address a texture, but it can address a buffer object. So pixels go through a pixel buffer object
on the device: OpenGL copies between texture and buffer, and CUDA gets the buffer's address while it is
mapped. Each buffer is registered with CUDA once, when it is made, and kept for the next frame of its size.
Mapping and unmapping order the work of the two sides on the device; the host does not wait.

Every function needs the OpenGL context current on the calling thread, where CUDA looks for it, unless its
docstring says "any thread".

Sources: CUDA driver API, sections Graphics Interoperability and OpenGL Interoperability; CUDA C++
programming guide, OpenGL interoperability ("the OpenGL context ... has to be current to the host thread").
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PenstockError
from penstock.log import get_logger
from penstock_gpu import gl
from penstock_gpu.cuda.driver import LEGACY_STREAM, CudaDriver, load
from penstock_gpu.errors import CudaUnavailableError

if TYPE_CHECKING:
    from penstock_gpu.contexts.context import GlContext

_log: Final = get_logger("gpu")

#: How many free buffers are kept, of all sizes together. A frame that CUDA reads while the next is drawn
#: needs two, and two more for the way back.
KEPT: Final = 8


class PixelBuffer:
    """A pixel buffer object that is registered with CUDA."""

    __slots__ = ("name", "nbytes", "pointer", "resource")

    def __init__(self, name: int, nbytes: int, resource: Any) -> None:
        #: The buffer object's OpenGL name.
        self.name = name
        #: Its size.
        self.nbytes = nbytes
        #: CUDA's handle of it.
        self.resource = resource
        #: Its address on the device while it is mapped, else None.
        self.pointer: int | None = None


class CudaBridge:
    """The CUDA resources of one OpenGL context. Made by `bridge_of`, closed with the context."""

    def __init__(self, context: GlContext, driver: CudaDriver) -> None:
        table = driver.table
        #: The CUDA driver.
        self.driver = driver
        #: How many pixel buffers have been registered so far.
        self.registered = 0
        device = _device_of(context, driver)
        #: The device's number, as CUDA and its libraries count in this process.
        self.ordinal = int(device)
        #: Like "NVIDIA H200".
        self.device_name = driver.name(device)
        self._device = device
        self._free: list[PixelBuffer] = []
        self._out: set[PixelBuffer] = set()
        self._sources: deque[tuple[Any, object]] = deque()
        self._primary = driver.call("cuDevicePrimaryCtxRetain", device)
        try:
            with driver.current(self._primary):
                #: The stream on which buffers are mapped; it is non-blocking.
                self.stream = driver.call("cuStreamCreate", table.CUstream_flags.CU_STREAM_NON_BLOCKING)
                self._event = self._new_event()
        except BaseException:
            driver.call("cuDevicePrimaryCtxRelease", device)
            raise

    # --- pixel buffers ---------------------------------------------------------------------------------

    def take(self, nbytes: int) -> PixelBuffer:
        """Return a buffer of that size, not mapped; its content is undefined.

        Raises:
            CudaError: CUDA refuses it, for example since it belongs to another device.
        """
        for index in range(len(self._free) - 1, -1, -1):
            if self._free[index].nbytes == nbytes:
                pixels = self._free.pop(index)
                break
        else:
            pixels = self._register(nbytes)
        self._out.add(pixels)
        return pixels

    def give_back(self, pixels: PixelBuffer) -> None:
        """Unmap a buffer and keep it for reuse; the oldest free ones beyond `KEPT` are deleted."""
        if pixels not in self._out:  # the context has ended meanwhile, and `close` has deleted all buffers
            return
        self.unmap(pixels)
        self._out.discard(pixels)
        self._free.append(pixels)
        while len(self._free) > KEPT:
            self._end(self._free.pop(0))

    def map(self, pixels: PixelBuffer) -> int:
        """Return the buffer's address on the device; OpenGL must not use the buffer until `unmap`.

        OpenGL's earlier commands on the buffer are done before later work on `stream`.
        """
        if pixels.pointer is None:
            call, resource = self.driver.call, pixels.resource
            with self.driver.current(self._primary):
                call("cuGraphicsMapResources", 1, resource, self.stream)
                try:
                    pointer, _size = call("cuGraphicsResourceGetMappedPointer", resource)
                except BaseException:
                    call("cuGraphicsUnmapResources", 1, resource, self.stream)
                    raise
            pixels.pointer = int(pointer)
        return pixels.pointer

    def unmap(self, pixels: PixelBuffer, *, everything: bool = False) -> None:
        """Give the buffer back to OpenGL, whose next work on it begins when CUDA's is done.

        Args:
            pixels: the buffer; nothing happens if it is not mapped.
            everything: block until the device has done all its work; needed for work on non-blocking streams.
                Otherwise OpenGL waits, on the device, for `stream` and for all ordinary streams: the default
                ones, and those that were not made non-blocking.
        """
        if pixels.pointer is None:
            return
        call = self.driver.call
        with self.driver.current(self._primary):
            if everything:
                call("cuCtxSynchronize")
            else:
                legacy = self.driver.table.CUstream(LEGACY_STREAM)
                call("cuEventRecord", self._event, legacy)
                call("cuStreamWaitEvent", self.stream, self._event, 0)
            call("cuGraphicsUnmapResources", 1, pixels.resource, self.stream)
        pixels.pointer = None

    def copy(self, target: PixelBuffer, source: PixelBuffer) -> None:
        """Copy on the device between two mapped buffers of one size."""
        with self.driver.current(self._primary):
            self.driver.call("cuMemcpyDtoDAsync", target.pointer, source.pointer, source.nbytes, self.stream)

    def _register(self, nbytes: int) -> PixelBuffer:
        name = gl.make("Buffer")
        flags = int(self.driver.table.CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_NONE)
        try:
            gl.glBindBuffer(gl.GL_PIXEL_PACK_BUFFER, name)
            try:
                gl.glBufferData(gl.GL_PIXEL_PACK_BUFFER, nbytes, None, gl.GL_DYNAMIC_COPY)
            finally:
                gl.glBindBuffer(gl.GL_PIXEL_PACK_BUFFER, 0)
            with self.driver.current(self._primary):
                resource = self.driver.call("cuGraphicsGLRegisterBuffer", name, flags)
        except BaseException:
            gl.delete("Buffer", name)
            raise
        self.registered += 1
        return PixelBuffer(name, nbytes, resource)

    def _end(self, pixels: PixelBuffer) -> None:
        with self.driver.current(self._primary):
            self.driver.call("cuGraphicsUnregisterResource", pixels.resource)
        gl.delete("Buffer", pixels.name)

    # --- the order of work -----------------------------------------------------------------------------

    def let_wait(self, stream: int) -> None:
        """Make a stream's next work wait for the work of OpenGL and `self.stream` so far. Any thread."""
        call = self.driver.call
        with self.driver.current(self._primary):
            call("cuEventRecord", self._event, self.stream)
            call("cuStreamWaitEvent", self.driver.table.CUstream(stream), self._event, 0)

    def wait_for(self, stream: int) -> None:
        """Make the next work on `self.stream` wait for the work of another stream so far. Any thread."""
        call = self.driver.call
        with self.driver.current(self._primary):
            call("cuEventRecord", self._event, self.driver.table.CUstream(stream))
            call("cuStreamWaitEvent", self.stream, self._event, 0)

    def device_of(self, pointer: int) -> int:
        """Return the ordinal of the device that an address belongs to. Any thread.

        Raises:
            CudaError: CUDA does not know the address.
        """
        what = self.driver.table.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        with self.driver.current(self._primary):
            return int(self.driver.call("cuPointerGetAttribute", what, pointer))

    def is_ordinary(self, stream: int) -> bool:
        """Return whether the legacy stream waits for a stream's work. Any thread."""
        if stream in {LEGACY_STREAM, 2}:  # the legacy default stream, and a thread's own default stream
            return True
        table = self.driver.table
        with self.driver.current(self._primary):
            flags = self.driver.call("cuStreamGetFlags", table.CUstream(stream))
        return not int(flags) & int(table.CUstream_flags.CU_STREAM_NON_BLOCKING)

    def copy_in(  # noqa: PLR0913  # the parameters of a copy of rows
        self, pointer: int, *, source: int, width_bytes: int, rows: int, pitch: int, owner: object
    ) -> None:
        """Copy rows on the device into a mapped buffer, in the order of `stream`. Any thread.

        Args:
            pointer: the target address; rows without gaps.
            source: address of the first row, on this device.
            width_bytes: of a row.
            rows: their number.
            pitch: bytes from one source row to the next.
            owner: the source array, kept until the copy is done.
        """
        table, call = self.driver.table, self.driver.call
        with self.driver.current(self._primary):
            self._forget_done()
            event = self._new_event()
            self._sources.append((event, owner))
            if pitch == width_bytes:
                call("cuMemcpyDtoDAsync", pointer, source, width_bytes * rows, self.stream)
            else:
                what = table.CUDA_MEMCPY2D()
                what.srcMemoryType = what.dstMemoryType = table.CUmemorytype.CU_MEMORYTYPE_DEVICE
                what.srcDevice, what.srcPitch = source, pitch
                what.dstDevice, what.dstPitch = pointer, width_bytes
                what.WidthInBytes, what.Height = width_bytes, rows
                call("cuMemcpy2DAsync", what, self.stream)
            call("cuEventRecord", event, self.stream)

    def _new_event(self) -> Any:
        return self.driver.call("cuEventCreate", self.driver.table.CUevent_flags.CU_EVENT_DISABLE_TIMING)

    def _forget_done(self) -> None:
        """Release the source arrays whose copies are done."""
        while self._sources:
            status, *_ = self.driver.table.cuEventQuery(self._sources[0][0])
            if int(status):  # not ready yet; the next call raises an error
                return
            event, owner = self._sources.popleft()
            self.driver.call("cuEventDestroy", event)
            del owner

    # --- the end ---------------------------------------------------------------------------------------

    def close(self) -> int:
        """Unregister and delete everything. Return how many buffers were in use; they are deleted too."""
        held = len(self._out)
        with self.driver.current(self._primary):
            self.driver.call("cuCtxSynchronize")
            for pixels in self._out:
                if pixels.pointer is not None:
                    self.driver.call("cuGraphicsUnmapResources", 1, pixels.resource, self.stream)
                    pixels.pointer = None
            for pixels in [*self._out, *self._free]:
                self._end(pixels)
            self._out.clear()
            self._free.clear()
            while self._sources:
                self.driver.call("cuEventDestroy", self._sources.popleft()[0])
            self.driver.call("cuEventDestroy", self._event)
            self.driver.call("cuStreamDestroy", self.stream)
        self.driver.call("cuDevicePrimaryCtxRelease", self._device)
        return held


def bridge_of(context: GlContext) -> CudaBridge:
    """Return the bridge of an OpenGL context, which must be current; made on the first call.

    Raises:
        CudaUnavailableError: CUDA is not available, or not on the device of this context; names both.
    """
    bridge: CudaBridge = context.attachment(CudaBridge, lambda: CudaBridge(context, load()), _end)
    return bridge


def checked_bridge(context: GlContext) -> CudaBridge:
    """Return the bridge of an OpenGL context, as `bridge_of`.

    Raises:
        CudaUnavailableError: also where the context speaks OpenGL ES.
    """
    if context.api != "gl":
        raise CudaUnavailableError(
            f"context {context.name!r} speaks {context.api}, but the bridge to CUDA needs desktop GL",
            cure='make it with api="gl"',
        )
    return bridge_of(context)


def why_no_cuda(context: GlContext) -> str:
    """Return why CUDA cannot be used with an OpenGL context, or "" if it can."""
    try:
        context.run(lambda: checked_bridge(context))
    except PenstockError as error:
        return str(error)
    return ""


def _end(bridge: CudaBridge) -> None:
    held = bridge.close()
    if held:
        _log.warning(
            "%d CUDA arrays were still held when their OpenGL context ended: their memory is gone; "
            "release them before, or copy them",
            held,
        )


def _device_of(context: GlContext, driver: CudaDriver) -> Any:
    """Return the CUDA device that an OpenGL context runs on; the context is current."""
    found = driver.devices_of_gl()
    if found:
        return found[0]
    there = ", ".join(f"cuda:{number} {name!r}" for number, name in enumerate(driver.devices()))
    kind = "software" if context.is_software else "another device"
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    hidden = "" if visible is None else f", of which CUDA_VISIBLE_DEVICES={visible!r} hides others"
    raise CudaUnavailableError(
        f"no bridge to CUDA: the OpenGL context runs on {context.renderer!r} ({kind}), expected one of "
        f"CUDA's devices: {there or 'none'}{hidden}",
        cure='choose it with device="cuda:0" or PENSTOCK_GPU_DEVICE=cuda:0',
    )
