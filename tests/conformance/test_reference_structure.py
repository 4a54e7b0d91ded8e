"""Graphs that the reference's own tests load: what they become, and which are refused; its values.

They are from its files `graph_validation_test.cc`, `validated_graph_config_test.cc`, `subgraph_test.cc` and
`calculator_contract_test.cc`. The reference adds an empty executor to the config that it returns; here the
config is the file's. What else is in it is compared.
"""

from __future__ import annotations

import attrs
import pytest
from google.protobuf import text_format

import penstock
from penstock import GraphConfigError, ServiceKey, StatusCode, Subgraph
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock_calculators.messages.constant_side_packet_pb2 import ConstantSidePacketCalculatorOptions
from penstock_calculators.messages.gate_pb2 import GateCalculatorOptions
from penstock_templates import GraphTemplate
from penstock_testing import calculator

PATIENCE_S = 30


def config(text):
    return text_format.Parse(text, CalculatorGraphConfig())


def loaded(graph):
    """Return the config of a graph."""
    return CalculatorGraphConfig.FromString(graph.binary_config)


def node(calculator="PassThroughCalculator", **fields):
    """Write a node as text; a field may have one value or several."""
    lines = [f'calculator: "{calculator}"']
    for field, values in fields.items():
        lines += [f'{field}: "{value}"' for value in ([values] if isinstance(values, str) else values)]
    return f"node {{ {' '.join(lines)} }}\n"


TYPE = 'type: "PassThroughGraph"\n'
IN_OUT = 'input_stream: "INPUT:stream_1" output_stream: "OUTPUT:stream_2"\n'
ONE_PASS = IN_OUT + node(input_stream="stream_1", output_stream="stream_2")


@pytest.mark.reference("framework/graph_validation_test.cc", "GraphValidationTest.InitializeGraphFromProtos")
def test_extra_a_graph_may_use_a_graph_that_has_a_type(pool):
    inner = config(TYPE + ONE_PASS)
    assert loaded(penstock.CalculatorGraph(inner)) == inner

    pool.subgraphs = [inner]
    graph = pool.load(
        ONE_PASS + node("PassThroughGraph", input_stream="INPUT:stream_2", output_stream="OUTPUT:stream_3")
    )

    found = loaded(graph)
    assert found == config(
        ONE_PASS
        + node(
            name="passthroughgraph__PassThroughCalculator", input_stream="stream_2", output_stream="stream_3"
        )
    )


@pytest.mark.reference("framework/graph_validation_test.cc", "GraphValidationTest.InitializeGraphFromLinker")
def test_extra_a_subgraph_that_nobody_registers_is_not_found(pool):
    with pytest.raises(GraphConfigError, match="DubQuadTestSubgraph") as caught:
        pool.load(node("DubQuadTestSubgraph"))

    assert caught.value.code is StatusCode.NOT_FOUND


@pytest.mark.reference(
    "framework/graph_validation_test.cc", "GraphValidationTest.InitializeTemplateFromProtos"
)
def test_extra_a_graph_may_use_a_template(pool):
    template = (
        TYPE
        + """
        input_stream: % "INPUT:" + in_name %
        output_stream: "OUTPUT:stream_2"
        node {
          name: %in_name%
          calculator: "PassThroughCalculator"
          input_stream: %in_name%
          output_stream: "stream_2"
        }
        """
    )
    read = GraphTemplate.from_text(template)
    expanded = loaded(penstock.CalculatorGraph(read.expand(in_name="stream_9")))
    assert expanded == config(
        TYPE
        + 'input_stream: "INPUT:stream_9" output_stream: "OUTPUT:stream_2"'
        + node(name="stream_9", input_stream="stream_9", output_stream="stream_2")
    )

    pool.subgraphs = {"PassThroughGraph": read}
    graph = pool.load(
        ONE_PASS
        + """
        node {
          calculator: "PassThroughGraph"
          options: { [mediapipe.TemplateSubgraphOptions.ext]: {
            dict: { arg: { key: "in_name" value: { str: "stream_8" } } } } }
          input_stream: "INPUT:stream_2" output_stream: "OUTPUT:stream_3"
        }
        """
    )
    found = loaded(graph)
    assert found == config(
        ONE_PASS + node(name="passthroughgraph__stream_8", input_stream="stream_2", output_stream="stream_3")
    )


TWO_BY_TWO = (
    TYPE
    + 'input_stream: "INPUT:input_0" input_stream: "INPUT:1:input_1" '
    + 'output_stream: "OUTPUT:output_0" output_stream: "OUTPUT:1:output_1"\n'
    + node(input_stream=["input_0", "input_1"], output_stream="output_0")
)
FOO = 'input_stream: "INPUT:foo_in" output_stream: "OUTPUT:foo_out"\n' + node(
    input_stream="foo_in", output_stream="foo_bar"
)


@pytest.mark.reference("framework/graph_validation_test.cc", "GraphValidationTest.OptionalSubgraphStreams")
def test_extra_streams_of_a_subgraph_that_its_node_leaves_out_are_left_out_inside(pool):
    pool.subgraphs = [config(TWO_BY_TWO)]
    graph = pool.load(
        FOO + node("PassThroughGraph", input_stream="INPUT:foo_bar", output_stream="OUTPUT:foo_out")
    )

    found = loaded(graph)
    assert found == config(
        FOO
        + node(
            name="passthroughgraph__PassThroughCalculator", input_stream="foo_bar", output_stream="foo_out"
        )
    )
    graph.start_run()
    graph.close_all_packet_sources()
    pool.done()


@pytest.mark.reference(
    "framework/graph_validation_test.cc", "GraphValidationTest.OptionalSubgraphStreamsMismatched"
)
def test_extra_what_is_left_must_fit_the_calculator_inside(pool):
    pool.subgraphs = [config(TWO_BY_TWO)]
    with pytest.raises(GraphConfigError, match="must have the same tags and indexes") as caught:
        pool.load(
            FOO
            + node(
                "PassThroughGraph",
                input_stream=["INPUT:foo_bar", "INPUT:1:foo_bar"],
                output_stream="OUTPUT:foo_out",
            )
        )

    assert caught.value.code is StatusCode.INVALID_ARGUMENT
    assert "PassThroughCalculator" in str(caught.value)


class OptionalSide(penstock.Calculator):
    """Writes its side packet, or "default"."""

    @classmethod
    def get_contract(cls, cc):
        cc.input_side_packets["SIDEINPUT"].set(str).optional()
        cc.inputs["SELECT"].set(int).optional()
        cc.inputs["ENABLE"].set(bool).optional()
        cc.outputs["OUTPUT"].set(str)

    def process(self, cc):
        is_there = "SIDEINPUT" in cc.input_side_packets
        value = cc.input_side_packets["SIDEINPUT"].payload if is_there else "default"
        cc.outputs["OUTPUT"].add(value, cc.input_timestamp)
        return None if len(cc.inputs) else penstock.STOP


@pytest.mark.parametrize(
    ("more", "given"),
    [
        pytest.param(
            [],
            [],
            marks=pytest.mark.reference(
                "framework/graph_validation_test.cc",
                "GraphValidationTest.OptionalInputNotProvidedForSubgraphCalculator",
            ),
        ),
        pytest.param(
            ["SELECT:select", "ENABLE:enable"],
            ["SELECT:foo_select"],
            marks=pytest.mark.reference(
                "framework/graph_validation_test.cc", "GraphValidationTest.MultipleOptionalInputsForSubgraph"
            ),
        ),
    ],
)
def test_extra_optional_inputs_of_a_subgraph_may_be_left_out(pool, more, given):
    declared = "".join(f'input_stream: "{port}" ' for port in more)
    pool.subgraphs = [
        config(
            TYPE
            + f'input_side_packet: "INPUT:input_0" {declared} output_stream: "OUTPUT:output_0"\n'
            + node(
                "OptionalSide",
                input_side_packet="SIDEINPUT:input_0",
                input_stream=more,
                output_stream="OUTPUT:output_0",
            )
        )
    ]
    outside = (
        'input_side_packet: "INPUT:foo_in" '
        + "".join(f'input_stream: "{port}" ' for port in given)
        + 'output_stream: "OUTPUT:foo_out"\n'
    )
    graph = pool.load(
        outside + node("PassThroughGraph", input_stream=given, output_stream="OUTPUT:foo_out"), OptionalSide
    )

    found = loaded(graph)
    assert found == config(
        outside
        + node(
            "OptionalSide",
            name="passthroughgraph__OptionalSide",
            input_stream=given,
            output_stream="OUTPUT:foo_out",
        )
    )
    graph.start_run({"foo_in": "input"})
    graph.close_all_packet_sources()
    pool.done()


@pytest.mark.reference("framework/graph_validation_test.cc", "GraphValidationTest.OptionalInputsForGraph")
def test_extra_a_run_may_leave_an_optional_side_packet_out(pool):
    graph = pool.load(
        TYPE
        + 'input_side_packet: "side_input_0" input_stream: "stream_input_0" input_stream: "stream_input_1" '
        + 'output_stream: "OUTPUT:output_0"\n'
        + node(
            "OptionalSide",
            input_side_packet="SIDEINPUT:side_input_0",
            input_stream=["SELECT:stream_input_0", "ENABLE:stream_input_1"],
            output_stream="OUTPUT:output_0",
        ),
        OptionalSide,
    )
    poller = graph.add_output_stream_poller("output_0")
    graph.start_run({"side_input_0": "side_in"})
    pool.add("stream_input_0", (3000, 22))
    pool.add("stream_input_1", (3000, True))
    assert poller.next(PATIENCE_S).payload == "side_in"
    graph.close_all_packet_sources()
    pool.done()

    graph.start_run()
    graph.close_input_stream("stream_input_1")
    pool.add("stream_input_0", (3000, 22))
    assert poller.next(PATIENCE_S).payload == "default"
    graph.close_all_packet_sources()
    pool.done()


@pytest.mark.reference(
    "framework/graph_validation_test.cc", "GraphValidationTest.DefaultOptionalInputsForGraph"
)
def test_extra_a_default_stands_for_a_side_packet_that_is_left_out(pool):
    graph = pool.load(
        TYPE
        + """
        input_side_packet: "side_input_0" output_side_packet: "OUTPUT:output_0"
        node {
          calculator: "ConstantSidePacketCalculator"
          options: { [mediapipe.ConstantSidePacketCalculatorOptions.ext]: { packet { int_value: 2 } } }
          output_side_packet: "PACKET:int_packet"
        }
        """
        + node(
            "DefaultSidePacketCalculator",
            input_side_packet=["OPTIONAL_VALUE:side_input_0", "DEFAULT_VALUE:int_packet"],
            output_side_packet="VALUE:side_output_0",
        )
    )
    for given, value in (({"side_input_0": 33}, 33), ({}, 2)):
        graph.start_run(given)
        graph.close_all_packet_sources()
        pool.done()
        assert graph.get_output_side_packet("side_output_0").payload == value


# --- ports that a contract does not have ----------------------------------------------------------------


class CalculatorA(penstock.Calculator):
    """Has an input and an output that a node may leave out."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["INPUT_NOT_NEEDED"].set(int).optional()
        cc.outputs["OUTPUT_NOT_NEEDED"].set(int).optional()

    def process(self, cc):
        """Do nothing."""


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        pytest.param(
            "input_stream",
            "input",
            marks=pytest.mark.reference(
                "framework/validated_graph_config_test.cc", "ValidatedGraphConfigTest.MissingInputFails"
            ),
        ),
        pytest.param(
            "output_stream",
            "output",
            marks=pytest.mark.reference(
                "framework/validated_graph_config_test.cc", "ValidatedGraphConfigTest.MissingOutputFails"
            ),
        ),
        pytest.param(
            "input_side_packet",
            "input side packet",
            marks=pytest.mark.reference(
                "framework/validated_graph_config_test.cc", "ValidatedGraphConfigTest.MissingSideInputFails"
            ),
        ),
    ],
)
def test_extra_a_port_that_the_contract_does_not_have_is_refused_with_the_node(pool, field, kind):
    with pytest.raises(
        GraphConfigError, match=rf"node 'add_calculator' \(CalculatorA\): has no {kind} 0"
    ) as caught:
        pool.load(node("CalculatorA", name="add_calculator", **{field: "missing"}), CalculatorA)

    assert "add_calculator" in str(caught.value)


class AlwaysCalculatorA(Subgraph):
    @classmethod
    def get_config(cls, sc):
        return 'node { calculator: "CalculatorA" }'


@pytest.mark.reference(
    "framework/validated_graph_config_test.cc",
    "ValidatedGraphConfigTest.InitializeLegacySubgraphHardcoded",
    "ValidatedGraphConfigTest.InitializeSubgraphHardcoded",
)
def test_extra_a_subgraph_of_code_becomes_what_it_returns(pool):
    pool.subgraphs = {"AlwaysCalculatorASubgraph": AlwaysCalculatorA}
    found = loaded(pool.load(node("AlwaysCalculatorASubgraph"), CalculatorA))

    assert found == config(node("CalculatorA", name="alwayscalculatorasubgraph__CalculatorA"))


CALCULATOR: ServiceKey[str] = ServiceKey("test.calculator")


class OfService(Subgraph):
    """A node of the calculator that a service names."""

    @classmethod
    def get_config(cls, sc):
        return f'node {{ calculator: "{sc.service(CALCULATOR)}" }}'


@pytest.mark.parametrize(
    ("subgraph", "kind"),
    [
        *(
            pytest.param(
                "TestServiceSubgraph",
                kind,
                marks=pytest.mark.reference(
                    "framework/validated_graph_config_test.cc",
                    "ValidatedGraphConfigTest.InitializeSubgraphWithServiceCalculatorB",
                ),
            )
            for kind in ("CalculatorA", "CalculatorB", "CalculatorC")
        ),
        pytest.param(
            "GraphServicesClientTestSubgraph",
            "ExpectedNode",
            marks=pytest.mark.reference(
                "framework/tool/subgraph_expansion_test.cc", "SubgraphExpansionTest.GraphServicesUsage"
            ),
        ),
    ],
)
def test_extra_a_subgraph_of_code_may_use_a_service_of_the_graph(pool, subgraph, kind):
    pool.subgraphs = {subgraph: OfService}
    graph = pool.load(node(subgraph), calculator(name=kind), services={CALCULATOR: kind})

    assert loaded(graph) == config(node(kind, name=f"{subgraph.lower()}__{kind}"))
    assert graph.get_service(CALCULATOR) == kind


# --- subgraphs ------------------------------------------------------------------------------------------

DUB_QUAD = """
input_stream: "INTS:ints" output_stream: "DUBS:dubs" output_stream: "QUADS:quads"
node { calculator: "Double" input_stream: "ints" output_stream: "dubs" }
node { calculator: "Double" input_stream: "dubs" output_stream: "quads" }
"""


@pytest.mark.reference("framework/subgraph_test.cc", "SubgraphTest.LinkedSubgraph")
def test_extra_a_subgraph_works_for_the_graph_around_it(pool):
    pool.subgraphs = {"DubQuadTestSubgraph": DUB_QUAD}
    pool.start(
        pool.net("in", "DubQuadTestSubgraph INTS:in -> DUBS:dubs_tmp QUADS:quads", "Pass dubs_tmp -> dubs"),
        calculator(
            lambda cc: cc.output.add(2 * cc.input.payload, cc.input_timestamp), name="Double", offset=0
        ),
        watch=["dubs", "quads"],
    )
    pool.add("in", *range(5))
    pool.graph.close_input_stream("in")
    pool.done()

    assert pool.seen == {"dubs": [(i, 2 * i) for i in range(5)], "quads": [(i, 4 * i) for i in range(5)]}


class GivesOn(Subgraph):
    """Gives a text of its options to a calculator inside."""

    Options = ConstantSidePacketCalculatorOptions

    @classmethod
    def get_config(cls, sc):
        assert sc.has_options(ConstantSidePacketCalculatorOptions)
        text = sc.options(ConstantSidePacketCalculatorOptions).packet[0].string_value
        return f"""
        output_side_packet: "string"
        node {{
          calculator: "ConstantSidePacketCalculator" output_side_packet: "PACKET:string"
          options {{ [mediapipe.ConstantSidePacketCalculatorOptions.ext] {{
            packet {{ string_value: "{text}" }} }} }}
        }}
        """


class GivesServiceOn(Subgraph):
    """Gives the text of a service to a calculator inside."""

    @classmethod
    def get_config(cls, sc):
        return f"""
        output_side_packet: "string"
        node {{
          calculator: "ConstantSidePacketCalculator" output_side_packet: "PACKET:string"
          options {{ [mediapipe.ConstantSidePacketCalculatorOptions.ext] {{
            packet {{ string_value: "{sc.service(CALCULATOR)}" }} }} }}
        }}
        """


@pytest.mark.reference("framework/subgraph_test.cc", "SubgraphServicesTest.CanUseGraphServiceToReceiveString")
def test_extra_a_subgraph_of_code_may_give_a_service_on(pool):
    pool.subgraphs = {"EmitSideServiceStringTestSubgraph": GivesServiceOn}
    pool.run(
        """
        output_side_packet: "str"
        node { calculator: "EmitSideServiceStringTestSubgraph" output_side_packet: "str" }
        """,
        services={CALCULATOR: "Expected STRING"},
    )

    assert pool.graph.get_output_side_packet("str").payload == "Expected STRING"


@pytest.mark.reference("framework/subgraph_test.cc", "SubgraphTest.CheckSubgraphOptionsPassedIn")
def test_extra_a_subgraph_of_code_has_the_options_of_its_node(pool):
    pool.subgraphs = {"OptionsCheckingSubgraph": GivesOn}
    pool.run(
        """
        output_side_packet: "str"
        node {
          calculator: "OptionsCheckingSubgraph"
          output_side_packet: "str"
          options: { [mediapipe.ConstantSidePacketCalculatorOptions.ext]: {
            packet { string_value: "test" } } }
        }
        """
    )

    assert pool.graph.get_output_side_packet("str").payload == "test"


# --- contracts ------------------------------------------------------------------------------------------


@attrs.frozen
class Counts:
    """What a contract saw.

    Attributes:
        inputs: input streams.
        outputs: output streams.
        sides: input side packets.
        made: output side packets.
    """

    inputs: int
    outputs: int
    sides: int
    made: int


@pytest.mark.parametrize(
    ("text", "expected", "field"),
    [
        pytest.param(
            """
            input_stream: "FRAME:fdense_pca_moe_aggregated_detection"
            input_stream: "FNET:fnet_logreg_aggregated_detection"
            input_stream: "EGRAPH:egraph_segment_aggregated_detection"
            input_stream: "VIDEO:fdense_averaged_pca_moe_v2_detection"
            input_side_packet: "FUSION_MODEL:egraph_topical_packet_factory"
            output_stream: "egraph_topical_detection"
            """,
            Counts(4, 1, 1, 0),
            None,
            marks=pytest.mark.reference(
                "framework/calculator_contract_test.cc", "CalculatorContractTest.Calculator"
            ),
        ),
        pytest.param(
            """
            input_stream: "DATA:ycbcr_frames"
            input_stream: "VIDEO_HEADER:ycbcr_frames_prestream"
            output_stream: "DATA:ycbcr_downsampled"
            output_stream: "VIDEO_HEADER:ycbcr_downsampled_prestream"
            options { [mediapipe.ConstantSidePacketCalculatorOptions.ext] { packet { float_value: 1.0 } } }
            """,
            Counts(2, 2, 0, 0),
            1.0,
            marks=pytest.mark.reference(
                "framework/calculator_contract_test.cc", "CalculatorContractTest.CalculatorOptions"
            ),
        ),
    ],
)
def test_extra_a_contract_knows_the_ports_and_the_options_of_its_node(pool, text, expected, field):
    seen = []

    def look(cc):
        seen.append(
            Counts(len(cc.inputs), len(cc.outputs), len(cc.input_side_packets), len(cc.output_side_packets))
        )
        packets = cc.options(ConstantSidePacketCalculatorOptions).packet
        seen.append(packets[0].float_value if packets else None)
        seen.append(cc.has_options(ConstantSidePacketCalculatorOptions))

    kind = calculator(name="ConstantSidePacketCalculator", contract=look)  # whose options these are
    inputs = "".join(f"{line}\n" for line in text.splitlines() if "input_stream" in line)
    pool.load(inputs + f'node {{ calculator: "ConstantSidePacketCalculator" {text} }}', kind)

    assert seen[:3] == [expected, field, field is not None]


@pytest.mark.reference("framework/calculator_context_test.cc", "CalculatorTest.GetOptions")
def test_extra_a_call_has_the_options_of_its_node(pool):
    """The reference's option messages are made for its test; here there are other ones."""
    seen = {}

    class Reads(penstock.Calculator):
        Options = ConstantSidePacketCalculatorOptions

        @classmethod
        def get_contract(cls, cc):
            cc.outputs["NEVER"].set_any().optional()

        def open(self, cc):
            packets = cc.options(ConstantSidePacketCalculatorOptions).packet
            gate = cc.options(GateCalculatorOptions)
            has = tuple(cc.has_options(kind) for kind in (ConstantSidePacketCalculatorOptions, type(gate)))
            seen[cc.node_name] = (has, [packet.float_value for packet in packets], gate.allow)

        def process(self, cc):
            return penstock.STOP

    jitter = "packet { float_value: 0.125 }"
    pool.run(
        f"""
        node {{
          calculator: "Reads" name: "extension"
          options {{ [mediapipe.ConstantSidePacketCalculatorOptions.ext] {{ {jitter} }} }}
        }}
        node {{
          calculator: "Reads" name: "any"
          node_options {{
            [type.googleapis.com/mediapipe.ConstantSidePacketCalculatorOptions] {{ {jitter} }} }}
        }}
        node {{
          calculator: "Reads" name: "other"
          node_options {{ [type.googleapis.com/mediapipe.GateCalculatorOptions] {{ allow: true }} }}
        }}
        """,
        Reads,
    )

    assert seen == {
        "extension": ((True, False), [0.125], False),
        "any": ((True, False), [0.125], False),
        "other": ((False, True), [], True),
    }
