"""The storages of a GpuBuffer's pixels, and the registry of functions that make and convert storages.

A *view* is a type that a caller asks a buffer for: an ImageFrame, a NumPy array, a GlTextureView. A *storage*
holds the pixels and gives some of the views. The registry knows which storage to make for a view of a buffer
that has none yet, and how to convert an existing storage into one that gives a view which no existing storage
gives. So another pack can add an API for buffers without changes to this one.

This module does not depend on pixels, NumPy or OpenGL.
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
    """One place that holds the pixels of a buffer: the base class of every storage.

    A storage lives as long as its buffer has it or a view of it is alive. A buffer reads `provides` and
    `is_lost` under its lock, so these must be short and take no lock; it calls everything else without the
    lock.
    """

    __slots__ = ("__weakref__",)

    @property
    def is_lasting(self) -> bool:
        """Whether the pixels depend on this storage only, as in main memory, and not on a context."""
        return False

    @property
    def is_lost(self) -> bool:
        """Whether the pixels are gone, for example with their context; another storage is then used."""
        return False

    def keep(self) -> None:  # noqa: B027  # most storages need nothing
        """Keep alive what the pixels depend on, as at first: no other storage has them any more.

        Called by the writer, so by one thread at a time; any number of threads may call `spare` at once.
        """

    def spare(self) -> None:  # noqa: B027  # as above
        """Allow what the pixels depend on to end: a lasting storage has them too."""

    @abstractmethod
    def provides(self, view: type, *, for_writing: bool) -> bool:
        """Return whether this storage gives that view now, on this thread."""

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
    """The functions that make a storage for a view, and those that convert one storage into another.

    Of two registrations the last one counts. Thread-safe. Factories and converters are called without any
    lock.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # for writers; readers see a dict or its replacement
        self._factories: dict[type, Factory] = {}
        self._converters: dict[tuple[type, type], Converter] = {}

    def register_storage(self, view: type, make: Factory) -> None:
        """Register the function that makes the storage of an empty buffer for `view` to write.

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
        """Register the function that makes a storage for `view` from a storage of exactly the type `source`.

        Args:
            view: the type that is given to `read_view` or `write_view`.
            source: the type of the existing storage.
            convert: called with that storage, which it only reads, on the reader's thread, without any lock,
                maybe on several threads at once; returns another storage with the same pixels.

        Raises:
            InvalidArgumentError: `view` or `source` is no type.
        """
        _expect_types(view=view, source=source)
        with self._lock:
            self._converters = {**self._converters, (view, source): convert}

    def factory(self, view: type) -> Factory | None:
        """Return the function that makes a storage for `view`, or None."""
        return self._factories.get(view)

    def converter(self, view: type, source: type) -> Converter | None:
        """Return the function that makes a storage for `view` from a `source`, or None."""
        return self._converters.get((view, source))

    def views(self) -> tuple[str, ...]:
        """Return the names of all views that are known, sorted; for messages."""
        known = {*self._factories, *(view for view, _ in self._converters)}
        return tuple(sorted(view_name(view) for view in known))


#: The registry that every GpuBuffer uses.
REGISTRY = StorageRegistry()


def register_storage(view: type, make: Factory) -> None:
    """Register how an empty GpuBuffer gets its storage for `view`; see `StorageRegistry.register_storage`."""
    REGISTRY.register_storage(view, make)


def register_converter(view: type, source: type[Storage], convert: Converter) -> None:
    """Register a conversion into a storage for `view`; see `StorageRegistry.register_converter`."""
    REGISTRY.register_converter(view, source, convert)


def view_name(view: object) -> str:
    """Return a view's name for messages, such as "numpy.ndarray" or "ImageFrame"."""
    if not isinstance(view, type):
        return repr(view)
    return f"numpy.{view.__name__}" if view.__module__ == "numpy" else view.__name__


def _expect_types(**arguments: object) -> None:
    for name, value in arguments.items():
        if not isinstance(value, type):
            raise InvalidArgumentError(
                f"the storage's {name} is {value!r}, but must be a type; give the class itself"
            )
