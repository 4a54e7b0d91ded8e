"""A producer with the thread that takes in the brokers' answers."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from confluent_kafka import KafkaException, Producer

from penstock.errors import UnavailableError
from penstock_kafka.client.settings import LIBRDKAFKA, refused, settings_of, teller

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

    from penstock import CalculatorContext
    from penstock.lowlevel import Stop
    from penstock_kafka.options import KafkaSinkCalculatorOptions

#: How long the thread that takes in the brokers' answers sleeps at most before it looks whether it is to end.
_WAIT_S: Final = 0.1


class Writer:
    """Writes to a topic for a sink in a run.

    Raises:
        InvalidArgumentError: settings are missing or wrong.
        PermissionDeniedError: the graph may not connect to a broker.
    """

    def __init__(self, cc: CalculatorContext, options: KafkaSinkCalculatorOptions) -> None:
        self._options: Final = options
        settings = {
            "linger.ms": 0,
            "error_cb": teller(cc.node_name),
            "logger": LIBRDKAFKA,
            **settings_of(cc, options),
        }
        try:
            self._producer: Final = Producer(settings)
        except KafkaException as error:
            raise refused(f"the Kafka writer cannot write {options.topic}", error) from error
        self._is_over: Final = threading.Event()
        self._thread: Final = threading.Thread(
            target=self._serve, name=f"{cc.node_name} answers", daemon=True
        )
        self._thread.start()

    def write(
        self, cc: CalculatorContext, key: str | bytes | None, value: str | bytes | None
    ) -> Future[Stop | None]:
        """Send a message; the future is done when it is stored.

        Raises:
            UnavailableError: too many messages wait for answers, or the brokers refuse this one.
        """
        done: Future[Stop | None] = Future()
        done.set_running_or_notify_cancel()  # it cannot be called back
        outputs, stamp = cc.outputs, cc.input_timestamp

        def answered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                done.set_exception(
                    UnavailableError(f"Kafka writer: topic {self._options.topic}: {error.str()}")
                )
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
                f"Kafka writer: topic {self._options.topic}: more messages wait for answers than "
                "queue.buffering.max.messages lets; lower max_in_flight or raise it"
            ) from error
        except KafkaException as error:
            raise refused(f"Kafka writer: topic {self._options.topic}", error) from error
        return done

    def close(self) -> None:
        """Wait for the messages under way, and end the thread.

        Raises:
            UnavailableError: some were not stored within `close_timeout_ms`.
        """
        left = self._producer.flush(self._options.close_timeout_ms / 1000)
        self._is_over.set()
        self._thread.join()
        if left:
            self._producer.purge()
            self._producer.flush(_WAIT_S)  # their calls end with an error
            raise UnavailableError(
                f"Kafka writer: topic {self._options.topic}: {left} messages were not stored within "
                f"{self._options.close_timeout_ms} ms (close_timeout_ms)"
            )

    def _serve(self) -> None:
        while not self._is_over.is_set():
            self._producer.poll(_WAIT_S)
