"""One node of a running graph: its state, its streams, its policy, its steps in order.

`RunBuilder` puts a node together; from then on only `Schedule` changes it, but for what the runtime measures
(`slowness`, `busy_ns`). What the steps of a node call is its invoker: see `penstock.engine.invoker`.

A node has one step at a time, unless `max_in_flight` allows several calls of `process`; then each has a step
and a context of its own, and their outputs leave in the order of the calls.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from penstock.engine.guard import Guard
from penstock.engine.layer import entry, link
from penstock.engine.methods import CLOSE, OPEN, PROCESS
from penstock.errors import InvalidArgumentError
from penstock.timestamp import MAX, UNSET

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.engine.calculator import NodeServices
    from penstock.engine.input_stream_handler import Advance, InputStreamHandler
    from penstock.engine.invoker import Invoker
    from penstock.engine.layer import Layer, LayerOptions
    from penstock.engine.scheduler_queue import ReadyQueue
    from penstock.engine.shortcuts import Relay
    from penstock.engine.step import Step
    from penstock.engine.stream import InputStream, OutputStream

#: States of a node. FAILED: `open` raised, so that nothing else is called.
UNOPENED: Final = 0
OPENING: Final = 1
OPENED: Final = 2
CLOSING: Final = 3
CLOSED: Final = 4
FAILED: Final = 5
STATES: Final = ("unopened", "opening", "opened", "closing", "closed", "failed in open")


#: `prepared` of nodes with one step at a time: an empty deque takes 600 bytes.
_NEVER_USED: Final[deque[Step]] = deque()


class Node:
    """A node and everything that the scheduler knows about it."""

    __slots__ = (
        "_calculator", "advance", "awaiting", "busy_ns", "close", "forwarded", "guard", "has_offset", "id",
        "in_flight", "in_order", "inputs", "is_active", "is_open", "is_source", "is_touched", "kind", "layer",
        "layers", "max_in_flight", "name", "new_step", "only_input", "open", "outputs", "policy", "prepared",
        "process", "queue", "ready_key", "relay", "services", "slowness", "spare", "state", "step", "steps",
        "takes_in_order", "takes_late",
    )  # fmt: skip

    advance: Advance
    step: Step
    inputs: tuple[InputStream, ...]
    outputs: tuple[OutputStream, ...]

    def __init__(  # noqa: PLR0913, PLR0917  # made in one place only; names would take 0.2 us more
        self,
        number: int,
        name: str,
        kind: str,
        calculator: Invoker,
        policy: InputStreamHandler,
        queue: ReadyQueue,
        services: NodeServices,
        layer: int = 0,
        max_in_flight: int = 1,
    ) -> None:
        #: Position in the plan.
        self.id: Final = number
        #: `name`, `kind`: canonical name, and registered name of the calculator.
        self.name: Final = name
        self.kind: Final = kind
        self._calculator: Final = calculator
        #: The layers of its invoker, the outermost first; changed by `put_around` alone.
        self.layers: tuple[Layer, ...] = ()
        #: The layer that decides about its failed calls; None: they end the run.
        self.guard: Guard | None = None
        self.policy: Final = policy
        self.queue: Final = queue
        self.services: Final = services
        self.layer: Final = layer
        self.max_in_flight: Final = max_in_flight
        self.inputs = ()
        self.outputs = ()
        self.is_source = False
        #: One of the constants above.
        self.state = UNOPENED
        #: Headers and side packets that must come before `open`.
        self.awaiting = 0
        #: Steps that are prepared or running.
        self.in_flight = 0
        #: With max_in_flight above 1: steps that wait in the ready queue, in order.
        self.prepared: deque[Step] = deque() if max_in_flight > 1 else _NEVER_USED
        #: With max_in_flight above 1: running and done steps by order of their call.
        self.in_order: deque[Step] | None = deque() if max_in_flight > 1 else None
        #: With max_in_flight above 1: steps that can be used again.
        self.spare: list[Step] = []
        #: For sources: its layer has been started.
        self.is_active = False
        #: Whether `open`, not a coroutine, has returned and `close` was not called; needs no lock.
        self.is_open = False
        #: Place in the ready queue: nodes nearer the outputs have smaller ones.
        self.ready_key = 0
        #: An input has changed and the node has not been looked at since.
        self.is_touched = False
        #: Whether any output promises an offset.
        self.has_offset = False
        #: `only_input`, `takes_in_order`, `relay`: kept by `penstock.engine.shortcuts`, and unused without
        #: them.
        self.only_input: InputStream | None = None
        self.takes_in_order = False
        self.relay: Relay | None = None
        #: With offsets: input bounds up to this one have been forwarded.
        self.forwarded = UNSET
        #: `open`, `process`, `close`: what the steps of each method call: the methods of the invoker.
        self.open: Callable[[Step], object] = calculator.open
        self.process: Callable[[Step], object] = calculator.process
        self.close: Callable[[Step], object] = calculator.close
        self.takes_late = False
        self.new_step: Callable[[Node], Step]
        #: Grows with calls that take long; kept by the runtime. At the start one such call more makes the
        #: node heavy: see `runtime.runner.queue_work`.
        self.slowness = 17  # a short `open`, and one long call
        #: `steps`, `busy_ns`: number of completed calls of `process`, and their time where it is measured.
        self.steps = 0
        self.busy_ns = 0

    def connect(
        self,
        inputs: tuple[InputStream, ...],
        outputs: tuple[OutputStream, ...],
        new_step: Callable[[Node], Step],
    ) -> None:
        """Attach the streams and make the first step; called once, when the run is built."""
        self.inputs = inputs
        self.outputs = outputs
        self.is_source = not inputs and bool(outputs)
        self.takes_late = bool(inputs) and self.policy.takes_late
        self.new_step = new_step
        self.step = new_step(self)
        self.policy.prepare(inputs)
        if self.policy.batch_size > 1 and self.in_order is not None:
            raise InvalidArgumentError(
                f"node {self.name!r}: batch_size {self.policy.batch_size} does not go with max_in_flight "
                f"{self.max_in_flight}; remove one of the two",
                node=self.name,
            )

    @property
    def calculator(self) -> Invoker:
        """What the calls come to in the end: the calculator, or what stands for it here."""
        return self.layers[-1].inner if self.layers else self._calculator

    @property
    def options(self) -> LayerOptions | None:
        """The options that the present call sees, where a layer has changed them; None: those of the plan."""
        for layer in self.layers:
            if (options := layer.options) is not None:
                return options
        return None

    def put_around(self, *layers: Layer) -> None:
        """Put layers around the calculator, each in its place among those that are there already."""
        calculator = self.calculator
        ordered = tuple(sorted([*self.layers, *layers], key=_level))
        link(ordered, calculator)
        self.layers = ordered
        self.guard = next((layer for layer in ordered if isinstance(layer, Guard)), None)
        self.open = entry(ordered, calculator, OPEN)
        self.process = entry(ordered, calculator, PROCESS)
        self.close = entry(ordered, calculator, CLOSE)

    def call_open(self, step: Step) -> object:
        """Open the calculator, and note that before an interrupt can come."""
        outcome = self.open(step)
        self.is_open = outcome is None  # a coroutine has yet to open it
        return outcome

    def call_close(self, step: Step) -> object:
        """Close the calculator."""
        self.is_open = False
        return self.close(step)

    def bind(self) -> None:
        """Read what `open` may have changed: offsets and process bounds."""
        self.has_offset = any(stream.offset is not None for stream in self.outputs)
        self.advance = self.policy.bind()

    def free_step(self) -> Step:
        """Return a step for the next call of `process`."""
        if self.in_order is None:
            return self.step
        return self.spare.pop() if self.spare else self.new_step(self)

    def running(self) -> int:
        """Return how many calls are under way."""
        if self.in_order is None:
            return int(self.step.is_running)
        return self.in_flight - len(self.prepared)

    def behind(self) -> int:
        """Return the smallest bound of the outputs: which source runs next."""
        return min((stream.bound for stream in self.outputs), default=MAX)


def _level(layer: Layer) -> int:
    return layer.level
