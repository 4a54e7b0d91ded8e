"""Loops without a memory; those with one need calculators, and are tested where the packs are."""

import pytest

from penstock import CalculatorGraph, Packet
from penstock.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    UnknownNameError,
)
from penstock_builder import Graph


def test_a_loop_runs_and_its_back_edge_marks_itself(g, registry):
    loop = g.feedback()
    total = g.node("AddCalculator", [g.input("numbers", int), loop.stream]).output
    loop.connect(g.node("DelayCalculator", total).output)
    g.output(total, "total")
    config = g.to_config()
    assert list(config.node[0].input_stream) == ["numbers", "delay"]
    assert [(info.tag_index, info.back_edge) for info in config.node[0].input_stream_info] == [(":1", True)]
    graph, seen = CalculatorGraph(g, registry=registry), []
    graph.observe_output_stream("total", lambda _name, packet: seen.append(packet.payload))
    graph.start_run()
    for at in range(4):
        graph.add_packet_to_input_stream("numbers", Packet(10, at))
    graph.wait_until_idle()
    assert seen == [10, 20, 30, 40]
    graph.cancel()


def test_a_tagged_back_edge_is_marked_by_its_tag(g):
    loop = g.feedback()
    made = g.node(
        "HandOnCalculator", {"IN": g.input("a"), ("LOOP", 0): loop.stream, ("LOOP", 1): loop.stream}
    )
    loop.connect(made.outputs["IN"])
    infos = g.to_config().node[0].input_stream_info
    assert [info.tag_index for info in infos] == ["LOOP", "LOOP:1"]


def test_a_loop_that_is_read_must_be_connected(g):
    g.node("AddCalculator", g.feedback().stream)
    with pytest.raises(
        FailedPreconditionError,
        match=r"the builder's graph cannot be written: input 0 of node 'AddCalculator' reads a loop that is",
    ):
        g.to_config()


def test_a_loop_without_a_reader_leaves_no_trace(g):
    g.feedback().connect(g.input("a"))
    assert list(g.to_config().node) == []


def test_a_loop_is_connected_once_and_with_a_stream_of_its_graph(g, registry):
    loop, a = g.feedback(), g.input("a")
    with pytest.raises(InvalidArgumentError, match="belongs to another graph"):
        loop.connect(Graph(registry).input("b"))
    with pytest.raises(InvalidArgumentError, match="a loop of the builder cannot be wired to a loop"):
        loop.connect(loop.stream)
    with pytest.raises(InvalidArgumentError, match="side packet 's' is no stream"):
        loop.connect(g.side_packet("s"))
    assert loop.connect(a) is a
    with pytest.raises(AlreadyExistsError, match="the builder's loop is wired to stream 'a' already"):
        loop.connect(a)


def test_a_stream_of_the_wrong_type_closes_no_loop(g):
    loop = g.feedback()
    g.node("AddCalculator", loop.stream)
    with pytest.raises(InvalidArgumentError, match=r"stream 'words' .* has str, but input 0 .* takes int"):
        loop.connect(g.input("words", str))

    loop.connect(g.input("numbers", int))
    assert list(g.to_config().node[0].input_stream) == ["numbers"]


def test_a_loop_whose_type_nothing_says_has_any_type(g):
    loop = g.feedback()
    around = g.node("HandOnCalculator", loop.stream).outputs[0]
    loop.connect(around)
    g.node("AddCalculator", around)
    g.node("ThresholdCalculator", {"VIDEO": around})

    config = g.to_config()
    assert [list(node.input_stream) for node in config.node] == [
        [around.name], [around.name], [f"VIDEO:{around.name}"],
    ]  # fmt: skip
    assert [info.back_edge for info in config.node[0].input_stream_info] == [True]


def test_a_loop_is_no_graph_output_and_has_no_name(g):
    loop = g.feedback()
    with pytest.raises(FailedPreconditionError, match="a loop is no graph output of the builder's draft"):
        g.output(loop.stream)
    with pytest.raises(FailedPreconditionError, match="name 'a' the stream that it stands for"):
        loop.stream.named("a")
    loop.connect(g.input("b"))
    assert loop.stream.name == "b"


def test_an_initial_value_needs_a_tick_and_a_type_that_a_graph_can_hold(g):
    with pytest.raises(
        InvalidArgumentError, match=r"feedback\(initial=1\) of the builder's loop needs tick="
    ):
        g.feedback(initial=1)
    with pytest.raises(
        InvalidArgumentError, match=r"'list' is none of bool, int, float and str; pass a side"
    ):
        g.feedback(g.input("a"), [1])


def test_a_memory_without_its_calculators_says_so_and_changes_nothing(g):
    a = g.input("a")
    before = g.to_config()
    with pytest.raises(UnknownNameError, match="no calculator 'PreviousLoopbackCalculator' is registered"):
        g.feedback(a, 1)
    assert g.to_config() == before
