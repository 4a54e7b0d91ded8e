"""KafkaSinkCalculator: writes packets to a topic, and waits until the brokers have them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import KafkaException, Producer

import penstock
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_kafka.options import KafkaSinkCalculatorOptions
from penstock_kafka.settings import LIBRDKAFKA, refused, settings_of, teller

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop

#: How long the thread that takes in the brokers' answers sleeps at most before it looks whether it is to end.
_WAIT_S: Final = 0.1


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

    Raises in `open`: InvalidArgumentError for settings that are missing or wrong. In `process`:
    UnavailableError if the brokers refuse a message, or do not answer.

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
            raise InvalidArgumentError("there is no topic; set it in the options")
        cc.set_timestamp_offset(0)
        connects = [
            one.strip() for one in cc.options(KafkaSinkCalculatorOptions).bootstrap_servers.split(",")
        ]
        cc.declare(may_skip=True, stateless=False, connects=[*connects, cc.input_side_packets["CONFIG"]])

    def open(self, cc: CalculatorContext) -> None:
        """Make the producer, and start the thread that takes in the brokers' answers."""
        options = self._options = cc.options(KafkaSinkCalculatorOptions)
        settings = {
            "linger.ms": 0,
            "error_cb": teller(cc.node_name),
            "logger": LIBRDKAFKA,
            **settings_of(cc, options),
        }
        try:
            self._producer = Producer(settings)
        except KafkaException as error:
            raise refused(f"cannot write {options.topic}", error) from error
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=f"{cc.node_name} answers", daemon=True)
        self._thread.start()

    def process(self, cc: CalculatorContext) -> Future[Stop | None] | None:
        """Send the message; the future is done when it is stored."""
        key = _payload(cc, "KEY")
        value = _payload(cc, "VALUE")
        if key is None and value is None:
            return None
        done: Future[Stop | None] = Future()
        done.set_running_or_notify_cancel()  # it cannot be called back
        outputs, stamp = cc.outputs, cc.input_timestamp

        def answered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                done.set_exception(UnavailableError(f"topic {self._options.topic}: {error.str()}"))
                return
            try:
                if "SENT" in outputs:
                    outputs["SENT"].add((message.topic(), message.partition(), message.offset()), stamp)
            except Exception as failure:  # noqa: BLE001  # the call's, not the thread's
                done.set_exception(failure)
            else:
                done.set_result(None)

        try:
            self._producer.produce(self._options.topic, value, key, on_delivery=answered)
        except BufferError as error:
            raise UnavailableError(
                f"topic {self._options.topic}: more messages wait for answers than "
                "queue.buffering.max.messages lets; lower max_in_flight or raise it"
            ) from error
        except KafkaException as error:
            raise refused(f"topic {self._options.topic}", error) from error
        return done

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Wait for the messages under way, and end the thread."""
        left = self._producer.flush(self._options.close_timeout_ms / 1000)
        self._is_over.set()
        self._thread.join()
        if left:
            self._producer.purge()
            self._producer.flush(_WAIT_S)  # their calls end with an error
            raise UnavailableError(
                f"topic {self._options.topic}: {left} messages were not stored within "
                f"{self._options.close_timeout_ms} ms (close_timeout_ms)"
            )

    def _serve(self) -> None:
        while not self._is_over.is_set():
            self._producer.poll(_WAIT_S)


def _payload(cc: CalculatorContext, tag: str) -> Any:
    if tag not in cc.inputs or cc.inputs[tag].is_empty():
        return None
    return cc.inputs[tag].payload
