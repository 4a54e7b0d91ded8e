"""What a pack implements to read graphs in a form of its own, as penstock-templates does.

A pack registers a `GraphReader` as a component of the kind "graph reader". `config.reading` recognises the
form and asks for the reader by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.config.definition import Definition
    from penstock.config.message import Message
    from penstock.config.places import Places

#: Finds the descriptor of a message by its full name; raises KeyError where there is none.
ReaderFindType: TypeAlias = "Callable[[str], Any]"
#: Reads ordinary graph text into a message: the text, the message, where the text begins in the whole, and
#: the place of a bracket that nothing closes, or None. Raises GraphParseError where the text is wrong.
ReaderMerge: TypeAlias = "Callable[[str, Message, int, int | None], None]"


class GraphReader(Protocol):
    """Reads one form of definitions."""

    def text(self, text: str, places: Places, merge: ReaderMerge, find: ReaderFindType) -> Definition:
        """Read a definition from text.

        Args:
            text: the whole text, with names of this package's messages, whose types are known.
            places: of the text. Their tree becomes that of the definition.
            merge: reads the parts that are ordinary graph text.
            find: finds the types that the text names.

        Raises:
            DefinitionTextError: the text is wrong; has the place.
            GraphParseError: what `merge` raises.
        """

    def message(self, message: Message, places: Places, find: ReaderFindType) -> Definition:
        """Return the definition that a message holds. The message is kept.

        Args:
            message: for the reader "template", a CalculatorGraphTemplate.
            places: of the message; they have no lines.
            find: as for `text`.

        Raises:
            InvalidArgumentError: the message is wrong.
        """
