"""Operations of models that no runtime knows: computed in NumPy between the parts of the model.

A model names them; a resolver finds them by name and version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: Computes the outputs of one operation from its inputs, which it does not change.
Kernel: TypeAlias = "Callable[[Sequence[NDArray[Any]]], Sequence[NDArray[Any]]]"
#: Makes the kernel of one operation from the attributes that the model gives it. Called once.
CustomOp: TypeAlias = Callable[[Mapping[str, Any]], Kernel]


class OpResolver:
    """Custom operations by name and version. It does not change.

    Args:
        operations: (name, version) → what makes the kernel.
    """

    __slots__ = ("_operations",)

    def __init__(self, operations: Mapping[tuple[str, int], CustomOp]) -> None:
        self._operations = MappingProxyType(dict(operations))

    def __reduce__(self) -> tuple[object, ...]:
        return OpResolver, (dict(self._operations),)  # a view of a dict does not pickle

    def find(self, name: str, version: int) -> CustomOp | None:
        """Return the operation; None where there is none."""
        return self._operations.get((name, version))

    def with_operations(self, operations: Mapping[tuple[str, int], CustomOp]) -> OpResolver:
        """Return a resolver that has these operations too; they replace those of the same name."""
        return OpResolver({**self._operations, **operations})

    def names(self) -> Iterable[tuple[str, int]]:
        """Return the names and versions, sorted."""
        return sorted(self._operations)

    def __repr__(self) -> str:
        return f"OpResolver({', '.join(f'{name} {version}' for name, version in self.names())})"
