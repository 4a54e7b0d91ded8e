"""Subgraphs: each node that names one is replaced by the nodes of that subgraph's graph.

Before that, the `option_value` entries of the nodes are carried out: they refer to the graph around the
nodes.

Rounds go from the outside in: in each, all nodes that are subgraphs move behind the others, and are then
replaced by their nodes. Only the nodes of a subgraph are kept; its own threads, executors, queue sizes and
handlers count only where it runs as a graph of its own. A node that cannot be replaced stays, and its fault
is noted, so that the nodes connected with it can still be checked. Source of names and order: MediaPipe
`tool/subgraph_expansion`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from penstock.check.faults import cause_words
from penstock.check.name_lookups import Names, has_subgraphs
from penstock.check.nodes import numbered_nodes, tag_map, who
from penstock.check.spec import REFUSED_IN_GRAPH, Text
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.options.messages import messages_in
from penstock.config.options.option_places import OptionPlaces
from penstock.config.options.options import Options
from penstock.config.places import ReadGraph, Spot
from penstock.config.reading.files import is_path
from penstock.config.reading.parse import read_definition, read_made_graph
from penstock.config.subgraphs.interface import PORT_FIELDS, Interface
from penstock.config.subgraphs.subgraph import Subgraph, SubgraphContext
from penstock.errors import (
    InvalidArgumentError,
    OptionError,
    PenstockError,
    ResourceExhaustedError,
    StatusCode,
    code_of,
)
from penstock.late_log import LateLogger, place
from penstock.limits import check, current
from penstock.port_tags import TagMap
from penstock.record import NamedTuple
from penstock.shown import clipped, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.check.faults import Faults
    from penstock.config.graph_reader import GraphDefinition, GraphReader
    from penstock.config.message import Message
    from penstock.config.options.option_types import OptionTypes
    from penstock.config.places import Places
    from penstock.registry import Registry
    from penstock.services import ServiceKey

__all__ = ["Expanded", "Subgraph", "SubgraphContext", "expand", "with_subgraphs"]

_LOG: Final = LateLogger("config")
#: How much of the limit of text each byte of a node takes: it is held in several forms.
_TEXT_OF_BYTE: Final = 3
#: Fields that are for calculators, and an error on a subgraph.
_NOT_FOR_SUBGRAPHS: Final = (
    "source_layer", "buffer_size_hint", "output_stream_handler", "input_stream_info", "failure",
)  # fmt: skip
#: Fields that are accepted and have no effect where the subgraph is a file.
_IGNORED: Final = ("executor", "max_in_flight", "input_stream_handler")


class Expanded(NamedTuple):
    """A graph without subgraphs."""

    #: A CalculatorGraphConfig.
    message: Message
    #: For each node the places of its file, and where it stands there; None where all nodes stand in the
    #: graph's own file.
    origins: list[tuple[Places, Spot | None]] | None


def expand(  # noqa: PLR0913  # the parts of one build
    message: Message,
    places: Places,
    registry: Registry,
    faults: Faults,
    types: OptionTypes,
    *,
    names: Names | None = None,
    services: Mapping[ServiceKey[Any], object] | None = None,
) -> Expanded:
    """Carry out `option_value`, and replace the nodes that are subgraphs. Faults are noted, not raised.

    Args:
        message: a CalculatorGraphConfig, which does not change.
        places: of its file; includes those of the subgraphs' files afterwards.
        registry: finds the subgraphs. A name that is a calculator's too is a subgraph.
        faults: of this graph.
        types: finds the options of the graph and its subgraphs.
        names: of the registry and the graph's package; None makes them.
        services: what subgraphs that are computed may ask for.
    """
    if names is None:
        names = Names(registry, message.package, faults)
    if not has_subgraphs(message, names):
        return Expanded(message, None)
    expanded = CalculatorGraphConfig()
    expanded.CopyFrom(message)
    expansion = _Expansion(places, registry, names, faults, types)
    expansion.services = services
    parts = expansion.run(expanded)
    del expanded.node[:]
    expanded.node.extend(part.node for part in parts)
    return Expanded(expanded, [(part.places, part.spot) for part in parts])


def with_subgraphs(registry: Registry, subgraphs: Mapping[str, object] | Iterable[object]) -> Registry:
    """Return a registry that has these subgraphs too; they go before those of `registry`.

    Args:
        registry: does not change.
        subgraphs: name → what `CalculatorGraph` takes, templates included, or a `Subgraph` class; or graphs
            that have a `type`, which is the name.

    Raises:
        InvalidArgumentError: a graph has no type, or two have the same; or a name cannot be registered;
            or `subgraphs` is a str.
        GraphParseError, NotFoundError: as `read_graph`, for the graphs whose `type` is the name.
    """
    if isinstance(subgraphs, str):
        raise InvalidArgumentError("subgraphs to expand: pass a dict from name to graph or a list, not a str")
    child = registry.child()
    if isinstance(subgraphs, Mapping):
        for name, graph in subgraphs.items():
            child.add("subgraph", name, _Given(graph) if isinstance(graph, str) else graph)
        return child
    seen = set[str]()
    for i, graph in enumerate(subgraphs):
        loaded = read_definition(graph, registry, label=f"<subgraph {i}>")
        name = (loaded.message if isinstance(loaded, ReadGraph) else loaded.graph).type
        if not name or name in seen:
            what = f"type {quoted(name)}, as one before it" if name else "no type"
            cure = "give it another type, or pass subgraphs as a dict from name to graph"
            raise InvalidArgumentError(f"subgraph {i} has {what}; {cure}")
        seen.add(name)
        child.add("subgraph", name, loaded)
    return child


class _Given(NamedTuple):
    """Graph text that a name stands for. A registry would read a bare str as "module:attribute"."""

    text: str

    def to_config(self) -> str:
        return self.text


class _Part(NamedTuple):
    """A node on its way into the expanded graph."""

    #: A Node message.
    node: Message
    #: `places`, `spot`: where it stands.
    places: Places
    spot: Spot | None
    #: The subgraphs that it is in, outermost first. Each is its name and what its graph depends on: the
    #: options for a class or a template, "" for a graph that is always the same.
    inside: tuple[tuple[str, bytes], ...] = ()
    #: Whether it is a subgraph that cannot be replaced.
    has_failed: bool = False

    def at(self, field: str = "calculator", index: int = 0) -> int:
        return self.places.at(self.places.of(self.spot, field, index))


class _Computed(NamedTuple):
    """The graph that a `Subgraph` class returned for one node, and how messages name the class."""

    graph: object
    label: str


class _Expansion:
    """The rounds over one graph."""

    def __init__(
        self, places: Places, registry: Registry, names: Names, faults: Faults, types: OptionTypes
    ) -> None:
        self.types = types
        self._places = places
        self._registry = registry
        self._names = names
        self._faults = faults
        #: Id of what a name stands for → that object, which keeps its id while it is here, and what was read,
        #: or why it cannot be.
        self._read: dict[int, tuple[object, Any]] = {}
        self._sizes: dict[str, int] = {}
        #: The bytes of the nodes that one round has made.
        self.text = 0
        #: What computed subgraphs may ask for.
        self.services: Mapping[ServiceKey[Any], object] | None = None
        #: The file of the graph; None where it comes from none.
        self.file: Final = places.file

    def run(self, message: Message) -> list[_Part]:
        root = self._places.root
        parts = [
            _Part(node, self._places, self._places.of(root, "node", i)) for i, node in enumerate(message.node)
        ]
        names = numbered_nodes([part.node.name or part.node.calculator for part in parts])
        for part, name in zip(parts, names, strict=True):
            _set_options(part, name, message, None, self._faults, self.types)
        size = sum(self._size(part.node.calculator, message.package) for part in parts)
        check("nodes", size, f"with its subgraphs expanded the graph has {size} nodes")
        self._check_inside(parts, size)
        while True:
            plain = [part for part in parts if not self._is_subgraph(part)]
            subgraphs = [part for part in parts if self._is_subgraph(part)]
            if not subgraphs:
                return parts
            names = numbered_nodes([part.node.name or part.node.calculator for part in (*plain, *subgraphs)])
            size = len(plain) + sum(self._size(part.node.calculator, message.package) for part in subgraphs)
            parts, self.text = plain, 0
            for part, name in zip(subgraphs, names[len(plain) :], strict=True):
                made = _Use(part, name, self._faults).expand(self)
                parts += made
                size -= self._size(part.node.calculator, message.package)
                # what a template has made may be known to become many more
                size += sum(self._size(inner.node.calculator, message.package) for inner in made)
                check("nodes", size, f"with its subgraphs expanded the graph has {size} nodes")

    def _check_inside(self, parts: list[_Part], size: int) -> None:
        """Check how many nodes the options of subgraphs hold, before any of them is made."""
        most = current().nodes
        for part in parts:
            if not self._names.is_subgraph(part.node.calculator) or not part.node.HasField("options"):
                continue
            for inner, _ in messages_in(part.node.options):
                size += isinstance(inner, CalculatorGraphConfig.Node)
                if size > most:
                    check("nodes", size, f"with the nodes in options of subgraphs the graph has {size} nodes")

    def _size(self, name: str, package: str, inside: tuple[str, ...] = ()) -> int:
        """Return how many nodes a node becomes. What is made for each use counts as one, as what is wrong."""
        if name not in self._sizes:
            nodes: Iterable[Message] = ()
            if self._names.is_subgraph(name) and name not in inside and len(inside) < current().depth:
                with suppress(Exception):  # foreign code; what is wrong is reported where the graph is needed
                    loaded = self._definition(self._registry.find("subgraph", name, package), name)
                    nodes = loaded.message.node if isinstance(loaded, ReadGraph) else ()
            inner = [self._size(node.calculator, package, (*inside, name)) for node in nodes]
            self._sizes[name] = sum(inner) or 1
        return self._sizes[name]

    def _is_subgraph(self, part: _Part) -> bool:
        return not part.has_failed and self._names.is_subgraph(part.node.calculator)

    def find(self, use: _Use) -> object | None:
        """Return what the subgraph's name stands for; None where that is a fault."""
        return self._names.find("subgraph", use.part.node.calculator, use.part.at(), f"{use.who}: ", use.name)

    def graph(self, found: object, options: Options, use: _Use, note: str) -> ReadGraph | None:
        """Return the graph that replaces a node: a message that must not be changed, and places of its own.

        Returns:
            None where the graph is a template with mistakes, which are noted.

        Raises:
            PenstockError: the graph cannot be read.
            Exception: what `to_config` of a foreign object raises.
        """
        if isinstance(found, _Computed):
            self.types.is_settled = False
            made = read_made_graph(found.graph, self._registry, found.label, self.types)
            return made._replace(places=self._places.include(made.places, note))
        loaded = self._definition(found, use.part.node.calculator)
        places = self._places.include(loaded.places, note)
        if isinstance(loaded, ReadGraph):
            return loaded._replace(places=places)
        arguments = loaded.arguments_of(options)
        graph = loaded.expand(places, self._faults, arguments, use.name)
        if unknown := loaded.unknown(arguments):
            self.types.is_settled = False  # an equal graph is to be warned of too
            use.warn_of_unknown(unknown)
        return graph

    def is_made_for_use(self, found: object, name: str) -> bool:
        """Return whether each use of a subgraph has a graph of its own: it is computed, or a template."""
        if found is None or _computes(found):
            return found is not None
        try:
            return not isinstance(self._definition(found, name), ReadGraph)
        except Exception:  # noqa: BLE001  # reported where the graph is needed
            return False

    def _definition(self, found: object, name: str) -> ReadGraph | GraphDefinition:
        self.types.is_settled &= is_path(found)  # what others hold or return may change
        if isinstance(found, ReadGraph):
            return found
        if id(found) not in self._read:
            try:
                label = f"<subgraph {name}>"
                read: Any = read_definition(found, self._registry, label=label, types=self.types)
            except Exception as error:  # noqa: BLE001  # foreign code; raised at each use, and read once
                read = error
            self._read[id(found)] = (found, read)
        read = self._read[id(found)][1]
        if isinstance(read, Exception):
            raise read.with_traceback(None)
        return read  # type: ignore[no-any-return]  # what `read_definition` returned


def _computes(found: object) -> bool:
    """Return whether an object that is registered as a subgraph computes a graph for each use."""
    return callable(getattr(found, "get_config", None))


def prefix_of(node_name: str) -> str:
    """Return the prefix of the names inside a subgraph: the node's name, with "_" for foreign characters."""
    prefix = re.sub(r"[^a-z0-9_]", "_", node_name.lower())
    return f"_{prefix}__" if prefix[:1].isdigit() else f"{prefix}__"


class _Use:
    """One node that is a subgraph, and its replacement."""

    def __init__(self, part: _Part, name: str, faults: Faults) -> None:
        self.part = part
        self.name = name
        self.who = who(name, part.node.calculator)
        self._faults = faults
        self._key = part.node.calculator, b""

    def expand(self, expansion: _Expansion) -> list[_Part]:
        """Return the nodes that replace this one."""
        failed = self.part._replace(has_failed=True)
        found = expansion.find(self)
        kind = self.part.node.calculator
        self._key = kind, self._options_key() if expansion.is_made_for_use(found, kind) else b""
        if found is not None and self._is_circle():
            return [failed]
        self._check_fields()
        outer = self._ports()
        if found is None or outer is None or self.part.places.at(self.part.spot) in self._faults.unread:
            return [failed]
        graph = self._graph(expansion, found, outer)
        inner = None if graph is None else self._interface(graph)
        if graph is None or inner is None:
            return [failed]
        if not _computes(found):
            self._warn_of_ignored(expansion.types)
        return self._replaced(graph, Interface(prefix_of(self.name), outer, inner), expansion)

    def _fault(
        self,
        at: int,
        words: str,
        code: StatusCode = StatusCode.INVALID_ARGUMENT,
        cause: BaseException | None = None,
    ) -> None:
        self._faults.add(at, f"{self.who}: {words}", code=code, node=self.name, cause=cause)

    # --- what the node says -----------------------------------------------------------------------

    def _is_circle(self) -> bool:
        kind, inside = self.part.node.calculator, self.part.inside
        names = [name for name, _ in inside]
        if self._key in inside:
            circle = " → ".join((*names[inside.index(self._key) :], kind))
            words = f"subgraph {quoted(kind)} contains itself: {clipped(circle)}; take one of them out"
            self._fault(self.part.at(), words)
            return True
        if len(inside) >= current().depth:
            where = self.part.places.where(self.part.at())
            check("depth", len(inside) + 1, f"{where}{self.who} is inside of {len(inside)} subgraphs")
        return False

    def _options_key(self) -> bytes:
        options = CalculatorGraphConfig.Node(
            options=self.part.node.options, node_options=self.part.node.node_options
        )
        return bytes(options.SerializePartialToString(deterministic=True))

    def _check_fields(self) -> None:
        given = {field.name for field, _ in self.part.node.ListFields()}
        for field in _NOT_FOR_SUBGRAPHS:
            if field in given:
                words = f"{field} is for calculators, and this is a subgraph; set it on the nodes inside"
                self._fault(self.part.at(field), words)

    def _ports(self) -> dict[str, TagMap] | None:
        """Return the ports that the node connects; None where they cannot be read, which is noted later."""
        try:
            return {field: TagMap(getattr(self.part.node, field)) for field in PORT_FIELDS}
        except PenstockError:
            return None

    def _warn_of_ignored(self, types: OptionTypes) -> None:
        given = {field.name for field, _ in self.part.node.ListFields()}
        for field in _IGNORED:
            if field in given:
                types.is_settled = False  # an equal graph is to be warned of too
                where = self.part.places.where(self.part.at(field))
                _LOG.warning(
                    "%s%s: %s of a subgraph has no effect", where, self.who, field, extra=place(self.name)
                )

    # --- the graph of the subgraph ----------------------------------------------------------------

    def _graph(self, expansion: _Expansion, found: object, outer: dict[str, TagMap]) -> ReadGraph | None:
        node = type(self.part.node)()
        node.CopyFrom(self.part.node)
        options = Options(node.options if node.HasField("options") else None, node.node_options)
        ports = tuple(outer.values())
        sc = SubgraphContext(self.name, node, options, ports, expansion.services, expansion.file)
        at = self.part.at()
        where = self.part.places.where(at)
        note = f"used by {self.who} at {where}" if where else f"used by {self.who}: "
        compute = getattr(found, "get_config", None)
        doing = "get_config() failed"
        try:
            if callable(compute):
                found = _Computed(compute(sc), _label(found))
            doing = "the subgraph cannot be read"
            graph = expansion.graph(found, options, self, note)
        except ResourceExhaustedError as error:
            raise error.placed(note) from error
        except Exception as error:  # noqa: BLE001  # foreign code: any exception is a fault of the graph
            if isinstance(error, OptionError):
                places = OptionPlaces(self.part.node, self.part.places, self.part.spot, at)
                at = places.at(error.options, error.path)
            self._fault(at, f"{doing}: {cause_words(error)}", code_of(error), error)
            return None
        if graph is not None:
            for _, fault, node in graph.unread:
                self._fault(at, str(fault), fault.code, fault)
                self._faults.unread.add(graph.places.at(Spot(node)))
        return graph

    def warn_of_unknown(self, names: list[str]) -> None:
        """Log the names of arguments that the definition ignores."""
        where = self.part.places.where(self.part.at("options"))
        for name in names:
            words = "%s%s: the template has no param %r, so giving it has no effect"
            _LOG.warning(words, where, self.who, name, extra=place(self.name))

    def _interface(self, graph: ReadGraph) -> dict[str, TagMap] | None:
        """Check the subgraph's own fields; return its ports, or None where they cannot be read."""
        inner = {}
        is_right = True
        for field in PORT_FIELDS:
            entries = [
                Text(entry, self._at(graph, field, i))
                for i, entry in enumerate(getattr(graph.message, field))
            ]
            prefix = f"the subgraph's {field}"
            inner[field], right = tag_map(entries, self._faults, prefix, self.name)
            is_right = is_right and right
        for field, instead in REFUSED_IN_GRAPH.items():
            if getattr(graph.message, field):
                words = f"{field} is not supported; {instead}"
                self._faults.add(self._at(graph, field), words, code=StatusCode.UNIMPLEMENTED, node=self.name)
        return inner if is_right else None

    @staticmethod
    def _at(graph: ReadGraph, field: str, index: int = 0) -> int:
        return graph.places.at(graph.places.of(graph.places.root, field, index))

    # --- the replacement --------------------------------------------------------------------------

    def _replaced(self, graph: ReadGraph, interface: Interface, expansion: _Expansion) -> list[_Part]:
        places = graph.places
        inside = (*self.part.inside, self._key)
        nodes = graph.message.node
        names = numbered_nodes([node.name or node.calculator for node in nodes])
        parts = []
        for i, (node, name) in enumerate(zip(nodes, names, strict=True)):
            made = type(node)()
            made.CopyFrom(node)
            spot = interface.rename(made, name, places.of(places.root, "node", i))
            part = _Part(made, places, spot, inside)
            _set_options(part, made.name, graph.message, self.part.node, self._faults, expansion.types)
            parts.append(part)
            expansion.text += _TEXT_OF_BYTE * len(
                made.SerializePartialToString()
            )  # each node repeats the names around it
            check("text", expansion.text, "the nodes inside of subgraphs have too long names and options")
        for misfit in interface.misfits:
            self._fault(self.part.at(misfit.field, misfit.entry), misfit.words)
        if interface.misfits:
            parts.append(self._rest(interface))
        return parts

    def _rest(self, interface: Interface) -> _Part:
        """Return a node that writes the streams of the ports that do not fit: their readers need them."""
        node = type(self.part.node)(name=self.name, calculator=self.part.node.calculator)
        for misfit in interface.misfits:
            if misfit.field.startswith("output"):
                entry = getattr(self.part.node, misfit.field)[misfit.entry]
                getattr(node, misfit.field).append(entry.rpartition(":")[2])
        return _Part(node, self.part.places, self.part.spot, self.part.inside, has_failed=True)


def _set_options(  # noqa: PLR0913, PLR0917  # a node, where it stands, and what else is asked
    part: _Part,
    name: str,
    graph: Message,
    user: Message | None,
    faults: Faults,
    types: OptionTypes,
) -> None:
    """Let the reader of templates carry out the `option_value` entries of a node; changes its message."""
    entries = list(part.node.option_value)
    if not entries:
        return
    from penstock.plugins.default_registry import find_component  # few nodes have any

    try:
        before = f"{who(name, part.node.calculator)}: option_value: "
        reader: GraphReader = find_component("graph reader", "template", types.registry, before)
    except PenstockError as missing:
        faults.add(part.at("option_value"), str(missing), code=missing.code, node=name, cause=missing)
        return
    for i, error in reader.set_option_values(part.node, graph, types, user):
        words = f"{who(name, part.node.calculator)}: option_value {quoted(entries[i])}: {error}"
        faults.add(part.at("option_value", i), words, code=error.code, node=name, cause=error)


def _label(computing: object) -> str:
    cls = computing if isinstance(computing, type) else type(computing)
    return f"{cls.__module__}:{cls.__qualname__}"
