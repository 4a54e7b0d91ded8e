"""Which wirings a calculator can have, found from its documented example and its contract.

The search begins with the example config of its docstring, or with no port at all. Every port that the
contract demands is connected, then optional ones as far as they are accepted together, then one more
of each repeated tag. A wiring that a graph would refuse is left out.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from penstock import Calculator, CalculatorContract
from penstock.config import build_plan, read_graph
from penstock.errors import GraphConfigError, InvalidArgumentError, PenstockError
from penstock.ports import TagMap
from penstock.types import Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock import Registry

SINK: Final = "ConformanceSink"
_FIELDS: Final = {
    "inputs": ("input_stream", "in"),
    "outputs": ("output_stream", "out"),
    "input_side_packets": ("input_side_packet", "side"),
    "output_side_packets": ("output_side_packet", "made"),
}
#: With this many ports asked for, one after the other, the contract counts as one that never ends.
_MANY: Final = 40
#: A block that is indented further than the line above it.
_EXAMPLE: Final = re.compile(r"^(?:Example c|C)onfig::\n((?:[ \t]+.*\n?|\n)+)", re.MULTILINE)


class Sink(Calculator):
    """Notes the header and the packets of a stream, as a node that reads it gets them."""

    @classmethod
    def get_contract(cls, cc: Any) -> None:
        """Take a stream, and the list that notes go to."""
        cc.inputs[0].set_any()
        cc.input_side_packets["SEEN"].set(list)

    def open(self, cc: Any) -> None:
        """Note the header."""
        self._seen: list[Any] = cc.input_side_packets["SEEN"].payload
        header = cc.input.header
        self._seen.append(("header", None if header.is_empty() else header.payload))

    def process(self, cc: Any) -> None:
        """Note a packet."""
        self._seen.append((int(cc.input_timestamp), cc.input.payload))


def example_of(calculator: type[Calculator]) -> str | None:
    """Return the config that a calculator's docstring shows under "Example config::", or None."""
    shown = _EXAMPLE.search(inspect.getdoc(calculator) or "")
    return inspect.cleandoc(shown[1]) if shown else None


def node_named(text: str, name: str, registry: Registry) -> Any:
    """Return the node of a graph text that is of this calculator, its ports renamed and no cycle marked.

    Where a text has one node only, its calculator may have another name: that of an alias.

    Raises:
        InvalidArgumentError: there is no such node.
        GraphParseError: it is no graph text.
    """
    config = read_graph(text, registry)
    node = next((node for node in config.node if node.calculator == name), None)
    if node is None and len(config.node) == 1:
        node = config.node[0]
        node.calculator = name
    if node is None:
        found = ", ".join(repr(one.calculator) for one in config.node) or "no node"
        raise InvalidArgumentError(
            f"the connections have {found}, but no node of calculator {name!r}; add one"
        )
    del node.input_stream_info[:]
    node.name = ""
    for kind in _FIELDS:
        _connect(node, kind, TagMap(_entries(node, kind)).ids())
    return node


def legal_wirings(calculator: type[Calculator], node: Any, registry: Registry) -> list[Any]:
    """Return Node messages of all wirings that are tried, each a graph that loads, none twice.

    Args:
        calculator: the class.
        node: a Node message to begin with: its ports and options.
        registry: for the names in the graph.

    Raises:
        GraphConfigError: not even the first one loads; says why.
    """
    search = _Search(calculator, registry)
    found: list[Any] = []
    least = search.completed(node)
    refusal: PenstockError | None = None
    for one in (least, search.with_optional(least), search.with_more(least)):
        try:
            build_plan(graph_of(one), registry)
        except GraphConfigError as error:
            refusal = refusal or error
        else:
            if one not in found:
                found.append(one)
    if refusal is not None and not found:
        raise refusal
    return found


def graph_of(node: Any) -> Any:
    """Return the graph: the node between graph inputs and sinks."""
    from penstock.config import CalculatorGraphConfig  # protobuf

    config = CalculatorGraphConfig()
    config.input_stream.extend(TagMap(node.input_stream).names())
    config.node.add().CopyFrom(node)
    for stream in TagMap(node.output_stream).names():
        config.node.add(calculator=SINK, input_stream=[stream], input_side_packet=[f"SEEN:seen_{stream}"])
    return config


class _Search:
    """Asks a calculator for its contract with one wiring after the other."""

    def __init__(self, calculator: type[Calculator], registry: Registry) -> None:
        self._calculator = calculator
        self._registry = registry

    def completed(self, node: Any) -> Any:
        """Return the node with what its contract demands connected."""
        for _ in range(_MANY):
            missing = [(kind, port) for kind, port, optional in self._unconnected(node) if not optional]
            if not missing:
                return node
            node = _with(node, missing)
        return node

    def with_optional(self, node: Any) -> Any:
        """Return the node with each optional port connected that the graph takes together with the others."""
        for kind, port, _ in list(self._unconnected(node)):
            node = self._if_legal(_with(node, [(kind, port)]), node)
        return node

    def with_more(self, node: Any) -> Any:
        """Return the node with one more port of each tag that may have it: on both sides, or on one."""
        ids = {kind: Counter(tag for tag, _ in TagMap(_entries(node, kind)).ids()) for kind in _FIELDS}
        for tag in sorted({tag for counts in ids.values() for tag in counts}):
            more = [(kind, (tag, counts[tag])) for kind, counts in ids.items() if tag in counts]
            streams = [one for one in more if one[0] in ("inputs", "outputs")]
            for choice in (more, streams, streams[:1], more[-1:]):
                grown = self._if_legal(_with(node, choice), node)
                if grown is not node:
                    node = grown
                    break
        return node

    def _if_legal(self, node: Any, otherwise: Any) -> Any:
        try:
            build_plan(graph_of(node), self._registry)
        except GraphConfigError:
            return otherwise
        return node

    def _unconnected(self, node: Any) -> Iterator[tuple[str, tuple[str, int], bool]]:
        inputs, outputs, sides, made = (TagMap(_entries(node, kind)) for kind in _FIELDS)
        options = Options(node.options, node.node_options)
        contract = CalculatorContract(node.calculator, inputs, outputs, sides, made, options)
        try:
            self._calculator.get_contract(contract)
        except PenstockError:
            return  # loading the graph reports it better
        for kind in _FIELDS:
            for port, spec in getattr(contract, kind).unconnected.items():
                yield kind, port, spec.is_optional


def _entries(node: Any, kind: str) -> Sequence[str]:
    entries: Sequence[str] = getattr(node, _FIELDS[kind][0])
    return entries


def _with(node: Any, ports: Sequence[tuple[str, tuple[str, int]]]) -> Any:
    grown = type(node)()
    grown.CopyFrom(node)
    for kind in _FIELDS:
        ids = {*TagMap(_entries(grown, kind)).ids(), *(port for of_kind, port in ports if of_kind == kind)}
        # a contract may ask for the third of a tag before it asks for the second
        _connect(grown, kind, sorted({(tag, i) for tag, index in ids for i in range(index + 1)}))
    return grown


def _connect(node: Any, kind: str, ids: Sequence[tuple[str, int]]) -> None:
    field, prefix = _FIELDS[kind]
    entries = [
        f"{tag}:{index}:{prefix}_{tag.lower()}_{index}" if tag else f"{prefix}_{index}" for tag, index in ids
    ]
    del getattr(node, field)[:]
    getattr(node, field).extend(entries)
