"""`LintedGraph`: a checked graph as rules look at it, and where its parts stand in the file."""

from __future__ import annotations

import inspect
from functools import cache, cached_property
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, Final

from penstock.readers import numbered_nodes, prefix_of
from penstock_lint.edit import Edit, removal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from penstock import Registry
    from penstock.lowlevel import NodePlan, Plan
    from penstock.readers import ReadGraph
    from penstock.runs import PortPlan
    from penstock.types import OptionTypes
    from penstock_lint.measured import Measured

#: Of the handler that keeps all inputs of a node in step.
DEFAULT_HANDLER: Final = "DefaultInputStreamHandler"


class LintedGraph:
    """A graph that loads.

    Args:
        plan: with subgraphs expanded.
        read: the graph as the file has it, or as its template makes it.
        registry, types: find components and options.
        measured: what a run of the graph has shown; None where there is no trace of one.
        is_template: whether the file is a template, whose text says other things than the graph.
    """

    def __init__(  # noqa: PLR0913  # keywords with defaults
        self,
        plan: Plan,
        read: ReadGraph,
        registry: Registry,
        types: OptionTypes,
        measured: Measured | None = None,
        *,
        is_template: bool = False,
    ) -> None:
        #: `plan`, `registry`, `types`, `measured`: as given.
        self.plan: Final = plan
        self.registry: Final = registry
        self.types: Final = types
        self.measured: Final = measured
        #: That of the file, or that its template makes.
        self.message: Any = read.message
        self._places: Final = read.places
        self._is_template: Final = is_template
        names = numbered_nodes([node.name or node.calculator for node in self.message.node])
        self._own: Final = {name: number for number, name in enumerate(names)}
        self._prefixes: Final = {prefix_of(name): number for name, number in self._own.items()}

    # --- nodes and streams --------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[NodePlan, ...]:
        """The nodes, those of subgraphs included."""
        return self.plan.nodes

    def stream(self, port: PortPlan) -> str:
        """Return the name of the stream of a port."""
        return self.plan.streams[port.stream].name

    def writer(self, stream: int) -> NodePlan | None:
        """Return the node that writes a stream; None for a graph input."""
        number = self.plan.streams[stream].producer
        return None if number is None else self.nodes[number]

    @cached_property
    def readers(self) -> dict[int, list[int]]:
        """Stream → the nodes that read it."""
        found: dict[int, list[int]] = {}
        for node in self.nodes:
            for port in node.inputs:
                found.setdefault(port.stream, []).append(node.id)
        return found

    def behind(
        self, start: Collection[int], *, past_back_edges: bool = True, without: Collection[int] = ()
    ) -> set[int]:
        """Return the streams that come of some streams, these included.

        Args:
            start: numbers of streams.
            past_back_edges: whether the way goes on where a back edge is read.
            without: nodes that no way goes through.
        """
        found, waiting = set(start), list(start)
        while waiting:
            stream = waiting.pop()
            for number in self.readers.get(stream, ()):
                node = self.nodes[number]
                is_read = any(
                    port.stream == stream and (past_back_edges or not port.back_edge) for port in node.inputs
                )
                if is_read and number not in without:
                    new = self.outputs_of(node) - found
                    found |= new
                    waiting += new
        return found

    def comes_from_outside(self, stream: int) -> bool:
        """Return whether a stream is an input of a graph that is made to be part of others.

        Streams that other nodes connect with it are not known: they may depend on this graph's outputs.
        """
        return bool(self.message.type) and self.writer(stream) is None

    @staticmethod
    def inputs_of(node: NodePlan) -> set[int]:
        """Return the streams that a node reads."""
        return {port.stream for port in node.inputs}

    @staticmethod
    def outputs_of(node: NodePlan) -> set[int]:
        """Return the streams that a node writes."""
        return {port.stream for port in node.outputs}

    def of_kind(self, *endings: str) -> Iterator[NodePlan]:
        """Yield the nodes whose calculator has one of these names, whatever package is before it."""
        for node in self.nodes:
            if node.calculator.rpartition(".")[2] in endings:
                yield node

    def joins(self) -> Iterator[NodePlan]:
        """Yield the nodes that keep several streams in step."""
        for node in self.nodes:
            if len(self.inputs_of(node)) > 1 and self.is_default(node):
                yield node

    # --- what nodes do ------------------------------------------------------------------------

    @staticmethod
    def is_default(node: NodePlan) -> bool:
        """Return whether all inputs of a node are kept in step."""
        return node.handler.name == DEFAULT_HANDLER

    def is_slow(self, node: NodePlan) -> bool:
        """Return whether the contract says that a call is dear, or a run has shown it."""
        is_measured = self.measured is not None and node.name in self.measured.slow
        return is_measured or node.contract.declared.cost == "high"

    def may_skip(self, node: NodePlan) -> bool:
        """Return whether a call may leave an output without a packet, as the contract or a run says."""
        is_measured = self.measured is not None and node.name in self.measured.skips
        return is_measured or node.contract.declared.may_skip is True

    def forgets_bound(self, node: NodePlan) -> bool:
        """Return whether nobody can know that a node wrote nothing before it writes its next packet."""
        is_settled = node.contract.timestamp_offset is not None or node.contract.process_timestamp_bounds
        return (
            self.may_skip(node)
            and not is_settled
            and bool(node.inputs)
            and not may_call(node.factory, "set_next_timestamp_bound")
        )

    # --- the text -----------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text of the file; "" where it has none."""
        return self._places.text

    def is_of_the_file(self, node: NodePlan) -> bool:
        """Return whether a node stands in the file itself, and not in a subgraph."""
        return node.name in self._own

    def message_of(self, node: NodePlan) -> Any:
        """Return the message of a node of the file, or None."""
        number = self._own.get(node.name)
        return None if number is None else self.message.node[number]

    def position(self, node: int | None, field: str, index: int) -> tuple[int, int]:
        """Return line and column of a node, or of the graph's own field; (0, 0) where there are no lines."""
        if node is not None:
            number = self._number_of(self.nodes[node].name)
            return (0, 0) if number is None else self._places.position_of((("node", number),)) or (0, 0)
        path = ((field, index),) if field else ()
        return self._places.position_of(path) or (0, 0)

    def removal(self, *path: tuple[str, int]) -> Edit | None:
        """Return the edit that takes a field of the file away; None where that is not plain graph text.

        Args:
            path: names and positions from the graph to the field: ("node", 2), ("input_stream_info", 0).
        """
        start = self._offset(path)
        return None if start is None else removal(self.text, start)

    def replacement(self, path: tuple[tuple[str, int], ...], old: str, new: str) -> Edit | None:
        """Return the edit that replaces the first `old` in a field of the file. As `removal`."""
        start = self._offset(path)
        if start is None:
            return None
        at = self.text.find(old, start, removal(self.text, start).end)
        return None if at < 0 else Edit(at, at + len(old), new)

    def insertion(self, text: str, *before: str) -> Edit | None:
        """Return the edit that puts a line before the first of the graph's own fields of these names."""
        for field in before:
            start = self._offset(((field, 0),))
            if start is not None and not self.text[self.text.rfind("\n", 0, start) + 1 : start].strip():
                return Edit(start, start, f"{text}\n")
        return None

    def number_of(self, node: NodePlan) -> int | None:
        """Return which node of the file a node is; None for one of a subgraph."""
        return self._own.get(node.name)

    def _offset(self, path: tuple[tuple[str, int], ...]) -> int | None:
        spot = self._places.root
        if spot is None or self._is_template or self.text.lstrip().startswith("{"):  # JSON
            return None
        for name, index in path:
            inner = spot.get(name, index)
            if inner is None:
                return None
            spot = inner
        return int(spot.offset)

    def _number_of(self, name: str) -> int | None:
        """Return which node of the file a node is, or is inside of."""
        if name in self._own:
            return self._own[name]
        inside = [prefix for prefix in self._prefixes if name.startswith(prefix)]
        return self._prefixes[max(inside, key=len)] if inside else None


def _own_classes(calculator: type) -> Iterator[type]:
    """Yield a class and those that it is derived from, but for those of the core and of Python."""
    yield from filter(_is_own, calculator.__mro__)


def _is_own(one: type | FunctionType) -> bool:
    """Return whether a class or function is neither the core's nor Python's; some know no module."""
    return not (one.__module__ or "").startswith(("builtins", "penstock."))


def may_call(calculator: type, name: str) -> bool:
    """Return whether the code of a calculator uses a name; True where there is no code to look at.

    Looks at the methods of the class and of those that it is derived from, but not `Calculator` itself, and
    at what they name in turn: functions and classes, directly or by their module. From a function of another
    package the search goes no further. What reaches a method by other ways (an argument, an attribute of the
    object) is not seen.

    Args:
        calculator: a class.
        name: of a method or function, as the code has it; other classes of the module do not count.
    """
    names = _names_used(calculator)
    return not names or name in names


@cache
def _names_used(calculator: type) -> frozenset[str]:
    """Return the names and texts in the code that `may_call` looks at; none where there is no code."""
    found: set[str] = set()
    waiting: list[object] = list(_own_classes(calculator))
    seen = set(map(id, waiting))
    home = calculator.__module__.partition(".")[0]
    while waiting:
        one = waiting.pop()
        for function in _functions_of(one):
            names = set(_names_in(function.__code__))
            found |= names
            if (function.__module__ or "").partition(".")[0] == home:
                new = [other for other in _named(function.__globals__, names) if id(other) not in seen]
                seen.update(map(id, new))
                waiting += new
    return frozenset(found)


def _functions_of(one: object) -> Iterator[FunctionType]:
    """Yield a function, or the methods of a class, as they were written: without wrappers and descriptors."""
    for member in vars(one).values() if isinstance(one, type) else (one,):
        bare = member.fget if isinstance(member, property) else inspect.unwrap(member)  # type: ignore[arg-type]
        if isinstance(bare, FunctionType):
            yield bare


def _names_in(code: CodeType) -> Iterator[str]:
    """Yield the names and texts of a function's code and of the functions inside of it."""
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, str):  # as in getattr(port, "set_next_timestamp_bound")
            yield value
        elif isinstance(value, CodeType):
            yield from _names_in(value)


def _named(variables: Mapping[str, object], names: Collection[str]) -> Iterator[object]:
    """Yield functions and classes, but not the core's, that a function names directly or as `module.name`."""
    for name in names:
        value = variables.get(name)
        inside = [vars(value).get(other) for other in names] if isinstance(value, ModuleType) else [value]
        yield from (one for one in inside if isinstance(one, FunctionType | type) and _is_own(one))
