"""Calls of a graph from several threads: itself, its poller, and event loops that await it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import api_model
from api_threads import GRAPH, PATIENCE_S, Calls, draw
from linearizable import DONE, FAILED, NO_RUN, Call, Model

from penstock import CalculatorGraph, Packet

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from penstock import Registry

#: How often each call is drawn.
WEIGHTS: Final = {
    "start": 5, "add": 12, "bound": 2, "close_input": 1, "close_sources": 1, "cancel": 1, "pause": 1,
    "resume": 1, "next": 6, "next_async": 4, "queue_size": 2, "reset": 1, "idle": 2, "wait_done": 1,
    "observed": 2, "is_running": 1, "run_count": 1, "has_error": 1, "added": 2, "adds_up": 1, "why": 1,
    "state": 1, "wait_next": 1, "wait_next_async": 1,
}  # fmt: skip
#: Calls that may wait until another thread does something, and the last calls of a thread.
WAITING: Final = frozenset({"idle", "wait_done", "wait_next", "wait_next_async"})
LAST: Final = frozenset({"wait_done", "wait_next", "wait_next_async"})
AWAITED: Final = frozenset({"next_async", "wait_next_async"})


class GraphCalls(Calls):
    """Calls of a graph and its poller."""

    weights = WEIGHTS
    waiting = WAITING
    last = LAST
    awaited = AWAITED
    #: Whether threads may have event loops.
    has_loops = True

    def __init__(self, installed: Registry, order: random.Random) -> None:
        plans = draw(order, self.weights, self.last)
        if order.randrange(3):
            plans[0].insert(0, ("start", 0))
        loops = frozenset(n for n in range(len(plans)) if self.has_loops and order.randrange(3) == 0)
        for number, plan in enumerate(plans):
            if number not in loops:
                plan[:] = [(name.removesuffix("_async"), stamp) for name, stamp in plan]
        super().__init__(plans, loops)
        self.graph: Final = CalculatorGraph(GRAPH, registry=installed)
        self.poller: Final = self.graph.add_output_stream_poller("b")

    def do(self, name: str, number: int) -> Any:
        """Make a call."""
        return self.ask(name) if name in _LOOKS else self.act(name, number)

    def ask(self, name: str) -> Any:
        """Make a call that returns something and changes nothing."""
        return _LOOKS[name](self)

    def act(self, name: str, number: int) -> Any:
        """Make a call that does something."""
        graph, poller = self.graph, self.poller
        if name in {"next", "wait_next"}:
            return stamp_of(poller.next(timeout=PATIENCE_S if name == "wait_next" else 0))
        actions: dict[str, Callable[[], object]] = {
            "start": graph.start_run,
            "add": lambda: graph.add_packet_to_input_stream("a", Packet(number, number)),
            "bound": lambda: graph.set_input_stream_timestamp_bound("a", number),
            "close_input": lambda: graph.close_input_stream("a"),
            "close_sources": graph.close_all_packet_sources,
            "cancel": graph.cancel,
            "pause": graph.pause,
            "resume": graph.resume,
            "reset": poller.reset,
            "idle": lambda: graph.wait_until_idle(PATIENCE_S),
            "wait_done": lambda: graph.wait_until_done(PATIENCE_S),
            "observed": lambda: graph.wait_for_observed_output(0),
        }
        actions[name]()
        return DONE

    async def do_async(self, name: str, number: int) -> Any:
        """Await the poller."""
        del number
        return stamp_of(await self.poller.next_async(PATIENCE_S if name == "wait_next_async" else 0))

    def free(self) -> None:
        """End the input of a run that may be paused: what waits for the end, or a packet, returns."""
        self.call("resume", 0)
        self.call("close_input", 0)

    def end(self) -> None:
        """End the run."""
        self.call("resume", 0)
        for name in ("close_input", "wait_done", "is_running"):
            self.call(name, 0)
        self.graph.close()

    def model(self) -> Model:
        """Return the model of a graph."""
        return api_model.GRAPH


_LOOKS: Final[dict[str, Callable[[GraphCalls], Any]]] = {
    "is_running": lambda one: one.graph.is_running,
    "run_count": lambda one: one.graph.run_count,
    "has_error": lambda one: one.graph.has_error(),
    "added": lambda one: next(s.added for s in one.graph.snapshot().streams if s.name == "a"),
    "adds_up": lambda one: one.graph.ledger().adds_up,
    "why": lambda one: bool(str(one.graph.why())),
    "state": lambda one: one.graph.snapshot().state,
    "queue_size": lambda one: one.poller.queue_size(),
}


def stamp_of(packet: Packet | None) -> int | None:
    """Return the timestamp of a packet from a poller."""
    return None if packet is None else int(packet.timestamp)


class RunningCalls(GraphCalls):
    """Calls of a graph beside a thread whose event loop has a run: `async with graph.running()`."""

    awaited = AWAITED | {"enter", "run_add", "run_idle", "run_done", "leave"}
    waiting = WAITING | {"run_idle", "run_done", "leave"}
    has_loops = False

    def __init__(self, installed: Registry, order: random.Random) -> None:
        super().__init__(installed, order)
        names = order.choices(
            ("run_add", "run_idle", "run_done", "next_async", "added", "pause", "resume", "cancel"),
            (8, 3, 1, 4, 1, 1, 1, 1),
            k=order.randint(1, 4),
        )
        stamps = sorted(order.randrange(8) for _ in names)
        self._tasks: Final = [list(zip(names, stamps, strict=True))[part::2] for part in range(2)]
        self._run: Final = self.graph.running(timeout=PATIENCE_S)
        self.plans[0][:] = [("loop", 0)]
        self._loops = frozenset({0})

    async def _loop(self, plan: object) -> None:
        """Run a block, with two tasks in it."""
        del plan
        await self._awaited("enter", 0)
        if all(call.name != "enter" or call.result != DONE for call in self.calls):
            return
        await asyncio.gather(*[self._task(one) for one in self._tasks])
        await self._awaited("leave", 0)

    async def do_async(self, name: str, number: int) -> Any:
        """Await a call of the run, or the poller."""
        run = self._run
        if name == "enter":
            await run.__aenter__()
        elif name == "run_add":
            await run.add("a", number, number)
        elif name == "run_idle":
            await run.wait_until_idle(PATIENCE_S)
        elif name == "run_done":
            await run.wait_until_done(PATIENCE_S)
        elif name == "leave":
            await run.__aexit__(None, None, None)
        else:
            return await super().do_async(name, number)
        return DONE

    def model(self) -> Model:
        """Return the model, in which to leave a block is two moments: it ends the input, and waits."""
        leave = next((call for call in self.calls if call.name == "leave"), None)
        if leave is not None:
            self.calls.append(leave._replace(name="leave_wait"))
        return Model(api_model.Graph(), api_model.by_itself, _allowed_in_block)


def _allowed_in_block(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    rule = _BLOCK.get(call.name)
    yield from api_model.allowed(graph, call) if rule is None else rule(graph, call)


def _is_of_block(graph: api_model.Graph) -> bool:
    return graph.is_running and graph.runs == graph.entered


def _enter(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    for after in api_model.allowed(graph, call._replace(name="start")):
        if call.result == DONE:
            yield after._replace(entered=after.runs, is_paused=True, is_held=True)
        else:
            yield after


def _run_add(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    if _is_of_block(graph):
        yield from api_model.allowed(graph, call._replace(name="add"))
    elif call.result == NO_RUN:
        yield graph


def _run_idle(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    if _is_of_block(graph):
        yield from api_model.allowed(graph, call._replace(name="idle"))
    elif call.result in {NO_RUN, FAILED, DONE}:
        yield graph  # it waits for the run of the block, also where another thread has reported its end


def _run_done(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    if _is_of_block(graph):
        yield from api_model.allowed(graph, call._replace(name="wait_done"))
    elif call.result in {DONE, FAILED}:
        yield graph


def _leave(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    del call
    if _is_of_block(graph):
        yield graph._replace(
            is_closed=True, is_paused=graph.is_paused and not graph.is_held, is_held=False, leaving="waits"
        )
    else:
        yield graph._replace(leaving="is out")


def _leave_wait(graph: api_model.Graph, call: Call) -> Iterator[api_model.Graph]:
    if graph.leaving == "waits":
        yield from _run_done(graph, call)
    elif graph.leaving == "is out" and call.result == DONE:
        yield graph


_BLOCK: Final = {
    "enter": _enter, "run_add": _run_add, "run_idle": _run_idle, "run_done": _run_done, "leave": _leave,
    "leave_wait": _leave_wait,
}  # fmt: skip
