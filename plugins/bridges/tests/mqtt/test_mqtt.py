"""Topics as streams and streams to topics, with a mosquitto on the loopback address."""

from __future__ import annotations

import threading
import time

import pytest
from topics import PATIENCE_S, Plain, name, sink, source, subscribed, wait_until

import penstock
from penstock.errors import GraphConfigError, GraphRunError, InvalidArgumentError, UnavailableError
from penstock.packs import default_registry
from penstock_mqtt import MqttMessage

pytestmark = pytest.mark.heavy

IDLE = "stop_when_idle_ms: 300"


def run(text, *streams, sides=None):
    """Run a graph to its end; return (timestamp, payload) of streams."""
    got = {name: [] for name in streams}
    with penstock.CalculatorGraph(text) as graph:
        for stream, packets in got.items():
            graph.observe_output_stream(
                stream, lambda _, p, packets=packets: packets.append((int(p.timestamp), p.payload))
            )
        graph.start_run(sides or {})
        graph.wait_until_done(PATIENCE_S)
        assert graph.ledger().adds_up
        counters = graph.counters
    return got, counters


def payloads(packets):
    return [payload for _, payload in packets]


# --- the source ---------------------------------------------------------------------------------


def test_messages_that_were_kept_come_once_in_order_and_are_acknowledged(broker):
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    with Plain(broker) as plain:
        plain.publish(topic, *[f"{n}" for n in range(100)])

    got, _ = run(source(broker, topic, "VALUE:v TOPIC:t MESSAGE:m", IDLE, client=client), "v", "t", "m")

    assert payloads(got["v"]) == [f"{n}".encode() for n in range(100)]
    stamps = [stamp for stamp, _ in got["v"]]
    assert stamps == sorted(set(stamps))
    assert abs(stamps[-1] / 1e6 - time.time()) < 60
    assert payloads(got["t"]) == [topic] * 100
    assert got["m"][5][1] == MqttMessage(topic, b"5", 1, is_retained=False, is_again=False)
    again, _ = run(source(broker, topic, "VALUE:v", IDLE, client=client), "v")
    assert again["v"] == [], "all were acknowledged"


def test_wildcards_retained_messages_and_a_count(broker):
    base = name()
    with Plain(broker) as plain:
        plain.publish(f"{base}/a/x", b"\x00\xff", retain=True)
        plain.publish(f"{base}/b/x", b"2", retain=True)
        plain.publish(f"{base}/b/y", b"3", retain=True)
        got, _ = run(source(broker, f"{base}/+/x", "MESSAGE:m", f"{IDLE} times: COUNT"), "m")
        plain.publish(f"{base}/a/x", b"", retain=True)
        plain.publish(f"{base}/b/x", b"", retain=True)
        plain.publish(f"{base}/b/y", b"", retain=True)
    assert [stamp for stamp, _ in got["m"]] == [0, 1]
    assert {(one.topic, one.value, one.is_retained) for _, one in got["m"]} == {
        (f"{base}/a/x", b"\x00\xff", True),
        (f"{base}/b/x", b"2", True),
    }


def test_nothing_is_acknowledged_before_its_results_are_delivered(broker):
    """A run is cancelled while a message is under way: that one and those behind it come again."""
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    with Plain(broker) as plain:
        plain.publish(topic, *[f"{n}" for n in range(12)])
    reached, leave = threading.Event(), threading.Event()

    @penstock.calculator
    def gate(value: bytes) -> int:
        if value == b"6":
            reached.set()
            assert leave.wait(PATIENCE_S)
        return int(value)

    registry = default_registry().child()
    registry.add("calculator", "Gate", gate)
    # Two ways of unlike length to one reader: the slow one decides.
    text = (
        source(broker, topic, client=client)
        + """
    node { calculator: "PassThroughCalculator" input_stream: "value" output_stream: "passed" }
    node { calculator: "Gate" input_stream: "VALUE:passed" output_stream: "OUT:number" }
    node { calculator: "MakePairCalculator" input_stream: "value" input_stream: "number" output_stream: "p" }
    """
    )
    got = []
    graph = penstock.CalculatorGraph(text, registry=registry)
    graph.observe_output_stream("p", lambda _, p: got.append(p.payload))
    graph.start_run()
    assert reached.wait(PATIENCE_S)
    assert wait_until(lambda: len(got) == 6)
    graph.cancel()
    leave.set()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(PATIENCE_S)

    again, _ = run(source(broker, topic, "MESSAGE:m", IDLE, client=client), "m")
    values = [int(one.value) for _, one in again["m"]]
    assert values == list(range(values[0], 12))
    assert values[0] <= 6
    assert again["m"][-1][1].is_again


def test_what_was_delivered_is_acknowledged_while_the_graph_goes_on(broker):
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    with Plain(broker) as plain:
        plain.publish(topic, *["x"] * 200)
        got = []
        graph = penstock.CalculatorGraph(source(broker, topic, client=client))
        graph.observe_output_stream("value", lambda _, p: got.append(p.payload))
        graph.start_run()
        assert wait_until(lambda: len(got) == 200), graph.why()
        plain.publish(topic, "last")
        assert wait_until(lambda: len(got) == 201)
        graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(PATIENCE_S)


def test_qos_0_needs_no_name(broker):
    topic = name()
    text = source(broker, topic, options="qos: 0", client="")
    got = []
    with Plain(broker) as plain:
        graph = penstock.CalculatorGraph(text)
        graph.observe_output_stream("value", lambda _, p: got.append(p.payload))
        graph.start_run()
        assert wait_until(lambda: plain.publish(topic, "x", qos=0) or got)
        graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(PATIENCE_S)


def test_a_join_with_a_silent_topic_goes_on(broker):
    text = (
        source(broker, name(), "VALUE:v")
        + 'input_stream: "in" node { calculator: "MakePairCalculator" input_stream: "in" input_stream: "v" '
        'output_stream: "p" }'
    )
    got = []
    graph = penstock.CalculatorGraph(text)
    graph.observe_output_stream("p", lambda _, p: got.append(p.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(5, time.time_ns() // 1000))
    assert wait_until(lambda: got), graph.why()
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(PATIENCE_S)


# --- what a graph does not want -------------------------------------------------------------------


def test_a_message_that_is_too_large_goes_to_refused_and_the_rest_goes_on(broker):
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    with Plain(broker) as plain:
        plain.publish(topic, "a", "x" * 5000, "b")
    options = f"{IDLE} max_payload_bytes: 4000"
    with pytest.raises(
        GraphRunError, match=f"'{topic}' that has 5000 bytes.*connect the output REFUSED"
    ) as caught:
        run(source(broker, topic, "VALUE:v", options, client=client), "v")
    assert isinstance(caught.value.errors[0].__cause__, InvalidArgumentError)

    got, counters = run(source(broker, topic, "VALUE:v REFUSED:r", options, client=client), "v", "r")
    assert payloads(got["v"])[-1] == b"b"
    assert [len(one.value) for one in payloads(got["r"])] == [5000]
    assert counters["MqttSourceCalculator-refused"] == 1
    assert run(source(broker, topic, "VALUE:v", options, client=client), "v")[0]["v"] == []


def test_a_poisonous_message_fails_one_run_and_goes_to_a_dead_letter_topic(broker):
    topic, client, dead = name(), name("client"), name("dead")
    subscribed(broker, topic, client)
    with Plain(broker) as plain:
        plain.publish(topic, "1", "poison", "3")

    @penstock.calculator
    def number(value: bytes) -> int:
        return int(value)

    registry = default_registry().child()
    registry.add("calculator", "Number", number)
    text = (
        source(broker, topic, "VALUE:v TOPIC:t REFUSED:r", f"{IDLE} again: REFUSE", client=client)
        + """
    node { calculator: "Number" input_stream: "VALUE:v" output_stream: "OUT:n" }
    node { calculator: "ValueOf" input_stream: "MESSAGE:r" output_stream: "OUT:rv" }
    """
        + sink(broker, dead, 'input_stream: "VALUE:rv"')
    )

    @penstock.calculator
    def value_of(message: MqttMessage) -> bytes:
        return message.value

    registry.add("calculator", "ValueOf", value_of)
    with Plain(broker, dead) as plain:
        with pytest.raises(GraphRunError, match="invalid literal"):
            penstock.CalculatorGraph(text, registry=registry).run(timeout=PATIENCE_S)
        penstock.CalculatorGraph(text, registry=registry).run(timeout=PATIENCE_S)
        assert wait_until(lambda: b"poison" in [one.payload for one in plain.heard])
    assert run(source(broker, topic, "VALUE:v", IDLE, client=client), "v")[0]["v"] == []


# --- the sink -------------------------------------------------------------------------------------

ONE = """
executor { name: "one" type: "ThreadPoolExecutor" options {
  [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 }
} }
"""


@pytest.mark.parametrize("in_flight", [1, 100])
def test_each_packet_becomes_a_message_in_order_when_its_call_ends(broker, in_flight):
    topic = name()
    ports = 'input_stream: "VALUE:value" output_stream: "SENT:sent"'
    more = f'executor: "one" max_in_flight: {in_flight}'
    text = 'input_stream: "value" output_stream: "sent"' + ONE + sink(broker, topic, ports, more=more)
    with Plain(broker, topic) as plain:
        given = [(n, str(n) if n % 2 else str(n).encode()) for n in range(100)]
        sent = penstock.run(text, inputs={"value": given})["sent"]
        assert wait_until(lambda: len(plain.heard) >= 100)
    assert [(int(packet.timestamp), packet.payload) for packet in sent] == [(n, topic) for n in range(100)]
    assert [int(one.payload) for one in plain.heard] == list(range(100))


def test_topics_of_packets_and_retained_messages(broker):
    base = name()
    text = 'input_stream: "t" input_stream: "v" ' + sink(
        broker, f"{base}/usual", 'input_stream: "TOPIC:t" input_stream: "VALUE:v"', "retain: true"
    )
    penstock.run(text, inputs={"t": [(0, f"{base}/own")], "v": [(0, "a"), (1, "b")]})
    with Plain(broker, f"{base}/#") as plain:
        assert wait_until(lambda: len(plain.heard) == 2)
        assert {(one.topic, one.payload, one.retain) for one in plain.heard} == {
            (f"{base}/own", b"a", True),
            (f"{base}/usual", b"b", True),
        }
        plain.publish(f"{base}/own", b"", retain=True)
        plain.publish(f"{base}/usual", b"", retain=True)


def test_a_topic_with_wildcards_is_told(broker):
    text = 'input_stream: "value" ' + sink(broker, "a/#")
    with pytest.raises(GraphRunError, match="'a/#': Publish topic cannot contain wildcards") as caught:
        penstock.run(text, inputs={"value": [(0, "x")]})
    assert isinstance(caught.value.errors[0].__cause__, InvalidArgumentError)


def test_from_topic_to_topic_what_was_not_stored_is_not_acknowledged(broker):
    topic, client = name(), name("client")
    subscribed(broker, topic, client)
    with Plain(broker) as plain:
        plain.publish(topic, *[f"{n}" for n in range(5)])
    text = source(broker, topic, client=client) + sink(
        "127.0.0.1:9", "out", options="timeout_ms: 500 close_timeout_ms: 1000"
    )
    with pytest.raises(
        GraphRunError, match=r"topic out: 127\.0\.0\.1:9 has not stored the message"
    ) as caught:
        penstock.CalculatorGraph(text).run(timeout=PATIENCE_S)
    assert isinstance(caught.value.errors[0].__cause__, UnavailableError)
    got, _ = run(source(broker, topic, "VALUE:v", IDLE, client=client), "v")
    assert payloads(got["v"]) == [b"0", b"1", b"2", b"3", b"4"]


# --- what is missing or wrong -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (source("h:1", "").replace('topic: ""', ""), "the MQTT source has no topic; set it in the options"),
        (
            source("h:1", "t", client=""),
            "the MQTT source has no client_id, by which the broker keeps messages",
        ),
        (source("h:1", "t", ""), "the MQTT source has no output; connect VALUE, TOPIC or MESSAGE"),
        (source("h:1", "t", options="qos: 2"), "qos is 2; it must be 1 or 0"),
        (source("h:1", "t", options="keepalive_s: 0"), "keepalive_s is 0; it must be from 1"),
        (source("h:1", "t", options="ack_interval_ms: 0"), "ack_interval_ms is 0; it must be above 0"),
        (source("h:1", "t", options="give_up_ms: -1"), "give_up_ms is -1; it must be at least 0"),
        (
            'input_stream: "value"' + sink("h:1", ""),
            "set it in the options, or connect TOPIC",
        ),
        ('input_stream: "value"' + sink("h:1", "t", options="timeout_ms: 0"), "timeout_ms is 0"),
    ],
)
def test_what_is_missing_is_said_when_the_graph_is_loaded(text, why):
    with pytest.raises(GraphConfigError, match=why):
        penstock.CalculatorGraph(text)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({}, "the MQTT settings have no address of a broker; set it in the options, or give"),
        ({"address": "h:x"}, "MQTT setting: the broker's address is 'h:x'; write \"HOST:PORT\""),
        ({"address": "mqtt://h"}, "MQTT setting: the broker's address is 'mqtt://h'; write"),
        (
            {"address": "h:1", "user": "x"},
            "CONFIG has the key 'user'; it may have address, client_id",
        ),
        ({"address": "h:1", "password": 5}, "CONFIG's 'password' is a int, expected a str"),
        (
            {"address": "h:1", "ca_certs": "/no/such"},
            "MQTT setting: the TLS files of CONFIG cannot be used",
        ),
    ],
)
def test_wrong_settings_of_the_side_packet_are_told(config, why):
    text = 'input_side_packet: "c"' + source("", "t", more='input_side_packet: "CONFIG:c"')
    with pytest.raises(GraphRunError, match=why):
        penstock.CalculatorGraph(text).run({"c": config}, timeout=PATIENCE_S)
