"""`GraphTemplate`: a graph with params, usable wherever a graph is.

Its text is graph text with rules between percent signs; the README of this pack has them all. A template
never changes: giving it values makes a new one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import attrs

from penstock.config import read_definition
from penstock.error_text import near_names
from penstock.errors import InvalidArgumentError
from penstock.packs import default_registry
from penstock.readers import ReadGraph, definition_as_read_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock import Registry
    from penstock.readers import Message


class GraphTemplate:
    """A graph whose fields are filled in, left out or repeated by rules.

    It may be passed to `CalculatorGraph`, registered as a subgraph (`subgraphs={"Name": template}`,
    `registry.add("subgraph", "Name", template)`), and returned by `Subgraph.get_config`. Where it replaces a
    node, the values in the node's TemplateSubgraphOptions go before those that it was given here.

    Values are str, bool, int, float, and lists, tuples and dicts of them. Numbers are doubles, so an int
    beyond 2**53 is refused.
    """

    def __init__(self, template: Any) -> None:
        """Wrap a template that was read. Use `from_text`, `from_file` or `from_message` instead."""
        self._template = template

    # --- reading ----------------------------------------------------------------------------------

    @classmethod
    def from_text(cls, text: str, registry: Registry | None = None) -> Self:
        """Read a template from its text.

        Args:
            text: graph text, with rules or without.
            registry: finds the options that it names; None for the default registry.

        Raises:
            GraphParseError: the text is no template; says line and column.
            NameClashError, PluginError: options that it names cannot be imported.
        """
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"the template's text is a {type(text).__name__}; pass a str, or use from_file"
            )
        return cls._read(text, registry)

    @classmethod
    def from_file(cls, path: str | Path, registry: Registry | None = None) -> Self:
        """Read a template from a file.

        Args:
            path: .pbtxt or .textproto for text; .template.binarypb or .template.pb for a serialized
                CalculatorGraphTemplate.
            registry: as for `from_text`.

        Raises:
            GraphParseError: the file holds no template; says file, line and column.
            NotFoundError: there is no such file.
            PenstockError: the file cannot be read; the OSError is the `__cause__`.
            NameClashError, PluginError: as `from_text`.
        """
        return cls._read(Path(path), registry)

    @classmethod
    def from_message(cls, message: Message, registry: Registry | None = None) -> Self:
        """Make a template from a CalculatorGraphTemplate message, ours or the reference's, which is copied.

        Raises:
            GraphParseError: its rules cannot be followed.
            InvalidArgumentError: `message` is not such a message.
        """
        return cls._read(message, registry)

    @classmethod
    def _read(cls, source: object, registry: Registry | None) -> Self:
        from penstock_templates.reader import TemplateReader  # protobuf
        from penstock_templates.template import without_rules

        # With its own reader, so that it reads templates where no plugins are loaded.
        used = (default_registry() if registry is None else registry).child()
        used.add("graph reader", "template", TemplateReader)
        label = None if isinstance(source, Path) else "<template>"
        found = read_definition(source, used, label=label)
        return cls(without_rules(found.message, found.places) if isinstance(found, ReadGraph) else found)

    # --- its params and its message ---------------------------------------------------------------

    @property
    def params(self) -> Mapping[str, bool]:
        """Name of each param → whether it still needs a value. Declared params come first."""
        given = self._template.given
        known = self._template.params()
        return {name: not (has_default or name in given) for name, has_default in known.items()}

    def to_message(self) -> Message:
        """Return a new CalculatorGraphTemplate with the rules. Values that were given are not in it."""
        message = type(self._template.message)()
        message.CopyFrom(self._template.message)
        return message

    def __repr__(self) -> str:
        file = self._template.places.file
        return f"<GraphTemplate{'' if file is None else f' {file}'}: {', '.join(self.params) or 'no params'}>"

    # --- values -----------------------------------------------------------------------------------

    def with_arguments(self, /, **arguments: object) -> Self:
        """Return the same template with values for some of its params.

        Args:
            **arguments: param → value. A value that was given before is replaced.

        Raises:
            InvalidArgumentError: the template has no such param, or the value is of no type that params take.
        """
        from penstock_templates.expression_values import values_of  # protobuf

        values = values_of(arguments)
        for name in self._template.unknown(values):
            known = list(self.params)
            near = near_names(name, known, 1)
            cure = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known) or 'none'}"
            raise InvalidArgumentError(f"{self!r}: the template has no param {name!r}; {cure}")
        return type(self)(attrs.evolve(self._template, given={**self._template.given, **values}))

    def expand(self, /, **arguments: object) -> Message:
        """Return the graph that the template makes of values, as a new CalculatorGraphConfig.

        Faults of such a message have no file and line. `CalculatorGraph` takes
        `template.with_arguments(...)` too, and its faults then have the place in the template.

        Args:
            **arguments: as for `with_arguments`.

        Raises:
            InvalidArgumentError: as `with_arguments`.
            GraphConfigError: the rules make no graph; has all mistakes, each with its place.
        """
        return definition_as_read_graph(self.with_arguments(**arguments)._template).message  # noqa: SLF001  # own class

    @staticmethod
    def options(**arguments: object) -> Message:
        """Return values as the options of a node that a template replaces.

        In the builder: `graph.node("Chain", ..., options=GraphTemplate.options(length=3))`.

        Raises:
            InvalidArgumentError: a value is of no type that params take.
        """
        from penstock_templates.expression_values import options_of, values_of  # protobuf

        return options_of(values_of(arguments))

    def to_template(self) -> Any:
        """Return the template that the core reads graphs from."""
        return self._template
