"""TwoPassThroughSubgraph and its variant with a side packet: in other graphs, and as graphs of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import penstock
from penstock.packs import default_registry

MAIN = """
input_stream: "in"
output_stream: "out4"
node {
  calculator: "PassThroughCalculator"
  input_stream: "in"
  output_stream: "out1"
}
node {
  calculator: "TwoPassThroughSubgraph"
  input_stream: "out1"
  output_stream: "out3"
}
node {
  calculator: "PassThroughCalculator"
  input_stream: "out3"
  output_stream: "out4"
}
"""
NODE = """
node {{
  calculator: "PassThroughCalculator"
  input_stream: "{}"
  output_stream: "{}"
}}
"""
FLAT = 'input_stream: "in"\noutput_stream: "out4"\n' + "".join(
    NODE.format(*pair) for pair in (("in", "out1"), ("out1", "out2"), ("out2", "out3"), ("out3", "out4"))
)
#: A subgraph with misspelt calculators, as in the project's first specification.
MISSPELT = """# This subgraph is defined in two_pass_through_subgraph.pbtxt
# and is registered as "TwoPassThroughSubgraph"

type: "TwoPassThroughSubgraph"
input_stream: "out1"
output_stream: "out3"

node {
    calculator: "PassThroughculator"
    input_stream: "out1"
    output_stream: "out2"
}
node {
    calculator: "PassThroughculator"
    input_stream: "out2"
    output_stream: "out3"
}
"""
PAYLOADS = (object(), None, [1, 2])


def registered(name: str) -> Path:
    path = default_registry().find("subgraph", name)
    assert isinstance(path, Path)
    return path


def packets_of(config: object, streams: tuple[str, ...], side_packets=None):
    """Return the packets of each stream as (timestamp, identity of the payload), and the graph."""
    seen: dict[str, list[tuple[int, int]]] = {stream: [] for stream in streams}
    with penstock.CalculatorGraph(config, side_packets) as graph:
        for stream in streams:
            graph.observe_output_stream(
                stream, lambda name, packet: seen[name].append((int(packet.timestamp), id(packet.payload)))
            )
        graph.start_run()
        for timestamp, payload in zip((-5, 0, 7), PAYLOADS, strict=True):
            graph.add_packet_to_input_stream("in", penstock.Packet(payload, timestamp))
    return seen, graph


@pytest.mark.parametrize(
    "name",
    [
        "FlowLimiterSubgraph",
        "NodeChainSubgraph",
        "TwoPassThroughSidePacketSubgraph",
        "TwoPassThroughSubgraph",
    ],
)
def test_the_file_names_the_type_that_it_is_registered_by(name):
    assert f'type: "{name}"' in registered(name).read_text(encoding="utf-8").splitlines()
    assert default_registry().origin("subgraph", name).distribution == "penstock-subgraphs-flow"


def test_every_packet_of_in_leaves_at_out_unchanged():
    seen, _ = packets_of(registered("TwoPassThroughSubgraph"), ("out",))

    assert seen["out"] == [(at, id(payload)) for at, payload in zip((-5, 0, 7), PAYLOADS, strict=True)]


def test_the_main_graph_gives_what_the_flat_chain_gives_packet_for_packet():
    streams = ("out1", "out3", "out4")

    assert packets_of(MAIN, streams)[0] == packets_of(FLAT, streams)[0]


def test_the_checked_graph_is_the_flat_chain_under_names_of_the_subgraph():
    text = penstock.CalculatorGraph(MAIN).text_config

    without_names, names = re.subn(
        r'  name: "twopassthroughsubgraph__PassThroughCalculator_[12]"\n', "", text
    )
    flat = without_names.replace("twopassthroughsubgraph__between", "out2")
    assert names == 2
    assert flat == penstock.CalculatorGraph(FLAT).text_config


def test_a_misspelt_calculator_is_named_with_its_file_its_place_and_a_similar_name(tmp_path):
    file = tmp_path / "two_pass_through_subgraph.pbtxt"
    file.write_text(MISSPELT, encoding="utf-8")
    main = tmp_path / "main_pass_throughcals.pbtxt"
    main.write_text(MAIN, encoding="utf-8")

    with pytest.raises(penstock.GraphConfigError) as caught:
        penstock.CalculatorGraph(main, subgraphs={"TwoPassThroughSubgraph": file})

    places = [(9, 5), (14, 5)]
    assert len(caught.value.faults) == len(places)
    for i, (fault, (line, column)) in enumerate(zip(caught.value.faults, places, strict=True), 1):
        assert str(fault).startswith(
            f"{file}:{line}:{column}: used by node 'TwoPassThroughSubgraph' at {main}:10:3: "
            f"node 'twopassthroughsubgraph__PassThroughculator_{i}' (PassThroughculator): "
            "no calculator 'PassThroughculator' is registered (did you mean 'PassThroughCalculator'"
        )


def test_a_side_packet_goes_in_and_out():
    value = object()
    seen, graph = packets_of(
        """
        input_stream: "in"
        input_side_packet: "given"
        node {
          calculator: "TwoPassThroughSidePacketSubgraph"
          input_stream: "in"
          input_side_packet: "given"
          output_stream: "out"
          output_side_packet: "kept"
        }
        """,
        ("out",),
        {"given": value},
    )

    assert [at for at, _ in seen["out"]] == [-5, 0, 7]
    assert graph.get_output_side_packet("kept").payload is value
