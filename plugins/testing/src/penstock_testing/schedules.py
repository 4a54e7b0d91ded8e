"""The scheduler of one run without threads, stepped by hand or by a seed; every event is checked.

A `ScheduleHarness` brings events to the engine one at a time, on the calling thread, and checks all
invariants after each. Without a seed it does what a graph on one thread would do. With a seed it
does what a graph on many threads could do: it takes ready steps in any order, holds several
at once, completes them in any order, and lets observers lag. The same seed gives the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from penstock import STOP, Packet
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
)
from penstock.explain import ledger, snapshot, story, weighed_snapshot
from penstock.lowlevel import PROCESS, show
from penstock.runs import (
    METHODS,
    RUNNING,
    TERMINATED,
    StreamObserver,
    as_side_packets,
    checked_side_packets,
    find_services,
    new_run,
)
from penstock_testing.invariants import check_invariants
from penstock_testing.switches import Decisions

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import SupportsIndex

    from penstock import ServiceKey
    from penstock.errors import PenstockError
    from penstock.lowlevel import Node, Plan
    from penstock.runs import OutputStream, Schedule, Step
    from penstock_testing.switches import Order

#: What a stream carried, as data: timestamp as a plain int, and payload (None for an empty packet).
Carried = list[tuple[int, Any]]


@attrs.frozen(eq=False)
class HeldStep:
    """A step that was taken and whose method has been called, but that is not completed yet."""

    step: Step
    error: BaseException | None
    stop: bool


class ScheduleHarness:
    """One run of a plan, driven by a test.

    Streams are observed: `seen` has what each has carried so far. The run does nothing without the test: an
    event (`add`, `close_input`, ...) only makes steps ready; `step` runs one, `run` all of them.

    Args:
        plan: from `wired`, or from `penstock.config.build_plan` for a graph text.
        seed: which of all possible orders to take: a number, or choices as `explore` prints them; None for
        that
            of one thread.
        side_packets: name → payload.
        services: key → object. `GRAPH` is always there, without times; other services that the nodes ask for
            are made, where their keys can make them.
        observe: names of the streams to observe; None for all. The engine takes short cuts on streams that
            are not observed, so a test of an order-independent result should leave some out.
        bounds_of: names of streams whose settled timestamps are seen too, as empty packets.
        limits: name of a graph input → its own max_queue_size.

    Raises:
        GraphConfigError: side packets are missing or wrong.
        UnavailableError: a node needs a service that is not given and cannot be made.

    Example::

        harness = ScheduleHarness(wired(node(Double, "numbers", "twice"), inputs="numbers"))
        harness.start()
        harness.add("numbers", 2, 10)
        harness.finish()
        assert harness.carried("twice") == [(10, 4)]
    """

    def __init__(  # noqa: PLR0913  # each is one thing that a run can have
        self,
        plan: Plan,
        *,
        seed: Order | None = None,
        side_packets: Mapping[str, object] | None = None,
        services: Mapping[ServiceKey[Any], object] | None = None,
        observe: Collection[str] | None = None,
        bounds_of: Collection[str] = (),
        limits: Mapping[str, int] | None = None,
    ) -> None:
        #: A line for each call of a calculator, in order: "open n", "process n at 5", "close n".
        self.log: list[str] = []
        #: Stream → its packets, in order.
        self.seen: Final[dict[str, list[Packet]]] = {
            stream.name: [] for stream in plan.streams if observe is None or stream.name in observe
        }
        #: Number of packets that the engine has released because no node reads them.
        self.freed = 0
        #: What the order has chosen so far; None for that of one thread.
        self.decisions: Final = None if seed is None else Decisions(seed)
        self._ids: Final = plan.stream_ids
        self._held: list[HeldStep] = []
        observers = {
            stream.id: [
                StreamObserver(stream.name, self.seen[stream.name], wants_bounds=stream.name in bounds_of)
            ]
            for stream in plan.streams
            if stream.name in self.seen
        }
        new = new_run(
            plan,
            checked_side_packets(plan, side_packets or {}),
            find_services(plan, services),
            observers=observers,
            limits={self._ids[name]: size for name, size in (limits or {}).items()},
        )
        #: The engine.
        self.schedule: Final[Schedule] = new.schedule
        self.side_packets: Final = new.side_packets
        self.counters: Final = new.counters
        new.services.change = self.change
        new.view.take = self._take
        #: Whether the invariants are checked after each event.
        self.checks = True
        self._check()

    def _check(self) -> None:
        if self.checks:
            check_invariants(self.schedule)

    def _take(self, what: str) -> Any:
        """Answer as the service `GRAPH`."""
        return ledger(self.schedule) if what == "take_ledger" else weighed_snapshot(*snapshot(self.schedule))

    # --- events -------------------------------------------------------------------------------

    def change(self, event: Callable[[Schedule], object]) -> None:
        """Apply any event to the engine, and check the invariants.

        Raises:
            Whatever the event raises; the invariants are checked then too.
            InternalError: an invariant does not hold; says which.
        """
        try:
            event(self.schedule)
        finally:
            self._check()
            self.freed += len(self.schedule.garbage)
            self.schedule.garbage.clear()

    def start(self, headers: Mapping[str, object] | None = None) -> ScheduleHarness:
        """Begin the run. `headers`: graph input → header payload."""
        packets = {self._ids[name]: packet for name, packet in as_side_packets(headers).items()}
        self.change(lambda schedule: schedule.start(packets))
        return self

    def add(self, stream: str, payload: object, timestamp: SupportsIndex) -> None:
        """Add a packet to a graph input. No limit holds here: ask `is_throttled`."""
        self.add_packet(stream, Packet(payload, timestamp))

    def add_packet(self, stream: str, packet: Packet) -> None:
        """Add a packet to a graph input, or an empty one, which raises the bound."""
        self.change(lambda schedule: schedule.add_packet(self._ids[stream], packet))

    def is_throttled(self, source: str) -> bool:
        """Return whether a graph input or source node must wait for full queues."""
        stream = self._ids.get(source)
        return self.schedule.flow.is_throttled(self.node(source).id if stream is None else ~stream)

    def set_bound(self, stream: str, bound: SupportsIndex) -> None:
        """Raise the bound of a graph input."""
        self.change(lambda schedule: schedule.set_bound(self._ids[stream], Packet(timestamp=bound).stamp))

    def close_input(self, *streams: str) -> None:
        """End graph inputs; all of them where none is named."""
        for number in [self._ids[name] for name in streams] or list(self.schedule.graph_inputs):
            self.change(lambda schedule, number=number: schedule.close_input(number))  # type: ignore[misc]

    def close_sources(self) -> None:
        """End all graph inputs, and close every source before its next step."""
        self.change(lambda schedule: schedule.close_sources())

    def pause(self) -> None:
        """Give out no more steps."""
        self.change(lambda schedule: schedule.pause())

    def resume(self) -> None:
        """Go on after a pause."""
        self.change(lambda schedule: schedule.resume())

    def cancel(self) -> None:
        """End the run with a CANCELLED error."""
        self.change(lambda schedule: schedule.cancel())

    def fail(self, error: PenstockError) -> None:
        """Record an error of the run."""
        self.change(lambda schedule: schedule.fail(error))

    def time_out(self, name: str) -> None:
        """Let the time end for which a node waits with packets in its queues.

        Raises:
            FailedPreconditionError: it does not wait, or its policy waits without a limit.
        """
        node = self.node(name)
        waits_with = self.schedule.waiting().get(node.id)
        if waits_with is None:
            raise FailedPreconditionError(
                f"schedules: node {name!r} is not scheduled to wait with packets for some time only"
            )
        self.change(lambda schedule: schedule.time_out(node.id, waits_with))

    # --- steps --------------------------------------------------------------------------------

    def take(self) -> Step | None:
        """Take a ready step and do no more; None where no step is ready. `call` and `complete` come next."""
        queues = [queue for queue in self.schedule.queues if queue]
        if not queues or self.schedule.state != RUNNING:
            return None
        choose = self.decisions.randrange if self.decisions is not None else None
        queue = queues[0] if self.decisions is None else self.decisions.choice(queues)
        step = self.schedule.take(queue, choose)
        self._check()
        return step

    def take_from(self, queue: Any, place: int) -> Step | None:
        """Take the step at a place of a ready queue, in the order of `ready`, if the run goes on."""
        step = self.schedule.take(queue, lambda _: place)
        self._check()
        return step

    def call(self, step: Step) -> HeldStep:
        """Call the method of a step that was taken; whatever it raises is kept for `complete`.

        Raises:
            InvalidArgumentError: the method returned an awaitable or a Future, which need a runtime.
        """
        name = step.node.name
        at = f" at {show(step.stamp)}" if step.method == PROCESS else ""
        self.log.append(f"{METHODS[step.method]} {name}{at}")
        outcome: object = None
        error: BaseException | None = None
        try:
            outcome = step.call(step)
        except Exception as raised:  # noqa: BLE001  # an error of the run, whatever it is
            error = raised
        stop = outcome is STOP and step.method == PROCESS
        if outcome is not None and not stop:
            raise InvalidArgumentError(
                f"node {name!r}: {METHODS[step.method]}() returned {outcome!r}; a ScheduleHarness has no "
                "event loop and no threads, run such calculators in a CalculatorGraph"
            )
        step.clear_inputs()
        return HeldStep(step, error, stop)

    def complete(self, held: HeldStep) -> None:
        """Complete a step.

        Raises:
            InternalError: it was completed before.
        """
        self.change(lambda schedule: schedule.complete(held.step, held.error, held.stop))

    def turn(self, held: HeldStep) -> Step | None:
        """Complete a step and take the next one of its ready queue, as the runtime's threads do."""
        following: list[Step | None] = []
        queue = held.step.node.queue
        self.change(lambda schedule: following.append(schedule.turn(queue, held.step, held.error, held.stop)))
        return following[0]

    def step(self) -> bool:
        """Do one thing that can be done now; return False where nothing can be done.

        Without a seed that is a whole step, and the observers get its packets. With one it is any of:
        take a step and call its method, complete a step that was called, serve an observer.
        """
        if self.decisions is not None:
            return self._any_step(self.decisions)
        served = self.serve_observers()
        step = self.take()
        if step is None:
            return served
        self.complete(self.call(step))
        self.serve_observers()
        return True

    def _any_step(self, order: Decisions) -> bool:
        schedule = self.schedule
        can_take = schedule.state == RUNNING and any(len(queue) for queue in schedule.queues)
        actions: list[Callable[[], object]] = [self._take_and_hold] * can_take
        actions += [self._complete_any] * bool(self._held) + [self._serve_any] * bool(schedule.deliveries)
        if not actions:
            return False
        order.choice(actions)()
        return True

    def _take_and_hold(self) -> None:
        step = self.take()
        if step is not None:
            self._held.append(self.call(step))

    def _complete_any(self) -> None:
        assert self.decisions is not None  # the caller has one  # noqa: S101
        held = self._held.pop(self.decisions.randrange(len(self._held)))
        if self.decisions.randrange(2):
            self.complete(held)
            return
        following = self.turn(held)
        if following is not None:
            self._held.append(self.call(following))

    def _serve_any(self) -> None:
        assert self.decisions is not None  # the caller has one  # noqa: S101
        deliveries = self.schedule.deliveries
        self.serve(self.decisions.randrange(len(deliveries)))

    def serve(self, number: int) -> None:
        """Let one observer, of `schedule.deliveries`, see the packets delivered to it."""
        self._serve(self.schedule.deliveries.pop(number))

    def serve_observers(self) -> bool:
        """Let all observers see the packets delivered to them; return whether there were any."""
        served = bool(self.schedule.deliveries)
        while self.schedule.deliveries:
            self.serve(0)
        return served

    def _serve(self, observer: StreamObserver) -> None:
        while observer.queue:
            packet = observer.queue.popleft()
            observer.delivered += not packet.is_empty()
            self.seen[observer.name].append(packet)
        self.change(lambda schedule: schedule.delivered(observer))

    def run(self, max_steps: int = 100_000) -> None:
        """Take all steps, until the run is idle or over.

        Raises:
            InternalError: after `max_steps` there is still something to do.
        """
        for _ in range(max_steps):
            if not self.step():
                return
        raise InternalError(f"the schedule is not idle after {max_steps} steps\n{story(self.schedule)}")

    def finish(self) -> ScheduleHarness:
        """Close all graph inputs, run to the end, and raise what went wrong.

        Raises:
            GraphRunError: with all errors of the run.
            InternalError: the run does not end; says what it waits for.
        """
        if self.schedule.state != TERMINATED:
            self.close_input()
        self.run()
        if self.schedule.state != TERMINATED:
            raise InternalError(f"the scheduled run does not end\n{story(self.schedule)}")
        if self.errors:
            raise GraphRunError(self.errors)
        return self

    # --- the result ---------------------------------------------------------------------------

    @property
    def errors(self) -> list[PenstockError]:
        """The errors of the run so far."""
        return self.schedule.errors

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.schedule.state == TERMINATED

    def node(self, name: str) -> Node:
        """Return the engine's node of this name."""
        found = next((node for node in self.schedule.nodes if node.name == name), None)
        if found is None:
            raise NotFoundError(f"the schedule has no node {name!r}", node=name)
        return found

    def stream(self, name: str) -> OutputStream:
        """Return the engine's stream of this name."""
        return self.schedule.streams[self._ids[name]]

    def ready(self) -> list[str]:
        """Return the names of the nodes with a ready step, in the order in which they would be taken."""
        return [node.name for queue in self.schedule.queues for node in queue.nodes()]

    def carried(self, stream: str) -> Carried:
        """Return what a stream has carried so far, as pairs of timestamp and payload."""
        return [(packet.stamp, packet.payload) for packet in self.seen[stream]]
