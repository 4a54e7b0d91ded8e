"""Where the calculator of a node is made: in this process, or where its executor places it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from penstock.engine.calculator import Calculator
    from penstock.engine.stand_in import StandIn
    from penstock.plan import NodePlan, Plan
    from penstock.runtime.executors.executor import Executor


class NodePlacing:
    """Makes the calculators of an executor's nodes: when a run is assembled, and where a guard replaces one.

    Args:
        executor: may place calculators elsewhere; None: they are made here.
    """

    def __init__(self, executor: Executor | None) -> None:
        self._executor: Final = executor if executor is not None and executor.places else None
        #: Whether an executor places it.
        self.is_elsewhere: Final = self._executor is not None

    def stand_in(self, node: NodePlan, plan: Plan) -> StandIn | None:
        """Return what stands here for a calculator that is made elsewhere; None: make it here.

        Raises:
            InvalidArgumentError: the node cannot work where its executor places it.
        """
        return None if self._executor is None else self._executor.place(node, plan)

    def make(self, node: NodePlan, plan: Plan) -> Calculator:
        """Return a new calculator, or what stands for it here.

        Raises:
            As `stand_in`; what the calculator's own `__init__` raises.
        """
        stand_in = self.stand_in(node, plan)
        return node.factory() if stand_in is None else stand_in
