"""Reading messages of a process that is not trusted: only classes that just hold values are made."""

from __future__ import annotations

import pickle
import sys
from typing import Any, Final

from penstock.errors import PacketTypeError

#: What arrays of numbers are pickled as, by NumPy 1 and 2.
_NUMPY: Final = frozenset(
    {("numpy", "dtype"), ("numpy", "ndarray")}
    | {
        (f"numpy.{core}.multiarray", name)
        for core in ("core", "_core")
        for name in ("_reconstruct", "scalar")
    }
    | {(f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")}
)
#: Payloads of penstock-formats, which check what they are made of.
FORMATS: Final = frozenset(
    {("penstock_formats.image_frame", "ImageFrame"), ("penstock_formats.matrix", "Matrix")}
    | {("penstock_formats.image", "Image"), ("penstock_formats.tensor", "Tensor")}
)
_CALLS: Final = frozenset(
    {("penstock_remote.calls", name) for name in ("Answer", "Call", "Opening")}
    | {("penstock_remote.description", "RemoteNode")}
)
_ALLOWED: Final = _NUMPY | FORMATS | _CALLS


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
            f"codec NO_PICKLE lets no {module_name}.{global_name} through, only arrays, images, "
            "matrices, protobuf messages, str, bytes and numbers; send one of these, or take codec PICKLE "
            "if you trust the code"
        )


def _is_message(module_name: str, name: str) -> bool:
    """Return whether a name is that of a message class in a module that is imported here already."""
    protobuf = sys.modules.get("google.protobuf.message")
    found = getattr(sys.modules.get(module_name), name, None)
    return protobuf is not None and isinstance(found, type) and issubclass(found, protobuf.Message)
