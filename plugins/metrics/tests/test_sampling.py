"""One timestamp at a time is followed through a graph, and what that costs is bounded."""

from __future__ import annotations

import threading
import time

import pytest
from scraping import CHAIN, PATIENCE_S, feed

import penstock
from penstock_metrics import sampling
from penstock_metrics.sampling import Sampler
from penstock_monitor import Monitor
from penstock_testing import calculator, testing_registry

LAZY = """
input_stream: "in" output_stream: "out" output_stream: "never"
node { calculator: "Lazy" input_stream: "in" output_stream: "out" output_stream: "never" }
"""


class Samples:
    """Samples of a graph, as they come."""

    def __init__(self, graph, *, is_whole=False, interval_s=0.01):
        self.came = threading.Condition()
        self.taken = []
        self.monitor = Monitor(graph)
        self.sampler = Sampler(
            graph, lambda: self.monitor.plan_streams, self._take, lambda: is_whole, interval_s
        )

    def _take(self, sample):
        with self.came:
            self.taken.append(sample)
            self.came.notify_all()

    def until(self, graph, count, first=0):
        """Feed a running graph until so many samples have come; return the next timestamp."""
        deadline = time.monotonic() + PATIENCE_S
        while len(self.taken) < count:
            assert time.monotonic() < deadline, "no sample came"
            feed(graph, [first])
            graph.wait_until_idle(PATIENCE_S)
            first += 1
        return first

    def close(self):
        self.sampler.close()
        self.monitor.close()


@pytest.fixture
def sampled():
    made = []

    def make(graph, **settings):
        made.append(Samples(graph, **settings))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(("is_whole", "seen"), [(False, ["in", "out"]), (True, ["in", "middle", "out"])])
def test_a_timestamp_is_followed_to_the_ends_or_over_all_streams(chain, sampled, is_whole, seen) -> None:
    samples = sampled(chain, is_whole=is_whole)
    chain.start_run()
    samples.until(chain, 3)
    samples.close()
    stamps = [int(sample.timestamp) for sample in samples.taken]
    times = [[sample.seen_ns[stream] for stream in seen] for sample in samples.taken]

    assert all(sorted(sample.seen_ns) == sorted(seen) for sample in samples.taken)
    assert all(one == sorted(one) for one in times)
    assert stamps == sorted(set(stamps))
    assert all(set(sample.latencies_s) == {"out"} for sample in samples.taken)


def test_nothing_is_watched_between_samples_and_after_the_end(chain, sampled) -> None:
    watched = []
    watch_stream = chain.watch_stream

    def counting(name, *arguments, **settings):
        unwatch = watch_stream(name, *arguments, **settings)
        watched.append(name)

        def leave():
            unwatch()
            watched.remove(name)

        return leave

    chain.watch_stream = counting
    samples = sampled(chain, interval_s=3600.0)
    chain.start_run()
    samples.sampler._next = 0.0
    samples.sampler._wake.set()
    samples.until(chain, 1)
    between = list(watched)
    samples.sampler._next = 0.0
    samples.sampler._wake.set()
    samples.close()

    assert between == []
    assert watched == []


def test_the_next_sample_waits_as_the_cost_of_the_last_one_asks(chain, sampled, monkeypatch) -> None:
    monkeypatch.setattr(sampling, "_CALL_S", 1.0)
    samples = sampled(chain)
    chain.start_run()
    samples.until(chain, 1)
    samples.close()

    # a packet at each end at least, 400 s for each of them
    assert samples.sampler._next - time.monotonic() > 2 * 400 - PATIENCE_S


def test_an_end_that_settles_nothing_is_waited_for_once_only(sampled, monkeypatch) -> None:
    monkeypatch.setattr(sampling, "_LONGEST_S", 0.2)
    lazy = calculator(lambda cc: cc.outputs[0].add_packet(cc.inputs[0].packet), name="Lazy")
    graph = penstock.CalculatorGraph(LAZY, registry=testing_registry(lazy))
    samples = sampled(graph)
    graph.start_run()
    samples.until(graph, 1)
    monkeypatch.setattr(sampling, "_LONGEST_S", 3600.0)
    samples.until(graph, 3, first=100_000)
    graph.close(PATIENCE_S)

    assert all(set(sample.latencies_s) == {"out"} for sample in samples.taken)


def test_a_run_that_ends_takes_its_sample_along_and_the_next_one_is_sampled(sampled) -> None:
    graph = penstock.CalculatorGraph(CHAIN)
    samples = sampled(graph)
    for run in range(3):
        graph.start_run()
        samples.until(graph, len(samples.taken) + 1)
        graph.close(PATIENCE_S)
        assert len(samples.taken) > run
