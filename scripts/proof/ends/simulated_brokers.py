"""Kafka's brokers and their clients in a simulated world: as much as `penstock_kafka` calls.

A topic has partitions of messages. A group has one member of ours, and at times a rival: then partitions are
taken away and come back, and what was not committed is read again. Commits fail, get lost on their way back,
or fail for single partitions. What is committed is checked at once, by a function of the trial.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from confluent_kafka import KafkaError, KafkaException, TopicPartition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simulated_world import World

    Place: TypeAlias = tuple[str, int]

TOPIC: Final = "events"
#: The time of the first message, in milliseconds.
_BEGAN_MS: Final = 1_700_000_000_000


class Message(NamedTuple):
    """As `confluent_kafka.Message`."""

    where: int
    place: int
    milliseconds: int
    fault: KafkaError | None = None

    def error(self) -> KafkaError | None:
        """Return what this tells instead of a message."""
        return self.fault

    def topic(self) -> str:
        """Return the topic."""
        return TOPIC

    def partition(self) -> int:
        """Return the partition."""
        return self.where

    def offset(self) -> int:
        """Return where in the partition it is."""
        return self.place

    def value(self) -> bytes:
        """Return the content, which says where it is."""
        return f"{self.where} {self.place}".encode()

    def key(self) -> None:
        """There is none."""

    def headers(self) -> None:
        """There are none."""

    def timestamp(self) -> tuple[int, int]:
        """Return the kind of time, and the time."""
        return 1, self.milliseconds


class Brokers:
    """A topic, and what a group has committed.

    Args:
        world: where they are.
        check: called with each partition and offset that is committed, and with the one before.
        may_fail: whether anything goes wrong.
    """

    def __init__(self, world: World, check: Callable[[int, int, int], object], *, may_fail: bool) -> None:
        chance = world.random
        self.world: Final = world
        self.check: Final = check
        self.may_fail: Final = may_fail
        self.messages: Final[list[list[Message]]] = [
            [
                Message(part, place, _BEGAN_MS + chance.randrange(20))
                for place in range(world.which.limited(chance.randrange(9)))
            ]
            for part in range(chance.randint(1, 3))
        ]
        self.committed: Final = [0] * len(self.messages)
        #: The member of ours; None between runs.
        self.member: Member | None = None
        #: Called for messages that a rival has read: partition, and the offset behind them.
        self.rival: Callable[[int, int], object] = _nothing

    def join(self, settings: dict[str, Any]) -> Member:
        """Return a new member; a former one has left."""
        self.member = Member(self, settings)
        return self.member

    def commit(self, part: int, offset: int) -> None:
        """Move the place of the group."""
        before = self.committed[part]
        self.committed[part] = offset
        self.check(part, before, offset)


class Member:
    """As `confluent_kafka.Consumer`."""

    def __init__(self, brokers: Brokers, settings: dict[str, Any]) -> None:
        self._brokers: Final = brokers
        self._world: Final = brokers.world
        self._tells_ends: Final = bool(settings["enable.partition.eof"])
        self._callbacks: dict[str, Any] = {}
        #: Partition → the next offset.
        self.at: Final[dict[int, int]] = {}
        #: Partition → how often it was given to this member.
        self.assigned: Final[Counter[int]] = Counter()
        #: Partitions of which it knows the end.
        self.told: Final[set[int]] = set()
        #: Whether all partitions are taken away before new ones are given, or only some.
        self._is_eager: Final = self._world.random.random() < 0.5  # noqa: PLR2004
        #: Whether the group has said which partitions are ours; what was ours when we left.
        self.is_settled = False
        self.owned: list[int] = []
        self._is_closed = False

    def subscribe(self, topics: Sequence[str], **callbacks: Any) -> None:
        """Join; partitions come later, in `poll`."""
        if list(topics) != [TOPIC]:
            raise KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART))
        self._callbacks = callbacks

    def poll(self, timeout: float) -> Message | None:
        """Return a message or what else there is to tell; None where nothing comes so long."""
        chance = self._world.random
        self._world.sleep(chance.random() * timeout)
        if not self.is_settled or (self._brokers.may_fail and chance.random() < 0.05):  # noqa: PLR2004
            return self._balance() if self.is_settled or chance.random() < 0.7 else self._next()  # noqa: PLR2004
        return self._next()

    def consume(self, count: int, timeout: float) -> list[Message]:  # noqa: ARG002  # the interface
        """Return what is there."""
        wanted = self._world.random.randint(0, min(count, 4))
        found = [self._next() for _ in range(wanted)]
        return [one for one in found if one is not None]

    def _next(self) -> Message | None:
        chance = self._world.random
        parts = [part for part, at in self.at.items() if at < len(self._brokers.messages[part])]
        ended = [part for part in self.at if part not in parts and part not in self.told]
        if self._tells_ends and ended and (not parts or chance.random() < 0.3):  # noqa: PLR2004
            part = chance.choice(ended)
            self.told.add(part)
            return Message(part, self.at[part], 0, KafkaError(KafkaError._PARTITION_EOF))  # noqa: SLF001  # public
        if not parts or chance.random() < 0.2:  # noqa: PLR2004
            return None
        part = chance.choice(parts)
        self.at[part] += 1
        return self._brokers.messages[part][self.at[part] - 1]

    def _balance(self) -> Message | None:
        """Take partitions away, or give some."""
        chance, brokers = self._world.random, self._brokers
        mine = sorted(self.at)
        gone = mine if self._is_eager else [part for part in mine if chance.random() < 0.5]  # noqa: PLR2004
        if gone and self.is_settled:
            self.is_settled = False
            is_lost = chance.random() < 0.3  # noqa: PLR2004
            self._world.tell(f"partitions {gone} are {'lost' if is_lost else 'revoked'}")
            if is_lost:
                self._leave(gone)
            self._callbacks["on_lost" if is_lost else "on_revoke"](self, _places(gone))
            self._leave(gone)
            for part in gone:  # the rival does with some of them, and commits
                end = chance.randint(brokers.committed[part], len(brokers.messages[part]))
                brokers.rival(part, end)
                if end > brokers.committed[part]:
                    brokers.commit(part, end)
            if is_lost:
                return Message(gone[0], 0, 0, KafkaError(KafkaError._MAX_POLL_EXCEEDED))  # noqa: SLF001
            return None
        free = [part for part in range(len(brokers.messages)) if part not in self.at]
        new = free if not brokers.may_fail else [part for part in free if chance.random() < 0.7]  # noqa: PLR2004
        self._world.tell(f"partitions {new} are assigned")
        self.is_settled = True
        self._callbacks["on_assign"](self, _places(new))
        for part in new:
            self.at[part] = brokers.committed[part]
            self.assigned[part] += 1
            self.told.discard(part)
        return None

    def _leave(self, gone: Sequence[int]) -> None:
        for part in gone:
            self.at.pop(part, None)

    def commit(self, offsets: Sequence[TopicPartition], *, asynchronous: bool) -> list[TopicPartition]:  # noqa: ARG002
        """Commit, or fail in one of some ways."""
        chance, brokers = self._world.random, self._brokers
        if self._is_closed:
            raise RuntimeError("the consumer is closed")
        fails = brokers.may_fail and chance.random() < 0.2  # noqa: PLR2004
        if fails and chance.random() < 0.3:  # noqa: PLR2004
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001  # public
        found = []
        for one in offsets:
            said = TopicPartition(one.topic, one.partition, one.offset)
            if one.partition not in self.at:  # not ours any more
                raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION))
            if fails and chance.random() < 0.5:  # noqa: PLR2004
                said = Refused(one.topic, one.partition, one.offset)
            else:
                brokers.commit(one.partition, one.offset)
            found.append(said)
        self._world.tell(f"commits {[(one.partition, one.offset) for one in offsets]}, gets {found}")
        if fails and chance.random() < 0.3:  # noqa: PLR2004  # the answer is lost
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001
        return found

    def close(self) -> None:
        """Leave the group."""
        self._is_closed = True
        self.owned = sorted(self.at)
        if self.at:
            self._callbacks["on_revoke"](self, _places(sorted(self.at)))
        self.at.clear()


class Refused(TopicPartition):
    """A partition whose offset was not committed."""

    @property
    def error(self) -> KafkaError:  # type: ignore[override]  # an attribute there
        """Say why."""
        return KafkaError(KafkaError.OFFSET_METADATA_TOO_LARGE)


def _places(parts: Sequence[int]) -> list[TopicPartition]:
    return [TopicPartition(TOPIC, part) for part in parts]


def _nothing(*_: object) -> None:
    """There is no rival."""
