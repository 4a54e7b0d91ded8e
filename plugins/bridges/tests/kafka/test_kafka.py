"""Topics as streams and streams to topics, with brokers of librdkafka or real ones (see conftest.py)."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

import penstock
from penstock.errors import GraphConfigError, GraphRunError, UnavailableError
from penstock.packs import default_registry
from penstock_kafka import KafkaMessage

pytestmark = pytest.mark.heavy

PATIENCE_S = 30.0


def wait_until(done, within_s=PATIENCE_S):
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.01)
    return False


def run(text, stream, registry=None):
    """Run a graph to its end; return (timestamp, payload) of a stream."""
    got = []
    with penstock.CalculatorGraph(text, registry=registry) as graph:
        graph.observe_output_stream(stream, lambda _, p: got.append((int(p.timestamp), p.payload)))
        graph.start_run()
        graph.wait_until_done(PATIENCE_S)
        assert graph.ledger().adds_up
    return got


# --- the source ---------------------------------------------------------------------------------


def test_each_message_comes_once_and_in_the_order_of_its_partition_and_all_is_committed(broker):
    topic = broker.topic()
    broker.write(topic, [(f"k{n % 7}", f"{n}") for n in range(500)])

    # The interval never comes: what is committed was so at the end.
    source = broker.source(topic, "readers", "MESSAGE:message")
    source = source.replace("commit_interval_ms: 20 ", "commit_interval_ms: 600000 ")
    assert "600000" in source
    got = run(source, "message")

    stamps = [stamp for stamp, _ in got]
    assert stamps == sorted(set(stamps))
    messages = [message for _, message in got]
    assert sorted(int(one.value) for one in messages) == list(range(500))
    counts = [0, 0, 0, 0]
    for one in messages:
        assert one.offset == counts[one.partition]
        counts[one.partition] += 1
    assert broker.committed(topic, "readers") == counts


@pytest.mark.slow
def test_a_group_goes_on_where_it_was_and_another_begins_at_the_beginning(broker):
    topic = broker.topic()
    broker.write(topic, [("k", f"{n}") for n in range(50)])

    assert len(run(broker.source(topic, "first"), "value")) == 50
    assert run(broker.source(topic, "first"), "value") == []
    broker.write(topic, [("k", "50")])
    assert [value for _, value in run(broker.source(topic, "first"), "value")] == [b"50"]
    assert len(run(broker.source(topic, "second"), "value")) == 51


def test_keys_tombstones_and_headers(broker):
    topic = broker.topic()
    headers = None if "broker.version.fallback" in broker.config else [("lang", b"de"), ("lang", b"en")]
    broker.producer.produce(topic, key="a", value=b"\x00one", headers=headers, partition=0)
    broker.producer.produce(topic, key="b", value=None, partition=0)
    broker.producer.produce(topic, key=None, value="three", partition=0)
    broker.producer.flush(PATIENCE_S)
    seen = {"key": [], "value": [], "message": []}
    text = broker.source(topic, "g", "KEY:key VALUE:value MESSAGE:message", "stop_at_end: true times: COUNT")
    with penstock.CalculatorGraph(text) as graph:
        for name, packets in seen.items():
            graph.observe_output_stream(
                name, lambda _, p, packets=packets: packets.append((int(p.timestamp), p.payload))
            )
        graph.start_run()
        graph.wait_until_done(PATIENCE_S)

    assert seen["key"] == [(0, b"a"), (1, b"b")]
    assert seen["value"] == [(0, b"\x00one"), (2, b"three")]
    first, second, _ = (message for _, message in seen["message"])
    assert isinstance(first, KafkaMessage)
    assert first.headers == tuple(headers or ())
    assert (second.topic, second.partition, second.offset) == (topic, 0, 1)
    assert second.value is None


def test_packets_have_the_time_of_their_message(broker):
    if "broker.version.fallback" in broker.config:
        pytest.skip("brokers before 0.10 store no times")
    topic = broker.topic()
    for number, at in enumerate((1_700_000_000_000, 1_700_000_000_005, 1_700_000_000_005, 1_700_000_000_001)):
        broker.producer.produce(topic, value=str(number), partition=0, timestamp=at)
    broker.producer.flush(PATIENCE_S)

    got = run(broker.source(topic, "g"), "value")

    first = 1_700_000_000_000_000
    assert [stamp - first for stamp, _ in got] == [0, 5000, 5001, 5002], "behind: the next that is free"


def test_only_what_was_delivered_is_committed_while_the_graph_runs(broker):
    topic = broker.topic()
    broker.write(topic, [("k", f"{n}") for n in range(40)], partition=0)
    reached, leave = threading.Event(), threading.Event()

    @penstock.calculator
    def gate(value: bytes) -> int:
        if value == b"25":
            reached.set()
            assert leave.wait(PATIENCE_S)
        return int(value)

    registry = default_registry().child()
    registry.add("calculator", "Gate", gate)
    # Two ways of unlike length to one reader: the slow one decides.
    text = (
        broker.source(topic, "g", options="")
        + """
    max_queue_size: 100
    node { calculator: "PassThroughCalculator" input_stream: "value" output_stream: "passed" }
    node { calculator: "Gate" input_stream: "VALUE:passed" output_stream: "OUT:number" }
    node { calculator: "MakePairCalculator" input_stream: "value" input_stream: "number" output_stream: "p" }
    """
    )
    graph = penstock.CalculatorGraph(text, registry=registry)
    got = []
    graph.observe_output_stream("p", lambda _, p: got.append(p.payload))
    graph.start_run()
    assert reached.wait(PATIENCE_S), graph.why()
    assert wait_until(lambda: len(got) == 25)
    time.sleep(0.5)  # many times as long as a commit takes
    assert broker.committed(topic, "g", 1)[0] <= 25
    leave.set()
    assert wait_until(lambda: broker.committed(topic, "g", 1) == [40]), graph.why()
    broker.write(topic, [("k", "40")], partition=0)
    assert wait_until(lambda: broker.committed(topic, "g", 1) == [41]), "the graph goes on"
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(PATIENCE_S)
    assert len(got) == 41


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_what_a_killed_program_had_not_done_comes_again(broker, tmp_path):
    topic = broker.topic()
    broker.write(topic, [(f"k{n}", f"{n}") for n in range(3000)])
    text = (
        broker.source(topic, "g")
        + """
    node { calculator: "Keep" input_stream: "VALUE:value" output_stream: "OUT:kept" }
    """
    )
    graph, kept = tmp_path / "graph.pbtxt", tmp_path / "kept"
    graph.write_text(text)
    kept.touch()
    command = [sys.executable, Path(__file__).with_name("crashing.py"), graph, kept]
    for number in range(1, 4):
        program = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        assert wait_until(lambda number=number: kept.read_bytes().count(b"\n") > 500 * number)
        program.send_signal(signal.SIGKILL)
        program.wait(PATIENCE_S)
    finished = subprocess.run(command, timeout=90, check=False)

    assert finished.returncode == 0
    lines = kept.read_text().split()
    assert {int(line) for line in lines} == set(range(3000)), "nothing is lost"
    assert sum(broker.committed(topic, "g")) == 3000


@pytest.mark.slow
def test_two_members_of_a_group_share_the_partitions(broker):
    topic = broker.topic()
    broker.write(topic, [(f"k{n}", f"{n}") for n in range(400)])
    got = [[], []]
    graphs = [
        penstock.CalculatorGraph(broker.source(topic, "g", "MESSAGE:message", options="")) for _ in range(2)
    ]
    for graph, messages in zip(graphs, got, strict=True):
        graph.observe_output_stream("message", lambda _, p, messages=messages: messages.append(p.payload))
        graph.start_run()
    try:
        assert wait_until(lambda: sum(broker.committed(topic, "g")) == 400)
        more = 0
        while not all(got):  # the second joins when the group next changes hands
            more += 1
            assert more < 600
            broker.write(topic, [(f"k{n}", f"{400 + n}") for n in range(20)])
            time.sleep(0.05)
    finally:
        for graph in graphs:
            graph.cancel()
            with pytest.raises(GraphRunError):
                graph.wait_until_done(PATIENCE_S)

    assert {int(one.value) for messages in got for one in messages} >= set(range(400))


def test_a_topic_that_does_not_exist_is_told(broker):
    text = broker.source(
        "no-such-topic", "g", options='config { key: "allow.auto.create.topics" value: "false" }'
    )
    graph = penstock.CalculatorGraph(text)
    graph.start_run()
    if not _tells_unknown_topics(graph):
        pytest.skip("these brokers make the topics that one asks for")


def _tells_unknown_topics(graph):
    try:
        graph.wait_until_done(3)
    except penstock.errors.WaitTimeoutError:
        graph.cancel()
        with pytest.raises(GraphRunError):
            graph.wait_until_done(PATIENCE_S)
        return False
    except GraphRunError as error:
        assert "topic no-such-topic: " in str(error)  # noqa: PT017
        return True
    return False


def test_brokers_that_do_not_answer_are_tried_again_with_a_warning_and_the_run_can_end(caplog):
    text = """
    node {
      calculator: "KafkaSourceCalculator" output_stream: "VALUE:value"
      node_options { [type.googleapis.com/penstock_kafka.KafkaSourceCalculatorOptions] {
        bootstrap_servers: "127.0.0.1:9" topic: "t" group_id: "g"
      } }
    }
    """
    graph = penstock.CalculatorGraph(text)
    graph.start_run()
    assert wait_until(lambda: any("trying again" in record.getMessage() for record in caplog.records))
    begin = time.monotonic()
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(PATIENCE_S)

    assert time.monotonic() - begin < 5
    (record, *_) = [record for record in caplog.records if "trying again" in record.getMessage()]
    assert record.node == "KafkaSourceCalculator"


# --- the sink -------------------------------------------------------------------------------------

SINK = """
node {{
  calculator: "KafkaSinkCalculator" {more}
  {ports}
  node_options {{ [type.googleapis.com/penstock_kafka.KafkaSinkCalculatorOptions] {{
    bootstrap_servers: "{servers}" topic: "{topic}" {options}
  }} }}
}}
"""
ONE = """
executor { name: "one" type: "ThreadPoolExecutor" options {
  [penstock.ThreadPoolExecutorOptions.ext] { num_threads: 1 }
} }
"""


def sink(broker, topic, ports='input_stream: "VALUE:value"', more="", options=""):
    config = {key: value for key, value in broker.config.items() if not key.startswith("session.")}
    whole = " ".join(f'config {{ key: "{key}" value: "{value}" }}' for key, value in config.items())
    return SINK.format(ports=ports, more=more, servers=broker.servers, topic=topic, options=whole + options)


def read_all(broker, topic, count):
    """Return (key, value, partition) of so many messages."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.servers,
            "group.id": f"all-{topic}",
            "auto.offset.reset": "earliest",
            **broker.config,
        }
    )
    partitions = consumer.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
    found = []
    try:
        end = time.monotonic() + PATIENCE_S
        while len(found) < count and time.monotonic() < end:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                found.append((message.key(), message.value(), message.partition()))
    finally:
        consumer.close()
    return found


@pytest.mark.parametrize("in_flight", [1, 100])
def test_each_packet_becomes_a_message_in_order_and_is_stored_when_its_call_ends(broker, in_flight):
    topic = broker.topic()
    ports = 'input_stream: "KEY:key" input_stream: "VALUE:value" output_stream: "SENT:sent"'
    more = f'executor: "one" max_in_flight: {in_flight}'
    graph = (
        'input_stream: "key" input_stream: "value" output_stream: "sent"'
        + ONE
        + sink(broker, topic, ports, more)
    )
    given = {
        "key": [(n, f"k{n % 5}") for n in range(200)],
        "value": [(n, str(n) if n % 2 else str(n).encode()) for n in range(200)],
    }
    sent = penstock.run(graph, inputs=given)["sent"]

    stored = read_all(broker, topic, 200)
    assert [int(packet.timestamp) for packet in sent] == list(range(200))
    assert len({packet.payload for packet in sent}) == 200
    assert sorted(int(value) for _, value, _ in stored) == list(range(200))
    for key in range(5):
        values = [int(value) for of, value, _ in stored if of == f"k{key}".encode()]
        assert values == list(range(key, 200, 5))
        assert len({partition for of, _, partition in stored if of == f"k{key}".encode()}) == 1


def test_a_key_alone_is_a_tombstone(broker):
    topic = broker.topic()
    graph = 'input_stream: "key" input_stream: "value"' + sink(
        broker, topic, 'input_stream: "KEY:key" input_stream: "VALUE:value"'
    )
    penstock.run(graph, inputs={"key": [(0, "a"), (1, "a")], "value": [(0, "x")]})

    assert [(key, value) for key, value, _ in read_all(broker, topic, 2)] == [(b"a", b"x"), (b"a", None)]


def test_from_topic_to_topic_what_was_not_stored_is_not_committed(broker):
    """The sink's brokers do not answer: no offset is committed, and the error names the topic."""
    topic = broker.topic()
    broker.write(topic, [("k", f"{n}") for n in range(10)], partition=0)
    text = broker.source(topic, "g", options="") + SINK.format(
        ports='input_stream: "VALUE:value"',
        more="",
        servers="127.0.0.1:9",
        topic="out",
        options='config { key: "message.timeout.ms" value: "700" } close_timeout_ms: 2000',
    )
    graph = penstock.CalculatorGraph(text)
    graph.start_run()
    with pytest.raises(GraphRunError, match="topic out: Local: Message timed out") as caught:
        graph.wait_until_done(PATIENCE_S)

    cause = caught.value.errors[0].__cause__
    assert isinstance(cause, UnavailableError)
    assert broker.committed(topic, "g", 1) == [0]


def test_a_message_that_is_too_large_is_refused_with_the_topic(broker):
    graph = 'input_stream: "value"' + sink(
        broker, broker.topic(), options='config { key: "message.max.bytes" value: "2000" }'
    )
    with pytest.raises(GraphRunError, match="Message size too large"):
        penstock.run(graph, inputs={"value": [(0, b"x" * 5000)]})


# --- what is missing or wrong -----------------------------------------------------------------------


INPUT = 'input_stream: "v"'


def a_source(options, output='output_stream: "VALUE:v"'):
    return f"""
    calculator: "KafkaSourceCalculator" {output} node_options {{
      [type.googleapis.com/penstock_kafka.KafkaSourceCalculatorOptions] {{ {options} }}
    }}
    """


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (a_source('group_id: "g"'), "the Kafka source has no topic; set it in the options"),
        (a_source('topic: "t"'), "the Kafka source has no group_id; set it in the options"),
        (
            a_source('topic: "t" group_id: "g"', ""),
            "the Kafka source has no output; connect VALUE, KEY or MESSAGE",
        ),
        (
            a_source('topic: "t" group_id: "g" start_at: "now"'),
            'start_at is .now.; it must be "earliest" or "latest"',
        ),
        (
            a_source('topic: "t" group_id: "g" commit_interval_ms: 0'),
            "commit_interval_ms is 0; it must be above 0",
        ),
        (
            'calculator: "KafkaSinkCalculator" input_stream: "VALUE:v"',
            "the Kafka sink has no topic; set it in the options",
        ),
    ],
)
def test_what_is_missing_is_said_when_the_graph_is_loaded(node, message):
    with pytest.raises(GraphConfigError, match=message):
        penstock.CalculatorGraph(f"{'' if 'output_stream' in node else INPUT} node {{ {node} }}")


def test_settings_come_from_the_side_packet_too_and_wrong_ones_are_told():
    text = """
    input_side_packet: "config"
    node {
      calculator: "KafkaSourceCalculator" output_stream: "VALUE:v" input_side_packet: "CONFIG:config"
      node_options { [type.googleapis.com/penstock_kafka.KafkaSourceCalculatorOptions] {
        topic: "t" group_id: "g"
      } }
    }
    """
    with pytest.raises(
        GraphRunError, match="the Kafka settings name no brokers; set bootstrap_servers in the options"
    ):
        penstock.CalculatorGraph(text).run({"config": {}}, timeout=PATIENCE_S)
    wrong = {"bootstrap.servers": "127.0.0.1:9", "no.such": "1"}
    with pytest.raises(GraphRunError, match=r'cannot read t: No such .* property: "no\.such"'):
        penstock.CalculatorGraph(text).run({"config": wrong}, timeout=PATIENCE_S)


@pytest.mark.parametrize(
    "key", ["plugin.library.paths", "sasl.password", "ssl.ca.location", "sasl.kerberos.kinit.cmd", "no.such"]
)
@pytest.mark.parametrize("calculator", ["KafkaSourceCalculator", "KafkaSinkCalculator"])
def test_a_graph_cannot_set_what_runs_code_reads_files_or_is_a_password(calculator, key):
    stream = 'input_stream: "VALUE:in"' if "Sink" in calculator else 'output_stream: "VALUE:v"'
    text = f"""{INPUT} node {{ calculator: "{calculator}" {stream}
      node_options {{ [type.googleapis.com/penstock_kafka.{calculator}Options] {{
        bootstrap_servers: "127.0.0.1:9" topic: "t" config {{ key: "{key}" value: "/tmp/x" }} }} }} }}"""
    with pytest.raises(
        GraphConfigError, match=f"config '{key}' cannot be set by a graph.*side packet CONFIG"
    ):
        penstock.CalculatorGraph(text)


def after_the_year_9999(broker):
    """Return a topic whose second message has a time after which no stream would go on."""
    if "broker.version.fallback" in broker.config:
        pytest.skip("brokers before 0.10 store no times")
    topic = broker.topic()
    for number, at in enumerate((1_700_000_000_000, 2**62, 1_700_000_000_001)):
        broker.producer.produce(topic, value=str(number), partition=0, timestamp=at)
    broker.producer.flush(PATIENCE_S)
    return topic


def test_a_message_that_would_leave_no_timestamps_goes_to_refused_and_the_rest_goes_on(broker):
    topic = after_the_year_9999(broker)
    text = broker.source(topic, "g", outputs="VALUE:value REFUSED:refused")
    with penstock.CalculatorGraph(text) as graph:
        got = {"value": [], "refused": []}
        for name, found in got.items():
            graph.observe_output_stream(
                name, lambda _, p, found=found: found.append((int(p.timestamp), p.payload))
            )
        graph.start_run()
        graph.wait_until_done(PATIENCE_S)
        counters = graph.counters

    first = 1_700_000_000_000_000
    assert [(stamp - first, value) for stamp, value in got["value"]] == [(0, b"0"), (1000, b"2")]
    assert [message.value for _, message in got["refused"]] == [b"1"]
    assert counters["KafkaSourceCalculator-refused"] == 1
    assert broker.committed(topic, "g", 1) == [3]


def test_without_the_output_such_a_message_names_its_place_and_the_cure(broker):
    topic = after_the_year_9999(broker)
    with pytest.raises(
        GraphRunError, match=rf"{topic} 0 offset 1 that has a time after the year 9999.*REFUSED"
    ):
        run(broker.source(topic, "h"), "value")
