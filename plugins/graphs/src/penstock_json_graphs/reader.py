"""The graph reader "json": what the core asks where a graph is a .json file or a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from penstock.errors import GraphParseError
from penstock.readers import field_path_words, place_words
from penstock_json_graphs import to_json
from penstock_json_graphs.json_text import JsonTextError, tree_of, value_of
from penstock_json_graphs.json_to_graph import JsonGraphError, calculators_in, merge_value

if TYPE_CHECKING:
    from penstock.readers import Message, Places, ReaderLoad, Spot
    from penstock.types import OptionTypes


class JsonReader:
    """Reads graphs in JSON; see `penstock.readers.JsonReader`."""

    @staticmethod
    def value(text: str, places: Places) -> tuple[object, Spot]:
        """Return what JSON text holds, and its tree; see `penstock.readers.JsonReader.value`."""
        try:
            value = value_of(text)
        except JsonTextError as error:
            _fail(places, error.words, error.position, error.__cause__)
        return value, tree_of(text)

    @staticmethod
    def message(value: Any, graph: Message, places: Places, types: OptionTypes, load: ReaderLoad) -> None:
        """Read a value, as JSON has it, into a graph; see `penstock.readers.JsonReader.message`."""
        types.look_into(lambda: calculators_in(value))
        try:
            merge_value(value, graph, types, load)
        except JsonGraphError as error:
            position = None if error.path is None else places.position_of(error.path)
            place = f"{field_path_words(error.path)}: " if position is None and error.path else ""
            _fail(places, f"{place}{error.words}", position, error.__cause__)

    @staticmethod
    def to_json(message: Message, types: OptionTypes) -> str:
        """Return a graph as JSON; see `penstock.readers.JsonReader.to_json`."""
        return to_json(message, types)


def _fail(
    places: Places, words: str, position: tuple[int, int] | None, cause: BaseException | None
) -> NoReturn:
    line, column = position or (None, None)
    message = f"{place_words(places.file, position)}{words}"
    raise GraphParseError(message, file=places.file, line=line, column=column) from cause
