"""The input policy that gives a node, at each tick, the last reading of each sensor, unless it is too old."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock import NOT_READY, READY_FOR_CLOSE, InputStreamHandler, Packet, Timestamp
from penstock.errors import InvalidArgumentError
from penstock_room_sensors.messages.options_pb2 import FreshReadingsOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock import Input
    from penstock.lowlevel import InputStream

#: The reasons for which readings count as dropped.
OVERTAKEN: Final = "a newer reading came before the tick"
TOO_OLD: Final = "too old at the tick"
NO_TICK: Final = "no tick came after it"

_END: Final = int(Timestamp.ONE_OVER_POSTSTREAM)
_MIN: Final = int(Timestamp.MIN)
_MAX: Final = int(Timestamp.MAX)


class FreshReadings(InputStreamHandler):
    """Makes the node ready at each packet of the tick stream, with the last fresh reading of each sensor.

    The last reading of a stream is its newest packet at or before the tick; it is fresh up to `max_age`
    after its timestamp, that moment included. It keeps its timestamp, and is shown at each tick until a
    newer one comes or it is too old; then the input is empty, so a sensor that has failed does not repeat
    its last reading without end. With a `max_age` of 3::

        TICK     1   3   4   6   9   done
        SENSOR   .   2   4   5
        calls    1   3   4   6   9   close
        sees     -   2   4   5   -

    In a graph::

        input_stream_handler {
          input_stream_handler: "FreshReadings"
          options { [penstock_room_sensors.FreshReadingsOptions.ext] { tick: "TICK" max_age: 500000 } }
        }

    A tick waits until every sensor's stream is settled up to its timestamp. So results do not depend on
    the order of arrival, and a stream without packets must advance its bound.

    The node closes when the tick stream is done, even if other streams have packets. Settled timestamps
    without a tick never make it ready, not even with process bounds. A reading at PreStream or PostStream
    is fresh only at a tick of the same timestamp. A reading counts as delivered once, however often it is
    shown; a reading that was shown at no tick counts as dropped, with the reason.

    Options `FreshReadingsOptions`: `tick`, the tag of the tick stream (the node's first input);
    `max_age`, in timestamp units, required.
    """

    def prepare(self, inputs: Sequence[InputStream]) -> None:
        """Get ready for a run.

        Raises:
            InvalidArgumentError: `max_age` is missing or negative, or not exactly one input has the tag
                `tick`.
        """
        super().prepare(inputs)
        options = self.options.get(FreshReadingsOptions)
        self._max_age: int = options.max_age
        self._tick = 0
        if self.inputs:  # a source has none; it gets this policy when the whole graph has it
            self._tick = self._position_of(options.tick) if options.HasField("tick") else 0
            self._check_age(is_given=options.HasField("max_age"))
        self._last = [_LastReading(stream) for stream in self.inputs]
        self._sensors = [last for position, last in enumerate(self._last) if position != self._tick]

    def _position_of(self, tag: str) -> int:
        node = self._node_name()
        node_inputs = self.inputs[0].node.step.inputs.ids()  # type: ignore[union-attr]  # reading ends have a node
        found = [position for position, (one, _) in enumerate(node_inputs) if one == tag]
        if len(found) == 1:
            return found[0]
        tags = ", ".join(repr(one) for one, _ in node_inputs)
        raise InvalidArgumentError(
            f"node {node!r}: tick of the fresh readings is {tag!r}, but {len(found)} inputs have that tag, "
            f"and it must be 1; the tags are: {tags}",
            node=node,
        )

    def _check_age(self, *, is_given: bool) -> None:
        if is_given and self._max_age >= 0:
            return
        node = self._node_name()
        found = f"is {self._max_age}" if is_given else "is missing"
        raise InvalidArgumentError(
            f"node {node!r}: max_age of fresh readings {found}, but must be given as 0 or more timestamp "
            "units (microseconds by convention)",
            node=node,
        )

    def _node_name(self) -> str:
        node = self.inputs[0].node
        return "" if node is None else node.name

    def look(self) -> int:
        """Return the oldest tick's timestamp, NOT_READY or READY_FOR_CLOSE; takes readings up to there."""
        ticks = self.inputs[self._tick]
        t = ticks.head_or_bound()
        if t >= _END:
            self.discard(NO_TICK)
            return READY_FOR_CLOSE
        for last in self._sensors:
            last.advance(t)  # no tick can come before t
            if last.packet is not None and not self._is_fresh(last.packet.stamp, t):
                last.release(TOO_OLD)
        if ticks.queue and not self.blocking():
            return t
        self.waits_at = t
        return NOT_READY

    def _is_fresh(self, stamp: int, t: int) -> bool:
        if stamp == t:
            return True
        return stamp >= _MIN and t <= _MAX and t - stamp <= self._max_age

    def blocking(self) -> Sequence[InputStream]:
        """Return the tick stream, or if it has a packet the streams that are not settled at its timestamp."""
        ticks = self.inputs[self._tick]
        if not ticks.queue:
            return [ticks]
        t = ticks.queue[0].stamp
        return [last.stream for last in self._sensors if last.stream.bound <= t]

    def fill(self, timestamp: int, inputs: Sequence[Input]) -> None:
        """Take the tick, and show the last reading of every sensor; `look` has released those too old."""
        for position, (port, last) in enumerate(zip(inputs, self._last, strict=True)):
            if position == self._tick:
                port.fill(port.stream.pop())
            else:
                last.show(port, timestamp)

    def discard(self, reason: str) -> None:
        """Release all readings, those in queues too: no tick will come for them."""
        for last in self._sensors:
            last.release(reason)
            last.stream.drop_all(reason)


class _LastReading:
    """The newest packet taken from one stream.

    It is taken out of the queue, since a full queue would throttle the source of the next reading.
    """

    __slots__ = ("_is_shown", "packet", "stream")

    def __init__(self, stream: InputStream) -> None:
        self.stream: Final = stream
        self.packet: Packet | None = None
        self._is_shown = False

    def advance(self, t: int) -> None:
        """Take the packets up to `t`, and keep the last one."""
        queue = self.stream.queue
        while queue and queue[0].stamp <= t:
            self.release(OVERTAKEN)
            self.packet = self.stream.pop()
            self._is_shown = False

    def release(self, reason: str) -> None:
        """Release the packet; if it was shown at no tick, count it as dropped for this reason."""
        if self.packet is None:
            return
        self.stream.flow.garbage.append(self.packet)  # freed outside the run's lock
        self.packet = None
        if not self._is_shown:
            self.stream.disuse(reason, 1)

    def show(self, port: Input, t: int) -> None:
        """Show the packet at a tick; without one, an empty packet at the tick's timestamp."""
        if self.packet is None:
            port.fill(Packet(timestamp=t))
        else:
            port.fill(self.packet)
            self._is_shown = True
