"""A pack's calculators and subgraphs as nodes: the node of their example, or the node that they ask for."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from penstock import SubgraphContext
from penstock.config import build_plan, read_graph
from penstock.errors import GraphConfigError, NotFoundError, PenstockError, UnknownNameError
from penstock.ports import TagMap
from penstock.types import Options
from penstock_testing.connections import SINK, Sink, graph_of, legal_wirings, node_named
from penstock_testing.packs.metadata import WHOLE, canonical
from penstock_testing.packs.opening import check_opening
from penstock_testing.packs.report import PackFault
from penstock_views.api import docstring_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from penstock import Registry
    from penstock.lowlevel import Plan

_PORTS: Final = ("input_stream", "output_stream", "input_side_packet", "output_side_packet")


class Nodes:
    """Puts calculators and subgraphs between graph inputs and sinks, and has the graphs checked; none is run.

    Args:
        registry: with the pack and the packs that it needs.
        distribution: of the pack.
        required: canonical names of the distributions that it requires.
    """

    def __init__(self, registry: Registry, distribution: str, required: Collection[str]) -> None:
        self._registry: Final = registry.child()
        self._registry.add("calculator", SINK, Sink)
        self._at_hand: Final = {canonical(distribution), *required}

    def check_calculator(self, name: str, cls: Any) -> Iterator[PackFault]:
        """Yield what is wrong with a calculator's docstring, its example, and its contract."""
        subject = f"calculator {name!r}"
        doc = docstring_parts(_own_docstring(cls))
        if not doc.summary:
            yield PackFault(
                subject,
                "the calculator has no docstring, so no example node; say what it does and what its ports "
                "carry, and show one",
                is_warning=True,
            )
        yield from check_opening(cls, subject)
        if doc.example:
            text, doing = doc.example, "the example in its docstring"
            yield from _faults(subject, doing, lambda: self._planned(self._example(text, name)))
            return
        yield PackFault(
            subject,
            'its docstring has no example; end it with "Example:" and an indented node',
            is_warning=True,
        )
        doing = (
            "no node of it can be made from what its contract asks for (an example in its docstring could)"
        )
        yield from _faults(subject, doing, lambda: legal_wirings(cls, _bare(name), self._registry))

    def check_subgraph(self, name: str, definition: Any) -> Iterator[PackFault]:
        """Yield what is wrong with a subgraph: it does not expand, or needs a pack that is not required."""
        subject = f"subgraph {name!r}"
        plans: list[Plan] = []
        yield from _faults(
            subject,
            "it does not stand for a node",
            lambda: plans.append(self._planned(self._use(name, definition), _example_of(definition))),
            may_lack_files=True,
        )
        if not plans or WHOLE in self._at_hand:
            return
        for pack in sorted(self._providers(plans[0]) - self._at_hand):
            yield PackFault(
                subject,
                f"the example has nodes of {pack}, which the pack does not require; add it as dependency",
            )

    def _example(self, text: str, name: str) -> Any:
        return node_named(text, name, self._registry)

    def _planned(self, node: Any, example: str = "") -> Plan:
        """Check the node in a graph, with the executors that the example declares beside it."""
        graph = graph_of(node)
        if example:
            graph.executor.extend(read_graph(example, self._registry).executor)
        return build_plan(graph, self._registry)

    def _use(self, name: str, definition: Any) -> Any:
        """Return a node that connects all ports of a subgraph, or that of the example in its docstring.

        A graph file has the comment at its beginning in place of a docstring.
        """
        node = _bare(name)
        example = _example_of(definition)
        if example:
            return self._example(example, name)
        if isinstance(definition, Path):
            graph: Any = read_graph(definition, self._registry)
        else:
            ports = (TagMap(()), TagMap(()), TagMap(()), TagMap(()))
            graph = read_graph(
                definition.get_config(SubgraphContext(name, node, Options(), ports)), self._registry
            )
        for field in _PORTS:
            getattr(node, field).extend(getattr(graph, field))
        return node

    def _providers(self, plan: Plan) -> set[str]:
        """Return the canonical names of the distributions that have a plan's calculators."""
        names = {node.calculator for node in plan.nodes} - {SINK}
        origins = [self._registry.origin("calculator", name) for name in names]
        return {canonical(origin.distribution) for origin in origins if origin.distribution is not None}


def _bare(calculator: str) -> Any:
    """Return a node that connects nothing."""
    from penstock.config import CalculatorGraphConfig  # protobuf

    return CalculatorGraphConfig.Node(calculator=calculator)


def _example_of(subgraph: Any) -> str:
    """Return the example in the docstring of a subgraph, or in the comment of its file; "" without one."""
    text = _comment_of(subgraph) if isinstance(subgraph, Path) else _own_docstring(subgraph)
    return docstring_parts(text).example


def _comment_of(file: Path) -> str:
    """Return the comment at the beginning of a graph file; "" for a binary one."""
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    comments = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return "\n".join(line[1:].removeprefix(" ") for line in comments)


def _own_docstring(thing: object) -> str | None:
    # Without `getdoc`, which falls back on the base's docstring.
    return thing.__doc__ if isinstance(thing, type) or inspect.isroutine(thing) else None


def _lacks_a_file(fault: BaseException) -> bool:
    """Return whether a subgraph could not be computed without a file, as a model, that its user brings."""
    return any(
        isinstance(one, NotFoundError) and not isinstance(one, UnknownNameError)
        for one in (fault, fault.__cause__)
    )


def _faults(
    subject: str, doing: str, attempt: Callable[[], object], *, may_lack_files: bool = False
) -> Iterator[PackFault]:
    """Yield what an attempt raises, each fault of a graph on its own."""
    try:
        attempt()
    except GraphConfigError as error:
        for fault in error.faults:
            if not (may_lack_files and _lacks_a_file(fault)):
                yield PackFault(subject, f"{doing}: {fault}")
    except PenstockError as error:
        if not (may_lack_files and _lacks_a_file(error)):
            yield PackFault(subject, f"{doing}: {error}")
    except Exception as error:  # noqa: BLE001  # foreign code
        yield PackFault(subject, f"{doing}: {type(error).__name__}: {error}")
