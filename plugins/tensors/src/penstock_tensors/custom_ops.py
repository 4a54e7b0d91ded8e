"""Operations of models that no runtime knows: computed in NumPy between the parts of the model.

A model names them; a resolver finds them by name and version. Other packs add theirs by an entry point in the
group `penstock_tensors.custom_ops`, which names a mapping from (name, version) to `CustomOp`.
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

#: Computes the outputs of one operation from its inputs, which it does not change.
Kernel: TypeAlias = "Callable[[Sequence[NDArray[Any]]], Sequence[NDArray[Any]]]"
#: Makes the kernel of one operation from the attributes that the model gives it. Called once.
CustomOp: TypeAlias = Callable[[Mapping[str, Any]], Kernel]

#: The group of entry points of packs that bring operations.
GROUP: Final = "penstock_tensors.custom_ops"


class OpResolver:
    """Custom operations by name and version. It does not change.

    Args:
        operations: (name, version) → what makes the kernel.
    """

    __slots__ = ("_operations",)

    def __init__(self, operations: Mapping[tuple[str, int], CustomOp]) -> None:
        self._operations = MappingProxyType(dict(operations))

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


@functools.cache
def standard_operations() -> OpResolver:
    """Return the operations of this pack and of all packs that bring some."""
    from penstock_tensors.landmark_operations import OPERATIONS  # only where a model needs one

    found = dict(OPERATIONS)
    for entry in importlib.metadata.entry_points(group=GROUP):
        found.update(entry.load())
    return OpResolver(found)
