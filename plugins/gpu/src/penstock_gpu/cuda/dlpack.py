"""DLPack, both ways, by ctypes: memory that is described in a capsule and handed over without a copy.

The layouts and rules are those of DLPack 1.x (dmlc/dlpack, `include/dlpack/dlpack.h`, and the Python
specification beside it). A capsule holds a tensor's address, shape, strides, type and device, and a
deleter that whoever consumed it calls once, from any thread, when the memory is needed no more. What is
described here may lie on any device: nothing in this module touches it.

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

#: The version that exported capsules with a version have.
VERSION: Final = (1, 0)
READ_ONLY: Final = 1
#: Names of a capsule that nobody has consumed, and of one that somebody has; those with a version second.
FRESH: Final = (b"dltensor", b"dltensor_versioned")
USED: Final = (b"used_dltensor", b"used_dltensor_versioned")


class Device(IntEnum):
    """Kinds of device, those that occur here (`DLDeviceType`)."""

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
    """Memory, described.

    Attributes:
        pointer: address of the first element, as the device knows it.
        shape: elements in each dimension.
        strides: in elements, one for each dimension.
        kind: of number, a `Kind` or another code of DLPack.
        bits: of one number.
        device: kind of device, and its index.
        is_read_only: whether a consumer must not write there; only told by a capsule with a version.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: int
    bits: int
    device: tuple[int, int]
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


#: Called with the address of the managed tensor. A PYFUNCTYPE would demand that the caller holds the
#: interpreter's lock; this one takes it where the caller does not.
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


# Own prototypes: those at `ctypes.pythonapi` are shared with everybody who sets argument types there.
_Destructor = PYFUNCTYPE(None, c_void_p)
_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, _Destructor)(("PyCapsule_New", pythonapi))
_is_named = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_IsValid", pythonapi))
_pointer = PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", pythonapi))
_rename = PYFUNCTYPE(c_int, py_object, c_char_p)(("PyCapsule_SetName", pythonapi))
# A capsule that is being freed has no references left, so it comes as an address.
_is_named_dying = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", pythonapi))
_pointer_dying = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))

# --- giving --------------------------------------------------------------------------------------------

#: What exported tensors need until their deleter is called: address of the structure → structures, release.
_given: dict[int, tuple[object, Callable[[], None]]] = {}


def exported() -> int:
    """Return how many exported tensors are still held by somebody: for tests and diagnosis."""
    return len(_given)


@_Deleter  # type: ignore[untyped-decorator]  # ctypes
def _on_delete(address: int | None) -> None:
    held = _given.pop(address or 0, None)
    if held is not None:
        held[1]()


@_Destructor  # type: ignore[untyped-decorator]  # ctypes
def _on_capsule_end(capsule: int) -> None:
    for name in FRESH:  # one that was consumed has another name, and its consumer calls the deleter
        if _is_named_dying(capsule, name):
            _on_delete(_pointer_dying(capsule, name))


def give(tensor: Tensor, release: Callable[[], None], *, versioned: bool = False) -> Any:
    """Return a capsule of a tensor.

    Args:
        tensor: where the memory lies; it must stay until `release` is called.
        release: called exactly once, from any thread: by the consumer, or by the capsule's end where nobody
            has consumed it. It must neither raise nor wait.
        versioned: whether to make the capsule that DLPack 1.0 brought, the only one that tells of read-only
            memory.
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
    """A tensor that was taken out of a capsule, to be given back with `close`.

    Attributes:
        tensor: where the memory lies.
    """

    def __init__(self, tensor: Tensor, delete: Callable[[], None]) -> None:
        self.tensor = tensor
        self._delete: Callable[[], None] | None = delete

    def close(self) -> None:
        """Tell the producer that its memory is needed no more. A second call does nothing."""
        delete, self._delete = self._delete, None
        if delete is not None:
            delete()

    def __del__(self) -> None:
        """Give back what nobody has given back."""
        self.close()


def take(capsule: object) -> Taken:
    """Consume a capsule: from now on the caller owns what it held, until `Taken.close`.

    Raises:
        ValueError: it is no capsule of a tensor, somebody has consumed it already, it is of a version that
            is unknown here, or of numbers in groups (lanes). It can still be consumed by somebody else.
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
