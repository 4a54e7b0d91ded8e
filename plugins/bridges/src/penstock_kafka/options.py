"""The options of the calculators of this pack."""

from __future__ import annotations

from enum import Enum
from typing import Final

import attrs

from penstock.errors import InvalidArgumentError

#: Settings of librdkafka that a graph may make: how fast, how much, how long. All others come from the
#: application: they load libraries, run commands, read files, open addresses, or are passwords.
FROM_A_GRAPH: Final = frozenset([
    "acks", "allow.auto.create.topics", "api.version.request", "api.version.request.timeout.ms",
    "auto.offset.reset", "batch.num.messages", "batch.size", "broker.address.family", "broker.address.ttl",
    "broker.version.fallback", "check.crcs", "client.id", "client.rack", "compression.codec",
    "compression.level", "compression.type", "connections.max.idle.ms", "delivery.timeout.ms",
    "enable.gapless.guarantee", "enable.idempotence", "fetch.error.backoff.ms", "fetch.max.bytes",
    "fetch.message.max.bytes", "fetch.min.bytes", "fetch.queue.backoff.ms", "fetch.wait.max.ms",
    "group.instance.id", "group.protocol", "group.remote.assignor", "heartbeat.interval.ms",
    "isolation.level", "linger.ms", "log_level", "max.in.flight.requests.per.connection",
    "max.partition.fetch.bytes", "max.poll.interval.ms", "message.copy.max.bytes", "message.max.bytes",
    "message.send.max.retries", "message.timeout.ms", "metadata.max.age.ms",
    "partition.assignment.strategy", "partitioner", "queue.buffering.max.kbytes",
    "queue.buffering.max.messages", "queue.buffering.max.ms", "queued.max.messages.kbytes",
    "queued.min.messages", "receive.message.max.bytes", "reconnect.backoff.max.ms", "reconnect.backoff.ms",
    "request.required.acks", "request.timeout.ms", "retries", "retry.backoff.max.ms", "retry.backoff.ms",
    "sasl.mechanism", "sasl.mechanisms", "security.protocol", "session.timeout.ms",
    "socket.connection.setup.timeout.ms", "socket.keepalive.enable", "socket.max.fails",
    "socket.nagle.disable", "socket.receive.buffer.bytes", "socket.send.buffer.bytes", "socket.timeout.ms",
    "sticky.partitioning.linger.ms", "topic.metadata.refresh.interval.ms", "topic.metadata.refresh.sparse",
])  # fmt: skip


@attrs.frozen
class Setting:
    """A setting of librdkafka, as in its CONFIGURATION.md.

    Attributes:
        key: one of `FROM_A_GRAPH`, such as "linger.ms".
        value: as text.

    Raises:
        InvalidArgumentError: the key is none of those.
    """

    key: str = ""
    value: str = ""

    def __attrs_post_init__(self) -> None:
        if self.key not in FROM_A_GRAPH:
            raise InvalidArgumentError(
                f"Kafka option config {self.key!r} cannot be set by a graph: passwords, files, addresses and "
                "what runs code come from the application, in the side packet CONFIG, a dict"
            )


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
            raise InvalidArgumentError(
                f'Kafka option start_at is {self.start_at!r}; it must be "earliest" or "latest"'
            )
        if self.commit_interval_ms <= 0:
            raise InvalidArgumentError(
                f"Kafka option commit_interval_ms is {self.commit_interval_ms}; it must be above 0"
            )


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
