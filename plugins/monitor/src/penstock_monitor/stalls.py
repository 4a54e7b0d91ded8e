"""`stall_of`: the report of a stall, and the nodes to mark, when nothing has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.explain import WaitKind
from penstock_monitor.reading import CulpritReading, StallReading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.explain import WaitLink, Why

#: Ends of chains that are normal where nothing waits in a queue.
_NORMAL: Final = frozenset(
    {
        WaitKind.GRAPH_INPUT,
        WaitKind.FORGOTTEN_BOUND,
        WaitKind.PACKETS,
        WaitKind.BOUND,
        WaitKind.POLICY,
        WaitKind.END,
        WaitKind.LAYER,
    }
)


def stall_of(why: Why, since_s: float) -> StallReading:
    """Return why a run that has not moved for `since_s` seconds does not.

    Culprits are those that hold up packets, and calls that have not come back. If there are none, the graph
    is idle: it waits for the application, and no node is to blame.
    """
    return StallReading(since_s, str(why), tuple(_culprit(link) for link in _to_blame(why)))


def _to_blame(why: Why) -> Sequence[WaitLink]:
    held: dict[WaitLink, int] = {}
    for wait in why.waits:
        held[wait.culprit] = held.get(wait.culprit, 0) + wait.held
    to_blame = [link for link in why.culprits if held.get(link) or link.kind not in _NORMAL]
    if to_blame:
        return to_blame
    return [link for link in why.culprits if link.kind is WaitKind.GRAPH_INPUT] or why.culprits


def _culprit(link: WaitLink) -> CulpritReading:
    return CulpritReading(link.node, link.stream, link.text)
