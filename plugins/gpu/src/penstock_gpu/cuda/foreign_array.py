"""Arrays of other libraries on a CUDA device: their memory, and whether their rows can be copied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from penstock.errors import InvalidArgumentError
from penstock_gpu.cuda import dlpack
from penstock_gpu.cuda.driver import LEGACY_STREAM, CudaError

if TYPE_CHECKING:
    from penstock_gpu.cuda.bridge import CudaBridge

_LETTERS: Final = {dlpack.Kind.INT: "i", dlpack.Kind.UINT: "u", dlpack.Kind.FLOAT: "f"}
_ON_DEVICE: Final = frozenset({dlpack.Device.CUDA, dlpack.Device.CUDA_MANAGED})
_ON_HOST: Final = frozenset({dlpack.Device.CPU, dlpack.Device.CUDA_HOST})
#: Dimensions of an image with channels, and of one without.
_COLOUR: Final = 3
_GRAY: Final = 2


class CudaSource:
    """Rows of elements on a device; this object keeps the memory alive."""

    def __init__(
        self,
        owner: object,
        pointer: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: np.dtype[Any],
    ) -> None:
        self._owner = owner
        #: Address of the first row.
        self.pointer = pointer
        #: The dtype of the elements.
        self.dtype = dtype
        #: Bytes from one row to the next.
        self.pitch = _pitch(shape, strides, dtype)
        #: (H, W, channels), or (H, W); one channel has no dimension of its own.
        self.shape = shape[:2] if len(shape) == _COLOUR and shape[2] == 1 else shape

    @property
    def width_bytes(self) -> int:
        """Bytes of the elements of a row."""
        return int(np.prod(self.shape[1:])) * self.dtype.itemsize

    @classmethod
    def of(cls, array: object, bridge: CudaBridge) -> CudaSource:
        """Describe an array; later work on `bridge.stream` sees its content.

        Raises:
            InvalidArgumentError: it is not on the bridge's device, has gaps within a row or no shape of an
                image, or is no array that this pack accepts; says what to do.
        """
        if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            _expect_device(array, tuple(array.__dlpack_device__()), bridge)
            taken = dlpack.take(_capsule(array, int(bridge.stream)))
            tensor = taken.tensor
            try:
                dtype = _dtype(tensor)
                strides = tuple(step * dtype.itemsize for step in tensor.strides)
                return cls(taken, tensor.pointer, tensor.shape, strides, dtype)
            except BaseException:
                taken.close()
                raise
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return cls._of_interface(array, interface, bridge)
        if hasattr(array, "__array_interface__"):
            raise _on_the_cpu(array)
        raise InvalidArgumentError(
            f"{type(array).__name__} is no CUDA array, expected one with __dlpack__ or "
            "__cuda_array_interface__, such as a torch.Tensor or a cupy.ndarray"
        )

    @classmethod
    def _of_interface(cls, array: object, said: dict[str, Any], bridge: CudaBridge) -> CudaSource:
        if said.get("mask") is not None:
            raise InvalidArgumentError(
                f"foreign array {type(array).__name__} has a mask in its CUDA interface; fill in its "
                "elements before"
            )
        pointer, shape = int(said["data"][0]), tuple(said["shape"])
        try:
            ordinal = bridge.device_of(pointer)
        except CudaError as error:
            raise InvalidArgumentError(
                f"foreign array {type(array).__name__} names an address that CUDA does not know: {error}"
            ) from error
        _expect_device(array, (dlpack.Device.CUDA, ordinal), bridge)
        bridge.wait_for(said.get("stream") or LEGACY_STREAM)
        dtype = np.dtype(said["typestr"])
        strides = said.get("strides") or tuple(
            step * dtype.itemsize for step in dlpack.compact_strides(shape)
        )
        return cls(array, pointer, shape, tuple(strides), dtype)


def _capsule(array: Any, stream: int) -> object:
    try:
        return array.__dlpack__(stream=stream, max_version=dlpack.VERSION)
    except TypeError:  # its library is older than DLPack 1.0
        return array.__dlpack__(stream=stream)


def _expect_device(array: object, device: tuple[int, ...], bridge: CudaBridge) -> None:
    kind, ordinal = device
    if kind in _ON_HOST:
        raise _on_the_cpu(array)
    if kind not in _ON_DEVICE:
        raise InvalidArgumentError(
            f"foreign array {type(array).__name__} is on DLPack device type {kind}, "
            f"expected {int(dlpack.Device.CUDA)}, CUDA"
        )
    if kind == dlpack.Device.CUDA and ordinal != bridge.ordinal:
        raise InvalidArgumentError(
            f"foreign array {type(array).__name__} is on cuda:{ordinal}, "
            f"but the OpenGL context runs on cuda:{bridge.ordinal} "
            f'({bridge.device_name}); copy it there, or open the context on device="cuda:{ordinal}"'
        )


def _on_the_cpu(array: object) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"foreign array {type(array).__name__} is in main memory, expected on a CUDA device; use "
        "GpuBuffer.of_array"
    )


def _dtype(tensor: dlpack.Tensor) -> np.dtype[Any]:
    letter = _LETTERS.get(dlpack.Kind(tensor.kind)) if tensor.kind in _LETTERS else None
    if letter is None or tensor.bits % 8:
        raise InvalidArgumentError(
            f"the foreign array has elements of type {tensor.kind} with {tensor.bits} bits, "
            "expected uint8, float16 or float32; convert the array before"
        )
    return np.dtype(f"{letter}{tensor.bits // 8}")


def _pitch(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return the bytes from one row to the next."""
    if len(shape) not in (_GRAY, _COLOUR) or 0 in shape:
        raise InvalidArgumentError(
            f"the foreign array has shape {shape}, expected (H, W) or (H, W, channels) with at least one "
            "pixel; for (channels, H, W) use permute(1, 2, 0).contiguous() or the like"
        )
    row = int(np.prod(shape[1:])) * dtype.itemsize
    inner = tuple(step * dtype.itemsize for step in dlpack.compact_strides(shape))[1:]
    is_together = all(
        size == 1 or step == expected
        for size, step, expected in zip(shape[1:], strides[1:], inner, strict=True)
    )
    if not is_together or (shape[0] > 1 and strides[0] < row):
        raise InvalidArgumentError(
            f"the foreign array of shape {shape} has strides of {strides} bytes, expected {inner} behind the "
            "first; use tensor.contiguous() or cupy.ascontiguousarray"
        )
    return strides[0] if shape[0] > 1 else row
