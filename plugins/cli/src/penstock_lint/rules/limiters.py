"""Rules about flow limiters and queues: PS2.."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock_lint.rule import Rule, RuleMatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.lowlevel import NodePlan
    from penstock_lint.linted import LintedGraph

_LIMITER: Final = "FlowLimiterCalculator"
_BUDGET: Final = "BudgetCalculator"
_LIMITERS: Final = (_LIMITER, "RealTimeFlowLimiterCalculator", _BUDGET)
_SHADOW: Final = "ShadowDiffCalculator"
_LIMITER_OPTIONS: Final = "penstock.FlowLimiterCalculatorOptions"
_BUDGET_OPTIONS: Final = "penstock_calculators.BudgetCalculatorOptions"
#: Sources that read files, whose frames can wait.
_FILES: Final = ("OpenCvVideoDecoderCalculator", "VideoDecoderCalculator")


def _limiters(graph: LintedGraph) -> Iterator[NodePlan]:
    """Yield the nodes that drop packets; a BudgetCalculator that prefers all of them only measures."""
    for node in graph.of_kind(*_LIMITERS):
        is_budget = node.calculator.rpartition(".")[2] == _BUDGET
        kind = graph.types.options_class(_BUDGET_OPTIONS) if is_budget else None
        if kind is None or node.options.get(kind).prefer.name != "COMPLETE":
            yield node


def _finished(node: NodePlan) -> list[int]:
    return [port.stream for port in node.inputs if port.tag == "FINISHED"]


def _main(node: NodePlan) -> list[int]:
    """Return the streams that a limiter limits."""
    return [port.stream for port in node.inputs if not port.tag]


def _slow_readers(graph: LintedGraph, streams: set[int]) -> Iterator[NodePlan]:
    for node in graph.nodes:
        if graph.is_slow(node) and graph.inputs_of(node) & streams:
            yield node


def _misses_slow(graph: LintedGraph) -> Iterator[RuleMatch]:
    for limiter in _limiters(graph):
        finished = set(_finished(limiter))
        limited = graph.behind(graph.outputs_of(limiter), past_back_edges=False)
        for node in _slow_readers(graph, limited) if finished & limited else ():
            if not finished & graph.behind(graph.outputs_of(node), past_back_edges=False):
                yield RuleMatch(
                    limiter.id,
                    f"limiter {limiter.name!r} does not wait for the slow node {node.name!r}: packets pile "
                    "up before it",
                )


def _not_behind(graph: LintedGraph) -> Iterator[RuleMatch]:
    for node in _limiters(graph):
        behind = graph.behind(graph.outputs_of(node))
        for stream in _finished(node):
            if stream not in behind and not graph.comes_from_outside(stream):
                name = graph.plan.streams[stream].name
                yield RuleMatch(
                    node.id,
                    f"limiter {node.name!r} takes {name!r} for the end of the work, but that stream does "
                    "not depend on the packets that it lets pass: it limits nothing",
                )


def _can_close(graph: LintedGraph) -> Iterator[RuleMatch]:
    kind = graph.types.options_class(_LIMITER_OPTIONS)
    for limiter in graph.of_kind(_LIMITER):
        options = None if kind is None else limiter.options.get(kind)
        if options is not None and options.in_flight_timeout > 0:
            continue
        passed = graph.outputs_of(limiter)
        forgetful = [node for node in graph.nodes if graph.forgets_bound(node)]
        settled = graph.behind(passed, without={node.id for node in forgetful})
        for stream in _finished(limiter):
            if stream in settled or stream not in graph.behind(passed):
                continue
            on_way = [
                node
                for node in forgetful
                if graph.inputs_of(node) & graph.behind(passed)
                and stream in graph.behind(graph.outputs_of(node))
            ]
            yield RuleMatch(
                limiter.id,
                f"limiter {limiter.name!r} waits until {graph.plan.streams[stream].name!r} reports the end "
                f"of each packet, and node {on_way[0].name!r} may write nothing: then the limiter drops all "
                "that follows",
            )


def _chain(graph: LintedGraph) -> Iterator[RuleMatch]:
    limiters = list(_limiters(graph))
    behind = {
        one.id: graph.behind(graph.outputs_of(one), past_back_edges=False)
        for one in (limiters if len(limiters) > 1 else ())
    }
    for inner in limiters:
        for outer in limiters:
            if (
                inner.id != outer.id
                and behind[outer.id].intersection(_main(inner))
                and behind[inner.id].intersection(_finished(outer))
            ):
                yield RuleMatch(
                    inner.id,
                    f"limiter {inner.name!r} is behind limiter {outer.name!r}, which waits for the end of "
                    "the same work: the inner one never acts",
                )


def _after_file(graph: LintedGraph) -> Iterator[RuleMatch]:
    for source in graph.of_kind(*_FILES):
        if source.contract.declared.is_live:  # a camera
            continue
        read = graph.behind(graph.outputs_of(source), past_back_edges=False)
        for node in _limiters(graph):
            if read.intersection(_main(node)):
                yield RuleMatch(
                    node.id,
                    f"limiter {node.name!r} drops frames of the file that {source.name!r} reads, though "
                    "they could wait",
                )


def _is_of_shadow(graph: LintedGraph, limiter: NodePlan) -> bool:
    """Return whether a limiter belongs to a Shadow, whose primary is to get what the candidate does not."""
    writers = (graph.writer(stream) for stream in _finished(limiter))
    return any(node is not None and node.calculator.endswith(_SHADOW) for node in writers)


def _bypassed(graph: LintedGraph) -> Iterator[RuleMatch]:
    for limiter in _limiters(graph):
        if _is_of_shadow(graph, limiter):
            continue
        limited = graph.behind(graph.outputs_of(limiter))
        around = graph.behind(_main(limiter), past_back_edges=False, without={limiter.id})
        for node in _slow_readers(graph, around):
            if node.id != limiter.id and not graph.inputs_of(node) & limited:
                name = next(graph.stream(port) for port in node.inputs if port.stream in around)
                yield RuleMatch(
                    node.id,
                    f"the slow node {node.name!r} reads {name!r}, which goes round limiter {limiter.name!r}: "
                    "nothing limits it",
                )


def _unlimited(graph: LintedGraph) -> Iterator[RuleMatch]:
    if graph.plan.max_queue_size >= 0:
        return
    limiters = list(_limiters(graph))
    limited = graph.behind({stream for one in limiters for stream in graph.outputs_of(one)})
    for node in graph.nodes:
        if graph.is_slow(node) and node.inputs and not graph.inputs_of(node) & limited:
            yield RuleMatch(
                node.id,
                f"queues have no limit (max_queue_size: {graph.plan.max_queue_size}): all that the slow node "
                f"{node.name!r} cannot take in time lies in memory",
            )


def _must_grow(graph: LintedGraph) -> Iterator[RuleMatch]:
    limit = graph.plan.max_queue_size
    if graph.measured is None or limit < 0:
        return
    for node in graph.nodes:
        for port in node.inputs:
            length = graph.measured.longest.get((graph.stream(port), node.name), 0)
            if length > limit:
                yield RuleMatch(
                    node.id,
                    f"{length} packets of {graph.stream(port)!r} lay before node {node.name!r} in a run, "
                    f"and the limit is {limit}: it was raised, as the node needed all of them at once",
                )


RULES: Final = (
    Rule(
        "PS201",
        "limiter-misses-slow",
        "A flow limiter counts a packet as done while a slow node still has work with it. The packets pile "
        "up before that node.",
        "connect FINISHED with a stream from behind the slow node",
        _misses_slow,
    ),
    Rule(
        "PS202",
        "limiter-not-behind",
        "A flow limiter counts a packet as done when something comes on FINISHED. Where that stream does "
        "not depend on the packets that it lets pass, it limits nothing.",
        "connect FINISHED with a stream from behind the work that is to be limited",
        _not_behind,
    ),
    Rule(
        "PS203",
        "limiter-can-close",
        "A flow limiter waits for the end of each packet on FINISHED. Where a node on the way may write "
        "nothing, the limiter waits for ever, and drops all that follows.",
        "set in_flight_timeout, or let that node call cc.set_timestamp_offset(0) in its contract",
        _can_close,
    ),
    Rule(
        "PS204",
        "limiter-chain",
        "Two flow limiters wait for the end of the same work, one behind the other. The inner one never "
        "acts, and each of its drops would block the outer one.",
        "keep one of them",
        _chain,
    ),
    Rule(
        "PS205",
        "limiter-after-file",
        "A flow limiter drops frames that come while it works. Frames of a file can wait: without a "
        "limiter full queues slow the decoder down, and no frame is lost.",
        "take the limiter away, or keep it in a graph for live sources only; a BudgetCalculator drops none "
        "with prefer: COMPLETE",
        _after_file,
    ),
    Rule(
        "PS206",
        "limiter-bypassed",
        "A slow node reads the stream before the limiter. Nothing limits what it gets.",
        "read the limiter's output",
        _bypassed,
    ),
    Rule(
        "PS207",
        "queue-unlimited",
        "The queues of the graph have no limit, and a node is slow. What it cannot take in time lies in "
        "memory.",
        "set max_queue_size, so that sources and inputs wait",
        _unlimited,
    ),
    Rule(
        "PS208",
        "queue-must-grow",
        "A node needs more packets of an input at once than the limit of its queue. The run raises the "
        "limit, and holds more in memory than the file says. Seen with --measured only.",
        "set max_queue_size to what the node needs",
        _must_grow,
    ),
)
