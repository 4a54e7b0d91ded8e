"""KafkaSinkCalculator: writes packets to a topic, and waits until the brokers have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import penstock
from penstock.errors import InvalidArgumentError
from penstock_bridges import check_needs
from penstock_kafka.options import KafkaSinkCalculatorOptions

if TYPE_CHECKING:
    from concurrent.futures import Future

    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop


class KafkaSinkCalculator(penstock.Calculator):
    """Writes each packet as a message of a topic; the call ends when the brokers have stored it.

    Inputs: VALUE, bytes or str (as UTF-8); KEY, bytes or str, optional: messages of one key go to one
    partition, in order. A KEY without a VALUE is a tombstone, and a VALUE without a KEY goes to any
    partition. Output, optional: SENT, a tuple of topic, partition and offset, at the packet's timestamp.
    Input side packet: CONFIG, a dict of librdkafka's settings, which goes before the options: for passwords.

    Nothing is lost between the graph and the brokers: a message that they refuse, or do not answer within
    five minutes (message.timeout.ms), fails the call, and the node's failure policy decides. A message may
    be stored twice where an answer was lost; `config { key: "enable.idempotence" value: "true" }` prevents
    that within a run.

    With one call at a time each message waits for the answer to the one before. `max_in_flight: 100` on the
    node sends up to so many at once; on an executor with one thread they are sent in the order of their
    timestamps.

    Options: `bootstrap_servers`; `topic`; `config`; `close_timeout_ms`.

    Raises in `open`: FailedPreconditionError without confluent-kafka, the extra `kafka`; InvalidArgumentError
    for settings that are missing or wrong. In `process`: UnavailableError if the brokers refuse a message, or
    do not answer.

    Example config::

        node {
          calculator: "KafkaSinkCalculator"
          input_stream: "KEY:sensor"
          input_stream: "VALUE:result"
          node_options {
            [type.googleapis.com/penstock_kafka.KafkaSinkCalculatorOptions] {
              bootstrap_servers: "127.0.0.1:9092" topic: "results"
            }
          }
        }
    """

    Options = KafkaSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept values, and keys.

        Raises:
            InvalidArgumentError: there is no topic.
        """
        cc.inputs["VALUE"].set_one_of(bytes, str, description="what the message says")
        cc.inputs["KEY"].set_one_of(bytes, str, description="its key").optional()
        cc.outputs["SENT"].set(tuple, "topic, partition and offset of the stored message").optional()
        cc.input_side_packets["CONFIG"].set_one_of(
            dict, Mapping, description="settings of librdkafka"
        ).optional()
        if not cc.options(KafkaSinkCalculatorOptions).topic:
            raise InvalidArgumentError("the Kafka sink has no topic; set it in the options")
        cc.set_timestamp_offset(0)
        connects = [
            one.strip() for one in cc.options(KafkaSinkCalculatorOptions).bootstrap_servers.split(",")
        ]
        cc.declare(may_skip=True, stateless=False, connects=[*connects, cc.input_side_packets["CONFIG"]])

    def open(self, cc: CalculatorContext) -> None:
        """Make the producer, and start the thread that takes in the brokers' answers."""
        check_needs("KafkaSinkCalculator", "kafka")
        from penstock_kafka.client.writer import Writer

        self._writer = Writer(cc, cc.options(KafkaSinkCalculatorOptions))

    def process(self, cc: CalculatorContext) -> Future[Stop | None] | None:
        """Send the message; the future is done when it is stored."""
        key = _payload(cc, "KEY")
        value = _payload(cc, "VALUE")
        return None if key is None and value is None else self._writer.write(cc, key, value)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Wait for the messages under way, and end the thread."""
        self._writer.close()


def _payload(cc: CalculatorContext, tag: str) -> Any:
    if tag not in cc.inputs or cc.inputs[tag].is_empty():
        return None
    return cc.inputs[tag].payload
