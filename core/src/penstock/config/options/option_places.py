"""Where the fields of a node's options stand in a graph file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.config.message import Message
    from penstock.config.places import FieldPath, Places, Spot


class OptionPlaces:
    """Finds the places of one node's options in the tree of its file."""

    __slots__ = ("_at", "_node", "_places", "_spot")

    def __init__(self, node: Message, places: Places, spot: Spot | None, at: int) -> None:
        self._node = node
        self._places = places
        self._spot = spot
        #: The place of the node.
        self._at = at

    def at(self, options: str, path: FieldPath) -> int:
        """Return the place of a field of an options message, or of the nearest above it.

        Args:
            options: full name of the message.
            path: from it to the field.
        """
        if self._spot is None:
            return self._at
        spot = self._message(options)
        for name, index in path:
            spot = self._places.of(spot, name, index)
        return self._places.at(spot)

    def _message(self, options: str) -> Spot | None:
        extensions = self._places.of(self._spot, "options")
        extension = self._places.of(extensions, f"[{options}.ext]")
        if extension is not extensions:
            return extension
        for i, packed in enumerate(self._node.node_options):
            if packed.TypeName() == options:
                spot = self._places.of(self._spot, "node_options", i)
                # Graph text has the type in brackets; JSON has it as one of the fields.
                inner = [] if spot is None else [name for name in spot.fields if name.startswith("[")]
                return self._places.of(spot, inner[0]) if inner else spot
        return self._spot
