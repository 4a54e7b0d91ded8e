"""DLPack by ctypes, export and import: memory that a capsule describes is shared without a copy.

The layouts and rules are those of DLPack 1.x (dmlc/dlpack, `include/dlpack/dlpack.h`, and the Python
specification beside it). A capsule holds a tensor's address, shape, strides, type and device, and a deleter
that the consumer calls once, from any thread, when it does not need the memory any more. The memory may be on
any device: this module does not access it.

The standard library only.
"""

from __future__ import annotations

import ctypes
import itertools
from ctypes import (
    POINTER,
    PYFUNCTYPE,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
    pythonapi,
)
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

#: The version of exported capsules that have one.
VERSION: Final = (1, 0)
READ_ONLY: Final = 1
#: Names of a capsule before and after it is consumed; the names of capsules with a version second.
FRESH: Final = (b"dltensor", b"dltensor_versioned")
USED: Final = (b"used_dltensor", b"used_dltensor_versioned")


class Device(IntEnum):
    """Types of devices that occur here (`DLDeviceType`)."""

    CPU = 1
    CUDA = 2
    CUDA_HOST = 3
    CUDA_MANAGED = 13


class Kind(IntEnum):
    """Kinds of number (`DLDataTypeCode`)."""

    INT = 0
    UINT = 1
    FLOAT = 2


@dataclass(frozen=True)
class Tensor:
    """A description of memory."""

    #: Address of the first element on the device.
    pointer: int
    #: Elements in each dimension.
    shape: tuple[int, ...]
    #: In elements, one for each dimension.
    strides: tuple[int, ...]
    #: The kind of number, a `Kind` or another code of DLPack.
    kind: int
    #: The bits of one number.
    bits: int
    #: Kind of device, and its index.
    device: tuple[int, int]
    #: Whether a consumer must not write there; only a capsule with a version says so.
    is_read_only: bool = False


def compact_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of an array in row-major order without gaps."""
    return tuple(itertools.accumulate(reversed(shape[1:]), int.__mul__, initial=1))[::-1] if shape else ()


# --- the structures of dlpack.h ------------------------------------------------------------------------


class _Device(Structure):
    _fields_ = (("device_type", c_int32), ("device_id", c_int32))


class _DataType(Structure):
    _fields_ = (("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16))


class _Tensor(Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device", _Device),
        ("ndim", c_int32),
        ("dtype", _DataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


#: Called with the address of the managed tensor. A PYFUNCTYPE would need a caller that holds the
#: interpreter's lock; this type acquires the lock if necessary.
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(Structure):
    _fields_ = (("tensor", _Tensor), ("manager", c_void_p), ("deleter", _Deleter))


class _Versioned(Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("manager", c_void_p),
        ("deleter", _Deleter),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


# Own prototypes: the functions of `ctypes.pythonapi` are shared with all code that sets their argument types.
_Destructor = PYFUNCTYPE(None, c_void_p)
_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, _Destructor)(("PyCapsule_New", pythonapi))
_is_named = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", pythonapi))
_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_rename = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_SetName", pythonapi))
# A capsule that is being freed has no references left, so it comes as an address.
_is_named_dying = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", pythonapi))
_pointer_dying = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))

# --- giving --------------------------------------------------------------------------------------------

#: Kept until the deleter of an exported tensor is called: address of the structure → structures, release.
_given: dict[int, tuple[object, Callable[[], None]]] = {}


def exported() -> int:
    """Return how many exported tensors consumers still hold: for tests and diagnosis."""
    return len(_given)


@_Deleter  # type: ignore[untyped-decorator]  # ctypes
def _on_delete(address: int | None) -> None:
    held = _given.pop(address or 0, None)
    if held is not None:
        held[1]()


@_Destructor  # type: ignore[untyped-decorator]  # ctypes
def _on_capsule_end(capsule: int) -> None:
    for name in FRESH:  # a consumed capsule has another name, and its consumer calls the deleter
        if _is_named_dying(capsule, name):
            _on_delete(_pointer_dying(capsule, name))


def give(tensor: Tensor, release: Callable[[], None], *, versioned: bool = False) -> Any:
    """Return a capsule of a tensor.

    Args:
        tensor: the description of the memory, which must stay until `release` is called.
        release: called exactly once, from any thread: by the consumer, or at the end of a capsule that was
            not consumed. It must neither raise nor wait.
        versioned: whether to make a capsule of DLPack 1.0, the only one that can mark memory as read-only.
    """
    rank = len(tensor.shape)
    sizes = (c_int64 * rank)(*tensor.shape)
    steps = (c_int64 * rank)(*tensor.strides)
    described = _Tensor(
        data=tensor.pointer,
        device=_Device(*tensor.device),
        ndim=rank,
        dtype=_DataType(tensor.kind, tensor.bits, 1),
        shape=sizes,
        strides=steps,
        byte_offset=0,
    )
    managed: _Managed | _Versioned
    if versioned:
        flags = READ_ONLY if tensor.is_read_only else 0
        managed = _Versioned(*VERSION, None, _on_delete, flags, described)
    else:
        managed = _Managed(described, None, _on_delete)
    address = ctypes.addressof(managed)
    _given[address] = ((managed, sizes, steps), release)
    return _new(address, FRESH[versioned], _on_capsule_end)


# --- taking --------------------------------------------------------------------------------------------


class Taken:
    """A tensor that was taken from a capsule; `close` gives it back."""

    def __init__(self, tensor: Tensor, delete: Callable[[], None]) -> None:
        #: The description of the memory.
        self.tensor = tensor
        self._delete: Callable[[], None] | None = delete

    def close(self) -> None:
        """Release the producer's memory. A second call does nothing."""
        delete, self._delete = self._delete, None
        if delete is not None:
            delete()

    def __del__(self) -> None:
        """Give the tensor back, if `close` was not called."""
        self.close()


def take(capsule: object) -> Taken:
    """Consume a capsule: from now on the caller owns its tensor, until `Taken.close`.

    Raises:
        ValueError: it is no capsule of a tensor, has been consumed already, has an unknown version, or has
            elements of several lanes. It can still be consumed elsewhere.
    """
    versioned = next((index for index, name in enumerate(FRESH) if _is_named(capsule, name)), None)
    if versioned is None:
        if any(_is_named(capsule, name) for name in USED):
            raise ValueError(
                "the DLPack capsule has been consumed already; call __dlpack__ again for a new one"
            )
        raise ValueError(f"{type(capsule).__name__} is no DLPack capsule; give what __dlpack__ returns")
    address = _pointer(capsule, FRESH[versioned])
    held = (_Versioned if versioned else _Managed).from_address(address)
    if versioned and held.major != VERSION[0]:
        raise ValueError(
            f"the DLPack capsule has version {held.major}.{held.minor}, expected {VERSION[0]}.x; "
            "ask __dlpack__ for max_version=(1, 0)"
        )
    tensor = _described(held.tensor, is_read_only=bool(versioned and held.flags & READ_ONLY))
    _rename(capsule, USED[versioned])

    def delete() -> None:
        if held.deleter:
            held.deleter(address)

    return Taken(tensor, delete)


def _described(held: Any, *, is_read_only: bool) -> Tensor:
    if held.dtype.lanes != 1:
        raise ValueError(f"the DLPack tensor has {held.dtype.lanes} lanes, expected 1")
    shape = tuple(held.shape[: held.ndim])
    return Tensor(
        pointer=(held.data or 0) + held.byte_offset,
        shape=shape,
        strides=tuple(held.strides[: held.ndim]) if held.strides else compact_strides(shape),
        kind=held.dtype.code,
        bits=held.dtype.bits,
        device=(held.device.device_type, held.device.device_id),
        is_read_only=is_read_only,
    )
