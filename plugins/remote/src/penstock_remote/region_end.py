"""The driver's end of a region: what a call brings, and what an answer says beside the outputs.

The driver's engine knows the region as one node. What waits inside it throttles the sources above, as it
would without the region: each queue there has a queue here of the same length, which no packet passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock import Packet
from penstock.errors import CalculatorError, InternalError, PenstockError
from penstock.lowlevel import CLOSE, OPEN, PROCESS, InputStream
from penstock_remote.calls import Call
from penstock_remote.errors import error_from_data
from penstock_remote.regions import region_of
from penstock_remote.stand_in import call_of, write

if TYPE_CHECKING:
    from penstock.lowlevel import Node, NodePlan, Plan, Stop
    from penstock.runs import OutputStream, Schedule, Step
    from penstock_remote.calls import Answer
    from penstock_remote.regions import Region


class _Counting(NamedTuple):
    """What a counter has to know of the node that counts."""

    name: str
    max_in_flight: int = 2  # calls here do not know of each other


class RegionEnd:
    """Makes the calls of a region in one run, and writes their answers.

    Args:
        region: what the node stands for.
        plan: the graph, with the region.
        is_plain: whether exceptions come as text only.
    """

    def __init__(self, region: Region, plan: Plan, *, is_plain: bool = False) -> None:
        self._region: Final = region
        self._plan: Final = plan
        self._is_plain: Final = is_plain
        self._ports: Final = {
            (node.name, n): port for node in region.nodes for n, port in enumerate(node.inputs)
        }
        self._entering: Final = {name: number for number, name in enumerate(region.entering)}
        self._queues: Final[dict[tuple[str, int], InputStream]] = {}
        #: The streams inside, known from the first call on.
        self._inner: list[OutputStream] = []

    def call_of(self, step: Step) -> Call:
        """Return what a step asks for, as data."""
        call = call_of(step)
        node: Any = step.node
        if step.method == PROCESS:
            return Call(*call[:4], None, node.policy.bounds if node.inputs else [])
        if step.method == CLOSE:
            failing: list[bool] = []
            node.services.change(lambda schedule: failing.append(bool(schedule.errors)))
            return call._replace(is_failing=failing[0])
        return call

    def write(self, step: Step, answer: Answer) -> Stop | None:
        """Write an answer to the outputs of a step, and tell the engine what has changed inside."""
        outcome = write(step, answer)
        if answer.more is None and step.method != OPEN:  # nothing has changed but the outputs
            return outcome
        inside: dict[str, Any] = (answer.more or {}).get("region", {})
        services: Any = step.node.services
        for name, counter, increase in inside.pop("counters", ()):
            services.counter(_Counting(name), counter).increment_by(increase)
        added = inside.pop("added", ())
        errors = [self._error(*one) for one in inside.pop("errors", ())]
        if inside or errors or step.method == OPEN:
            services.change(lambda schedule: self._apply(schedule, step.node, inside, errors))
        for stream, count in zip(self._inner, added, strict=bool(added)):
            stream.added += count  # nothing else writes to it
        return outcome

    def _error(  # noqa: PLR0913, PLR0917  # as the other end sends them
        self, node: str | None, calculator: str, method: str, at: int | None, text: str, data: Any
    ) -> PenstockError:
        cause = error_from_data(data, is_plain=self._is_plain)
        if node is not None:
            return CalculatorError(node, calculator, method, cause, at, text)
        return cause if isinstance(cause, PenstockError) else InternalError(text)

    def _apply(
        self, schedule: Schedule, node: Node, inside: dict[str, Any], errors: list[PenstockError]
    ) -> None:
        """Change the engine as the inside has changed; its lock is held."""
        if not self._inner:
            self._inner = [schedule.streams[number] for number in self._region.inner]
            for stream in self._inner:
                stream.node = node
        for name, reason, count in inside.get("dropped", ()):
            if name in self._entering:
                node.inputs[self._entering[name]].disuse(reason, count)
                continue
            stream = schedule.streams[self._plan.stream_ids[name]]
            stream.dropped[reason] = stream.dropped.get(reason, 0) + count
        self._drop_unwritten(schedule, inside)
        if node.inputs:  # the lists themselves stay inside, so what came in tells of them
            for why, count in inside.get("cut", ()):
                node.inputs[0].cut[why] = node.inputs[0].cut.get(why, 0) + count
        if "queues" in inside:
            self._resize(schedule, node, {(one, n): length for one, n, length in inside["queues"]})
        if "stopped_by" in inside and schedule.stopped_by is None:
            schedule.stopped_by = inside["stopped_by"]
            schedule.close_sources()
        for error in errors:
            schedule.fail(error)

    def _drop_unwritten(self, schedule: Schedule, inside: dict[str, Any]) -> None:
        """Count what nodes inside threw away in place of writing it."""
        for name, reason, count in inside.get("unwritten", ()):
            stream = schedule.streams[self._plan.stream_ids[name]]
            stream.dropped[reason] = stream.dropped.get(reason, 0) + count
            if stream not in self._inner:  # of those inside, "added" counts them
                stream.added += count

    def _resize(self, schedule: Schedule, node: Node, lengths: dict[tuple[str, int], int]) -> None:
        """Give the queues here the lengths of those inside, and throttle or free sources accordingly."""
        if not node.inputs:  # the region has sources of its own, which its own engine throttles
            return
        for key in lengths.keys() - self._queues.keys():
            self._queues[key] = self._queue(node, key)
        waiting = [False] * len(node.inputs)
        for key, queue in self._queues.items():
            length = lengths.get(key, 0)
            while len(queue.queue) > length:
                queue.queue.pop()
            while len(queue.queue) < length:
                queue.queue.append(_PLACE)
            if queue.name in self._entering and length:
                waiting[self._entering[queue.name]] = True
            schedule.limit(queue, queue.max_size)
        policy: Any = node.policy
        policy.waiting = waiting

    def _queue(self, node: Node, key: tuple[str, int]) -> InputStream:
        stream = self._plan.streams[self._ports[key].stream]
        queue = InputStream(stream.name, node, node.inputs[0].flow)
        queue.throttles = self._plan.throttled[stream.id]
        if stream.name in self._entering:
            queue.max_size = node.inputs[self._entering[stream.name]].max_size
        elif self._plan.max_queue_size >= 0:
            queue.max_size = self._plan.max_queue_size
        return queue


#: Stands in a queue here for a packet that waits inside.
_PLACE: Final = Packet()


def end_of(node: NodePlan, plan: Plan, *, is_plain: bool = False) -> RegionEnd | None:
    """Return the driver's end of a region for one run; None where the node is an ordinary one."""
    region = region_of(node)
    return None if region is None else RegionEnd(region, plan, is_plain=is_plain)
