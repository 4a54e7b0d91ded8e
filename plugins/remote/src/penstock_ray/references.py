"""Payloads that stay on the cluster: the driver's packets hold references, and only readers there see them.

A stream carries references if all its readers are nodes of the same executor and nothing else looks at it:
no observer, no poller, no failure policy that may call another calculator in this process. So the driver
moves timestamps, not pixels. Ray keeps a payload as long as a packet refers to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock_remote.api import RemotePayload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ray import ObjectRef

    from penstock.runs import OutputStream


#: Fields of what an input shows where there is a packet.
HAS_PAYLOAD: Final = 3


class Reference(NamedTuple):
    """What stands for a payload in a call."""

    #: Which argument of the call has it.
    argument: int
    #: Where in that list it is.
    place: int


class Later(NamedTuple):
    """What stands for a payload in an answer."""

    #: Which of the outputs that stay on the cluster has it.
    output: int
    #: Where in that list it is.
    place: int


class Stored(RemotePayload):
    """A payload on the cluster, as the driver's packets have it."""

    __slots__ = ("place", "ref")

    def __init__(self, ref: ObjectRef[Any], place: int) -> None:
        #: Leads to a list of payloads.
        self.ref: Final = ref
        #: Where in that list it is.
        self.place: Final = place

    def __repr__(self) -> str:
        return "a payload on the cluster"


def resolved(shown: Any, arguments: Sequence[Any]) -> Any:
    """Return what an input shows, with the payload in the place of its reference."""
    if len(shown) == HAS_PAYLOAD and isinstance(shown[2], Reference):
        return (shown[0], shown[1], arguments[shown[2].argument][shown[2].place])
    return shown


def stays_there(stream: OutputStream, is_ours: Any) -> bool:
    """Return whether payloads of a stream may stay on the cluster.

    Args:
        stream: of a run that is about to begin.
        is_ours: given a calculator, says whether it is on the same cluster.
    """
    if stream.observers or not stream.readers:
        return False
    return all(
        reader.node is not None and reader.node.guard is None and is_ours(reader.node.calculator)
        for reader in stream.readers
    )
