"""Plain graphs, which are read without protobuf: the result is the same as with its parser."""

import subprocess
import sys
import threading

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from penstock import limits
from penstock.config import build_plan
from penstock.config.calculator_pb2 import CalculatorGraphConfig, ExecutorConfig
from penstock.config.options.option_types import OptionTypes
from penstock.config.places import Places
from penstock.config.reading.graph_specs import graph_spec, in_order
from penstock.config.reading.plain_graph import _DEFAULTS, PlainMessage, plain_graph, read_plain_graph
from penstock.config.reading.plain_nodes import half_character
from penstock.config.reading.scan import scan_text
from penstock.errors import GraphParseError, NotFoundError, ResourceExhaustedError
from penstock.registry import Registry

NODE = 'node { calculator: "A" input_stream: "x" input_stream: "T:y" output_stream: "z" executor: "e" }'
WHOLE = f"""# what it is for
type: "Whole" package: 'a.b';
input_stream: "x", input_stream: "T:y"
output_stream: "z" input_side_packet: "s" output_side_packet: "t"
executor {{ name: "e" type: "ThreadPoolExecutor" }} executor: {{ }},
num_threads: 4 max_queue_size: -1
{NODE}  # and one more
{NODE}"""


def parsed(text):
    return text_format.Parse(text, CalculatorGraphConfig())


def plain(text):
    found = plain_graph(text)
    return None if found is None else found[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "# nothing",
        WHOLE,
        "num_threads: 0",
        "max_queue_size:-5;",
        'input_stream: "a"output_stream: "b"',
        f"executor{{}}{NODE}executor{{type:'A'}}",
    ],
)
def test_a_graph_of_names_and_numbers_is_plain_and_its_message_what_the_parser_makes_of_it(text):
    graph = plain(text)

    assert graph.message() == parsed(text)


@pytest.mark.parametrize(
    "text",
    [
        "num_threads: 010",
        "num_threads: 0x4",
        "num_threads: - 4",
        "num_threads: 99999999999",
        "num_threads: 4x",
        "num_threads: 4input_stream: 'a'",
        "num_threads: 1 num_threads: 2",
        'type: "A" type: "B"',
        'executor { name: "a" name: "b" }',
        'executor { name: "a" options { } }',
        'input_stream: "a" "b"',
        "input_stream: 'a\\n'",
        "input_stream: ['a']",
        "input_stream: '\N{LATIN SMALL LETTER E WITH ACUTE}'",
        'input_stream: "a" # with a comment\n, output_stream: "b"',
        "report_deadlock: true",
        "node { calculator: 'A' max_in_flight: 2 }",
        "profiler_config { trace_enabled: true }",
        "% if a %",
        "nodes { }",
        "node {",
        ", input_stream: 'a'",
    ],
)
def test_any_other_graph_is_left_to_the_parser(text):
    assert plain(text) is None


PIECES = st.sampled_from(
    [
        NODE,
        "node{}",
        'node { name: "n" name: "m" }',
        'node { calculator: "A" source_layer: 2 }',
        'executor { name: "e" type: "T" }',
        "executor {",
        "executor",
        "}",
        "input_stream:",
        '"a"',
        "'b'",
        'output_stream: "o"',
        "num_threads:",
        "max_queue_size: -1",
        'type: "T"',
        "4",
        "-1",
        "08",
        ",",
        ";",
        ":",
        "# a comment\n",
        "#",
        "\n",
        "[",
        "%",
    ]
)


@given(st.lists(PIECES, max_size=9), st.sampled_from(["", " "]))
def test_no_text_is_plain_that_the_parser_refuses_or_reads_otherwise(pieces, between):
    text = between.join(pieces)

    graph = plain(text)

    if graph is not None:
        assert graph.message() == parsed(text)


def said(spec):
    """Return the fields of a spec, without the objects that each has of its own."""
    nodes = [node._replace(options=None, option_places=None) for node in spec.nodes]
    executors = [one._replace(options=one.options.names()) for one in spec.executors]
    return spec._replace(nodes=nodes, executors=executors, message=None, places=None)


def tree(spot):
    return spot.offset, {name: [tree(one) for one in ones] for name, ones in spot.fields.items()}


def test_its_fields_stand_where_the_scan_finds_them():
    assert tree(plain_graph(WHOLE)[1]) == tree(scan_text(WHOLE).root)


def test_the_checks_see_the_same_graph_with_the_same_places():
    scanned = scan_text(WHOLE)
    places = [Places("a.pbtxt", WHOLE, scanned.root) for _ in range(2)]

    assert said(graph_spec(plain(WHOLE), places[0])) == said(graph_spec(parsed(WHOLE), places[1]))


def test_a_field_that_is_not_given_has_the_default_of_the_message():
    graph = CalculatorGraphConfig()
    messages = [CalculatorGraphConfig.Node(), graph, graph.profiler_config, ExecutorConfig()]
    for field, default in _DEFAULTS.items():
        found = [getattr(one, field) for one in messages if field in one.DESCRIPTOR.fields_by_name]
        if field == "executor":  # a name in a node, and a list in a graph, which always has one of its own
            found.pop()
        assert found, field
        for value in found:
            assert value == default if isinstance(value, (str, int)) else default == (), field


def test_a_field_that_no_plain_graph_has_is_an_error_and_no_default():
    with pytest.raises(AttributeError, match="'PlainMessage' object has no attribute 'graph_options'"):
        _ = PlainMessage({}).graph_options


def test_all_who_ask_get_the_same_message():
    graph = plain(WHOLE)
    found = []
    threads = [threading.Thread(target=lambda: found.append(graph.message())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({id(one) for one in found}) == 1


def test_another_graph_made_from_it_has_a_message_of_its_own():
    graph = plain(WHOLE)

    again = graph.again()

    assert again.message() == graph.message()
    assert again.message() is not graph.message()


def test_nodes_can_be_put_into_another_order():
    text = "".join(f"node {{ calculator: '{name}' }}" for name in "ABC")

    ordered = in_order(plain(text), [2, 0, 1])

    assert [node.calculator for node in ordered.node] == ["C", "A", "B"]
    assert ordered.message() == in_order(parsed(text), [2, 0, 1])


def test_a_file_is_read_like_its_text_and_noted(tmp_path):
    file = tmp_path / "a.pbtxt"
    file.write_bytes(b"\xef\xbb\xbf" + WHOLE.encode())
    types = OptionTypes(Registry())

    found = read_plain_graph(file, types)

    assert found.message.message() == parsed(WHOLE)
    assert found.places.file == str(file)
    assert types.files == [(file, file.read_bytes())]


@pytest.mark.parametrize("name", ["a.binarypb", "a.json", "a.txt"])
def test_other_files_are_left_to_the_parser(tmp_path, name):
    (tmp_path / name).write_text(WHOLE)

    assert read_plain_graph(tmp_path / name, OptionTypes(Registry())) is None


def test_a_file_that_is_no_utf_8_or_has_half_of_a_character_is_left_to_the_parser(tmp_path):
    (tmp_path / "a.pbtxt").write_bytes(b"# \xff")

    assert read_plain_graph(tmp_path / "a.pbtxt", OptionTypes(Registry())) is None
    assert half_character("# \ud800")
    assert read_plain_graph("# \ud800", OptionTypes(Registry())) is None


def test_a_file_that_is_not_there_is_an_error_as_ever(tmp_path):
    with pytest.raises(NotFoundError, match="there is no graph file"):
        read_plain_graph(tmp_path / "a.pbtxt", OptionTypes(Registry()))


def test_limits_hold():
    with limits.override(file_bytes=10), pytest.raises(ResourceExhaustedError):
        read_plain_graph(WHOLE, OptionTypes(Registry()))
    with limits.override(nodes=1), pytest.raises(ResourceExhaustedError, match="2 nodes"):
        build_plan(WHOLE, Registry())
    with limits.override(tokens=30), pytest.raises(ResourceExhaustedError, match="too many words"):
        build_plan(WHOLE, Registry())


def test_text_that_is_not_plain_is_scanned_once(monkeypatch, plan):
    scans = []
    monkeypatch.setattr(
        "penstock.config.reading.parse.scan_text", lambda text: scans.append(text) or scan_text(text)
    )

    with pytest.raises(GraphParseError):
        plan("num_threads: 'a'")

    assert scans == ["num_threads: 'a'"]


PROGRAM = """
import sys
import penstock

class A(penstock.Calculator):
    @classmethod
    def get_contract(cls, cc):
        cc.outputs[0].set_same_as(cc.inputs[0].set_any())

registry = penstock.Registry()
registry.add("calculator", "A", A)
registry.add("input stream handler", "DefaultInputStreamHandler", penstock.InputStreamHandler)
graph = penstock.CalculatorGraph(
    "input_stream: 'a' node { calculator: 'A' input_stream: 'b' output_stream: 'c' }"
    "node { calculator: 'A' input_stream: 'a' output_stream: 'b' }", registry=registry
)
assert "google.protobuf" not in sys.modules
print(*graph.text_config.split())
assert "google.protobuf" in sys.modules
"""


def test_the_message_is_made_when_something_asks_for_it_with_its_nodes_in_order():
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60
    )

    assert done.returncode == 0, done.stderr
    node = 'node {{ calculator: "A" input_stream: "{0}" output_stream: "{1}" }}'
    first, second = node.format("a", "b"), node.format("b", "c")
    assert done.stdout.strip() == f'{first} {second} input_stream: "a"'
