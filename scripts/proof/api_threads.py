"""Threads that call one object in random order, and event loops beside them, and the results of all calls."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, ClassVar, Final

from linearizable import Call, Model, explained

from penstock import Calculator
from penstock.errors import PenstockError, WaitTimeoutError
from penstock.packs import default_registry

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping, Sequence

    from penstock import CalculatorContext, CalculatorContract, Registry

    #: What a thread calls, in order: name and number.
    Plan = list[tuple[str, int]]

#: How long a call may take that waits, in seconds, and a thread with all its calls.
PATIENCE_S: Final = 10.0
JOIN_S: Final = 30.0
_INTERVALS: Final = (1e-6, 1e-5, 1e-4, 5e-3)
#: How long threads that wait stay alone before what they wait for is done, in seconds; doubled each time.
_ALONE_S: Final = 0.003

GRAPH: Final = (
    'input_stream: "a" output_stream: "b" num_threads: 2 '
    'node { calculator: "Pass" input_stream: "a" output_stream: "b" }'
)


class Pass(Calculator):
    """Passes packets on."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)

    def process(self, cc: CalculatorContext) -> None:
        """Write what came."""
        cc.output.add_packet(cc.input.packet)


def registry() -> Registry:
    """Return the installed components, and `Pass`."""
    made = default_registry().child()
    made.add("calculator", "Pass", Pass)
    return made


def interval(order: random.Random) -> float:
    """Return how often the interpreter switches between threads in a sequence."""
    return order.choice(_INTERVALS)


def draw(
    order: random.Random, weights: Mapping[str, int], last: Iterable[str], threads: int = 0
) -> list[Plan]:
    """Return what each thread calls; one of the `last` calls, which may wait, is the last of a thread."""
    plans: list[Plan] = []
    stamp = 0
    for _ in range(threads or order.choice((2, 3, 3))):
        mine: Plan = []
        for name in order.choices(list(weights), list(weights.values()), k=order.randint(2, 4)):
            stamp += order.choice((0, 1, 1))
            mine.append((name, stamp))
            if name in last:
                break
        plans.append(mine)
    return plans


class Calls:
    """What threads call of one object.

    A kind says which calls there are, makes them, lets those return that wait, and brings the object to its
    end; a model says what they may return.
    """

    #: How often each call is drawn.
    weights: ClassVar[Mapping[str, int]]
    #: Calls that may wait for another one.
    waiting: ClassVar[frozenset[str]] = frozenset()
    #: Calls that a thread makes last.
    last: ClassVar[frozenset[str]] = frozenset()
    #: Errors that the object raises, which Penstock does not have.
    errors: ClassVar[tuple[type[Exception], ...]] = ()
    #: Calls that an event loop awaits.
    awaited: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, plans: Sequence[Plan], loops: frozenset[int] = frozenset()) -> None:
        self.calls: Final[list[Call]] = []
        self.findings: Final[list[str]] = []
        self.plans: Final = plans
        #: Numbers of the threads that have an event loop.
        self._loops = loops
        self._barrier: Final = threading.Barrier(len(plans))
        #: Which waiting call each thread or task is in.
        self._inside: Final[dict[object, str]] = {}

    # --- of a kind ----------------------------------------------------------------------------

    def do(self, name: str, number: int) -> Any:
        """Make a call, and return its result as the model has it."""
        raise NotImplementedError

    async def do_async(self, name: str, number: int) -> Any:
        """Await a call."""
        raise NotImplementedError

    def free(self) -> None:
        """Let calls return that wait."""

    def end(self) -> None:
        """Bring the object to its end, and look what is left."""

    def model(self) -> Model:
        """Return what the calls may return."""
        raise NotImplementedError

    # --- the threads --------------------------------------------------------------------------

    def run(self) -> None:
        """Make the calls, then end the object, and look whether an order explains the results."""
        threads = [threading.Thread(target=self._thread, args=(n,)) for n in range(len(self.plans))]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + JOIN_S
        pause = _ALONE_S
        while alive := [thread for thread in threads if thread.is_alive()]:
            alive[0].join(pause)
            if len(self._inside) >= sum(thread.is_alive() for thread in threads):
                self.free()
                pause *= 2
            if time.monotonic() > deadline:
                inside = ", ".join(self._inside.values())
                self.findings.append(f"a thread has not ended after {JOIN_S:g} s; in: {inside or 'no call'}")
                return
        self.end()
        if not self.findings and not explained(self.calls, self.model()):
            self.findings.append("no order explains what the calls returned")

    def _thread(self, number: int) -> None:
        plan = self.plans[number]
        self._barrier.wait(PATIENCE_S)
        if number not in self._loops:
            for name, argument in plan:
                self.call(name, argument)
            return
        with asyncio.Runner() as runner:
            runner.run(self._loop(plan))

    async def _loop(self, plan: Plan) -> None:
        """Make the calls of an event loop, in two tasks."""
        half = len(plan) // 2
        await asyncio.gather(self._task(plan[:half]), self._task(plan[half:]))

    async def _task(self, plan: Plan) -> None:
        for name, number in plan:
            if name in self.awaited:
                await self._awaited(name, number)
            else:
                self.call(name, number)

    def call(self, name: str, number: Any) -> Any:
        """Make a call and note its result."""
        who = threading.get_ident()
        if name in self.waiting:
            self._inside[who] = name
        begin = time.perf_counter_ns()
        try:
            result = self.do(name, number)
        except Exception as error:  # noqa: BLE001  # a finding, unless it is an error of ours
            result = self._failed(name, error)
        end = time.perf_counter_ns()
        self._inside.pop(who, None)
        self.calls.append(Call(name, number, begin, end, result))
        return result

    async def _awaited(self, name: str, number: int) -> None:
        who = asyncio.current_task()
        if name in self.waiting:
            self._inside[who] = name
        begin = time.perf_counter_ns()
        try:
            result = await self.do_async(name, number)
        except Exception as error:  # noqa: BLE001  # as above
            result = self._failed(name, error)
        end = time.perf_counter_ns()
        self._inside.pop(who, None)
        self.calls.append(Call(name, number, begin, end, result))

    def _failed(self, name: str, error: Exception) -> str:
        if isinstance(error, WaitTimeoutError) and name in self.waiting:
            self.findings.append(f"{name} has not returned within {PATIENCE_S:g} s")
        elif not isinstance(error, (PenstockError, *self.errors)):
            self.findings.append(f"{name} raised {error!r}")
        return type(error).__name__

    def told(self) -> str:
        """Return what was found, and all calls."""
        calls = sorted(self.calls, key=lambda call: call.begin)
        first = calls[0].begin if calls else 0
        return "\n".join([
            *self.findings,
            *(f"  {(c.begin - first) / 1e6:8.3f} to {(c.end - first) / 1e6:8.3f} ms: "
              f"{c.name}({c.argument}) → {c.result!r}" for c in calls),
        ])  # fmt: skip
