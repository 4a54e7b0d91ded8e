"""`Subgraph`: a graph that is computed for each node that uses it, and what the computation may read.

A subgraph that is always the same is a graph file registered by name, and needs no class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from penstock.errors import NotFoundError
from penstock.service_makers import maker_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.config.message import Message
    from penstock.config.options.options import Options
    from penstock.port_tags import TagMap
    from penstock.services import ServiceKey

M = TypeVar("M")
S = TypeVar("S")


class SubgraphContext:
    """The node that a subgraph replaces. Made for one call of `get_config`, which may keep it."""

    def __init__(  # noqa: PLR0913, PLR0917  # what a node is, and what its graph has
        self,
        node_name: str,
        node: Message,
        options: Options,
        ports: tuple[TagMap, ...],
        services: Mapping[ServiceKey[Any], object] | None = None,
        file: str | None = None,
    ) -> None:
        #: Canonical name of the node in the graph that it is expanded into.
        self.node_name = node_name
        #: A copy of the node, a CalculatorGraphConfig.Node message. Changing it changes nothing.
        self.node = node
        self._options = options
        self._services = services or {}
        self._file = file
        #: `inputs`, `outputs`, `input_side_packets`, `output_side_packets`: the ports that the graph
        #: connects, in id order, each with tag, index, and the name of the stream or side packet.
        self.inputs, self.outputs, self.input_side_packets, self.output_side_packets = ports

    def options(self, message_type: type[M]) -> M:
        """Return the node's options of a class: what the graph gives, or the defaults.

        Args:
            message_type: a protobuf message class, whose message is a copy for the caller; or an attrs class.

        Raises:
            InvalidArgumentError: `message_type` is neither; or the attrs class refuses what the graph gives.
        """
        return self._options.get(message_type)

    def has_options(self, message_type: type[Any]) -> bool:
        """Return whether the node gives options of a class.

        Raises:
            InvalidArgumentError: `message_type` is no message class and no attrs class.
        """
        return self._options.has(message_type)

    def service(self, key: ServiceKey[S]) -> S:
        """Return a service that the application gives with `CalculatorGraph(..., services={key: service})`.

        Where it gives none, the object is the one that the key makes, for this call alone.

        Raises:
            NotFoundError: it is not given, and the key makes none.
        """
        given: Any = self._services.get(key)
        if given is None:
            make = maker_of(key, self._file)
            if make is None:
                raise NotFoundError(
                    f"service {key.name!r} is not there while the graph is loaded; pass services={{key: "
                    "object} to CalculatorGraph, since graph.set_service comes too late for a subgraph"
                )
            return make()
        service: S = given
        return service


class Subgraph:
    """A graph computed for the node that uses it: register a subclass as a subgraph.

    The returned graph replaces the node: its interface is matched by tag and index, and its
    streams, side packets and nodes get the node's name as a prefix. `Options = ChainOptions`, an attrs
    class or a protobuf message class, makes these options known to the graph files that use it.
    """

    @classmethod
    def get_config(cls, sc: SubgraphContext) -> object:
        """Return the graph that replaces `sc.node`. Called once for each such node of a graph.

        Returns:
            What `CalculatorGraph` takes: graph text, a `pathlib.Path`, a CalculatorGraphConfig, a `dict`
            as JSON has it, or an object with `to_config()`. It is copied.
        """
        raise NotImplementedError(f"penstock.Subgraph class {cls.__qualname__} has no get_config(cls, sc)")
