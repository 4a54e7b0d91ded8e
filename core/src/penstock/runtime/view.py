"""`RunView`: the service `GRAPH`, which lets calculators look at their own graph.

Invariant: a view refers to the plan and the run, never to the `CalculatorGraph`, which may be freed while
its run goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.errors import FailedPreconditionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.explain import Snapshot
    from penstock.plan import Plan


class RunView:
    """The `GraphView` of one run."""

    def __init__(self, plan: Plan, *, is_timed: bool) -> None:
        self._plan: Final = plan
        self.is_timed: Final = is_timed
        #: Returns the state of the run. Set before the run starts.
        self.take_snapshot: Callable[[], Snapshot] | None = None

    @property
    def text_config(self) -> str:
        """The checked config as graph text: nodes in the order in which they are numbered.

        "" for a plan that was made by hand.
        """
        if self._plan.config is None:
            return ""
        from penstock.config import to_text  # brings protobuf

        return to_text(self._plan.config, self._plan.option_types)

    @property
    def binary_config(self) -> bytes:
        """The checked config as serialized protobuf; empty for a plan that was made by hand."""
        if self._plan.config is None:
            return b""
        binary: bytes = self._plan.config.SerializePartialToString(deterministic=True)
        return binary

    def snapshot(self) -> Snapshot:
        """Return the state of the run, as data.

        Raises:
            FailedPreconditionError: the run has not started.
        """
        if self.take_snapshot is None:
            raise FailedPreconditionError(
                "the run has not started; ask for a snapshot in open(), process() or close()"
            )
        return self.take_snapshot()
