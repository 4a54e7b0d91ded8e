"""Groups of a drawing as one box each, and graphs that are drawn from left to right."""

from __future__ import annotations

import re

import pytest

from penstock_views.draw import Drawing, DrawnNode, NodeKind, Port, closed, svg

GRAPH = Drawing(
    "g",
    (
        DrawnNode("camera", "Camera", outputs=(Port("VIDEO", "frame"),)),
        DrawnNode("face__find", "Find", inputs=(Port("", "frame"),), outputs=(Port("", "face__box"),)),
        DrawnNode(
            "face__mesh__run",
            "Run",
            inputs=(Port("", "frame"), Port("", "face__box"), Port("", "again", back_edge=True)),
            outputs=(Port("", "points"), Port("", "face__unread")),
            input_side_packets=(Port("MODEL", "model"),),
        ),
        DrawnNode("draw", "Draw", inputs=(Port("", "points"),), outputs=(Port("", "again"),)),
    ),
    outputs=(Port("", "points"),),
    input_side_packets=(Port("", "model"),),
)


def names(drawing):
    return [node.name for node in drawing.nodes]


def test_a_group_is_one_node_with_the_streams_that_enter_and_leave_it():
    found = closed(GRAPH)
    assert names(found) == ["camera", "face", "draw"]
    face = found.nodes[1]
    assert (face.kind, face.calculator) == (NodeKind.SUBGRAPH, "face")
    assert face.inputs == (Port("", "frame"), Port("", "again", back_edge=True))
    # what nobody reads is still seen to leave
    assert face.outputs == (Port("", "points"), Port("", "face__unread"))
    assert face.input_side_packets == (Port("", "model"),)


def test_an_error_stream_that_leaves_a_group_stays_one():
    one = DrawnNode("face__find", "Find", outputs=(Port("", "face__lost", is_error=True),))
    graph = Drawing("g", (one, DrawnNode("log", "Log", inputs=(Port("", "face__lost"),))))

    assert closed(graph).nodes[0].outputs == (Port("", "face__lost", is_error=True),)


def test_an_opened_group_shows_what_is_in_it_and_groups_inside_stay_closed():
    found = closed(GRAPH, ["face"])
    assert names(found) == ["camera", "face__find", "face__mesh", "draw"]
    assert found.nodes[2].label == "mesh"
    assert names(closed(GRAPH, ["face", "face__mesh"])) == names(GRAPH)


def test_a_group_in_a_closed_one_is_not_shown_and_unknown_names_do_nothing():
    assert names(closed(GRAPH, ["face__mesh", "nobody"])) == ["camera", "face", "draw"]


def test_closed_boxes_and_open_frames_say_which_group_they_are():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    found = svg(closed(GRAPH, ["face"]), marked=True)
    assert re.findall(r'data-group="([^"]*)"', found) == ["face", "face__mesh"]


def places(picture):
    """Return for each node the left upper corner of its box."""
    boxes = re.findall(r'data-node="(\w+)".*?<rect x="([\d.]+)" y="([\d.]+)"', picture, re.DOTALL)
    return {name: (float(x), float(y)) for name, x, y in boxes}


def test_a_graph_leads_downwards_or_from_left_to_right():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    plain = closed(GRAPH)
    down = places(svg(plain, marked=True))
    across = places(svg(plain, marked=True, across=True))
    assert down["camera"][1] < down["face"][1] < down["draw"][1]
    assert across["camera"][0] < across["face"][0] < across["draw"][0]
    assert abs(across["camera"][1] - across["face"][1]) < 40


def test_the_usual_picture_is_the_same_as_before():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    assert svg(GRAPH) == svg(GRAPH, across=False)
    assert "data-group" not in svg(GRAPH)
