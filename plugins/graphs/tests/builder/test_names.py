"""Names of streams and nodes: made, chosen, and under prefixes."""

import pytest

from penstock.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError
from penstock_builder.names import readable


@pytest.mark.parametrize(
    ("node", "tag", "index", "name"),
    [
        ("CannyEdgeCalculator", "VIDEO", 0, "canny_edge_video"),
        ("CannyEdgeCalculator", "", 0, "canny_edge"),
        ("CannyEdgeCalculator", "", 2, "canny_edge_2"),
        ("left__edges", "VIDEO", 1, "left__edges_video_1"),
        ("RGBToYUVCalculator", "", 0, "rgb_to_yuv"),
        ("my.package.Node", "", 0, "node"),
        ("3D view", "", 0, "_3_d_view"),
    ],
)
def test_a_stream_is_called_after_its_node_and_port(node, tag, index, name):
    assert readable(node, tag, index) == name


def test_names_that_are_made_do_not_clash(g):
    a = g.input("hand_on")
    names = [g.node("HandOnCalculator", a).output.name for _ in range(3)]
    assert names == ["hand_on_2", "hand_on_3", "hand_on_4"]


def test_a_name_that_was_made_changes_where_it_is_chosen_for_another_wire(g):
    first = g.node("HandOnCalculator", g.input("a")).output
    assert first.name == "hand_on"
    chosen = g.input("hand_on")
    assert (chosen.name, first.name) == ("hand_on", "hand_on_2")
    assert list(g.to_config().node[0].output_stream) == ["hand_on_2"]


def test_a_chosen_name_stays_and_is_taken_once(g):
    stream = g.node("HandOnCalculator", g.input("a"), name="first").output.named("b")
    with pytest.raises(AlreadyExistsError, match=r"'b' is taken by output 0 of node 'first' \(HandOnCalc"):
        g.input("b")
    assert stream.named("b").name == "b"
    assert stream.named("c").name == "c"
    assert g.input("b").name == "b"


@pytest.mark.parametrize("name", ["", "Upper", "TAG:name", "1st", "a b"])
def test_a_name_follows_the_grammar(g, name):
    with pytest.raises(InvalidArgumentError, match="must be lower case"):
        g.input(name)
    with pytest.raises(InvalidArgumentError, match="must be lower case"):
        g.side_packet(name)
    assert g.to_config().ByteSize() == 0


def test_streams_and_side_packets_may_have_the_same_name(g):
    assert g.input("a").name == g.side_packet("a").name


def test_a_graph_output_is_named_once(g):
    stream = g.node("HandOnCalculator", g.input("a")).output
    g.output(stream, "one")
    with pytest.raises(FailedPreconditionError, match="'one' was named so, and cannot be 'two' too"):
        g.output(stream, "two")
    g.output(stream)
    assert list(g.to_config().output_stream) == ["one", "one"]


def test_a_tag_of_the_graph_is_one(g):
    with pytest.raises(InvalidArgumentError, match="tag 'low' must be upper case"):
        g.input("a", tag="low")


def part(g, stream):
    """A subgraph as a function."""
    inner = g.node("HandOnCalculator", stream, name="first").output
    return g.node("HandOnCalculator", inner).output


def test_a_part_is_a_function_and_its_copies_have_prefixes(g):
    a = g.input("a")
    for side in ("left", "right"):
        with g.prefix(side):
            g.output(part(g, a), "seen")
    config = g.to_config()
    assert [node.name for node in config.node] == [
        "left__first",
        "left__HandOnCalculator",
        "right__first",
        "right__HandOnCalculator",
    ]
    assert [list(node.output_stream) for node in config.node] == [
        ["left__first"],
        ["left__seen"],
        ["right__first"],
        ["right__seen"],
    ]
    assert list(config.output_stream) == ["left__seen", "right__seen"]


def test_prefixes_add_up_and_end_with_their_block(g):
    with g.prefix("left"):
        with g.prefix("eye"):
            assert g.input("a").name == "left__eye__a"
        with pytest.raises(ZeroDivisionError), g.prefix("ear"):
            _ = 1 / 0
        assert g.side_packet("b").name == "left__b"
    assert g.input("c").name == "c"


def test_a_prefix_follows_the_grammar(g):
    with pytest.raises(InvalidArgumentError, match="prefix 'Left'"), g.prefix("Left"):
        pass
