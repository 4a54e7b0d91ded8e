"""What the source knows of its group: partitions that come and go, and commits that are refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, TopicPartition

from penstock_kafka.client.reader import Reader
from penstock_kafka.options import KafkaSourceCalculatorOptions


class Consumer:
    """Notes what is committed, and refuses partitions of `refuses`."""

    def __init__(self):
        self.committed, self.refuses = [], set()

    def subscribe(self, topics, **callbacks):
        self.callbacks = callbacks

    def commit(self, offsets, asynchronous):
        assert not asynchronous
        self.committed.append({one.partition: one.offset for one in offsets})
        error = KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)
        return [
            SimpleNamespace(
                topic=one.topic,
                partition=one.partition,
                error=error if one.partition in self.refuses else None,
            )
            for one in offsets
        ]


@pytest.fixture
def consumer():
    return Consumer()


@pytest.fixture
def reader(consumer):
    access = SimpleNamespace(connecting=lambda _: None)
    cc = SimpleNamespace(service=lambda _: access, node_name="source", input_side_packets={})
    options = KafkaSourceCalculatorOptions("broker:9092", ("t",), "g", stop_at_end=True)
    return Reader(cc, options, lambda _: consumer)


def tell(consumer, what, *partitions):
    consumer.callbacks[what](consumer, [TopicPartition("t", one) for one in partitions])


def read(reader, *partitions):
    reader._read.update(("t", one) for one in partitions)


def test_it_is_not_at_the_end_while_the_group_assigns_its_partitions_again(reader, consumer):
    assert not reader._is_at_end()
    tell(consumer, "on_assign", 0, 1)
    read(reader, 0)
    tell(consumer, "on_revoke", 0, 1)

    assert not reader._is_at_end()
    tell(consumer, "on_assign", 1)
    assert not reader._is_at_end()
    read(reader, 1)
    assert reader._is_at_end()


def test_partitions_that_it_keeps_count_where_only_new_ones_are_told(reader, consumer):
    tell(consumer, "on_assign", 0)
    tell(consumer, "on_assign", 1)
    read(reader, 1)

    assert not reader._is_at_end()
    tell(consumer, "on_revoke", 0)
    tell(consumer, "on_assign")
    assert reader._is_at_end()


def test_a_member_without_partitions_is_at_the_end(reader, consumer):
    tell(consumer, "on_assign")

    assert reader._is_at_end()


def test_what_comes_when_it_has_read_all_is_left_to_others(reader, consumer):
    tell(consumer, "on_assign", 0)
    read(reader, 0)
    assert reader._is_at_end()
    tell(consumer, "on_revoke", 0)
    tell(consumer, "on_assign", 0, 1)

    assert reader._is_at_end()


def test_an_offset_that_was_refused_for_one_partition_is_committed_again(reader, consumer):
    reader._sent = {("t", 0): 5, ("t", 1): 7}
    consumer.refuses = {1}

    for _ in range(2):
        reader._followed = dict(reader._sent)
        reader._sweep = SimpleNamespace(is_over=lambda: True)
        reader._look()
        consumer.refuses = set()

    assert consumer.committed == [{0: 5, 1: 7}, {1: 7}]
    assert reader._committed == reader._sent
