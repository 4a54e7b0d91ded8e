"""`StuckMoments`: why a run was stuck, noted at the moments after which the run no longer shows it.

They are two: a deadlock raises the limits of full queues, and nodes close although packets wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.late_log import LateLogger, place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import Queue
    from penstock.explain import Wait

#: Warnings are logged of so many queues of a run: each costs a search for the culprit, linear in the nodes.
_MOST_QUEUES: Final = 20

_logger = LateLogger("runtime")


class StuckMoments:
    """Why one run was stuck. The engine calls `full` and `ending` with the lock held."""

    def __init__(self, schedule: Schedule) -> None:
        #: Stream, node, first limit, new limit and culprit of warnings that are still to be logged.
        self.growths: list[tuple[Any, ...]] = []
        #: Why nodes waited that had packets in their queues when the run began to close its nodes.
        self.left_over: tuple[Wait, ...] = ()
        #: id of a queue → its first limit, and the one that the last warning named.
        self._limits: Final[dict[int, tuple[int, int]]] = {}
        schedule.on_stuck = self.full
        schedule.on_end = self.ending

    def full(self, schedule: Schedule, queues: Sequence[Queue]) -> None:
        """Note the queues whose limits are about to be raised for the first time, or have doubled."""
        culprits: dict[str, str] = {}
        for queue in queues:
            first, named = self._limits.get(id(queue), (queue.max_size, 0))
            new = len(queue.queue) + 1
            if new < 2 * named or (not named and len(self._limits) == _MOST_QUEUES):
                continue
            self._limits[id(queue)] = first, new
            culprits = culprits or {wait.node: wait.culprit.text for wait in reversed(_waits(schedule))}
            node = "" if queue.node is None else queue.node.name
            self.growths.append((queue.name, node, first, new, culprits.get(node, "unknown")))

    def ending(self, schedule: Schedule) -> None:
        """Note why nodes wait that have packets in their queues."""
        if any(reader.queue for stream in schedule.streams for reader in stream.readers):
            self.left_over = tuple(wait for wait in _waits(schedule) if wait.held)

    def log_growths(self, lock: AbstractContextManager[object]) -> None:
        """Log the noted growths as warnings. Called without the run's lock."""
        with lock:
            growths, self.growths = self.growths, []
        for growth in growths:
            _logger.warning(
                "the queue of stream %r at node %r is full and nothing else can run, so its limit is raised "
                "from %d to %d packets, and memory grows with it; culprit: %s",
                *growth,
                extra=place(growth[1], growth[0]),
            )


def _waits(schedule: Schedule) -> tuple[Wait, ...]:
    from penstock.explain import why  # most runs need no explanation

    return why(schedule).waits
