"""Threads that are switched every few microseconds: what goes in comes out, and the ledger adds up.

The switch interval of the interpreter is 5 ms; made 1,000 times shorter, windows between two lines
that a normal run meets once a day are met in seconds. (Found that way: an observer that two threads
drained at once.)
"""

from __future__ import annotations

import sys

import pytest

from penstock import CalculatorGraph, Packet


@pytest.fixture
def hectic():
    before = sys.getswitchinterval()
    sys.setswitchinterval(2e-6)
    yield
    sys.setswitchinterval(before)


def chain(nodes, settings):
    lines = [
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s{i}" output_stream: "s{i + 1}" }}'
        for i in range(nodes)
    ]
    return "\n".join(['input_stream: "s0"', settings, *lines])


def run(graph, last, packets):
    seen = []
    graph.observe_output_stream(last, lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    for number in range(packets):
        graph.add_packet_to_input_stream("s0", Packet(number, number))
    graph.close(60)
    return seen


@pytest.mark.parametrize("settings", ["num_threads: 4", "num_threads: 2 max_queue_size: 1"])
def test_a_chain_on_hectic_threads_loses_and_doubles_nothing(hectic, settings):
    graph = CalculatorGraph(chain(20, settings))

    for _ in range(6):
        assert run(graph, "s20", 400) == list(range(400))

        streams = graph.snapshot().streams
        assert {(stream.added, stream.queued, stream.dropped) for stream in streams} == {(400, 0, 0)}


def test_a_fork_and_a_join_on_hectic_threads_keep_what_belongs_together(hectic):
    sides = "\n".join(
        f'node {{ calculator: "PassThroughCalculator" input_stream: "s0" output_stream: "side{i}" }}'
        for i in range(4)
    )
    join = "\n".join(
        ['node { calculator: "PassThroughCalculator"']
        + [f'input_stream: "side{i}"' for i in range(4)]
        + [f'output_stream: "s{i + 1}"' for i in range(4)]
        + ["}"]
    )
    graph = CalculatorGraph(f'input_stream: "s0" num_threads: 4\n{sides}\n{join}')

    for _ in range(6):
        assert run(graph, "s4", 300) == list(range(300))
        assert graph.counters["PassThroughCalculator_5-PassThrough"] % 300 == 0


@pytest.mark.slow
def test_a_chain_on_hectic_threads_for_a_long_time(hectic):
    graph = CalculatorGraph(chain(20, "num_threads: 4"))

    for _ in range(30):
        assert run(graph, "s20", 1000) == list(range(1000))
