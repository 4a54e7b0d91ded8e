"""The graph reader "template": what the core asks where it finds a template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock_templates.option_values import set_option_values
from penstock_templates.template import Template, of_message, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.errors import PenstockError
    from penstock.readers import Message, Places, ReaderFindType, ReaderMerge
    from penstock.types import OptionTypes


class TemplateReader:
    """Reads graph templates: graph text with rules between percent signs, and CalculatorGraphTemplates."""

    @staticmethod
    def text(text: str, places: Places, merge: ReaderMerge, find: ReaderFindType) -> Template:
        """Read the text of a template; see `penstock.readers.GraphReader.text`."""
        return read_text(text, places, merge, find)

    @staticmethod
    def message(message: Message, places: Places, find: ReaderFindType) -> Template:
        """Return the template of a CalculatorGraphTemplate; see `GraphReader.message`."""
        return of_message(message, places, find)

    @staticmethod
    def set_option_values(
        node: Message, graph: Message, types: OptionTypes, user: Message | None = None
    ) -> Iterator[tuple[int, PenstockError]]:
        """Carry out the `option_value` entries of a node; see `GraphReader.set_option_values`."""
        return set_option_values(node, graph, types, user)
