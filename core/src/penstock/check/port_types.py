"""Which type each stream and side packet has, computed from what both of its ends declare.

A port that takes anything has the type of what it is connected with, and so have the ports declared
the same as it: such ports share one type. Where both ends know theirs, they must agree; one that
allows several keeps those that fit the other end. Source: MediaPipe `framework/validated_graph_config`
(`ResolveAnyTypes`, `ResolveOneOfTypes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from penstock.payload_types import agree, is_any_payload, payload_type_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.contract import PortSpec
    from penstock.payload_types import PayloadType

#: The alternatives of a port's type, or None for any.
Types: TypeAlias = "tuple[PayloadType, ...] | None"


def name_of(types: Types) -> str:
    """Return the name of a type for messages."""
    return "any type" if types is None else payload_type_names(types)


class PortTypes:
    """The types of all ports of a graph: a union-find over what is declared the same.

    Ports must not change after their first use here.
    """

    def __init__(self) -> None:
        self._cell_of: dict[int, int] = {}
        self._above: list[int] = []
        self._types: list[Types] = []
        #: The ports, kept so that their ids stay theirs.
        self._ports: list[PortSpec] = []

    def resolve(self, edges: Iterable[tuple[PortSpec, PortSpec]]) -> list[tuple[PortSpec, PortSpec]]:
        """Compute the types along edges, and return the edges whose ends do not agree.

        Args:
            edges: (output port, input port), nodes in order, inputs in order. The first reader of a
                stream of unknown type gives it its own.
        """
        known = [edge for edge in edges if not self._joined(*edge)]
        for edge in known:
            self._narrow(*edge)
        return [edge for edge in known if not self._agree(*edge)]

    def of(self, port: PortSpec) -> Types:
        """Return the type that a port has in this graph."""
        return self._types[self._cell(port)]

    def _joined(self, output: PortSpec, reader: PortSpec) -> bool:
        """Give both ends one type where one of them has none; return whether they have one now."""
        above, below = self._cell(output), self._cell(reader)
        if above == below:
            return True
        if self._types[below] is None:
            self._above[below] = above
            return True
        if self._types[above] is None:
            self._above[above] = below
            return True
        return False

    def _narrow(self, output: PortSpec, reader: PortSpec) -> None:
        above, below = self._cell(output), self._cell(reader)
        one, other = self._types[above], self._types[below]
        if above == below or one is None or other is None:
            return
        if len(one) > 1 and len(other) == 1:
            self._types[above] = tuple(kind for kind in one if agree(kind, other[0])) or one
        elif len(other) > 1 and len(one) == 1:
            self._types[below] = tuple(kind for kind in other if agree(one[0], kind)) or other

    def _agree(self, output: PortSpec, reader: PortSpec) -> bool:
        one, other = self.of(output), self.of(reader)
        return one is None or other is None or any(agree(a, b) for a in one for b in other)

    def _cell(self, port: PortSpec) -> int:
        root = port.root()
        cell = self._cell_of.get(id(root))
        if cell is None:
            cell = len(self._above)
            self._cell_of[id(root)] = cell
            self._ports.append(root)
            self._above.append(cell)
            # A port that is not declared is a fault of its own; here it takes any type.
            unknown = not root.types or any(map(is_any_payload, root.types))
            self._types.append(None if unknown else root.types)
            return cell
        above = self._above
        while above[cell] != cell:
            above[cell] = above[above[cell]]
            cell = above[cell]
        return cell
