"""A connection with a broker that comes back: one thread that connects, reads, writes and answers.

All calls of paho's client but `publish` are made on that thread. What arrives waits in a queue for the
calculator.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import attrs
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

from penstock.errors import PermissionDeniedError, UnavailableError
from penstock.log import get_logger, place
from penstock_mqtt.client.connecting import GivenUp, SlicedClient

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from paho.mqtt.client import MQTTMessage

    from penstock_mqtt.client.settings import Settings
    from penstock_mqtt.options import MqttSinkCalculatorOptions, MqttSourceCalculatorOptions

_logger = get_logger(__name__)

#: How long the thread waits for the broker before it looks what else there is to do.
_WAIT_S: Final = 0.02
#: The first pause between attempts, and the longest.
_FIRST_S, _LONGEST_S = 0.2, 30.0
#: How long an error of one kind is not logged again.
_SELDOM_S: Final = 30.0
#: How long the end waits until all is written and read.
_GOODBYE_S: Final = 0.5
#: CONNACK of a broker that may come back: "server unavailable" of MQTT 3.1.1, and others of 5.
_PASSING: Final = {"Server unavailable", "Server busy", "Connection rate exceeded", "Quota exceeded"}


@attrs.frozen(eq=False)
class Arrived:
    """A message, and the connection that it came by."""

    message: MQTTMessage
    #: The number of the connection: its answer is for no other.
    connection: int


class Link:
    """A connection. Close it.

    Args:
        settings: of the broker.
        options: of the calculator.
        node: names the calculator in logs.
        topics: what is subscribed, with `qos`.
    """

    def __init__(
        self,
        settings: Settings,
        options: MqttSourceCalculatorOptions | MqttSinkCalculatorOptions,
        node: str,
        topics: Sequence[tuple[str, int]] = (),
    ) -> None:
        self._settings: Final = settings
        self._options: Final = options
        self._node: Final = node
        self._topics: Final = list(topics)
        self._is_over: Final = threading.Event()
        #: What has arrived and was not taken.
        self._arrived: Final[SimpleQueue[Arrived]] = SimpleQueue()
        #: Messages to acknowledge.
        self._done: Final[deque[Arrived]] = deque()
        #: Number of a published message → its call, when that fails, and the topic.
        self._waiting: Final[dict[int, tuple[Future[Any], float, str]]] = {}
        #: Numbers that the broker has answered.
        self._answered: Final[deque[int]] = deque()
        self._connection = 0
        self._is_up = False
        #: Since when there is no connection.
        self._down_since = monotonic()
        self._told: dict[str, float] = {}
        self._error: Exception | None = None
        #: Set when a published message has its answer, or its error.
        self._progress: Final = threading.Event()
        #: Set when the broker has read all that was written before the end.
        self._is_read: Final = threading.Event()
        #: How often it came back, and how many seconds it was away in all.
        self.reconnects = 0
        self.seconds_down = 0.0
        self._client: Final = self._new_client()
        self._thread: Final = threading.Thread(target=self._serve, name=f"{node} mqtt", daemon=True)
        self._thread.start()

    # --- for the calculator -------------------------------------------------------------------------

    def take(self, wait_s: float) -> Arrived | None:
        """Return the next message; None where none comes so long."""
        try:
            return self._arrived.get(timeout=wait_s) if wait_s else self._arrived.get_nowait()
        except Empty:
            return None

    def acknowledge(self, arrived: Arrived) -> None:
        """Tell the broker that a message is done with; not if its connection is gone: it comes again then."""
        self._done.append(arrived)

    @property
    def has_acknowledged(self) -> bool:
        """Whether nothing is left to acknowledge."""
        return not self._done

    @property
    def is_up(self) -> bool:
        """Whether the broker has accepted the connection, and it is not known to be lost."""
        return self._is_up

    def publish(self, topic: str, value: str | bytes, *, retain: bool, done: Future[Any]) -> None:
        """Send a message with QoS 1; `done` gets a result when the broker has it, else an error.

        Raises:
            ValueError: topic or value are none that MQTT takes.
        """
        end = monotonic() + self._options.timeout_ms / 1000  # type: ignore[union-attr]  # a sink's
        info = self._client.publish(topic, value, 1, retain)
        self._waiting[info.mid] = done, end, topic

    def wait_for_answers(self, timeout_s: float) -> int:
        """Wait until all published messages have their answers; return how many have none."""
        end = monotonic() + timeout_s
        while self._waiting:
            self._progress.clear()
            if self._waiting and not self._progress.wait(max(0.0, end - monotonic())):
                break
        return len(self._waiting)

    def check(self) -> None:
        """Raise why there will be no connection, if that is so.

        Raises:
            PermissionDeniedError: the broker refuses the client, or a subscription.
            UnavailableError: there was no connection for `give_up_ms`, or the thread has failed.
        """
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """End the connection and the thread; what waits for answers fails."""
        self._is_over.set()
        self._thread.join()
        self._fail_waiting(UnavailableError(f"the MQTT link with {self._settings.address} was closed"))

    # --- the thread -----------------------------------------------------------------------------

    def _serve(self) -> None:
        pause = _FIRST_S
        try:
            while not self._is_over.is_set() and self._error is None:
                if self._connect():
                    if self._stay():
                        pause = _FIRST_S
                    self._note_lost()
                if self._error is None:
                    self._check_patience()
                    self._is_over.wait(pause * random.uniform(0.5, 1))  # noqa: S311  # so that not all come at once
                    pause = min(pause * 2, _LONGEST_S)
        except GivenUp:
            return
        except Exception as error:  # noqa: BLE001  # the calculator's call raises it
            self._error = UnavailableError(f"MQTT link with {self._settings.address}: {error}")
        finally:
            self._is_up = False
            if self._error is not None:
                self._fail_waiting(self._error)

    def _connect(self) -> bool:
        """Make a connection; the broker has not accepted it yet."""
        try:
            self._client.reconnect()
        except (OSError, ValueError) as error:
            self._tell(f"cannot connect to {self._settings.address}: {error}")
            self._look_at_time()
            return False
        self._connection += 1
        return True

    def _stay(self) -> bool:
        """Serve the connection until it ends; return whether the broker had accepted it."""
        begun = monotonic()
        was_up = False
        while True:
            if self._is_over.is_set():
                self._say_goodbye()
                return was_up
            result = self._client.loop(_WAIT_S)
            was_up = was_up or self._is_up
            self._answer()
            self._look_at_time()
            if result != MQTTErrorCode.MQTT_ERR_SUCCESS or self._error is not None:
                self._client.cut()
                return was_up
            if not self._is_up and monotonic() - begun > self._options.connect_timeout_ms / 1000:
                self._tell(f"{self._settings.address} accepts connections but does not answer")
                self._client.cut()

    def _answer(self) -> None:
        """Acknowledge messages of this connection, and end the calls of published ones."""
        while self._done:
            arrived = self._done.popleft()
            if arrived.connection == self._connection:
                self._client.ack(arrived.message.mid, arrived.message.qos)
        for _ in range(len(self._answered)):
            number = self._answered.popleft()
            found = self._waiting.pop(number, None)
            if found is None:
                self._answered.append(number)  # `publish` has not noted it yet
            else:
                found[0].set_result(None)
                self._progress.set()

    def _look_at_time(self) -> None:
        """Fail the calls that have waited too long."""
        now = monotonic()
        late = [number for number, (_, end, _) in list(self._waiting.items()) if now >= end]
        for number in late:
            done, _, topic = self._waiting.pop(number)
            self._progress.set()
            done.set_exception(
                UnavailableError(
                    f"MQTT link: topic {topic}: {self._settings.address} has not stored the message in time"
                )
            )

    def _fail_waiting(self, error: Exception) -> None:
        while self._waiting:
            done, _, _ = self._waiting.popitem()[1]
            done.set_exception(error)
        self._progress.set()

    def _say_goodbye(self) -> None:
        """Write what is left, wait until the broker has read it, and disconnect.

        A broker that finds the connection closed may leave unread what came before; so it is asked a question
        that it answers when it has read all, to unsubscribe a topic that nobody has subscribed.
        """
        end = monotonic() + _GOODBYE_S
        self._answer()
        if self._is_up:
            self._client.unsubscribe(f"penstock/{id(self)}")
            while not self._is_read.is_set() and monotonic() < end:
                if self._client.loop(_WAIT_S) != MQTTErrorCode.MQTT_ERR_SUCCESS:
                    return
        self._client.disconnect()
        while monotonic() < end and self._client.loop(_WAIT_S) == MQTTErrorCode.MQTT_ERR_SUCCESS:
            continue
        self._client.cut()

    def _note_lost(self) -> None:
        if self._is_up:
            self._is_up = False
            self._down_since = monotonic()
            if not self._is_over.is_set() and self._error is None:
                self._tell(f"the connection with {self._settings.address} is lost; connecting again")

    def _check_patience(self) -> None:
        """Give up where there was no connection for too long."""
        patience = self._options.give_up_ms / 1000
        if patience and not self._is_over.is_set() and monotonic() - self._down_since > patience:
            self._error = UnavailableError(
                f"no MQTT link with {self._settings.address} for {patience:g} s (give_up_ms)"
            )

    def _tell(self, what: str) -> None:
        now = monotonic()
        if now - self._told.get(what, -inf) >= _SELDOM_S:
            self._told[what] = now
            _logger.warning("%s", what, extra=place(node=self._node))

    # --- paho's callbacks, on the thread ------------------------------------------------------------

    def _new_client(self) -> SlicedClient:
        settings = self._settings
        client = SlicedClient(
            settings,
            self._options.connect_timeout_ms / 1000,
            self._is_over,
            callback_api_version=CallbackAPIVersion.VERSION2,
            client_id=settings.client_id,
            clean_session=not settings.client_id,
            manual_ack=True,
        )
        client.max_inflight_messages_set(0)  # the node's max_in_flight counts
        if settings.username is not None:
            client.username_pw_set(settings.username, settings.password)
        client.connect_async(settings.host, settings.port, self._options.keepalive_s)
        client.on_connect = self._connected
        client.on_subscribe = self._subscribed
        client.on_message = self._message
        client.on_publish = self._published
        client.on_unsubscribe = lambda *_: self._is_read.set()
        return client

    def _connected(self, client: Any, _: Any, flags: Any, reason: Any, __: Any) -> None:
        if reason.is_failure:
            said = str(reason)
            if said in _PASSING:
                self._tell(f"{self._settings.address}: {said}; connecting again")
            else:
                self._error = PermissionDeniedError(
                    f"MQTT link: {self._settings.address} refuses the link: {said}; user name, "
                    "password and client_id come in the side packet CONFIG"
                )
            return
        now = monotonic()
        if self._connection > 1 and self._down_since:
            away = now - self._down_since
            self.seconds_down += away
            self.reconnects += 1
            words = f"connected with {self._settings.address} again after {away:.1f} s; "
            words += f"{self.reconnects} times so far, {self.seconds_down:.1f} s without it"
            _logger.warning("%s", words, extra=place(node=self._node))
        self._is_up = True
        if self._topics and not (flags.session_present and self.reconnects):
            client.subscribe(self._topics)

    def _subscribed(self, _: Any, __: Any, ___: Any, reasons: Any, ____: Any) -> None:
        for (topic, _qos), reason in zip(self._topics, reasons, strict=False):
            if reason.is_failure:
                self._error = PermissionDeniedError(
                    f"MQTT link: {self._settings.address} refuses the subscription of topic {topic!r}: "
                    f"{reason}"
                )

    def _message(self, _: Any, __: Any, message: MQTTMessage) -> None:
        self._arrived.put(Arrived(message, self._connection))

    def _published(self, _: Any, __: Any, number: int, ___: Any, ____: Any) -> None:
        self._answered.append(number)
