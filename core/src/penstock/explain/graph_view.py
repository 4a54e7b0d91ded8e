"""`GRAPH`: the service by which a calculator looks at the graph that it runs in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from penstock.services import ServiceKey

if TYPE_CHECKING:
    from penstock.explain.packet_ledger import Ledger
    from penstock.explain.snapshots import Snapshot


class GraphView(Protocol):
    """What a calculator may see of the graph that it runs in, at any time of the run.

    Attributes:
        text_config: the checked config as graph text, its nodes in the order of the snapshot's.
        binary_config: the same, serialized.
        is_timed: whether the snapshot's `busy_s` is measured in this run.
    """

    @property
    def text_config(self) -> str: ...  # noqa: D102  # see above
    @property
    def binary_config(self) -> bytes: ...  # noqa: D102
    @property
    def is_timed(self) -> bool: ...  # noqa: D102

    def snapshot(self) -> Snapshot:
        """Return where the run stands, as data; raises a FailedPreconditionError before it has started."""

    def ledger(self) -> Ledger:
        """Return where its packets are, as data; cheaper than a snapshot. Raises as `snapshot`."""


#: The graph that a calculator runs in. Every run has it; for calculators that report on their graph.
GRAPH: Final[ServiceKey[GraphView]] = ServiceKey("penstock.graph")
