"""Messages of a process that is not trusted: only classes that just hold values are made.

NumPy's own way to make an array of a pickle is not taken. It lets a message say that bytes are objects, by
the arguments of `ndarray` or by the state of a dtype, and reading such an array reads whatever memory the
bytes point to. So both ends pickle arrays and numbers as calls of `array_of` and `number_of`, which take the
kinds of numbers that are named here.
"""

from __future__ import annotations

import pickle
import re
import sys
from typing import Any, Final

import numpy as np

from penstock.errors import PacketTypeError

#: Names of kinds of elements: order of bytes, kind, size in bytes.
_KIND: Final = re.compile(r"[<>|][biufc]\d{1,2}")
_NUMBERS: Final = frozenset((__name__, name) for name in ("array_of", "number_of"))
#: Payloads of penstock-formats, which check what they are made of.
FORMATS: Final = frozenset(
    {("penstock_formats.image_frame", "ImageFrame"), ("penstock_formats.matrix", "Matrix")}
    | {("penstock_formats.image", "Image"), ("penstock_formats.tensor", "Tensor")}
)
_CALLS: Final = frozenset(
    {("penstock_remote.calls", name) for name in ("Answer", "Call", "Opening")}
    | {("penstock_remote.description", "RemoteNode")}
)
_ALLOWED: Final = _NUMBERS | FORMATS | _CALLS


def array_of(shape: tuple[int, ...], kind: str, data: Any) -> np.ndarray[Any, Any]:
    """Return an array over memory.

    Args:
        shape: of the array.
        kind: of its numbers, as `dtype.str` names it.
        data: the numbers without gaps, row after row: bytes or a buffer.

    Raises:
        PacketTypeError: `kind` is none of numbers.
        TypeError: `data` is too short.
    """
    return np.ndarray(shape, _checked(kind), data)


def number_of(kind: str, data: bytes) -> Any:
    """Return a number as NumPy has it; arguments and errors as `array_of`."""
    return array_of((), kind, data)[()]


def _checked(kind: Any) -> str:
    if not isinstance(kind, str) or _KIND.fullmatch(kind) is None:
        raise PacketTypeError(
            f"codec NO_PICKLE lets no array of {kind} through: plain payloads have only arrays of numbers"
        )
    return kind


class PlainPickler(pickle.Pickler):
    """Packs what `PlainUnpickler` reads, and other things too, which that refuses."""

    def reducer_override(self, obj: Any) -> Any:
        """Return how an array or a number of NumPy is made again.

        Raises:
            PacketTypeError: it is none of numbers.
        """
        if obj.__class__ is np.ndarray:
            dense: Any = np.ascontiguousarray(obj).reshape(obj.shape)  # the first makes one dimension of none
            return array_of, (obj.shape, _checked(obj.dtype.str), pickle.PickleBuffer(dense))
        if isinstance(obj, np.generic):
            return number_of, (_checked(obj.dtype.str), obj.tobytes())
        return NotImplemented


class PlainUnpickler(pickle.Unpickler):
    """Reads arrays of numbers, images, matrices, messages, and what needs no class: `Codec.NO_PICKLE`."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return a class that a message names.

        Raises:
            PacketTypeError: it may be none that a message makes.
        """
        if (module_name, global_name) in _ALLOWED:
            return super().find_class(module_name, global_name)
        if _is_message(module_name, global_name):
            return super().find_class(module_name, global_name)
        raise PacketTypeError(
            f"codec NO_PICKLE lets no payload of {module_name}.{global_name} through, only arrays, images, "
            "matrices, protobuf messages, str, bytes and numbers; send one of these, or take codec PICKLE "
            "if you trust the code"
        )


def _is_message(module_name: str, name: str) -> bool:
    """Return whether a name belongs to a message class in a module that is imported here already."""
    protobuf = sys.modules.get("google.protobuf.message")
    found = getattr(sys.modules.get(module_name), name, None)
    return protobuf is not None and isinstance(found, type) and issubclass(found, protobuf.Message)
