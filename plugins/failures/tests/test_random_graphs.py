"""Random graphs in which nodes fail: exactly the failed sets are missing, on threads and in workers."""

from __future__ import annotations

import contextlib
import random

import pytest

import penstock
from penstock_processes.process_executor import ProcessExecutor

pytestmark = pytest.mark.heavy

PATIENCE_S = 60.0
POLICIES = ("on_error: SKIP", "on_error: SKIP retry: 1", "on_error: RESTART max_restarts: 9999")
OPTIONS = "node_options {{ [type.googleapis.com/trouble.SumOptions] {{ seed: {} one_in: {} {} }} }}"


def random_graph(chance):
    """Return the text of a graph whose nodes fail, and of one whose nodes are silent instead."""
    inputs = [f"in{n}" for n in range(chance.randrange(1, 4))]
    streams = list(inputs)
    texts = [[f'input_stream: "{name}"' for name in inputs] for _ in range(2)]
    for number in range(chance.randrange(1, 7)):
        reads = " ".join(f'input_stream: "{name}"' for name in chance.sample(streams, min(len(streams), 2)))
        more = f"max_in_flight: {chance.randrange(2, 5)}" if chance.random() < 0.4 else ""
        head = f'node {{ calculator: "Sum" {reads} output_stream: "s{number}" {more} '
        numbers = (chance.randrange(100), chance.randrange(2, 6))
        policy = f"failure {{ {chance.choice(POLICIES)} }}"
        texts[0].append(f"{head} {OPTIONS.format(*numbers, '')} {policy} }}")
        texts[1].append(f"{head} {OPTIONS.format(*numbers, 'is_silent: true')} }}")
        streams.append(f"s{number}")
    return texts, inputs, streams[len(inputs) :]


def run(lines, inputs, outputs, feed, registry, executor):  # noqa: PLR0913, PLR0917  # all of a graph
    """Run a graph; return the packets and bounds of its streams, and the number of skipped packets."""
    graph = penstock.CalculatorGraph("\n".join(lines), registry=registry)
    if executor is not None:
        graph.set_executor("", executor)
    seen = {name: [] for name in outputs}

    def see(name, packet):
        seen[name].append((int(packet.timestamp), None if packet.is_empty() else packet.payload))

    for name in outputs:
        graph.observe_output_stream(name, see)
    graph.start_run()
    for name, payload, stamp in feed:
        graph.add_packet_to_input_stream(name, penstock.Packet(payload, stamp), timeout=PATIENCE_S)
    for name in inputs:
        graph.close_input_stream(name)
    graph.wait_until_done(PATIENCE_S)
    ledger = graph.ledger()
    assert ledger.adds_up
    skipped = sum(drop.count for drop in ledger.drops if drop.reason.startswith("skipped"))
    failures = len(graph.failures())
    graph.close(PATIENCE_S)
    return seen, skipped, failures


def compare(seeds, registry, executor=None):
    """Return how many packets came out, and how many failures there were."""
    packets = failures = 0
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311  # a test's order
        (failing, silent), inputs, outputs = random_graph(chance)
        feed = sorted(
            (
                (name, chance.randrange(100), stamp)
                for name in inputs
                for stamp in range(0, 60, chance.randrange(2, 9))
            ),
            key=lambda one: one[2],
        )
        expected, none, _ = run(silent, inputs, outputs, feed, registry, None)
        found, skipped, failed = run(failing, inputs, outputs, feed, registry, executor)
        assert found == expected, f"seed {seed}:\n" + "\n".join(failing)
        assert none == 0
        assert (skipped > 0) == (failed > 0)
        packets += sum(map(len, found.values()))
        failures += failed
    return packets, failures


def test_exactly_the_failed_sets_are_missing(registry):
    packets, failures = compare(range(150), registry)
    assert packets > 2000
    assert failures > 500


def test_exactly_the_failed_sets_are_missing_in_workers(registry):
    with contextlib.closing(ProcessExecutor(2)) as executor:
        assert min(compare(range(150, 170), registry, executor)) > 50


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_exactly_the_failed_sets_of_two_thousand_graphs_are_missing(registry):
    compare(range(1000, 3000), registry)
    with contextlib.closing(ProcessExecutor(2)) as executor:
        compare(range(3000, 3300), registry, executor)
