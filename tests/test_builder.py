"""Graphs written in Python with the standard packs: options, memories, subgraphs, and all graph files."""

import re
import runpy
from pathlib import Path

import pytest

from penstock import CalculatorGraph, Packet
from penstock.config import read_graph
from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.plugins.default_registry import default_registry
from penstock_builder import Graph
from penstock_image.messages.canny_edge_pb2 import CannyEdgeCalculatorOptions

ROOT = Path(__file__).resolve().parents[1]
NAMES = ("left__now", "left__before", "right__now", "right__before")
FILES = sorted(
    path
    for folder in ("examples", "tests", "subgraphs", "plugins", "contrib")
    for path in (ROOT / folder).rglob("*.pbtxt")
    if "build" not in path.parts
)


def options(node, cls=CannyEdgeCalculatorOptions):
    found = cls()
    assert node.node_options[0].Unpack(found)
    return found


def ran(g, output, inputs, side_packets=None):
    """Run a graph on {timestamp: payload} of its one input; return what came, as (timestamp, payload)."""
    graph, seen = CalculatorGraph(g), []
    graph.observe_output_stream(
        output, lambda _name, packet: seen.append((int(packet.timestamp), packet.payload))
    )
    graph.start_run(side_packets)
    (name,) = g.to_config().input_stream
    for at, payload in inputs.items():
        graph.add_packet_to_input_stream(name, Packet(payload, at))
    graph.close_all_packet_sources()
    graph.wait_until_done(timeout=30)
    return seen


# --- graph files ----------------------------------------------------------------------------------


def test_there_are_graph_files_to_try():
    assert len(FILES) >= 9


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_graph_file_comes_back_as_it_was(path):
    message = read_graph(path, default_registry())
    text = Graph.from_config(path).to_text()
    assert read_graph(text, default_registry()) == message
    assert Graph.from_config(text).to_text() == text


# --- options --------------------------------------------------------------------------------------


def test_options_are_fields_by_name(tmp_path):
    g = Graph()
    g.node("CannyEdgeCalculator", low_threshold=50, high_threshold=70.5)
    g.node("ImageOverlayCalculator", color={"r": 1, "b": 3})
    g.node("ConstantSidePacketCalculator", packet=[{"int_value": 1}, {"string_value": "two"}])
    config = g.to_config()
    made = options(config.node[0])
    assert (made.low_threshold, made.high_threshold) == (50, 70.5)
    assert not made.HasField("aperture_size")
    assert "color {\n        r: 1\n        b: 3\n      }" in g.to_text()
    assert 'string_value: "two"' in g.to_text()
    path = tmp_path / "graph.pbtxt"
    path.write_text(g.to_text(), encoding="utf-8")
    assert Graph.from_config(path).to_config() == config


def test_options_are_a_message_and_fields_join_those_that_are_set():
    g = Graph()
    node = g.node(
        "CannyEdgeCalculator", options=CannyEdgeCalculatorOptions(low_threshold=1, high_threshold=2)
    )
    node.set_options(low_threshold=5)
    assert options(g.to_config().node[0]) == CannyEdgeCalculatorOptions(low_threshold=5, high_threshold=2)
    node.set_options(CannyEdgeCalculatorOptions(high_threshold=3))
    assert options(g.to_config().node[0]) == CannyEdgeCalculatorOptions(high_threshold=3)
    assert len(g.to_config().node[0].node_options) == 1


def test_options_of_a_file_are_changed_in_place():
    text = 'node { calculator: "CannyEdgeCalculator" options { [penstock.%s.ext] { low_threshold: 9 } } }'
    g = Graph.from_config(text % "CannyEdgeCalculatorOptions")
    g.nodes[0].set_options(high_threshold=10)
    (node,) = g.to_config().node
    given = node.options.Extensions[CannyEdgeCalculatorOptions.ext]
    assert given == CannyEdgeCalculatorOptions(low_threshold=9, high_threshold=10)
    assert not node.node_options


def test_a_list_replaces_the_list_before():
    g = Graph()
    node = g.node("ConstantSidePacketCalculator", packet=[{"int_value": 1}])
    node.set_options(packet=[{"int_value": 2}])
    assert "int_value: 2" in g.to_text()
    assert "int_value: 1" not in g.to_text()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"low_treshold": 1},
            "CannyEdgeCalculatorOptions has no field 'low_treshold' (did you mean 'low_thr",
        ),
        ({"zzz": 1}, "CannyEdgeCalculatorOptions has no field 'zzz'; it has low_threshold, high_threshold"),
        ({"low_threshold": "much"}, "option low_threshold='much' of the message: "),
        (
            {"options": "text"},
            "options 'text' are no options message for the builder; pass a message such as XOptions(...)",
        ),
        (
            {"options": CannyEdgeCalculatorOptions},
            "are no options message for the builder; pass a message such as XOptions(...)",
        ),
    ],
)
def test_a_wrong_option_is_refused(fields, words):
    g = Graph()
    with pytest.raises(InvalidArgumentError, match=re.escape(words)):
        g.node("CannyEdgeCalculator", **fields)
    assert g.nodes == []


def test_an_option_of_a_calculator_without_options_is_refused():
    with pytest.raises(
        InvalidArgumentError, match="'size' is no argument, and no options message is known here"
    ):
        Graph().node("PassThroughCalculator", size=1)


def test_handlers_and_executors_have_options_too():
    g = Graph()
    g.executor("pool", "ThreadPoolExecutor", num_threads=3)
    g.set_input_stream_handler("FixedSizeInputStreamHandler", target_queue_size=4)
    node = g.node("PassThroughCalculator", g.input("a"), outputs={0: "b"}, executor="pool")
    node.set_input_stream_handler("Nearest", tolerance=7)
    text = g.to_text()
    for line in ("num_threads: 3", "target_queue_size: 4", 'input_stream_handler: "Nearest"', "tolerance: 7"):
        assert line in text
    CalculatorGraph(g)
    with pytest.raises(
        InvalidArgumentError, match=r"'Nearest': penstock.NearestOptions has no field 'tolerence"
    ):
        node.set_input_stream_handler("Nearest", tolerence_us=7)
    with pytest.raises(InvalidArgumentError, match="does not extend penstock"):
        node.set_input_stream_handler("Nearest", CannyEdgeCalculatorOptions())
    assert g.to_text() == text


# --- loops with a memory --------------------------------------------------------------------------


def summing(initial):
    """Pairs of what came and what came before."""
    g = Graph()
    numbers = g.input("numbers")
    loop = g.feedback(numbers, initial(g) if callable(initial) else initial)
    seen = g.node("PassThroughCalculator", [numbers, loop.stream]).outputs
    loop.connect(seen[0])
    g.output(seen[1], "before")
    return g


@pytest.mark.parametrize("initial", [7, 2.5, "first", True])
def test_a_memory_gives_the_initial_value_at_the_first_tick_and_then_what_came_round(initial):
    seen = ran(summing(initial), "before", {3: "a", 5: "b", 9: "c"})
    assert seen == [(3, initial), (5, "a"), (9, "b")]
    assert type(seen[0][1]) is type(initial)


def test_a_side_packet_may_be_the_initial_value():
    made = summing(lambda g: g.side_packet("start"))
    assert ran(made, "before", {0: "a", 1: "b"}, {"start": [1, 2]}) == [(0, [1, 2]), (1, "a")]


def test_a_memory_without_an_initial_value_gives_nothing_at_the_first_tick():
    assert ran(summing(None), "before", {0: "a", 1: "b"}) == [(1, "a")]


def test_a_memory_marks_its_back_edge():
    config = summing(1).to_config()
    marked = [(node.calculator, info.tag_index) for node in config.node for info in node.input_stream_info]
    assert marked == [("PreviousLoopbackCalculator", "LOOP")]


def test_a_memory_that_is_not_connected_says_so():
    g = Graph()
    g.feedback(g.input("a"), 1)
    with pytest.raises(
        FailedPreconditionError, match=r"input 'LOOP' of node 'PreviousLoopbackCalculator' reads a"
    ):
        g.to_config()


# --- types ----------------------------------------------------------------------------------------


def test_a_stream_of_words_is_refused_by_an_input_of_images():
    g = Graph()
    through = g.node("PassThroughCalculator", g.input("words", str)).output
    with pytest.raises(
        InvalidArgumentError, match=r"has str, but input 'VIDEO' .* takes penstock_formats\S*ImageFrame"
    ):
        g.node("CannyEdgeCalculator", {"VIDEO": through})


# --- examples -------------------------------------------------------------------------------------


def test_the_example_of_a_graph_in_python_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "built_in_python.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert 'output_stream: "left__now"' in printed
    lines = [line for line in printed.splitlines() if line.endswith("pixels of edge")]
    told = {name: [line.split()[2] for line in lines if line.startswith(f"{name} ")] for name in NAMES}
    assert told["left__now"] == told["right__now"] == ["0.00", "0.04", "0.08", "0.12", "0.16"]
    assert told["left__before"] == told["right__before"] == ["0.04", "0.08", "0.12", "0.16"]
