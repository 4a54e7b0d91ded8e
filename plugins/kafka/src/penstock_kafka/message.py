"""`KafkaMessage`: one message of a topic, and where it is."""

from __future__ import annotations

import attrs


@attrs.frozen
class KafkaMessage:
    """One message of a topic.

    Attributes:
        topic, partition, offset: where it is.
        key: None if it has none.
        value: None for a tombstone.
        headers: names and values, in order; a name may occur more than once.
        timestamp_ms: when it was made or stored, in milliseconds since 1970; None if it does not say.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int | None
