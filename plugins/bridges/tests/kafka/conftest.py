from __future__ import annotations

import itertools
import json
import os
import time

import attrs
import pytest

pytest.importorskip("confluent_kafka", reason="penstock-bridges[kafka] is not installed")
from confluent_kafka import Consumer, Producer, TopicPartition

PATIENCE_S = 30.0
_numbers = itertools.count()


@attrs.frozen
class Broker:
    """Brokers to test with."""

    #: Their addresses.
    servers: str
    #: What their age demands.
    config: dict[str, str]
    #: Writes to them.
    producer: Producer

    def topic(self):
        """Return the name of a new topic."""
        return f"penstock-{os.getpid()}-{next(_numbers)}-{time.time_ns()}"

    def write(self, topic, messages, partition=None):
        """Write (key, value) pairs, and wait until they are stored."""
        for key, value in messages:
            where = {} if partition is None else {"partition": partition}
            self.producer.produce(topic, key=key, value=value, **where)
        assert self.producer.flush(PATIENCE_S) == 0

    def committed(self, topic, group, partitions=4):
        """Return the offset of a group in each partition; 0 where it has none."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": group, **self.config})
        try:
            wanted = [TopicPartition(topic, number) for number in range(partitions)]
            return [max(one.offset, 0) for one in consumer.committed(wanted, timeout=PATIENCE_S)]
        finally:
            consumer.close()

    def config_text(self, **more):
        given = {**self.config, **{key.replace("_", "."): value for key, value in more.items()}}
        return " ".join(f'config {{ key: "{key}" value: "{value}" }}' for key, value in given.items())

    def source(self, topic, group, outputs="VALUE:value", options="stop_at_end: true", more=""):
        """Return the text of a source."""
        ports = " ".join(f'output_stream: "{port}"' for port in outputs.split())
        return f"""
        node {{
          calculator: "KafkaSourceCalculator" {ports}
          node_options {{ [type.googleapis.com/penstock_kafka.KafkaSourceCalculatorOptions] {{
            bootstrap_servers: "{self.servers}" topic: "{topic}" group_id: "{group}"
            commit_interval_ms: 20 {self.config_text()} {options}
          }} }}
          {more}
        }}
        """


@pytest.fixture(scope="session")
def broker():
    """Return the brokers of PENSTOCK_KAFKA, with settings of PENSTOCK_KAFKA_CONFIG; else librdkafka's own.

    For example PENSTOCK_KAFKA=127.0.0.1:9092 PENSTOCK_KAFKA_CONFIG='{"session.timeout.ms": "10000"}'.
    """
    servers = os.environ.get("PENSTOCK_KAFKA")
    config = json.loads(os.environ.get("PENSTOCK_KAFKA_CONFIG", "{}"))
    if servers:
        shared = {key: value for key, value in config.items() if not key.startswith("session.")}
        yield Broker(servers, config, Producer({"bootstrap.servers": servers, **shared}))
        return
    # The brokers that librdkafka brings for tests end with this client.
    mock = Producer({"test.mock.num.brokers": 2})
    found = mock.list_topics(timeout=PATIENCE_S).brokers.values()
    # They notice only by the time-out of its session that a member has gone.
    yield Broker(",".join(f"{one.host}:{one.port}" for one in found), {"session.timeout.ms": "6000"}, mock)
