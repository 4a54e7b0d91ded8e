"""A model of a run: streams, bounds, readiness, back-pressure, the deadlock rule, and the end.

It says in a few rules what the engine does, and shares no code with it. A state is a value; from each
state certain actions lead to others: a graph input gets a packet or closes, a call begins, a call ends, an
observer is served. What the engine keeps up to date step by step (which node is ready, which queue is full,
which source waits) is worked out here from the queues and bounds each time.

The rules, in the order of the methods of `Model`:

* A node is ready at the smallest timestamp that waits in its queues, if no input without packets can still
  bring that timestamp or a smaller one (`ready_at`).
* A call moves the bound of its output behind what it wrote, and with an offset behind what it promises. A
  node with an offset that has nothing to do passes the bound of its inputs on (`end_of_call`, `passed_on`).
* A full queue makes the graph inputs and sources above it wait, and nothing else (`waits`).
* Where nothing is left to do, but a full queue makes something wait, the limits of the full queues are
  raised (`go_on`).
* A node whose inputs have ended closes. Where nothing is left to do and all sources have ended, the others
  close one after the other, upstream first (`settle`, `go_on`).

Not in the model: policies other than the default one, failures, STOP of a node with inputs, cancel, pause,
calls that overlap, side packets, timestamps outside of streams' usual range.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

#: What a packet carries: a number, or what a node has made of its inputs.
Value: TypeAlias = "int | tuple[Value | None, ...]"
Carried: TypeAlias = "tuple[tuple[int, Value], ...]"

#: Bounds of a stream that has carried nothing, and of one that has ended.
NOTHING_YET: Final = -1_000_000
ENDED: Final = 1_000_000

#: Phases of a node. READY_*: the call waits for a thread; *ING: it is under way.
UNOPENED, READY_TO_OPEN, OPENING, IDLE, READY, CALLED, READY_TO_CLOSE, CLOSING, CLOSED = range(9)
_BUSY: Final = frozenset({READY_TO_OPEN, OPENING, READY, CALLED, READY_TO_CLOSE, CLOSING})
_BEGUN: Final = {READY_TO_OPEN: OPENING, READY: CALLED, READY_TO_CLOSE: CLOSING}


class Box(NamedTuple):
    """A node with one output.

    Its kind says what a call at `t` writes: "both" what came, at t; "odd" the same where t is odd, else
    nothing; "later" the same at t + 1; "again" the same, but only where the first input of the node above
    had a packet, else it would go round for ever; "source" the next of its own timestamps.
    """

    kind: str
    #: The streams that it reads.
    reads: tuple[int, ...] = ()
    #: The timestamp offset that it promises.
    offset: int | None = None
    #: Positions in `reads` that close a cycle.
    back: tuple[int, ...] = ()
    #: Of a source: the timestamps of its packets.
    stamps: tuple[int, ...] = ()
    #: The timestamp of a packet that its `open` writes, which carries 0.
    first: int | None = None
    #: How many calls may overlap; the model itself has one at a time.
    calls: int = 1


class Drawing(NamedTuple):
    """A graph and what it is fed. Its streams are the graph inputs, then the outputs of the boxes."""

    #: Graph input → timestamps of its packets; each packet carries its own number, from 1.
    inputs: tuple[tuple[int, ...], ...]
    boxes: tuple[Box, ...]
    #: How many packets a queue holds; 0 for no limit.
    limit: int = 0
    observed: tuple[int, ...] = ()


class Action(NamedTuple):
    """What can be done next: FEED an input, BEGIN or END a call of a box, SERVE the observer of a stream."""

    kind: str
    number: int


class State:
    """A state of a run; only `Model` changes one, and only one that is its own."""

    __slots__ = (
        "active", "bounds", "calls", "carried", "fed", "is_over", "limits", "phases", "queues", "sets",
        "unseen",
    )  # fmt: skip

    fed: list[int]
    bounds: list[int]
    carried: list[Carried]
    queues: list[Carried]
    limits: list[int]
    phases: list[int]
    sets: list[tuple[int, tuple[Value | None, ...]]]
    calls: list[int]
    active: list[bool]
    unseen: list[bool]
    is_over: bool

    def copy(self) -> State:
        """Return a state that can be changed."""
        made = State()
        made.fed, made.bounds, made.carried = self.fed.copy(), self.bounds.copy(), self.carried.copy()
        made.queues, made.limits, made.phases = self.queues.copy(), self.limits.copy(), self.phases.copy()
        made.sets, made.calls, made.active = self.sets.copy(), self.calls.copy(), self.active.copy()
        made.unseen, made.is_over = self.unseen.copy(), self.is_over
        return made

    def key(self) -> tuple[object, ...]:
        """Return a value that equal states share."""
        return (
            tuple(self.fed), tuple(self.bounds), tuple(self.carried), tuple(self.queues),
            tuple(self.limits), tuple(self.phases), tuple(self.sets), tuple(self.calls),
            tuple(self.active), tuple(self.unseen), self.is_over,
        )  # fmt: skip


def goes_round(value: Value | None) -> bool:
    """Return whether a node "again" writes what it got."""
    return isinstance(value, tuple) and value[0] is not None


class Model:
    """The rules for one graph.

    Args:
        drawing: the graph.
        begins_at_once: whether calls begin as soon as they are ready, so that BEGIN is no action.
        is_open: whether all nodes are open at the start.
    """

    def __init__(self, drawing: Drawing, *, begins_at_once: bool = True, is_open: bool = False) -> None:
        self.drawing: Final = drawing
        self.boxes: Final = drawing.boxes
        self.inputs: Final = len(drawing.inputs)
        self._begins_at_once: Final = begins_at_once
        self._is_open: Final = is_open
        #: Each reading end: box, and stream.
        self.readers: Final = [(b, s) for b, box in enumerate(drawing.boxes) for s in box.reads]
        places = list(range(len(self.readers)))
        #: Box → its reading ends; stream → its reading ends.
        self.of_box: Final = [[p for p in places if self.readers[p][0] == b] for b in range(len(self.boxes))]
        streams = range(self.inputs + len(self.boxes))
        self.of_stream: Final = [[p for p in places if self.readers[p][1] == s] for s in streams]
        #: Stream → what waits while a queue of it is full: ~input for a graph input, the number of a source.
        self.above: Final[list[frozenset[int]]] = [frozenset({~s}) for s in range(self.inputs)]
        for number, box in enumerate(self.boxes):
            forward = [s for place, s in enumerate(box.reads) if place not in box.back]
            above = frozenset[int]().union(*(self.above[s] for s in forward))
            self.above.append(above if box.reads else frozenset({number}))
        sources = frozenset[int]().union(*self.above)
        #: The other way round: what may have to wait → the reading ends whose full queues it waits for.
        self.below: Final = {
            one: [place for place, (_, stream) in enumerate(self.readers) if one in self.above[stream]]
            for one in sources
        }

    def start(self) -> State:
        """Return the state in which a run begins."""
        state = State()
        streams = self.inputs + len(self.boxes)
        state.fed = [0] * self.inputs
        state.bounds = [NOTHING_YET] * streams
        state.carried = [()] * streams
        state.queues = [()] * len(self.readers)
        state.limits = [self.drawing.limit or ENDED] * len(self.readers)
        state.phases = [IDLE if self._is_open else UNOPENED] * len(self.boxes)
        state.sets = [(NOTHING_YET, ())] * len(self.boxes)
        state.calls = [0] * len(self.boxes)
        state.active = [False] * len(self.boxes)
        state.unseen = [False] * streams
        state.is_over = False
        self.settle(state)
        return state

    # --- actions ------------------------------------------------------------------------------

    def actions(self, state: State) -> list[Action]:
        """Return what can be done next; nothing where the run is over."""
        if state.is_over:
            return []
        found = [Action("END", b) for b, p in enumerate(state.phases) if p in {OPENING, CALLED, CLOSING}]
        found += [Action("BEGIN", b) for b, phase in enumerate(state.phases) if phase in _BEGUN]
        found += [Action("SERVE", s) for s, is_unseen in enumerate(state.unseen) if is_unseen]
        for number, count in enumerate(state.fed):
            left = len(self.drawing.inputs[number]) - count
            if left == 0 or (left > 0 and not self.waits(state, ~number)):
                found.append(Action("FEED", number))
        return found

    def after(self, state: State, action: Action) -> State:
        """Return the state to which an action leads."""
        new = state.copy()
        kind, number = action
        if kind == "BEGIN":
            new.phases[number] = _BEGUN[new.phases[number]]
            return new
        if kind == "FEED":
            self._feed(new, number)
        elif kind == "END":
            self._end(new, number)
        else:
            new.unseen[number] = False
        self.settle(new)
        return new

    def _feed(self, state: State, number: int) -> None:
        stamps = self.drawing.inputs[number]
        count = state.fed[number]
        state.fed[number] += 1
        if count == len(stamps):
            self._raise_bound(state, number, ENDED)
        else:
            self._write(state, number, stamps[count], count + 1)

    def _end(self, state: State, number: int) -> None:
        phase = state.phases[number]
        state.phases[number] = IDLE
        first = self.boxes[number].first
        if phase == OPENING and first is not None:
            self._write(state, self.inputs + number, first, 0)
        elif phase == CALLED:
            self.end_of_call(state, number)
        elif phase == CLOSING:
            state.phases[number] = CLOSED
            self._raise_bound(state, self.inputs + number, ENDED)
            for place in self.of_box[number]:
                state.queues[place] = ()

    # --- bounds -------------------------------------------------------------------------------

    def _write(self, state: State, stream: int, stamp: int, value: Value) -> None:
        packet = (stamp, value)
        state.carried[stream] += (packet,)
        state.unseen[stream] = stream in self.drawing.observed
        for place in self.of_stream[stream]:
            if state.phases[self.readers[place][0]] != CLOSED:
                state.queues[place] += (packet,)
        self._raise_bound(state, stream, stamp + 1)

    @staticmethod
    def _raise_bound(state: State, stream: int, bound: int) -> None:
        state.bounds[stream] = max(bound, state.bounds[stream])

    def end_of_call(self, state: State, number: int) -> None:
        """Let what a call has written and promised leave."""
        box = self.boxes[number]
        stream = self.inputs + number
        t, values = state.sets[number]
        count = state.calls[number]
        state.calls[number] += 1
        if box.kind == "source":
            if count < len(box.stamps):
                self._write(state, stream, box.stamps[count], count + 1)
            else:
                state.phases[number] = READY_TO_CLOSE
            return
        if box.kind == "later" or (box.kind == "again" and goes_round(values[0])):
            self._write(state, stream, t + 1, values)
        elif box.kind == "both" or (box.kind == "odd" and t % 2):
            self._write(state, stream, t, values)
        if box.offset is not None:
            self._raise_bound(state, stream, t + 1 + box.offset)

    def passed_on(self, state: State, number: int) -> int:
        """Return the bound that an idle node with an offset passes on."""
        offset = self.boxes[number].offset
        waits_for = min(
            state.bounds[self.readers[place][1]] for place in self.of_box[number] if not state.queues[place]
        )
        return NOTHING_YET if offset is None or waits_for == NOTHING_YET else waits_for + offset

    # --- readiness ----------------------------------------------------------------------------

    def ready_at(self, state: State, number: int) -> int | None:
        """Return the timestamp for which a node is ready; ENDED where its inputs have ended; or None."""
        heads = [state.queues[place][0][0] for place in self.of_box[number] if state.queues[place]]
        settled = [
            state.bounds[self.readers[place][1]] for place in self.of_box[number] if not state.queues[place]
        ]
        first = min(heads, default=ENDED)
        can_come = min(settled, default=ENDED + 1)
        if can_come > first or first == can_come == ENDED:
            return first
        return None

    def _take(self, state: State, number: int, t: int) -> None:
        values: list[Value | None] = []
        for place in self.of_box[number]:
            queue = state.queues[place]
            is_there = bool(queue) and queue[0][0] == t
            values.append(queue[0][1] if is_there else None)
            state.queues[place] = queue[1:] if is_there else queue
        state.sets[number] = (t, tuple(values))
        state.phases[number] = READY

    # --- back-pressure ------------------------------------------------------------------------

    def is_full(self, state: State, place: int) -> bool:
        """Return whether a queue has reached its limit."""
        return len(state.queues[place]) >= state.limits[place]

    def waits(self, state: State, source: int) -> bool:
        """Return whether a source, or a graph input (by its complement), must wait: a queue is full."""
        return any(self.is_full(state, place) for place in self.below[source])

    # --- what follows at once -----------------------------------------------------------------

    def settle(self, state: State) -> None:
        """Let all happen that follows without a call."""
        while self._step(state) or (not self._is_busy(state) and self.go_on(state)):
            pass
        if self._begins_at_once:
            state.phases[:] = [_BEGUN.get(phase, phase) for phase in state.phases]

    def _is_busy(self, state: State) -> bool:
        return any(state.unseen) or not _BUSY.isdisjoint(state.phases)

    def _step(self, state: State) -> bool:
        """Let one thing happen at one node; return whether there was one."""
        for number, phase in enumerate(state.phases):
            if phase == UNOPENED and self._may_open(state, number):
                state.phases[number] = READY_TO_OPEN
                return True
            if phase == IDLE and (self._look(state, number) if self.boxes[number].reads else
                                  self._run_source(state, number)):  # fmt: skip
                return True
        return False

    def _may_open(self, state: State, number: int) -> bool:
        """Return whether all that writes the inputs of a node has opened, but for cycles."""
        box = self.boxes[number]
        producers = [s - self.inputs for place, s in enumerate(box.reads) if place not in box.back]
        return all(p < 0 or state.phases[p] >= IDLE for p in producers)

    def _look(self, state: State, number: int) -> bool:
        t = self.ready_at(state, number)
        if t == ENDED:
            state.phases[number] = READY_TO_CLOSE
        elif t is not None:
            self._take(state, number, t)
        else:
            stream = self.inputs + number
            bound = self.passed_on(state, number)
            if bound <= state.bounds[stream]:
                return False
            self._raise_bound(state, stream, bound)
        return True

    def _run_source(self, state: State, number: int) -> bool:
        if not state.active[number] or self.waits(state, number):
            return False
        state.phases[number] = READY
        return True

    def go_on(self, state: State) -> bool:
        """Do what comes next where no call and no observer is left; return whether there was anything."""
        sources = [number for number, box in enumerate(self.boxes) if not box.reads]
        inputs = [~s for s, count in enumerate(state.fed) if count <= len(self.drawing.inputs[s])]
        if sleeping := [n for n in sources if state.phases[n] == IDLE and not state.active[n]]:
            for number in sleeping:
                state.active[number] = True
            return True
        running = [number for number in sources if state.phases[number] == IDLE]
        if not running and not inputs:
            self._close_next(state)
            return not state.is_over
        return self.raise_limits(state, [*running, *inputs])

    @staticmethod
    def _close_next(state: State) -> None:
        for number, phase in enumerate(state.phases):
            if phase == IDLE:
                state.phases[number] = READY_TO_CLOSE
                return
        state.is_over = True

    def raise_limits(self, state: State, sources: list[int]) -> bool:
        """Raise the limit of each full queue if one of these sources waits; return whether one did."""
        if not any(self.waits(state, source) for source in sources):
            return False
        for place, (_, stream) in enumerate(self.readers):
            if self.above[stream] and self.is_full(state, place):
                state.limits[place] = len(state.queues[place]) + 1
        return True
