"""Nodes and wires: what comes out as config, and what is refused where it is written."""

import re

import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    UnknownNameError,
)
from penstock_builder import Graph


def node(g, position=-1):
    return g.to_config().node[position]


def test_a_graph_written_in_python_runs(g, registry):
    numbers = g.input("numbers", int)
    doubled = g.node("AddCalculator", [numbers, numbers]).output
    g.output(g.node("HandOnCalculator", doubled).output, "doubled")
    graph, seen = CalculatorGraph(g, registry=registry), []
    graph.observe_output_stream("doubled", lambda _name, packet: seen.append(packet.payload))
    graph.start_run()
    for at in range(3):
        graph.add_packet_to_input_stream("numbers", Packet(at + 5, at))
    graph.close_all_packet_sources()
    graph.wait_until_done()
    assert seen == [10, 12, 14]


def test_ports_are_named_by_item_by_tag_and_index_and_by_attribute(g):
    a, b = g.input("a"), g.input("b")
    made = g.node("HandOnCalculator")
    made.inputs["TAG"] = a
    made.inputs["TAG", 1] = b
    made.inputs[0] = b
    made.inputs.OTHER = a
    assert list(node(g).input_stream) == ["TAG:0:a", "TAG:1:b", "b", "OTHER:a"]
    assert made.inputs["TAG:1"] is made.inputs["TAG", 1] is b
    assert made.inputs.TAG is a
    assert len(made.inputs) == 4
    assert "OTHER" in made.inputs
    assert "NONE" not in made.inputs


def test_an_output_is_one_stream_however_often_it_is_taken(g):
    made = g.node("ThresholdCalculator", {"VIDEO": g.input("frames", float)})
    assert made.outputs.VIDEO is made.outputs["VIDEO"] is made.outputs["VIDEO", 0]
    assert list(node(g).output_stream) == ["VIDEO:threshold_video"]
    assert len(made.outputs) == 1


def test_the_only_required_output_is_the_output(g):
    made = g.node("ThresholdCalculator", {"VIDEO": g.input("frames", float)})
    assert made.output is made.outputs["VIDEO"]


def test_a_node_of_several_connected_outputs_has_no_output(g):
    made = g.node("ThresholdCalculator", outputs={"VIDEO": "seen", "COUNT": "count"})
    with pytest.raises(
        InvalidArgumentError, match=re.escape("has 2 outputs ('COUNT', 'VIDEO'), so node.output does")
    ):
        _ = made.output


def test_untagged_inputs_are_in_the_order_of_their_indices(g):
    a, b = g.input("a"), g.input("b")
    g.node("AddCalculator", {1: b, 0: a})
    assert list(node(g).input_stream) == ["a", "b"]


def test_an_index_that_is_left_out_is_refused_when_the_config_is_made(g):
    made = g.node("AddCalculator")
    made.inputs[1] = g.input("a")
    with pytest.raises(
        FailedPreconditionError, match="input 0 is missing among the builder's ports, which have 1"
    ):
        g.to_config()


def test_side_packets_go_in_and_out(g):
    limit = g.side_packet("limit", int)
    g.node("ThresholdCalculator", {"VIDEO": g.input("frames")}, {"LIMIT": limit})
    g.output_side_packet(limit)
    config = g.to_config()
    assert list(config.input_side_packet) == ["limit"]
    assert list(config.node[0].input_side_packet) == ["LIMIT:limit"]
    assert list(config.output_side_packet) == ["limit"]


def test_all_settings_of_a_node_are_in_the_config(g):
    g.executor("slow", "ThreadPoolExecutor")
    g.node(
        "AddCalculator",
        name="sum",
        executor="slow",
        max_in_flight=3,
        source_layer=2,
        buffer_size_hint=7,
        input_stream_handler="DefaultInputStreamHandler",
    )
    made = node(g)
    assert (made.name, made.executor, made.max_in_flight, made.source_layer, made.buffer_size_hint) == (
        "sum",
        "slow",
        3,
        2,
        7,
    )
    assert made.input_stream_handler.input_stream_handler == "DefaultInputStreamHandler"
    assert [(one.name, one.type) for one in g.to_config().executor] == [("slow", "ThreadPoolExecutor")]


def test_all_settings_of_a_graph_are_in_the_config(registry):
    g = Graph(registry, max_queue_size=6, num_threads=2, report_deadlock=True, package="a.b", type="Sub")
    g.set_input_stream_handler("DefaultInputStreamHandler")
    g.input("frames", tag="IN")
    g.input("more", tag="IN")
    config = g.to_config()
    assert (config.max_queue_size, config.num_threads, config.report_deadlock) == (6, 2, True)
    assert (config.package, config.type) == ("a.b", "Sub")
    assert config.input_stream_handler.input_stream_handler == "DefaultInputStreamHandler"
    assert list(config.input_stream) == ["IN:0:frames", "IN:1:more"]


def test_a_calculator_class_stands_for_its_registered_name(g, registry):
    g.node(registry.find("calculator", "AddCalculator"))
    assert node(g).calculator == "AddCalculator"
    with pytest.raises(InvalidArgumentError, match="is not registered under 'AddCalculator'"):
        g.node(type("AddCalculator", (), {}))


# --- refused where it is written ----------------------------------------------------------------


def test_an_unknown_calculator_is_refused_with_the_near_names(g):
    with pytest.raises(UnknownNameError, match=r"no calculator 'AdCalculator'.*did you mean 'AddCalculator'"):
        g.node("AdCalculator")
    assert g.nodes == []


def test_an_unknown_port_is_refused_with_the_near_tags_and_all_there_are(g):
    frames = g.input("frames", float)
    words = r"has no input 'VIDE' \(did you mean 'VIDEO'\?\); its inputs are: 'MASK', 'VIDEO'"
    with pytest.raises(InvalidArgumentError, match=words):
        g.node("ThresholdCalculator", {"VIDE": frames})
    made = g.node("ThresholdCalculator", {"VIDEO": frames})
    with pytest.raises(InvalidArgumentError, match=r"has no output 'VIDEOS' \(did you mean 'VIDEO'\?\)"):
        _ = made.outputs["VIDEOS"]
    with pytest.raises(InvalidArgumentError, match="has no input side packet 'LIMITS'"):
        made.input_side_packets["LIMITS"] = g.side_packet("limits")
    assert list(node(g).output_stream) == []


def test_a_calculator_that_cannot_answer_yet_refuses_nothing(g):
    made = g.node("HandOnCalculator", {"ANY": g.input("frames")})
    assert made.outputs["ANY"].name == "hand_on_any"


def test_an_input_is_connected_once(g):
    a, b = g.input("a", int), g.input("b", int)
    made = g.node("AddCalculator", a)
    with pytest.raises(
        AlreadyExistsError,
        match=r"the builder's node 'AddCalculator': its port, input 0, is connected to stream 'a'",
    ):
        made.inputs[0] = b
    with pytest.raises(InvalidArgumentError, match=r"two of the ports .* are one input"):
        g.node("ThresholdCalculator", {"VIDEO": a, ("VIDEO", 0): b})


def test_a_wire_of_another_graph_is_refused(g, registry):
    strange = Graph(registry).input("frames")
    with pytest.raises(InvalidArgumentError, match="stream 'frames' belongs to another graph"):
        g.node("HandOnCalculator", strange)
    with pytest.raises(InvalidArgumentError, match="belongs to another graph"):
        g.output(strange)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda g: g.node("HandOnCalculator"), r"is no stream; take one of its outputs: \.outputs\['TAG'\]"),
        (lambda g: g.feedback(), r"is no stream; read its \.stream"),
        (lambda g: g.side_packet("side"), r"side packet 'side' is no stream"),
        (lambda _g: "frames", "a str, 'f' is no stream"),
        (lambda _g: 3, "a int, 3 is no stream"),
    ],
)
def test_a_thing_that_is_no_stream_is_refused(g, given, words):
    thing = given(g)
    with pytest.raises(InvalidArgumentError, match=words):
        g.node("AddCalculator", thing)


def test_types_that_do_not_agree_are_refused(g):
    text = g.node("ThresholdCalculator", {"VIDEO": g.input("frames", float)}).outputs["VIDEO"]
    words = (
        r"stream 'threshold_video' \(output 'VIDEO' of node 'ThresholdCalculator'\) has str, "
        "but input 0 of node 'sum' .AddCalculator. takes int"
    )
    with pytest.raises(InvalidArgumentError, match=words):
        g.node("AddCalculator", text, name="sum")
    with pytest.raises(InvalidArgumentError, match="takes int"):
        g.node("AddCalculator").inputs[0] = text
    with pytest.raises(InvalidArgumentError, match=r"side packet 'limit' .* has str, but .* takes int"):
        g.node("ThresholdCalculator", side_packets={"LIMIT": g.side_packet("limit", str)})


def test_a_type_is_followed_through_nodes_that_forward_packets(g):
    stream = g.input("words", str)
    for _ in range(1200):
        stream = g.node("HandOnCalculator", stream).outputs[0]
    with pytest.raises(InvalidArgumentError, match="has str"):
        g.node("AddCalculator", stream)


def test_a_refused_node_leaves_no_trace(g):
    a = g.input("a", int)
    g.node("HandOnCalculator", a, outputs={0: "taken"})
    before = g.to_config()
    for wrong in ({"outputs": {0: "taken"}}, {"outputs": {0: "Bad"}}, {"wrong_option": 1}):
        with pytest.raises((InvalidArgumentError, AlreadyExistsError)):
            g.node("AddCalculator", a, **wrong)
    with pytest.raises(UnknownNameError, match="no input stream handler"):
        g.node("AddCalculator", a, input_stream_handler="Nothing")
    assert g.to_config() == before


@pytest.mark.parametrize("key", ["video", -1, True, ("tag", 0), ("TAG", -1), 1.5])
def test_a_key_that_names_no_port_is_refused(g, key):
    with pytest.raises(InvalidArgumentError, match=r"no port"):
        g.node("AddCalculator").inputs[key] = g.input("a")


def test_an_attribute_that_is_no_tag_does_not_exist(g):
    made = g.node("AddCalculator")
    with pytest.raises(AttributeError, match="tags of ports are in upper case"):
        _ = made.outputs.video
    with pytest.raises(AttributeError, match="no input 'video'"):
        made.inputs.video = g.input("a")
    with pytest.raises(NotFoundError, match="input 'VIDEO' is not connected; ports that are connected: none"):
        _ = made.inputs.VIDEO


def test_an_executor_is_declared_once_and_its_type_is_known(g):
    g.executor("slow")
    with pytest.raises(AlreadyExistsError, match="executor 'slow' is in the builder's draft already"):
        g.executor("slow", "ThreadPoolExecutor")
    with pytest.raises(UnknownNameError, match=r"no executor 'ThreadPol'"):
        g.executor("fast", "ThreadPol")
    assert len(g.to_config().executor) == 1


def test_a_failure_policy_has_its_stream_and_reads_back(registry):
    g = Graph(registry)
    frames = g.input("frames")
    with g.prefix("left"):
        node = g.node("HandOnCalculator", frames, failure={"on_error": "SKIP", "retry": 2, "timeout_ms": 5})
        seen = g.node("HandOnCalculator", node.failures.named("faults"))
    limits = {"open_timeout_ms": 7, "close_timeout_ms": 8}
    node.set_failure_policy("RESTART", backoff_ms=10, then="FALL_BACK", fallback="HandOnCalculator", **limits)
    g.output(node.outputs[0], "out")
    g.output(seen.outputs[0], "told")
    text = g.to_text()
    assert "on_error: RESTART" in text
    assert "open_timeout_ms: 7" in text
    assert "close_timeout_ms: 8" in text
    assert 'error_stream: "left__faults"' in text
    assert "retry" not in text
    again = Graph.from_config(text, registry)
    assert again.to_text() == text
    assert again.nodes[0].failures.name == "left__faults"


def test_a_failure_stream_without_a_chosen_name_gets_one(registry):
    g = Graph(registry)
    node = g.node("HandOnCalculator", g.input("in"), failure={"on_error": "SKIP"})
    g.output(node.failures)
    assert g.to_config().node[0].failure.error_stream == node.failures.name == "hand_on_failures"


def test_a_failure_policy_that_is_none_is_refused(registry):
    g = Graph(registry)
    node = g.node("HandOnCalculator", g.input("in"))
    with pytest.raises(
        FailedPreconditionError, match="has no failure policy; call the node's set_failure_policy first"
    ):
        _ = node.failures
    with pytest.raises(
        InvalidArgumentError,
        match="on_error of the node's set_failure_policy is 'IGNORE', but must be one of FAIL, SKIP",
    ):
        node.set_failure_policy("IGNORE")
    with pytest.raises(UnknownNameError, match="Nowhere"):
        node.set_failure_policy("FALL_BACK", fallback="Nowhere")
    assert not node.message.HasField("failure")
