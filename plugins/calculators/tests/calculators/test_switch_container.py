"""Its expansion and its outputs: expected values from runs of the reference (mediapipe 0.10.21)."""

from __future__ import annotations

import pytest

import penstock
from penstock import CalculatorGraph, GraphConfigError, Packet, Timestamp, limits
from penstock.config import build_plan, read_graph, to_text
from penstock.config.options.messages import messages_in
from penstock.config.reading import parse
from penstock.errors import ResourceExhaustedError
from penstock.packs import default_registry
from penstock_calculators.routing.switch_container import SwitchContainer

MAX = int(Timestamp.MAX)
TWO = 'contained_node { calculator: "PassThroughCalculator" } ' * 2


class TimesTen(penstock.Calculator):
    """A channel that differs from PassThroughCalculator; its side packet names its maker."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs["X"].set(int)
        cc.outputs["X"].set(int)
        cc.input_side_packets["MODEL"].set(str).optional()
        cc.output_side_packets["MADE"].set(str).optional()
        cc.set_timestamp_offset(0)

    def open(self, cc):
        if "MADE" in cc.output_side_packets:
            cc.output_side_packets["MADE"].set(f"{cc.input_side_packets['MODEL'].payload} in {cc.node_name}")

    def process(self, cc):
        if not cc.inputs["X"].is_empty():
            cc.outputs["X"].add(cc.inputs["X"].payload * 10, cc.input_timestamp)


def registry():
    own = default_registry().child()
    own.add("calculator", "TimesTen", TimesTen)
    return own


def container(ports, options, inputs=("x", "s"), sides=()):
    names = [f'input_stream: "{name}"' for name in inputs] + [
        f'input_side_packet: "{name}"' for name in sides
    ]
    return f"""
      {" ".join(names)}
      node {{
        calculator: "SwitchContainer"
        {ports}
        options {{ [mediapipe.SwitchContainerOptions.ext] {{ {options} }} }}
      }}
    """


def expanded(*arguments, **more):
    config = CalculatorGraph(container(*arguments, **more), registry=registry()).text_config
    message = read_graph(config, registry())
    return {node.name: " ".join(to_text(node).split()) for node in message.node}


def run(text, *events, outputs=("y",), sides=None):
    graph = CalculatorGraph(text, side_packets=sides or {}, registry=registry())
    seen = {name: [] for name in outputs}
    for name in outputs:
        graph.observe_output_stream(
            name, lambda stream, packet: seen[stream].append((int(packet.timestamp), packet.payload))
        )
    graph.start_run()
    for stream, payload, timestamp in events:
        graph.add_packet_to_input_stream(stream, Packet(payload, timestamp))
        graph.wait_until_idle(10)
    graph.close_all_input_streams()
    graph.wait_until_done(10)
    return seen


XY = 'input_stream: "X:x" output_stream: "X:y"'


def test_a_control_stream_is_brought_into_step_with_the_inputs():
    nodes = expanded(f'input_stream: "SELECT:s" {XY}', TWO)

    assert list(nodes) == [
        "switchcontainer__PacketSequencerCalculator",
        "switchcontainer__SwitchDemuxCalculator",
        "switchcontainer__PassThroughCalculator_1",
        "switchcontainer__PassThroughCalculator_2",
        "switchcontainer__SwitchMuxCalculator",
    ]
    assert nodes["switchcontainer__PacketSequencerCalculator"].endswith(
        'input_stream: "INPUT:s" input_stream: "TICK:x" '
        'output_stream: "OUTPUT:switchcontainer__gate_select_timed" '
        'input_stream_handler { input_stream_handler: "DefaultInputStreamHandler" }'
    )
    assert nodes["switchcontainer__SwitchDemuxCalculator"].endswith(
        'input_stream: "SELECT:switchcontainer__gate_select_timed" input_stream: "X:x" '
        'output_stream: "C0__X:switchcontainer__c0__x" output_stream: "C1__X:switchcontainer__c1__x" '
        "options { [penstock.SwitchContainerOptions.ext] { } }"
    )
    assert nodes["switchcontainer__PassThroughCalculator_2"].endswith(
        'input_stream: "X:switchcontainer__c1__x" output_stream: "X:switchcontainer__c1__y"'
    )
    assert nodes["switchcontainer__SwitchMuxCalculator"].endswith(
        'input_stream: "SELECT:switchcontainer__gate_select_timed" '
        'input_stream: "C0__X:switchcontainer__c0__y" '
        'input_stream: "C1__X:switchcontainer__c1__y" output_stream: "X:y" '
        "options { [penstock.SwitchContainerOptions.ext] { } }"
    )


def test_side_packets_go_through_the_channel_that_one_of_them_selects():
    text = container(
        f'name: "sw" input_side_packet: "SELECT:e" {XY} '
        'input_side_packet: "MODEL:m" output_side_packet: "MADE:n"',
        'contained_node { calculator: "TimesTen" } contained_node { calculator: "TimesTen" name: "second" }',
        inputs=["x"],
        sides=["e", "m"],
    )
    graph = CalculatorGraph(text, side_packets={"e": 1, "m": "weights"}, registry=registry())

    assert "Sequencer" not in graph.text_config
    graph.start_run()
    graph.wait_until_idle(10)
    assert graph.get_output_side_packet("n").payload == "weights in sw__second"
    graph.close_all_input_streams()
    graph.wait_until_done(10)


def test_ports_keep_their_indexes_and_ports_without_tag_work_too():
    nodes = expanded(
        'name: "sw" input_stream: "a" input_stream: "X:0:b" input_stream: "X:1:c" '
        'output_stream: "d" output_stream: "X:0:e" output_stream: "X:1:f"',
        'contained_node { calculator: "PassThroughCalculator" }',
        inputs="abc",
    )

    assert nodes["sw__PassThroughCalculator"].endswith(
        'input_stream: "sw__c0__a" input_stream: "X:sw__c0__b" input_stream: "X:1:sw__c0__c" '
        'output_stream: "sw__c0__d" output_stream: "X:sw__c0__e" output_stream: "X:1:sw__c0__f"'
    )
    assert 'output_stream: "C0__:sw__c0__a"' in nodes["sw__SwitchDemuxCalculator"]


@pytest.mark.parametrize(
    ("options", "ticks", "handler"),
    [
        ("", ["TICK:x", "TICK:1:z"], True),
        ('tick_input_stream: "Z"', ["TICK:z"], True),
        (
            'tick_input_stream: "Z:0" tick_input_stream: "X" async_selection: true',
            ["TICK:z", "TICK:1:x"],
            False,
        ),
    ],
)
def test_options_choose_the_ticks_and_whether_commands_are_waited_for(options, ticks, handler):
    ports = f'input_stream: "ENABLE:s" {XY} input_stream: "Z:z" output_stream: "Z:w"'
    nodes = expanded(ports, TWO + options, inputs="xzs")
    sequencer = nodes["switchcontainer__PacketSequencerCalculator"]

    assert [part.strip('"') for part in sequencer.split() if part.startswith('"TICK')] == ticks
    assert ("DefaultInputStreamHandler" in sequencer) == handler


@pytest.mark.parametrize(("value", "handler"), [("true", "Default"), ("false", "Immediate")])
def test_synchronize_io_chooses_how_inputs_come_in(value, handler):
    text = container(f'input_stream: "SELECT:s" {XY}', f"{TWO} synchronize_io: {value}")
    plan = build_plan(text, registry())
    handlers = {node.calculator: node.handler.name for node in plan.nodes}

    assert handlers["SwitchDemuxCalculator"] == f"{handler}InputStreamHandler"
    assert handlers["SwitchMuxCalculator"] == "ImmediateInputStreamHandler"


def test_a_name_that_is_used_twice_inside_gets_a_number():
    ports = 'input_stream: "SELECT:s" input_stream: "X:gate_select" input_stream: "Z:gate_select"'
    seen = run(
        container(f'{ports} output_stream: "X:y" output_stream: "Z:c0__y"', TWO, inputs=["gate_select", "s"]),
        ("s", 1, 1),
        ("gate_select", 5, 1),
        outputs=("y", "c0__y"),
    )

    assert seen == {"y": [(1, 5)], "c0__y": [(1, 5)]}


MIXED = 'contained_node { calculator: "PassThroughCalculator" } contained_node { calculator: "TimesTen" }'


@pytest.mark.parametrize("order", [1, -1])
def test_a_command_applies_from_its_own_timestamp_whatever_arrives_first(order):
    data = [("x", t, t) for t in range(1, 7)]
    commands = [("s", 1, 3), ("s", 0, 5)]
    events = data + commands if order == 1 else commands + data

    seen = run(container(f'input_stream: "SELECT:s" {XY}', MIXED), *events)

    assert seen["y"] == [(1, 1), (2, 2), (3, 30), (4, 40), (5, 5), (6, 6)]


def test_with_async_selection_a_command_applies_when_it_arrives():
    text = container(f'input_stream: "SELECT:s" {XY}', f"{MIXED} async_selection: true")

    seen = run(text, ("x", 1, 1), ("s", 1, 1000), ("x", 2, 2), ("x", 3, 3), ("s", 0, 1001), ("x", 4, 4))

    assert seen["y"] == [(1, 1), (2, 20), (3, 30), (4, 4)]


@pytest.mark.parametrize(
    ("sides", "options", "expected"), [({}, "", 1), ({}, "select: 1", 10), ({"e": False}, "enable: true", 1)]
)
def test_without_control_stream_side_packet_or_option_decide(sides, options, expected):
    ports = XY + "".join(f' input_side_packet: "ENABLE:{name}"' for name in sides)

    seen = run(container(ports, MIXED + options, inputs="x", sides=sides), ("x", 1, 1), sides=sides)

    assert seen["y"] == [(1, expected)]


def test_an_observer_of_bounds_sees_the_end_of_time():
    graph = CalculatorGraph(container(XY, TWO, inputs="x"), registry=registry())
    seen = []
    graph.observe_output_stream("y", lambda name, packet: seen.append(packet), observe_timestamp_bounds=True)
    graph.start_run()
    graph.add_packet_to_input_stream("x", Packet("a", 1))
    graph.close_all_input_streams()
    graph.wait_until_done(10)

    assert [(int(packet.timestamp), packet.is_empty()) for packet in seen] == [(1, False), (MAX, True)]


@pytest.mark.parametrize(
    ("ports", "options", "message"),
    [
        (XY, "", "the switch container has no contained_node"),
        (
            XY,
            TWO + "select: 1 enable: true",
            "the switch container's options select and enable are both given",
        ),
        (
            f'input_stream: "SELECT:s" input_stream: "ENABLE:t" {XY}',
            TWO,
            "'ENABLE' and 'SELECT' are both connected as input_stream of the switch container; connect",
        ),
        (
            f'input_stream: "SELECT:0:s" input_stream: "SELECT:1:t" {XY}',
            TWO,
            "'SELECT' and 'SELECT:1' are both connected as input_stream",
        ),
        (
            f'input_side_packet: "SELECT:e" input_side_packet: "ENABLE:f" {XY}',
            TWO,
            "'ENABLE' and 'SELECT' are both connected as input_side_packet",
        ),
        (
            f'input_stream: "SELECT:s" {XY}',
            TWO + 'tick_input_stream: "Y:1"',
            (
                "tick_input_stream of the switch container names 'Y:1', but there is no such input; "
                "connected are: 'X'"
            ),
        ),
        (f'input_stream: "SELECT:s" {XY}', TWO + 'tick_input_stream: "y"', "'y' is no port"),
    ],
)
def test_mistakes_are_refused_where_the_container_is_used(ports, options, message):
    text = container(ports, options, inputs="xst", sides="ef")

    with pytest.raises(GraphConfigError, match=rf"line \d+, column \d+: node 'SwitchContainer': .*{message}"):
        CalculatorGraph(text, registry=registry())


def test_containers_in_containers_switch_on_their_own():
    inner = f"""
      contained_node {{
        calculator: "SwitchContainer"
        options {{ [mediapipe.SwitchContainerOptions.ext] {{ {MIXED} select: 1 }} }}
      }}
    """
    text = container(
        f'input_stream: "SELECT:s" {XY}', f'contained_node {{ calculator: "PassThroughCalculator" }} {inner}'
    )

    assert run(text, ("s", 1, 2), ("x", 1, 1), ("x", 2, 2), ("s", 0, 3), ("x", 3, 3))["y"] == [
        (1, 1), (2, 20), (3, 3),
    ]  # fmt: skip


# --- what MediaPipe's own tests ask for ---------------------------------------------------------------


class TripleIntCalculator(penstock.Calculator):
    """Makes three times the number of its stream, or of its side packet."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int).optional()
        cc.outputs[0].set_same_as(cc.inputs[0]).optional()
        cc.input_side_packets[0].set(int).optional()
        cc.output_side_packets[0].set_same_as(cc.input_side_packets[0]).optional()
        cc.input_side_packets["TIMEZONE"].set(int).optional()
        cc.set_timestamp_offset(0)

    def open(self, cc):
        if 0 in cc.output_side_packets:
            cc.output_side_packets[0].set(3 * cc.input_side_packets[0].payload)

    def process(self, cc):
        cc.outputs[0].add(3 * cc.inputs[0].payload, cc.input_timestamp)


CHANNELS = (
    'contained_node { calculator: "TripleIntCalculator" } '
    'contained_node { calculator: "PassThroughCalculator" } '
)


def switch(ports, options=""):
    return f"""
      node {{
        calculator: "SwitchContainer" {ports}
        options {{ [mediapipe.SwitchContainerOptions.ext] {{ {CHANNELS} {options} }} }}
      }}
    """


def streams(options=""):
    return f"""
      input_stream: "foo" input_stream: "enable" input_side_packet: "timezone"
      {switch('input_stream: "ENABLE:enable" input_stream: "foo" output_stream: "bar"', options)}
      node {{
        calculator: "PassThroughCalculator" input_stream: "foo" input_stream: "bar"
        output_stream: "output_foo" output_stream: "output_bar"
      }}
    """


def sides(ports='input_side_packet: "ENABLE:enable"', more=""):
    return f"""
      {more} input_side_packet: "foo" input_side_packet: "enable" output_side_packet: "output_bar"
      {switch(f'{ports} input_side_packet: "foo" output_side_packet: "bar"')}
      node {{
        calculator: "PassThroughCalculator" input_side_packet: "foo" input_side_packet: "bar"
        output_side_packet: "output_foo" output_side_packet: "output_bar"
      }}
    """


@pytest.fixture
def with_triple():
    own = default_registry().child()
    own.add("calculator", "TripleIntCalculator", TripleIntCalculator)
    return own


def shape(config):
    """Return the nodes as name → what they read and write, streams and side packets, in any order."""
    return {
        node.name or node.calculator: (
            [*node.input_stream, *node.input_side_packet],
            [*node.output_stream, *node.output_side_packet],
        )
        for node in config.node
    }


@pytest.mark.reference("framework/tool/switch_container_test.cc", "SwitchContainerTest.ApplyToSubnodes")
def test_a_container_of_two_nodes_is_a_sequencer_a_demux_the_nodes_and_a_mux(with_triple):
    config = build_plan(streams(), with_triple).config

    sw = "switchcontainer__"
    gate = f"ENABLE:{sw}gate_enable_timed"
    assert shape(config) == {
        f"{sw}PacketSequencerCalculator": (["INPUT:enable", "TICK:foo"], [f"OUTPUT:{gate[7:]}"]),
        f"{sw}SwitchDemuxCalculator": ([gate, "foo"], [f"C0__:{sw}c0__foo", f"C1__:{sw}c1__foo"]),
        f"{sw}TripleIntCalculator": ([f"{sw}c0__foo"], [f"{sw}c0__bar"]),
        f"{sw}PassThroughCalculator": ([f"{sw}c1__foo"], [f"{sw}c1__bar"]),
        f"{sw}SwitchMuxCalculator": ([gate, f"C0__:{sw}c0__bar", f"C1__:{sw}c1__bar"], ["bar"]),
        "PassThroughCalculator": (["foo", "bar"], ["output_foo", "output_bar"]),
    }
    (sequencer,) = (node for node in config.node if node.calculator == "PacketSequencerCalculator")
    assert sequencer.input_stream_handler.input_stream_handler == "DefaultInputStreamHandler"


@pytest.mark.reference(
    "framework/tool/switch_container_test.cc",
    "SwitchContainerTest.RunsWithSubnodes",
    "SwitchContainerTest.RunsWithInputStreamHandler",
)
@pytest.mark.parametrize("options", ["async_selection: true", "synchronize_io: true"])
def test_ten_numbers_pass_and_ten_are_tripled(with_triple, options):
    sends_bounds = "io" in options
    graph = CalculatorGraph(streams(options), registry=with_triple)
    seen = {"output_foo": [], "output_bar": []}
    for name in seen:
        graph.observe_output_stream(name, lambda stream, packet: seen[stream].append(packet.payload))
    graph.start_run({"timezone": 3})

    def send(stream, payload, timestamp):
        graph.add_packet_to_input_stream(stream, Packet(payload, timestamp))
        graph.wait_until_idle(10)

    for t in range(1, 21):
        passes = t <= 10
        if sends_bounds:
            send("enable", passes, t * 10_000)
        elif t in (1, 11):
            send("enable", passes, t * 10_000 - 5000)
        send("foo", t, t * 10_000)
        assert len(seen["output_foo"]) == len(seen["output_bar"]) == t
        assert seen["output_bar"][-1] == (t if passes else 3 * t)
    graph.close_all_input_streams()
    graph.wait_until_done(10)
    assert len(seen["output_foo"]) == len(seen["output_bar"]) == 20


@pytest.mark.reference(
    "framework/tool/switch_container_test.cc",
    "SwitchContainerTest.ApplyToSideSubnodes",
    "SwitchContainerTest.ValidateInputStreamHandler",
)
@pytest.mark.parametrize("handler", ["", "DefaultInputStreamHandler"])
def test_a_container_of_side_packets_has_no_sequencer_and_takes_any_policy_of_the_graph(with_triple, handler):
    policy = f'input_stream_handler {{ input_stream_handler: "{handler}" }}' if handler else ""

    plan = build_plan(sides(more=policy), with_triple)

    sw = "switchcontainer__"
    assert shape(plan.config) == {
        f"{sw}SwitchDemuxCalculator": (
            ["ENABLE:enable", "foo"],
            [f"C0__:{sw}c0__foo", f"C1__:{sw}c1__foo"],
        ),
        f"{sw}TripleIntCalculator": ([f"{sw}c0__foo"], [f"{sw}c0__bar"]),
        f"{sw}PassThroughCalculator": ([f"{sw}c1__foo"], [f"{sw}c1__bar"]),
        f"{sw}SwitchMuxCalculator": (
            ["ENABLE:enable", f"C0__:{sw}c0__bar", f"C1__:{sw}c1__bar"],
            ["bar"],
        ),
        "PassThroughCalculator": (["foo", "bar"], ["output_foo", "output_bar"]),
    }
    if handler:
        assert {node.handler.name for node in plan.nodes} == {handler}


@pytest.mark.reference("framework/tool/switch_container_test.cc", "SwitchContainerTest.RunWithSideSubnodes")
def test_a_side_packet_goes_through_the_node_that_another_one_chooses_in_each_run(with_triple):
    graph = CalculatorGraph(sides(), registry=with_triple)

    for is_enabled, expected in ((False, 12), (True, 4)):
        graph.start_run({"enable": is_enabled, "foo": 4})
        graph.close_all_input_streams()
        graph.wait_until_done(10)
        assert graph.get_output_side_packet("output_bar").payload == expected


@pytest.mark.reference("framework/tool/switch_container_test.cc", "SwitchContainerTest.ValidateSideInputs")
def test_only_one_side_packet_may_choose(with_triple):
    both = 'input_side_packet: "ENABLE:enable" input_side_packet: "SELECT:enable"'

    with pytest.raises(GraphConfigError, match="'ENABLE' and 'SELECT' are both connected as inp") as caught:
        CalculatorGraph(sides(both), registry=with_triple)

    assert caught.value.code.name == "INVALID_ARGUMENT"


# --- containers in containers -------------------------------------------------------------------


def nested(inner, depth, channels=1):
    """Return a graph of a container in which containers are nested, the innermost with these options."""
    for _ in range(depth):
        one = f"""contained_node {{ calculator: "SwitchContainer"
            options {{ [penstock.SwitchContainerOptions.ext] {{ {inner} }} }} }} """
        inner = one * channels
    return container('input_stream: "x" output_stream: "o"', inner, inputs=("x",))


ONE = 'contained_node { calculator: "PassThroughCalculator" } '


def refused(graph):
    with pytest.raises(ResourceExhaustedError) as caught:
        build_plan(graph, registry())
    return caught.value


def test_the_options_of_a_contained_node_are_read_once_and_not_at_each_depth(monkeypatch):
    walked = []

    def counting(message, *more):
        for one, path in messages_in(message, *more):
            walked.append(path)
            yield one, path

    monkeypatch.setattr(parse, "messages_in", counting)

    def walked_by(depth):
        walked.clear()
        assert len(build_plan(nested(ONE * 100, depth), registry()).nodes) == 100 + 2 * (depth + 1)
        return len(walked)

    first, later = walked_by(2), walked_by(12)
    assert later - first < 500, "ten containers more, and not ten times as much"


def test_more_nodes_inside_of_options_than_a_graph_may_have_are_counted_first(monkeypatch):
    monkeypatch.setattr(SwitchContainer, "get_config", lambda sc: pytest.fail("it was expanded"))
    graph = nested(ONE, 5, channels=2)

    with limits.override(nodes=32 + 62):
        error = refused(graph)
    assert error.limit == "nodes"
    assert str(error).startswith("with the nodes in options of subgraphs the graph has 95 nodes, more than")


def test_long_names_of_streams_are_refused_before_they_are_made():
    error = refused(nested(ONE * 2000, 20))

    assert error.limit == "text"
    assert "the streams of 2000 contained nodes have too long names" in str(error)
