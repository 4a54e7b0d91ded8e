"""`RunView`: the service `GRAPH`, which lets calculators look at their own graph.

Invariant: a view refers to the plan and the run, never to the `CalculatorGraph`, which may be freed while
its run goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from penstock.errors import FailedPreconditionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.explain import Ledger, Snapshot
    from penstock.plan import Plan


class RunView:
    """The `GraphView` of one run."""

    def __init__(self, plan: Plan, *, is_timed: bool) -> None:
        self._plan: Final = plan
        self.is_timed: Final = is_timed
        #: Calls a function of the module `report`, given its name. Set before the run starts.
        self.take: Callable[[str], Any] = _not_started

    @property
    def text_config(self) -> str:
        """The checked config as graph text, nodes as they are numbered; "" for a plan made by hand."""
        if self._plan.fields is None:
            return ""
        from penstock.config import to_text  # brings protobuf

        return to_text(self._plan.config, self._plan.option_types)

    @property
    def binary_config(self) -> bytes:
        """The checked config as serialized protobuf; empty for a plan that was made by hand."""
        if self._plan.fields is None:
            return b""
        return cast("bytes", self._plan.config.SerializePartialToString(deterministic=True))

    def snapshot(self) -> Snapshot:
        """As `GraphView.snapshot`."""
        return cast("Snapshot", self.take("take_snapshot"))

    def ledger(self) -> Ledger:
        """As `GraphView.ledger`."""
        return cast("Ledger", self.take("take_ledger"))


def _not_started(what: str) -> Any:
    raise FailedPreconditionError(
        f"the view of the run has no {what}(): the run has not started; ask in open(), process() or close()"
    )
