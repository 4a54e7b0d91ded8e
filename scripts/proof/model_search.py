"""All states of the model of a run, and what must hold in each."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from stream_model import CLOSED, Action, Model

if TYPE_CHECKING:
    from stream_model import Carried, Drawing, State, Value


class ModelError(Exception):
    """Something that must hold does not; has the actions that lead there."""


class Found(NamedTuple):
    """What all orders of a graph have shown."""

    orders: int
    states: int
    #: What the streams carried, each different end once.
    outcomes: tuple[tuple[Carried, ...], ...]


def every_state(model: Model, most: int = 1_000_000) -> Found:
    """Look at each state that can be reached, and count the orders.

    Raises:
        ModelError: a state breaks a rule, stands still or leads back to itself, or there are more than
            `most`.
    """
    return _Search(model, most).run()


class _Search:
    """Depth first; `_ways` has the states that were left, with the number of orders from each to an end."""

    def __init__(self, model: Model, most: int) -> None:
        self._model: Final = model
        self._most: Final = most
        self._ways: Final[dict[object, int]] = {}
        self._path: Final[list[_Visit]] = []
        self._on_path: Final[set[object]] = set()
        self._outcomes: Final[dict[tuple[Carried, ...], None]] = {}

    def run(self) -> Found:
        start = self._model.start()
        self._enter(start, start.key(), None)
        while True:
            visit = self._path[-1]
            if visit.left:
                self._go(visit, visit.left.popleft())
                continue
            self._path.pop()
            self._on_path.discard(visit.key)
            self._ways[visit.key] = visit.ways or 1
            if not self._path:
                return Found(visit.ways or 1, len(self._ways), tuple(self._outcomes))
            self._path[-1].ways += self._ways[visit.key]

    def _go(self, visit: _Visit, action: Action) -> None:
        reached = self._model.after(visit.state, action)
        key = reached.key()
        fault = fault_between(self._model, visit.state, reached)
        if fault or key in self._on_path:
            raise _error(self._model, fault or "a state leads back to itself", self._path, action)
        if key in self._ways:
            visit.ways += self._ways[key]
        else:
            self._enter(reached, key, action)

    def _enter(self, state: State, key: object, by: Action | None) -> None:
        model = self._model
        actions = model.actions(state)
        self._path.append(_Visit(state, key, deque(actions), by))
        self._on_path.add(key)
        if fault := fault_of(model, state) or ("" if actions or state.is_over else "nothing can be done"):
            raise _error(model, fault, self._path)
        if not actions:
            self._outcomes[tuple(state.carried)] = None
        if len(self._ways) + len(self._path) > self._most:
            raise _error(model, f"there are more than {self._most} states", self._path[:1])


class _Visit:
    """A state on the way from the start to where the search is."""

    def __init__(self, state: State, key: object, left: deque[Action], by: Action | None) -> None:
        self.state: Final = state
        self.key: Final = key
        self.left: Final = left
        self.by: Final = by
        self.ways = 0


def _error(model: Model, fault: str, path: list[_Visit], last: Action | None = None) -> ModelError:
    told = [f"{visit.by.kind} {visit.by.number}" for visit in path if visit.by is not None]
    told += [f"{last.kind} {last.number}"] if last is not None else []
    return ModelError(f"{model.drawing}: {fault}, after: {', '.join(told) or 'nothing'}")


def fault_of(model: Model, state: State) -> str:
    """Return what is wrong with a state; "" where nothing is."""
    for place, queue in enumerate(state.queues):
        box, stream = model.readers[place]
        stamps = [stamp for stamp, _ in queue]
        if stamps != sorted(set(stamps)):
            return f"a queue of stream {stream} is out of order: {stamps}"
        if stamps and stamps[-1] >= state.bounds[stream]:
            return f"stream {stream} holds {stamps[-1]}, though its bound is {state.bounds[stream]}"
        if stamps and stamps[0] <= state.sets[box][0]:
            return f"node {box} was called at {state.sets[box][0]}, and then {stamps[0]} came"
    if state.is_over and (any(state.queues) or set(state.phases) - {CLOSED}):
        return "the run is over with packets in queues, or open nodes"
    return ""


def fault_between(model: Model, old: State, new: State) -> str:
    """Return what is wrong with a step from one state to the next; "" where nothing is."""
    if any(after < before for before, after in zip(old.bounds, new.bounds, strict=True)):
        return "a bound has fallen"
    if any(after < before for before, after in zip(old.limits, new.limits, strict=True)):
        return "a limit has fallen"
    packets = sum(len(stamps) for stamps in model.drawing.inputs) + sum(len(b.stamps) for b in model.boxes)
    most = max(model.drawing.limit, packets + 1)
    if model.drawing.limit and max(new.limits, default=0) > most:
        return f"a limit was raised to {max(new.limits)}, though there are {packets} packets"
    return ""


def meaning(drawing: Drawing) -> tuple[Carried, ...]:
    """Return what each stream of a graph without cycles carries, worked out node by node."""
    streams: list[dict[int, Value]] = [
        {stamp: number + 1 for number, stamp in enumerate(stamps)} for stamps in drawing.inputs
    ]
    for box in drawing.boxes:
        if box.kind == "source":
            streams.append({stamp: number + 1 for number, stamp in enumerate(box.stamps)})
            continue
        reads = [streams[s] for s in box.reads]
        made: dict[int, Value] = {}
        for t in sorted(set().union(*reads)):
            values = tuple(read.get(t) for read in reads)
            if box.kind == "later":
                made[t + 1] = values
            elif box.kind == "both" or t % 2:
                made[t] = values
        streams.append(made)
    return tuple(tuple(stream.items()) for stream in streams)


def checked(drawing: Drawing, kind: type[Model] = Model, *, is_open: bool = False) -> Found:
    """Look at all states of a graph, and compare the ends with its meaning.

    Raises:
        ModelError: as `every_state`; or orders end differently, or not with its meaning.
    """
    found = every_state(kind(drawing, is_open=is_open))
    if len(found.outcomes) != 1:
        raise ModelError(f"{drawing}: orders end differently: {found.outcomes[:2]}")
    has_cycle = any(box.back for box in drawing.boxes)
    if not has_cycle and found.outcomes[0] != (expected := meaning(drawing)):
        raise ModelError(f"{drawing}: the streams carry {found.outcomes[0]}, but {expected} is meant")
    return found
