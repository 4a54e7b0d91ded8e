"""The names of the streams, or of the side packets, of one graph: each stands for one wire.

A name that the application chose stays; a name that was made here changes where the application chooses it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from penstock.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
from penstock.ports import is_name

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock_builder.wires import Wire

W = TypeVar("W", bound="Wire")

_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Names(Generic[W]):
    """Name → wire.

    Args:
        what: "stream" or "side packet", for errors.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._wires: dict[str, W] = {}

    def find(self, name: str) -> W | None:
        """Return the wire of a name."""
        return self._wires.get(name)

    def check_free(self, name: str) -> None:
        """Accept a name that can be chosen.

        Raises:
            InvalidArgumentError: it does not follow the grammar.
            AlreadyExistsError: it was chosen for another wire.
        """
        if not is_name(name):
            raise InvalidArgumentError(
                f"the builder's {self._what} name {name!r}: must be lower case letters, digits and _, no "
                "digit first"
            )
        holder = self._wires.get(name)
        if holder is not None and holder.is_named:
            raise AlreadyExistsError(
                f"the builder's {self._what} name {name!r} is taken by {holder.described()}; choose another "
                "name",
                stream=name,
            )

    def check_all_free(self, names: Collection[str], who: str) -> None:
        """Accept names that the outputs of a node can have. Raises as `check_free`, and for a name twice."""
        for name in names:
            self.check_free(name)
        if len(set(names)) != len(names):
            raise InvalidArgumentError(
                f"the builder's names for {who}: one is given to several outputs: {list(names)}"
            )

    def give(self, wire: W, name: str) -> None:
        """Give a wire a chosen name. Raises as `check_free`; then nothing changes."""
        if self._wires.get(name) is wire:
            wire.rename(name, is_named=True)
            return
        self.check_free(name)
        holder = self._wires.pop(name, None)
        self._forget(wire)
        self._set(wire, name, is_named=True)
        if holder is not None:
            self._set(holder, self._free(name), is_named=False)

    def give_once(self, wire: W, name: str) -> None:
        """Give a wire a chosen name, unless another was chosen for it before.

        Raises:
            FailedPreconditionError: another name was chosen before.
            InvalidArgumentError, AlreadyExistsError: as `check_free`.
        """
        if wire.is_named and wire.name != name:
            raise FailedPreconditionError(
                f"the builder's names: {self._what} {wire.name!r} was named so, and cannot be {name!r} too; "
                "leave one of the names out, or call named() of the builder's wire"
            )
        self.give(wire, name)

    def make(self, wire: W, base: str) -> None:
        """Give a wire a name made from `base`."""
        self._set(wire, self._free(base), is_named=False)

    def _set(self, wire: W, name: str, *, is_named: bool) -> None:
        self._wires[name] = wire
        wire.rename(name, is_named=is_named)

    def _forget(self, wire: W) -> None:
        if self._wires.get(wire.name) is wire:
            del self._wires[wire.name]

    def _free(self, base: str) -> str:
        name, number = base, 2
        while name in self._wires:
            name, number = f"{base}_{number}", number + 1
        return name


def readable(node: str, tag: str, index: int) -> str:
    """Return a stream's name made from that of its node and its port.

    "CannyEdgeCalculator" and "VIDEO" give "canny_edge_video"; index 0 of no tag gives "canny_edge".
    """
    words = _HUMPS.sub("_", node.rpartition(".")[2]).lower()
    words = re.sub(r"[^a-z0-9_]", "_", words).removesuffix("_calculator")
    if not is_name(words):
        words = f"_{words}"
    parts = [words, *([tag.lower()] if tag else []), *([str(index)] if index else [])]
    return "_".join(parts)
