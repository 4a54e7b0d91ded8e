"""`Guard`, the layer that decides about calls of a node that have failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from penstock.engine.layer import Layer, LayerLevel
from penstock.engine.native import mypyc_attr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.engine.step import Step

#: Verdicts about a failed call: the run fails; the call counts as one that wrote nothing; it is made again.
FAIL: Final = 0
SKIP: Final = 1
AGAIN: Final = 2


class CallFailure(Protocol):
    """One failed call, as a guard remembers it."""

    @property
    def at_ns(self) -> int:
        """When it failed, in nanoseconds since the epoch."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Guard(Layer):
    """Decides about the failed calls of one node, and may replace its calculator: it sets `inner`."""

    def __init__(self) -> None:
        super().__init__(LayerLevel.GUARD)

    @property
    def failures(self) -> Sequence[CallFailure]:
        """The failures of this run, a copy."""
        return ()

    def judge(self, step: Step, error: BaseException) -> int:
        """Return FAIL, SKIP or AGAIN. Called under the lock of the run; must be quick and call no user code.

        What the call wrote is taken back already; what this writes is delivered after SKIP.
        """
        raise NotImplementedError(
            f"{type(self).__name__} is a Guard without a judge method, which says what a failed call means"
        )
