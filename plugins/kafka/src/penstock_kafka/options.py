"""The options of the calculators of this pack."""

from __future__ import annotations

from enum import Enum

import attrs

from penstock.errors import InvalidArgumentError


@attrs.frozen
class Setting:
    """A setting of librdkafka, as in its CONFIGURATION.md.

    Attributes:
        key: such as "security.protocol".
        value: as text.
    """

    key: str = ""
    value: str = ""


class Times(Enum):
    """Which timestamps packets get."""

    #: The message's own, in microseconds; the next free one where that is behind the stream.
    MESSAGE = 0
    #: 0, 1, 2 and on, in each run.
    COUNT = 1


@attrs.frozen
class KafkaSourceCalculatorOptions:
    """Which topics are read, and when what was read counts as done.

    Attributes:
        bootstrap_servers: some brokers, as "10.0.0.5:9092,10.0.0.6:9092".
        topic: those to read.
        group_id: programs with the same one share the partitions of the topics, and their place in them.
        config: further settings of the consumer.
        times: which timestamps packets get.
        start_at: where a group begins that has no place yet: "earliest" or "latest".
        stop_at_end: whether the source ends when it has read all that was there; else it never ends.
        commit_interval_ms: how often the group's place is moved behind what the graph has done with.
    """

    bootstrap_servers: str = ""
    topic: tuple[str, ...] = ()
    group_id: str = ""
    config: tuple[Setting, ...] = ()
    times: Times = Times.MESSAGE
    start_at: str = "earliest"
    stop_at_end: bool = False
    commit_interval_ms: int = 1000

    def __attrs_post_init__(self) -> None:
        if self.start_at not in ("earliest", "latest"):
            raise InvalidArgumentError(f'start_at is {self.start_at!r}; it must be "earliest" or "latest"')
        if self.commit_interval_ms <= 0:
            raise InvalidArgumentError(f"commit_interval_ms is {self.commit_interval_ms}; it must be above 0")


@attrs.frozen
class KafkaSinkCalculatorOptions:
    """Which topic is written.

    Attributes:
        bootstrap_servers: some brokers, as "10.0.0.5:9092,10.0.0.6:9092".
        topic: the one to write.
        config: further settings of the producer.
        close_timeout_ms: how long the end of the run waits for messages under way.
    """

    bootstrap_servers: str = ""
    topic: str = ""
    config: tuple[Setting, ...] = ()
    close_timeout_ms: int = 10_000
