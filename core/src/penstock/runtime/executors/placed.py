"""`Placed`: the ready queues of one run, which node is in which, and the executor of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.record import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.plan import Plan
    from penstock.runtime.executors.executor import Executor


class Placed(NamedTuple):
    """Where the nodes of a run work."""

    #: Node id → number of its queue.
    queue_of: Mapping[int, int]
    #: The names of the queues.
    names: Sequence[str]
    #: The executors of the queues; empty for a run without executors, as tests have it.
    executors: Sequence[Executor]

    def places(self, node_id: int) -> Executor | None:
        """Return the executor that may make a node's calculator elsewhere; None where none does."""
        if not self.executors:
            return None
        executor = self.executors[self.queue_of[node_id]]
        return executor if executor.places else None


def as_in_plan(plan: Plan) -> Placed:
    """Return a queue for each executor of the plan, and no executors."""
    names = [executor.name for executor in plan.executors]
    return Placed({node.id: names.index(node.executor) for node in plan.nodes}, names, ())
