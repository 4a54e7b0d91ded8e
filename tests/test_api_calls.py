"""Calls of a graph from several threads return what some order of them explains, and nothing else does."""

from __future__ import annotations

import logging
import random
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts" / "proof"
sys.path.insert(0, str(SCRIPTS))
try:
    import api_calls
    from api_model import DONE, NAMES, Call, explained
finally:
    sys.path.remove(str(SCRIPTS))


@pytest.fixture
def interval():
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("interval")
def test_some_order_explains_every_result_of_three_hundred_sequences():
    installed = api_calls.registry()
    found = [one for seed in range(300) for one in api_calls.findings(seed, installed)]

    assert found == []


def test_the_sequences_have_every_call():
    order = random.Random(1)  # noqa: S311  # a test's order
    drawn = {name for _ in range(200) for plan in api_calls.draw(order) for name, _ in plan}

    assert drawn == set(NAMES) == set(api_calls._CALLS)


def one_after_the_other(*results):
    return [Call(name, number, 2 * n, 2 * n + 1, result) for n, (name, number, result) in enumerate(results)]


RIGHT = [
    ("start", 0, DONE), ("add", 1, DONE), ("add", 1, "TimestampOrderError"), ("idle", 0, DONE),
    ("queue_size", 0, 1), ("next", 0, 1), ("next", 0, "WaitTimeoutError"), ("close_input", 0, DONE),
    ("add", 5, "StreamClosedError"), ("wait_done", 0, DONE), ("is_running", 0, False), ("run_count", 0, 1),
    ("start", 0, DONE), ("cancel", 0, DONE), ("wait_done", 0, "GraphRunError"),
]  # fmt: skip


def test_calls_of_one_thread_are_explained():
    assert explained(one_after_the_other(*RIGHT))


@pytest.mark.parametrize(
    ("place", "result"),
    [(1, "TimestampOrderError"), (2, DONE), (4, 0), (5, 2), (5, None), (6, 1), (8, DONE),
     (9, "GraphRunError"), (10, True), (11, 2), (12, "FailedPreconditionError"), (14, DONE)],
)  # fmt: skip
def test_a_wrong_result_of_one_thread_is_not_explained(place, result):
    wrong = list(RIGHT)
    wrong[place] = (*wrong[place][:2], result)

    assert not explained(one_after_the_other(*wrong))


def test_calls_at_the_same_time_may_have_either_order_but_not_both():
    start, first, second = Call("start", 0, 0, 1, DONE), ("add", 1, 2, 9), ("add", 2, 2, 9)

    assert explained([start, Call(*first, DONE), Call(*second, DONE)])
    assert explained([start, Call(*first, "TimestampOrderError"), Call(*second, DONE)])
    assert not explained([start, Call(*first, DONE), Call(*second, "TimestampOrderError")])
    assert not explained([start, Call("start", 0, 0, 9, DONE)])


@pytest.mark.usefixtures("interval")
def test_a_poller_that_gives_a_packet_twice_is_found(monkeypatch):
    from penstock.runtime.poller import OutputStreamPoller

    taken = OutputStreamPoller.next
    last = {}

    def again(self, timeout=None):
        if self in last:
            return last.pop(self)
        packet = taken(self, timeout)
        if packet is not None:
            last[self] = packet
        return packet

    monkeypatch.setattr(OutputStreamPoller, "next", again)
    installed = api_calls.registry()
    found = (one for seed in range(3000) for one in api_calls.findings(seed, installed))

    assert "no order explains" in next(found)


def test_the_script_counts_its_sequences(monkeypatch, capsys, interval):
    monkeypatch.setattr(sys, "argv", ["api_calls.py", "--count", "5", "--seed", "7"])

    assert api_calls.main() == 0
    assert capsys.readouterr().out == "calls from threads: 5 sequences, 0 findings\n"
