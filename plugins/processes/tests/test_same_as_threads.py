"""Random graphs give the same on threads and in workers: packets, bounds, counters and ledger."""

from __future__ import annotations

import contextlib
import random

import elsewhere
import pytest

import penstock
from penstock.errors import GraphRunError
from penstock_processes.process_executor import ProcessExecutor

PATIENCE_S = 60.0


def random_graph(chance):
    """Return graph text, its inputs and its outputs: each node reads streams of those before it."""
    inputs = [f"in{n}" for n in range(chance.randrange(1, 4))]
    streams = list(inputs)
    lines = [f'input_stream: "{name}"' for name in inputs]
    for number in range(chance.randrange(1, 9)):
        calculator = chance.choice(elsewhere.NUMBERS)
        reads = chance.sample(streams, min(len(streams), chance.randrange(1, 3)))
        more = (
            f"max_in_flight: {chance.randrange(2, 5)}"
            if calculator is elsewhere.Sum and chance.random() < 0.6
            else ""
        )
        ports = " ".join(f'input_stream: "{name}"' for name in reads)
        lines.append(
            f'node {{ calculator: "{calculator.__name__}" {ports} output_stream: "s{number}" {more} }}'
        )
        streams.append(f"s{number}")
    if chance.random() < 0.3:
        lines.append(f"max_queue_size: {chance.randrange(1, 4)}")
    return "\n".join(lines), inputs, streams[len(inputs) :]


def random_feed(chance, inputs):
    """Return (input, payload or None for a bound, timestamp) in an order in which they may be added."""
    next_at = dict.fromkeys(inputs, 0)
    feed = []
    for _ in range(chance.randrange(0, 30)):
        name = chance.choice(inputs)
        next_at[name] += chance.randrange(1, 12)
        feed.append((name, chance.randrange(-20, 21) if chance.random() < 0.85 else None, next_at[name]))
    return feed


def run(text, inputs, outputs, feed, registry, executor):  # noqa: PLR0913, PLR0917  # all of a graph
    """Run a graph; return what can be seen of it."""
    graph = penstock.CalculatorGraph(text, registry=registry)
    if executor is not None:
        graph.set_executor("", executor)
    seen = {name: [] for name in outputs}
    for name in outputs:
        graph.observe_output_stream(name, lambda name, p: seen[name].append((int(p.timestamp), p.payload)))
    graph.start_run()
    for name, payload, stamp in feed:
        if payload is None:
            graph.set_input_stream_timestamp_bound(name, stamp)
        else:
            graph.add_packet_to_input_stream(name, penstock.Packet(payload, stamp), timeout=PATIENCE_S)
    graph.close_all_input_streams()
    graph.wait_until_done(PATIENCE_S)
    accounts = [
        (stream.name, stream.added, [(reader.delivered, reader.dropped) for reader in stream.readers])
        for stream in graph.ledger().streams
    ]
    assert graph.ledger().adds_up
    graph.close(PATIENCE_S)
    assert set(inputs) <= set(graph.input_streams)
    return seen, accounts, graph.counters


def compare(seeds, registry, options):
    packets = 0
    executor = ProcessExecutor(2, **options)
    with contextlib.closing(executor):
        for seed in seeds:
            chance = random.Random(seed)  # noqa: S311  # a test's order
            text, inputs, outputs = random_graph(chance)
            feed = random_feed(chance, inputs)
            here = run(text, inputs, outputs, feed, registry, None)
            there = run(text, inputs, outputs, feed, registry, executor)
            assert there == here, f"seed {seed}:\n{text}\n{feed}"
            packets += sum(len(stream) for stream in here[0].values())
    return packets


def test_random_graphs_are_the_same_on_threads_and_in_workers(registry, nothing_left) -> None:
    assert compare(range(60), registry, {}) > 1000, "the graphs do write something"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("start", ["FORKSERVER", "SPAWN"])
def test_two_thousand_random_graphs_are_the_same_on_threads_and_in_workers(registry, start) -> None:
    from penstock_processes.options import StartMethod

    assert compare(range(1000, 3000), registry, {"start": StartMethod[start]}) > 30_000


def test_a_graph_that_fails_fails_with_the_same_words(registry) -> None:
    registry.add("calculator", "Three", elsewhere.Three)
    text = 'input_stream: "in" node { calculator: "Three" input_stream: "in" output_stream: "out" }'
    words = []
    for executor in (None, ProcessExecutor(1)):
        with pytest.raises(GraphRunError) as caught:
            run(text, ["in"], ["out"], [("in", n, n) for n in range(5)], registry, executor)
        words.append(str(caught.value).split(" (at ")[0])
        if executor is not None:
            executor.close()

    assert words[0] == words[1]
