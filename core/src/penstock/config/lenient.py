"""Graphs read to be looked at, whether they could run or not: drawings and tools want that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import GraphConfigError

if TYPE_CHECKING:
    from penstock.config.message import Message
    from penstock.config.places import Places, ReadGraph
    from penstock.registry import Registry


def read_with_places(graph_config: object, registry: Registry, *, label: str | None = None) -> ReadGraph:
    """Read a graph without checking more than that it is one.

    Args:
        graph_config: as for `penstock.config.read_graph`.
        registry: knows the options that the graph names.
        label: what errors call the graph's file, where that is not the path that is read.

    Returns:
        The CalculatorGraphConfig, which is the caller's, and where in the file its parts stand.

    Raises:
        As `penstock.config.read_graph`.
    """
    from penstock.config.reading import parse  # protobuf

    return parse.read_graph(graph_config, registry, label=label)


def read_expanded(
    message: Message, places: Places, registry: Registry
) -> tuple[Message, tuple[Exception, ...]]:
    """Return a graph with its subgraphs put in, and what is wrong with them.

    Args:
        message: from `read_with_places`; it stays as it is.
        places: from there; they become those of the returned graph.
        registry: knows the subgraphs.

    Returns:
        A CalculatorGraphConfig, in which a node whose subgraph has a fault stands for that subgraph, and the
        faults in file order.
    """
    from penstock.check.faults import Faults
    from penstock.config.options.types import OptionTypes
    from penstock.config.subgraphs.expand import expand  # protobuf

    faults = Faults(places)
    expanded: Message = expand(message, places, registry, faults, OptionTypes(registry)).message
    try:
        faults.raise_any()
    except GraphConfigError as error:
        return expanded, error.faults
    return expanded, ()
