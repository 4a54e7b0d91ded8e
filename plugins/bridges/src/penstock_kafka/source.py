"""KafkaSourceCalculator: sends the messages of topics, and commits what the graph has done with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.explain import GRAPH
from penstock_bridges import check_needs
from penstock_kafka.message import KafkaMessage
from penstock_kafka.options import KafkaSourceCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop
    from penstock_kafka.client.reader import Reader


class KafkaSourceCalculator(penstock.Calculator):
    """Sends the messages of Kafka's topics, and commits an offset when all its results are delivered.

    Outputs, each optional, at least one of the first three: VALUE and KEY, bytes, without a packet where a
    message has none; MESSAGE, `penstock_kafka.KafkaMessage`. Those of one message have one timestamp.
    REFUSED, `KafkaMessage`: each message whose own time is after the year 9999, for a graph that goes on
    behind such a message, which would leave no timestamps for later messages; the counter `refused`
    counts them. Without this output such a message is an error, in each run again. Input side packet: CONFIG,
    a dict of librdkafka's settings, which goes before the options: for passwords.

    Several programs with one `group_id` share the partitions of the topics. The messages of a partition
    come in order; those of several are mixed as they arrive.

    Delivery is at least once. Every `commit_interval_ms` the source notes what it has sent, follows it down
    the graph by the graph's ledger, and commits when every reader has had it: nodes whose calls have
    returned, observers that were called, pollers that were read. The graph goes on meanwhile. What was not
    committed when a program dies comes again, in the next run or to another member of the group. So a
    calculator that keeps packets to write them later, as a PacketResamplerCalculator does, may lose those;
    a failure policy that skips a call counts as delivery. Once the run has an error, or is cancelled, nothing
    more is committed: a call that failed has not delivered its packets.

    Options: `bootstrap_servers`; `topic`; `group_id`; `config`; `times`: MESSAGE (the message's own time,
    default) or COUNT; `start_at`: "earliest" (default) or "latest"; `stop_at_end`: false (default) waits for
    more, true ends the source when it has read all, and commits all before; `commit_interval_ms`.

    While the graph takes no messages the source takes none either, and after five minutes
    (max.poll.interval.ms) the group gives its partitions to others.

    Raises in `open`: FailedPreconditionError without confluent-kafka, the extra `kafka`; InvalidArgumentError
    for settings that are missing or wrong. In `process`: UnavailableError if a topic does not exist or the
    brokers refuse; brokers that do not answer are tried again, with a warning. InvalidArgumentError for a
    message after the year 9999 without the output REFUSED.

    Example config::

        node {
          calculator: "KafkaSourceCalculator"
          output_stream: "KEY:sensor"
          output_stream: "VALUE:event"
          node_options {
            [type.googleapis.com/penstock_kafka.KafkaSourceCalculatorOptions] {
              bootstrap_servers: "127.0.0.1:9092" topic: "events" group_id: "penstock"
            }
          }
        }
    """

    Options = KafkaSourceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Offer three views of a message.

        Raises:
            InvalidArgumentError: no output is connected; or there is no topic or group.
        """
        cc.outputs["VALUE"].set(bytes, "what the message says").optional()
        cc.outputs["KEY"].set(bytes, "its key").optional()
        cc.outputs["MESSAGE"].set(KafkaMessage, "the whole message, and where it is").optional()
        if not any(cc.outputs.count(tag) for tag in ("VALUE", "KEY", "MESSAGE")):
            raise InvalidArgumentError("the Kafka source has no output; connect VALUE, KEY or MESSAGE")
        cc.outputs["REFUSED"].set(KafkaMessage, "a message whose time no stream can have").optional()
        cc.input_side_packets["CONFIG"].set_one_of(
            dict, Mapping, description="settings of librdkafka"
        ).optional()
        options = cc.options(KafkaSourceCalculatorOptions)
        for field in ("topic", "group_id"):
            if not getattr(options, field):
                raise InvalidArgumentError(f"the Kafka source has no {field}; set it in the options")
        cc.use_service(GRAPH)
        connects = [one.strip() for one in options.bootstrap_servers.split(",")]
        cc.declare(may_skip=True, stateless=False, is_live=not options.stop_at_end)
        cc.declare(connects=[*connects, cc.input_side_packets["CONFIG"]])

    def open(self, cc: CalculatorContext) -> None:
        """Join the group."""
        check_needs("KafkaSourceCalculator", "kafka")
        self._reader = self._new_reader(cc)

    @staticmethod
    def _new_reader(cc: CalculatorContext) -> Reader:
        from penstock_kafka.client.reader import Reader

        return Reader(cc, cc.options(KafkaSourceCalculatorOptions))

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Send what there is; commit what was delivered.

        Raises:
            UnavailableError: a topic does not exist, or the brokers refuse.
        """
        return self._reader.step(cc)

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Commit what was delivered, unless the run failed, and leave the group; the rest comes again."""
        self._reader.close()
