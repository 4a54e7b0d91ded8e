"""`KafkaMessage`: one message of a topic, and where it is."""

from __future__ import annotations

import attrs


@attrs.frozen
class KafkaMessage:
    """One message of a topic."""

    #: `topic`, `partition`, `offset`: where it is.
    topic: str
    partition: int
    offset: int
    #: None if it has none.
    key: bytes | None
    #: None for a tombstone.
    value: bytes | None
    #: Names and values, in order; a name may occur more than once.
    headers: tuple[tuple[str, bytes], ...]
    #: When it was made or stored, in milliseconds since 1970; None if it does not say.
    timestamp_ms: int | None
