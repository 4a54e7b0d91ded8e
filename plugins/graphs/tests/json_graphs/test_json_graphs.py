"""Graphs in JSON: files and dicts that are read, graphs that are written, and what is said of mistakes."""

import json

import attrs
import pytest

import penstock
from penstock import Subgraph, limits
from penstock.config import build_plan, read_graph, to_binary, to_json, to_text
from penstock.errors import (
    GraphConfigError,
    GraphParseError,
    InvalidArgumentError,
    PenstockError,
    ResourceExhaustedError,
)
from penstock.packs import plugins_renewed
from penstock.types import attrs_name
from penstock_testing import testing_registry

TEXT = """\
# A graph.
input_stream: "a"
max_queue_size: 7
node {
  calculator: "PassCalculator"
  input_stream: "a"
  output_stream: "b"
  input_stream_info { tag_index: ":0" back_edge: false }
}
executor { name: "pool" type: "ThreadPoolExecutor" }
"""


@attrs.frozen
class BlurOptions:
    radius: int = attrs.field(default=3, validator=attrs.validators.ge(1))
    ratio: float = 1.0
    weights: dict[str, float] = attrs.field(factory=dict)


@attrs.frozen
class ZoomCalculatorOptions:
    size: int = 1


NAME = attrs_name(BlurOptions)
ZOOM = attrs_name(ZoomCalculatorOptions)


class PassCalculator(penstock.Calculator):
    """Passes each input on to the output of the same index."""

    @classmethod
    def get_contract(cls, cc):
        for reader, writer in zip(cc.inputs, cc.outputs, strict=False):
            reader.set_any()
            writer.set_same_as(reader)

    def process(self, cc):
        for reader, writer in zip(cc.inputs, cc.outputs, strict=True):
            if not reader.is_empty():
                writer.add_packet(reader.packet)


class Blur(PassCalculator):
    """Has options, which graphs pack."""

    Options = BlurOptions


class ZoomCalculator(PassCalculator):
    """Has options that are an extension."""


@pytest.fixture
def registry():
    made = testing_registry(PassCalculator, Blur, ZoomCalculator)
    made.add_option(ZOOM, "penstock.CalculatorOptions", 500020990, ZoomCalculatorOptions)
    return made


def graph(fields):
    return (
        f'input_stream: "in"\nnode {{ calculator: "Blur" input_stream: "in" output_stream: "out"\n'
        f"  node_options {{ [type.googleapis.com/{NAME}] {{\n {fields} }} }} }}"
    )


def given_by(source, registry):
    """Return the options that the only node of a graph gets."""
    return build_plan(source, registry).nodes[0].options.get(BlurOptions)


def parse_error(source, registry):
    with pytest.raises(GraphParseError) as caught:
        read_graph(source, registry)
    return caught.value


# --- the forms ------------------------------------------------------------------------------------


def test_a_file_and_a_dict_give_the_graph_that_text_gives(registry, tmp_path):
    message = read_graph(TEXT, registry)
    file = tmp_path / "g.json"
    file.write_text(to_json(message), encoding="utf-8")

    assert read_graph(file, registry) == message
    assert read_graph(json.loads(to_json(message)), registry) == message
    assert read_graph({"inputStream": ["a"], "max_queue_size": 7}, registry) == read_graph(
        'input_stream: "a" max_queue_size: 7', registry
    )


def test_a_graph_of_json_runs_by_the_reader_that_the_plugin_registers(tmp_path):
    inner = {
        "type": "Inner", "inputStream": ["x"], "outputStream": ["y"],
        "node": [{"calculator": "PassCalculator", "inputStream": ["x"], "outputStream": ["y"]}],
    }  # fmt: skip
    file = tmp_path / "outer.json"
    file.write_text(
        '{"input_stream": ["in"], "output_stream": ["out"],\n'
        ' "node": [{"calculator": "Inner", "input_stream": ["in"], "output_stream": ["out"]}]}',
        encoding="utf-8",
    )
    seen = []
    with plugins_renewed():
        graph = penstock.CalculatorGraph(
            file, registry=testing_registry(PassCalculator), subgraphs={"Inner": inner}
        )
        graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
        graph.start_run()
        graph.add_packet_to_input_stream("in", penstock.Packet("here", 0))
        graph.close(20)

    assert seen == ["here"]


def test_text_that_is_json_is_graph_text_where_it_is_passed_as_a_str(registry):
    assert str(parse_error('{"node": []}', registry)).startswith("line 1, column 1: ")


def test_options_go_through_json_and_back(registry, tmp_path):
    text = graph("radius: 5 weights { key: 'w' value: 2 }")
    config = read_graph(text, registry)
    file = tmp_path / "g.json"
    file.write_text(to_json(config, registry), encoding="utf-8")

    assert to_binary(read_graph(file, registry)) == to_binary(config)
    assert given_by(file, registry) == given_by(text, registry) == BlurOptions(5, weights={"w": 2.0})
    assert to_binary(read_graph(json.loads(to_json(config, registry)), registry)) == to_binary(config)


def test_extensions_go_through_json_and_back(registry, tmp_path):
    config = read_graph(f"node {{ options {{ [{ZOOM}.ext] {{ size: 4 }} }} }}", registry)
    file = tmp_path / "g.json"
    file.write_text(to_json(config, registry), encoding="utf-8")

    assert "size: 4" in to_text(read_graph(file, registry), registry)
    assert to_binary(read_graph(file, registry)) == to_binary(config)


def test_names_of_the_reference_are_taken_for_ours(registry):
    any_of = "type.googleapis.com/mediapipe.TemplateSubgraphOptions"
    extension = {"[mediapipe.TemplateSubgraphOptions.ext]": {"dict": {}}}
    found = read_graph({"node": [{"options": extension, "node_options": [{"@type": any_of}]}]}, registry)

    (node,) = found.node
    assert node.node_options[0].type_url == "type.googleapis.com/penstock.TemplateSubgraphOptions"
    assert "[penstock.TemplateSubgraphOptions.ext]" in to_text(found)


LATE = """
import attrs

@attrs.frozen
class LateOptions:
    size: int = 1

class Late:
    Options = LateOptions
"""


@pytest.mark.parametrize("form", ["file", "dict"])
def test_options_that_only_a_calculator_of_the_graph_declares_are_found(
    form, registry, tmp_path, monkeypatch
):
    module = f"penstock_json_late_{form}"
    (tmp_path / f"{module}.py").write_text(LATE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    registry.add("calculator", "Late", f"{module}:Late")
    options = {"@type": f"type.googleapis.com/{module}.LateOptions", "size": 3}
    graph = {"node": [{"calculator": "Late", "node_options": [options]}]}
    file = tmp_path / "graph.json"
    file.write_text(json.dumps(graph), encoding="utf-8")

    message = read_graph(file if form == "file" else graph, registry)

    assert "size: 3" in to_text(message, registry)


def test_options_of_an_unknown_type_cannot_be_written(registry):
    config = read_graph(graph("radius: 5"), registry)

    with pytest.raises(
        InvalidArgumentError, match=r"^the graph cannot be written in JSON form: .*BlurOptions"
    ):
        to_json(config)


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{"node": [\n{"calculator": }]}', (2, 16), "expecting value"),
        ('{"node": [\n{"inputStreams": ["a"]}]}', (2, 1), "no field 'inputStreams' (did you mean 'input_st"),
        ('{"max_queue_size": "x"}', (1, 2), "invalid literal for int() with base 10: 'x'"),
        ('{"node": [{},\n{"input_stream": ["a",\n3]}]}', (3, 1), "expected string"),
        ('{"node": [{},\n{"node_options": [{"size": 3}]}]}', (2, 19), "@type is missing"),
        ('{"node":\n [{"options":\n {"[penstock.NoSuch.ext]": {}}}]}', (3, 3), "no options message 'pens"),
        ("[1]", (1, 1), "a JSON graph is an object, not a list"),
        ('{"node":\n ["\\ud800"]}', (2, 3), r"'\ud800' in the JSON graph is half of a character"),
        ('{"a\\ud800": 1}', (1, 1), r"'\ud800' in the JSON graph is half of a character"),
        ('{"@type":"\\ud800"}', (1, 2), r"'\ud800' in the JSON graph is half of a character"),
        ('{"node":[{"node_options":[{\n"@type":1}]}]}', (2, 1), "1 is a int in the JSON graph; expected"),
    ],
)  # fmt: skip
def test_a_mistake_in_json_says_where(text, place, words, registry, tmp_path):
    file = tmp_path / "graph.json"
    file.write_text(text, encoding="utf-8")

    error = parse_error(file, registry)

    assert str(error).lower().startswith(f"{file}:{place[0]}:{place[1]}: ".lower())
    assert words.lower() in str(error).lower()


def test_a_member_that_comes_twice_is_an_error(registry, tmp_path):
    file = tmp_path / "graph.json"
    file.write_text('{"type": "a", "type": "b"}', encoding="utf-8")

    assert "the JSON text's member 'type' comes twice in one object" in str(parse_error(file, registry))


def test_a_number_that_no_float_holds_is_an_error(registry):
    options = [{"@type": f"type.googleapis.com/{NAME}", "ratio": 10**400}]
    graph = {"node": [{"calculator": "Blur", "node_options": options}]}

    assert "int too large to convert to float" in str(parse_error(graph, registry))


@pytest.mark.parametrize("form", ["file", "dict"])
def test_brackets_without_end_are_an_error_and_not_a_crash(form, registry, tmp_path):
    file = tmp_path / "graph.json"
    file.write_text('{"node": ' + "[" * 100_000, encoding="utf-8")
    deep = []
    for _ in range(100_000):
        deep = [deep]

    error = parse_error(file if form == "file" else {"node": deep}, registry)

    assert str(error) == f"{f'{file}: ' if form == 'file' else ''}its brackets are nested too deep"


def test_a_value_that_json_does_not_have_is_an_error(registry):
    error = parse_error({"node": [{"node_options": [InvalidArgumentError]}]}, registry)

    assert str(error).endswith(
        "<class 'penstock.errors.InvalidArgumentError'> is a type; a JSON graph has none"
    )


def test_a_member_whose_name_is_no_str_is_an_error(registry):
    error = parse_error({"node": [{}, {1: 2}]}, registry)

    assert str(error) == "node[1]: 1 is a int in the JSON graph; expected a str"


def test_a_mistake_in_a_dict_says_which_part(registry):
    error = parse_error({"node": [{}, {"inputStreams": []}]}, registry)

    assert str(error).startswith("node[1]: penstock.CalculatorGraphConfig.Node has no field 'inputStreams'")


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"options": {"radius": 3}}, "options[0]"),
        ({"radius": 3}, ""),
        ({"options": {"raduis": 3}}, "options[0]"),
    ],
)
def test_in_json_the_member_that_would_be_right_is_shown(given, written, registry):
    graph = {"node": [{"calculator": "PassCalculator"}, {"calculator": "Blur", **given}]}

    found = str(parse_error(graph, registry))

    assert found.startswith(f"node[1]{'.' * bool(written)}{written}: ")
    assert found.endswith(
        f'; write "node_options": [{{"@type": "type.googleapis.com/{NAME}", "radius": ...}}]'
    )


@pytest.mark.parametrize(
    "nodes", [{"calculator": "Blur", "radius": 3}, "x", [3], [{"calculator": 3, "radius": 3}]]
)
def test_json_that_is_no_graph_has_its_plain_error(nodes, registry):
    with pytest.raises(GraphParseError, match="node"):
        build_plan({"node": nodes}, registry)


def test_a_packed_message_without_a_type_says_what_it_begins_with(registry):
    graph = {"node": [{"calculator": "Blur", "node_options": [{"radius": 3}]}]}

    assert str(parse_error(graph, registry)) == (
        "node[0].node_options[0]: @type is missing when parsing any message; begin with the type: "
        '{"@type": "type.googleapis.com/package.Options", ...}'
    )


def test_an_option_outside_of_its_extension_is_shown_in_it(registry):
    graph = {"node": [{"calculator": "ZoomCalculator", "options": {"size": 3}}]}

    assert str(parse_error(graph, registry)) == (
        "node[0].options[0]: penstock.CalculatorOptions has no field 'size'; write "
        f'"options": {{"[{ZOOM}.ext]": {{"size": ...}}}}'
    )


def test_an_extension_of_another_message_is_an_error(registry):
    graph = {"executor": [{"name": "own", "options": {f"[{ZOOM}.ext]": {"size": 3}}}]}

    assert str(parse_error(graph, registry)) == (
        f"executor[0].options[0].[{ZOOM}.ext][0]: [{ZOOM}.ext] are options of something else; "
        "penstock.MediaPipeOptions does not take them"
    )


def test_a_fault_in_json_has_its_place(registry, tmp_path):
    file = tmp_path / "g.json"
    written = to_json(read_graph(graph("radius: 5"), registry), registry)
    for old, new, words in (
        ('"5"', "0", rf"g.json:\d+:\d+: node 'Blur': options {NAME}: radius is 0"),
        ("radius", "raduis", rf"g.json:\d+:\d+: {NAME} has no field 'raduis' \(did you mean 'radius'\?\)"),
    ):
        file.write_text(written.replace(old, new), encoding="utf-8")
        line = next(
            i for i, one in enumerate(file.read_text("utf-8").splitlines(), 1) if "ra" in one and "rad" in one
        )
        with pytest.raises((GraphConfigError, GraphParseError), match=words) as caught:
            build_plan(file, registry)
        assert f"g.json:{line}:" in str(caught.value) or f"g.json:{line - 2}:" in str(caught.value)


@pytest.mark.parametrize("nodes", [5, True, "Blur", {"calculator": "Blur"}, None])
def test_options_are_looked_for_in_json_whose_nodes_are_no_nodes(registry, nodes):
    with pytest.raises(GraphParseError, match=r"no options message 'nobody\.Has' is known"):
        read_graph({"node": nodes, "graph_options": [{"@type": "x/nobody.Has"}]}, registry)


def test_faults_of_a_json_file_have_lines(registry, tmp_path):
    file = tmp_path / "graph.json"
    file.write_text(
        '{"node": [\n  {"calculator": "PassCalculator"},\n  {"calculator": "Nope"}]}', encoding="utf-8"
    )

    with pytest.raises(GraphConfigError, match=r"graph\.json:3:4: node 'Nope': no calculator 'Nope'"):
        build_plan(file, registry)


HUGE = "x" * 1_000_000


@pytest.mark.parametrize(
    "graph",
    [{HUGE: 1}, {"node": [{HUGE: 1}]}, {"node": [{"calculator": HUGE}]}, {"max_queue_size": HUGE}],
    ids=["field", "field-of-a-node", "calculator", "number"],
)
def test_a_message_does_not_repeat_a_long_value(graph, registry):
    with pytest.raises(PenstockError) as caught:
        build_plan(graph, registry)

    assert len(str(caught.value)) < 2500


def test_limits_hold_for_json_too(registry, tmp_path):
    file = tmp_path / "graph.json"
    file.write_text(json.dumps({"node": [{"calculator": "PassCalculator"}] * 30}), encoding="utf-8")

    for limit, least in (("nodes", 30), ("tokens", 6 * 30 + 5)):
        with limits.override(**{limit: least - 1}), pytest.raises(ResourceExhaustedError) as caught:
            read_graph(file, registry)
        assert caught.value.limit == limit


def test_marks_are_counted_before_a_value_is_made(registry, tmp_path, monkeypatch):
    file = tmp_path / "graph.json"
    file.write_text('{"node": [' + "{}," * 50 + "{}]}", encoding="utf-8")
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("a value was made"))

    with limits.override(tokens=150), pytest.raises(ResourceExhaustedError) as caught:
        read_graph(file, registry)
    assert caught.value.limit == "tokens"


def test_marks_inside_of_strings_are_none(registry, tmp_path):
    file = tmp_path / "graph.json"
    name = r"a\"{},[]:" * 50
    file.write_text(f'{{"node": [{{"calculator": "PassCalculator", "name": "{name}"}}]}}', encoding="utf-8")

    with limits.override(tokens=20):
        assert read_graph(file, registry).node[0].name == 'a"{},[]:' * 50


def test_a_subgraph_in_json_that_cannot_be_read_is_a_fault(registry):
    class Odd(Subgraph):
        @classmethod
        def get_config(cls, sc):
            return {"node": [{"calculater": "PassCalculator"}]}

    registry.add("subgraph", "Odd", Odd)

    with pytest.raises(GraphConfigError) as caught:
        build_plan({"node": [{"calculator": "Odd"}]}, registry)

    (fault,) = caught.value.faults
    assert "node[0]: penstock.CalculatorGraphConfig.Node has no field 'calculater'" in str(fault)
