"""Graphs that the reference's tests of its builders write, written with ours: the same configs come out.

They are from its files `api2/builder_test.cc`, `api3/graph_test.cc` and
`api3/internal/graph_builder_test.cc`. Its builders call streams without a name __stream_0, __stream_1, ...;
ours calls them after their nodes, so such names are given here. The order of ports in a config has no
meaning: they are compared in order of their tags.
"""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import FailedPreconditionError
from penstock.plugins.default_registry import default_registry
from penstock.port_tags import TagMap
from penstock_builder import Graph
from penstock_calculators.messages.gate_pb2 import GateCalculatorOptions
from penstock_testing import calculator

CALCULATORS = (
    "Foo Bar FloatAdder PreviousLoopbackCalculator ObjectDetectionCalculator SomeBackEdgeCalculator "
    "SomeOutputDataCalculator AnyAndSameTypeCalculator MultiInputsOutputs ImageToTensor Inference "
    "TensorToDetections EveryFieldNode"
)


@pytest.fixture
def g():
    registry = default_registry().child()
    for name in CALCULATORS.split():
        registry.add("calculator", name, calculator(name=name))
    return Graph(registry)


def in_order(entries):
    """Return ports in the order of their tags and indexes."""
    entries = list(entries)
    return " ".join(entries[port.entry] for port in TagMap(entries))


def written(graph):
    """Return a config as lines: the graph's own ports, executors, and each node."""
    config = graph.to_config()
    kinds = {
        "in": config.input_stream,
        "out": config.output_stream,
        "side in": config.input_side_packet,
        "side out": config.output_side_packet,
    }
    lines = [f"{kind} {in_order(entries)}" for kind, entries in kinds.items() if entries]
    lines += [f"executor {one.name} {one.type} {_inline(one.options)}".strip() for one in config.executor]
    for node in config.node:
        sides = [f"[{in_order(entries)}]" if entries else "" for entries in _sides(node)]
        words = [node.calculator, in_order(node.input_stream), sides[0], "->", in_order(node.output_stream)]
        words += [sides[1], node.name and f"name={node.name}", node.executor and f"executor={node.executor}"]
        words.append(f"layer={node.source_layer}" if node.source_layer else "")
        for field in ("input_stream_handler", "output_stream_handler", "options"):
            if node.HasField(field):
                words.append(f"{field}: {_inline(getattr(node, field))}".strip())
        words += [f"info {info.tag_index} {info.back_edge}" for info in node.input_stream_info]
        words += [f"node_options {any_.type_url.rpartition('/')[2]}" for any_ in node.node_options]
        lines.append(" ".join(word for word in words if word))
    return lines


def _sides(node):
    return node.input_side_packet, node.output_side_packet


def _inline(message):
    return " ".join(str(message).split())


# --- graphs ---------------------------------------------------------------------------------------------


def foo(g, base, side, **more):
    made = g.node("Foo", {"BASE": base}, {"SIDE": side} if side is not None else (), **more)
    return made, made.outputs["OUT"]


def base_and_side(g):
    return g.input("base", tag="IN"), g.side_packet("side", tag="SIDE")


FOO_BAR = [
    "in IN:base",
    "out OUT:out",
    "side in SIDE:side",
    "Foo BASE:base [SIDE:side] -> OUT:__stream_0",
    "Bar IN:__stream_0 -> OUT:out",
]


@pytest.mark.reference(
    "framework/api2/builder_test.cc",
    "BuilderTest.BuildGraph",
    "BuilderTest.BuildGraphWithFunctions",
)
@pytest.mark.reference("framework/api3/graph_test.cc", "GenericGraphTest.CanBuildGenericGraph")
@pytest.mark.reference(
    "framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.CanBuildGenericGraph"
)
def test_two_nodes_in_a_row(g):
    base, side = base_and_side(g)
    _, between = foo(g, base, side)
    between.named("__stream_0")
    g.output(g.node("Bar", {"IN": between}).outputs["OUT"], "out", tag="OUT")

    assert written(g) == FOO_BAR


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.BuildGraphDefiningAndSettingExecutors")
@pytest.mark.reference(
    "framework/api3/graph_test.cc", "GenericGraphTest.CanBuildGraphDefiningAndSettingExecutors"
)
@pytest.mark.reference(
    "framework/api3/internal/graph_builder_test.cc",
    "GenericGraphTest.CanBuildGraphDefiningAndSettingExecutors",
)
def test_nodes_on_executors(g):
    base, side = base_and_side(g)
    executors = [
        g.executor("_b_executor_0", "ThreadPoolExecutor"),
        g.executor("_b_executor_1", "ThreadPoolExecutor", num_threads=42),
    ]
    between = [
        foo(g, base, side, executor=executor)[1].named(f"__stream_{i}")
        for i, executor in enumerate(executors)
    ]
    for i, executor in enumerate(executors):
        out = g.node("Bar", {"IN": between[i]}, executor=executor).outputs["OUT"]
        g.output(out, f"out{i + 1}", tag="OUT")

    forty_two = "[penstock.ThreadPoolExecutorOptions.ext] { num_threads: 42 }"
    assert written(g) == [
        "in IN:base",
        "out OUT:0:out1 OUT:1:out2",
        "side in SIDE:side",
        "executor _b_executor_0 ThreadPoolExecutor",
        f"executor _b_executor_1 ThreadPoolExecutor {forty_two}",
        "Foo BASE:base [SIDE:side] -> OUT:__stream_0 executor=_b_executor_0",
        "Foo BASE:base [SIDE:side] -> OUT:__stream_1 executor=_b_executor_1",
        "Bar IN:__stream_0 -> OUT:out1 executor=_b_executor_0",
        "Bar IN:__stream_1 -> OUT:out2 executor=_b_executor_1",
    ]


@pytest.mark.reference(
    "framework/api2/builder_test.cc", "BuilderTest.BuildGraphSettingInputAndOutputStreamHandlers"
)
@pytest.mark.reference(
    "framework/api3/graph_test.cc", "BuilderTest.BuildGraphSettingInputAndOutputStreamHandlers"
)
@pytest.mark.reference(
    "framework/api3/internal/graph_builder_test.cc",
    "BuilderTest.BuildGraphSettingInputAndOutputStreamHandlers",
)
def test_nodes_with_policies(g):
    base, side = base_and_side(g)
    made, between = foo(g, base, side)
    made.set_input_stream_handler(
        "FixedSizeInputStreamHandler", target_queue_size=2, trigger_queue_size=3, fixed_min_size=True
    )
    between.named("__stream_0")
    bar = g.node("Bar", {"IN": between}, input_stream_handler="ImmediateInputStreamHandler")
    bar.message.output_stream_handler.output_stream_handler = "InOrderOutputStreamHandler"
    g.output(bar.outputs["OUT"], "out", tag="OUT")

    fixed = (
        'input_stream_handler: "FixedSizeInputStreamHandler" options { '
        "[penstock.FixedSizeInputStreamHandlerOptions.ext] { "
        "trigger_queue_size: 3 target_queue_size: 2 fixed_min_size: true } }"
    )
    immediate = 'input_stream_handler: "ImmediateInputStreamHandler"'
    in_order_output = 'output_stream_handler: "InOrderOutputStreamHandler"'
    assert written(g) == [
        *FOO_BAR[:3],
        f"{FOO_BAR[3]} input_stream_handler: {fixed}",
        f"{FOO_BAR[4]} input_stream_handler: {immediate} output_stream_handler: {in_order_output}",
    ]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.BuildGraphSettingSourceLayer")
@pytest.mark.reference("framework/api3/graph_test.cc", "GenericGraphTest.BuildGraphSettingSourceLayer")
@pytest.mark.reference(
    "framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.BuildGraphSettingSourceLayer"
)
def test_nodes_with_source_layers(g):
    base, side = base_and_side(g)
    _, between = foo(g, base, side, source_layer=0)
    between.named("__stream_0")
    g.output(g.node("Bar", {"IN": between}, source_layer=1).outputs["OUT"], "out", tag="OUT")

    assert written(g) == [*FOO_BAR[:4], f"{FOO_BAR[4]} layer=1"]


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        pytest.param(
            "my_named_foo_node",
            "out",
            marks=pytest.mark.reference(
                "framework/api2/builder_test.cc", "BuilderTest.BuildGraphSettingNodeName"
            ),
        ),
        pytest.param(
            "my_foo_node",
            "my_output_stream",
            marks=pytest.mark.reference(
                "framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.CanSetNodeName"
            ),
        ),
    ],
)
def test_a_node_with_a_name(g, name, stream):
    _, out = foo(g, g.input("base", tag="IN"), None, name=name)
    g.output(out, stream, tag="OUT")

    assert written(g) == ["in IN:base", f"out OUT:{stream}", f"Foo BASE:base -> OUT:{stream} name={name}"]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.CanUseBackEdges")
@pytest.mark.reference("framework/api3/graph_test.cc", "GenericGraphTest.CanUseBackEdges")
@pytest.mark.reference("framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.CanUseBackEdges")
def test_a_loop_by_tag(g):
    image, loop = g.input("image", tag="IMAGE"), g.feedback()
    previous = g.node("PreviousLoopbackCalculator", {"MAIN": image, "LOOP": loop.stream}).outputs["PREV_LOOP"]
    previous.named("__stream_0")
    detections = g.node("ObjectDetectionCalculator", {"IMAGE": image, "PREV_DETECTIONS": previous}).outputs[
        "DETECTIONS"
    ]
    loop.connect(detections)
    g.output(detections, "detections", tag="OUT")

    assert written(g) == [
        "in IMAGE:image",
        "out OUT:detections",
        "PreviousLoopbackCalculator LOOP:detections MAIN:image -> PREV_LOOP:__stream_0 info LOOP True",
        "ObjectDetectionCalculator IMAGE:image PREV_DETECTIONS:__stream_0 -> DETECTIONS:detections",
    ]


@pytest.mark.parametrize(
    ("tag", "inputs", "info"),
    [
        pytest.param(
            "DATA",
            "DATA:0:in_data DATA:1:out_data",
            "DATA:1",
            marks=[
                pytest.mark.reference(
                    "framework/api2/builder_test.cc", "BuilderTest.CanUseBackEdgesWithIndex"
                ),
                pytest.mark.reference(
                    "framework/api3/graph_test.cc", "GenericGraphTest.CanUseBackEdgesWithRepeated"
                ),
                pytest.mark.reference(
                    "framework/api3/internal/graph_builder_test.cc",
                    "GenericGraphTest.CanUseBackEdgesWithIndex",
                ),
            ],
        ),
        pytest.param(
            "",
            "in_data out_data",
            ":1",
            marks=[
                pytest.mark.reference(
                    "framework/api2/builder_test.cc", "BuilderTest.CanUseBackEdgesWithIndexAndNoTag"
                ),
                pytest.mark.reference(
                    "framework/api3/graph_test.cc", "GenericGraphTest.CanUseBackEdgesWithRepeatedAndNoTag"
                ),
                pytest.mark.reference(
                    "framework/api3/internal/graph_builder_test.cc",
                    "GenericGraphTest.CanUseBackEdgesWithIndexAndNoTag",
                ),
            ],
        ),
    ],
)
def test_a_loop_by_index(g, tag, inputs, info):
    data, loop = g.input("in_data", tag="IN"), g.feedback()
    made = g.node("SomeBackEdgeCalculator", {(tag, 0): data, (tag, 1): loop.stream})
    processed = made.outputs["PROCESSED_DATA"].named("__stream_0")
    output = g.node("SomeOutputDataCalculator", {"IMAGE": data, "PROCESSED_DATA": processed}).outputs[
        "OUTPUT_DATA"
    ]
    loop.connect(output)
    g.output(output, "out_data", tag="OUT")

    assert written(g) == [
        "in IN:in_data",
        "out OUT:out_data",
        f"SomeBackEdgeCalculator {inputs} -> PROCESSED_DATA:__stream_0 info {info} True",
        "SomeOutputDataCalculator IMAGE:in_data PROCESSED_DATA:__stream_0 -> OUTPUT_DATA:out_data",
    ]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.CopyableStream")
def test_a_stream_may_have_several_names_in_python(g):
    g.input("a", int, tag="A")
    stream = g.input("b", int, tag="B")
    side = g.side_packet("side_a", float, tag="SIDE_A")
    g.side_packet("side_b", float, tag="SIDE_B")
    same, same_side = stream, side
    g.output(same, tag="OUT")
    g.output_side_packet(same_side, tag="SIDE_OUT")

    assert written(g) == [
        "in A:a B:b",
        "out OUT:b",
        "side in SIDE_A:side_a SIDE_B:side_b",
        "side out SIDE_OUT:side_a",
    ]


@pytest.mark.reference(
    "framework/api2/builder_test.cc",
    "BuilderTest.FanOut",
    "BuilderTest.TypedMultiple",
    "BuilderTest.TypedByPorts",
)
@pytest.mark.reference("framework/api3/graph_test.cc", "GenericGraphTest.FanOut")
@pytest.mark.reference("framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.FanOut")
def test_a_stream_that_is_read_twice(g):
    _, between = foo(g, g.input("base", tag="IN"), None)
    between.named("__stream_0")
    out = g.node("FloatAdder", {("IN", 0): between, ("IN", 1): between}).outputs["OUT"]
    g.output(out, "out", tag="OUT")

    assert written(g) == [
        "in IN:base",
        "out OUT:out",
        "Foo BASE:base -> OUT:__stream_0",
        "FloatAdder IN:0:__stream_0 IN:1:__stream_0 -> OUT:out",
    ]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.EmptyTag")
@pytest.mark.reference("framework/api3/graph_test.cc", "GenericGraphTest.SupportsEmptyTags")
@pytest.mark.reference("framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.SupportsEmptyTags")
def test_ports_without_a_tag(g):
    a, c, b = (g.input(name, tag=name.upper()) for name in "acb")
    made = g.node("Foo", {0: a, 2: c, 1: b})
    g.output(made.outputs[0], "x", tag="ONE")
    g.output(made.outputs[1], "y", tag="TWO")

    assert written(g) == ["in A:a B:b C:c", "out ONE:x TWO:y", "Foo a b c -> x y"]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.StringLikeTags")
@pytest.mark.reference(
    "framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.SupportsStringLikeTags"
)
def test_ports_with_tags(g):
    made = g.node("Foo", {"A": g.input("a", tag="A"), "B": g.input("b", tag="B")})
    g.output(made.outputs["C"], "c", tag="C")

    assert written(g) == ["in A:a B:b", "out C:c", "Foo A:a B:b -> C:c"]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.GraphIndexes")
@pytest.mark.reference("framework/api3/internal/graph_builder_test.cc", "GenericGraphTest.SupportsIndexing")
def test_ports_of_the_graph_without_a_tag(g):
    a, c, b = (g.input(name) for name in "acb")
    made = g.node("Foo", {0: a, 2: c, 1: b}, outputs={0: "x", 1: "y"})
    g.output(made.outputs[1])
    g.output(made.outputs[0])

    assert written(g) == ["in a c b", "out y x", "Foo a b c -> x y"]


@pytest.mark.reference(
    "framework/api2/builder_test.cc",
    "BuilderTest.MultiPortIsCastToMultiPort",
    "BuilderTest.MultiPortCanBeSlicedToSinglePort",
)
def test_an_input_of_the_graph_is_its_output(g):
    g.output(g.input("__stream_0", tag="ANY_INPUT"), tag="ANY_OUTPUT")

    assert written(g) == ["in ANY_INPUT:__stream_0", "out ANY_OUTPUT:__stream_0"]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.SinglePortAccessWorksThroughSlicing")
def test_two_inputs_of_the_graph_are_its_outputs(g):
    g.output(g.input("__stream_1", int, tag="INT_INPUT"), tag="INT_OUTPUT")
    g.output(g.input("__stream_0", tag="ANY_OUTPUT"), tag="ANY_OUTPUT")

    assert written(g) == [
        "in ANY_OUTPUT:__stream_0 INT_INPUT:__stream_1",
        "out ANY_OUTPUT:__stream_0 INT_OUTPUT:__stream_1",
    ]


@pytest.mark.reference(
    "framework/api2/builder_test.cc",
    "BuilderTest.TestStreamEqualsNotEqualsOperators",
    "BuilderTest.TestSidePacketEqualsNotEqualsOperators",
)
def test_streams_are_equal_where_they_are_one(g):
    for make in (g.input, g.side_packet):
        first, second = make("zero"), make("one")
        assert first == first  # noqa: PLR0124  # with itself
        assert first != second
        second = first
        assert first == second


@pytest.mark.reference(
    "framework/api2/builder_test.cc", "BuilderTest.CrashWithUsefulMessageIfSkippingInputSource"
)
def test_an_input_that_is_left_out_below_another_is_refused_with_the_node(g):
    made = g.node("MultiInputsOutputs")
    made.inputs[1] = g.input("base", tag="IN")

    with pytest.raises(
        FailedPreconditionError, match=r"'MultiInputsOutputs'.*input 0 is missing among the builder's ports"
    ):
        g.to_config()


@pytest.mark.reference("framework/api2/builder_test.cc", "GetOptionsTest.AddProto3Options")
@pytest.mark.reference("framework/api3/internal/graph_builder_test.cc", "GetOptionsTest.CanAddProto3Options")
def test_options_that_say_nothing_are_in_the_config(g):
    """The reference's message is one of its tests; here it is another one."""
    base, side = base_and_side(g)
    _, between = foo(g, base, side, options=GateCalculatorOptions())
    between.named("__stream_0")
    g.output(g.node("Bar", {"IN": between}).outputs["OUT"], "out", tag="OUT")

    assert written(g) == [
        *FOO_BAR[:3],
        f"{FOO_BAR[3]} node_options penstock.GateCalculatorOptions",
        FOO_BAR[4],
    ]


@pytest.mark.reference("framework/api3/graph_test.cc", "GetOptionsTest.CanAddProto3Options")
def test_options_with_a_value_are_in_the_config(g):
    given = GateCalculatorOptions(initial_gate_state=GateCalculatorOptions.GATE_DISALLOW)
    base, side = base_and_side(g)
    made, out = foo(g, base, side, options=given)
    g.output(out, "out", tag="OUT")

    assert written(g) == [
        *FOO_BAR[:3],
        "Foo BASE:base [SIDE:side] -> OUT:out node_options penstock.GateCalculatorOptions",
    ]
    (options,) = made.message.node_options
    assert GateCalculatorOptions.FromString(options.value) == given


@pytest.mark.reference(
    "framework/api2/builder_test.cc", "BuilderTest.BuildGraphTyped", "BuilderTest.BuildGraphTyped2"
)
def test_a_node_of_a_calculator_class(g):
    base, side = base_and_side(g)
    kind = g.registry.find("calculator", "Foo")
    between = g.node(kind, {"BASE": base}, {"BIAS": side}).outputs["OUT"].named("__stream_0")
    g.output(g.node("Bar", {"IN": between}).outputs["OUT"], "out", tag="OUT")

    assert written(g) == [*FOO_BAR[:3], FOO_BAR[3].replace("SIDE:side", "BIAS:side"), FOO_BAR[4]]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.AnyAndSameTypeHandledProperly")
def test_a_node_whose_ports_have_any_type(g):
    tags = (
        "ANY_OUTPUT",
        "RECURSIVE_SAME_INT_OUTPUT",
        "RECURSIVE_SAME_OUTPUT",
        "SAME_INT_OUTPUT",
        "SAME_OUTPUT",
    )
    names = (
        "any_type_output",
        "recursive_same_int_type_output",
        "recursive_same_type_output",
        "same_int_output",
        "same_type_output",
    )
    g.node(
        "AnyAndSameTypeCalculator",
        {
            "INPUT": g.input("__stream_0", tag="GRAPH_ANY_INPUT"),
            "INT_INPUT": g.input("__stream_1", int, tag="GRAPH_INT_INPUT"),
        },
        outputs=dict(zip(tags, names, strict=True)),
    )

    outputs = " ".join(f"{tag}:{name}" for tag, name in zip(tags, names, strict=True))
    assert written(g) == [
        "in GRAPH_ANY_INPUT:__stream_0 GRAPH_INT_INPUT:__stream_1",
        f"AnyAndSameTypeCalculator INPUT:__stream_0 INT_INPUT:__stream_1 -> {outputs}",
    ]


@pytest.mark.reference("framework/api2/builder_test.cc", "BuilderTest.AnyTypeCanBeCast")
@pytest.mark.parametrize("payload_type", [None, str])
def test_a_port_of_any_type_takes_a_stream_of_a_type(g, payload_type):
    any_input = g.input("__stream_0", payload_type, tag="GRAPH_ANY_INPUT")
    made = g.node("AnyAndSameTypeCalculator", {"INPUT": any_input}, outputs={"ANY_OUTPUT": "any_type_output"})
    g.output(made.outputs["ANY_OUTPUT"], tag="GRAPH_ANY_OUTPUT")

    assert written(g) == [
        "in GRAPH_ANY_INPUT:__stream_0",
        "out GRAPH_ANY_OUTPUT:any_type_output",
        "AnyAndSameTypeCalculator INPUT:__stream_0 -> ANY_OUTPUT:any_type_output",
    ]


# --- graphs with ports of each kind ---------------------------------------------------------------------


@pytest.mark.reference(
    "framework/api3/graph_test.cc",
    "GraphTest.CanAccessGraphInputsOutputs",
    "GraphTest.CanAddNodesByContract",
    "GraphTest.CanUseUtilityFunctionsAndTemplateType",
)
@pytest.mark.parametrize("by_functions", [False, True])
def test_a_graph_of_three_nodes_with_and_without_functions(g, by_functions):
    def to_tensor(graph, image):
        return graph.node("ImageToTensor", {"IMAGE": image}).outputs["TENSOR"].named("__stream_1")

    def infer(graph, tensor):
        made = graph.node("Inference", {"REPEATED_TENSOR": tensor})
        return [made.outputs["REPEATED_TENSOR", i].named(f"__stream_{i + 2}") for i in (0, 1)]

    image = g.input("__stream_0", tag="IMAGE")
    if by_functions:
        boxes, scores = infer(g, to_tensor(g, image))
    else:
        tensor = g.node("ImageToTensor", {"IMAGE": image}, outputs={"TENSOR": "__stream_1"}).output
        names = {("REPEATED_TENSOR", 0): "__stream_2", ("REPEATED_TENSOR", 1): "__stream_3"}
        outputs = g.node("Inference", {"REPEATED_TENSOR": tensor}, outputs=names).outputs
        boxes, scores = outputs["REPEATED_TENSOR", 0], outputs["REPEATED_TENSOR", 1]
    found = g.node("TensorToDetections", {"BOXES": boxes, "SCORES": scores}).outputs["DETECTIONS"]
    g.output(found, "__stream_4", tag="DETECTIONS")

    assert written(g) == [
        "in IMAGE:__stream_0",
        "out DETECTIONS:__stream_4",
        "ImageToTensor IMAGE:__stream_0 -> TENSOR:__stream_1",
        "Inference REPEATED_TENSOR:__stream_1 -> REPEATED_TENSOR:0:__stream_2 REPEATED_TENSOR:1:__stream_3",
        "TensorToDetections BOXES:__stream_2 SCORES:__stream_3 -> DETECTIONS:__stream_4",
    ]


EACH = ["{}", "OPTIONAL_{}", "REPEATED_{}", "REPEATED_{}"]
#: Of the graph and of the node, by the kind of port: names as the reference gives them, in the order above.
NAMED = {
    "IN": ["in", "optional_in", "repeated_in0", "repeated_in1"],
    "SIDE_IN": ["side_in", "optional_side_in", "repeated_side_in0", "repeated_side_in1"],
    "OUT": ["out", "optional_out", "repeated_out0", "repeated_out1"],
    "SIDE_OUT": ["side_out", "optional_side_out", "repeated_side_out0", "repeated_side_out1"],
}
UNNAMED = {
    "IN": [f"__stream_{i}" for i in (0, 1, 2, 3)],
    "SIDE_IN": [f"__side_packet_{i}" for i in (7, 4, 5, 6)],
    "OUT": [f"__stream_{i}" for i in (9, 8, 10, 11)],
    "SIDE_OUT": [f"__side_packet_{i}" for i in (15, 12, 13, 14)],
}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            NAMED,
            marks=pytest.mark.reference("framework/api3/graph_test.cc", "GraphTest.CanSetEveryFieldNames"),
        ),
        pytest.param(
            UNNAMED,
            marks=pytest.mark.reference(
                "framework/api3/graph_test.cc", "GraphTest.CanUseWithEveryFieldContract"
            ),
        ),
    ],
)
def test_a_graph_with_ports_of_every_kind(g, names):
    tags = {kind: [pattern.format(kind) for pattern in EACH] for kind in names}
    keys = {kind: [(tag, int(i == 3)) for i, tag in enumerate(tags[kind])] for kind in tags}
    streams = [g.input(name, tag=tag) for name, tag in zip(names["IN"], tags["IN"], strict=True)]
    sides = [
        g.side_packet(name, tag=tag) for name, tag in zip(names["SIDE_IN"], tags["SIDE_IN"], strict=True)
    ]
    made = g.node(
        "EveryFieldNode",
        dict(zip(keys["IN"], streams, strict=True)),
        dict(zip(keys["SIDE_IN"], sides, strict=True)),
    )
    for key, name, tag in zip(keys["OUT"], names["OUT"], tags["OUT"], strict=True):
        g.output(made.outputs[key], name, tag=tag)
    for key, name, tag in zip(keys["SIDE_OUT"], names["SIDE_OUT"], tags["SIDE_OUT"], strict=True):
        g.output_side_packet(made.output_side_packets[key].named(name), tag=tag)

    def ports(kind):
        plain, optional, first, second = names[kind]
        return " ".join(
            sorted(
                [
                    f"{kind}:{plain}",
                    f"OPTIONAL_{kind}:{optional}",
                    f"REPEATED_{kind}:0:{first}",
                    f"REPEATED_{kind}:1:{second}",
                ]
            )
        )

    assert written(g) == [
        f"in {ports('IN')}",
        f"out {ports('OUT')}",
        f"side in {ports('SIDE_IN')}",
        f"side out {ports('SIDE_OUT')}",
        f"EveryFieldNode {ports('IN')} [{ports('SIDE_IN')}] -> {ports('OUT')} [{ports('SIDE_OUT')}]",
    ]


@pytest.mark.reference(
    "framework/api3/graph_interop_test.cc",
    "GraphInteropTest.CanInteropWithApi2",
    "GraphInteropTest.CanInteropWithApi2AndUtilityFunctions",
)
def test_a_node_with_streams_and_side_packets_in_and_out(g):
    made = g.node(
        "Foo",
        {"INPUT": g.input("in", int)},
        {"SIDE_INPUT": g.side_packet("side_in", str)},
        outputs={"OUTPUT": "out"},
    )
    g.output(made.outputs["OUTPUT"])
    g.output_side_packet(made.output_side_packets["SIDE_OUTPUT"].named("side_out"))

    assert written(g) == [
        "in in",
        "out out",
        "side in side_in",
        "side out side_out",
        "Foo INPUT:in [SIDE_INPUT:side_in] -> OUTPUT:out [SIDE_OUTPUT:side_out]",
    ]


# --- a message as payload -------------------------------------------------------------------------------


class MessageSink(penstock.Calculator):
    """Writes whether a message of its type allows."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(GateCalculatorOptions)
        cc.outputs["OUT"].set(bool)

    def process(self, cc):
        cc.outputs["OUT"].add(cc.inputs["IN"].packet.get(GateCalculatorOptions).allow, cc.input_timestamp)


@pytest.mark.reference(
    "framework/packet_registration_test.cc", "PacketRegistrationTest.AdoptingRegisteredProtoWorks"
)
def test_a_message_goes_through_a_graph_written_in_python(g):
    g.registry.add("calculator", "MessageSink", MessageSink)
    sink = g.node("MessageSink", {"IN": g.input("in", GateCalculatorOptions)})
    g.output(sink.outputs["OUT"], "out")

    found = penstock.run(g, {"in": [(0, GateCalculatorOptions(allow=True))]}, registry=g.registry)

    assert [(packet.timestamp, packet.payload) for packet in found["out"]] == [(0, True)]


@pytest.mark.reference(
    "framework/api2/subgraph_test.cc",
    "SubgraphTest.SubgraphConfig",
    "SubgraphTest.TypedSubgraphConfig",
    "SubgraphTest.ProtoApiConfig",
)
def test_a_subgraph_that_a_builder_writes(g):
    foo_node, between = foo(g, g.input("__stream_0", tag="IN"), None)
    between.named("__stream_1")
    g.output(g.node("Bar", {"IN": between}).outputs["OUT"], "__stream_2", tag="OUT")

    assert foo_node.outputs["OUT"] == between
    assert written(g) == [
        "in IN:__stream_0",
        "out OUT:__stream_2",
        "Foo BASE:__stream_0 -> OUT:__stream_1",
        "Bar IN:__stream_1 -> OUT:__stream_2",
    ]
