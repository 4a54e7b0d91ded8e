"""Input policies: when a node is ready, and which packets form one input set.

An `InputStreamHandler` is the policy of one node for one run. Most policies differ only in which
streams they keep in step, so a handler says once per run which *sync sets* it has, and the
mechanism here does the rest; a handler that decides otherwise overrides `look` and `fill`.

A look never waits, and remembers only what its docstring says: it answers from the queues and
bounds as they are. Source of the rules: MediaPipe `framework/input_stream_handler.h`, class SyncSet.
"""

from __future__ import annotations

from collections import deque
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Final

from penstock.engine.native import mypyc_attr
from penstock.engine.packet import NO_PAYLOAD, Packet
from penstock.errors import InvalidArgumentError
from penstock.timestamp import DONE, ONE_OVER_POSTSTREAM, POSTSTREAM, UNSET, UNSTARTED, previous_allowed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from penstock.engine.input_port import Input
    from penstock.engine.stream import InputStream

    Look: TypeAlias = Callable[[], int]
    Fill: TypeAlias = Callable[[int, Sequence[Input]], None]
    Advance: TypeAlias = Callable[[Sequence[Input]], int]

#: What `look` answers when the node is not ready.
NOT_READY: Final = UNSET
#: What `look` returns when the node is to close.
READY_FOR_CLOSE: Final = DONE


class SyncSet:
    """Streams that are kept in step: one input set holds all their packets of one timestamp.

    Ready at the smallest timestamp that is settled on all streams and has a packet on at least one;
    with the policy's `process_bounds` also at the highest newly settled one.
    """

    __slots__ = ("_policy", "_streams", "last", "positions", "waits_at")

    def __init__(self, positions: Sequence[int], policy: InputStreamHandler) -> None:
        #: The streams, as positions in the node's inputs.
        self.positions: Final = tuple(positions)
        self._policy: Final = policy
        self._streams: Final = tuple([policy.inputs[i] for i in positions])
        #: After a look that answered NOT_READY: no packet below this can come.
        self.waits_at = UNSET
        #: The last timestamp for which the set was filled.
        self.last = UNSTARTED

    def look(self) -> int:
        """Return the timestamp for which the set is ready, NOT_READY or READY_FOR_CLOSE."""
        least_bound = least_packet = DONE
        for stream in self._streams:
            queue = stream.queue
            if queue:
                t = queue[0].stamp
                if t < least_packet:  # min() costs a call  # noqa: PLR1730
                    least_packet = t
            elif stream.bound < least_bound:
                least_bound = stream.bound
        if self._policy.process_bounds:
            return self._look_at_bounds(least_packet, least_bound)
        if least_bound > least_packet:
            return least_packet
        if least_bound >= ONE_OVER_POSTSTREAM:
            return self.finished()
        self.waits_at = least_bound
        return NOT_READY

    def blocking(self) -> list[InputStream]:
        """Return the streams for which the set waits: those not settled at its oldest packet."""
        head = min((stream.queue[0].stamp for stream in self._streams if stream.queue), default=POSTSTREAM)
        return [stream for stream in self._streams if not stream.queue and stream.bound <= head]

    def _look_at_bounds(self, least_packet: int, least_bound: int) -> int:
        least = min(least_packet, least_bound)
        if least >= ONE_OVER_POSTSTREAM:
            return self.finished()
        at_post = least_packet == POSTSTREAM and least_bound > POSTSTREAM
        settled = POSTSTREAM if at_post else previous_allowed(least_bound)
        ready_at = min(least_packet, settled)
        if ready_at > self.last:
            return ready_at
        self.waits_at = least
        return NOT_READY

    def finished(self) -> int:
        """Record that all streams are done, and return READY_FOR_CLOSE."""
        self.last = previous_allowed(DONE)
        return READY_FOR_CLOSE

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the packets at `timestamp` from the set's streams."""
        self.last = timestamp  # here and not in look: a set that was not chosen must be ready again
        for position in self.positions:
            port = inputs[position]
            port.fill(port.stream.pop_at(timestamp))


@mypyc_attr(allow_interpreted_subclasses=True)
class InputStreamHandler:
    """The input policy of one node. Made for each run; subclass it and register it by name.

    The default implementation serves the sync sets that `sync_sets` names, one set in each call of
    `process`, the earliest ready first, in the order of the list where timestamps are equal. A set
    whose streams are done is left out; when none is left the node closes.
    """

    #: Class attribute: which input sets there are may depend on the order in which packets of different
    #: streams arrive, by design. The docstring says how.
    depends_on_arrival: ClassVar[bool] = False
    #: Class attribute: the policy takes packets as they arrive. A stream whose readers all do so may have
    #: timestamps in any order.
    ignores_timestamps: ClassVar[bool] = False
    #: Class attribute: each packet that comes is noticed, by `look` while the node is idle and by
    #: `packets_came` otherwise; without it only the first one in a queue. For policies that drop.
    sees_every_packet: ClassVar[bool] = False
    #: Class attribute: an input set is taken when the node starts to run, not when it becomes ready.
    takes_late: ClassVar[bool] = False

    def __init__(self, options: Any = None) -> None:
        self.options = options
        #: Whether newly settled timestamps make the node ready without packets.
        self.process_bounds = False
        #: Seconds for which the node waits with packets in its queues before `lose_patience` is called; None:
        #: without end.
        self.patience_s: float | None = None
        #: How many input sets are collected before the node becomes ready for the first of them; the others
        #: follow at once. Only for policies that neither decide themselves nor take late.
        self.batch_size = 1
        self.batch: Batch | None = None
        #: After a look that answered NOT_READY: no packet below this can come. With an offset the node
        #: forwards it.
        self.waits_at = UNSET
        #: The node's streams, in id order.
        self.inputs: tuple[InputStream, ...] = ()
        #: The sync sets that are not done yet.
        self.sets: list[SyncSet] = []
        self._chosen: SyncSet | None = None

    @classmethod
    def leading_input(cls, options: Any, inputs: Sequence[tuple[str, int]]) -> int | None:  # noqa: ARG003
        """Return the position of the input at whose packets alone the node runs; None where others count too.

        Override it where options name the input. It is called when a graph is loaded, where its error is a
        fault with a place in the graph file; and when a graph is drawn.

        Args:
            options: of the policy; has `get(MessageType)` and `are_given()`.
            inputs: tag and index of each of the node's inputs, in id order: tags by their bytes, then index.

        Raises:
            PenstockError: the options do not fit the inputs.
        """
        return None

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run. Override it to check options, and call it then; to choose sets `sync_sets`.

        Raises:
            InvalidArgumentError: an input is in no sync set, or in two: its packets would be lost. What an
            override raises becomes a CalculatorError that names node and policy.
        """
        self.inputs = tuple(inputs)
        self.sets = [SyncSet(positions, self) for positions in self.sync_sets()]
        if len(self.sets) != 1 or len(self.sets[0].positions) != len(inputs):
            self._check_sets()

    def _check_sets(self) -> None:
        found = [position for one in self.sets for position in one.positions]
        for position, stream in enumerate(self.inputs):
            if (times := found.count(position)) != 1:
                node = stream.node.name if stream.node else ""
                raise InvalidArgumentError(
                    f"node {node!r}: {type(self).__name__}.sync_sets() has stream {stream.name!r} (position "
                    f"{position}) in {times or 'no'} sets; each input must be in exactly one",
                    node=node,
                )

    def sync_sets(self) -> Sequence[Sequence[int]]:
        """Return the sets of streams to keep in step, as positions in `inputs`: each input in exactly one.

        Default: all in one.
        """
        return [range(len(self.inputs))]

    def look(self) -> int:
        """Return the timestamp at which the node is ready, NOT_READY or READY_FOR_CLOSE."""
        chosen: SyncSet | None = None
        ready_at = DONE
        for one in list(self.sets):
            t = one.look()
            if t == READY_FOR_CLOSE:
                self.sets.remove(one)
            elif t == NOT_READY:
                self.waits_at = one.waits_at
            elif t < ready_at:
                chosen, ready_at = one, t
        if not self.sets:
            return READY_FOR_CLOSE
        self._chosen = chosen
        return NOT_READY if chosen is None else ready_at

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the packets of the input set at `timestamp`, for which `look` was ready.

        Every input gets a packet; one without gets an empty packet that carries what is settled.
        """
        chosen = self._chosen
        if chosen is None:
            return
        for port in inputs:
            port.fill(Packet(timestamp=port.stream.settled()))
        chosen.fill(timestamp, inputs)

    def bind(self) -> Advance:
        """Return what a node calls to look and, if it is ready, to take its input set.

        Called once, after the node has opened.
        """
        return self.advance_with(self.look, self.fill)

    def advance_with(self, look: Look, fill: Fill) -> Advance:
        """Return what calls `look` and, if the node is ready, `fill`: in batches, or when the step starts.

        For `bind`, and for what does the same as `look` and `fill` in less time.
        """
        if self.batch_size > 1:
            self.batch = Batch(self, look, fill)
            return self.batch.advance
        if self.takes_late:
            return lambda inputs: index(look())  # noqa: ARG005  # taken when the step starts

        def advance(inputs: Sequence[Input]) -> int:
            t = index(look())  # it may be user code
            if t not in (NOT_READY, READY_FOR_CLOSE):
                fill(t, inputs)
            return t

        return advance

    def discard(self, reason: str) -> None:
        """Drop the packets that the policy itself holds, and count them; the node closes without them."""
        if self.batch is not None:
            self.batch.discard(self.inputs, reason)

    def packets_came(self) -> None:
        """Notice packets that have come while the node has steps ready or running.

        Called with `sees_every_packet` only. Must not take an input set.
        """

    def blocking(self) -> Sequence[InputStream]:
        """Return the streams for which the node waits, after a look that answered NOT_READY.

        It explains why a node waits; override it where `look` is overridden.
        """
        return [stream for one in self.sets for stream in one.blocking()]

    def lose_patience(self, timestamp: int) -> None:
        """Go on without what is missing: the node has waited `patience_s` for the set at `timestamp`.

        Override it together with `look`, which is called right after.
        """

    def waits_with(self) -> int | None:
        """Return the smallest timestamp that waits in a queue; None where no packet waits."""
        return min((stream.queue[0].stamp for stream in self.inputs if stream.queue), default=None)

    def decides_itself(self) -> bool:
        """Return whether a subclass overrides how this class serves its sync sets. For the engine."""
        kind = type(self)
        return kind.look is not InputStreamHandler.look or kind.fill is not InputStreamHandler.fill


class Batch:
    """Input sets that are collected until there are enough, then delivered one by one.

    The last ones are delivered, however few, when the streams are done.
    """

    __slots__ = ("_fill", "_is_giving", "_look", "_policy", "_sets")

    def __init__(self, policy: InputStreamHandler, look: Look, fill: Fill) -> None:
        self._policy: Final = policy
        self._look: Final = look
        self._fill: Final = fill
        self._sets: deque[tuple[int, list[tuple[Packet, bool]]]] = deque()
        self._is_giving = False

    def advance(self, inputs: Sequence[Input]) -> int:
        """Return the timestamp of the input set that is now shown, NOT_READY or READY_FOR_CLOSE."""
        sets = self._sets
        if not self._is_giving:
            t = self._collect(inputs)
            if t == NOT_READY and sets:
                self._policy.waits_at = sets[0][0]  # what follows from the first set is not settled yet
            if t == NOT_READY or not sets:
                return t
        t, shown = sets.popleft()
        for port, (packet, done) in zip(inputs, shown, strict=True):
            port.packet, port.done = packet, done
        self._is_giving = bool(sets)
        return t

    def _collect(self, inputs: Sequence[Input]) -> int:
        """Take ready sets until the batch is full; return the result of the last look."""
        t = UNSET
        while len(self._sets) < self._policy.batch_size:
            t = index(self._look())
            if t in (NOT_READY, READY_FOR_CLOSE):
                break
            self._fill(t, inputs)
            self._sets.append((t, [(port.packet, port.done) for port in inputs]))
        for port in inputs:
            port.clear()
        return t

    def discard(self, inputs: Sequence[InputStream], reason: str) -> None:
        """Drop what was collected and not delivered."""
        for _, shown in self._sets:
            for stream, (packet, _) in zip(inputs, shown, strict=True):
                if packet.value is not NO_PAYLOAD:
                    stream.disuse(reason, 1)
                    stream.flow.garbage.append(packet)
        self._sets.clear()
        self._is_giving = False
