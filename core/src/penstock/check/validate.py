"""The check of a whole graph: returns a `Plan`, or raises all faults at once, in file order.

A fault never hides another one that could still be found: what is unknown (a calculator that
does not exist, ports that cannot be read) counts as fitting everything. Linear in the size of the
graph. Sources: MediaPipe `framework/validated_graph_config`, `tool/validate_name`, `calculator_node`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from penstock.check.adapting import Adaptation, with_adapters
from penstock.check.assemble import DEFAULT_QUEUE_SIZE, Checked, assemble
from penstock.check.edges import Wiring
from penstock.check.executors import check_executor, plan_executors
from penstock.check.failure_layer import plan_failure
from penstock.check.handlers import Handlers
from penstock.check.nodes import Draft, numbered_nodes, tag_map
from penstock.check.order import stable_order
from penstock.check.port_types import PortTypes, name_of
from penstock.check.spec import REFUSED_IN_GRAPH
from penstock.errors import StatusCode
from penstock.late_log import LateLogger, place
from penstock.near_names import did_you_mean
from penstock.payload_types import conversion
from penstock.port_tags import port_name
from penstock.shown import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from penstock.check.edges import Edge
    from penstock.check.name_lookups import Names
    from penstock.check.protocols import OptionsFactory
    from penstock.check.spec import GraphSpec
    from penstock.contract import PortSpec
    from penstock.plan import Plan
    from penstock.port_tags import TagMap

_LOG: Final = LateLogger("config")


def validate(
    graph: GraphSpec,
    names: Names,
    options_of: OptionsFactory,
    *,
    in_order: Callable[[Any, list[int]], Any] | None = None,
    option_types: object = None,
) -> Plan:
    """Check a graph and plan its runs.

    Args:
        graph: as the file has it.
        names: of the graph. Their faults are what is known to be wrong already.
        options_of: makes the options of handlers and executors that the graph gives none.
        in_order: makes the plan's `config`: given the message and the order of its nodes, returns the
            message in that order. None keeps the message as it is.
        option_types: what the plan keeps to write its `config`.

    Returns:
        The plan. Its nodes are in file order where that is possible, else in an order as close to it as
        possible.

    Raises:
        GraphConfigError: has every fault. Their codes are the reference's.
    """
    checks = _Validation(graph, names, options_of, adapts=True)
    checks.run()
    if checks.adaptations:
        graph = with_adapters(graph, checks.adaptations, checks.all_names(), options_of(None))
        checks = _Validation(graph, names, options_of, adapts=False)
        checks.run()
    return checks.plan(in_order, option_types)


class _Validation:
    """The steps, and what each leaves for the next.

    With `adapts`, inputs that an adapter can serve are no faults: `run` leaves them in `adaptations`.
    """

    def __init__(self, graph: GraphSpec, names: Names, options_of: OptionsFactory, *, adapts: bool) -> None:
        self._graph = graph
        self._names = names
        self._faults = names.faults
        self._options_of = options_of
        self._types = PortTypes()
        self._order: list[int] = []
        self._adapts = adapts
        self.adaptations: list[Adaptation] = []

    def run(self) -> None:
        """Check everything. Raises GraphConfigError with all faults."""
        graph, faults = self._graph, self._faults
        self._check_graph()
        self._graph_inputs = graph_inputs = self._interface()
        self._executors = plan_executors(graph, self._names, self._options_of)
        declared = {executor.name for executor in self._executors}
        handlers = Handlers(graph, self._names, self._options_of)
        names = numbered_nodes([node.name or node.calculator.text for node in graph.nodes])
        self._drafts = [Draft(spec, name, self._names) for spec, name in zip(graph.nodes, names, strict=True)]
        for number, draft in enumerate(self._drafts):
            if draft.spec.failure is not None:
                self._names.is_settled = False  # the layer keeps what it has read of this graph
                plan_failure(graph, number, draft, self._names)
        self._handler_plans = []
        for draft in self._drafts:
            if draft.spec.executor.text:
                check_executor(draft, declared, faults)
            if draft.spec.max_in_flight.value > 1:
                self._check_overlap(draft)
            self._handler_plans.append(handlers.plan(draft))
        self._wiring = Wiring(self._drafts, graph_inputs, faults)
        self._sort()
        self._resolve_types()
        faults.raise_any()

    def all_names(self) -> set[str]:
        """Return the names of all streams and nodes."""
        return {*self._wiring.streams, *[draft.name for draft in self._drafts]}

    def plan(self, in_order: Callable[[Any, list[int]], Any] | None, option_types: object) -> Plan:
        """Return the plan of a graph without faults."""
        graph = self._graph
        self._warn()
        ordered = [self._drafts[node] for node in self._order]
        handlers_in_order = [self._handler_plans[node] for node in self._order]
        config = graph.message if in_order is None else in_order(graph.message, self._order)
        checked = Checked(
            graph=graph,
            graph_inputs=self._graph_inputs,
            drafts=ordered,
            handlers=handlers_in_order,
            executors=self._executors,
            wiring=self._wiring,
            types=self._types,
            config=config,
            option_types=option_types,
        )
        return assemble(checked)

    # --- checks -----------------------------------------------------------------------------------

    def _check_graph(self) -> None:
        for field in self._graph.refused:
            words = f"{field.text} is not supported; {REFUSED_IN_GRAPH[field.text]}"
            self._faults.add(field.at, words, code=StatusCode.UNIMPLEMENTED)
        size = self._graph.max_queue_size
        if size.value < -1:
            words = f"must be positive, -1 for no limit, or 0 for {DEFAULT_QUEUE_SIZE}"
            words = f"max_queue_size {size.value}: {words}"
            self._faults.add(size.at, words, code=StatusCode.INVALID_ARGUMENT)

    def _interface(self) -> TagMap:
        """Check the graph's own streams and side packets; return its input streams."""
        graph, faults = self._graph, self._faults
        inputs, right = tag_map(graph.input_streams, faults, "the graph's input_stream")
        tag_map(graph.output_streams, faults, "the graph's output_stream")
        tag_map(graph.input_side_packets, faults, "the graph's input_side_packet")
        tag_map(graph.output_side_packets, faults, "the graph's output_side_packet")
        seen = set[str]()
        for port in inputs:
            if port.name in seen and right:
                words = f"the graph's input_stream {quoted(port.name)} is defined twice; remove or rename one"
                self._faults.add(graph.input_streams[port.entry].at, words, stream=port.name)
            seen.add(port.name)
        return inputs

    def _check_overlap(self, draft: Draft) -> None:
        """Refuse calls that may overlap where the calculator keeps ports of `open`."""
        wanted = draft.spec.max_in_flight
        if draft.is_source or draft.factory is None:
            return
        from penstock.check.kept_ports import kept_port  # reads source, and few nodes ask for it

        kept = kept_port(draft.factory)
        if kept is not None:
            words = (
                f"{draft.who}: max_in_flight {wanted.value}: each call has ports of its own, but open() of "
                f"{draft.factory.__name__} keeps one in {kept!r}; take it from cc in process(), or leave "
                "max_in_flight out"
            )
            self._faults.add(wanted.at, words, code=StatusCode.FAILED_PRECONDITION, node=draft.name)

    def _sort(self) -> None:
        self._order = list(range(len(self._drafts)))
        if self._wiring.is_in_order:
            return
        order, cycles = stable_order([self._wiring.above(node) for node in self._order])
        for cycle in cycles:
            self._cycle(cycle)
        if not cycles:
            self._order = order

    def _cycle(self, cycle: list[int]) -> None:
        names = [self._drafts[node].name for node in (*cycle, cycle[0])]
        words = f"these nodes form a cycle: {' → '.join(names)}; "
        edge = self._closing(cycle)
        if edge is None:
            words += "it consists of side packets, which cannot: take one of them out"
        else:
            port = f"{edge.spec.tag}:{edge.spec.index}" if edge.spec.index else edge.spec.tag
            reader = self._drafts[edge.node].name
            words += f"mark a stream that closes it as a back edge, such as {quoted(edge.name)}: "
            words += f'in node {quoted(reader)}, input_stream_info {{ tag_index: "{port}" back_edge: true }}'
        first = self._drafts[cycle[0]]
        self._faults.add(first.spec.at, words, node=first.name)

    def _closing(self, cycle: list[int]) -> Edge | None:
        """Return the stream that leads back to the first node, or any stream of the cycle."""
        for producer, reader in ((cycle[-1], cycle[0]), *pairwise(cycle)):
            for edge in self._wiring.below(reader, producer):
                if self._wiring.is_stream(edge):
                    return edge
        return None

    def _resolve_types(self) -> None:
        wrong = {id(spec) for _, spec in self._types.resolve(self._checkable(self._wiring.stream_edges))}
        for edges in self._wiring.stream_edges if wrong else ():
            for edge in edges:
                if id(edge.spec) in wrong and not self._adapt(edge):
                    self._mismatch(edge, "stream", "input")
        wrong = {id(spec) for _, spec in self._types.resolve(self._checkable(self._wiring.side_edges))}
        for edges in self._wiring.side_edges if wrong else ():
            for edge in edges:
                if id(edge.spec) in wrong:
                    self._mismatch(edge, "side packet", "input side packet")

    def _checkable(self, edges: Sequence[Sequence[Edge]]) -> Iterable[tuple[PortSpec, PortSpec]]:
        """Yield the ends of each edge between two nodes without faults."""
        for node in self._order:
            if self._drafts[node].is_whole:
                for edge in edges[node]:
                    producer = edge.producer
                    if producer and (producer.node < 0 or self._drafts[producer.node].is_whole):
                        yield producer.spec, edge.spec

    def _adapt(self, edge: Edge) -> bool:
        """Note an adapter for an edge whose ends do not agree; return whether there is one."""
        draft = self._drafts[edge.node]
        if not self._adapts or edge.producer is None:
            return False
        written, read = self._types.of(edge.producer.spec), self._types.of(edge.spec)
        adapter = self._names.adapter(written, read, edge.at, f"{draft.who}: ")
        if adapter is None:
            return False
        entry = list(draft.inputs)[edge.port].entry
        self.adaptations.append(Adaptation(edge.node, entry, edge.name, adapter))
        return True

    def _mismatch(self, edge: Edge, what: str, port: str) -> None:
        assert edge.producer is not None  # noqa: S101  # edges without a producer were not compared
        draft = self._drafts[edge.node]
        read, written = self._types.of(edge.spec), self._types.of(edge.producer.spec)
        leads = conversion(written or (), read or ())
        cure = f"put {leads!r} in between" if leads else "convert it in between"
        cure += self._names.adaptable(read or ())
        source = edge.producer.node
        writer = "as its first reader has it" if source < 0 else f"from {self._drafts[source].who}"
        words = (
            f"{port} {port_name(edge.spec.tag, edge.spec.index)} expects {name_of(read)}, "
            f"but {what} {quoted(edge.name)} carries {name_of(written)} ({writer}); {cure}"
        )
        self._faults.add(edge.at, f"{draft.who}: {words}", node=draft.name, stream=edge.name)

    def _warn(self) -> None:
        """Log what is accepted but looks like a mistake."""
        for words, values, at in self._warnings():
            self._names.is_settled = False  # an equal graph is to be warned of too
            _LOG.warning(words, *values, extra=at)

    def _warnings(self) -> Iterator[tuple[str, tuple[object, ...], dict[str, object]]]:
        where = self._graph.places.where
        for entry in self._graph.output_streams:
            name = entry.text.rpartition(":")[2]
            if name not in self._wiring.streams:
                words = "%sthe graph's output_stream %r: nothing produces it%s"
                meant = did_you_mean(name, self._wiring.streams)
                yield words, (where(entry.at), name, meant), place(stream=name)
        for field in self._graph.unmeasured:
            words = "%sthe graph's profiler_config: %s"
            yield words, (where(field.at), field.text), place()
        position = {node: i for i, node in enumerate(self._order)}
        edges_of = () if self._wiring.is_in_order else self._wiring.stream_edges
        for draft, edges in zip(self._drafts, edges_of, strict=False):
            for edge in edges:
                producer = edge.producer
                if not edge.back_edge or producer is None:
                    continue
                if producer.node < 0 or position[producer.node] < position[edge.node]:
                    words = "%s%s: the back edge %r closes no cycle and need not be one"
                    yield words, (where(edge.at), draft.who, edge.name), place(draft.name, edge.name)
        for draft in self._drafts:
            if draft.spec.max_in_flight.value > 1 and draft.is_source:
                wanted = draft.spec.max_in_flight
                words = "%s%s: max_in_flight %d counts as 1: the calls of a source follow one another"
                yield words, (where(wanted.at), draft.who, wanted.value), place(draft.name)
