"""The state that the handles of a GpuBuffer share: one image, and the storages that hold it now.

All storages hold the same pixels. They are looked up under a lock, and made, read and released outside it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock_gpu.buffers.storage import REGISTRY, view_name

if TYPE_CHECKING:
    from penstock_gpu.buffers.storage import Storage
    from penstock_gpu.formats import GpuBufferFormat


class Image:
    """The state that all handles of one buffer share.

    Args:
        width: pixels.
        height: pixels.
        format: what they mean.
        storages: the storages of the pixels; none if the buffer has not been written to.
    """

    __slots__ = ("_lock", "_storages", "format", "height", "width")

    def __init__(
        self,
        width: int,
        height: int,
        format: GpuBufferFormat,  # noqa: A002  # the word that everyone expects
        storages: tuple[Storage, ...] = (),
    ) -> None:
        self.width = width
        self.height = height
        self.format = format
        self._storages = storages
        self._lock = threading.Lock()

    @property
    def storages(self) -> tuple[Storage, ...]:
        """The storages of the pixels, in the order in which they were made."""
        return self._storages

    def read(self, view: type, arguments: dict[str, Any]) -> Any:
        """Return a view to read; if no storage gives it, one is converted."""
        found = self._find(view, for_writing=False)
        if found is None:
            raise self._no_path(view, for_writing=False)
        return found.read_view(view, **arguments)

    def write(self, view: type, arguments: dict[str, Any]) -> Any:
        """Return a view to write, and drop all other storages."""
        found = self._find(view, for_writing=True)
        if found is None:
            make = REGISTRY.factory(view)
            if make is None:
                raise self._no_path(view, for_writing=True)
            found = make(self.width, self.height, self.format)
        taken = found.write_view(view, **arguments)
        with self._lock:
            dropped, self._storages = self._storages, (found,)
        found.keep()
        del dropped  # outside the lock
        return taken

    def _find(self, view: type, *, for_writing: bool) -> Storage | None:
        present = self._storages
        found = _provider(present, view, for_writing=for_writing)
        if found is not None:
            return found
        # a lost storage comes last, and its converter raises why it is lost
        for storage in sorted(present, key=_is_lost) if len(present) > 1 else present:
            convert = REGISTRY.converter(view, type(storage))
            if convert is not None:
                return self._insert(convert(storage), storage, present, view, for_writing=for_writing)
        return None

    def _insert(
        self, made: Storage, source: Storage, present: tuple[Storage, ...], view: type, *, for_writing: bool
    ) -> Storage | None:
        """Keep a converted storage, unless another thread has made one meanwhile: then that one is used.

        If the buffer was written to meanwhile, only this reader gets the converted storage.
        """
        with self._lock:
            before = self._storages  # kept until the lock is released
            found = None if before is present else _provider(before, view, for_writing=for_writing)
            if found is None and made.provides(view, for_writing=for_writing):
                found = made
                if source in before:
                    self._storages = (*[one for one in before if not one.is_lost], made)
        _spare(self._storages)
        del before
        return found

    def _no_path(self, view: type, *, for_writing: bool) -> InvalidArgumentError | FailedPreconditionError:
        kind = "write" if for_writing else "read"
        name = view_name(view)
        known = ", ".join(REGISTRY.views())
        storages = ", ".join(type(storage).__name__ for storage in self._storages)
        buffer = f"{self.format.name} {self.width}x{self.height}"
        if not self._storages and not for_writing and name in known:
            return FailedPreconditionError(
                f"the image of GpuBuffer {buffer} was never written to, so there is no {name} to read; take "
                "a write_view and fill it first"
            )
        return InvalidArgumentError(
            f"the image of GpuBuffer {buffer} has no way to a view {name} to {kind} from its storages "
            f"({storages or 'none'}); ask for one of {known}, or register a converter with register_converter"
        )


def _spare(storages: tuple[Storage, ...]) -> None:
    """Call `spare` of all storages if one of them is lasting."""
    for lasting in storages:
        if lasting.is_lasting:
            for storage in storages:
                storage.spare()
            return


def _is_lost(storage: Storage) -> bool:
    return storage.is_lost


def _provider(storages: tuple[Storage, ...], view: type, *, for_writing: bool) -> Storage | None:
    for storage in storages:
        if storage.provides(view, for_writing=for_writing):
            return storage
    return None
