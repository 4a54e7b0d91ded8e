"""What calls of a graph from several threads may return: a model, and a check that some order explains them.

Each call is one moment between its begin and its return. Calls are right if there is an order of these
moments, and of the moves that the graph makes by itself, in which a graph that is called from one thread
returns the same: they are linearizable. The graph of the model passes the packets of one input to one poller;
what it does by itself is to move the oldest packet there, and to end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Results of calls that raise.
NO_RUN, CLOSED, LATE, FAILED, NOTHING = "FailedPreconditionError", "StreamClosedError", (
    "TimestampOrderError"
), "GraphRunError", "WaitTimeoutError"  # fmt: skip
DONE: Final = "done"


class Graph(NamedTuple):
    """What a graph shows to its callers."""

    runs: int = 0
    #: Whether a run has begun and its end has not been waited for.
    is_running: bool = False
    #: The smallest timestamp that the input still takes.
    bound: int = 0
    is_closed: bool = False
    added: int = 0
    #: Timestamps on their way to the poller, and timestamps that wait there.
    under_way: tuple[int, ...] = ()
    polled: tuple[int, ...] = ()
    has_failed: bool = False
    #: Whether nothing more will happen in the run.
    is_over: bool = False
    #: Runs whose end was reported.
    ended: frozenset[int] = frozenset()

    @property
    def has_begun(self) -> bool:
        """Whether there has been a run."""
        return self.runs > 0


class Call(NamedTuple):
    """One call: name, argument, when it was, and the result: DONE, a value, or an error's name."""

    name: str
    argument: int
    begin: int
    end: int
    result: Any


def by_itself(graph: Graph) -> Iterator[Graph]:
    """Return what the graph may become without a call."""
    if not graph.has_begun or graph.is_over:
        return
    if graph.under_way and not graph.has_failed:
        yield graph._replace(under_way=graph.under_way[1:], polled=(*graph.polled, graph.under_way[0]))
    if graph.has_failed or (graph.is_closed and not graph.under_way):
        yield graph._replace(is_over=True, under_way=())
    if graph.has_failed and graph.under_way:
        # what a call has written before the failure is still delivered
        yield graph._replace(under_way=graph.under_way[1:], polled=(*graph.polled, graph.under_way[0]))


def allowed(graph: Graph, call: Call) -> Iterator[Graph]:
    """Return what the graph may be after a call that returns what this one did; nothing where it cannot."""
    yield from _RULES[call.name](graph, call)


def _start(graph: Graph, call: Call) -> Iterator[Graph]:
    if graph.is_running:
        if call.result == NO_RUN:
            yield graph
    elif call.result == DONE:
        yield Graph(graph.runs + 1, is_running=True, ended=graph.ended)


def _input_refuses(graph: Graph, call: Call) -> bool | None:
    """Return whether a call that needs an open input was refused as it must be; None where it must not."""
    if not graph.is_running:
        return bool(call.result == NO_RUN)
    if graph.is_over or graph.is_closed:
        return bool(call.result == (FAILED if graph.has_failed and call.name == "add" else CLOSED))
    return None


def _add(graph: Graph, call: Call) -> Iterator[Graph]:
    refused = _input_refuses(graph, call)
    if refused is not None:
        yield from [graph] * refused
    elif graph.has_failed:
        yield from [graph] * (call.result == FAILED)
    elif call.argument < graph.bound:
        yield from [graph] * (call.result == LATE)
    elif call.result == DONE:
        yield graph._replace(
            bound=call.argument + 1, added=graph.added + 1, under_way=(*graph.under_way, call.argument)
        )


def _raise_bound(graph: Graph, call: Call) -> Iterator[Graph]:
    refused = _input_refuses(graph, call)
    if refused is not None:
        yield from [graph] * refused
    elif call.argument < graph.bound:
        yield from [graph] * (call.result == LATE)
    elif call.result == DONE:
        yield graph._replace(bound=call.argument)


def _close_input(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif call.result == DONE:
        yield graph._replace(is_closed=True)


def _cancel(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif call.result == DONE:
        yield graph._replace(has_failed=graph.has_failed or not graph.is_over)


def _next(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif graph.polled:
        if call.result == graph.polled[0]:
            yield graph._replace(polled=graph.polled[1:])
    elif graph.has_failed or graph.is_over or (graph.is_closed and not graph.under_way):
        if call.result is None or (call.result == NOTHING and not (graph.has_failed or graph.is_over)):
            yield graph
    elif call.result == NOTHING and call.name == "next":
        yield graph


def _queue_size(graph: Graph, call: Call) -> Iterator[Graph]:
    yield from [graph] * (call.result == len(graph.polled))


def _reset(graph: Graph, call: Call) -> Iterator[Graph]:
    if call.result == DONE:
        yield graph._replace(polled=())


def _idle(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif graph.has_failed and graph.is_running:
        yield from [graph] * (call.result == FAILED)
    elif call.result == DONE and (not graph.under_way or graph.is_over):
        yield graph


def _done(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif not graph.is_running:
        # a thread that has waited meanwhile gets the failure too
        yield from [graph] * (call.result in {DONE, FAILED if graph.has_failed else DONE})
    elif graph.is_over and call.result == (FAILED if graph.has_failed else DONE):
        yield graph._replace(is_running=False, ended=graph.ended | {graph.runs})


def _look(graph: Graph, call: Call) -> Iterator[Graph]:
    seen = {
        "is_running": graph.is_running,
        "run_count": graph.runs,
        "has_error": graph.is_running and graph.has_failed,
        "added": graph.added if graph.has_begun else NO_RUN,
        "adds_up": True if graph.has_begun else NO_RUN,
        "why": True,
    }
    yield from [graph] * (call.result == seen[call.name])


_RULES: Final = {
    "start": _start, "add": _add, "bound": _raise_bound, "close_input": _close_input, "cancel": _cancel,
    "next": _next, "wait_next": _next, "queue_size": _queue_size, "reset": _reset, "idle": _idle,
    "wait_done": _done, "is_running": _look, "run_count": _look, "has_error": _look, "added": _look,
    "adds_up": _look, "why": _look,
}  # fmt: skip
NAMES: Final = tuple(_RULES)


def explained(calls: Sequence[Call]) -> bool:
    """Return whether some order of the calls, and of the moves of the graph, explains all results."""
    everything = (1 << len(calls)) - 1
    seen: set[tuple[int, Graph]] = set()
    waiting = [(0, Graph())]
    while waiting:
        done, graph = waiting.pop()
        if done == everything:
            return True
        if (done, graph) in seen:
            continue
        seen.add((done, graph))
        waiting += [(done, after) for after in by_itself(graph)]
        left = [number for number in range(len(calls)) if not done >> number & 1]
        first_end = min(calls[number].end for number in left)
        for number in left:
            if calls[number].begin <= first_end:
                waiting += [(done | 1 << number, after) for after in allowed(graph, calls[number])]
    return False
