"""`option_value`: values of a graph's options, copied into the options of its nodes."""

import sys
from types import SimpleNamespace

import attrs
import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FieldDescriptorProto
from google.protobuf.wrappers_pb2 import UInt64Value

from penstock import Registry
from penstock.config import build_plan
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.errors import GraphConfigError
from penstock.types import OptionTypes, attrs_name
from penstock_templates.option_values import set_option_values

NUMBERS = iter(range(20801, 20900))


_OPTIONS_MODULE = """
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from penstock.config import calculator_pb2  # knows all that can be extended

file = descriptor_pb2.FileDescriptorProto(name="penstock_config_tests/{name}.proto", package="penstock")
for dependency in ("calculator", "calculator_options", "mediapipe_options"):
    file.dependency.append(f"penstock/config/{{dependency}}.proto")
message = file.message_type.add(name="{name}")
message.field.add(name="size", number=1, type=5, label=1)
message.field.add(name="ratio", number=3, type=2, label=1)
message.field.add(name="inner", number=2, type=11, label=3, type_name=".penstock.CalculatorGraphConfig.Node")
message.extension.add(
    name="ext", number={number}, type=11, label=1, type_name=".penstock.{name}", extendee=".{extendee}"
)
pool = descriptor_pool.Default()
pool.AddSerializedFile(file.SerializeToString())
{name} = message_factory.GetMessageClass(pool.FindMessageTypeByName("penstock.{name}"))
"""


@pytest.fixture
def registry():
    made = Registry()
    made.add("input stream handler", "DefaultInputStreamHandler", type("DefaultInputStreamHandler", (), {}))
    return made


@pytest.fixture
def declare(registry):
    """Register a calculator whose ports take anything; return its class."""

    def declare(name):
        def fill(_, cc):
            for port in (*cc.inputs, *cc.outputs):
                port.set_any()

        made = type(name, (), {"get_contract": classmethod(fill)})
        registry.add("calculator", name, made)
        return made

    declare("PassCalculator")
    declare("SourceCalculator")
    return declare


@pytest.fixture
def faults(registry, declare):  # declares the calculators that tests take for granted
    """Return the faults of a graph that has some, as (code's name, message)."""

    def faults(graph):
        with pytest.raises(GraphConfigError) as caught:
            build_plan(graph, registry)
        return [(fault.code.name, str(fault)) for fault in caught.value.faults]

    return faults


@pytest.fixture
def make_options(registry, tmp_path, monkeypatch):
    """Declare an options message. Its module is on the path, and is imported when the message is used."""
    monkeypatch.syspath_prepend(tmp_path)

    def make_options(name, number, extendee="penstock.CalculatorOptions"):
        module = f"penstock_config_tests_{name.lower()}"
        source = _OPTIONS_MODULE.format(name=name, number=number, extendee=extendee)
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, module, raising=False)
        registry.add_option(f"penstock.{name}", extendee, number, f"{module}:{name}")
        return SimpleNamespace(load=lambda: getattr(__import__(module), name))

    return make_options


@pytest.fixture
def kind(make_options):
    """An options message with `size` and a list `inner` of nodes; known to the registry, and loaded."""
    number = next(NUMBERS)
    return make_options(f"Value{number}Options", number).load()


@pytest.fixture
def sizes(registry, declare, kind):
    """Plan a graph in which OPTIONS stands for the options' type; return each node's size, None if unset."""

    def sizes(graph, **subgraphs):
        def spelled(text):
            return text.replace("OPTIONS", kind.DESCRIPTOR.full_name)

        config = build_plan(
            spelled(graph), registry, subgraphs={name: spelled(text) for name, text in subgraphs.items()}
        ).config
        found = []
        for node in config.node:
            options = kind()
            if node.HasField("options"):
                options = node.options.Extensions[kind.ext]
            for packed in node.node_options:
                packed.Unpack(options)
            found.append(options.size if options.HasField("size") else None)
            assert not node.option_value
        return found

    return sizes


PACKED = "graph_options { [type.googleapis.com/OPTIONS] { size: 7 } }"
NODE = 'node {{ calculator: "SourceCalculator" output_stream: "o" {} }}'
EMPTY = "options { [OPTIONS.ext] { } }"


@pytest.mark.parametrize(
    "own",
    ["options { [OPTIONS.ext] { size: 1 } }", "node_options { [type.googleapis.com/OPTIONS] { size: 1 } }"],
)
@pytest.mark.parametrize("path", ["size:size", "options/size:options/size"])
def test_the_graphs_value_replaces_the_nodes(sizes, own, path):
    assert sizes(f"{PACKED} {NODE.format(own)}") == [1]
    assert sizes(PACKED + NODE.format(f'{own} option_value: "{path}"')) == [7]


def test_a_type_may_be_named(sizes):
    own = f'{EMPTY} option_value: "Ext::OPTIONS/size:options/Ext::OPTIONS/size"'

    assert sizes(PACKED + NODE.format(own)) == [7]


def test_a_graph_without_options_changes_nothing_and_one_that_leaves_the_field_unset_unsets_it(sizes):
    own = NODE.format('options { [OPTIONS.ext] { size: 1 } } option_value: "size:size"')

    assert sizes(own) == [1]
    assert sizes(PACKED.replace("size: 7", "") + own) == [None]


SUB = f"""
output_stream: "o"
graph_options {{ [type.googleapis.com/OPTIONS] {{ size: 3 }} }}
{NODE.format(EMPTY + ' option_value: "size:size"')}
"""
USE = 'node {{ calculator: "Sub" output_stream: "x" {} }}'


def test_a_subgraph_has_its_own_options_unless_its_user_says_otherwise(sizes):
    use = USE.format

    assert sizes(use(""), Sub=SUB) == [3]
    assert sizes(use("options { [OPTIONS.ext] { size: 4 } }"), Sub=SUB) == [4]
    assert sizes(use("node_options { [type.googleapis.com/OPTIONS] { size: 5 } }"), Sub=SUB) == [5]
    assert sizes(use(EMPTY), Sub=SUB) == [3]


def test_values_go_down_through_nested_subgraphs(sizes):
    outer = f"""
    output_stream: "x" {PACKED.replace("7", "8")}
    {USE.format(EMPTY + ' option_value: "size:size"')}
    """

    assert sizes('node { calculator: "Outer" output_stream: "y" }', Outer=outer, Sub=SUB) == [8]


def test_a_subgraph_that_is_used_twice_has_each_users_value(sizes):
    uses = [
        f'node {{ calculator: "Sub" output_stream: "{name}" options {{ [OPTIONS.ext] {{ size: {size} }} }} }}'
        for name, size in (("x", 10), ("y", 11))
    ]

    assert sizes(" ".join(uses), Sub=SUB) == [10, 11]


def test_options_of_one_use_do_not_reach_another_use(registry, declare, make_options):
    kind = make_options("SharedGraphOptions", next(NUMBERS), "penstock.MediaPipeOptions").load()
    sub = f"""
    output_stream: "o"
    options {{ [penstock.SharedGraphOptions.ext] {{ size: 3 }} }}
    {NODE.format('option_value: "size:size" node_options { [type.googleapis.com/OPTIONS] { } }')}
    """.replace("OPTIONS", kind.DESCRIPTOR.full_name)
    given = "node_options { [type.googleapis.com/penstock.SharedGraphOptions] { size: 9 } }"
    uses = USE.format(given) + USE.format("").replace('"x"', '"y"')

    found = []
    for node in build_plan(uses, registry, subgraphs={"Sub": sub}).config.node:
        options = kind()
        node.node_options[0].Unpack(options)
        found.append(options.size)
    assert found == [9, 3]


# --- paths --------------------------------------------------------------------------------------


def options_after(kind, entry, graph_says, node_says):
    """Return what a node's options are, and the errors, after one entry was carried out."""
    graph = CalculatorGraphConfig()
    graph.graph_options.add().Pack(text_format.Parse(graph_says, kind()))
    node = graph.node.add(option_value=[entry])
    node.node_options.add().Pack(text_format.Parse(node_says, kind()))
    found = set_option_values(node, graph, OptionTypes(Registry()))
    errors = [(i, error.code.name, str(error)) for i, error in found]
    result = kind()
    node.node_options[0].Unpack(result)
    return result, errors


@pytest.mark.parametrize(
    ("entry", "graph_says", "node_says", "expected"),
    [
        ("inner:inner", 'inner { name: "a" }', "inner { } inner { }", 'inner { name: "a" }'),
        ("inner:inner", "", "inner { }", ""),
        ("inner/1:inner/0", 'inner { name: "a" }', 'inner { } inner { name: "b" executor: "e" }',
         'inner { } inner { name: "a" executor: "e" }'),
        ("inner/0/name:inner/1/name", 'inner { } inner { name: "b" }', "inner { }", 'inner { name: "b" }'),
        ("inner/0/input_stream:inner/0/input_stream", 'inner { input_stream: "a" input_stream: "b" }',
         'inner { input_stream: "z" }', 'inner { input_stream: "a" input_stream: "b" }'),
        ("inner/0/input_stream/1:inner/0/name", 'inner { name: "n" }',
         'inner { input_stream: "x" input_stream: "y" }', 'inner { input_stream: "x" input_stream: "n" }'),
        ("inner/0/input_stream:inner/0/name", 'inner { name: "n" }', 'inner { input_stream: "x" }',
         'inner { input_stream: "n" }'),
        ("inner/0/options:inner/0/options", "inner { options { merge_fields: true } }", "inner { }",
         "inner { options { merge_fields: true } }"),
        ("inner/0/options:inner/0/options", "inner { }", "inner { options { merge_fields: true } }",
         "inner { options { merge_fields: true } }"),
    ],
)  # fmt: skip
def test_a_path_leads_through_fields_and_indexes(kind, entry, graph_says, node_says, expected):
    result, errors = options_after(kind, entry, graph_says, node_says)

    assert errors == []
    assert result == text_format.Parse(expected, kind())


@pytest.mark.parametrize(
    ("entry", "code", "words"),
    [
        ("size", "INVALID_ARGUMENT", "write the option_value as 'FIELD_OF_THE_NODE:FIELD_OF_THE_GRAPH'"),
        (":size", "INVALID_ARGUMENT", "write the option_value as"),
        ("options:size", "INVALID_ARGUMENT", "path 'options' names no field"),
        ("size:inner//name", "INVALID_ARGUMENT", "path 'inner//name' names no field"),
        ("siz:size", "NOT_FOUND", "have no option field 'siz' (did you mean 'size'?)"),
        ("size:siz", "NOT_FOUND", "the graph's options, "),
        ("size:inner/0/nam", "NOT_FOUND", "have no option field 'nam' (did you mean 'name'?)"),
        ("size:inner/1/max_in_flight", "OUT_OF_RANGE", ".inner' has no element 1, but 1 in all"),
        ("inner/1:inner/0", "OUT_OF_RANGE", ".inner' has no element 1, but 1 in all"),
        ("size/0:size", "INVALID_ARGUMENT", ".size' is no list, so it has no element 0"),
        ("size/x:size", "INVALID_ARGUMENT", ".size' has no field 'x' inside"),
        ("inner/name:size", "INVALID_ARGUMENT", ".inner' has no field 'name' inside"),
        ("size:inner/0/name", "INVALID_ARGUMENT", ".size' cannot hold the graph's value 'n'"),
        ("size:inner", "INVALID_ARGUMENT", ".size' cannot hold the graph's value"),
        ("inner/0/name:inner/0/input_stream", "INVALID_ARGUMENT", ".name' cannot hold the graph's value"),
        ("inner:size", "INVALID_ARGUMENT", ".inner' cannot hold the graph's value 6"),
    ],
)
def test_an_entry_that_cannot_be_carried_out_says_why_and_changes_nothing(kind, entry, code, words):
    graph_says, node_says = 'size: 6 inner { name: "n" input_stream: "i" }', "size: 1 inner { }"

    result, ((position, found, message),) = options_after(kind, entry, graph_says, node_says)
    assert (position, found) == (0, code)
    assert words in message
    assert result == text_format.Parse(node_says, kind())


def test_packed_options_are_written_where_the_others_lack_the_field(kind):
    graph = CalculatorGraphConfig()
    graph.graph_options.add().Pack(text_format.Parse('inner { name: "n" }', kind()))
    node = graph.node.add(option_value=["name:inner/0/name"])
    node.options.Extensions[kind.ext].size = 1
    node.node_options.add().Pack(CalculatorGraphConfig.Node(calculator="c"))

    assert list(set_option_values(node, graph, OptionTypes(Registry()))) == []
    packed = CalculatorGraphConfig.Node()
    node.node_options[0].Unpack(packed)
    assert packed == CalculatorGraphConfig.Node(name="n", calculator="c")


def test_a_type_may_have_the_name_that_the_reference_gives_it(kind):
    name = kind.DESCRIPTOR.full_name.replace("penstock.", "mediapipe.")

    result, errors = options_after(kind, f"Ext::{name}/size:size", "size: 2", "size: 1")
    assert (result.size, errors) == (2, [])


def test_a_node_without_options_to_write_to_is_a_fault_with_its_place(registry, declare, kind):
    graph = f"""
node {{
  calculator: "SourceCalculator"
  output_stream: "o"
  option_value: "size:size"
}}
{PACKED.replace("OPTIONS", kind.DESCRIPTOR.full_name)}
"""
    with pytest.raises(GraphConfigError) as caught:
        build_plan(graph, registry)

    (fault,) = caught.value.faults
    assert fault.code.name == "NOT_FOUND"
    assert str(fault) == (
        "line 5, column 3: node 'SourceCalculator': option_value 'size:size': "
        "the node has no options for an option_value to write to; add them, be they empty"
    )


def test_a_number_that_a_switch_cannot_hold_is_a_fault(faults):
    field, number = (
        f"type.googleapis.com/{one.DESCRIPTOR.full_name}" for one in (FieldDescriptorProto, UInt64Value)
    )
    graph = f"""graph_options {{ [{number}] {{ value: {2**64 - 1} }} }}
        node {{ calculator: "PassCalculator" option_value: "proto3_optional:value"
        node_options {{ [{field}] {{}} }} }}"""

    (code, words), *_ = faults(graph)

    assert code == "INVALID_ARGUMENT"
    assert f"proto3_optional' cannot hold the graph's value {2**64 - 1}: " in words


def test_packed_options_without_a_type_are_a_fault(faults):
    node = {"calculator": "PassCalculator", "node_options": [{}], "option_value": ["a:b"]}
    graph = CalculatorGraphConfig(node=[node])

    (code, words), *_ = faults(graph)

    assert code == "INVALID_ARGUMENT"
    assert "node 'PassCalculator': option_value 'a:b': packed options have no type; write [type" in words


@pytest.mark.parametrize(
    ("suffix", "value", "words"),
    [
        ("", b"\xff\xff", "options {}: its 2 bytes are no such message"),
        (".ext", b"", "packed options have 'type.googleapis.com/{}.ext', which is no message; write [type"),
    ],
)
def test_packed_options_that_are_no_message_of_their_type_are_a_fault(suffix, value, words, faults, kind):
    name = kind.DESCRIPTOR.full_name
    message = CalculatorGraphConfig()
    node = message.node.add(calculator="PassCalculator", option_value=["size:size"])
    node.node_options.add(type_url=f"type.googleapis.com/{name}{suffix}", value=value)

    (code, said), *_ = faults(message)

    assert code == "INVALID_ARGUMENT"
    assert f"node 'PassCalculator': option_value 'size:size': {words.format(name)}" in said


@attrs.frozen(kw_only=True)
class Rect:
    x: int
    y: int = 0


@attrs.frozen(kw_only=True)
class CropOptions:
    """Options that are an attrs class, not a message."""

    radius: int = 3
    names: tuple[str, ...] = ()
    area: Rect | None = None
    size: tuple[int, int] = (640, 480)
    on: bool = False


def test_fields_of_option_classes_are_copied(registry):
    name = attrs_name(CropOptions)
    registry.add_option(name, None, None, CropOptions)

    class Crop:
        Options = CropOptions

        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set_any()
            cc.outputs[0].set_any()

    registry.add("calculator", "Crop", Crop)
    entries = " ".join(f'option_value: "{field}:{field}"' for field in ("radius", "size", "names", "area"))
    inside = f"""type: "Sub" input_stream: "in" output_stream: "out"
        graph_options {{ [type.googleapis.com/{name}] {{ radius: 4 names: 'a' area {{ x: 1 }} }} }}
        node {{ calculator: "Crop" input_stream: "in" output_stream: "out"
               node_options {{ [type.googleapis.com/{name}] {{ on: true }} }} {entries} }}"""
    uses = 'input_stream: "in" node { calculator: "Sub" input_stream: "in" output_stream: "out" %s }'

    def options(given):
        return build_plan(uses % given, registry, subgraphs={"Sub": inside}).nodes[0].options.get(CropOptions)

    assert options("") == CropOptions(radius=4, names=("a",), area=Rect(x=1), on=True)
    given = f"node_options {{ [type.googleapis.com/{name}] {{ radius: 9 }} }}"
    assert options(given) == CropOptions(radius=9, names=("a",), area=Rect(x=1), on=True)
