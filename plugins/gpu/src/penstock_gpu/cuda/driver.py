"""The CUDA driver: its functions, looked up on first use, each call checked.

They come from NVIDIA's `cuda-bindings` (the extra `penstock-gpu[cuda]`), which loads `libcuda.so.1` when the
first of them is called. Only `load` imports `cuda-bindings`, and importing this module needs no GPU. The
values that a driver function returns beside its status are returned; every status except success is raised.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import PenstockError, StatusCode
from penstock_gpu.errors import CudaUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The module that has the driver's functions and types.
BINDINGS: Final = "cuda.bindings.driver"
#: More devices than a machine has, for `cuGLGetDevices`.
MANY_DEVICES: Final = 64
#: The handle of the legacy default stream, which waits for all ordinary streams.
LEGACY_STREAM: Final = 1


class CudaError(PenstockError):
    """A function of the CUDA driver failed."""

    default_code = StatusCode.INTERNAL

    def __init__(self, message: str, *, call: str = "", status: str = "", **fields: Any) -> None:
        super().__init__(message, **fields)
        #: Its name.
        self.call = call
        #: The driver's name of the error, such as "CUDA_ERROR_INVALID_VALUE".
        self.status = status


class CudaDriver:
    """Checked calls of the driver's functions."""

    def __init__(self, table: Any) -> None:
        #: The object with the functions and types: the module `cuda.bindings.driver`.
        self.table = table

    def call(self, name: str, *arguments: object) -> Any:
        """Call a function of the driver. Return its results without the status: None, a value or a tuple.

        Raises:
            CudaError: it failed; names the function, the driver's name of the error and its description.
        """
        status, *values = getattr(self.table, name)(*arguments)
        if int(status):
            said, text = self._words(status)
            raise CudaError(f"{name}: {said}: {text}", call=name, status=said)
        return values[0] if len(values) == 1 else tuple(values) or None

    def _words(self, status: Any) -> tuple[str, str]:
        """Return the driver's name of a status and its description, as far as the driver knows them."""
        failed, text = self.table.cuGetErrorString(status)
        name = getattr(status, "name", f"status {int(status)}")
        return name, "no description" if int(failed) or not text else _text(text)

    @contextmanager
    def current(self, context: Any) -> Iterator[None]:
        """Make a CUDA context current on this thread while the block runs."""
        self.call("cuCtxPushCurrent", context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent")

    def devices(self) -> list[str]:
        """Return the names of the devices, in CUDA's order."""
        count = self.call("cuDeviceGetCount")
        return [self.name(self.call("cuDeviceGet", ordinal)) for ordinal in range(count)]

    def name(self, device: Any) -> str:
        """Return the name of a device, like "NVIDIA H200"."""
        return _text(self.call("cuDeviceGetName", 256, device))

    def devices_of_gl(self) -> list[Any]:
        """Return the CUDA devices of the current OpenGL context; [] if it runs on no CUDA device."""
        try:
            count, devices = self.call(
                "cuGLGetDevices", MANY_DEVICES, self.table.CUGLDeviceList.CU_GL_DEVICE_LIST_ALL
            )
        except CudaError:  # no device, or a context of another driver: the status varies
            return []
        return list(devices[:count])


def _text(said: bytes | str) -> str:
    return said.split(b"\0")[0].decode(errors="replace") if isinstance(said, bytes) else said


_lock = threading.Lock()
_loaded: list[CudaDriver] = []


def load() -> CudaDriver:
    """Return the driver, initialized; the same one each time.

    Raises:
        CudaUnavailableError: `cuda-bindings` or the driver is not installed, or the driver does not start.
    """
    with _lock:
        if not _loaded:
            _loaded.append(_start())
        return _loaded[0]


def _start() -> CudaDriver:
    try:
        table = import_module(BINDINGS)
    except ImportError as error:
        raise CudaUnavailableError(
            f"{BINDINGS} cannot be imported: {error}", cure='pip install "penstock-gpu[cuda]"'
        ) from error
    driver = CudaDriver(table)
    try:
        driver.call("cuInit", 0)
    except (
        RuntimeError,
        OSError,
    ) as error:  # the bindings raise these without libcuda; a CudaError is a RuntimeError too
        if isinstance(error, CudaError):
            raise CudaUnavailableError(f"the CUDA driver does not start: {error}", cure=_cure()) from error
        raise CudaUnavailableError(
            "no CUDA driver: libcuda.so.1 not found",
            cure="install NVIDIA's driver; in a container, start it with the GPU "
            "(NVIDIA_DRIVER_CAPABILITIES=compute,utility,graphics)",
        ) from error
    return driver


def _cure() -> str:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return f"see what nvidia-smi says; CUDA_VISIBLE_DEVICES is {visible!r}"
    return "see what nvidia-smi says: the driver's libraries must be those of the kernel's driver"
