"""Graphs to measure, and what a scrape of them says."""

from __future__ import annotations

import urllib.request

from prometheus_client.parser import text_string_to_metric_families

import penstock

PATIENCE_S = 30.0
CHAIN = """
type: "chain"
input_stream: "in"
output_stream: "out"
node { calculator: "PassThroughCalculator" name: "first" input_stream: "in" output_stream: "middle" }
node { calculator: "PassThroughCalculator" name: "second" input_stream: "middle" output_stream: "out" }
"""


def feed(graph, numbers, stream="in"):
    for number in numbers:
        graph.add_packet_to_input_stream(stream, penstock.Packet(number, number))


def run_once(graph, count):
    graph.start_run()
    feed(graph, range(count))
    graph.close(PATIENCE_S)


def samples_of(families):
    """Return what metric families say: name, then the labels' values, each `label=value` → value."""
    found = {}
    for family in families:
        for sample in family.samples:
            key = (sample.name, *sorted(f"{name}={value}" for name, value in sample.labels.items()))
            assert key not in found, f"{key} is there twice"
            found[key] = sample.value
    return found


def fetched(url):
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:  # noqa: S310  # of a server of the test
        return answer.read().decode()


def scraped(url):
    return samples_of(text_string_to_metric_families(fetched(url)))
