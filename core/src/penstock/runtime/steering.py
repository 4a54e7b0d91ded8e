"""The seam to the layer "steering", which changes nodes of a graph while it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import SupportsIndex

    from penstock.plan import Plan
    from penstock.runtime.new_run import NewRun
    from penstock.runtime.runner.runner import Runner
    from penstock.runtime.start import Starter
    from penstock.services import ServiceKey
    from penstock.timestamp import Timestamp


class Steering(Protocol):
    """What the layer keeps for one graph, from the first change on; given to `Starter.steer`."""

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


class SteeringLayer(Protocol):
    """A component of the kind "layer", called "steering": what three methods of a graph do.

    `penstock_steering` has the functions with these names, and says what they promise.
    """

    def set_options(
        self, starter: Starter, node: str, options: object, at: SupportsIndex | None = None
    ) -> Timestamp:
        """Carry out `CalculatorGraph.set_options`."""

    def swap(
        self,
        starter: Starter,
        node: str,
        options: object = None,
        calculator: str | None = None,
        at: SupportsIndex | None = None,
    ) -> Timestamp:
        """Carry out `CalculatorGraph.swap`."""

    def reset(
        self,
        starter: Starter,
        side_packets: Mapping[str, Any] | None = None,
        stream_headers: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Carry out `CalculatorGraph.reset`."""
