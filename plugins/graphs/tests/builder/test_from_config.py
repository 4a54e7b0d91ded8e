"""From a config to objects and back, without loss."""

import pytest

from penstock import CalculatorGraph, Packet, Subgraph
from penstock.config import read_graph
from penstock.errors import AlreadyExistsError, GraphParseError, InvalidArgumentError, NotFoundError
from penstock_builder import Graph

#: All that a config can say, and forms that the builder itself would not choose.
ODD = """
type: "Odd" package: "a.b" max_queue_size: 3 num_threads: 2 report_deadlock: true
input_stream: "IN:0:a" input_stream: "b"
input_side_packet: "SIDE:s" output_side_packet: "made"
output_stream: "OUT:1:z" output_stream: "OUT:0:a" output_stream: "nobody_writes_it"
executor { name: "slow" type: "ThreadPoolExecutor" }
input_stream_handler { input_stream_handler: "DefaultInputStreamHandler" }
profiler_config { enable_profiler: true }
status_handler { status_handler: "Old" }
node {
  name: "one" calculator: "Unknown" source_layer: 1 buffer_size_hint: 2 max_in_flight: 3 executor: "slow"
  input_stream: "TAG:1:b" input_stream: "plain" input_stream: "TAG:0:a" input_stream: "ALONE:0:z"
  input_stream: "second"
  output_stream: "y" output_stream: "X:x"
  input_side_packet: "SIDE:s" output_side_packet: "made"
  input_stream_info { tag_index: "ALONE" back_edge: true }
  input_stream_handler { input_stream_handler: "Strange" }
  option_value: "field:other"
}
node { calculator: "AddCalculator" input_stream: "y" output_stream: "z" }
"""


def test_a_config_comes_back_as_it_was(registry):
    message = read_graph(ODD, registry)
    g = Graph.from_config(ODD, registry)
    assert g.to_config() == message
    assert read_graph(g.to_text(), registry) == message
    assert Graph.from_config(message, registry).to_config() == message
    assert Graph.from_config(g, registry).to_config() == message


def test_what_is_read_is_left_as_it_is(registry):
    message = read_graph(ODD, registry)
    before = message.SerializeToString(deterministic=True)
    g = Graph.from_config(message, registry)
    g.node("AddCalculator", g.nodes[1].output)
    g.settings.num_threads = 9
    assert message.SerializeToString(deterministic=True) == before
    g.to_config().node[0].name = "changed"
    assert g.nodes[0].name == "one"


def test_a_file_is_read(tmp_path, registry):
    path = tmp_path / "graph.pbtxt"
    path.write_text(ODD, encoding="utf-8")
    assert Graph.from_config(path, registry).to_config() == read_graph(ODD, registry)
    with pytest.raises(NotFoundError, match="there is no graph file"):
        Graph.from_config(tmp_path / "none.pbtxt", registry)
    with pytest.raises(GraphParseError, match="has no field 'nodes'"):
        Graph.from_config("nodes {}", registry)


def test_a_graph_that_was_read_goes_on(registry):
    g = Graph.from_config(
        'input_stream: "a" node { calculator: "AddCalculator" input_stream: "a" }', registry
    )
    (node,) = g.nodes
    node.inputs[1] = node.inputs[0]
    assert node.output.name == "add"
    with pytest.raises(InvalidArgumentError, match="takes int"):
        g.node("AddCalculator", g.input("words", str))
    assert list(g.to_config().node[0].input_stream) == ["a", "a"]
    assert g.stream_names.find("a") is node.inputs[0]


def test_a_stream_without_a_writer_is_kept_for_the_check_of_the_whole_graph(registry):
    text = 'node { calculator: "AddCalculator" input_stream: "missing" }'
    g = Graph.from_config(text, registry)
    assert g.nodes[0].inputs[0].writer is None
    assert g.to_config() == read_graph(text, registry)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (
            'input_stream: "a" node { calculator: "X" output_stream: "a" }',
            AlreadyExistsError,
            "'a' is taken by",
        ),
        ('node { calculator: "X" input_stream: "A:0:b" input_stream: "A:c" }', InvalidArgumentError, "twice"),
        ('node { calculator: "X" input_stream: "NOT A PORT" }', InvalidArgumentError, "is no port"),
    ],
)
def test_wires_that_cannot_be_drawn_are_refused(registry, text, error, words):
    with pytest.raises(error, match=words):
        Graph.from_config(text, registry)


def test_the_ports_of_a_subgraph_that_is_a_file_are_known(tmp_path, registry):
    path = tmp_path / "part.pbtxt"
    path.write_text('type: "Part" input_stream: "IN:a" output_stream: "OUT:a"', encoding="utf-8")
    registry.add("subgraph", "Part", path)
    g = Graph(registry)
    a = g.input("a")
    assert g.node("Part", {"IN": a}).output.name == "part_out"
    with pytest.raises(InvalidArgumentError, match=r"node 'Part' has no input 'INS' \(did you mean 'IN'\?\)"):
        g.node("Part", {"INS": a})
    with pytest.raises(InvalidArgumentError, match="has no output 'OUTS'"):
        _ = g.nodes[0].outputs["OUTS"]


def test_a_subgraph_that_is_computed_takes_any_port(registry):
    registry.add("subgraph", "Computed", Subgraph)
    registry.add("subgraph", "Made", Subgraph())
    g = Graph(registry)
    for name in ("Computed", "Made"):
        assert (
            g.node(name, {"ANY": g.input(name.lower())}).outputs["MORE", 1].name == f"{name.lower()}_more_1"
        )


def test_a_graph_written_in_python_is_a_subgraph_too(registry):
    part = Graph(registry, type="Twice")
    a = part.input("a", tag="IN")
    part.output(part.node("AddCalculator", [a, a]).output, tag="OUT")
    registry.add("subgraph", "Twice", part)
    g, seen = Graph(registry), []
    g.output(g.node("Twice", {"IN": g.input("b")}).output, "c")
    with pytest.raises(InvalidArgumentError, match="its outputs are: 'OUT'"):
        _ = g.nodes[0].outputs["NOT"]
    graph = CalculatorGraph(g, registry=registry)
    graph.observe_output_stream("c", lambda _name, packet: seen.append(packet.payload))
    graph.start_run()
    graph.add_packet_to_input_stream("b", Packet(4, 0))
    graph.close_all_packet_sources()
    graph.wait_until_done()
    assert seen == [8]
