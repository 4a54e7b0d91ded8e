"""Short cuts of the hot path: the same results as the plain rules, in less time.

The rules stand in `schedule` and `input_stream_handler`: a set is ready as `SyncSet.look` says, a packet goes
through the queue of its stream, and a node is looked at after each of its calls. `ShortSchedule` leaves out
steps of this that nearly always do nothing. Runs are made with it, or with the plain `Schedule` where the
environment has `PENSTOCK_SHORTCUTS=0`. The tests of schedules run with both, and see no difference.
"""

from __future__ import annotations

from heapq import heappush
from typing import TYPE_CHECKING, Final

from penstock.engine.input_stream_handler import NOT_READY, READY_FOR_CLOSE
from penstock.engine.node import OPENED
from penstock.engine.run_state import RUNNING
from penstock.engine.schedule import Schedule
from penstock.timestamp import DONE, MAX, ONE_OVER_POSTSTREAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.engine.flow import FlowControl
    from penstock.engine.input_port import Input
    from penstock.engine.input_stream_handler import Advance, InputStreamHandler, Look, SyncSet
    from penstock.engine.node import Node
    from penstock.engine.output_port import Output
    from penstock.engine.scheduler_queue import ReadyQueue
    from penstock.engine.step import Step
    from penstock.engine.stream import InputStream, OutputStream, StreamObserver


class Relay:
    """What `ShortSchedule.follow` needs to put a packet past the queue; a look-up takes 50 ns."""

    __slots__ = ("following", "output", "packets", "port", "reader", "stream", "target")

    def __init__(self, output: Output, reader: InputStream, target: Node) -> None:
        #: `output`, `packets`, `stream`: the writing end, what was written there, and its stream.
        self.output: Final = output
        self.packets: Final = output.packets
        self.stream: Final = output.stream
        #: The only reading end.
        self.reader: Final = reader
        #: `target`, `following`, `port`: the node that reads, its step, and that step's only input.
        self.target: Final = target
        self.following: Final = target.step
        self.port: Final = target.step.in_ports[0]


class ShortSchedule(Schedule):
    """The scheduler of one run, with short cuts.

    It keeps three attributes of nodes:

    * `only_input`: the input of an opened node that has one, and a policy that decides nothing itself.
    * `takes_in_order`: the node is open and has one input, whose packets it takes one by one, each when it
      comes and the node is idle.
    * `relay`: where the packets of its only output go, if its only reader is another node with one input and
      one step at a time, and it has no observer. A node has it while it is open and the run has not failed,
      so that a step of a node with a relay is a call of `process`.
    """

    __slots__ = ()

    def __init__(  # noqa: PLR0913  # as Schedule
        self,
        nodes: Sequence[Node],
        streams: Sequence[OutputStream],
        graph_inputs: int,
        flow: FlowControl,
        queues: Sequence[ReadyQueue],
        *,
        report_deadlock: bool = False,
        sources_wait: bool = True,
    ) -> None:
        super().__init__(
            nodes,
            streams,
            graph_inputs,
            flow,
            queues,
            report_deadlock=report_deadlock,
            sources_wait=sources_wait,
        )

    def turn(self, queue: ReadyQueue, step: Step, error: BaseException | None, stop: bool) -> Step | None:  # noqa: FBT001  # hot
        """As `Schedule.turn`, with the packet past the queue where it may."""
        if error is None and not stop:
            return self.follow(queue, step)
        self.complete(step, error, stop)
        return None if self.deliveries else self.take(queue)

    def follow(self, queue: ReadyQueue, step: Step) -> Step | None:
        """As `turn` for a call that has neither failed nor returned STOP.

        Where a call of `process` has written one packet, and its only reader is an idle node that takes
        packets one by one, the packet goes straight into that node's next step, past the queue of the stream
        and the look at it, and, where that step comes first, past the ready queue. In a chain this is nearly
        every step, and it takes less than half the time.
        """
        node = step.node
        relay = node.relay
        # 1. May the packet go past the queue? `relay` says what the plan fixes: one output, one reader, no
        #    observer, one step at a time at both ends; and that the node is open and the run has not failed.
        #    The rest is asked again each time. A target that is idle and takes packets in order has an empty
        #    queue: else its next step would be prepared already. Ordinary timestamps have bounds that are
        #    theirs plus one; and a step at or before the packet promises nothing behind it, whatever its
        #    offset. Nothing changes before a "no", so that it leaves the whole work to `complete`, which also
        #    refuses a step completed twice.
        if relay is not None and (packets := relay.packets):
            target, output, packet = relay.target, relay.output, packets.pop()
            if (
                step.is_running
                and target.takes_in_order
                and not (packets or target.in_flight or output.will_close)
                and packet.is_ordinary
                and (arrived := packet.stamp) >= (stamp := step.stamp)
            ):
                # 2. The step ends, as in `complete` and `_finish_process`. Here stream and reader get their
                #    bounds; the packet is counted as written and as delivered. The limits of the queue are
                #    not asked: the packet would leave it within this call. The packet is not behind the
                #    offset, so the bound that it gives promises all that there is.
                step.is_running = False
                node.in_flight = 0
                node.steps += 1
                bound = output.bound
                # mostly the same number: to make another one would take longer
                node.forwarded = passed = bound if arrived == stamp else stamp + 1
                stream, reader, following = relay.stream, relay.reader, relay.following
                stream.added += 1
                reader.delivered += 1
                reader.bound = stream.bound = bound
                # 3. The target's step is prepared, as `_look_once` does with a packet that is queued.
                #    `busy` stays: one step ends, one begins, so the run is never idle in between. From
                #    `in_flight = 1` on nothing else prepares the target, which stage 4 relies on.
                relay.port.packet = packet
                following.stamp = arrived
                if target.has_offset and arrived > target.forwarded:
                    self._raise_to_promise(following, arrived)
                target.in_flight = 1
                # 4. The node itself: has anything come while it ran? With an empty queue, and a bound that
                #    is still the one behind its packet, nothing has. Otherwise it is looked at, and what
                #    that sets off is settled. Then `step` may be prepared again or closing, the run may
                #    have an error, and it is *not* promised that the target comes first.
                only = node.only_input
                if only is None or only.bound != passed or only.queue:
                    self._look_once(node, step)
                    if self._touched or self.flow.freed or self._is_failing:
                        self._settle()
                # 5. Which thread runs the target's step? The caller's, if `take` would return just this
                #    step now; the step is then never put into the ready queue. Otherwise it goes there, and
                #    the caller gets what comes first: it is *not* promised that the packet's way goes on in
                #    this thread. While the run is paused, or observers wait to be called, the caller gets
                #    nothing.
                others = queue.others
                key = target.ready_key
                if (
                    (not others or key < others[0])
                    and not self.deliveries
                    and self.state == RUNNING
                    and target.queue is queue
                ):
                    following.is_running = True
                    return following
                heappush(target.queue.others, key)
                target.queue.is_fresh = True
                return None if self.deliveries else self.take(queue)
            packets.append(packet)
        self.complete(step)
        return None if self.deliveries else self.take(queue)

    def observe(self, stream: OutputStream, observer: StreamObserver) -> None:
        """Let one more observer see what is written to a stream: no packet may go past it."""
        super().observe(stream, observer)
        if stream.node is not None:
            stream.node.relay = None

    def unwatch(self, observer: StreamObserver) -> None:
        """Let an observer that watches see nothing that is written from now on."""
        super().unwatch(observer)
        stream = observer.watches
        if stream is not None and not observer.is_claimed and stream.node is not None:
            self._find_relay(stream.node)

    def _bind(self, node: Node) -> None:
        super()._bind(node)
        policy = node.policy
        is_plain = _is_plain(policy)
        node.only_input = policy.inputs[0] if is_plain else None
        node.takes_in_order = is_plain and node.in_order is None and not _does_more(policy)
        node.advance = short_advance(policy) or node.advance
        self._find_relay(node)

    def _begin_to_fail(self) -> None:
        super()._begin_to_fail()
        for node in self.nodes:
            node.relay = None

    def _prepare_close(self, node: Node) -> None:
        node.takes_in_order = False
        node.relay = None
        super()._prepare_close(node)

    def _look_after(self, node: Node, step: Step) -> None:
        """Look at a node whose call of `process` has ended, unless nothing has come meanwhile."""
        if node.in_order is not None:
            self._look(node)
            return
        only = node.only_input
        if only is None or only.queue or only.bound != step.stamp + 1 or step.stamp > MAX:
            self._look_once(node, step)

    def _find_relay(self, node: Node) -> None:
        """Make the relay of a node where there can be one: it has opened, or an observer has left."""
        if node.state != OPENED or self._is_failing or node.in_order is not None or not node.inputs:
            return
        if len(node.outputs) != 1 or node.outputs[0].observers or len(node.outputs[0].readers) != 1:
            return
        reader = node.outputs[0].readers[0]
        target = reader.node
        if target is not None and target is not node and len(target.inputs) == 1 and target.in_order is None:
            node.relay = Relay(node.step.out_ports[0], reader, target)


# --- input sets -----------------------------------------------------------------------------------


def short_advance(policy: InputStreamHandler) -> Advance | None:
    """Return what does the same as `policy.bind()` in less time; None where nothing is known to.

    A node with one stream, or with one set of streams, needs no loops over sets and few calls, which saves
    0.3 us in each step with one stream and 1.5 us with two.
    """
    if policy.decides_itself() or len(policy.sets) != 1:
        return None
    only = policy.sets[0]
    if len(only.positions) != len(policy.inputs):
        return None
    if policy.batch_size > 1 or _does_more(policy):
        return policy.advance_with(_look_at(policy, only), only.fill)
    if len(policy.inputs) == 1:
        return _single_stream(policy, policy.inputs[0])
    return _one_set(policy, only, policy.inputs)


def _is_plain(policy: InputStreamHandler) -> bool:
    """Return whether one stream alone decides when the node is ready."""
    return len(policy.inputs) == 1 and policy.batch_size == 1 and not policy.decides_itself()


def _does_more(policy: InputStreamHandler) -> bool:
    """Return whether there is more to it than taking whole input sets when they are ready."""
    return policy.process_bounds or policy.takes_late


def _look_at(policy: InputStreamHandler, only: SyncSet) -> Look:
    """Return what `look` does for a node all of whose streams are kept in step, without a loop over sets."""

    def look() -> int:
        t = only.look()
        if t == NOT_READY:
            policy.waits_at = only.waits_at
        return t

    return look


def _single_stream(policy: InputStreamHandler, stream: InputStream) -> Advance:
    """Return what `SyncSet.look` and `fill` do for a node with one stream."""
    queue = stream.queue

    def advance(inputs: Sequence[Input]) -> int:
        if queue:
            packet = queue.popleft()
            stream.delivered += 1
            port = inputs[0]
            port.packet = packet
            if stream.is_full and len(queue) < stream.max_size:
                stream.flow.became_free(stream)
            if stream.bound == DONE:
                port.done = not queue
            return packet.stamp
        bound = stream.bound
        if bound >= ONE_OVER_POSTSTREAM:
            return READY_FOR_CLOSE
        policy.waits_at = bound
        return NOT_READY

    return advance


def _one_set(  # noqa: C901  # hot: a call for each half costs 10 % of a join
    policy: InputStreamHandler, only: SyncSet, streams: Sequence[InputStream]
) -> Advance:
    """Return what `SyncSet.look` and `fill` do for a node all of whose streams are kept in step."""

    def advance(inputs: Sequence[Input]) -> int:  # noqa: C901  # as above
        least_bound = least_packet = DONE
        for stream in streams:
            queue = stream.queue
            if queue:
                t = queue[0].stamp
                if t < least_packet:  # min() costs a call  # noqa: PLR1730
                    least_packet = t
            elif stream.bound < least_bound:
                least_bound = stream.bound
        if least_bound <= least_packet:
            if least_bound >= ONE_OVER_POSTSTREAM:
                return only.finished()
            policy.waits_at = only.waits_at = least_bound
            return NOT_READY
        only.last = least_packet
        for port in inputs:
            stream = port.stream
            queue = stream.queue
            if queue and queue[0].stamp == least_packet:
                port.packet = queue.popleft()
                stream.delivered += 1
                if stream.is_full and len(queue) < stream.max_size:
                    stream.flow.became_free(stream)
            else:
                port.packet = stream.pop_at(least_packet)  # an empty one
            if stream.bound == DONE:
                port.done = not queue
        return least_packet

    return advance
