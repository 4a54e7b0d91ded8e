"""What backends are given: the bytes of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock_tensors.models.resource_finder import FoundResource


class Model:
    """A model that is loaded, and not yet ready to run. It does not change."""

    __slots__ = ("data", "name")

    def __init__(self, name: str, data: bytes) -> None:
        #: The name of its file, for messages.
        self.name = name
        #: All bytes of the file.
        self.data = data

    @classmethod
    def of(cls, resource: FoundResource) -> Model:
        """Return the model that a file holds."""
        return cls(resource.name, resource.data)

    @property
    def nbytes(self) -> int:
        """The size in bytes, for the byte accounting of queues."""
        return len(self.data)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}, {len(self.data)} bytes>"
