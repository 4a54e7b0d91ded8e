"""What a scrape costs decides how often there is a new answer."""

from __future__ import annotations

import itertools
import time

import pytest

from penstock_metrics.answers import Answers
from penstock_testing import ManualClock

GET = {"REQUEST_METHOD": "GET", "PATH_INFO": "/metrics"}


@pytest.fixture
def clock():
    return ManualClock(100.0)


def answers(clock, cost_s):
    """Return answers that count themselves, and take processor time."""
    numbers = itertools.count(1)

    def make(environ, start_response):
        until = time.thread_time() + cost_s
        while time.thread_time() < until:
            pass
        number = next(numbers)
        start_response("200 OK", [("Content-Length", "1")])
        return [f"{environ['PATH_INFO']} {number}".encode()]

    return Answers(make, clock)


def asked(made, **environ):
    heads = []
    body = made({**GET, **environ}, lambda *head: heads.append(head))
    assert heads == [("200 OK", [("Content-Length", "1")])]
    return body[0].decode()


def test_cheap_answers_are_new_each_time(clock):
    made = answers(clock, 0.0)
    assert [asked(made) for _ in range(4)] == [f"/metrics {number}" for number in (1, 2, 3, 4)]


def test_an_answer_that_costs_much_is_given_again_until_another_one_is_due(clock):
    made = answers(clock, 0.012)
    assert asked(made) == "/metrics 1"
    clock.advance(1.5)
    assert asked(made) == "/metrics 2"
    clock.advance(1.5)
    assert asked(made) == asked(made) == "/metrics 2"  # 12 ms are 0.3 % of 4 s
    clock.advance(15.0)
    assert asked(made) == "/metrics 3"


def test_another_question_gets_its_own_answer(clock):
    made = answers(clock, 0.02)
    for _ in range(2):
        asked(made)
        clock.advance(2)
    assert asked(made, PATH_INFO="/other").startswith("/other")
    assert asked(made, HTTP_ACCEPT="application/openmetrics-text").startswith("/metrics")


def test_a_failed_answer_is_not_kept(clock):
    outcomes = [RuntimeError("broken"), [b"whole"]]

    def make(_environ, start_response):
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        start_response("200 OK", [("Content-Length", "1")])
        return outcome

    made = Answers(make, clock)
    with pytest.raises(RuntimeError, match="broken"):
        asked(made)
    assert asked(made) == "whole"
