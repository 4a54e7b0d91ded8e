from __future__ import annotations

import itertools

import pytest

import penstock
from penstock.errors import InvalidArgumentError, WaitTimeoutError
from penstock_stream_handlers.components import OPTIONS
from penstock_stream_handlers.default import DefaultInputStreamHandler


class Together(penstock.Calculator):
    """Writes the payloads of each call as one word, such as "ab"."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set(str)
        cc.outputs[0].set(str)

    def process(self, cc):
        word = "".join(port.payload for port in cc.inputs if not port.is_empty())
        cc.output.add(word, cc.input_timestamp)


@pytest.fixture
def registry(penstock_registry):
    handlers = penstock_registry.child()
    handlers.add("input stream handler", "DefaultInputStreamHandler", DefaultInputStreamHandler)
    handlers.add("calculator", "Together", Together)
    name = "penstock.DefaultInputStreamHandlerOptions"
    handlers.add_option(name, *OPTIONS[name])
    return handlers


@pytest.fixture
def graph(registry):
    return penstock.CalculatorGraph(
        'input_stream: "a" input_stream: "b" '
        'node { calculator: "Together" input_stream: "a" input_stream: "b" output_stream: "out" }',
        registry=registry,
    )


def observed(graph, stream="out"):
    seen = []
    graph.observe_output_stream(
        stream, lambda _, packet: seen.append((int(packet.timestamp), packet.payload))
    )
    return seen


PACKETS = [("a", 1), ("a", 3), ("b", 1), ("b", 2)]
#: All orders in which each stream's own timestamps rise.
ARRIVALS = [
    order
    for order in itertools.permutations(PACKETS)
    if all([p for p in order if p[0] == name] == [p for p in PACKETS if p[0] == name] for name in "ab")
]


@pytest.mark.parametrize("order", ARRIVALS)
def test_what_comes_together_does_not_depend_on_the_order_of_arrival(graph, order):
    seen = observed(graph)

    with graph:
        graph.start_run()
        for stream, timestamp in order:
            graph.add_packet_to_input_stream(stream, penstock.Packet(stream, timestamp))

    assert seen == [(1, "ab"), (2, "b"), (3, "a")]


def test_a_node_waits_for_a_stream_that_has_not_settled(graph):
    seen = observed(graph)
    graph.start_run()

    graph.add_packet_to_input_stream("a", penstock.Packet("a", 5))
    graph.wait_until_idle(5)
    before = list(seen)
    graph.set_input_stream_timestamp_bound("b", 6)
    graph.wait_until_idle(5)

    assert (before, seen) == ([], [(5, "a")])
    graph.close(5)


def test_a_wait_that_expires_names_the_stream_that_is_behind(graph):
    graph.start_run()
    graph.add_packet_to_input_stream("a", penstock.Packet("a", 5))
    graph.close_input_stream("a")

    with pytest.raises(
        WaitTimeoutError, match=r"node 'Together' waits for stream 'b' \(no packet yet\) to settle 5"
    ):
        graph.wait_until_done(timeout=0)

    graph.close(5)


BATCHED = """
  input_stream: "a"
  node {{
    calculator: "Together" input_stream: "a" output_stream: "out" {more}
    input_stream_handler {{
      input_stream_handler: "DefaultInputStreamHandler"
      options {{ [{package}.DefaultInputStreamHandlerOptions.ext] {{ batch_size: {size} }} }}
    }}
  }}
"""


def batched(registry, size, more="", package="penstock"):
    return penstock.CalculatorGraph(BATCHED.format(size=size, more=more, package=package), registry=registry)


@pytest.mark.parametrize("package", ["penstock", "mediapipe"])
def test_a_batch_waits_until_it_is_full_and_the_last_one_for_the_end(registry, package):
    graph = batched(registry, 3, package=package)
    seen = observed(graph)
    graph.start_run()
    for stamp in range(5):
        graph.add_packet_to_input_stream("a", penstock.Packet("a", stamp))
        graph.wait_until_idle(20)
        assert len(seen) == (0 if stamp < 2 else 3)
    graph.close_all_packet_sources()
    graph.wait_until_done(20)

    assert seen == [(stamp, "a") for stamp in range(5)]


def test_a_batch_size_of_0_is_refused_when_a_run_starts(registry):
    with pytest.raises(
        InvalidArgumentError, match="node 'Together': batch_size 0 of DefaultInputStreamHandler"
    ):
        batched(registry, 0).start_run()


def test_a_batch_cannot_be_combined_with_calls_that_overlap(registry):
    with pytest.raises(InvalidArgumentError, match="batch_size 2 does not go with max_in_flight 3"):
        batched(registry, 2, "max_in_flight: 3").start_run()
