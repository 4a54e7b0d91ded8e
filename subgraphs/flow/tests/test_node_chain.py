"""NodeChainSubgraph: a chain of the length and the calculator that its params give."""

from __future__ import annotations

import pytest

import penstock
import penstock_templates
from penstock.packs import default_registry

NODE = """
input_stream: "in"
output_stream: "out"
node {{
  calculator: "NodeChainSubgraph"
  input_stream: "in"
  output_stream: "out"
  options {{ [mediapipe.TemplateSubgraphOptions.ext] {{ dict {{ {} }} }} }}
}}
"""
LENGTH = 'arg {{ key: "chain_length" value {{ num: {} }} }}'


@penstock.calculator
def one_more(number: int) -> int:
    return number + 1


@pytest.fixture
def registry():
    registry = default_registry().child()
    registry.add("calculator", "OneMore", one_more)
    return registry


def results(config, registry) -> list[tuple[int, int]]:
    packets = penstock.run(config, inputs={"in": [(0, 10), (5, 20)]}, registry=registry)["out"]
    return [(int(packet.timestamp), packet.payload) for packet in packets]


def test_a_packet_goes_through_as_many_nodes_as_the_chain_is_long(registry):
    arguments = f'{LENGTH.format(4)} arg {{ key: "node_type" value {{ str: "OneMore" }} }}'

    assert results(NODE.format(arguments), registry) == [(0, 14), (5, 24)]


def test_without_arguments_it_is_one_pass_through_node(registry):
    assert results(NODE.format(""), registry) == [(0, 10), (5, 20)]
    graph = penstock.CalculatorGraph(NODE.format(""), registry=registry)
    assert graph.text_config.count("calculator:") == 1


def test_it_is_a_graph_of_its_own_with_arguments_of_python(registry):
    path = registry.find("subgraph", "NodeChainSubgraph")
    template = penstock_templates.GraphTemplate.from_file(path, registry)

    assert template.params == {"node_type": False, "chain_length": False}
    chain = template.expand(node_type="PassThroughCalculator", chain_length=3)
    assert list(chain.output_stream) == ["link_3"]
    assert len(chain.node) == 3


def test_an_invalid_length_is_reported_with_both_places(registry):
    with pytest.raises(penstock.GraphConfigError) as caught:
        penstock.CalculatorGraph(NODE.format(LENGTH.format(1.5)), registry=registry)

    (fault,) = caught.value.faults
    assert "node_chain.pbtxt:11:1: used by node 'NodeChainSubgraph' at line 5, column 3: " in str(fault)
    assert str(fault).endswith("'range' takes a whole number from 0 on, not 1.5")
