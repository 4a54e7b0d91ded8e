"""Graphs whose nodes work in simulated processes: their calculators, what drives them, what must hold."""

from __future__ import annotations

from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np
from simulated_world import SimulatedLoop, Thread

from penstock import STOP, Calculator
from penstock.config import build_plan
from penstock.errors import PenstockError
from penstock.explain import ledger
from penstock.lowlevel import CLOSE, PROCESS
from penstock.packs import default_registry
from penstock.runs import RUNNING, TERMINATED
from penstock.runtime.event_loops.task_futures import TaskFuture
from penstock_testing import ScheduleHarness
from penstock_testing.schedules import HeldStep

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulated_world import World

    from penstock import CalculatorContext, CalculatorContract, Registry
    from penstock.lowlevel import NodePlan, Plan
    from penstock.runs import Step

#: Policies by name: the failure policy in the graph.
POLICIES: Final = {
    "fail": "",
    "skip": "failure { on_error: SKIP max_restarts: 1000 }",
    "restart": "failure { on_error: RESTART max_restarts: 1000 }",
    "again": "failure { retry: 1 on_error: SKIP max_restarts: 1000 }",
    "few": "failure { on_error: RESTART max_restarts: 2 then: FAIL }",
    "in time": "failure { on_error: SKIP max_restarts: 1000 timeout_ms: 700 open_timeout_ms: 900 }",
}
#: How long all may take, in simulated seconds.
PATIENCE_S: Final = 1000.0


class Faults(NamedTuple):
    """What calculators do, for all processes of the world that is tried now."""

    world: World
    #: Number of a payload → "raise", "die", "slow" or "hang".
    of: dict[int, str]
    #: Ends the process of the task that runs.
    die: Callable[[], object]


class _Now:
    #: Of the world that is tried now.
    faults: Faults
    #: How many objects were made.
    made = 0


def begin(faults: Faults) -> None:
    """Say what the calculators of the next run do."""
    _Now.faults = faults
    _Now.made = 0


class Counts(Calculator):
    """Writes the payload, which of all objects it is, and how many calls it has had."""

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Declare the ports."""
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.set_timestamp_offset(0)
        cc.declare(stateless=cls is Echoes, may_skip=False)

    def open(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Begin to count."""
        _Now.made += 1
        self._object = _Now.made
        self._count = 0
        _Now.faults.world.sleep(_Now.faults.world.random.random() * 0.01)

    def process(self, cc: CalculatorContext) -> None:
        """Take some time, do what is to go wrong, and write."""
        world = _Now.faults.world
        number, *_, ballast = cc.input.payload
        fault = _Now.faults.of.get(number)
        # An object in state must be read before others go on: calls may overlap.
        self._count += 1
        came = (number, self._object, self._count)
        world.sleep(world.random.random() * 0.02)
        if fault == "raise":
            raise ValueError(number)
        if fault == "slow":
            world.sleep(world.random.random())
        elif fault == "hang":
            world.sleep(1e9)
        elif fault == "die":
            _Now.faults.die()
        elif fault == "refused":
            cc.output.add(lambda: number, cc.input_timestamp)  # nobody can pickle it
            return
        large = np.full(2000, number, np.float32) if number % 3 == 0 else None
        cc.output.add((*came, large, ballast), cc.input_timestamp)


class Echoes(Counts):
    """As `Counts`, and may have several objects."""


def registry() -> Registry:
    """Return the installed components, and the calculators of this module."""
    made = default_registry().child()
    for one in (Counts, Echoes):
        made.add("calculator", one.__name__, one)
    return made


class Driver:
    """Drives a run in the first task of a world; steps may end later, elsewhere.

    Args:
        world: where the run is.
        harness: the run, not started.
        cancels_after: seconds until the run is cancelled; None: it is not.
    """

    def __init__(self, world: World, harness: ScheduleHarness, cancels_after: float | None) -> None:
        self._world: Final = world
        self.harness: Final = harness
        harness.checks = False
        #: When the run is cancelled, and when it was.
        self.cancels_at = None if cancels_after is None else world.now + cancels_after
        self.cancelled_at: float | None = None
        #: What was called, and has not come back: the step, and a future of its end.
        self._held: Final[list[tuple[Step, Future[Any]]]] = []
        self._loop: SimulatedLoop | None = None
        #: Faults that were seen on the way.
        self.faults: Final[list[str]] = []

    def go(self) -> None:
        """Run to the end."""
        world = self._world
        self.harness.start()
        until = world.now + PATIENCE_S
        try:
            while self.harness.schedule.state != TERMINATED or self._held:
                if self.cancels_at is not None and self.cancelled_at is None and world.now >= self.cancels_at:
                    self.cancelled_at = world.now
                    world.tell("the run is cancelled")
                    self.harness.cancel()
                self._cancel_where_failing()
                if self._do_something():
                    continue
                if not self._held:
                    self.faults.append("nothing can be done, and the run has not ended")
                    return
                is_patient = self.cancels_at is None or self.cancelled_at is not None
                left = until if is_patient or self.cancels_at is None else self.cancels_at
                if not world.wait(self._can_go_on, left - world.now) and left == until:
                    self.faults.append(f"no end after {PATIENCE_S:g} simulated seconds")
                    return
        finally:
            self.harness.serve_observers()
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)

    def go_somewhere(self) -> None:
        """Run to the end, in this task or in another: the main thread leaves large messages to others."""
        if self._world.random.random() < 0.5:  # noqa: PLR2004
            self.go()
            return
        driver = Thread(self._world, self.go, "driver", None)
        driver.start()
        driver.join()

    def look(self) -> None:
        """Look whether all is as it must be, at each turn."""

    def actions(self) -> list[Callable[[], object]]:
        """Return what else can be done now."""
        return []

    def _can_go_on(self) -> bool:
        return any(future.done() for _, future in self._held)

    def _do_something(self) -> bool:
        self.look()
        turns = self._world.turns
        ended = [number for number, (_, future) in enumerate(self._held) if future.done()]
        schedule = self.harness.schedule
        actions = self.actions()
        if ended:
            actions.append(lambda: self._complete(*self._held.pop(turns.choice(ended))))
        if schedule.state == RUNNING and any(len(queue) for queue in schedule.queues):
            actions.append(self._begin)
        if schedule.deliveries:
            actions.append(lambda: self.harness.serve(0))
        if not actions:
            return False
        self._world.pause()
        turns.choice(actions)()
        return True

    def _begin(self) -> None:
        step = self.harness.take()
        if step is None:
            return
        try:
            outcome = step.call(step)
        except Exception as error:  # noqa: BLE001  # an error of the run
            self._end(step, error, stop=False)
            return
        if isinstance(outcome, Future):
            self._held.append((step, outcome))
        elif isinstance(outcome, Coroutine):
            task = TaskFuture(self._running_loop())
            self._running_loop().call_soon_threadsafe(task.begin, outcome, outcome)
            self._held.append((step, task))
        else:
            self._end(step, None, stop=outcome is STOP and step.method == PROCESS)

    def _running_loop(self) -> SimulatedLoop:
        if self._loop is None:
            loop = self._loop = SimulatedLoop(self._world)

            def serve() -> None:
                try:
                    loop.run_forever()
                finally:
                    loop.close()

            self._world.spawn(serve, "loop")
        return self._loop

    def _complete(self, step: Step, future: Future[Any]) -> None:
        error: BaseException | None
        stop = False
        try:
            error = future.exception()
            if error is None:
                stop = future.result() is STOP
        except CancelledError as cancelled:
            error = cancelled
        self._end(step, error, stop=stop)

    def _end(self, step: Step, error: BaseException | None, *, stop: bool) -> None:
        if error is not None:
            self._world.tell(f"{step.node.name} at {step.stamp}: {error!r:.200}")
        step.clear_inputs()
        self.harness.complete(HeldStep(step, error, stop))

    def _cancel_where_failing(self) -> None:
        if self.harness.errors:
            for step, future in self._held:
                if step.method != CLOSE:
                    future.cancel()


class _Elsewhere:
    """The factory of a node that an executor places; its calls can be waited for, so they may have limits."""

    def __init__(self, executor: Any, node: NodePlan, plan: Plan) -> None:
        self._place: Final = partial(executor.place, node, plan)

    def __call__(self) -> Any:
        return self._place()

    async def process(self) -> None:
        """Say that a call can be cancelled."""

    open = close = process


class Driven(Driver):
    """One run of a graph whose nodes an executor places.

    Args:
        plan: of the graph; its input is "in", its observed output "out".
        executor: places the nodes that name one.
        world: where the nodes work.
        drawn: what is fed.
        cancels_after: as of `Driver`.
    """

    def __init__(
        self, plan: Plan, executor: Any, world: World, drawn: Drawn, cancels_after: float | None
    ) -> None:
        nodes = tuple(
            node._replace(factory=cast("Any", _Elsewhere(executor, node, plan))) if node.executor else node
            for node in plan.nodes
        )
        harness = ScheduleHarness(plan._replace(nodes=nodes), observe=["out"])
        super().__init__(world, harness, cancels_after)
        self._drawn: Final = drawn
        self._count: Final = drawn.packets
        self._fed = 0

    def actions(self) -> list[Callable[[], object]]:
        """Return what feeds the graph, if that can be done."""
        may_feed = self._fed <= self._count and self.harness.schedule.state == RUNNING
        return [self._feed] if may_feed and not self.harness.is_throttled("in") else []

    def _ballast(self, number: int) -> bytes:
        return bytes([number]) * self._drawn.ballast

    def _feed(self) -> None:
        number = self._fed
        self._fed += 1
        try:
            if number == self._count:
                self.harness.close_input()
            else:
                self.harness.add("in", (number, self._ballast(number)), number)
        except PenstockError:  # the run has ended
            self._fed = self._count + 1

    # --- what must hold -----------------------------------------------------------------------

    def check(self, *, is_healthy: bool, stateful: bool, fails: bool) -> None:
        """Note what is wrong with a run that has ended."""
        harness = self.harness
        if not ledger(harness.schedule).adds_up:
            self.faults.append(f"the ledger does not add up: {ledger(harness.schedule)}")
        came = harness.carried("out")
        self._check_answers(came)
        skipped = sum(
            number for name, number in harness.counters.values().items() if name.endswith("-skipped")
        )
        if not harness.errors and len(came) + skipped != self._count:
            self.faults.append(f"{self._count} packets were fed, {len(came)} came, {skipped} were skipped")
        if is_healthy and (harness.errors or skipped):
            self.faults.append(f"nothing went wrong, but: {skipped} skipped, {harness.errors}")
        if harness.errors and not (fails or self.cancelled_at is not None or _ends_all(harness.errors[0])):
            self.faults.append(f"the policy goes on after failures, but: {harness.errors[0]!r}")
        if stateful:
            self._check_state(came)

    def _check_answers(self, came: list[tuple[int, Any]]) -> None:
        """Look whether each answer belongs to its call."""
        stamps = [stamp for stamp, _ in came]
        if stamps != sorted(set(stamps)):
            self.faults.append(f"timestamps do not increase: {stamps}")
        for stamp, (number, _, _, large, ballast) in came:
            if number != stamp or (number % 3 == 0) != (large is not None) or ballast != self._ballast(stamp):
                self.faults.append(f"at {stamp} came the answer to {number}")
            if large is not None and not (large == number).all():
                self.faults.append(f"at {stamp} came the array {large[:3]}")

    def _check_state(self, came: list[tuple[int, Any]]) -> None:
        """Each object counts by itself, and one that was replaced never comes back."""
        last, count = 0, 0
        for stamp, (_, made, called, *_) in came:
            if made < last or (made == last and called <= count):
                self.faults.append(f"at {stamp} object {made} counted {called}, after {last} {count}")
            last, count = made, called


def _ends_all(error: PenstockError) -> bool:
    """Return whether an error ends a run whatever the policy: a first `open`, or a `close`, that has failed.

    Not where its process has died: then the node is opened again, or has nothing to close.
    """
    is_early_or_late = "open() failed" in str(error) or "close() failed" in str(error)
    cause = error.__cause__
    return is_early_or_late and not getattr(cause, "calculator_is_lost", False)


class Drawn(NamedTuple):
    """What is drawn for one world of workers or actors."""

    #: The name of the failure policy, and whether it lets the run fail.
    policy: str
    #: Name of the class of the first node.
    calculator: str
    #: `max_in_flight` of the nodes.
    in_flight: int
    #: How many nodes there are.
    nodes: int
    #: How many packets are fed in each run.
    packets: int
    #: Number of a packet → what goes wrong.
    faults: dict[int, str]
    #: How many moments there are at which a process is killed, and at which one is stopped.
    kills: int
    stops: int
    #: For each run, after how many seconds it is cancelled; None: it is not.
    runs: tuple[float | None, ...]
    #: How many bytes go with each packet, beside the number.
    ballast: int

    @property
    def is_healthy(self) -> bool:
        """Whether nothing goes wrong."""
        harmless = {"slow"} if self.policy != "in time" else set()
        quiet = not self.kills and not self.stops and not any(self.runs)
        return quiet and set(self.faults.values()) <= harmless and self.policy != "in time"

    @property
    def may_fail(self) -> bool:
        """Whether the policy lets a run fail."""
        return self.policy in {"fail", "few"} or "open" in self.faults.values()

    def text(self, executor: str) -> str:
        """Return the graph."""
        streams = ["in", *(f"s{n}" for n in range(1, self.nodes)), "out"]
        nodes = [
            f'node {{ name: "n{n}" calculator: "{self.calculator if n == 0 else "Counts"}" executor: "far" '
            f'input_stream: "{streams[n]}" output_stream: "{streams[n + 1]}" '
            f"max_in_flight: {self.in_flight} {POLICIES[self.policy]} }}"
            for n in range(self.nodes)
        ]
        head = f'input_stream: "in" executor {{ name: "far" type: "{executor}" }}'
        return "\n".join([head, *nodes])


def draw(world: World) -> Drawn:
    """Draw what happens in a world."""
    chance = world.random
    policy = chance.choice(sorted(POLICIES))
    kinds = ["raise", "die", "slow", "refused"]
    kinds += ["hang"] if policy == "in time" else []
    count = chance.randint(1, 10)
    is_calm = chance.random() < 0.3  # noqa: PLR2004
    numbers = [] if is_calm else [n for n in range(count) if chance.random() < 0.3]  # noqa: PLR2004
    runs = tuple(
        chance.random() * chance.choice((0.05, 0.5, 3.0)) if not is_calm and chance.random() < 0.15 else None  # noqa: PLR2004
        for _ in range(chance.choice((1, 1, 2)))
    )
    drawn = Drawn(
        policy,
        chance.choice(("Counts", "Echoes")),
        chance.choice((1, 1, 2, 3, 5)),
        chance.choice((1, 2)),
        count,
        {number: chance.choice(kinds) for number in numbers},
        0 if is_calm else chance.choice((0, 0, 1, 2)),
        0 if is_calm else chance.choice((0, 0, 0, 1)),
        runs,
        chance.choice((0, 0, 0, 100_000)),
    )
    packets = world.which.limited(count)
    faults = {number: fault for number, fault in drawn.faults.items() if number < packets}
    return drawn._replace(packets=packets, faults=faults)


def plan_of(drawn: Drawn, executor: str, installed: Registry) -> Plan:
    """Return the plan of a graph."""
    return build_plan(drawn.text(executor), installed)
