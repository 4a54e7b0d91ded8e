"""What a pack implements to read graphs in a form of its own, as penstock-graphs does for templates and JSON.

A pack registers a reader as a component of the kind "graph reader". `config.reading` recognises the form and
asks for the reader by name. A `GraphReader` returns a `GraphDefinition`, which becomes a graph once it has
its arguments; a `JsonReader` fills in a graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from penstock import limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.check.faults import Faults
    from penstock.config.message import Message
    from penstock.config.options.option_types import OptionTypes
    from penstock.config.options.options import Options
    from penstock.config.places import FieldPath, Places, ReadGraph, Spot
    from penstock.errors import PenstockError

#: Finds the descriptor of a message by its full name; raises KeyError where there is none.
ReaderFindType: TypeAlias = "Callable[[str], Any]"
#: Reads ordinary graph text into a message: the text, the message, where the text begins in the whole, and
#: the place of a bracket that nothing closes, or None. Raises GraphParseError where the text is wrong.
ReaderMerge: TypeAlias = "Callable[[str, Message, int, int | None], None]"
#: Imports the options of a name: the name in our package, the name as written, and the path to it. Raises
#: GraphParseError, NameClashError and PluginError with the place.
ReaderLoad: TypeAlias = "Callable[[str, str, FieldPath], None]"


class GraphDefinition(Protocol):
    """A graph that was read and that depends on arguments. Never changes."""

    @property
    def graph(self) -> Message:
        """What is the same for all arguments, as a CalculatorGraphConfig. Its `type` is the definition's."""

    @property
    def places(self) -> Places:
        """The places of the file that it was read from."""

    def expand(
        self, places: Places, faults: Faults, arguments: object = None, node: str | None = None
    ) -> ReadGraph | None:
        """Return the graph that these arguments make, or None where there are mistakes.

        Args:
            places: of the definition, or a copy that `Places.include` or `Places.again` made.
            faults: takes the mistakes.
            arguments: what `arguments_of` returned; None for the defaults.
            node: name of the node that the graph replaces, or None.
        """

    def arguments_of(self, options: Options) -> object:
        """Return the arguments that a node gives in its options."""

    def unknown(self, arguments: object) -> list[str]:
        """Return the names of arguments that have no effect."""


class GraphReader(Protocol):
    """Reads one form of definitions."""

    def text(self, text: str, places: Places, merge: ReaderMerge, find: ReaderFindType) -> GraphDefinition:
        """Read a definition from text.

        Args:
            text: the whole text, with names of this package's messages, whose types are known.
            places: of the text, with the tree of what stands before the first rule.
            merge: reads the parts that are ordinary graph text.
            find: finds the types that the text names.

        Raises:
            GraphReaderError: the text is wrong; has the place.
            GraphParseError: what `merge` raises.
        """

    def message(self, message: Message, places: Places, find: ReaderFindType) -> GraphDefinition:
        """Return the definition that a message holds. The message is kept.

        Args:
            message: for the reader "template", a CalculatorGraphTemplate.
            places: of the message; they have no lines.
            find: as for `text`.

        Raises:
            InvalidArgumentError: the message is wrong.
        """

    def set_option_values(
        self, node: Message, graph: Message, types: OptionTypes, user: Message | None = None
    ) -> Iterator[tuple[int, PenstockError]]:
        """Carry out the `option_value` entries of a node; only the reader "template" is asked.

        Args:
            node: is changed: it has the copied values afterwards, and no `option_value`.
            graph: the graph that the node stands in, with its options.
            types: finds the options.
            user: the node that the graph replaces; None at the top.

        Yields:
            The number of each entry that cannot be carried out, and why.
        """


class JsonReader(Protocol):
    """Reads graphs that are the same without arguments: the reader "json"."""

    def value(self, text: str, places: Places) -> tuple[object, Spot]:
        """Return what a text holds, and the tree of its fields.

        Args:
            text: the whole text.
            places: of the text, without a tree.

        Raises:
            GraphParseError: the text is not well formed; has the place.
        """

    def message(
        self, value: object, graph: Message, places: Places, types: OptionTypes, load: ReaderLoad
    ) -> None:
        """Read what a text holds into a graph that is empty.

        Args:
            value: what `value` returned; or a dict, which nobody has checked.
            graph: a CalculatorGraphConfig, which is changed.
            places: of the text, with its tree; or of a dict, without one.
            types: finds the options that the graph names, once `load` has imported them.
            load: called for each name of a message or an extension.

        Raises:
            GraphParseError: the value is no graph; has the place. Or what `load` raises.
        """

    def to_json(self, message: Message, types: OptionTypes) -> str:
        """Return a graph as JSON that is read back to an equal message; see `penstock.config.to_json`."""


class GraphReaderError(Exception):
    """Text that a `GraphReader` cannot read. `config.reading` makes a GraphParseError of it."""

    def __init__(self, offset: int, words: str) -> None:
        super().__init__(words)
        #: Where in the text.
        self.offset = offset
        #: What is wrong.
        self.words = words


def definition_as_read_graph(definition: GraphDefinition) -> ReadGraph:
    """Return the graph that a definition makes without arguments, and its places.

    Raises:
        GraphConfigError: the definition makes no graph so; has all mistakes.
        ResourceExhaustedError: the graph has more nodes than the limit "nodes".
    """
    from penstock.check.faults import Faults  # only definitions need it here

    places = definition.places.again()
    faults = Faults(places)
    graph = definition.expand(places, faults)
    faults.raise_any()
    assert graph is not None  # else there were faults  # noqa: S101
    count = len(graph.message.node)
    limits.check("nodes", count, f"the graph that this template makes has {count} nodes")
    return graph
