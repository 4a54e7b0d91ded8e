"""Options of nodes and subgraphs, with the messages that MediaPipe's own tests of them have."""

from __future__ import annotations

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

import penstock
from penstock.config import build_plan, read_graph
from penstock.errors import GraphConfigError
from penstock.packs import default_registry

FIELD = descriptor_pb2.FieldDescriptorProto
NIGHT = "penstock.NightLightCalculatorOptions"


def messages():
    """Return the classes NightLightCalculatorOptions, NodeChainSubgraphOptions and Proto3Options."""
    import penstock.config.calculator_pb2  # noqa: F401  # the pool knows it then

    file = descriptor_pb2.FileDescriptorProto(name="penstock_tests/lights.proto", package="penstock")
    file.dependency.append("penstock/config/calculator_options.proto")

    def message(name, fields, number=None):
        made = file.message_type.add(name=name)
        for i, (field, kind, label, *type_name) in enumerate(fields, 1):
            made.field.add(
                name=field, number=i, type=kind, label=label, type_name=next(iter(type_name), None)
            )
        if number is not None:
            made.extension.add(
                name="ext",
                number=number,
                type=FIELD.TYPE_MESSAGE,
                label=FIELD.LABEL_OPTIONAL,
                type_name=f".penstock.{name}",
                extendee=".penstock.CalculatorOptions",
            )
        return made

    one, many = FIELD.LABEL_OPTIONAL, FIELD.LABEL_REPEATED
    night = message(
        "NightLightCalculatorOptions",
        [
            ("frame_rate", FIELD.TYPE_DOUBLE, one),
            ("output_header", FIELD.TYPE_ENUM, one, f".{NIGHT}.OutputHeader"),
            ("jitter", FIELD.TYPE_DOUBLE, one),
            ("base_timestamp", FIELD.TYPE_INT64, many),
            ("bundle", FIELD.TYPE_MESSAGE, many, f".{NIGHT}.LightBundle"),
            ("num_lights", FIELD.TYPE_INT32, many),
            ("sub_options", FIELD.TYPE_MESSAGE, one, f".{NIGHT}"),
        ],
        190865679,
    )
    headers = night.enum_type.add(name="OutputHeader")
    for i, name in enumerate(("NONE", "PASS_HEADER")):
        headers.value.add(name=name, number=i)
    bundle = night.nested_type.add(name="LightBundle")
    bundle.field.add(name="room_id", number=1, type=FIELD.TYPE_STRING, label=one)
    bundle.field.add(name="room_lights", number=2, type=FIELD.TYPE_MESSAGE, label=many, type_name=f".{NIGHT}")
    chain = [("node_type", FIELD.TYPE_STRING, one), ("chain_length", FIELD.TYPE_INT32, one)]
    message("NodeChainSubgraphOptions", chain, 167210579)
    third = descriptor_pb2.FileDescriptorProto(
        name="penstock_tests/proto3.proto", package="penstock", syntax="proto3"
    )
    third.message_type.add(name="Proto3Options").field.add(
        name="test_value", number=1, type=FIELD.TYPE_DOUBLE, label=one
    )
    pool = descriptor_pool.Default()
    for built in (file, third):
        pool.AddSerializedFile(built.SerializeToString())
    names = ("NightLightCalculatorOptions", "NodeChainSubgraphOptions", "Proto3Options")
    return [message_factory.GetMessageClass(pool.FindMessageTypeByName(f"penstock.{name}")) for name in names]


NightLight, NodeChain, Proto3 = messages()


class AnyPorts(penstock.Calculator):
    """Takes anything and does nothing."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs, *cc.input_side_packets, *cc.output_side_packets):
            port.set_any()

    def process(self, cc):
        pass


@pytest.fixture
def registry():
    made = default_registry().child()
    for name, number in (("NightLight", 190865679), ("NodeChain", 167210579), ("Proto3", None)):
        extendee = None if number is None else "penstock.CalculatorOptions"
        full_name = globals()[name].DESCRIPTOR.full_name
        made.add_option(full_name, extendee, number, f"{__name__}:{name}")
    for name in ("NightLightCalculator", "MoonCalculator", "DoubleIntCalculator", "SomeCalculator"):
        made.add("calculator", name, type(name, (AnyPorts,), {}))
    return made


# --- which options a node has --------------------------------------------------------------------------

NODE = (
    'node { calculator: "NightLightCalculator" input_side_packet: "input_value" output_stream: "values" %s }'
)
EXTENSION = "options { [mediapipe.NightLightCalculatorOptions.ext] { %s } }"
PACKED = "node_options { [type.googleapis.com/mediapipe.%s] { %s } }"


@pytest.mark.reference(
    "framework/tool/options_map_test.cc",
    "OptionsMapTest.QueryNotFound",
    "OptionsMapTest.Proto2QueryFound",
    "OptionsMapTest.Proto3QueryFound",
    "OptionsMapTest.BothProto2AndProto3QueriesFound",
    "OptionsMapTest.PrefersOptionsOverNodeOptions",
)
@pytest.mark.parametrize(
    ("given", "night", "third"),
    [
        ("", None, None),
        (
            EXTENSION % "base_timestamp: 123 output_header: PASS_HEADER jitter: 0.123",
            "base_timestamp: 123",
            None,
        ),
        (PACKED % ("Proto3Options", "test_value: 123"), None, 123),
        (EXTENSION % "jitter: 321" + PACKED % ("Proto3Options", "test_value: 123"), "jitter: 321", 123),
        (
            EXTENSION % "jitter: 111" + PACKED % ("NightLightCalculatorOptions", "jitter: 222"),
            "jitter: 111",
            None,
        ),
    ],
)
def test_options_are_found_by_their_type_and_extensions_win(registry, given, night, third):
    plan = build_plan('input_side_packet: "input_value" ' + NODE % given, registry)
    options = plan.nodes[0].options

    assert (options.has(NightLight), options.has(Proto3)) == (night is not None, third is not None)
    if night is not None:
        expected, found = text_format.Parse(night, NightLight()), options.get(NightLight)
        (field, value) = expected.ListFields()[0]
        assert getattr(found, field.name) == value
    if third is not None:
        assert options.get(Proto3).test_value == third


@pytest.mark.reference(
    "framework/tool/options_map_test.cc",
    "MutableOptionsMapTest.InsertProto2AndQueryFound",
    "MutableOptionsMapTest.InsertProto3AndQueryFound",
)
@pytest.mark.parametrize("made", [NightLight(base_timestamp=[123]), Proto3(test_value=123)])
def test_options_that_are_set_in_code_are_found_too(registry, made):
    message = read_graph('input_side_packet: "input_value" ' + NODE % "", registry)
    assert not build_plan(message, registry).nodes[0].options.has(type(made))

    message.node[0].node_options.add().Pack(made)

    options = build_plan(message, registry).nodes[0].options
    assert options.has(type(made))
    assert options.get(type(made)) == made


# --- values of a graph's options in its nodes' options ----------------------------------------------------


def lights(registry, entry, graph_says, node_says="", *, packed=True):
    """Return a node's options after the graph's value was written to them."""
    graph_options = (
        f"graph_options {{ [type.googleapis.com/mediapipe.NightLightCalculatorOptions] {{ {graph_says} }} }}"
    )
    own = PACKED % ("NightLightCalculatorOptions", node_says) if packed else EXTENSION % node_says
    node = f'node {{ calculator: "NightLightCalculator" {own} option_value: "{entry}" }}'
    return build_plan(graph_options + node, registry).nodes[0].options.get(NightLight)


def parsed(text):
    return text_format.Parse(text, NightLight())


@pytest.mark.reference("framework/tool/options_util_test.cc", "OptionsUtilTest.CopyLiteralOptions")
def test_a_number_of_a_subgraphs_options_becomes_that_of_its_node(registry):
    subgraph = """
        type: "NightSubgraph"
        graph_options { [type.googleapis.com/mediapipe.NodeChainSubgraphOptions] { chain_length: 8 } }
        node {
          calculator: "NightLightCalculator"
          node_options { [type.googleapis.com/mediapipe.NightLightCalculatorOptions] {} }
          option_value: "num_lights:options/chain_length"
        }
    """
    graph = penstock.CalculatorGraph(
        'num_threads: 4 node { calculator: "NightSubgraph" }', subgraphs=[subgraph], registry=registry
    )
    (node,) = read_graph(graph.text_config, registry).node
    options = NightLight()

    assert (node.name, node.calculator) == ("nightsubgraph__NightLightCalculator", "NightLightCalculator")
    assert node.node_options[0].Unpack(options)
    assert options == NightLight(num_lights=[8])
    assert not node.option_value
    graph.start_run()
    graph.close(20)


@pytest.mark.reference(
    "framework/tool/options_util_test.cc",
    "OptionsUtilTest.OptionFieldPath",
    "OptionsUtilTest.FindOptionsMessage",
)
@pytest.mark.parametrize("start", ["options", f"Ext::{NIGHT}"])
@pytest.mark.parametrize("packed", [True, False])
def test_a_path_leads_from_the_word_options_or_a_type_through_messages_to_a_field(registry, packed, start):
    found = lights(
        registry,
        f"{start}/sub_options/num_lights:{start}/sub_options/num_lights",
        "sub_options { num_lights: 33 }",
        packed=packed,
    )

    assert found == parsed("sub_options { num_lights: 33 }")


@pytest.mark.reference("framework/tool/options_util_test.cc", "OptionsFieldUtilTest.GetFieldValuesInt")
@pytest.mark.parametrize(("index", "expected"), [("", [33, 44]), ("/1", [44])])
def test_a_list_or_one_of_its_numbers_is_read(registry, index, expected):
    entry = f"num_lights:OPTIONS/sub_options/num_lights{index}"

    assert lights(registry, entry, "sub_options { num_lights: [33, 44] }").num_lights == expected


ROOM = 'bundle { room_id: "111" room_lights { frame_rate: 11.1 } room_lights { frame_rate: 22.1 } }'


@pytest.mark.reference("framework/tool/options_util_test.cc", "OptionsFieldUtilTest.GetFieldValuesProtobuf")
@pytest.mark.parametrize("index", ["", "/0"])
def test_messages_of_a_list_or_one_of_them_are_read(registry, index):
    entry = f"bundle:OPTIONS/sub_options/bundle{index}"

    assert lights(registry, entry, f"sub_options {{ {ROOM} }}") == parsed(ROOM)


@pytest.mark.reference("framework/tool/options_util_test.cc", "OptionsFieldUtilTest.MergeFieldValuesInt")
@pytest.mark.parametrize(
    ("index", "before", "given", "after"),
    [
        ("", [], [33], [33]),
        ("", [33], [44], [44]),
        ("", [44], [33, 44], [33, 44]),
        ("/1", [33, 44], [55, 66], [33, 55, 66]),
        ("/1", [33, 55, 66], [11, 12], [33, 11, 12, 66]),
        ("/0", [33, 11, 12, 66], [77], [77, 11, 12, 66]),
        ("/0", [77, 11, 12, 66], [], [11, 12, 66]),
        ("", [11, 12, 66], [], []),
    ],
)
def test_a_list_replaces_a_list_or_one_of_its_numbers(registry, index, before, given, after):
    found = lights(
        registry,
        f"OPTIONS/sub_options/num_lights{index}:num_lights",
        f"num_lights: {given}",
        f"sub_options {{ num_lights: {before} }}",
    )

    assert found.sub_options.num_lights == after


@pytest.mark.reference("framework/tool/options_util_test.cc", "OptionsFieldUtilTest.MergeFieldValuesInt")
def test_a_number_that_a_list_does_not_have_cannot_be_replaced(registry):
    with pytest.raises(GraphConfigError, match="num_lights' has no element 1, but 0 in all") as caught:
        lights(registry, "sub_options/num_lights/1:num_lights", "num_lights: [55, 66]", "sub_options {}")

    assert caught.value.code.name == "OUT_OF_RANGE"


@pytest.mark.reference("framework/tool/options_util_test.cc", "OptionsFieldUtilTest.MergeFieldValuesProtobuf")
@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        (
            "",
            'room_id: "222" room_lights { frame_rate: 22.1 }',
            'room_id: "222" room_lights { frame_rate: 22.1 }',
        ),
        (
            'room_id: "222" room_lights { frame_rate: 22.1 }',
            'room_id: "333" room_lights { frame_rate: 33.1 }',
            'room_id: "333" room_lights { frame_rate: 22.1 } room_lights { frame_rate: 33.1 }',
        ),
    ],
)
def test_messages_of_a_list_are_merged_one_by_one(registry, before, given, after):
    found = lights(
        registry,
        "OPTIONS/sub_options/bundle:bundle",
        f"bundle {{ {given} }}",
        f"sub_options {{ bundle {{ {before} }} }}" if before else "sub_options {}",
    )

    assert found == parsed(f"sub_options {{ bundle {{ {after} }} }}")


# --- subgraphs in place of nodes ------------------------------------------------------------------------


def nodes(config):
    """Return each node as its name, calculator, executor, inputs and outputs, side packets after streams."""
    return [
        (
            node.name,
            node.calculator,
            node.executor,
            [*node.input_stream, *node.input_side_packet],
            [*node.output_stream, *node.output_side_packet],
        )
        for node in config.node
    ]


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc",
    "SubgraphExpansionTest.TransformStreamNames",
    "SubgraphExpansionTest.TransformNames",
)
def test_names_of_streams_and_nodes_get_a_prefix_and_tags_stay(registry):
    subgraph = """
        node {
          name: "source" calculator: "SomeCalculator"
          output_stream: "input_1" output_stream: "input_2" output_stream: "input_3" output_stream: "input_4"
        }
        node {
          calculator: "SomeCalculator" name: "bob"
          input_stream: "input_1" input_stream: "VIDEO:input_2"
          input_stream: "AUDIO:0:input_3" input_stream: "AUDIO:1:input_4"
          output_stream: "output_1"
        }
        node { calculator: "SomeCalculator" input_stream: "output_1" output_stream: "output_2" }
    """

    plan = build_plan('node { name: "_sg0" calculator: "Sub" }', registry, subgraphs={"Sub": subgraph})

    some = "SomeCalculator"
    assert nodes(plan.config)[1:] == [
        (
            "_sg0__bob",
            some,
            "",
            [
                "_sg0__input_1",
                "VIDEO:_sg0__input_2",
                "AUDIO:0:_sg0__input_3",
                "AUDIO:1:_sg0__input_4",
            ],
            ["_sg0__output_1"],
        ),
        ("_sg0__SomeCalculator", some, "", ["_sg0__output_1"], ["_sg0__output_2"]),
    ]


FOUR = """
    node { calculator: "SomeCalculator" name: "source" output_stream: "foo" output_stream: "bar"
           output_stream: "baz" output_stream: "qux" }
    node { calculator: "Sub" input_stream: "foo" input_stream: "VIDEO:bar"
           input_stream: "AUDIO:0:baz" input_stream: "AUDIO:1:qux" }
"""


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc", "SubgraphExpansionTest.FindCorrespondingStreams"
)
def test_inputs_of_a_subgraph_are_its_nodes_by_tag_and_index(registry):
    ports = ["input_1", "VIDEO:input_2", "AUDIO:0:input_3", "AUDIO:1:input_4"]
    inputs = " ".join(f'input_stream: "{port}"' for port in ports)
    reads = " ".join(f'input_stream: "{port.rpartition(":")[2]}"' for port in ports)
    subgraph = f'{inputs} node {{ calculator: "SomeCalculator" {reads} }}'

    plan = build_plan(FOUR, registry, subgraphs={"Sub": subgraph})

    assert nodes(plan.config)[1][3] == ["foo", "bar", "baz", "qux"]


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc",
    "SubgraphExpansionTest.FindCorrespondingStreamsNonexistentTag",
    "SubgraphExpansionTest.FindCorrespondingStreamsTooFewIndexes",
)
@pytest.mark.parametrize(
    ("ports", "message"),
    [
        (
            ["input_1", "AUDIO:0:input_3", "AUDIO:1:input_4"],
            "input 'VIDEO' of the subgraph: it has no such port",
        ),
        (
            ["input_1", "VIDEO:input_2", "AUDIO:0:input_3"],
            "input 'AUDIO:1' of the subgraph: it has no such port",
        ),
    ],
)
def test_inputs_that_a_subgraph_does_not_have_are_refused(registry, ports, message):
    subgraph = " ".join(f'input_stream: "{port}"' for port in ports)

    with pytest.raises(GraphConfigError, match=message):
        build_plan(FOUR, registry, subgraphs={"Sub": subgraph})


def test_streams_and_side_packets_of_a_subgraph_are_connected_on_both_sides(registry):
    subgraph = """
        input_stream: "A:input_1" input_stream: "B:input_2" output_stream: "O:output_2"
        input_side_packet: "SI:side_input" output_side_packet: "SO:side_output"
        node {
          calculator: "SomeCalculator" name: "first"
          input_stream: "input_1" input_stream: "VIDEO:input_2" input_side_packet: "side_input"
          output_stream: "output_1"
        }
        node {
          calculator: "SomeCalculator" name: "second"
          input_stream: "input_1" input_stream: "output_1" output_stream: "output_2"
        }
        node {
          calculator: "SomeCalculator" name: "third"
          input_side_packet: "side_input" output_side_packet: "side_output"
        }
    """
    graph = """
        input_stream: "foo" input_stream: "bar" input_side_packet: "flip"
        node {
          calculator: "Sub" input_stream: "A:foo" input_stream: "B:bar" output_stream: "O:foobar"
          input_side_packet: "SI:flip" output_side_packet: "SO:flop"
        }
    """

    plan = build_plan(graph, registry, subgraphs={"Sub": subgraph})

    assert [(reads, writes) for *_, reads, writes in nodes(plan.config)] == [
        (["foo", "VIDEO:bar", "flip"], ["sub__output_1"]),
        (["foo", "sub__output_1"], ["foobar"]),
        (["flip"], ["flop"]),
    ]


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc", "SubgraphExpansionTest.ValidateSubgraphFields"
)
def test_a_field_for_calculators_on_a_subgraph_is_an_invalid_argument_that_names_it(registry):
    graph = """
        node { name: "simple_source" calculator: "SomeCalculator" output_stream: "foo" }
        node {
          name: "foo_subgraph" calculator: "Sub" input_stream: "DATA:foo"
          buffer_size_hint: -1
        }
    """
    subgraph = 'input_stream: "DATA:in" node { calculator: "SomeCalculator" input_stream: "in" }'

    with pytest.raises(
        GraphConfigError, match=r"node 'foo_subgraph' \(Sub\): buffer_size_hint is for"
    ) as caught:
        build_plan(graph, registry, subgraphs={"Sub": subgraph})

    assert caught.value.code.name == "INVALID_ARGUMENT"


# --- executors of nodes in subgraphs --------------------------------------------------------------------

THREADS = (
    'executor {{ name: "{}" type: "ThreadPoolExecutor" '
    "options {{ [mediapipe.ThreadPoolExecutorOptions.ext] {{ num_threads: {} }} }} }}"
)
HANDS_ON = (
    'node {{ calculator: "PassThroughCalculator" executor: "{}" input_stream: "{}" output_stream: "{}" }}'
)
ENDS = 'input_stream: "IN:foo" output_stream: "OUT:bar"'
INNER = f"{ENDS} {THREADS.format('xyz', 1)} {HANDS_ON.format('xyz', 'foo', 'bar')}"
NESTED = f"""
    {ENDS}
    node {{
      calculator: "InternalExecutorSubgraph" input_stream: "IN:foo" output_stream: "OUT:bar_0"
    }}
    {THREADS.format("xyz", 1)} {HANDS_ON.format("xyz", "bar_0", "bar_1")}
    {THREADS.format("abc", 1)} {HANDS_ON.format("abc", "bar_1", "bar")}
"""
SUBGRAPHS = {"InternalExecutorSubgraph": INNER, "NestedInternalExecutorsSubgraph": NESTED}


def using(name):
    return f'node {{ calculator: "{name}" input_stream: "IN:input" output_stream: "OUT:output" }}'


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc",
    "SubgraphExpansionTest.ExecutorFieldOfNodeInSubgraphPreserved",
)
def test_a_node_in_two_subgraphs_keeps_its_executor(registry):
    inner = 'input_stream: "INPUT:foo" output_stream: "OUTPUT:bar"' + HANDS_ON.format("pool", "foo", "bar")
    outer = """
        input_stream: "IN:in" output_stream: "OUT:out"
        node { calculator: "NodeWithExecutorSubgraph" input_stream: "INPUT:in" output_stream: "OUTPUT:out" }
    """

    plan = build_plan(
        'input_stream: "input"' + THREADS.format("pool", 4) + using("EnclosingSubgraph"),
        registry,
        subgraphs={"NodeWithExecutorSubgraph": inner, "EnclosingSubgraph": outer},
    )

    name = "enclosingsubgraph__nodewithexecutorsubgraph__PassThroughCalculator"
    assert nodes(plan.config) == [(name, "PassThroughCalculator", "pool", ["input"], ["output"])]


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc",
    "SubgraphExpansionTest.SubgraphExecutorIsIgnored",
    "SubgraphExpansionTest.NestedSubgraphExecutorsAreIgnored",
)
@pytest.mark.parametrize(
    ("name", "unknown"),
    [
        ("InternalExecutorSubgraph", ["xyz"]),
        ("NestedInternalExecutorsSubgraph", ["xyz", "abc", "xyz"]),
    ],
)
def test_executors_that_only_subgraphs_declare_are_not_declared(registry, name, unknown):
    with pytest.raises(GraphConfigError) as caught:
        build_plan('input_stream: "input"' + using(name), registry, subgraphs=SUBGRAPHS)

    assert caught.value.code.name == "INVALID_ARGUMENT"
    found = [str(fault).partition("executor '")[2].partition("'")[0] for fault in caught.value.faults]
    assert sorted(found) == sorted(unknown)
    assert all("is not declared" in str(fault) for fault in caught.value.faults)


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc",
    "SubgraphExpansionTest.GraphExecutorsSubstituteSubgraphExecutors",
)
def test_nodes_in_all_subgraphs_run_on_executors_of_the_graph(registry):
    graph = f'input_stream: "input" {THREADS.format("xyz", 1)} {THREADS.format("abc", 1)}'

    plan = build_plan(graph + using("NestedInternalExecutorsSubgraph"), registry, subgraphs=SUBGRAPHS)

    prefix, kind = "nestedinternalexecutorssubgraph__", "PassThroughCalculator"
    assert sorted(nodes(plan.config)) == [
        (f"{prefix}{kind}_1", kind, "xyz", [f"{prefix}bar_0"], [f"{prefix}bar_1"]),
        (f"{prefix}{kind}_2", kind, "abc", [f"{prefix}bar_1"], ["output"]),
        (f"{prefix}internalexecutorsubgraph__{kind}", kind, "xyz", ["input"], [f"{prefix}bar_0"]),
    ]
    penstock.CalculatorGraph(plan.config, registry=registry)


# --- subgraphs that have options ------------------------------------------------------------------------


class Chain(penstock.Subgraph):
    """As many nodes of a type in a row as the options say."""

    @classmethod
    def get_config(cls, sc):
        options = sc.options(NodeChain)
        row = "".join(
            f'node {{ calculator: "{options.node_type}" input_stream: "stream_{i}" '
            f'output_stream: "stream_{i + 1}" }}'
            for i in range(options.chain_length)
        )
        return f'{row} input_stream: "INPUT:stream_0" output_stream: "OUTPUT:stream_{options.chain_length}"'


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc", "SubgraphExpansionTest.SubgraphOptionsUsage"
)
def test_a_subgraph_makes_as_many_nodes_as_its_options_say(registry):
    registry.add("subgraph", "NodeChainSubgraph", Chain)
    given = 'options { [mediapipe.NodeChainSubgraphOptions.ext] { node_type: "%s" chain_length: 3 } }'
    graph = f"""
        input_stream: "stream_0"
        node {{
          calculator: "NodeChainSubgraph" name: "c" input_stream: "INPUT:stream_0"
          output_stream: "OUTPUT:stream_3" {given % "DoubleIntCalculator"}
        }}
    """

    plan = build_plan(graph, registry)

    assert [(kind, reads, writes) for _, kind, _, reads, writes in nodes(plan.config)] == [
        ("DoubleIntCalculator", ["stream_0"], ["c__stream_1"]),
        ("DoubleIntCalculator", ["c__stream_1"], ["c__stream_2"]),
        ("DoubleIntCalculator", ["c__stream_2"], ["stream_3"]),
    ]


@pytest.mark.reference(
    "framework/tool/subgraph_expansion_test.cc",
    "SubgraphExpansionTest.SimpleSubgraphOptionsUsage",
    "SubgraphExpansionTest.SimpleSubgraphOptionsTwice",
)
def test_the_options_of_a_subgraphs_user_reach_its_nodes_once(registry):
    moon = """
        type: "MoonSubgraph"
        graph_options { [type.googleapis.com/mediapipe.NodeChainSubgraphOptions] {} }
        node {
          calculator: "MoonCalculator"
          node_options { [type.googleapis.com/mediapipe.NodeChainSubgraphOptions] {} }
          option_value: "chain_length:options/chain_length"
        }
    """
    sky = """
        graph_options { [type.googleapis.com/mediapipe.NodeChainSubgraphOptions] {} }
        node {
          calculator: "MoonSubgraph"
          options {
            [mediapipe.NodeChainSubgraphOptions.ext] { node_type: "DoubleIntCalculator" chain_length: 3 }
          }
        }
    """

    once = build_plan(sky, registry, subgraphs=[moon]).config
    twice = build_plan(once, registry, subgraphs=[moon]).config

    for config in (once, twice):
        (node,) = config.node
        options = NodeChain()
        assert node.node_options[0].Unpack(options)
        assert options == NodeChain(chain_length=3)
        assert (node.name, list(node.option_value)) == ("moonsubgraph__MoonCalculator", [])
        assert len(config.graph_options) == 1
    assert once == twice
