"""Look-ups of one graph: each name once, however many nodes have it, with the fault for an unknown name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import NameClashError, PluginError, UnknownNameError
from penstock.payload_types import class_of, is_any_payload
from penstock.plan import LateMessage

if TYPE_CHECKING:
    from penstock.adapters import Adapter
    from penstock.check.faults import Faults
    from penstock.check.port_types import Types
    from penstock.payload_types import PayloadType
    from penstock.registry import Registry


def has_subgraphs(message: Any, names: Names) -> bool:
    """Return whether a CalculatorGraphConfig has subgraphs to expand, or `option_value` entries."""
    if isinstance(message, LateMessage):
        return any(map(names.is_subgraph, message.calculators))
    return any(node.option_value or names.is_subgraph(node.calculator) for node in message.node)


class Names:
    """What the names of one graph stand for."""

    def __init__(self, registry: Registry, package: str, faults: Faults) -> None:
        #: The faults of the graph.
        self.faults = faults
        self.registry = registry
        #: Whether an equal graph has the same plan as long as its contracts say the same: nothing was logged,
        #: and no code of components was asked that may answer otherwise.
        self.is_settled = True
        #: Name → class, of the calculators that have been found and are some.
        self.calculators: dict[str, Any] = {}
        self._package = package
        self._found: dict[tuple[str, str], object] = {}
        self._is_subgraph: dict[str, bool] = {}

    def find(self, kind: str, name: str, at: int, who: str, node: str | None = None) -> object | None:
        """Return the component of a name; None where there is a fault, which is noted.

        Args:
            kind: as the registry takes it.
            name: as the file has it.
            at: where the file has it.
            who: what a message begins with: "node 'a': ", or "".
            node: the node concerned.
        """
        key = (kind, name)
        if key not in self._found:
            try:
                self._found[key] = self.registry.find(kind, name, self._package)
            except (UnknownNameError, NameClashError, PluginError) as error:
                self._found[key] = error
        found = self._found[key]
        if isinstance(found, (UnknownNameError, NameClashError, PluginError)):
            self.faults.add_error(at, who, found, node=node)
            return None
        return found

    def is_subgraph(self, name: str) -> bool:
        """Return whether a name is a subgraph's. A subgraph goes before a calculator of the same name."""
        if name not in self._is_subgraph:
            self._is_subgraph[name] = bool(name) and self.registry.has("subgraph", name, self._package)
        return self._is_subgraph[name]

    def adapter(self, written: Types, read: Types, at: int, who: str) -> Adapter | None:
        """Return the adapter from the type of an output to that of an input; None where nothing adapts.

        An adapter that cannot be used is a fault.
        """
        from penstock.adapters import find_adapter  # few graphs connect ports that do not agree

        if written is None or read is None or len(written) != 1 or is_any_payload(written[0]):
            return None
        try:
            return find_adapter(self.registry, class_of(written[0]), read)
        except (NameClashError, PluginError) as error:
            self.faults.add_error(at, who, error)
            return None

    def adaptable(self, read: tuple[PayloadType, ...]) -> str:
        """Return what adapters make payloads of some types of, for the end of a message; or ""."""
        from penstock.adapters import adaptable  # few graphs connect ports that do not agree

        words = adaptable(self.registry, read)
        return words and f" ({words})"
