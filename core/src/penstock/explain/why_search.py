"""Why a run does not go on, as data and in words, and the search for it.

The search for culprits goes from each waiting node to what it waits for, and so on to the end.

Each node has one hop that it waits for first, and for each key (a node's id, or the complement of a
graph input's stream id) the hop is made once; so the whole is linear in nodes and connections, and
nothing recurses over the graph. The search runs under the run's lock. Of users' code it calls only an
input policy's method that names the streams it waits for; a policy is part of the scheduler.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from penstock.engine.node import CLOSED, FAILED, OPENED, OPENING, STATES, UNOPENED
from penstock.engine.run_state import PAUSED, RUN_STATES, RUNNING
from penstock.explain.culprits import (
    being_called,
    bound_of,
    forgotten,
    full_queues,
    missing_side_packets,
    processed_below,
    running,
    terms,
)
from penstock.explain.packet_ledger import ROWS, ledger_cuts, place_of
from penstock.explain.waits import Hop, Wait, WaitKind, WaitLink
from penstock.timestamp import ONE_OVER_POSTSTREAM, Timestamp, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.engine.node import Node
    from penstock.engine.schedule import Schedule
    from penstock.engine.stream import InputStream, OutputStream, Queue
    from penstock.explain.calls import Call
    from penstock.explain.packet_ledger import LedgerCut

#: Of a circle of more nodes the first ones are named.
_SHOWN_IN_CIRCLE: Final = 6
#: Of a chain that is longer, the words show both ends only, so many links each.
_SHOWN_AT_EACH_END = 5


@attrs.frozen
class Why:
    """Why a run does not go on. `str()` of it is the story in words."""

    #: "not started", "running", "paused" or "over".
    state: str
    #: What waits; those that hold up packets first. Of a run that is over: nodes that had packets in their
    #: queues when the sources had ended.
    waits: tuple[Wait, ...] = ()
    #: Where their chains end, each once, in the same order.
    culprits: tuple[WaitLink, ...] = ()
    #: What has gone wrong.
    errors: tuple[str, ...] = ()
    #: The node that ended the run by returning STOP though it has inputs, or None.
    stopped_by: str | None = None
    #: The calls of calculators that have not come back, and where each stands.
    calls: tuple[Call, ...] = ()
    #: What limits of nodes have left out of lists, so that it is missing further on.
    cuts: tuple[LedgerCut, ...] = ()

    def __str__(self) -> str:
        lines = [self._headline()]
        lines.extend(f"  an error of the run: {error}" for error in self.errors)
        told: set[int] = set()
        for wait in _heads_first(self.waits):
            lines.extend(_told(wait, told))
        lines.extend(f"  {call}" for call in self.calls)
        lines.extend(f"  {cut}" for cut in self.cuts)
        return "\n".join(lines)

    def _headline(self) -> str:
        if self.state == "not started":
            return "the run has not started; call start_run()"
        if self.state == "over":
            if self.errors:
                return "the run is over: it failed"
            if self.stopped_by is not None:
                return f"the run is over: node {self.stopped_by!r} returned STOP"
            left = ", while packets were in queues, since" if any(wait.held for wait in self.waits) else ""
            return f"the run is over: its sources and graph inputs have ended{left}"
        failed = ", has failed and comes to its end" if self.errors else ""
        paused = "; call resume()" if self.state == "paused" else ""
        return f"the run is {self.state}{failed}{paused}"


def why(schedule: Schedule) -> Why:
    """Return for each waiting node of a run the chain to its culprit. Call it with the run's lock held."""
    search = _Search(schedule)
    waits = [*search.observers(), *(search.nodes() if schedule.state in (RUNNING, PAUSED) else ())]
    held: dict[WaitLink, int] = {}
    for wait in waits:
        held[wait.culprit] = held.get(wait.culprit, 0) + wait.held
    waits.sort(key=lambda wait: (not held[wait.culprit], not wait.held))
    return Why(
        state=RUN_STATES[schedule.state],
        waits=tuple(waits),
        culprits=tuple(dict.fromkeys(wait.culprit for wait in waits)),
        errors=tuple(str(error) for error in schedule.errors),
        stopped_by=schedule.stopped_by,
        cuts=ledger_cuts(schedule),
    )


def story(schedule: Schedule) -> str:
    """Return in words why a run does not go on: for each waiting node the chain to the culprit."""
    return str(why(schedule))


def _heads_first(waits: tuple[Wait, ...]) -> list[Wait]:
    """Return the waits in order: first those whose node is in no other wait's chain."""
    inner = {wait.first.then for wait in waits}
    return sorted(waits, key=lambda wait: wait.key in inner)


def _told(wait: Wait, told: set[int]) -> list[str]:
    """Return the lines of a chain, up to where it meets one that has been written."""
    if wait.key in told and wait.hops.get(wait.key) is wait.first:
        return []
    texts: list[str] = []
    for key, link in wait.steps():
        if key in told and texts:
            texts.append(f"{link.text}, as told above")
            break
        texts.append(link.text)
        if key is not None:
            told.add(key)
    else:
        if len(texts) > 1:
            texts[-1] = f"culprit: {texts[-1]}"
    first, *rest = texts
    left_out = len(rest) - 2 * _SHOWN_AT_EACH_END
    if left_out > 0:
        rest[_SHOWN_AT_EACH_END:-_SHOWN_AT_EACH_END] = [f"({left_out} more links)"]
    reasons = [text if text.startswith(("culprit: ", "(")) else f"because {text}" for text in rest]
    return [f"  {first}", *(f"    {reason}" for reason in reasons)]


class _Search:
    """One search: what has been found of a run that does not change meanwhile."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule: Final = schedule
        self._hops: dict[int, Hop] = {}
        self._extra: dict[int, list[Hop]] = {}
        self._roots: dict[int, WaitLink] = {}
        self._forgotten: dict[int, WaitLink] = {}
        self._writer: Final = {id(reader): stream for stream in schedule.streams for reader in stream.readers}
        self._open: Final = [node for node in schedule.nodes if node.state not in (CLOSED, FAILED)]
        self._called: Final = [
            observer for stream in schedule.streams for observer in stream.observers if observer.is_claimed
        ]
        self._running: dict[int, Node] = {}
        for node in self._open:
            if node.running():
                self._running.setdefault(id(node.queue), node)
        self._full: Final = full_queues(schedule)
        self._missing: Final = missing_side_packets(schedule)
        self._makers: dict[str, Node] = {}
        if self._missing:
            self._makers = {
                port.name: node for node in schedule.nodes for port in node.step.output_side_packets
            }

    # --- what waits ---------------------------------------------------------------------------

    def observers(self) -> list[Wait]:
        """Return a wait for each observer that is being called or has something to see."""
        return [self._wait(None, Hop(being_called(observer)), state="called") for observer in self._called]

    def nodes(self) -> list[Wait]:
        """Return a wait for each node that is not over, and for graph inputs that no node waits for."""
        for node in self._open:
            self._find(node.id)
        waits: list[Wait] = []
        for node in self._open:
            queued = sum(len(stream.queue) for stream in node.inputs)
            first = self._hops[node.id]
            waits.append(self._wait(node.id, first, node.name, STATES[node.state], queued))
            named = {waits[-1].culprit}
            for hop in self._extra.get(node.id, ()):
                one = self._wait(node.id, hop, node.name, STATES[node.state], queued)
                if one.culprit not in named:
                    named.add(one.culprit)
                    waits.append(one)
        waits.extend(
            self._wait(~i, self._find(~i), state="open")
            for i in self._schedule.graph_inputs
            if ~i not in self._hops and not self._schedule.streams[i].is_closed
        )
        return waits

    def _wait(self, key: int | None, first: Hop, node: str = "", state: str = "", held: int = 0) -> Wait:
        return Wait(node, state, held, self._culprit(key, first), key, first, self._hops)

    # --- where it ends ------------------------------------------------------------------------

    def _culprit(self, key: int | None, first: Hop) -> WaitLink:
        if key is not None and self._hops.get(key) is first:
            return self._root(key)
        return self._root(first.then) if first.then is not None else first.culprit or first.link

    def _root(self, key: int) -> WaitLink:
        """Return the last link of a key's chain, and remember it for all keys on the way."""
        path: list[int] = []
        place: dict[int, int] = {}
        at: int | None = key
        root: WaitLink | None = None
        while root is None:
            if at in self._roots:
                root = self._roots[at]
            elif at in place:
                root = self._circle(path[place[at] :])
            else:
                assert at is not None  # a hop without `then` ends the loop  # noqa: S101
                place[at] = len(path)
                path.append(at)
                hop = self._find(at)
                at = hop.then
                if at is None:
                    root = hop.culprit or hop.link
        for passed in path:
            self._roots[passed] = root
        return root

    def _circle(self, keys: Sequence[int]) -> WaitLink:
        links = [self._hops[key].link for key in keys]
        who = [repr(link.node or link.stream) for link in links]
        if len(who) > _SHOWN_IN_CIRCLE:
            who[_SHOWN_IN_CIRCLE:] = [f"{len(who) - _SHOWN_IN_CIRCLE} more"]
        words = ", which waits for ".join([*who, repr(links[0].node or links[0].stream)])
        full = next((link for link in links if link.kind is WaitKind.ROOM), None)
        if full is None:
            cure = (
                "let one of them settle its output before it has read all: by a first packet or bound "
                "written in open, or by a timestamp offset above 0"
            )
        else:
            cure = f"raise max_queue_size, or settle the streams that the reader of {full.stream!r} lacks"
        return WaitLink(
            WaitKind.CIRCLE,
            f"the wait goes in a circle: {words}; {cure}",
            node=links[0].node,
            stream=links[0].stream,
        )

    # --- what a node waits for ----------------------------------------------------------------

    def _find(self, key: int) -> Hop:
        """Return the hop of a key, made once; a node's further ones go to `_extra`."""
        known = self._hops.get(key)
        if known is not None:
            return known
        if key < 0:
            hops = [self._hop_of_input(self._schedule.streams[~key])]
        else:
            hops = self._hops_of(self._schedule.nodes[key])
        self._hops[key] = hops[0]
        if hops[1:]:
            self._extra[key] = hops[1:]
        return hops[0]

    def _hop_of_input(self, stream: OutputStream) -> Hop:
        full = self._full.get(~stream.id)
        if full is not None:
            return self._for_room(f"graph input {stream.name!r}", "", full)
        return Hop(
            WaitLink(
                WaitKind.GRAPH_INPUT,
                f"graph input {stream.name!r} is open; the application feeds or closes it, or raises its "
                f"bound {bound_of(stream, 'now')}",
                stream=stream.name,
                bound=Timestamp.of(stream.bound),
            )
        )

    def _hops_of(self, node: Node) -> list[Hop]:  # noqa: PLR0911  # one for each state
        if node.running():
            return [Hop(running(node))]
        if node.in_flight:
            return [self._ready(node)]
        if self._schedule.errors:
            return [self._for_end(node, "the run has failed, and calls under way come first")]
        if node.state == UNOPENED:
            return [self._unopened(node)]
        if node.is_source:
            return [self._source(node)]
        if not node.inputs:
            return [self._for_end(node, "it has no streams")]
        return self._for_inputs(node)

    def _ready(self, node: Node) -> Hop:
        executor = node.queue.executor_name()
        link = WaitLink(
            WaitKind.THREAD, f"node {node.name!r} is ready and waits for a thread of {executor}", node.name
        )
        if self._schedule.state == PAUSED:
            return Hop(link, culprit=WaitLink(WaitKind.PAUSED, "the graph is paused; call resume()"))
        busy = self._running.get(id(node.queue))
        if busy is not None:
            return Hop(link, then=busy.id)
        if self._called:
            return Hop(link, culprit=being_called(self._called[0]))
        none = (
            f"no thread of {executor} runs a node of this graph: they are about to, are busy elsewhere, or "
            "are those of the application, which work only while it waits for the graph"
        )
        return Hop(link, culprit=WaitLink(WaitKind.NO_THREAD, none))

    def _unopened(self, node: Node) -> Hop:
        name = self._missing.get(node.id)
        if name is not None:
            return self._for_side_packet(node, name)
        for reader in node.inputs:
            writer = self._writer[id(reader)].node
            if writer is not None and not reader.is_back_edge and writer.state in (UNOPENED, OPENING):
                text = f"node {node.name!r} waits until the node that writes {reader.name!r} has opened"
                return Hop(WaitLink(WaitKind.OPENING, text, node.name, reader.name), then=writer.id)
        return self._for_end(node, "it has not opened")

    def _for_side_packet(self, node: Node, name: str) -> Hop:
        link = WaitLink(WaitKind.SIDE_PACKET, f"node {node.name!r} waits for side packet {name!r}", node.name)
        maker = self._makers.get(name)
        if maker is not None and (maker.in_flight or maker.state == UNOPENED):
            return Hop(link, then=maker.id)
        if maker is not None and maker.state == OPENED and (maker.inputs or maker.outputs):
            return Hop(link, then=maker.id)
        who = "nobody" if maker is None else f"node {maker.name!r} is {STATES[maker.state]}, but"
        text = f"{who} has not made side packet {name!r}; let it call set() of that port in open or process"
        return Hop(link, culprit=WaitLink(WaitKind.NOT_MADE, text, "" if maker is None else maker.name))

    def _source(self, node: Node) -> Hop:
        full = self._full.get(node.id)
        if full is not None:
            return self._for_room(f"node {node.name!r}", node.name, full)
        if node.is_active:
            return Hop(WaitLink(WaitKind.THREAD, f"node {node.name!r} is about to run", node.name))
        text = (
            f"node {node.name!r} waits for the sources of a lower layer and their packets to come to an end"
        )
        before = next((n for n in self._open if n.is_source and n.is_active), None) or next(
            (n for n in self._open if n.is_source and n.layer < node.layer), None
        )
        return self._behind(WaitLink(WaitKind.LAYER, text, node.name), before)

    def _for_end(self, node: Node, because: str) -> Hop:
        text = f"node {node.name!r} waits for the end of the run: {because}"
        link = WaitLink(WaitKind.END, text, node.name)
        if self._schedule.errors:
            return self._behind(link, None)
        open_input = next(
            (i for i in self._schedule.graph_inputs if not self._schedule.streams[i].is_closed), None
        )
        if open_input is not None:
            return Hop(link, then=~open_input)
        with_streams = (n for n in self._open if n is not node and (n.inputs or n.outputs))
        return self._behind(link, next((n for n in with_streams if n.state != UNOPENED), None))

    def _behind(self, link: WaitLink, node: Node | None) -> Hop:
        """Return a hop to a node; without a node, to a call that is under way."""
        if node is None:
            node = next(iter(self._running.values()), None) or next(
                (n for n in self._open if n.in_flight), None
            )
        if node is not None:
            return Hop(link, then=node.id)
        return Hop(link, culprit=being_called(self._called[0]) if self._called else None)

    def _for_room(self, who: str, node: str, full: Queue) -> Hop:
        limit = f"({len(full.queue)} packets, limit {full.max_size})"
        place = place_of(full)
        reader = f"its {place}" if full.node is None else f"node {full.node.name!r}"
        text = f"{who} waits for room in the full queue of stream {full.name!r} at {reader} {limit}"
        link = WaitLink(WaitKind.ROOM, text, node, full.name)
        if full.node is not None:
            return Hop(link, then=full.node.id)
        cure = (
            "read on, or close() them"
            if place == ROWS
            else "call its next(), or set_max_queue_size(-1) so that it throttles nobody"
        )
        text = f"nobody reads the {place} of stream {full.name!r}, which is full {limit}; {cure}"
        return Hop(link, culprit=WaitLink(WaitKind.POLLER, text, stream=full.name))

    # --- what a policy waits for --------------------------------------------------------------

    def _for_inputs(self, node: Node) -> list[Hop]:
        """Return a hop for each stream that an idle node waits for; the one that is furthest behind first."""
        if node.policy.decides_itself():
            hops = self._for_policy(node)
        else:
            sets = [one.positions for one in node.policy.sets] or [tuple(range(len(node.inputs)))]
            hops = [
                hop for positions in sets for hop in self._for_set(node, [node.inputs[i] for i in positions])
            ]
        if not hops:
            text = f"node {node.name!r} waits for what its policy {type(node.policy).__name__} asks for"
            return [Hop(WaitLink(WaitKind.POLICY, text, node.name))]
        hops.sort(key=lambda found: found[:-1])
        return [found[-1] for found in hops]

    def _for_policy(self, node: Node) -> list[tuple[bool, int, bool, Hop]]:
        policy = type(node.policy).__name__
        found = []
        try:
            blocking = node.policy.blocking()
        except Exception:  # noqa: BLE001  # a policy that cannot say it must not hide where the run stands
            blocking = node.inputs
        for stream in blocking:
            if stream.queue or stream.bound >= ONE_OVER_POSTSTREAM:
                continue
            text = (
                f"node {node.name!r} waits for what its policy {policy} asks for; stream {stream.name!r} is "
                f"empty {bound_of(stream)}"
            )
            found.append(self._for_stream(WaitKind.POLICY, text, node, stream, None))
        return found

    def _for_set(self, node: Node, streams: Iterable[InputStream]) -> list[tuple[bool, int, bool, Hop]]:
        empty = [stream for stream in streams if not stream.queue]
        head = min((stream.queue[0].stamp for stream in streams if stream.queue), default=None)
        rest = terms(node.policy)
        found = []
        for stream in empty:
            bound = bound_of(stream)
            if head is not None and stream.bound <= head:
                what = f"stream {stream.name!r} {bound} to settle {show(head)}"
                text = f"node {node.name!r} waits for {what}{rest}"
                found.append(self._for_stream(WaitKind.BOUND, text, node, stream, head))
            elif head is None and stream.bound < ONE_OVER_POSTSTREAM:
                text = f"node {node.name!r} waits for packets on {stream.name!r} {bound}{rest}"
                found.append(self._for_stream(WaitKind.PACKETS, text, node, stream, None))
        return found

    def _for_stream(
        self, kind: WaitKind, text: str, node: Node, stream: InputStream, needed: int | None
    ) -> tuple[bool, int, bool, Hop]:
        """Return a hop to the writer of a stream, and its place among the node's other hops."""
        stamp = None if needed is None else Timestamp.of(needed)
        link = WaitLink(kind, text, node.name, stream.name, stamp, Timestamp.of(stream.bound))
        written = self._writer[id(stream)]
        if written.node is None:
            hop = Hop(link, then=~written.id)
        elif self._has_forgotten(written, stream.bound if needed is None else needed):
            hop = Hop(link, culprit=self._forgotten_link(written))
        else:
            hop = Hop(link, then=written.node.id)
        return needed is None, stream.bound, stream.is_back_edge, hop

    # --- forgotten bounds ---------------------------------------------------------------------

    def _has_forgotten(self, stream: OutputStream, needed: int) -> bool:
        """Return whether the writer has processed `needed` and left the stream at or below it.

        With an offset the engine itself moves the bound, and without order there is none.
        """
        node = stream.node
        if node is None or node.state != OPENED or node.in_flight or not node.inputs:
            return False
        if stream.offset is not None or not stream.is_ordered or node.policy.ignores_timestamps:
            return False
        return processed_below(node) > needed

    def _forgotten_link(self, stream: OutputStream) -> WaitLink:
        known = self._forgotten.get(stream.id)
        if known is None:
            known = self._forgotten[stream.id] = forgotten(stream)
        return known
