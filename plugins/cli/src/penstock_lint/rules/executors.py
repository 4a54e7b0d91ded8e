"""Rules about executors, threads and needless copies: PS3.."""

from __future__ import annotations

import inspect
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from penstock_lint.rule import Rule, RuleMatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lowlevel import NodePlan
    from penstock_lint.linted import LintedGraph

#: Executors with one thread, whatever their options say.
_ONE_THREAD: Final = ("SingleThreadExecutor", "ApplicationThreadExecutor")


def _idle_executor(graph: LintedGraph) -> Iterator[RuleMatch]:
    used = {node.executor for node in graph.nodes}
    for index, executor in enumerate(graph.message.executor):
        if executor.name and executor.name not in used and not graph.message.type:
            edit = graph.removal(("executor", index))
            yield RuleMatch(None, f"no node runs on executor {executor.name!r}", "executor", index, edit)


def _threads(graph: LintedGraph, name: str) -> int | None:
    """Return how many threads an executor has, where the file says so."""
    for executor in graph.message.executor:
        if executor.name == name:
            if executor.type in _ONE_THREAD:
                return 1
            for _, options in executor.options.ListFields():
                count = getattr(options, "num_threads", 0)
                if count:
                    return int(count)
            return None
    return graph.message.num_threads or None if not name else None


def _in_flight(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        threads = _threads(graph, node.executor)
        is_async = inspect.iscoroutinefunction(getattr(node.factory, "process", None))
        if threads is not None and node.max_in_flight > threads and not is_async:
            only = "1 thread" if threads == 1 else f"{threads} threads"
            yield RuleMatch(
                node.id,
                f"node {node.name!r} may have {node.max_in_flight} calls at once, but its executor has "
                f"{only}",
            )


def _state(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        if node.max_in_flight > 1 and node.contract.declared.stateless is False:
            yield RuleMatch(
                node.id,
                f"node {node.name!r} keeps something from call to call, and {node.max_in_flight} calls may "
                "overlap: what comes out depends on which is first",
            )


def _beside_quick(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.nodes:
        if node.is_source and node.contract.declared.is_live and _threads(graph, node.executor) == 1:
            for slow in graph.nodes:
                if slow.executor == node.executor and graph.is_slow(slow) and slow.contract.runs_on is None:
                    yield RuleMatch(
                        slow.id,
                        f"the slow node {slow.name!r} and the live source {node.name!r} share one thread: "
                        "while the one works, the other cannot",
                    )


def _there_and_back(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in graph.of_kind("ImageFrameToGpuBufferCalculator"):
        before = graph.writer(node.inputs[0].stream)
        if before is not None and before.calculator.rpartition(".")[2] == "GpuBufferToImageFrameCalculator":
            yield RuleMatch(
                node.id,
                f"node {node.name!r} copies back to the GPU what node {before.name!r} has copied from there",
            )


def _one_context(graph: LintedGraph) -> Iterator[RuleMatch]:
    places: defaultdict[tuple[str, str], list[NodePlan]] = defaultdict(list)
    for node in graph.nodes:
        contract = node.contract
        if contract.runs_on is not None and not contract.runs_if_there:
            places[contract.runs_on.name, contract.place].append(node)
    for nodes in places.values():
        quick = [node for node in nodes if not graph.is_slow(node)]
        for slow in nodes if quick else ():
            if graph.is_slow(slow):
                yield RuleMatch(
                    slow.id,
                    f"the slow node {slow.name!r} and node {quick[0].name!r} take turns in one GL context: "
                    "the other runs at the rate of the slow one",
                )


RULES: Final = (
    Rule(
        "PS301",
        "executor-idle",
        "An executor is declared, and no node runs on it.",
        'take it away, or give a node executor: "..."',
        _idle_executor,
    ),
    Rule(
        "PS302",
        "in-flight-threads",
        "A node may have more calls at once than its executor has threads. They wait for one another.",
        "give the executor as many threads, or make process() async",
        _in_flight,
    ),
    Rule(
        "PS303",
        "in-flight-state",
        "Calls of a node that keeps something from call to call may overlap. Results vary from run to run.",
        "leave max_in_flight at 1, or let the contract declare stateless=True if it is",
        _state,
    ),
    Rule(
        "PS304",
        "slow-beside-quick",
        "A live source shares its only thread with a slow node. While that works, the source cannot.",
        "give the slow node an executor of its own",
        _beside_quick,
    ),
    Rule(
        "PS305",
        "copy-there-and-back",
        "An image is copied from the GPU to main memory, and from there to the GPU again.",
        "read the stream before the first of the two nodes",
        _there_and_back,
    ),
    Rule(
        "PS306",
        "one-context",
        "A slow node and others work in one GL context, one after the other. The others run at its rate.",
        "give the slow node a gl_context_name of its own (GlContextOptions)",
        _one_context,
    ),
)
