"""Options that lack a required field pass every step that copies or measures them."""

from __future__ import annotations

from penstock.config import CalculatorGraphConfig, build_plan, read_graph
from penstock.plugins.default_registry import default_registry
from penstock_builder import Graph
from penstock_templates import GraphTemplate
from penstock_views.draw.dot import dot
from penstock_views.draw.outline import outline
from penstock_views.draw.reading import drawing

NODE = (
    'node { calculator: "SsdAnchorsCalculator" output_side_packet: %s '
    "options { [penstock.SsdAnchorsCalculatorOptions.ext] { fixed_anchors { x_center: 1 } } } }\n"
)


def is_incomplete(config: CalculatorGraphConfig) -> bool:
    return bool(config.node) and not any(node.IsInitialized() for node in config.node)


def test_in_a_subgraph():
    inner = 'type: "Inner" output_side_packet: "A:a"\n' + NODE % '"a"'

    graph = 'node { calculator: "Inner" output_side_packet: "A:a" }'

    assert is_incomplete(build_plan(graph, default_registry(), subgraphs={"Inner": inner}).config)


def test_in_a_template_text_and_binary():
    node = NODE % '% "a" + i %'
    text = f"% for (i : range(2)) %\n{node}% end %"

    template = GraphTemplate.from_text(text, default_registry())

    for source in (text, template, template.to_message()):
        config = build_plan(source, default_registry()).config
        assert len(config.node) == 2
        assert is_incomplete(config)


def test_in_pictures_and_the_builder():
    registry = default_registry()
    config = read_graph(NODE % '"a"', registry)

    assert "SsdAnchorsCalculator" in dot(drawing(config, registry))
    assert not outline(config).node[0].HasField("options")
    assert is_incomplete(Graph.from_config(config, registry).to_config())
