"""The graph readers that packs register: which one reads a form of graphs that is not the core's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from penstock.errors import UnknownNameError
from penstock.plugins.default_registry import default_registry

if TYPE_CHECKING:
    from penstock.config.graph_reader import GraphReader
    from penstock.registry import Registry

_KIND: Final = "graph reader"


def graph_reader(name: str, registry: Registry, before: str) -> GraphReader:
    """Return the graph reader of a name.

    A registry that is made by hand has the components that a graph names, and seldom a reader. Where it has
    none, the default registry is asked, which loads the plugins.

    Args:
        name: of the reader.
        registry: of the graph.
        before: what the error's message begins with: the place, and what the reader is needed for.

    Raises:
        UnknownNameError: neither registry has the reader; says what to install.
        NameClashError, PluginError: as `Registry.find`.
    """
    knowing = registry if registry.has(_KIND, name) else default_registry()
    try:
        return cast("GraphReader", knowing.find(_KIND, name))
    except UnknownNameError as error:
        raise error.placed(before) from None
