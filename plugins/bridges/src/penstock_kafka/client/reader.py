"""A member of a group: sends the messages of topics, and commits what the graph has done with."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Final, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from penstock import STOP
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock.explain import GRAPH
from penstock.log import get_logger, place
from penstock.lowlevel import MAX, MIN
from penstock_bridges import Sweep
from penstock_kafka.client.settings import LIBRDKAFKA, refused, settings_of, teller
from penstock_kafka.message import KafkaMessage
from penstock_kafka.options import Times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from confluent_kafka import Message

    from penstock import CalculatorContext
    from penstock.lowlevel import Stop
    from penstock_kafka.options import KafkaSourceCalculatorOptions

_logger = get_logger(__name__)

#: Messages that one call sends at most: full queues stop the source between calls.
_AT_ONCE: Final = 64
#: How long a call waits for a message; the run can end, and offsets be committed, in between.
_WAIT_S: Final = 0.05
#: The last millisecond of the year 9999, after 1970.
_LATEST_MS: Final = 253_402_300_799_999
#: How often the source asks whether all has been delivered.
_LOOK_S: Final = 0.01
#: Errors that pass by themselves: others share the partitions now, or the graph was slow.
_PASSING: Final = frozenset(
    (KafkaError._PARTITION_EOF, KafkaError._MAX_POLL_EXCEEDED)  # noqa: SLF001  # their public names
)


class Reader:
    """Reads topics for a source in a run; threads take turns.

    Args:
        cc, options: of the source.
        client: makes the consumer of some settings.
        clock: shows seconds, and never goes back.

    Raises:
        InvalidArgumentError: settings are missing or wrong.
        PermissionDeniedError: the graph may not connect to a broker.
    """

    def __init__(
        self,
        cc: CalculatorContext,
        options: KafkaSourceCalculatorOptions,
        client: Callable[[dict[str, Any]], Consumer] = Consumer,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._options: Final = options
        self._clock: Final = clock
        self._view = cc.service(GRAPH)
        self._name = cc.node_name
        settings = {
            "auto.offset.reset": options.start_at,
            "error_cb": teller(self._name),
            "logger": LIBRDKAFKA,
            **settings_of(cc, options),
            "group.id": options.group_id,
            "enable.auto.commit": False,
            "enable.partition.eof": options.stop_at_end,
        }
        try:
            self._consumer = client(settings)
            self._consumer.subscribe(
                list(options.topic), on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
            )
        except KafkaException as error:
            raise refused(f"the Kafka reader cannot read {', '.join(options.topic)}", error) from error
        #: (topic, partition) → the offset after the last message that was sent.
        self._sent: dict[tuple[str, int], int] = {}
        #: What `_sent` was when `_sweep` began.
        self._followed: dict[tuple[str, int], int] = {}
        self._committed: dict[tuple[str, int], int] = {}
        self._sweep: Sweep | None = None
        self._next_sweep = clock() + options.commit_interval_ms / 1000
        self._next_look = 0.0
        #: With `stop_at_end`: this member's partitions; whether the group has given out all; the partitions
        #: read to their end; and whether these were all once.
        self._partitions: set[tuple[str, int]] = set()
        self._is_settled = False
        self._read: set[tuple[str, int]] = set()
        self._is_ending = False
        self._count = 0

    def step(self, cc: CalculatorContext) -> Stop | None:
        """Send what there is; commit what was delivered.

        Raises:
            UnavailableError: a topic does not exist, or the brokers refuse.
        """
        self._follow()
        if self._is_at_end():
            return self._end(cc)
        first = self._consumer.poll(_WAIT_S)
        if first is None:
            return None
        for message in (first, *self._consumer.consume(_AT_ONCE - 1, 0)):
            error = message.error()
            if error is None:
                self._send(cc, message)
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                self._read.add(_place_of(message))
            elif error.code() in _PASSING:
                _logger.warning("%s", error.str(), extra=place(node=self._name))
            else:
                raise UnavailableError(
                    f"Kafka reader: topic {message.topic() or ', '.join(self._options.topic)}: {error.str()}"
                )
        return None

    def close(self) -> None:
        """Commit what was delivered, unless the run failed, and leave the group; the rest comes again."""
        try:
            self._look()
        finally:
            self._consumer.close()

    # --- packets --------------------------------------------------------------------------------

    def _send(self, cc: CalculatorContext, message: Message) -> None:
        if self._refuses(message):
            self._refuse(cc, message)
            return
        stamp = self._stamp_of(cc, message)
        value, key = message.value(), message.key()
        if "VALUE" in cc.outputs and value is not None:
            cc.outputs["VALUE"].add(_bytes(value), stamp)
        if "KEY" in cc.outputs and key is not None:
            cc.outputs["KEY"].add(_bytes(key), stamp)
        if "MESSAGE" in cc.outputs:
            cc.outputs["MESSAGE"].add(_whole(message), stamp)
        self._settle(cc, message, stamp)

    def _settle(self, cc: CalculatorContext, message: Message, stamp: int) -> None:
        """Note that a message was sent at a timestamp."""
        for output in cc.outputs:
            if output.bound <= stamp:
                output.set_next_timestamp_bound(stamp + 1)
        topic, partition = _place_of(message)
        self._sent[topic, partition] = int(message.offset() or 0) + 1
        self._read.discard((topic, partition))

    def _refuses(self, message: Message) -> bool:
        """Return whether the time of a message is one after which no stream would go on."""
        if self._options.times is Times.COUNT:
            return False
        kind, milliseconds = message.timestamp()
        return bool(kind) and milliseconds > _LATEST_MS

    def _refuse(self, cc: CalculatorContext, message: Message) -> None:
        topic, partition = _place_of(message)
        if "REFUSED" not in cc.outputs:
            raise InvalidArgumentError(
                f"the Kafka reader got a message at {topic} {partition} offset {message.offset()} that has a "
                f"time after the year 9999 ({message.timestamp()[1]} ms); connect the output REFUSED, and "
                "the source goes on behind such messages; or set `times: COUNT`"
            )
        cc.counter("refused").increment()
        stamp = max(0, *(output.bound for output in cc.outputs))
        cc.outputs["REFUSED"].add(_whole(message), stamp)
        self._settle(cc, message, stamp)

    def _stamp_of(self, cc: CalculatorContext, message: Message) -> int:
        """Return the message's timestamp, or the next that is free."""
        if self._options.times is Times.COUNT:
            self._count += 1
            return self._count - 1
        kind, milliseconds = message.timestamp()
        own = milliseconds * 1000 if kind and milliseconds > 0 else MIN
        stamp = max(own, 0, *(output.bound for output in cc.outputs))
        if stamp > MAX:
            raise InvalidArgumentError(
                f"the Kafka reader has no timestamp left for the message at {_place_of(message)}"
            )
        return stamp

    # --- delivery -------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Begin a sweep when it is time, look how far the one under way has come, and commit."""
        now = self._clock()
        if self._sweep is not None:
            if now >= self._next_look:
                self._next_look = now + _LOOK_S
                self._look()
        elif now >= self._next_sweep and self._sent != self._committed:
            self._begin_sweep()

    def _begin_sweep(self) -> None:
        self._next_sweep = self._clock() + self._options.commit_interval_ms / 1000
        self._followed = dict(self._sent)
        self._sweep = Sweep(self._view, self._name)

    def _look(self) -> None:
        if self._sweep is None or not self._sweep.is_over():
            return
        self._sweep = None
        followed = {place: offset for place, offset in self._followed.items() if place in self._sent}
        new = {place: offset for place, offset in followed.items() if self._committed.get(place) != offset}
        if not new:
            return
        offsets = [TopicPartition(topic, part, offset) for (topic, part), offset in new.items()]
        try:
            answers = self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            self._tell_not_committed(error.args[0].str())
            return
        # No exception where some partitions were refused, and others not.
        for answer in answers or ():
            if answer.error is not None:
                at = (answer.topic, answer.partition)
                del new[at]
                self._tell_not_committed(f"{answer.topic} {answer.partition}: {answer.error.str()}")
        self._committed.update(new)

    def _tell_not_committed(self, why: str) -> None:
        words = "offsets were not committed, their messages may come again: %s"
        _logger.warning(words, why, extra=place(node=self._name))

    def _assigned(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        """Note the new partitions of this member, which may keep others."""
        self._partitions.update((one.topic, one.partition) for one in partitions)
        self._is_settled = True

    def _revoked(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        """Commit what was delivered, and forget the partitions: what comes again there is another's now."""
        self._look()
        for one in partitions:
            for known in (self._sent, self._committed):
                known.pop((one.topic, one.partition), None)
            self._read.discard((one.topic, one.partition))
        self._partitions.difference_update((one.topic, one.partition) for one in partitions)
        self._is_settled = False  # the group assigns its partitions again

    # --- the end --------------------------------------------------------------------------------

    def _is_at_end(self) -> bool:
        """Return whether this member has read all of its partitions. It takes no others after that."""
        if self._options.stop_at_end and self._is_settled and self._partitions <= self._read:
            self._is_ending = True
        return self._is_ending

    def _end(self, cc: CalculatorContext) -> Stop | None:
        """Wait until all was delivered, one look a call; then commit and stop."""
        for output in cc.outputs:
            if output.bound <= MAX:
                output.set_next_timestamp_bound(MAX + 1)  # nobody waits for a packet that does not come
        if self._sent != self._committed:
            if self._sweep is None:
                self._begin_sweep()
            self._consumer.poll(_LOOK_S)  # stays in the group
            self._look()
            return None
        return STOP


def _place_of(message: Message) -> tuple[str, int]:
    return str(message.topic()), int(message.partition() or 0)


def _whole(message: Message) -> KafkaMessage:
    topic, partition = _place_of(message)
    value, key = message.value(), message.key()
    kind, milliseconds = message.timestamp()
    headers = cast("Iterable[tuple[str, str | bytes | None]]", message.headers() or ())
    return KafkaMessage(
        topic,
        partition,
        int(message.offset() or 0),
        None if key is None else _bytes(key),
        None if value is None else _bytes(value),
        tuple((name, _bytes(content)) for name, content in headers),
        milliseconds if kind else None,
    )


def _bytes(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content or b"")
