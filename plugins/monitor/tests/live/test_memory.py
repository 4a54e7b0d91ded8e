"""A server that is looked at for long needs no more memory than at first."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock_formats import ImageFrame

pytestmark = pytest.mark.heavy

BENCHMARK = Path(__file__).parents[4] / "benchmarks" / "live.py"


def test_thousands_of_readings_and_thumbnails_leave_nothing_behind(hand, stack, monkeypatch):
    others = set(threading.enumerate())
    monkeypatch.setattr("penstock_live.feed.SHORTEST_S", 0.0)
    monkeypatch.setattr("penstock_live.thumbnails.FRESH_S", 0.0)
    monitor = hand.Monitor()
    client = hand.Client(stack.enter_context(hand.serve(monitor)).url)
    followers = []
    for _ in range(3):
        connection, answer = client.open("/events")
        stack.enter_context(connection)
        followers.append(hand.events(answer))
    for follower in followers:
        next(follower)

    def look(times):
        for number in range(times):
            monitor.give(elapsed_s=float(number))
            for follower in followers:
                next(follower)
            if number % 10 == 0:
                pixels = np.full((90, 160, 3), number % 256, np.uint8)
                monitor.packets["in"] = penstock.Packet(ImageFrame(pixels), number)
                assert client.request("/thumbnails?stream=in")[0] == 200
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    stack.callback(tracemalloc.stop)
    before = look(200)
    assert look(1000) - before < 100_000  # bytes; a reading has some 1,500, a frame 43,200
    threads = set(threading.enumerate()) - others
    assert len(threads) < 12, threads  # the server's, with those of its pools


def test_clients_that_come_and_go_leave_nothing_behind(hand, stack):
    client = hand.Client(stack.enter_context(hand.serve(hand.Monitor())).url)

    def come_and_go(times):
        for _ in range(times):
            connection, answer = client.open("/events")
            with connection:
                next(hand.events(answer))
        client.request("/reading")
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    stack.callback(tracemalloc.stop)
    before = come_and_go(30)
    assert come_and_go(150) - before < 100_000


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not BENCHMARK.exists(), reason="the benchmarks are in the repository only")
def test_ten_minutes_under_three_pages_leave_the_memory_as_it_was():
    subprocess.run(
        [sys.executable, BENCHMARK, "--minutes", "10"], check=True, cwd=BENCHMARK.parent, timeout=800
    )
