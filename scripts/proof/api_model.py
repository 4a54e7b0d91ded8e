"""What calls of a graph from several threads may return: a model.

The graph of the model passes the packets of one input to one poller or to one reader of rows; what it does by
itself is to move the oldest packet there, and to end. `linearizable` looks whether some order of calls and
moves explains what calls have returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from linearizable import CLOSED, DONE, FAILED, LATE, NO_RUN, NOTHING, Model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linearizable import Call

#: What `wait_for_observed_output` raises at the end.
_NO_MORE: Final = "PenstockError"


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
    is_paused: bool = False
    #: Whether it is paused only until an event loop turns: a run of `running()` that has just begun.
    is_held: bool = False
    #: Steps that had begun before the pause.
    steps: int = 0
    #: Whether something has come to the poller since it was last asked whether.
    was_observed: bool = False
    #: The run that `running()` has begun; and what leaving its block still does.
    entered: int = 0
    leaving: str = ""
    #: The timestamps that rows have given, and whether rows are "open", "over" or "left".
    rows: str = "open"
    #: How many of the readings that somebody has seen a monitor has taken, how many it shows, and whether it
    #: is closed.
    taken: int = 0
    readings: int = 0
    is_unwatched: bool = False

    @property
    def has_begun(self) -> bool:
        """Whether there has been a run."""
        return self.runs > 0


def by_itself(graph: Graph) -> Iterator[Graph]:
    """Return what the graph may become without a call."""
    if not graph.has_begun or graph.is_over:
        return
    if graph.is_held:
        yield graph._replace(is_held=False, is_paused=False, steps=0)
    may_step = graph.has_failed or not graph.is_paused or graph.steps > 0
    steps = max(0, graph.steps - 1)
    if graph.under_way and may_step:  # what a call has written before a failure is still delivered
        polled = (*graph.polled, graph.under_way[0])
        yield graph._replace(under_way=graph.under_way[1:], polled=polled, was_observed=True, steps=steps)
    if graph.has_failed or (graph.is_closed and not graph.under_way and may_step):
        yield graph._replace(is_over=True, under_way=(), steps=steps)


def allowed(graph: Graph, call: Call) -> Iterator[Graph]:
    """Return what the graph may be after a call that returns what this one did; nothing where it cannot."""
    yield from _RULES[call.name](graph, call)


def _start(graph: Graph, call: Call) -> Iterator[Graph]:
    if graph.is_running:
        if call.result == NO_RUN:
            yield graph
    elif call.result == DONE:
        yield _begun(graph)


def _begun(graph: Graph) -> Graph:
    """Return a graph whose next run has begun."""
    return Graph(
        graph.runs + 1,
        is_running=True,
        entered=graph.entered,
        leaving=graph.leaving,
        rows=graph.rows,
        taken=graph.taken,
        readings=graph.readings,
        is_unwatched=graph.is_unwatched,
    )


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
        if graph.is_over:
            yield graph
        else:
            yield graph._replace(has_failed=True, is_paused=False, is_held=False)


def _pause(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif call.result == DONE:
        graph = graph._replace(is_held=False)
        if graph.is_paused or graph.has_failed or graph.is_over:
            yield graph
        else:
            paused = graph._replace(is_paused=True, steps=0)
            yield paused
            if graph.under_way or graph.is_closed:
                yield paused._replace(steps=1)  # one that had begun


def _resume(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif call.result == DONE:
        yield graph._replace(is_held=False, is_paused=False, steps=0)


def _observed(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif graph.was_observed:
        if call.result == DONE:
            yield graph._replace(was_observed=False)
    elif call.result == (_NO_MORE if graph.is_over else NOTHING):
        yield graph


def _next(graph: Graph, call: Call) -> Iterator[Graph]:
    if not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif graph.polled:
        if call.result == graph.polled[0]:
            yield graph._replace(polled=graph.polled[1:])
    elif graph.has_failed or graph.is_over or (graph.is_closed and not graph.under_way):
        if call.result is None or (call.result == NOTHING and not (graph.has_failed or graph.is_over)):
            yield graph
    elif call.result == NOTHING and "wait" not in call.name:
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
        yield graph._replace(is_running=False)


def _look(graph: Graph, call: Call) -> Iterator[Graph]:
    if call.name == "state":
        yield from [graph] * (call.result == (state_of(graph) if graph.has_begun else NO_RUN))
        return
    seen = {
        "is_running": graph.is_running,
        "run_count": graph.runs,
        "has_error": graph.is_running and graph.has_failed,
        "added": graph.added if graph.has_begun else NO_RUN,
        "adds_up": True if graph.has_begun else NO_RUN,
        "why": True,
    }
    yield from [graph] * (call.result == seen[call.name])


def state_of(graph: Graph) -> str:
    """Return what a snapshot says where the run is."""
    if not graph.has_begun:
        return "not started"
    if graph.is_over:
        return "over"
    return "paused" if graph.is_paused else "running"


_RULES: Final = {
    "start": _start, "add": _add, "bound": _raise_bound, "close_input": _close_input,
    "close_sources": _close_input, "cancel": _cancel, "pause": _pause, "resume": _resume, "next": _next,
    "wait_next": _next, "next_async": _next, "wait_next_async": _next, "queue_size": _queue_size,
    "reset": _reset, "idle": _idle, "wait_done": _done, "observed": _observed, "is_running": _look,
    "run_count": _look, "has_error": _look, "added": _look, "adds_up": _look, "why": _look, "state": _look,
}  # fmt: skip
NAMES: Final = tuple(_RULES)
GRAPH: Final = Model(Graph(), by_itself, allowed)
