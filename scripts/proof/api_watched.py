"""Calls of a graph's monitor, and of its rows, from several threads, beside calls of the graph."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import api_model
from api_graphs import AWAITED, LAST, WAITING, WEIGHTS, GraphCalls, stamp_of
from api_threads import PATIENCE_S
from linearizable import DONE, FAILED, NO_RUN, NOTHING, Call, Model, overlaps

from penstock_monitor import Monitor

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from api_model import Graph

    from penstock import Registry
    from penstock_monitor import Reading

_INTERVAL_S: Final = 0.002
#: How long calls of the monitor wait.
_SHORT_S: Final = 0.004
_MONITOR: Final = {"reading": 8, "wait_reading": 4, "peek": 2, "close_monitor": 1, "is_unwatched": 1}
_POLLERS: Final = frozenset({"next", "next_async", "queue_size", "reset"})
_ROWS: Final = {"row": 10, "row_wait": 1, "row_wait_async": 1, "close_rows": 1}


# --- a monitor ----------------------------------------------------------------------------------------


class MonitorCalls(GraphCalls):
    """Calls of a graph and its monitor.

    Each reading shows the run as it was in one moment, and everybody sees the same readings in one order.
    """

    weights = WEIGHTS | _MONITOR

    def __init__(self, installed: Registry, order: random.Random) -> None:
        super().__init__(installed, order)
        self._monitor: Final = Monitor(self.graph, _INTERVAL_S)
        #: What each reading said: its number, the state of the run, and packets added.
        self._seen: Final[dict[int, tuple[str, int]]] = {}

    def do(self, name: str, number: int) -> Any:
        """Make a call."""
        monitor = self._monitor
        if name == "reading":
            return self._note(monitor.reading())
        if name == "wait_reading":
            found = monitor.wait(number % 3, _SHORT_S)
            return None if found is None else self._note(found)
        if name == "peek":
            return stamp_of(monitor.peek("b", _SHORT_S))
        if name == "close_monitor":
            monitor.close()
            return DONE
        if name == "is_unwatched":
            return monitor.is_closed
        return super().do(name, number)

    def _note(self, reading: Reading) -> int:
        said = reading.state, next(stream.packets for stream in reading.streams if stream.name == "a")
        if self._seen.setdefault(reading.number, said) != said:
            self.findings.append(f"reading {reading.number} is {said} and {self._seen[reading.number]}")
        return reading.number

    def end(self) -> None:
        """End the run and the monitor."""
        super().end()
        self.call("close_monitor", 0)
        self.call("is_unwatched", 0)
        self._look_at_peeks()

    def _look_at_peeks(self) -> None:
        """Each packet that was peeked at was added before; and once there was one, there always is."""
        added = [(call.begin, call.argument) for call in self.calls if call.name == "add"]
        peeks = [call for call in self.calls if call.name == "peek" and call.result is not None]
        for call in peeks:
            if call.result != NO_RUN and (call.result not in [n for at, n in added if at < call.end]):
                self.findings.append(f"peek returned {call.result!r}, which nobody had added")
        first = min((call.end for call in peeks), default=None)
        for call in self.calls:
            if first is not None and call.name == "peek" and call.begin > first and call.result is None:
                self.findings.append("peek returned nothing after it had returned a packet")

    def model(self) -> Model:
        """Return the model: to take a reading that somebody has seen is a move that the graph makes.

        To show it is another one: the graph may go on between the two.
        """
        seen = sorted(self._seen.items())
        return Model(api_model.Graph(), partial(_takes_readings, seen), partial(_watched, seen))


#: The number of each reading, the state of the run in it, and packets added.
_Seen: TypeAlias = list[tuple[int, tuple[str, int]]]


def _takes_readings(seen: _Seen, graph: Graph) -> Iterator[Graph]:
    yield from api_model.by_itself(graph)
    if graph.readings < graph.taken:
        yield graph._replace(readings=graph.taken)
    elif graph.taken < len(seen) and (not graph.is_unwatched or not graph.taken):
        _, said = seen[graph.taken]
        if said == (api_model.state_of(graph), graph.added):
            yield graph._replace(taken=graph.taken + 1)


def _watched(seen: _Seen, graph: Graph, call: Call) -> Iterator[Graph]:
    newest = seen[graph.readings - 1][0] if graph.readings else 0
    if call.name == "reading":
        yield from [graph] * (call.result == newest)
    elif call.name == "wait_reading":
        least = call.argument % 3
        is_right = newest <= least if call.result is None else call.result == newest > least
        yield from [graph] * is_right
    elif call.name == "peek":
        yield graph  # see `_look_at_peeks`
    elif call.name == "close_monitor":
        yield graph._replace(is_unwatched=True)
    elif call.name == "is_unwatched":
        yield from [graph] * (call.result in {graph.is_unwatched, True})
        # it is closed a moment before `close` returns
    else:
        yield from api_model.allowed(graph, call)


# --- rows ---------------------------------------------------------------------------------------------


class RowsCalls(GraphCalls):
    """Calls of a graph and of its rows; there is one run, whose rows they are."""

    # without the calls of the poller: it has packets of its own, and the model knows the rows' packets only
    weights = {name: often for name, often in WEIGHTS.items() if name not in LAST | _POLLERS} | _ROWS
    last = frozenset({"row_wait", "row_wait_async"})
    waiting = WAITING | last
    awaited = AWAITED | {"row_wait_async"}

    def __init__(self, installed: Registry, order: random.Random) -> None:
        super().__init__(installed, order)
        self._rows: Final = self.graph.rows("b", timeout=PATIENCE_S)

    def do(self, name: str, number: int) -> Any:
        """Make a call."""
        if name in {"row", "row_wait"}:
            found = self._rows.next(0 if name == "row" else None)
            return None if found is None else found.stamp
        if name == "close_rows":
            self._rows.close()
            return DONE
        return super().do(name, number)

    async def do_async(self, name: str, number: int) -> Any:
        """Await the rows."""
        if name != "row_wait_async":
            return await super().do_async(name, number)
        found = await self._rows.next_async()
        return None if found is None else found.stamp

    def end(self) -> None:
        """End the run, and read what is left."""
        self.call("resume", 0)
        self.call("close_input", 0)
        while isinstance(self.call("row", 0), int):
            pass
        super().end()
        if self.graph.run_count and not self.graph.ledger().adds_up:
            self.findings.append("the ledger does not add up")

    def model(self) -> Model:
        """Return the model, in which one thread at a time reads."""
        calls = tuple(self.calls)

        def allowed(graph: Graph, call: Call) -> Iterator[Graph]:
            if call.name == "close_rows":
                yield graph._replace(rows="left" if graph.rows == "open" else graph.rows)
            elif call.name not in _READS:
                yield from api_model.allowed(graph, call)
            elif call.result == NO_RUN and overlaps(call, calls, _READS):
                yield graph
            elif call.result == NOTHING and not graph.has_begun and overlaps(call, calls, _STARTS):
                yield from [graph] * (call.name == "row")  # rows wait for a run that others do not know yet
            else:
                yield from _row(graph, call)

        return Model(api_model.Graph(), api_model.by_itself, allowed)


_READS: Final = frozenset({"row", "row_wait", "row_wait_async"})
_STARTS: Final = frozenset({"start"})


def _row(graph: Graph, call: Call) -> Iterator[Graph]:
    if graph.rows == "over":
        yield from [graph] * (call.result is None)
    elif graph.rows == "left" or not graph.has_begun:
        yield from [graph] * (call.result == NO_RUN)
    elif graph.polled:
        if call.result == graph.polled[0]:
            yield graph._replace(polled=graph.polled[1:])
    elif graph.has_failed and call.result == FAILED:
        yield graph._replace(rows="over")
    elif (graph.is_over or (graph.is_closed and not graph.under_way)) and not graph.has_failed:
        if call.result is None:
            yield graph._replace(rows="over")
        elif call.result == NOTHING and not graph.is_over:
            yield graph
    elif call.result == NOTHING and call.name == "row" and not graph.has_failed:
        yield graph
