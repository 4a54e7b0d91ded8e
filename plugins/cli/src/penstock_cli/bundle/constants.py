"""Side packets whose texts the graph itself says: constants, on their way to the nodes that use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.ports import TagMap
from penstock.readers import numbered_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: How `Touch.source` begins where a side packet says what is touched.
_SIDE_PACKET: Final = "side packet "
_CONSTANT: Final = "ConstantSidePacketCalculator"
#: Gives one of several side packets, as the output of a SwitchContainer.
_CHOICE: Final = "SwitchMuxCalculator"
_CONSTANTS: Final = "ConstantSidePacketCalculatorOptions"


class Constants:
    """The texts that constants of a graph give to side packets.

    Args:
        config: of the graph, checked: its subgraphs are expanded.
        messages_of: yields a message and those inside of it.
    """

    def __init__(self, config: Any, messages_of: Callable[[Any], Iterable[Any]]) -> None:
        names = numbered_nodes([node.name or node.calculator for node in config.node])
        self._nodes: Final = dict(zip(names, config.node, strict=True))
        self._messages_of: Final = messages_of
        #: Name of a side packet → the node that makes it, and tag and index of its port there.
        self._makers: Final = {
            port.name: (node, port.tag, port.index)
            for node in config.node
            for port in TagMap(node.output_side_packet)
        }

    def at(self, node: str, source: str) -> frozenset[str]:
        """Return the texts that a side packet of a node may be.

        Args:
            node: the name of the node.
            source: where it finds out what to touch, as `Touch.source` says it.

        Returns:
            Empty where it is not all constants that say it: the application does, say, or another node.
        """
        tag, _, number = source.removeprefix(_SIDE_PACKET).partition(":")
        key = ("", int(tag)) if tag.isdigit() else (tag, int(number or 0))
        if not source.startswith(_SIDE_PACKET) or node not in self._nodes:
            return frozenset()
        ports = TagMap(self._nodes[node].input_side_packet)
        return self._texts(next((port.name for port in ports if (port.tag, port.index) == key), ""))

    def _texts(self, side_packet: str) -> frozenset[str]:
        if side_packet not in self._makers:
            return frozenset()
        node, tag, index = self._makers[side_packet]
        if node.calculator == _CONSTANT and tag == "PACKET":
            return self._constant(node, index)
        if node.calculator != _CHOICE:
            return frozenset()
        ports = TagMap(node.input_side_packet)
        found = [
            self._texts(port.name) for port in ports if port.tag.endswith(f"__{tag}") and port.index == index
        ]
        return frozenset().union(*found) if all(found) else frozenset()

    def _constant(self, node: Any, index: int) -> frozenset[str]:
        for message in self._messages_of(node):
            if message.DESCRIPTOR.name == _CONSTANTS and message.packet[index].HasField("string_value"):
                return frozenset({message.packet[index].string_value})
        return frozenset()
