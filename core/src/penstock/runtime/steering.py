"""What the layer "steering" keeps for one graph whose nodes change while it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.plan import Plan
    from penstock.runtime.new_run import NewRun
    from penstock.runtime.runner.runner import Runner
    from penstock.services import ServiceKey


class Steering(Protocol):
    """What the layer keeps for one graph, from the first change on; given to `GraphRuns.steer`."""

    def planned(self, plan: Plan, keep: Callable[[dict[ServiceKey[Any], object]], None]) -> Plan:
        """Return the plan of a run that begins.

        Args:
            plan: of the graph.
            keep: takes services that are to be closed with the graph.

        Raises:
            PenstockError: the run cannot begin. Nothing has been made for it.
        """

    def prepare(self, new: NewRun, runner: Runner) -> None:
        """Change a run that was put together and has not started.

        Raises:
            PenstockError: a node cannot change. Nothing has started.
        """

    def take_back(self) -> None:
        """Keep for the next run what `prepare` has used up: this one could not start."""
