"""Timers of cancelled calls: they kill in time, and none is left behind."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from penstock_remote.killers import Killers

PATIENCE_S = 20


def test_a_call_that_goes_on_is_ended():
    killed = threading.Event()
    killers = Killers(0.01)

    killers.start(killed.set)

    assert killed.wait(PATIENCE_S)
    killers.join(PATIENCE_S)


def test_none_of_those_that_threads_start_at_the_same_time_is_left():
    before = set(threading.enumerate())
    killed = []
    killers = Killers(600)
    begin = threading.Barrier(8, timeout=PATIENCE_S)

    def start(number):
        begin.wait()
        return [killers.start(killed.append, number) for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        started = [timer for timers in pool.map(start, range(8)) for timer in timers]
    assert all(timer.is_alive() for timer in started)
    killers.join(PATIENCE_S)

    assert set(threading.enumerate()) <= before
    assert not killed


def test_after_the_end_none_is_started():
    killers = Killers(0)
    killers.join(PATIENCE_S)

    timer = killers.start(lambda: None)

    assert timer.ident is None
    timer.cancel()
