"""Rules about executors, threads and idle work: PS3.."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from penstock_lint.finding import Found, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock_lint.linted import LintedGraph

#: Executors with one thread, whatever their options say.
_ONE_THREAD: Final = ("SingleThreadExecutor", "ApplicationThreadExecutor")


def _idle_executor(graph: LintedGraph) -> Iterator[Found]:
    used = {node.executor for node in graph.nodes}
    for index, executor in enumerate(graph.message.executor):
        if executor.name and executor.name not in used:
            yield Found(None, f"no node runs on executor {executor.name!r}", "executor", index)


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


def _in_flight(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.nodes:
        threads = _threads(graph, node.executor)
        is_async = inspect.iscoroutinefunction(getattr(node.factory, "process", None))
        if threads is not None and node.max_in_flight > threads and not is_async:
            only = "1 thread" if threads == 1 else f"{threads} threads"
            yield Found(
                node.id,
                f"node {node.name!r} may have {node.max_in_flight} calls at once, but its executor has "
                f"{only}",
            )


def _there_and_back(graph: LintedGraph) -> Iterator[Found]:
    for node in graph.of_kind("ImageFrameToGpuBufferCalculator"):
        writer = graph.writer(node.inputs[0].stream)
        if writer is None:
            continue
        before = graph.nodes[writer]
        is_copy = before.calculator.rpartition(".")[2] == "GpuBufferToImageFrameCalculator"
        if is_copy:
            yield Found(
                node.id,
                f"node {node.name!r} copies back to the GPU what node {before.name!r} has copied from there",
            )


_FORWARD: Final = 'node { calculator: "PassThroughCalculator" input_stream: "%s" output_stream: "%s" %s}\n'
_ENDS: Final = 'input_stream: "in"\noutput_stream: "out"\n'
_EXECUTOR: Final = 'executor { name: "pool" type: "ThreadPoolExecutor" }\n'

RULES: Final = (
    Rule(
        "PS301",
        "executor-idle",
        "An executor is declared, and no node runs on it.",
        'take it away, or give a node executor: "..."',
        _idle_executor,
        _ENDS + _EXECUTOR + _FORWARD % ("in", "out", ""),
        _ENDS + _EXECUTOR + _FORWARD % ("in", "out", 'executor: "pool" '),
    ),
    Rule(
        "PS302",
        "in-flight-threads",
        "A node may have more calls at once than its executor has threads. They wait for one another.",
        "give the executor as many threads, or make process() async",
        _in_flight,
        _ENDS + "num_threads: 1\n" + _FORWARD % ("in", "out", "max_in_flight: 8 "),
        _ENDS + "num_threads: 8\n" + _FORWARD % ("in", "out", "max_in_flight: 8 "),
    ),
    Rule(
        "PS305",
        "copy-there-and-back",
        "An image is copied from the GPU to main memory, and from there to the GPU again.",
        "read the stream before the first of the two nodes",
        _there_and_back,
        _ENDS
        + 'node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "in" output_stream: "here" }\n'
        'node { calculator: "ImageFrameToGpuBufferCalculator" input_stream: "here" output_stream: "out" }\n',
        _ENDS
        + 'node { calculator: "GpuBufferToImageFrameCalculator" input_stream: "in" output_stream: "out" }\n',
    ),
)
