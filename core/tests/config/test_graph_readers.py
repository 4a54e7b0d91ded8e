"""Graphs in a form that a pack reads: which reader is asked, what it gets, and what a missing one says."""

import json
import subprocess
import sys

import pytest

from penstock.config import build_plan, read_definition, read_graph, to_json
from penstock.config.calculator_graph_template_pb2 import CalculatorGraphTemplate
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.config.graph_reader import GraphReaderError, definition_as_read_graph
from penstock.config.places import Places, ReadGraph, Spot
from penstock.errors import (
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    PluginError,
    UnknownNameError,
)
from penstock.plugins.default_registry import (
    default_plugin_host,
    default_registry,
    find_component,
    plugins_renewed,
)
from penstock.registry import Registry

MISSING = "this graph is a template, and no graph reader 'template' is registered"


def is_template(source, registry):
    return not isinstance(read_definition(source, registry), ReadGraph)


class Doubled:
    """A definition: its node as often as the argument says."""

    def __init__(self, graph, places):
        self.graph = graph
        self.places = places

    def expand(self, places, faults, arguments=None, node=None):
        graph = CalculatorGraphConfig()
        graph.CopyFrom(self.graph)
        for i in range(1, arguments or 1):
            graph.node.add().CopyFrom(graph.node[0])
            graph.node[i].name = f"{i}"
        if not graph.node[0].calculator:
            faults.add(places.at(None), "no calculator", node=node)
            return None
        return ReadGraph(graph, places)

    def arguments_of(self, options):
        return 3

    def unknown(self, arguments):
        return ["colour"]


class Reader:
    """Reads a line of blanks and a percent sign, then ordinary text."""

    def text(self, text, places, merge, find):
        line, _, rest = text.partition("\n")
        if line.strip() != "%":
            raise GraphReaderError(text.index("%") + 1, "this is no rule")
        graph = CalculatorGraphConfig()
        merge(rest, graph, len(line) + 1, None)
        return Doubled(graph, places)

    def message(self, message, places, find):
        if message.rule:
            raise InvalidArgumentError("it has rules")
        return Doubled(message.config, places)


class Names:
    """A reader of "JSON": the names of options, in brackets; with each a node is added."""

    def value(self, text, places):
        root = Spot(0)
        root.add("name", text.index("["))
        return json.loads(text), root

    def message(self, value, graph, places, types, load):
        for name in value["names"]:
            graph.node.add(calculator=name)
            load(f"penstock.{name}", name, (("name", 0),))


@pytest.fixture
def reading(registry, declare):
    registry.add("graph reader", "template", Reader())
    return registry


@pytest.fixture
def no_plugins(monkeypatch):
    """A process in which no distribution has plugins."""
    default_plugin_host()  # those of the process are loaded before
    monkeypatch.setattr("penstock.plugins.discovery.ordinary_points", lambda _group: [])
    with plugins_renewed():
        yield


def test_the_reader_of_the_registry_reads_text_with_a_percent_sign(reading):
    text = ' %\nnode { calculator: "SourceCalculator" output_stream: "a" }'

    assert [node.calculator for node in read_graph(text, reading).node] == ["SourceCalculator"]
    assert is_template(text, reading)
    assert not is_template(text.replace("%", "#"), reading)


def test_what_the_reader_refuses_is_a_parse_error_with_its_place(reading, tmp_path):
    path = tmp_path / "g.pbtxt"
    path.write_text("# comment\n  % rule\n", encoding="utf-8")

    with pytest.raises(GraphParseError) as caught:
        read_graph(path, reading)

    assert str(caught.value) == f"{path}:2:4: this is no rule"


def test_ordinary_text_inside_is_read_by_the_core_with_its_places(reading):
    with pytest.raises(GraphParseError, match=r"^line 2, column 8: penstock.*Node has no field 'calculatr'"):
        read_graph('%\nnode { calculatr: "X" }', reading)


def test_messages_and_binary_files_of_templates_go_to_the_reader(reading, tmp_path):
    template = CalculatorGraphTemplate(config={"node": [{"calculator": "PassCalculator"}]})
    path = tmp_path / "g.template.binarypb"
    path.write_bytes(template.SerializeToString())

    assert is_template(template, reading)
    assert read_graph(template, reading) == read_graph(path, reading) == template.config
    template.rule.add()
    with pytest.raises(GraphParseError, match=r"^it has rules$"):
        read_graph(template, reading)


def test_a_node_that_stands_for_a_definition_gives_it_arguments(reading, caplog):
    graph = 'node { calculator: "Many" }'
    inside = '%\nnode { calculator: "PassCalculator" }'

    plan = build_plan(graph, reading, subgraphs={"Many": inside})

    assert [node.name for node in plan.nodes] == ["many__PassCalculator", "many__1", "many__2"]
    assert "node 'Many': the template has no param 'colour', so giving it has no effect" in caplog.text


def test_a_definition_with_mistakes_is_a_graph_with_faults(reading):
    with pytest.raises(GraphConfigError, match="1 fault:\n  line 1, column 2: no calculator"):
        read_graph("%\nnode { }", reading)


def test_each_graph_that_a_definition_makes_has_places_of_its_own():
    class Including(Doubled):
        def expand(self, places, faults, arguments=None, node=None):
            found.append(places.include(Places("inside.pbtxt"), "").at(None))
            return ReadGraph(self.graph, places)

    found: list[int] = []
    definition = Including(CalculatorGraphConfig(), Places("outside.pbtxt"))
    places = [definition_as_read_graph(definition)[1] for _ in range(2)]

    assert found[0] == found[1], "what the first graph included is not in the places of the second"
    assert definition.places not in places


def test_a_list_of_subgraphs_may_hold_definitions_by_their_type(reading):
    inside = '%\ntype: "Many" node { calculator: "PassCalculator" }'

    plan = build_plan('node { calculator: "Many" }', reading, subgraphs=[inside])

    assert len(plan.nodes) == 3


def test_a_missing_reader_is_reported_with_the_place_and_what_to_install(no_plugins, registry, tmp_path):
    path = tmp_path / "g.pbtxt"
    path.write_text('type: "T"\n % param x %\n', encoding="utf-8")
    binary = tmp_path / "g.template.pb"
    binary.write_bytes(b"")

    for graph, where, place in (
        (path, f"{path}:2:2: ", (str(path), 2, 2)),
        ("% param x %", "line 1, column 1: ", (None, 1, 1)),
        (binary, f"{binary}: ", (str(binary), None, None)),
        (CalculatorGraphTemplate(), "", (None, None, None)),
    ):
        with pytest.raises(UnknownNameError) as caught:
            read_graph(graph, registry)
        assert str(caught.value) == f"{where}{MISSING}; install it: pip install penstock-graphs"
        assert (caught.value.kind, caught.value.install) == ("graph reader", "penstock-graphs")
        assert (caught.value.file, caught.value.line, caught.value.column) == place


def test_a_subgraph_that_needs_a_missing_reader_is_a_fault(no_plugins, registry, declare):
    with pytest.raises(GraphConfigError) as caught:
        build_plan('node { calculator: "Many" }', registry, subgraphs={"Many": "% param x %"})

    (fault,) = caught.value.faults
    assert f"the subgraph cannot be read: <subgraph Many>:1:1: {MISSING}" in str(fault)


def test_a_reader_that_cannot_be_imported_is_reported_with_the_place(registry):
    registry.add("graph reader", "template", "penstock_no_such_module:Reader")

    with pytest.raises(
        PluginError, match=r"^line 1, column 1: graph reader 'template': this process"
    ) as caught:
        read_graph("% param x %", registry)

    assert (caught.value.line, caught.value.column) == (1, 1)


def test_the_reader_of_json_fills_in_the_graph_of_a_file_or_dict(registry, make_options, tmp_path):
    registry.add("graph reader", "json", Names())
    options = make_options("NamedOptions", 20941)
    path = tmp_path / "g.JSON"
    path.write_text('{"names":\n ["NamedOptions"]}', encoding="utf-8")

    assert [node.calculator for node in read_graph(path, registry).node] == ["NamedOptions"]
    assert options.is_imported()
    assert read_graph({"names": ["NamedOptions"]}, registry) == read_graph(path, registry)


def test_options_that_json_names_and_nothing_declares_have_their_place(registry, tmp_path):
    registry.add("graph reader", "json", Names())
    path = tmp_path / "g.json"
    path.write_text('{"names":\n ["NobodysOptions"]}', encoding="utf-8")

    for graph, where in ((path, f"{path}:2:2: "), ({"names": ["NobodysOptions"]}, "")):
        with pytest.raises(GraphParseError) as caught:
            read_graph(graph, registry)
        assert str(caught.value).startswith(f"{where}no options message 'NobodysOptions' is known")


def test_a_graph_in_json_without_its_reader_says_what_to_install(no_plugins, registry, tmp_path):
    path = tmp_path / "g.json"
    path.write_text("{", encoding="utf-8")

    for graph, where in ((path, f"{path}: this graph is JSON"), ({}, "this graph is a dict")):
        with pytest.raises(UnknownNameError) as caught:
            read_graph(graph, registry)
        assert str(caught.value) == (
            f"{where}, and no graph reader 'json' is registered; install it: pip install penstock-graphs"
        )


def test_a_graph_is_written_as_json_by_its_pack_only(no_plugins, registry):
    with pytest.raises(UnknownNameError) as caught:
        to_json(CalculatorGraphConfig(), registry)

    assert str(caught.value) == (
        "penstock.config.to_json: no graph reader 'json' is registered; "
        "install it: pip install penstock-graphs"
    )


OPTION_VALUE = """graph_options { [type.googleapis.com/penstock.ForwardedOptions] { size: 7 } }
node { calculator: "SourceCalculator" output_stream: "o"
       options { [penstock.ForwardedOptions.ext] { } } %s }"""


@pytest.fixture
def size(registry, declare, make_options):  # declares the calculator
    """Return the size that the node of a graph has in the plan."""
    kind = make_options("ForwardedOptions", 20940).load()
    return lambda graph: build_plan(graph, registry).config.node[0].options.Extensions[kind.ext].size


def test_an_option_value_without_its_pack_is_a_fault_that_says_what_to_install(no_plugins, size):
    with pytest.raises(GraphConfigError) as caught:
        size(OPTION_VALUE % 'option_value: "size:size"')

    (fault,) = caught.value.faults
    assert "node 'SourceCalculator': option_value: no graph reader 'template' is registered" in str(fault)
    assert "pip install penstock-graphs" in str(fault)
    assert (fault.node, fault.line) == ("SourceCalculator", 3)


def test_a_graph_without_option_values_does_without_the_pack(no_plugins, size):
    assert size(OPTION_VALUE % "") == 0


def test_options_of_templates_are_known_before_any_template_is_read():
    """In a process of its own: whatever imports the message makes it known to protobuf."""
    program = """
import penstock
from penstock.config import read_graph

text = 'node { calculator: "T" options { [mediapipe.TemplateSubgraphOptions.ext] { dict {} } } }'
data = read_graph(text, penstock.Registry()).SerializeToString()
print(len(data))
"""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )

    assert (ended.returncode, ended.stdout) == (0, "15\n"), ended.stderr


def test_a_registry_without_a_reader_is_helped_by_the_default_one(no_plugins):
    reader, own = Reader(), Reader()
    registry = Registry()
    default_registry().add("graph reader", "other", reader)

    assert find_component("graph reader", "other", registry, "") is reader
    registry.add("graph reader", "other", own)
    assert find_component("graph reader", "other", registry, "") is own
