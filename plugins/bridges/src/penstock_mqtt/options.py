"""The options of the calculators of this pack."""

from __future__ import annotations

from enum import Enum

import attrs

from penstock.errors import InvalidArgumentError

#: The largest message of MQTT, in bytes.
LARGEST = 268_435_455


class Times(Enum):
    """Which timestamps packets get."""

    #: When the message arrived, in microseconds since 1970; each later than the one before.
    ARRIVAL = 0
    #: 0, 1, 2 and on, in each run.
    COUNT = 1


class Again(Enum):
    """What becomes of a message that the broker has sent before."""

    #: It is sent like any other.
    SEND = 0
    #: It goes to the output REFUSED: a message that makes every run fail does so once.
    REFUSE = 1


def _check(options: MqttSourceCalculatorOptions | MqttSinkCalculatorOptions, *names: str) -> None:
    for name in names:
        if getattr(options, name) <= 0:
            raise InvalidArgumentError(f"MQTT option {name} is {getattr(options, name)}; it must be above 0")
    if options.give_up_ms < 0:
        raise InvalidArgumentError(f"MQTT option give_up_ms is {options.give_up_ms}; it must be at least 0")
    if not 1 <= options.keepalive_s <= 65_535:  # noqa: PLR2004  # 16 bits
        raise InvalidArgumentError(
            f"MQTT option keepalive_s is {options.keepalive_s}; it must be from 1 to 65535"
        )


@attrs.frozen
class MqttSourceCalculatorOptions:
    """Which topics are read, and when a message counts as done.

    Attributes:
        address: of the broker, as "10.0.0.5:1883".
        topic: filters, with + and # as wildcards; "$share/GROUP/..." shares them with other programs.
        client_id: by which the broker keeps messages while nobody is connected; needed for qos 1.
        qos: 1, at least once, or 0.
        times: which timestamps packets get.
        again: what becomes of a message that the broker has sent before.
        max_payload_bytes: a larger message goes to REFUSED.
        tls: whether the connection is encrypted; its files come in the side packet CONFIG.
        keepalive_s: a broker that is silent for twice as long is given up.
        connect_timeout_ms: how long one attempt to connect may take.
        give_up_ms: after so long without a connection the run fails; 0: never.
        ack_interval_ms: how often messages are acknowledged that the graph has done with.
        stop_when_idle_ms: the source ends when so long no message came and all are acknowledged; 0: never.
    """

    address: str = ""
    topic: tuple[str, ...] = ()
    client_id: str = ""
    qos: int = 1
    times: Times = Times.ARRIVAL
    again: Again = Again.SEND
    max_payload_bytes: int = LARGEST
    tls: bool = False
    keepalive_s: int = 15
    connect_timeout_ms: int = 5000
    give_up_ms: int = 0
    ack_interval_ms: int = 20
    stop_when_idle_ms: int = 0

    def __attrs_post_init__(self) -> None:
        _check(self, "max_payload_bytes", "connect_timeout_ms", "ack_interval_ms")
        if self.qos not in (0, 1):
            raise InvalidArgumentError(f"MQTT option qos is {self.qos}; it must be 1 or 0")
        if self.stop_when_idle_ms < 0:
            raise InvalidArgumentError(
                f"MQTT option stop_when_idle_ms is {self.stop_when_idle_ms}; it must be at least 0"
            )


@attrs.frozen
class MqttSinkCalculatorOptions:
    """Which topic is written.

    Attributes:
        address: of the broker, as "10.0.0.5:1883".
        topic: where the input TOPIC says none.
        retain: whether the broker keeps the last message for later subscribers.
        tls: whether the connection is encrypted; its files come in the side packet CONFIG.
        keepalive_s: a broker that is silent for twice as long is given up.
        connect_timeout_ms: how long one attempt to connect may take.
        give_up_ms: after so long without a connection the run fails; 0: never.
        timeout_ms: how long a message waits for the broker's answer.
        close_timeout_ms: how long the end of the run waits for messages under way.
    """

    address: str = ""
    topic: str = ""
    retain: bool = False
    tls: bool = False
    keepalive_s: int = 15
    connect_timeout_ms: int = 5000
    give_up_ms: int = 0
    timeout_ms: int = 60_000
    close_timeout_ms: int = 10_000

    def __attrs_post_init__(self) -> None:
        _check(self, "connect_timeout_ms", "timeout_ms", "close_timeout_ms")
