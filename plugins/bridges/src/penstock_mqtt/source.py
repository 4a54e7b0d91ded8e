"""MqttSourceCalculator: sends the messages of topics, and acknowledges what the graph has done with."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import penstock
from penstock import STOP
from penstock.errors import InvalidArgumentError
from penstock.explain import GRAPH
from penstock.lowlevel import MAX
from penstock_bridges import Sweep, check_needs
from penstock_mqtt.message import MqttMessage
from penstock_mqtt.options import Again, MqttSourceCalculatorOptions, Times

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop
    from penstock_mqtt.client.link import Arrived

#: Messages that one call sends at most: full queues stop the source between calls.
_AT_ONCE: Final = 64
#: How long a call waits for a message; the run can end, and messages be acknowledged, in between.
_WAIT_S: Final = 0.05
#: The same while messages are not acknowledged: their results may be there at any moment.
_LOOK_S: Final = 0.005


class MqttSourceCalculator(penstock.Calculator):
    """Sends the messages of MQTT's topics, and acknowledges each when all its results are delivered.

    Outputs, each optional, at least one of the first three: VALUE, bytes; TOPIC, str; MESSAGE,
    `penstock_mqtt.MqttMessage`. The packets of one message have one timestamp. REFUSED, `MqttMessage`:
    messages that the graph does not want, larger than `max_payload_bytes` or, with `again: REFUSE`, sent
    before; the counter `refused` counts them. Without this output such a message is an error, in each run
    again. Input side packet: CONFIG, a dict with any of address, client_id, username, password, tls,
    ca_certs, certfile and keyfile, which goes before the options: a graph file has no passwords and no TLS
    files.

    Timestamps are the time of arrival in microseconds since 1970, each later than the one before, or a
    count. While no message comes the bounds of the outputs follow the clock, so that a join with other
    sensors does not wait.

    Delivery is at least once, with QoS 1 and a `client_id` by which the broker keeps messages while nobody
    is connected. The source follows messages down the graph by the graph's ledger, and acknowledges a
    message when every reader has had its results: nodes whose calls have returned, observers that were
    called, pollers that were read. What was not acknowledged when a program died comes again, in the order
    in which it was published, at the next connection. A calculator that keeps packets to write them later
    may lose those; a failure policy that skips a call counts as delivery. Once the run has an error, or is
    cancelled, nothing more is acknowledged. A broker holds back further messages while many are not
    acknowledged, mosquitto after 20 (max_inflight_messages): that bounds what waits here.

    A lost connection is made again, after pauses that grow from 0.2 to 30 s; the log says so, the counter
    `source_lost` is 1 meanwhile, and `reconnects` counts. Messages that were under way come twice then.

    Options: `address`; `topic`; `client_id`; `qos`: 1 (default) or 0; `times`: ARRIVAL (default) or COUNT;
    `again`: SEND (default) or REFUSE; `max_payload_bytes`; `tls`; `keepalive_s` (15); `connect_timeout_ms`
    (5000); `give_up_ms`: 0 (default) never; `ack_interval_ms` (20); `stop_when_idle_ms`: 0 (default) never
    ends.

    Raises in `open`: FailedPreconditionError without paho-mqtt, the extra `mqtt`; InvalidArgumentError for
    settings that are missing or wrong. In `process`: PermissionDeniedError if the broker refuses the client
    or a topic; UnavailableError if there was no connection for `give_up_ms`; InvalidArgumentError for a
    message to refuse without the output REFUSED.

    Example config::

        node {
          calculator: "MqttSourceCalculator"
          output_stream: "TOPIC:sensor"
          output_stream: "VALUE:reading"
          node_options {
            [type.googleapis.com/penstock_mqtt.MqttSourceCalculatorOptions] {
              address: "127.0.0.1:1883" topic: "house/+/temperature" client_id: "heating"
            }
          }
        }
    """

    Options = MqttSourceCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Offer three views of a message.

        Raises:
            InvalidArgumentError: no output is connected; or there is no topic or client_id.
        """
        cc.outputs["VALUE"].set(bytes, "what the message says").optional()
        cc.outputs["TOPIC"].set(str, "its topic").optional()
        cc.outputs["MESSAGE"].set(MqttMessage, "the whole message").optional()
        if not any(cc.outputs.count(tag) for tag in ("VALUE", "TOPIC", "MESSAGE")):
            raise InvalidArgumentError("the MQTT source has no output; connect VALUE, TOPIC or MESSAGE")
        cc.outputs["REFUSED"].set(MqttMessage, "a message that the graph does not want").optional()
        cc.input_side_packets["CONFIG"].set_one_of(
            dict, Mapping, description="address, passwords and TLS files"
        ).optional()
        options = cc.options(MqttSourceCalculatorOptions)
        if not options.topic:
            raise InvalidArgumentError("the MQTT source has no topic; set it in the options")
        if options.qos and not options.client_id and not cc.input_side_packets.count("CONFIG"):
            raise InvalidArgumentError(
                "the MQTT source has no client_id, by which the broker keeps messages for this program; set "
                "it, or qos: 0"
            )
        cc.use_service(GRAPH)
        cc.declare(may_skip=True, stateless=False, is_live=True)
        config = cc.input_side_packets["CONFIG"]
        cc.declare(connects=[options.address, config], reads=[config])

    def open(self, cc: CalculatorContext) -> None:
        """Begin to connect; the run does not wait for it."""
        check_needs("MqttSourceCalculator", "mqtt")
        from penstock_mqtt.client.link import Link
        from penstock_mqtt.client.settings import settings_of

        options = self._options = cc.options(MqttSourceCalculatorOptions)
        settings = settings_of(cc, options)
        if options.qos and not settings.client_id:
            raise InvalidArgumentError(
                "the MQTT source has no client_id; set it in the options or CONFIG, or set qos: 0"
            )
        self._view = cc.service(GRAPH)
        self._name = cc.node_name
        #: Sent, and not acknowledged.
        self._sent: deque[Arrived] = deque()
        #: How many of `_sent` the sweep follows.
        self._followed = 0
        self._sweep: Sweep | None = None
        self._next_sweep = 0.0
        self._count = 0
        self._reconnects = self._lost = 0
        self._quiet_since = time.monotonic()
        self._link = Link(settings, options, self._name, [(topic, options.qos) for topic in options.topic])

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Send what there is; acknowledge what was delivered.

        Raises:
            PermissionDeniedError: the broker refuses the client or a topic.
            UnavailableError: there was no connection for too long.
            InvalidArgumentError: a message is to be refused, and nobody takes it.
        """
        self._link.check()
        self._follow()
        self._count_link(cc)
        arrived = self._link.take(_LOOK_S if self._sent else _WAIT_S)
        if arrived is None:
            self._move_bounds(cc)
            return self._stop_if_idle()
        self._send(cc, arrived)
        for _ in range(_AT_ONCE - 1):
            arrived = self._link.take(0)
            if arrived is None:
                break
            self._send(cc, arrived)
        self._quiet_since = time.monotonic()
        return None

    def close(self, cc: CalculatorContext) -> None:
        """Acknowledge what was delivered, unless the run failed, and disconnect; the rest comes again."""
        try:
            self._look()
            self._count_link(cc, is_over=True)
        finally:
            self._link.close()

    # --- packets --------------------------------------------------------------------------------

    def _send(self, cc: CalculatorContext, arrived: Arrived) -> None:
        message = _whole(arrived)
        stamp = self._stamp_of(cc)
        why = self._why_refused(message)
        if why:
            self._refuse(cc, message, stamp, why)
        else:
            for tag, payload in (("VALUE", message.value), ("TOPIC", message.topic), ("MESSAGE", message)):
                if tag in cc.outputs:
                    cc.outputs[tag].add(payload, stamp)
        for output in cc.outputs:
            if output.bound <= stamp:
                output.set_next_timestamp_bound(stamp + 1)
        if message.qos:
            self._sent.append(arrived)

    def _why_refused(self, message: MqttMessage) -> str:
        size, most = len(message.value), self._options.max_payload_bytes
        if size > most:
            return f"has {size} bytes, more than max_payload_bytes ({most})"
        if message.is_again and self._options.again is Again.REFUSE:
            return "was sent before and not acknowledged (again: REFUSE)"
        return ""

    @staticmethod
    def _refuse(cc: CalculatorContext, message: MqttMessage, stamp: int, why: str) -> None:
        if "REFUSED" not in cc.outputs:
            raise InvalidArgumentError(
                f"the MQTT source got a message of topic {message.topic!r} that {why}; connect the output "
                "REFUSED, and the source goes on behind such messages"
            )
        cc.counter("refused").increment()
        cc.outputs["REFUSED"].add(message, stamp)

    def _stamp_of(self, cc: CalculatorContext) -> int:
        """Return the next timestamp."""
        if self._options.times is Times.COUNT:
            self._count += 1
            return self._count - 1
        return max(time.time_ns() // 1000, 0, *(output.bound for output in cc.outputs))

    def _move_bounds(self, cc: CalculatorContext) -> None:
        """Say that no message has arrived until now."""
        if self._options.times is Times.ARRIVAL:
            now = min(time.time_ns() // 1000, MAX)
            for output in cc.outputs:
                if output.bound < now:
                    output.set_next_timestamp_bound(now)

    def _count_link(self, cc: CalculatorContext, *, is_over: bool = False) -> None:
        lost = int(not self._link.is_up and not is_over)
        if lost != self._lost:
            cc.counter("source_lost").increment_by(lost - self._lost)
            self._lost = lost
        if (new := self._link.reconnects - self._reconnects) > 0:
            cc.counter("reconnects").increment_by(new)
            self._reconnects += new

    # --- delivery -------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Begin a sweep when it is time, look how far the one under way has come, and acknowledge."""
        if self._sweep is not None:
            self._look()
        elif self._sent and time.monotonic() >= self._next_sweep:
            self._next_sweep = time.monotonic() + self._options.ack_interval_ms / 1000
            self._followed = len(self._sent)
            self._sweep = Sweep(self._view, self._name)

    def _look(self) -> None:
        if self._sweep is None or not self._sweep.is_over():
            return
        self._sweep = None
        for _ in range(self._followed):
            self._link.acknowledge(self._sent.popleft())

    def _stop_if_idle(self) -> Stop | None:
        idle = self._options.stop_when_idle_ms
        if not idle or self._sent or not self._link.has_acknowledged:
            return None
        if not self._link.is_up:
            self._quiet_since = time.monotonic()
            return None
        return STOP if time.monotonic() - self._quiet_since >= idle / 1000 else None


def _whole(arrived: Arrived) -> MqttMessage:
    message = arrived.message
    try:
        topic = message.topic
    except UnicodeDecodeError as error:
        topic = error.object.decode("utf-8", "backslashreplace")
    return MqttMessage(topic, bytes(message.payload), message.qos, bool(message.retain), bool(message.dup))
