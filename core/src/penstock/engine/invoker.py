"""What the steps of a node call: its invoker, which consists of the calculator and the layers around it.

An invoker has `open`, `process` and `close`. A node without layers has its calculator for an invoker, so its
steps call the methods of the calculator themselves. Layers stand around the calculator in the order of
`penstock.engine.layer.LayerLevel`.

`RunBuilder` puts the layers around a node when it assembles the run, `Schedule.put_around` adds one later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from penstock.engine.step import Step


class Invoker(Protocol):
    """What steps call: a calculator, or a layer. What a method returns, the caller checks: see `Outcome`."""

    def open(self, step: Step, /) -> object:
        """Open the calculator."""

    def process(self, step: Step, /) -> object:
        """Call `process` of the calculator."""

    def close(self, step: Step, /) -> object:
        """Close the calculator."""
