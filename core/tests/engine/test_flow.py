from __future__ import annotations

import pytest

from penstock.engine.flow import FlowControl
from penstock.engine.packet import Packet
from penstock.engine.stream import UNLIMITED, Queue


@pytest.fixture
def flow() -> FlowControl:
    return FlowControl()


def queue(*throttles: int, size: int = 0, limit: int = UNLIMITED) -> Queue:
    made = Queue("q", None)
    made.throttles = frozenset(throttles)
    made.queue.extend(Packet(i, i) for i in range(size))
    made.max_size = limit
    return made


def test_a_full_queue_throttles_all_its_sources_and_no_other(flow) -> None:
    flow.became_full(queue(1, ~0))

    assert flow.throttled() == [~0, 1]
    assert flow.is_throttled(1)
    assert not flow.is_throttled(2)


def test_a_source_is_free_when_the_last_full_queue_has_room(flow) -> None:
    first, second = queue(1, 2), queue(2)
    flow.became_full(first)
    flow.became_full(second)

    flow.became_free(first)
    assert flow.throttled() == [2]
    assert flow.freed == [1]

    flow.became_free(second)
    assert flow.throttled() == []
    assert flow.freed == [1, 2]


def test_a_full_queue_without_sources_above_throttles_nobody(flow) -> None:
    lonely = queue()
    flow.became_full(lonely)

    assert lonely.is_full
    assert flow.full == {}
    flow.became_free(lonely)
    assert not lonely.is_full
    assert flow.freed == []


def test_a_smaller_limit_throttles_at_once_and_a_larger_one_frees(flow) -> None:
    waiting = queue(1, size=3)

    flow.set_limit(waiting, 3)
    assert flow.is_throttled(1)
    flow.set_limit(waiting, 2)
    assert flow.throttled() == [1]
    flow.set_limit(waiting, 4)
    assert flow.throttled() == []
    assert flow.freed == [1]


def test_a_limit_of_nought_is_always_full(flow) -> None:
    waiting = queue(1)

    flow.set_limit(waiting, 0)

    assert waiting.is_full
    assert flow.throttled() == [1]


def test_freeing_a_queue_that_was_not_full_changes_nothing(flow) -> None:
    flow.became_free(queue(1))

    assert flow.freed == []
