"""What backends are given: the bytes of a model; and what it says of its tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

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


@attrs.frozen
class TensorInfo:
    """What a model says of one of its inputs or outputs."""

    #: In the model's signature; without one the tensor's own.
    name: str
    #: -1 for a size that the model leaves open.
    shape: tuple[int, ...]
    #: NumPy's name, such as "float32". A string is a row of "int8", of an open size.
    element_type: str
    #: `scale`, `zero_point`: what the elements of a quantized tensor stand for, as in `Tensor`.
    scale: float = 1.0
    zero_point: int = 0

    @property
    def spec(self) -> tuple[object, ...]:
        """All but the name."""
        return self.shape, self.element_type, self.scale, self.zero_point

    def __str__(self) -> str:
        sizes = "x".join("?" if size < 0 else str(size) for size in self.shape)
        return f"{self.element_type} {sizes or 'scalar'}"
