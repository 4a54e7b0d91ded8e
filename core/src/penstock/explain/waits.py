"""What the nodes of a run wait for: chains of waits, as data.

Every waiting node has a chain of links; each link waits for the next, and the last one is the
culprit: what somebody can do something about. Chains that meet share their rest, so that a graph of n
nodes costs n links however long its chains are; a `Wait` walks its own when it is asked for it.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.timestamp import Timestamp


class WaitKind(enum.StrEnum):
    """What one link of a chain waits for, or why the chain ends there.

    Links that wait:

    ===========  ==============================================================================
    PACKETS      the node holds nothing; anything may come on `stream`, which is settled below `bound`
    BOUND        the node holds packets; `stream` must settle `timestamp`, but is at `bound`
    POLICY       the node's input policy decides by itself; `stream` is empty and at `bound`
    ROOM         a source, or a graph input if `node` is empty, waits for room in a full queue of `stream`
    THREAD       the node is ready and waits for a thread of its executor
    OPENING      the node cannot open before the one that writes `stream` has opened
    SIDE_PACKET  the node cannot open before a side packet has been made
    LAYER        a source waits for the end of a lower source layer
    END          the node waits for the end of the run, to be closed
    ===========  ==============================================================================

    Culprits, where a chain ends:

    ===============  ==========================================================================
    GRAPH_INPUT      the graph input `stream` is open and nobody feeds it
    FORGOTTEN_BOUND  the node has processed all up to `timestamp`, but neither wrote a packet to `stream`
                     nor moved its bound
    RUNNING          a call of the node has not come back
    PAUSED           the graph is paused
    NO_THREAD        no thread of the executor is there to run the node
    POLLER           nobody reads the poller or rows of `stream`, which throttle
    OBSERVER         an observer of `stream` has not come back
    NOT_MADE         the node ends or idles without having made a side packet
    CIRCLE           the chain comes back to where it was
    ===============  ==========================================================================

    A link of the first kind ends a chain where the run is just about to go on by itself.
    """

    PACKETS = "packets"
    BOUND = "bound"
    POLICY = "policy"
    ROOM = "room"
    THREAD = "thread"
    OPENING = "opening"
    SIDE_PACKET = "side packet"
    LAYER = "layer"
    END = "end"
    GRAPH_INPUT = "graph input"
    FORGOTTEN_BOUND = "forgotten bound"
    RUNNING = "running"
    PAUSED = "paused"
    NO_THREAD = "no thread"
    POLLER = "poller"
    OBSERVER = "observer"
    NOT_MADE = "not made"
    CIRCLE = "circle"


@attrs.frozen
class StreamWait:
    """A stream that a node waits for."""

    #: Its name.
    stream: str
    #: The timestamp bound, as a user reads it.
    bound: str
    #: What must be settled there; "" where any packet will do.
    timestamp: str = ""


@attrs.frozen
class WaitLink:
    """One link of a chain: what waits, and what it waits for."""

    #: What it waits for, or why the chain ends here.
    kind: WaitKind
    #: The same in words; for a culprit with what to do.
    text: str
    #: That waits or is to blame; "" for a graph input, an observer or the graph itself.
    node: str = ""
    #: On which stream; "" where there is none.
    stream: str = ""
    #: What must be settled there, or has been processed; None where it has no meaning.
    timestamp: Timestamp | None = None
    #: The stream's present bound; None likewise.
    bound: Timestamp | None = None


@attrs.frozen
class Hop:
    """A link and what comes after it."""

    #: What waits.
    link: WaitLink
    #: Key of the next hop, or None. A node's id, or the complement of a graph input's stream id.
    then: int | None = None
    #: The last link, where the chain ends after this one. With neither, `link` is the last.
    culprit: WaitLink | None = None


@attrs.frozen
class Wait:
    """One node that waits, and why.

    A node that waits for several streams has one of these for each stream that has a culprit of its own.
    """

    #: Its name; "" for a graph input or an observer.
    node: str
    #: "unopened", "opening", "opened", "closing"; for others "open", "called".
    state: str
    #: Packets in the node's queues.
    held: int
    #: The last link of the chain.
    culprit: WaitLink
    #: `key`, `first`, `hops`: where the chain begins, and the hops that all chains share; see `chain`.
    key: int | None = attrs.field(repr=False, eq=False)
    first: Hop = attrs.field(repr=False, eq=False)
    hops: Mapping[int, Hop] = attrs.field(repr=False, eq=False)

    @property
    def chain(self) -> tuple[WaitLink, ...]:
        """The links from this node to the culprit."""
        return tuple(link for _, link in self.steps())

    def steps(self) -> Iterator[tuple[int | None, WaitLink]]:
        """Yield the links with the keys of their hops; a link that is a culprit only has none."""
        key, hop = self.key, self.first
        seen = {key}
        while True:
            yield key, hop.link
            key = hop.then
            if key is None or key in seen or key not in self.hops:
                break
            seen.add(key)
            hop = self.hops[key]
        if hop.link is not self.culprit:
            yield None, self.culprit
