"""The seam to the layer "steering", which changes nodes of a graph while it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsIndex

    from penstock.runtime.graph_runs import GraphRuns
    from penstock.timestamp import Timestamp


class SteeringLayer(Protocol):
    """A component of the kind "layer", called "steering": what three methods of a graph do.

    `penstock_steering` has the functions with these names, and says what they promise.
    """

    def set_options(
        self, runs: GraphRuns, node: str, options: object, at: SupportsIndex | None = None
    ) -> Timestamp:
        """Carry out `CalculatorGraph.set_options`."""

    def swap(
        self,
        runs: GraphRuns,
        node: str,
        options: object = None,
        calculator: str | None = None,
        at: SupportsIndex | None = None,
    ) -> Timestamp:
        """Carry out `CalculatorGraph.swap`."""

    def reset(
        self,
        runs: GraphRuns,
        side_packets: Mapping[str, Any] | None = None,
        stream_headers: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        """Carry out `CalculatorGraph.reset`."""
