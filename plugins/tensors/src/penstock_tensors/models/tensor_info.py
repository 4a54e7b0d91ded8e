"""What a model says of its inputs and outputs."""

from __future__ import annotations

import attrs


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
