"""`MqttMessage`: one message of a topic."""

from __future__ import annotations

import attrs


@attrs.frozen
class MqttMessage:
    """One message of a topic."""

    #: The topic that it was published to; bytes that are no UTF-8 are written as "\\xff".
    topic: str
    value: bytes
    #: 0 or 1.
    qos: int
    #: Whether the broker kept it: it was published before the subscription.
    is_retained: bool
    #: Whether the broker says that it has sent the message before.
    is_again: bool
