"""`LimitedStreams`: the packets that wait in a limiter, and the way of each to its output or to the ledger.

Invariant: each main packet is released or dropped, in order; a packet of an auxiliary input follows the
decision on the main packet that it belongs to.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, PRESTREAM, UNSET, next_allowed

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Output, Packet


def declare_limited(cc: CalculatorContract) -> None:
    """Declare the ports that limiters have in common, and ask for the policy that they need.

    Raises:
        InvalidArgumentError: there is no untagged input, or there are more outputs than inputs.
    """
    count = cc.inputs.count("")
    if not count or cc.outputs.count("") > count:
        raise InvalidArgumentError(
            f"the streams to limit are {count} untagged inputs and {cc.outputs.count('')} untagged outputs; "
            "connect at least one, the main input, and an output for each"
        )
    for i in range(count):
        cc.inputs[i].set_any("packets that follow the main packets" if i else "the packets to limit")
        cc.outputs[i].set_same_as(cc.inputs[i], "the packets that pass")
    cc.inputs["FINISHED"].set_any("settles timestamps that have left the limited part; a back edge")
    cc.outputs["ALLOW"].set(bool, "the decision on each main packet").optional()
    cc.set_input_stream_handler("ImmediateInputStreamHandler")
    cc.set_process_timestamp_bounds()


class LimitedStreams:
    """The queues of a limiter's untagged inputs, input 0 being the main one.

    Made in `open`, where it forwards the headers. In each `process` a limiter calls `take`, then `release`
    and `drop` for main packets in order, then `settle`.
    """

    def __init__(self, cc: CalculatorContext) -> None:
        self._data: Final = range(cc.inputs.count(""))
        self._queues: Final[list[deque[Packet]]] = [deque() for _ in self._data]
        #: Main packets without a decision, oldest first.
        self.main: Final = self._queues[0]
        self._decisions: Final = _Decisions()
        for i in self._data:
            if not cc.inputs[i].header.is_empty():
                cc.outputs[i].set_header(cc.inputs[i].header)

    def take(self, cc: CalculatorContext) -> None:
        """Queue the packets of a call."""
        for i in self._data:
            if not cc.inputs[i].is_empty():
                self._queues[i].append(cc.inputs[i].packet)

    def release(self, cc: CalculatorContext) -> int:
        """Let the oldest main packet pass; return its timestamp."""
        packet = self.main.popleft()
        cc.outputs[0].add_packet(packet)
        self._tell(cc, packet.stamp, is_allowed=True)
        return packet.stamp

    def drop(self, cc: CalculatorContext, reason: str) -> int:
        """Drop the oldest main packet, and count it with a reason; return its timestamp."""
        cc.inputs[0].count_dropped(reason)
        stamp = self.main.popleft().stamp
        self._tell(cc, stamp, is_allowed=False)
        return stamp

    def settle(self, cc: CalculatorContext) -> None:
        """Pass or drop the auxiliary packets that are decided, and settle every output up to there."""
        main = cc.inputs[0].packet.stamp
        bound = _settled_below(self.main, main)
        _settle(cc.outputs[0], bound)
        if not self.main and "ALLOW" in cc.outputs:  # there is no decision yet on a queued packet
            _settle(cc.outputs["ALLOW"], bound)
        for i in self._data[1:]:
            self._pass_auxiliary(cc, i, bound)
        if len(self._data) > 1:
            stamps = (cc.inputs[i].packet.stamp for i in self._data)
            self._decisions.forget_below(min(map(_settled_below, self._queues, stamps)))

    def drop_rest(self, cc: CalculatorContext) -> None:
        """Count the packets that still wait as dropped, at the end."""
        for i in self._data:
            cc.inputs[i].count_dropped("not released before the end", len(self._queues[i]))
            self._queues[i].clear()

    def _tell(self, cc: CalculatorContext, stamp: int, *, is_allowed: bool) -> None:
        if "ALLOW" in cc.outputs:
            cc.outputs["ALLOW"].add(is_allowed, stamp)
        if len(self._data) > 1:
            self._decisions.add(stamp, is_allowed=is_allowed)

    def _pass_auxiliary(self, cc: CalculatorContext, i: int, settled: int) -> None:
        """Pass or drop the packets of input `i` whose time is decided."""
        queue, port = self._queues[i], cc.inputs[i]
        while queue and queue[0].stamp < settled:
            packet = queue.popleft()
            if self._decisions.holds_at(packet.stamp):
                cc.outputs[i].add_packet(packet)
            else:
                port.count_dropped("main packet dropped")
        _settle(cc.outputs[i], _settled_below(queue, port.packet.stamp))


class _Decisions:
    """The decisions on main packets, each of which holds until the next one's timestamp."""

    def __init__(self) -> None:
        self._made: deque[tuple[int, bool]] = deque([(UNSET, True)])

    def add(self, stamp: int, *, is_allowed: bool) -> None:
        """Add a decision; timestamps ascend."""
        self._made.append((stamp, is_allowed))

    def holds_at(self, stamp: int) -> bool:
        """Return whether packets at `stamp` may pass."""
        return next(is_allowed for since, is_allowed in reversed(self._made) if since <= stamp)

    def forget_below(self, stamp: int) -> None:
        """Forget the decisions that no longer hold at `stamp`."""
        while len(self._made) > 1 and self._made[1][0] <= stamp:
            self._made.popleft()


def _settled_below(queue: deque[Packet], stamp: int) -> int:
    """Return the bound below which an input is decided: queued and further packets are at or above it.

    Args:
        queue: packets of the input that wait here.
        stamp: the timestamp of the input's packet; an empty packet carries the settled timestamp.
    """
    if queue:
        return queue[0].stamp
    # before anything has settled even PRESTREAM may still come
    return PRESTREAM if stamp < PRESTREAM else next_allowed(stamp)


def _settle(output: Output, bound: int) -> None:
    """Set the bound of an output; close it where no packet can follow."""
    if bound > MAX:
        output.close()
    else:
        output.set_next_timestamp_bound(bound)
