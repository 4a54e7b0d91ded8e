"""What a GpuBuffer's pixels lie in, and the registry of ways to make a storage and to turn one into another.

A *view* is a type that somebody asks a buffer for: an ImageFrame, a NumPy array, a GlTextureView. A
*storage* holds the pixels and gives some of the views. The registry knows which storage to make for a view
of a buffer that has none yet, and how to get, for a view that no present storage gives, another storage
out of one that is there. So a further pack adds an API for buffers without a word in this one.

Nothing here knows pixels, NumPy or OpenGL.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_gpu.formats import GpuBufferFormat


class Storage(ABC):
    """One place where the pixels of a buffer lie: the base of every storage.

    A storage lives as long as its buffer has it or a view of it is alive. A buffer calls `provides` under
    its lock, and asks whether it `is_lost`, so that these must be short and take no lock; everything else it
    calls without.
    """

    __slots__ = ("__weakref__",)

    @property
    def is_lasting(self) -> bool:
        """Whether the pixels need nothing to live in but this storage, as in main memory."""
        return False

    @property
    def is_lost(self) -> bool:
        """Whether the pixels are gone with what they lived in. Then another storage is asked."""
        return False

    def keep(self) -> None:  # noqa: B027  # most storages need nothing
        """Let what the pixels live in stay, as it does at first: no other storage has them any more.

        Called by who writes, and so by one thread at a time; by any number of threads at once: `spare`.
        """

    def spare(self) -> None:  # noqa: B027  # as above
        """Let what the pixels live in go where nothing else needs it: a lasting storage has them too."""

    @abstractmethod
    def provides(self, view: type, *, for_writing: bool) -> bool:
        """Return whether this storage gives that view, here and now, on this thread."""

    @abstractmethod
    def read_view(self, view: type[Any], **arguments: Any) -> Any:
        """Return a view to read from; its type is `view`, which the storage provides."""

    @abstractmethod
    def write_view(self, view: type[Any], **arguments: Any) -> Any:
        """Return a view to write to; its type is `view`, which the storage provides for writing."""


if TYPE_CHECKING:
    Factory = Callable[[int, int, GpuBufferFormat], Storage]
    Converter = Callable[[Any], Storage]


class StorageRegistry:
    """Which storage is made for a view, and how one storage becomes another.

    Of two registrations the last wins. Thread-safe. Factories and converters are called without any lock.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # for writers; readers find one dict or its successor
        self._factories: dict[type, Factory] = {}
        self._converters: dict[tuple[type, type], Converter] = {}

    def register_storage(self, view: type, make: Factory) -> None:
        """Say how the storage of a buffer without one is made when `view` is asked for to write.

        Args:
            view: the type that is given to `write_view`.
            make: called with width, height and format, returns a storage that provides `view` for writing.

        Raises:
            InvalidArgumentError: `view` is no type.
        """
        _expect_types(view=view)
        with self._lock:
            self._factories = {**self._factories, view: make}

    def register_converter(self, view: type, source: type[Storage], convert: Converter) -> None:
        """Say how a storage that provides `view` is made out of a storage of the type `source`, exactly.

        Args:
            view: the type that is given to `read_view` or `write_view`.
            source: the type of the storage that is there.
            convert: called with that storage, which is read only, on the reader's thread and outside any
                lock, maybe on several threads at once; returns another storage with the same pixels.

        Raises:
            InvalidArgumentError: `view` or `source` is no type.
        """
        _expect_types(view=view, source=source)
        with self._lock:
            self._converters = {**self._converters, (view, source): convert}

    def factory(self, view: type) -> Factory | None:
        """Return what makes a storage for `view`, or None."""
        return self._factories.get(view)

    def converter(self, view: type, source: type) -> Converter | None:
        """Return what makes a storage that provides `view` out of a `source`, or None."""
        return self._converters.get((view, source))

    def views(self) -> tuple[str, ...]:
        """Return the names of all views that are known, sorted; for messages."""
        known = {*self._factories, *(view for view, _ in self._converters)}
        return tuple(sorted(view_name(view) for view in known))


#: What every GpuBuffer uses.
REGISTRY = StorageRegistry()


def register_storage(view: type, make: Factory) -> None:
    """Say how an empty GpuBuffer gets its storage for `view`; see `StorageRegistry.register_storage`."""
    REGISTRY.register_storage(view, make)


def register_converter(view: type, source: type[Storage], convert: Converter) -> None:
    """Say how a storage becomes one that provides `view`; see `StorageRegistry.register_converter`."""
    REGISTRY.register_converter(view, source, convert)


def view_name(view: object) -> str:
    """Return a view's name for people: "numpy.ndarray" and "ImageFrame", say."""
    if not isinstance(view, type):
        return repr(view)
    return f"numpy.{view.__name__}" if view.__module__ == "numpy" else view.__name__


def _expect_types(**arguments: object) -> None:
    for name, value in arguments.items():
        if not isinstance(value, type):
            raise InvalidArgumentError(f"{name} is {value!r}, but must be a type; give the class itself")
