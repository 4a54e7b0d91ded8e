"""MqttSinkCalculator: publishes packets, and waits until the broker has them."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import penstock
from penstock.errors import InvalidArgumentError, UnavailableError
from penstock_bridges import check_needs
from penstock_mqtt.options import MqttSinkCalculatorOptions

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract
    from penstock.lowlevel import Stop


class MqttSinkCalculator(penstock.Calculator):
    """Publishes each packet as a message with QoS 1; the call ends when the broker has acknowledged it.

    Inputs: VALUE, bytes or str (as UTF-8); TOPIC, str, optional: where this one goes, in place of the
    option `topic`. Output, optional: SENT, the topic, at the packet's timestamp. Input side packet: CONFIG,
    a dict with any of address, username, password, tls, ca_certs, certfile and keyfile, which goes before
    the options: a graph file has no passwords and no TLS files.

    Nothing is lost between the graph and the broker: a message that is not acknowledged within `timeout_ms`
    fails the call, and the node's failure policy decides. While there is no connection calls wait; when it
    is there again messages without an acknowledgement are sent once more, so the broker may get a message
    twice.

    With one call at a time each message waits for the answer to the one before. `max_in_flight: 100` on the
    node sends up to so many at once; on an executor with one thread they are sent in the order of their
    timestamps.

    Options: `address`; `topic`; `retain`; `tls`; `keepalive_s` (15); `connect_timeout_ms` (5000);
    `give_up_ms`: 0 (default) never; `timeout_ms` (60000); `close_timeout_ms` (10000).

    Raises in `open`: FailedPreconditionError without paho-mqtt, the extra `mqtt`; InvalidArgumentError for
    settings that are missing or wrong. In `process`: UnavailableError if the broker does not acknowledge a
    message; PermissionDeniedError if it refuses the client; InvalidArgumentError for a topic with wildcards
    or none.

    Example config::

        node {
          calculator: "MqttSinkCalculator"
          input_stream: "VALUE:result"
          node_options {
            [type.googleapis.com/penstock_mqtt.MqttSinkCalculatorOptions] {
              address: "127.0.0.1:1883" topic: "house/heating"
            }
          }
        }
    """

    Options = MqttSinkCalculatorOptions

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Accept values, and topics.

        Raises:
            InvalidArgumentError: neither the options nor an input name a topic.
        """
        cc.inputs["VALUE"].set_one_of(bytes, str, description="what the message says")
        cc.inputs["TOPIC"].set(str, "where it goes").optional()
        cc.outputs["SENT"].set(str, "the topic of the message that the broker has").optional()
        cc.input_side_packets["CONFIG"].set_one_of(
            dict, Mapping, description="address, passwords and TLS files"
        ).optional()
        options = cc.options(MqttSinkCalculatorOptions)
        if not options.topic and not cc.inputs.count("TOPIC"):
            raise InvalidArgumentError("the MQTT sink has no topic; set it in the options, or connect TOPIC")
        cc.set_timestamp_offset(0)
        config = cc.input_side_packets["CONFIG"]
        cc.declare(may_skip=True, stateless=False, connects=[options.address, config], reads=[config])

    def open(self, cc: CalculatorContext) -> None:
        """Begin to connect; the run does not wait for it."""
        check_needs("MqttSinkCalculator", "mqtt")
        from penstock_mqtt.client.link import Link
        from penstock_mqtt.client.settings import settings_of

        self._options = cc.options(MqttSinkCalculatorOptions)
        self._link = Link(settings_of(cc, self._options), self._options, cc.node_name)

    def process(self, cc: CalculatorContext) -> Future[Stop | None] | None:
        """Publish the message; the future is done when the broker has it.

        Raises:
            InvalidArgumentError: the topic or the value is none that MQTT takes.
            PermissionDeniedError: the broker refuses the client.
        """
        self._link.check()
        value = _payload(cc, "VALUE")
        if value is None:
            return None
        topic = _payload(cc, "TOPIC") or self._options.topic
        done: Future[Stop | None] = Future()
        outputs, stamp = cc.outputs, cc.input_timestamp
        stored: Future[None] = Future()
        stored.set_running_or_notify_cancel()  # it cannot be called back
        done.set_running_or_notify_cancel()

        def answered(found: Future[None]) -> None:
            error = found.exception()
            try:
                if error is None and "SENT" in outputs:
                    outputs["SENT"].add(topic, stamp)
            except Exception as failure:  # noqa: BLE001  # the call's, not the thread's
                error = failure
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        stored.add_done_callback(answered)
        try:
            self._link.publish(topic, value, retain=self._options.retain, done=stored)
        except ValueError as error:
            raise InvalidArgumentError(
                f"the MQTT sink cannot publish a message of {len(value)} bytes to topic {topic!r}: {error}",
                timestamp=int(stamp),
            ) from error
        return done

    def close(self, cc: CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Wait for the messages under way, and disconnect.

        Raises:
            UnavailableError: some were not acknowledged.
        """
        left = self._link.wait_for_answers(self._options.close_timeout_ms / 1000)
        self._link.close()
        if left:
            raise UnavailableError(
                f"{left} messages of the MQTT sink were not acknowledged within "
                f"{self._options.close_timeout_ms} ms (close_timeout_ms)"
            )


def _payload(cc: CalculatorContext, tag: str) -> Any:
    if tag not in cc.inputs or cc.inputs[tag].is_empty():
        return None
    return cc.inputs[tag].payload
