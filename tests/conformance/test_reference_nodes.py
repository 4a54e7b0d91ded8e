"""Calculators as the reference's tests of its newer interfaces write them: its graphs and values.

They are from its files `api2/node_test.cc`, `api2/port_test.cc`, `api2/subgraph_test.cc`, and from
`any_test.cc`, `calculator_test.cc`, `calculator_context_test.cc`, `calculator_contract_test.cc`,
`one_of_test.cc` and `subgraph_test.cc` in `api3`. Their calculators promise a timestamp offset of 0, as the
functions of `penstock.calculator` do.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from google.protobuf import text_format

import penstock
from penstock import GraphConfigError, StatusCode, Subgraph
from penstock.config.calculator_pb2 import CalculatorGraphConfig
from penstock.errors import InvalidArgumentError
from penstock.services import ServiceKey
from penstock_calculators.messages.constant_side_packet_pb2 import ConstantSidePacketCalculatorOptions
from penstock_calculators.messages.gate_pb2 import GateCalculatorOptions
from penstock_testing import calculator

# --- functions of their inputs ----------------------------------------------------------------------------


class Foo(penstock.Calculator):
    """Multiplies BASE by SCALE and adds the side packet BIAS."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["BASE"].set(int)
        cc.inputs["SCALE"].set(float).optional()
        cc.input_side_packets["BIAS"].set(float).optional()
        cc.outputs["OUT"].set(float)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        scale = cc.inputs["SCALE"].payload if "SCALE" in cc.inputs else 1.0
        bias = cc.input_side_packets["BIAS"].payload if "BIAS" in cc.input_side_packets else 0.0
        cc.outputs["OUT"].add(cc.inputs["BASE"].payload * scale + bias, cc.input_timestamp)


@penstock.calculator("Foo3")
def foo3(base: int, scale: float = 1.0, *, bias: penstock.SidePacket[float] | None = None) -> float:
    return base * scale + (0.0 if bias is None else bias)


@penstock.calculator("IntForwarder")
def int_forwarder(in_: int) -> int:
    return in_


FOOS = [Foo, foo3.calculator]


def foo_node(name, *more):
    return (
        f'node {{ calculator: "{name}" input_stream: "BASE:base" {" ".join(more)} output_stream: "OUT:out" }}'
    )


@pytest.mark.reference(
    "framework/api2/node_test.cc",
    "NodeTest.CreateByName",
    "NodeTest.GetContract",
    "NodeTest.RunInGraph",
    "NodeTest.RunInGraph3",
    "NodeTest.RunInGraph4",
    "NodeTest.RunInGraph5",
)
@pytest.mark.parametrize("name", ["Foo", "Foo3"])
def test_extra_a_node_may_connect_an_optional_input(pool, name):
    pool.start(
        'input_stream: "base" input_stream: "scale" ' + foo_node(name, 'input_stream: "SCALE:scale"'),
        *FOOS,
        watch=["out"],
    )
    pool.add("base", (1, 10))
    pool.add("scale", (1, 2.0))
    pool.end()

    assert pool.seen["out"] == [(1, 20.0)]


@pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.OptionalStream")
@pytest.mark.parametrize("name", ["Foo", "Foo3"])
def test_extra_a_node_may_leave_an_optional_input_out(pool, name):
    pool.start(
        'input_stream: "base" input_side_packet: "bias" ' + foo_node(name, 'input_side_packet: "BIAS:bias"'),
        *FOOS,
        watch=["out"],
        sides={"bias": 30.0},
    )
    pool.add("base", (1, 10))
    pool.end()

    assert pool.seen["out"] == [(1, 40.0)]


class Baz(penstock.Calculator):
    """Hands on each input DATA at the output DATA with its index, of the same type."""

    @classmethod
    def get_contract(cls, cc):
        for i in range(cc.inputs.count("DATA")):
            cc.inputs["DATA", i].set_any()
            cc.outputs["DATA", i].set_same_as(cc.inputs["DATA", i])
        cc.set_timestamp_offset(0)

    def process(self, cc):
        for i in range(cc.inputs.count("DATA")):
            cc.outputs["DATA", i].add_packet(cc.inputs["DATA", i].packet)


@pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.DynamicTypes")
def test_extra_an_output_may_have_the_type_of_an_input(pool):
    pool.start(
        pool.net("in", "Baz DATA:in -> DATA:bar", "IntForwarder IN:bar -> OUT:out"),
        Baz,
        int_forwarder.calculator,
        watch=["out"],
    )
    pool.add("in", (1, 10))
    pool.end()

    assert pool.seen["out"] == [(1, 10)]


@pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.GetContractMulti", "NodeTest.MultiPort")
def test_extra_a_node_may_have_several_ports_of_a_tag(pool):
    pool.start(
        pool.net(
            "in0 in1",
            "Baz DATA:0:in0 DATA:1:in1 -> DATA:0:baz0 DATA:1:baz1",
            "IntForwarder IN:baz0 -> OUT:out0",
            "IntForwarder IN:baz1 -> OUT:out1",
        ),
        Baz,
        int_forwarder.calculator,
        watch=["out0", "out1"],
    )
    for t, first, second in ((1, 10, 5), (2, 15, 7)):
        pool.add("in0", (t, first))
        pool.add("in1", (t, second))
    pool.end()

    assert pool.seen == {"out0": [(1, 10), (2, 15)], "out1": [(1, 5), (2, 7)]}


class SideFallback(penstock.Calculator):
    """Multiplies IN by FACTOR, which is either a stream or a side packet."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)
        cc.inputs["FACTOR"].set(int).optional()
        cc.input_side_packets["FACTOR"].set(int).optional()
        cc.outputs["OUT"].set(int)
        given = cc.inputs.count("FACTOR") + cc.input_side_packets.count("FACTOR")
        if given != 1:
            raise InvalidArgumentError("FACTOR must be connected" if not given else "FACTOR twice: not both")

    def process(self, cc):
        ports = cc.inputs if "FACTOR" in cc.inputs else cc.input_side_packets
        cc.outputs["OUT"].add(cc.inputs["IN"].payload * ports["FACTOR"].payload, cc.input_timestamp)


def fallback(*given):
    factors = " ".join(f'{kind}: "FACTOR:{name}"' for kind, name in given)
    declared = " ".join(f'{kind}: "{name}"' for kind, name in given)
    node = f'node {{ calculator: "SideFallback" input_stream: "IN:in" {factors} output_stream: "OUT:out" }}'
    return f'input_stream: "in" {declared} {node}'


STREAM = ("input_stream", "factor")
SIDE = ("input_side_packet", "factor")


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(
            STREAM,
            marks=pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.SideFallbackWithStream"),
        ),
        pytest.param(
            SIDE, marks=pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.SideFallbackWithSide")
        ),
    ],
)
def test_extra_an_input_may_be_a_stream_or_a_side_packet(pool, given):
    is_side = given is SIDE
    pool.start(fallback(given), SideFallback, watch=["out"], sides={"factor": 2} if is_side else None)
    pool.add("in", (0, 10))
    if not is_side:
        pool.add("factor", (0, 2))
    pool.end()

    assert pool.seen["out"] == [(0, 20)]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        pytest.param(
            [],
            "must be connected",
            marks=pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.SideFallbackWithNone"),
        ),
        pytest.param(
            [STREAM, ("input_side_packet", "factor_side")],
            "not both",
            marks=pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.SideFallbackWithBoth"),
        ),
    ],
)
def test_extra_a_contract_may_refuse_the_ports_of_a_node(pool, given, words):
    with pytest.raises(GraphConfigError, match=words):
        pool.load(fallback(*given), SideFallback)


class ToFloat(penstock.Calculator):
    """Makes a float of a number of either kind."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set_one_of(float, int)
        cc.outputs["OUT"].set(float)

    def process(self, cc):
        cc.outputs["OUT"].add(float(cc.inputs["IN"].payload), cc.input_timestamp)


@pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.OneOf")
def test_extra_an_input_may_take_several_types(pool):
    pool.start(pool.net("in", "ToFloat IN:in -> OUT:out"), ToFloat, watch=["out"])
    pool.add("in", (1, 10), (2, 5.0))
    pool.end()

    assert pool.seen["out"] == [(1, 10.0), (2, 5.0)]


@penstock.calculator("DropEvenTimestamps")
def drop_even_timestamps(in_: int, at: penstock.Timestamp) -> int | None:
    return in_ if int(at) % 2 else None


class ListIntPackets(penstock.Calculator):
    """Lists the inputs INT as text."""

    @classmethod
    def get_contract(cls, cc):
        for i in range(cc.inputs.count("INT")):
            cc.inputs["INT", i].set(int)
        cc.outputs["STR"].set(str)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        shown = ["empty" if port.is_empty() else str(port.payload) for port in cc.inputs]
        cc.outputs["STR"].add(f"{cc.input_timestamp}: {' '.join(shown)}", cc.input_timestamp)


@pytest.mark.reference("framework/api2/node_test.cc", "NodeTest.DefaultTimestampChange0")
def test_extra_a_timestamp_without_a_packet_is_settled_through_functions(pool):
    pool.start(
        pool.net(
            "a b",
            "DropEvenTimestamps IN:a -> OUT:a2",
            "IntForwarder IN:a2 -> OUT:a3",
            "ListIntPackets INT:0:a3 INT:1:b -> STR:out",
        ),
        drop_even_timestamps.calculator,
        int_forwarder.calculator,
        ListIntPackets,
        watch=["out"],
    )
    pool.add("a", (2, 10))
    pool.add("b", (2, 10))
    pool.idle()

    assert pool.seen["out"] == [(2, "2: empty 10")]
    pool.end()


# --- which ports are there ------------------------------------------------------------------------------


class Producer(penstock.Calculator):
    """May make two side packets; notes which of them the node has."""

    @classmethod
    def get_contract(cls, cc):
        for i in (1, 2):
            cc.output_side_packets[f"SIDE_OUT_{i}"].set(int).optional()

    def open(self, cc):
        cc.counter("found").increment_by(sum(i for i in (1, 2) if f"SIDE_OUT_{i}" in cc.output_side_packets))
        for port in cc.output_side_packets:
            port.set(7)


class Consumer(penstock.Calculator):
    """May take two side packets; notes which of them the node has."""

    @classmethod
    def get_contract(cls, cc):
        for i in (1, 2):
            cc.input_side_packets[f"SIDE_IN_{i}"].set(int).optional()

    def open(self, cc):
        cc.counter("found").increment_by(sum(i for i in (1, 2) if f"SIDE_IN_{i}" in cc.input_side_packets))


@pytest.mark.reference(
    "framework/api2/node_test.cc", "SidePacketConnectionTestSuite.SidePacketConnectionTest"
)
@pytest.mark.parametrize(
    ("side_in", "side_out", "inside", "is_first"), list(itertools.product((True, False), repeat=4))
)
def test_extra_a_node_knows_which_of_its_side_packets_are_connected(
    pool, side_in, side_out, inside, is_first
):
    at_graph, at_node = (1, 2) if is_first else (2, 1)
    outs = [f"SIDE_OUT_{at_graph}:side_out"] * side_out + [f"SIDE_OUT_{at_node}:between"] * inside
    ins = [f"SIDE_IN_{at_graph}:side_in"] * side_in + [f"SIDE_IN_{at_node}:between"] * inside
    pool.run(
        'input_side_packet: "side_in" ' * side_in
        + 'output_side_packet: "SIDE_OUT:side_out" ' * side_out
        + f'node {{ calculator: "Producer" {" ".join(f"output_side_packet: {one!r}" for one in outs)} }}'
        + f'node {{ calculator: "Consumer" {" ".join(f"input_side_packet: {one!r}" for one in ins)} }}',
        Producer,
        Consumer,
        sides={"side_in": 10} if side_in else None,
    )

    counters = pool.graph.counters
    assert counters.get("Producer-found", 0) == at_graph * side_out + at_node * inside
    assert counters.get("Consumer-found", 0) == at_graph * side_in + at_node * inside


class Made:
    """What a side packet holds."""


class ManySides(penstock.Calculator):
    """Makes any number of side packets."""

    @classmethod
    def get_contract(cls, cc):
        for i in range(cc.output_side_packets.count("SIDE_OUTPUT")):
            cc.output_side_packets["SIDE_OUTPUT", i].set(Made)

    def open(self, cc):
        for port in cc.output_side_packets:
            port.set(Made())


@pytest.mark.reference(
    "framework/api2/port_test.cc", "PortTest.MultiSideOutputPortsWorkInBuilderAndCalculator"
)
def test_extra_a_node_may_make_ten_side_packets(pool):
    ports = " ".join(f'output_side_packet: "SIDE_OUTPUT:{i}:side{i}"' for i in range(10))
    pool.run(f'node {{ calculator: "ManySides" {ports} }}', ManySides)

    for i in range(10):
        assert isinstance(pool.graph.get_output_side_packet(f"side{i}").get(Made), Made)


class Ports(penstock.Calculator):
    """Has any number of ports of each kind; writes 42, 43, ... and foo_output_side0, ..."""

    @classmethod
    def get_contract(cls, cc):
        for ports, kind in ((cc.inputs, int), (cc.outputs, int)):
            for port in ports:
                port.set(kind)
        for port in (*cc.input_side_packets, *cc.output_side_packets):
            port.set(str)

    def process(self, cc):
        given = [cc.inputs["INPUT", i] for i in range(cc.inputs.count("INPUT"))]
        assert [port.payload for port in given] == [*range(21, 21 + len(given))]
        assert [port.packet.get(int) for port in given] == [*range(21, 21 + len(given))]
        sides = [cc.input_side_packets["SIDE_INPUT", i] for i in range(len(cc.input_side_packets))]
        assert [side.payload for side in sides] == [f"foo_input_side{i}" for i in range(len(sides))]
        for i in range(cc.outputs.count("OUTPUT")):
            cc.outputs["OUTPUT", i].add(42 + i, cc.input_timestamp)
        for i in range(cc.output_side_packets.count("SIDE_OUTPUT")):
            cc.output_side_packets["SIDE_OUTPUT", i].set(f"foo_output_side{i}")


def numbered(field, tag, name, count):
    return " ".join(f'{field}: "{tag}:{i}:{name}{i}"' for i in range(count))


@pytest.mark.parametrize(
    ("inputs", "sides", "outputs", "made"),
    [
        pytest.param(
            1,
            1,
            1,
            1,
            marks=pytest.mark.reference(
                "framework/api3/calculator_context_test.cc",
                "PortContextTest.CanReadInputWriteOutputPorts",
                "PortContextTest.CanReadInputWriteOutputRepeatedPortsWhenOneSpecified",
            ),
        ),
        pytest.param(
            2,
            3,
            3,
            4,
            marks=pytest.mark.reference(
                "framework/api3/calculator_context_test.cc",
                "PortContextTest.CanReadInputWriteOutputRepeatedPortsWhenManySpecified",
            ),
        ),
    ],
)
def test_extra_a_call_reads_and_writes_all_ports(pool, inputs, sides, outputs, made):
    declared = [f'input_stream: "in{i}"' for i in range(inputs)]
    declared += [f'input_side_packet: "side_in{i}"' for i in range(sides)]
    pool.start(
        " ".join(declared)
        + f"""
        node {{
          calculator: "Ports"
          {numbered("input_stream", "INPUT", "in", inputs)}
          {numbered("input_side_packet", "SIDE_INPUT", "side_in", sides)}
          {numbered("output_stream", "OUTPUT", "out", outputs)}
          {numbered("output_side_packet", "SIDE_OUTPUT", "side_out", made)}
        }}
        """,
        Ports,
        watch=[f"out{i}" for i in range(outputs)],
        sides={f"side_in{i}": f"foo_input_side{i}" for i in range(sides)},
    )
    for i in range(inputs):
        pool.add(f"in{i}", (0, 21 + i))
    pool.idle()

    assert pool.seen == {f"out{i}": [(0, 42 + i)] for i in range(outputs)}
    for i in range(made):
        assert pool.graph.get_output_side_packet(f"side_out{i}").payload == f"foo_output_side{i}"
    pool.end()


@pytest.mark.reference("framework/api3/calculator_context_test.cc", "CalculatorContextTest.CanGetNodeName")
def test_extra_a_call_knows_the_name_of_its_node(pool):
    named = calculator(lambda cc: cc.output.add(cc.node_name, cc.input_timestamp), name="GetNodeNameNodeName")
    pool.start(pool.net("trigger", "GetNodeNameNodeName trigger -> name"), named, watch=["name"])
    pool.add("trigger", (0, 0))
    pool.end()

    assert pool.seen["name"] == [(0, "GetNodeNameNodeName")]


# --- contracts ------------------------------------------------------------------------------------------

REPEATED = """
input_stream: "INPUT:in"
input_side_packet: "SIDE_INPUT:0:side_in0" input_side_packet: "SIDE_INPUT:1:side_in1"
output_stream: "OUTPUT:0:out0" output_stream: "OUTPUT:1:out1"
output_stream: "OUTPUT:2:out2" output_stream: "OUTPUT:3:out3"
output_side_packet: "SIDE_OUTPUT:0:side_out0" output_side_packet: "SIDE_OUTPUT:1:side_out1"
"""
ONE_OF_EACH = """
input_stream: "INPUT:in" input_side_packet: "SIDE_INPUT:side_in"
output_stream: "OUTPUT:out" output_side_packet: "SIDE_OUTPUT:side_out"
"""
#: The collections of a contract, with the tag of each in these tests.
KINDS = {
    "inputs": "INPUT",
    "input_side_packets": "SIDE_INPUT",
    "outputs": "OUTPUT",
    "output_side_packets": "SIDE_OUTPUT",
}


def contract_of(pool, ports, look):
    """Load a graph with a node that has these ports; its contract shows itself to `look`."""
    pool.load(
        'input_stream: "in" input_side_packet: "side_in" '
        'input_side_packet: "side_in0" input_side_packet: "side_in1" '
        f'node {{ calculator: "Looks" {ports} }}',
        calculator(name="Looks", contract=look),
    )


@pytest.mark.reference(
    "framework/api3/calculator_contract_test.cc",
    "PortContractTest.CanCheckRepeatedPortEntriesCount",
    "PortContractTest.CanAccessRepeatedPortEntriesAt",
    "PortContractTest.CanAccessRepeatedPortEntriesSubscript",
    "PortContractTest.CanAccessRepeatedPortEntriesIterator",
)
def test_extra_a_contract_counts_the_ports_of_a_tag(pool):
    found = {}

    def look(cc):
        for kind, tag in KINDS.items():
            ports = getattr(cc, kind)
            by_index = [ports[tag, i].index for i in range(ports.count(tag))]
            assert [port.index for port in ports] == by_index
            found[kind] = by_index

    contract_of(pool, REPEATED, look)
    assert found == {
        "inputs": [0],
        "input_side_packets": [0, 1],
        "outputs": [0, 1, 2, 3],
        "output_side_packets": [0, 1],
    }


@pytest.mark.parametrize(
    ("ports", "is_there"),
    [
        pytest.param(
            ONE_OF_EACH,
            True,
            marks=pytest.mark.reference(
                "framework/api3/calculator_contract_test.cc",
                "PortContractTest.CanCheckOptionalPortIsConnected",
                "PortContractTest.CanGetOptionalPortTags",
            ),
        ),
        pytest.param(
            ONE_OF_EACH.replace("PUT:", "PUT_OTHER:"),
            False,
            marks=pytest.mark.reference(
                "framework/api3/calculator_contract_test.cc",
                "PortContractTest.CanCheckOptionalPortIsNotConnected",
            ),
        ),
    ],
)
def test_extra_a_contract_says_whether_an_optional_port_is_connected(pool, ports, is_there):
    found = {}

    def look(cc):
        for kind, tag in KINDS.items():
            there = getattr(cc, kind)
            found[kind] = tag in there
            assert there[tag].optional().tag == tag

    contract_of(pool, ports, look)
    assert found == dict.fromkeys(KINDS, is_there)


@pytest.mark.reference(
    "framework/api3/calculator_contract_test.cc",
    "PortContractTest.PortsCanUpdateContract",
    "PortContractTest.RepeatedPortsCanUpdateContract",
)
@pytest.mark.parametrize("ports", [ONE_OF_EACH, REPEATED])
def test_extra_a_port_has_the_type_that_the_contract_gives_it(pool, ports):
    def look(cc):
        for kind in KINDS:
            wanted = str if "side" in kind else int
            for port in getattr(cc, kind):
                assert wanted not in port.types
                port.set(wanted)
                assert port.types == (wanted,)

    contract_of(pool, ports, look)


# --- whole calculators ----------------------------------------------------------------------------------

TEXT: ServiceKey[str] = ServiceKey("kTestStringService")
NUMBER: ServiceKey[int] = ServiceKey("kTestIntService")
Constant = ConstantSidePacketCalculatorOptions


class PassThrough(penstock.Calculator):
    """Hands on a stream and a side packet; needs a service, and options of two messages."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)
        cc.outputs["OUT"].set(int)
        cc.input_side_packets["SIDE_IN"].set(str)
        cc.output_side_packets["SIDE_OUT"].set(str)
        cc.use_service(TEXT)
        cc.set_process_timestamp_bounds()
        cls.look_at_options(cc)

    @staticmethod
    def look_at_options(cc) -> None:
        assert cc.options(Constant).packet[0].string_value == "1"
        assert cc.options(GateCalculatorOptions).empty_packets_as_allow

    def open(self, cc):
        assert cc.service(TEXT) == "test_service"
        self.look_at_options(cc)
        cc.output_side_packets["SIDE_OUT"].set(cc.input_side_packets["SIDE_IN"].payload)

    def process(self, cc):
        assert cc.service(TEXT) == "test_service"
        if not cc.inputs["IN"].is_empty():
            cc.outputs["OUT"].add_packet(cc.inputs["IN"].packet)

    def close(self, cc):
        assert cc.service(TEXT) == "test_service"
        cc.outputs["OUT"].close()


SIDES = 'input_stream: "in" input_side_packet: "side_in" '
TWO_OPTIONS = """
node_options { [type.googleapis.com/penstock.ConstantSidePacketCalculatorOptions] {
  packet { string_value: "1" } } }
node_options { [type.googleapis.com/penstock.GateCalculatorOptions] { empty_packets_as_allow: true } }
"""


def whole(name, suffix="", more=""):
    return f"""
    node {{
      calculator: "{name}"
      input_stream: "IN:in" input_side_packet: "SIDE_IN:side_in"
      output_stream: "OUT:out{suffix}" output_side_packet: "SIDE_OUT:side_out{suffix}" {more}
    }}
    """


@pytest.mark.reference("framework/api3/calculator_test.cc", "CalculatorTest.CanReadWritePortsAndUseServices")
def test_extra_a_calculator_has_ports_options_and_a_service(pool):
    """The reference's option messages are made for its test; here there are other ones."""
    graph = pool.load(SIDES + whole("PassThrough", more=TWO_OPTIONS), PassThrough, watch=["out"])
    graph.set_service(TEXT, "test_service")
    graph.start_run({"side_in": "side"})
    pool.add("in", (0, 42))
    pool.idle()

    assert graph.get_output_side_packet("side_out").payload == "side"
    assert pool.seen["out"] == [(0, 42)]
    pool.end()


@pytest.mark.reference(
    "framework/api3/calculator_test.cc", "CalculatorTest.FailsForIncorrectNodeConfiguration"
)
def test_extra_a_node_without_a_port_that_is_needed_is_refused(pool):
    text = whole("PassThrough", more=TWO_OPTIONS).replace('output_stream: "OUT:out"', "")
    with pytest.raises(GraphConfigError, match="OUT"):
        pool.load(SIDES + text, PassThrough)


class Shared(penstock.Calculator):
    """A contract without options that two calculators have; each of them needs one service more."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set(int)
        cc.outputs["OUT"].set(int)
        cc.input_side_packets["SIDE_IN"].set(str)
        cc.output_side_packets["SIDE_OUT"].set(str)
        cc.use_service(TEXT)

    def open(self, cc):
        assert (cc.service(TEXT), cc.service(NUMBER)) == ("test_service", 42)
        cc.output_side_packets["SIDE_OUT"].set(cc.input_side_packets["SIDE_IN"].payload)

    def process(self, cc):
        assert (cc.service(TEXT), cc.service(NUMBER)) == ("test_service", 42)
        cc.outputs["OUT"].add_packet(cc.inputs["IN"].packet)

    def close(self, cc):
        assert (cc.service(TEXT), cc.service(NUMBER)) == ("test_service", 42)
        cc.outputs["OUT"].close()


class SharedA(Shared):
    @classmethod
    def get_contract(cls, cc):
        super().get_contract(cc)
        cc.use_service(NUMBER)


class SharedB(SharedA):
    pass


@pytest.mark.reference("framework/api3/calculator_test.cc", "CalculatorTest.CanUseSharedContract")
def test_extra_two_calculators_may_share_a_contract(pool):
    graph = pool.load(
        SIDES + whole("SharedA", "_a") + whole("SharedB", "_b"), SharedA, SharedB, watch=["out_a", "out_b"]
    )
    graph.set_service(TEXT, "test_service")
    graph.set_service(NUMBER, 42)
    graph.start_run({"side_in": "side"})
    pool.add("in", (0, 42))
    pool.idle()

    for name in "ab":
        assert graph.get_output_side_packet(f"side_out_{name}").payload == "side"
        assert pool.seen[f"out_{name}"] == [(0, 42)]
    pool.end()


@penstock.calculator("NoOpNode")
def no_op_node(in_: int) -> int | None:
    return None


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        pytest.param(
            no_op_node.calculator,
            [(0, None), (1, None)],
            marks=pytest.mark.reference(
                "framework/api3/calculator_test.cc", "CalculatorTest.TimestampOffsetZeroIsTheDefault"
            ),
        ),
        pytest.param(
            calculator(lambda cc: None, name="NoOpNode"),
            [],
            marks=pytest.mark.reference(
                "framework/api3/calculator_test.cc", "CalculatorTest.DefaultTimestampOffsetCanBeUnset"
            ),
        ),
    ],
    ids=["function", "without-an-offset"],
)
def test_extra_a_function_that_returns_none_settles_its_timestamp(pool, kind, seen):
    pool.start(pool.net("in", "NoOpNode IN:in -> OUT:out"), kind, watch=["out"], bounds=True)
    pool.add_one_by_one("in", (0, 42), (1, 43))

    assert pool.seen["out"] == seen
    pool.end()


class Generator(penstock.Calculator):
    """Makes a side packet when it is opened, and has no `process`."""

    @classmethod
    def get_contract(cls, cc):
        cc.output_side_packets["INT"].set(int)
        cc.outputs["INT_STREAM"].set(int).optional()

    def open(self, cc):
        cc.output_side_packets["INT"].set(42)


GENERATOR = 'calculator: "Generator" output_side_packet: "INT:value"'


@pytest.mark.reference("framework/api3/calculator_test.cc", "CalculatorTest.CanRunGeneratorCalculator")
def test_extra_a_calculator_that_only_makes_a_side_packet_needs_no_process(pool):
    pool.run(f"node {{ {GENERATOR} }}", Generator)

    assert pool.graph.get_output_side_packet("value").payload == 42


@pytest.mark.reference(
    "framework/api3/calculator_test.cc", "CalculatorTest.FailsProperlyForInvalidGeneratorCalculator"
)
def test_extra_a_source_needs_a_process(pool):
    pool.start(f'node {{ {GENERATOR} output_stream: "INT_STREAM:value_stream" }}', Generator)
    error = pool.failure()

    assert error.code is StatusCode.UNIMPLEMENTED
    assert "process" in str(error)


# --- types ----------------------------------------------------------------------------------------------


class SomeTick:
    pass


@pytest.mark.reference(
    "framework/api3/any_test.cc",
    "AnyTest.CanUseAnyForNodeTickInputImplementation",
    "AnyTest.CanUseAnyForNodeTickInputInterfaceAndImplementation",
)
def test_extra_an_input_of_any_type_takes_packets_of_several_types(pool):
    @penstock.calculator("AnyTickNode")
    def any_tick_node(tick: Any) -> int:
        return 42

    pool.start(pool.net("tick", "AnyTickNode TICK:tick -> OUT:out"), any_tick_node.calculator, watch=["out"])
    pool.add_one_by_one("tick", (1000, SomeTick()), (2000, "not the same type as in graph builder"))

    assert pool.seen["out"] == [(1000, 42), (2000, 42)]
    pool.end()


class PassAll(penstock.Calculator):
    """Hands on any number of streams and side packets, each of its type."""

    @classmethod
    def get_contract(cls, cc):
        for given, made in ((cc.inputs, cc.outputs), (cc.input_side_packets, cc.output_side_packets)):
            for source, target in zip(given, made, strict=True):
                source.set_any()
                target.set_same_as(source)

    def open(self, cc):
        for source, target in zip(cc.input_side_packets, cc.output_side_packets, strict=True):
            target.set(source.payload)

    def process(self, cc):
        for source, target in zip(cc.inputs, cc.outputs, strict=True):
            target.add_packet(source.packet)


@pytest.mark.reference("framework/api3/any_test.cc", "AnyTest.CalculatorsCanSupportSameAsAny")
def test_extra_several_ports_of_any_type_hand_on_their_own_types(pool):
    pool.start(
        pool.net(
            "a b",
            "PassAll IN:0:a IN:1:b -> OUT:0:passed_a OUT:1:passed_b | "
            'input_side_packet: "SIDE_IN:side" output_side_packet: "SIDE_OUT:passed_side"',
            more='input_side_packet: "side" ',
        ),
        PassAll,
        watch=["passed_a", "passed_b"],
        sides={"side": 256},
    )
    pool.add("a", (1000, 42))
    pool.add("b", (1000, "str"))
    pool.idle()

    assert pool.graph.get_output_side_packet("passed_side").payload == 256
    assert pool.seen == {"passed_a": [(1000, 42)], "passed_b": [(1000, "str")]}
    pool.end()


class Single(float):
    """Another type than float: stands for C++'s float, as float does for its double."""


def by_get(cc):
    """Ask the packet for its types, one after the other."""
    found = cc.inputs["IN"].packet
    return f"{found.get(int)}" if isinstance(found.payload, int) else f"{found.get(Single):.3f}f"


def by_kind(cc):
    """Match the payload's type."""
    match cc.inputs["IN"].payload:
        case int() as number:
            return f"{number}"
        case Single() as number:
            return f"{number:.3f}f"
        case float() as number:
            return f"{number:.3f}"


def by_payload(cc):
    """Treat payloads of all types alike."""
    return str(cc.inputs["IN"].payload)


NUMBERS = (42, Single(0.5), 0.001)


@pytest.mark.parametrize(
    ("types", "to_text", "texts"),
    [
        pytest.param(
            (int, Single),
            by_get,
            ["42", "0.500f"],
            marks=pytest.mark.reference(
                "framework/api3/one_of_test.cc",
                "OneOfTest.CanUseOneOfForCalculatorInputs",
                "OneOfTest.CanUseOneOfWithPacketOrDieForCalculatorInputs",
            ),
        ),
        pytest.param(
            (int, Single, float),
            by_kind,
            ["42", "0.500f", "0.001"],
            marks=pytest.mark.reference(
                "framework/api3/one_of_test.cc", "OneOfTest.CanUseOneOfWithVsitiForCalculatorInputs"
            ),
        ),
        pytest.param(
            (int, Single, float),
            by_payload,
            ["42", "0.5", "0.001"],
            marks=pytest.mark.reference(
                "framework/api3/one_of_test.cc", "OneOfTest.CanUseOneOfWithSingleVisitorForCalculatorInputs"
            ),
        ),
    ],
)
def test_extra_a_calculator_sees_of_which_type_its_input_is(pool, types, to_text, texts):
    class ToString(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs["IN"].set_one_of(*types)
            cc.outputs["STR"].set(str)

        def process(self, cc):
            cc.outputs["STR"].add(to_text(cc), cc.input_timestamp)

    pool.start(pool.net("in", "ToString IN:in -> STR:out"), ToString, watch=["out"])
    pool.add("in", *enumerate(NUMBERS[: len(texts)]))
    pool.end()

    assert pool.seen["out"] == list(enumerate(texts))


class Demux(penstock.Calculator):
    """Hands the packet itself on at INTS or FLOATS, by its type."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["IN"].set_one_of(int, float)
        cc.outputs["INTS"].set(int)
        cc.outputs["FLOATS"].set(float)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        is_int = isinstance(cc.inputs["IN"].payload, int)
        cc.outputs["INTS" if is_int else "FLOATS"].add_packet(cc.inputs["IN"].packet)


@pytest.mark.reference("framework/api3/one_of_test.cc", "OneOfTest.VisitAsPacket")
@pytest.mark.parametrize(("number", "name"), [(42, "ints"), (0.5, "floats")])
def test_extra_the_packet_of_an_input_of_several_types_is_handed_on_uncopied(pool, number, name):
    pool.start(
        pool.net("in", "Demux IN:in -> INTS:ints FLOATS:floats"), Demux, watch=["ints", "floats"], bounds=True
    )
    pool.add("in", (0, number))
    pool.idle()

    other = {"ints": "floats", "floats": "ints"}[name]
    assert pool.seen == {name: [(0, number)], other: [(0, None)]}
    assert pool.seen[name][0][1] is number
    pool.end()


# --- subgraphs of code ----------------------------------------------------------------------------------

CHAIN = """
input_stream: "IN:__stream_0" output_stream: "OUT:__stream_2"
node { calculator: "Foo" input_stream: "BASE:__stream_0" output_stream: "OUT:__stream_1" }
node { calculator: "Bar" input_stream: "IN:__stream_1" output_stream: "OUT:__stream_2" }
"""


def config(text):
    return text_format.Parse(text, CalculatorGraphConfig())


def loaded(graph):
    return CalculatorGraphConfig.FromString(graph.binary_config)


@pytest.mark.reference("framework/api2/subgraph_test.cc", "SubgraphTest.ExpandSubgraphs")
def test_extra_names_inside_a_subgraph_begin_with_its_own(pool):
    class FooBar(Subgraph):
        @classmethod
        def get_config(cls, sc):
            return config(CHAIN)

    pool.subgraphs = {"FooBar": FooBar}
    source = 'node { name: "simple_source" calculator: "SomeSource" output_stream: "foo" }\n'
    graph = pool.load(
        source + 'node { calculator: "FooBar" input_stream: "IN:foo" output_stream: "OUT:output" }',
        *(calculator(name=name) for name in ("SomeSource", "Foo", "Bar")),
    )

    assert loaded(graph) == config(
        source
        + """
        node {
          name: "foobar__Foo" calculator: "Foo"
          input_stream: "BASE:foo" output_stream: "OUT:foobar____stream_1"
        }
        node {
          name: "foobar__Bar" calculator: "Bar"
          input_stream: "IN:foobar____stream_1" output_stream: "OUT:output"
        }
        """
    )


def port_lines(is_all, before=""):
    """Return the ports of the graph or of its node as text, in the order of their tags."""
    names = {
        "input_stream": ["IN", "OPTIONAL_IN", "REPEATED_IN:0", "REPEATED_IN:1"],
        "output_stream": ["OPTIONAL_OUT", "OUT", "REPEATED_OUT:0", "REPEATED_OUT:1"],
        "input_side_packet": [
            "OPTIONAL_SIDE_IN",
            *(f"REPEATED_SIDE_IN:{i}" for i in range(3)),
            "SIDE_IN",
        ],
        "output_side_packet": [
            "OPTIONAL_SIDE_OUT",
            *(f"REPEATED_SIDE_OUT:{i}" for i in range(3)),
            "SIDE_OUT",
        ],
    }
    wanted = ("OPTIONAL", "REPEATED") if not is_all else ()
    return "\n".join(
        f'{field}: "{port}:{before}{port.lower().replace(":", "_")}"'
        for field, ports in names.items()
        for port in ports
        if not port.startswith(wanted or ("-",))
    )


class Inner(penstock.Calculator):
    """Needs one port of each kind, and may have others."""

    Options = Constant

    @classmethod
    def get_contract(cls, cc):
        tags = {
            "inputs": "IN",
            "outputs": "OUT",
            "input_side_packets": "SIDE_IN",
            "output_side_packets": "SIDE_OUT",
        }
        for kind, tag in tags.items():
            ports = getattr(cc, kind)
            ports[tag].set_any()
            ports[f"OPTIONAL_{tag}"].set_any().optional()
            for i in range(ports.count(f"REPEATED_{tag}")):
                ports[f"REPEATED_{tag}", i].set_any()

    def process(self, cc):
        """Do nothing."""


class Expands(Subgraph):
    """Becomes one calculator with the ports and options of the subgraph's node."""

    @classmethod
    def get_config(cls, sc):
        graph = CalculatorGraphConfig()
        inner = graph.node.add(calculator="Inner")
        inner.node_options.add().Pack(sc.options(Constant))
        for field in ("input_stream", "output_stream", "input_side_packet", "output_side_packet"):
            for entry in getattr(sc.node, field):
                getattr(graph, field).append(entry)
                getattr(inner, field).append(entry)
        return graph


def with_subgraph(pool, ports, options=""):
    pool.subgraphs = {"Subgraph": Expands}
    return pool.load(f'{ports}\nnode {{ calculator: "Subgraph" {ports} {options} }}', Inner)


@pytest.mark.parametrize(
    ("is_all", "value"),
    [
        pytest.param(
            True,
            "packet { int_value: 42 }",
            marks=pytest.mark.reference(
                "framework/api3/subgraph_test.cc", "SubgraphTest.CanUseSubgraphWithDifferentPortTypes"
            ),
        ),
        pytest.param(
            False,
            "",
            marks=pytest.mark.reference(
                "framework/api3/subgraph_test.cc",
                "SubgraphTest.CanUseSubgraphWithMissingOptionalAndRepeatedPorts",
            ),
        ),
    ],
)
def test_extra_a_subgraph_of_code_has_the_ports_of_its_node(pool, is_all, value):
    ports = port_lines(is_all)
    kind = "[type.googleapis.com/penstock.ConstantSidePacketCalculatorOptions]"
    graph = with_subgraph(pool, ports, f"node_options {{ {kind} {{ {value} }} }}" if value else "")

    assert loaded(graph) == config(
        f'{ports}\nnode {{ name: "subgraph__Inner" calculator: "Inner" {ports} '
        f"node_options {{ {kind} {{ {value} }} }} }}"
    )


@pytest.mark.reference(
    "framework/api3/subgraph_test.cc", "SubgraphTest.FailsToValidateWithMissingRequiredPorts"
)
def test_extra_a_port_that_is_needed_inside_must_be_connected(pool):
    ports = "\n".join(line for line in port_lines(is_all=False).splitlines() if "side_packet" in line)
    with pytest.raises(GraphConfigError, match=r"subgraph__Inner.*IN") as caught:
        with_subgraph(pool, ports)

    assert caught.value.code is StatusCode.INVALID_ARGUMENT
