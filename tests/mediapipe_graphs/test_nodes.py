"""Each node of the recorded runs alone: it is given what was recorded, and sends what was recorded.

A vector of tensors is not recorded, so a node that reads one runs with the nodes that make it, back to
the image.
"""

from __future__ import annotations

import pytest

import penstock
from penstock.plugins.default_registry import default_registry


def alone(run, node):
    """Return the text of a graph that runs a node alone, what its inputs are fed, and its side packets."""
    streams = {name: each for each in run.nodes for name in each.names("output_stream")}
    sides = {name: each for each in run.nodes for name in each.names("output_side_packet")}
    chosen, feeds, given = [], {}, {}
    work = [node]
    while work:
        one = work.pop()
        if one in chosen:
            continue
        chosen.append(one)
        for name in one.names("input_stream"):
            packets = run.packets(name)
            if packets is not None:
                feeds[name] = packets
            else:
                work.append(streams[name])
        for name in one.names("input_side_packet"):
            if name in sides:
                work.append(sides[name])
            elif name in run.about["side"]:
                given[name] = run.about["side"][name]
    made = {name for one in chosen for name in one.names("output_stream")}
    feeds = {name: packets for name, packets in feeds.items() if name not in made}
    ports = [f'input_stream: "{name}"\n' for name in feeds]
    ports += [f'input_side_packet: "{name}"\n' for name in given]
    return "".join([*ports, *(one.text for one in reversed(chosen))]), feeds, given


def compare_node(run, node, differences, carried):
    text, feeds, given = alone(run, node)
    found = carried(penstock.CalculatorGraph(text), feeds, given, node.names("output_stream"))
    for name, ours in found.items():
        records = run.streams.get(f"{name}__tap") or run.streams.get(name)
        if records or run.packets(name) is not None:
            differences.compare(f"{run.name}: {name}", ours, records or [])


@pytest.mark.usefixtures("models")
def test_a_node_alone_sends_what_was_recorded(kind, every_run, differences, carried):
    if not default_registry().has("calculator", kind):
        pytest.skip(f"no pack has {kind}")
    for run in every_run:
        for node in run.nodes:
            if node.type == kind and node.names("output_stream"):
                compare_node(run, node, differences, carried)

    differences.expect_none()
