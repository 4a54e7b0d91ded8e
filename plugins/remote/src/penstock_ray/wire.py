"""Messages between the driver and an actor: pickles, and the large buffers that Ray puts into shared memory.

What the driver's `__main__` defines cannot be imported elsewhere, so it travels by value, as cloudpickle does
it; all else travels by name. Packing messages here, and handing Ray bytes, is faster than letting Ray pack
them, and an error names the payload.
"""

from __future__ import annotations

import io
import pickle
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Buffers of at least so many bytes are arguments of their own, which Ray keeps in shared memory if they are
#: large.
_OUT_OF_BAND: Final = 4096


def dumps(content: object) -> tuple[bytes, list[pickle.PickleBuffer]]:
    """Return a message: the pickle, and the buffers that are not in it.

    Raises:
        Exception: what pickling raises.
    """
    buffers: list[pickle.PickleBuffer] = []

    def place(buffer: pickle.PickleBuffer) -> bool:
        try:
            is_large = buffer.raw().nbytes >= _OUT_OF_BAND
        except BufferError:  # not contiguous: pickle copies it
            return True
        if is_large:
            buffers.append(buffer)
        return not is_large

    file = io.BytesIO()
    _Pickler(file, protocol=5, buffer_callback=place).dump(content)
    return file.getvalue(), buffers


def loads(data: bytes, buffers: Sequence[Any] = ()) -> Any:
    """Return the content of a message. Arrays in it borrow the buffers, read-only."""
    return pickle.loads(data, buffers=buffers)  # noqa: S301  # from a cluster that the user has chosen


class _Pickler(pickle.Pickler):
    """Packs classes and functions of `__main__` by value."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (type, FunctionType)) and obj.__module__ == "__main__":
            from ray import cloudpickle  # Ray's own: the other end has it

            packed = cloudpickle.dumps(obj)  # type: ignore[no-untyped-call, unused-ignore]  # where Ray is there
            return pickle.loads, (packed,)
        return NotImplemented
