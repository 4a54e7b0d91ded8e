"""The other end of a region: its nodes, run by an engine of their own on the thread that calls.

A call brings what has come in the driver, at most one packet for each stream, and returns when nothing inside
can go on without more. So the region is idle between two calls, and what left it is in their answers.
"""

from __future__ import annotations

import concurrent.futures
from time import perf_counter_ns
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from penstock import Packet
from penstock.config import CalculatorGraphConfig, build_plan
from penstock.errors import CalculatorError, CancelledError, FailedPreconditionError, PenstockError, words_of
from penstock.lowlevel import CLOSE, DONE, OPEN, PROCESS
from penstock.runs import TERMINATED, Counters, StreamObserver, checked_side_packets, find_services, new_run
from penstock_remote.awaiting import Awaiting
from penstock_remote.calls import Answer
from penstock_remote.description import check_same, code_here, contract_lines
from penstock_remote.errors import error_as_data
from penstock_remote.hosted_node import with_copies
from penstock_remote.increases import Increases

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock import Registry, ServiceKey
    from penstock.lowlevel import Plan
    from penstock.runs import Schedule, Step
    from penstock_remote.calls import Call, Opening, Written
    from penstock_remote.description import RemoteRegion


class HostedRegion:
    """The nodes of a region of a driver's graph, made here. A run of the driver opens, calls and closes it.

    Args:
        region: what the driver says of it.
        registry: finds options and input stream handlers by name.
        services: those of this process; receives those that the nodes need and their keys make.
        allocate: as for a `HostedNode`.
        codes: "module:attribute" → the calculator, where it cannot be found here by that name.
        is_plain: whether exceptions may travel as text only.

    Raises:
        InvalidArgumentError: a calculator is not here, or has another contract than in the driver.
        GraphConfigError: the nodes cannot be made here.
    """

    def __init__(  # noqa: PLR0913  # as a `HostedNode`
        self,
        region: RemoteRegion,
        registry: Registry,
        services: dict[ServiceKey[Any], object] | None = None,
        allocate: Callable[[Any, Any], Any] | None = None,
        *,
        codes: Mapping[str, object] = MappingProxyType({}),
        is_plain: bool = False,
    ) -> None:
        names = registry.child()
        added: set[str] = set()
        for node, calculator, code, _ in region.nodes:
            if calculator not in added:
                added.add(calculator)
                names.add("calculator", calculator, code_here(node, code, codes.get(code)))
        config = CalculatorGraphConfig()
        config.MergeFromString(region.config)
        #: The name of the region's node in the driver.
        self.name: Final = region.name
        #: The streams that leave it.
        self.outputs: Final = region.leaving
        self._plan: Final = build_plan(config, names)
        here = {node.name: contract_lines(node.contract) for node in self._plan.nodes}
        for node, _, code, contract in region.nodes:
            check_same(node, code, contract, here[node])
        self._region: Final = region
        self._services: Final = {} if services is None else services
        self._allocate: Final = allocate
        self._is_plain: Final = is_plain
        self._awaiting: Final = Awaiting()
        self._run: _Run | None = None
        self._is_cancelled = False

    def call(self, call: Call) -> Answer:
        """Take what has come, and go on until nothing inside can; calls must not overlap.

        An error of a node is part of the answer; its run is over then.

        Raises:
            concurrent.futures.CancelledError: the call was cancelled.
            PenstockError: the run cannot begin.
        """
        self._is_cancelled = False
        began = perf_counter_ns()
        if call.opening is not None:
            self._run = _Run(self._plan, self._region, call.opening, self._services, self._allocate)
        run = self._run
        if run is None:
            raise FailedPreconditionError("a hosted region must be opened before it is called")
        try:
            run.take(call)
            self._go_on(run, call.method)
            if self._is_cancelled:
                raise concurrent.futures.CancelledError
            return run.answer(call.method, perf_counter_ns() - began, is_plain=self._is_plain)
        finally:
            if call.method == CLOSE:
                self._run = None

    def cancel(self) -> None:
        """End the call under way, and the run with it, as soon as the node that works returns."""
        self._is_cancelled = True
        self._awaiting.cancel()

    def close(self, timeout: float | None = None) -> bool:
        """End the loop of coroutines; return whether its thread has ended."""
        return self._awaiting.close(timeout)

    def _go_on(self, run: _Run, method: int) -> None:
        """Call the nodes that are ready, one after the other; sources until something leaves the region."""
        schedule = run.schedule
        (queue,) = schedule.queues
        while True:
            if self._is_cancelled:
                schedule.cancel()
            if run.is_source and not queue.others and run.may_rest(method):
                return  # what is ready are sources
            step = schedule.take(queue)
            if step is None:
                return
            while step is not None:
                error, is_stop = self._do(step, run)
                if self._is_cancelled or run.is_source:
                    schedule.complete(step, error, is_stop)
                    step = None
                else:
                    step = schedule.turn(queue, step, error, is_stop)
                schedule.garbage.clear()

    def _do(self, step: Step, run: _Run) -> tuple[BaseException | None, bool]:
        """Call a method; return what it raised, and whether the node, a source, is to close."""
        try:
            is_stop = self._awaiting.call(step)
        except BaseException as error:  # noqa: BLE001  # told to the driver
            step.words = words_of(error)
            return error, False
        if is_stop and not step.node.is_source:
            run.stopped_by = step.node.name  # the driver closes its sources, which reaches the region then
            is_stop = False
        return None, is_stop


class _Run:
    """The engine of one run of the driver, and what the driver knows of it."""

    def __init__(
        self,
        plan: Plan,
        region: RemoteRegion,
        opening: Opening,
        services: dict[ServiceKey[Any], object],
        allocate: Callable[[Any, Any], Any] | None,
    ) -> None:
        self._region: Final = region
        self._counters: Final = Counters()
        numbers = [plan.stream_ids[name] for name in region.leaving]
        self._observers: Final = [StreamObserver(name, None, is_poller=True) for name in region.leaving]
        given = {region.side_packets[number]: payload for _, number, payload in opening.side_packets}
        found = find_services(plan, with_copies(services, opening))
        services.update(found.made)
        run = new_run(
            plan,
            checked_side_packets(plan, given),
            found,
            counters=self._counters,
            observers={number: [one] for number, one in zip(numbers, self._observers, strict=True)},
        )
        #: The engine.
        schedule = self.schedule = run.schedule
        run.services.change = lambda event: event(schedule)
        run.services.allocate = allocate
        #: The node with inputs that returned STOP; None where none has.
        self.stopped_by: str | None = None
        self._leaving: Final = [schedule.streams[number] for number in numbers]
        self._inner: Final = [schedule.streams[plan.stream_ids[name]] for name in region.inner]
        for stream, is_ordered in zip(self._leaving, opening.ordered, strict=True):
            stream.is_ordered = is_ordered or bool(stream.readers)
        #: Whether all nodes are sources, or below them.
        self.is_source: Final = not region.inputs
        self._bounds = [stream.bound for stream in self._leaving]
        self._counted: Final = Increases[str]()
        self._told_queues: list[tuple[str, int, int]] = []
        self._told_added = [0] * len(self._inner)
        self._single: Final = [
            one.readers[0] for one in schedule.streams if len(one.readers) == 1 and not one.observers
        ]
        self._lost: Final = Increases[tuple[str, str]]()
        self._unwritten: Final = Increases[tuple[str, str]]()
        self._shortened: Final = Increases[str]()
        self._told_sides: set[str] = set()
        self._has_failed = False
        headers = {number: Packet(header[0]) for number, header in enumerate(opening.headers) if header}
        schedule.start(headers)

    def take(self, call: Call) -> None:
        """Give the engine what a call brings."""
        schedule = self.schedule
        if schedule.state == TERMINATED:
            return
        if call.method == CLOSE:
            if call.is_failing:
                schedule.fail(CancelledError("the hosted region's run has failed elsewhere"))
            else:
                schedule.close_sources()
        elif call.method == PROCESS:
            for number, (shown, bound) in enumerate(zip(call.inputs, call.input_bounds or (), strict=True)):
                if schedule.state == TERMINATED:  # a node has failed, or all inputs have ended
                    return
                stream = schedule.streams[number]
                stamp, _, *payload = shown
                if payload:
                    schedule.add_packet(number, Packet(payload[0], stamp))
                if bound == DONE:
                    schedule.close_input(number)
                elif bound > stream.bound:
                    schedule.set_bound(number, bound)

    def may_rest(self, method: int) -> bool:
        """Return whether sources need not be called now; their closing is due where the run ends."""
        if method == CLOSE or self.schedule.errors:
            return False
        return method == OPEN or self._has_left()

    def _has_left(self) -> bool:
        """Return whether a packet or bound has come on a stream that leaves."""
        return any(one.queue for one in self._observers) or any(
            stream.bound != before for stream, before in zip(self._leaving, self._bounds, strict=True)
        )

    def answer(self, method: int, busy_ns: int, *, is_plain: bool) -> Answer:
        """Return what has left since the last answer, and what else the driver has to know."""
        outputs: list[Written | None] = []
        for observer, stream, before in zip(self._observers, self._leaving, self._bounds, strict=True):
            if not observer.queue and stream.bound == before:
                outputs.append(None)
                continue
            packets = [(packet.stamp, packet.value) for packet in observer.queue]
            while observer.queue:
                self.schedule.polled(observer)
            outputs.append((packets, stream.bound, stream.is_closed))
        self._bounds = [stream.bound for stream in self._leaving]
        more: dict[str, Any] = {}
        if method == OPEN:
            found = enumerate(stream.header for stream in self._leaving)
            headers = {n: header.payload for n, header in found if not header.is_empty()}
            if headers:
                more["headers"] = headers
        sides = {
            name: packet.payload
            for name, packet in self.schedule.side_packets.items()
            if name not in self._told_sides
        }
        if sides:
            self._told_sides.update(sides)
            more["side_packets"] = sides
        inside = self._inside(method, is_plain=is_plain)
        if inside:
            more["region"] = inside
        is_over = self.is_source and self.schedule.state == TERMINATED and method == PROCESS
        return Answer(outputs, is_over, busy_ns, more or None)

    def _inside(self, method: int, *, is_plain: bool) -> dict[str, Any]:
        """Return what only regions tell: see `penstock_remote.region_end`."""
        inside: dict[str, Any] = {}
        counters = [
            (*_split(name, self.schedule), increase)
            for name, increase in self._counted.of(self._counters.values()).items()
        ]
        if counters:
            inside["counters"] = counters
        queues = [
            (node.name, number, len(stream.queue))
            for node in self.schedule.nodes
            for number, stream in enumerate(node.inputs)
            if stream.queue
        ]
        if queues != self._told_queues:
            inside["queues"] = self._told_queues = queues
        dropped = [(*key, increase) for key, increase in self._lost.of(self._dropped()).items()]
        if dropped:
            inside["dropped"] = dropped
        unwritten = [(*key, increase) for key, increase in self._unwritten.of(self._not_written()).items()]
        if unwritten:
            inside["unwritten"] = unwritten
        cut = list(self._shortened.of(self._cut()).items())
        if cut:
            inside["cut"] = cut
        if self.stopped_by is not None:
            inside["stopped_by"], self.stopped_by = self.stopped_by, None
        if self.schedule.errors and not self._has_failed:
            self._has_failed = True
            inside["errors"] = [_as_data(one, is_plain=is_plain) for one in self.schedule.errors]
        if inside or method == CLOSE:  # with each call it would make small packets slower
            added = [stream.added for stream in self._inner]
            inside["added"] = [now - before for now, before in zip(added, self._told_added, strict=True)]
            self._told_added = added
        return inside

    def _dropped(self) -> dict[tuple[str, str], int]:
        """Return what was dropped of each stream that has one reader here, by name and reason."""
        return {
            (reader.name, reason): count
            for reader in self._single
            if reader.dropped
            for reason, count in reader.dropped.items()
        }

    def _not_written(self) -> dict[tuple[str, str], int]:
        """Return what nodes here threw away in place of writing it, by the name of the stream and reason."""
        return {
            (stream.name, reason): count
            for stream in (*self._inner, *self._leaving)
            if stream.dropped
            for reason, count in stream.dropped.items()
        }

    def _cut(self) -> dict[str, int]:
        """Return how many elements the nodes here cut from lists, by node, stream and reason in words."""
        return {
            f"inside, node {node.name!r} on {stream.name!r}: {reason}": count
            for node in self.schedule.nodes
            for stream in node.inputs
            if stream.cut
            for reason, count in stream.cut.items()
        }


def _split(counter: str, schedule: Schedule) -> tuple[str, str]:
    """Return the node of a counter, which is called "<node>-<name>", and its name."""
    node = max((one.name for one in schedule.nodes if counter.startswith(f"{one.name}-")), key=len)
    return node, counter[len(node) + 1 :]


def _as_data(error: PenstockError, *, is_plain: bool) -> tuple[Any, ...]:
    """Return an error of the run: what call of what node failed, if one did, the words, and the exception."""
    if isinstance(error, CalculatorError) and error.__cause__ is not None:
        text = words_of(error.__cause__)
        data = error_as_data(error.__cause__, is_plain=is_plain)
        return (error.node, error.calculator, error.method, error.timestamp, text, data)
    return (None, "", "", None, str(error), error_as_data(error, is_plain=is_plain))
