"""Mermaid, DOT and SVG of the same drawings, among them such as no checked graph would give."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import UnavailableError
from penstock_views.draw import Drawing, DrawnNode, NodeKind, Port, dot, mermaid, svg
from penstock_views.draw.markup import shortened, text_width

NAMESPACE = "{http://www.w3.org/2000/svg}"


def ports(*entries):
    """Return ports: "TAG:name", "!" before one for a back edge."""
    split = [entry.lstrip("!").rpartition(":") for entry in entries]
    return tuple(Port(tag, name, e.startswith("!")) for e, (tag, _, name) in zip(entries, split, strict=True))


#: One of each thing.
EVERYTHING = Drawing(
    name="all.pbtxt",
    nodes=(
        DrawnNode(
            "Limiter",
            "Limiter",
            inputs=ports("video", "!FINISHED:found"),
            outputs=ports("some", "ALLOW:allow"),
            input_side_packets=ports("MAX:max"),
        ),
        DrawnNode(
            "face__detect",
            "Detector",
            NodeKind.UNKNOWN,
            "gpu",
            inputs=ports("IMAGE:some"),
            outputs=ports("OUT:found"),
            input_side_packets=ports("model", "given"),
        ),
        DrawnNode("face__load", "Loader", output_side_packets=ports("model")),
        DrawnNode("face__deep__x", "Inner", NodeKind.SUBGRAPH, inputs=ports("some", "nobody")),
    ),
    inputs=ports("VIDEO:video"),
    outputs=ports("FOUND:found"),
    input_side_packets=ports("max"),
    executors=(("gpu", "GpuExecutor"),),
    titles={"face": "FaceSubgraph"},
)

_WORDS = st.text(min_size=1, max_size=30)
_NAMES = st.sampled_from(["a", "b", "c", "d", "e__f", 'x"&<>\\']) | _WORDS
_PORTS = st.lists(
    st.builds(Port, st.sampled_from(["", "TAG", "A_VERY_LONG_TAG:17"]) | _WORDS, _NAMES, st.booleans()),
    max_size=4,
).map(tuple)
_NODES = st.builds(
    DrawnNode,
    st.sampled_from(["n", "left__n", "left__deep__n", "right__n"]) | _WORDS,
    _WORDS,
    st.sampled_from(NodeKind),
    st.sampled_from(["", "gpu"]),
    inputs=_PORTS,
    outputs=_PORTS,
    input_side_packets=_PORTS,
    output_side_packets=_PORTS,
)
#: Drawings of graphs that no checker has seen.
DRAWINGS = st.builds(
    Drawing,
    _WORDS | st.just(""),
    st.lists(_NODES, max_size=6).map(tuple),
    inputs=_PORTS,
    outputs=_PORTS,
    input_side_packets=_PORTS,
    output_side_packets=_PORTS,
)


# --- text -----------------------------------------------------------------------------------------


def test_a_drawing_becomes_mermaid() -> None:
    assert mermaid(EVERYTHING).splitlines() == [
        "flowchart TB",
        '  in0(["VIDEO:video"])',
        '  side_in0[/"max"/]',
        '  out0(["FOUND:found"])',
        '  n0["Limiter"]',
        '  subgraph group0["face (FaceSubgraph)"]',
        '    n1["detect<br/>Detector<br/>on gpu"]',
        '    n2["load<br/>Loader"]',
        '    subgraph group1["deep"]',
        '      n3[["x<br/>Inner"]]',
        "    end",
        "  end",
        '  in0 -- "video" --> n0',
        '  n0 -- "IMAGE:some" --> n1',
        '  n0 -- "some" --> n3',
        '  n0 -- "ALLOW:allow" --> unread2((" "))',
        '  n1 == "FINISHED:found" ==> n0',
        '  n1 -- "FOUND:found" --> out0',
        '  missing4(("?"))',
        '  missing4 -- "nobody" --> n3',
        '  side_in0 -. "MAX:max" .-> n0',
        '  n2 -. "model" .-> n1',
        '  given7[/"given"/]',
        '  given7 -. "given" .-> n1',
        "  classDef unknown stroke-dasharray: 4 3",
        "  class n1 unknown",
    ]


def test_marks_of_mermaid_inside_of_names_are_escaped() -> None:
    drawn = Drawing("", (DrawnNode('a"b#<br/>', "c\nd"),))

    assert '  n0["a#quot;b#35;#lt;br/#gt;<br/>c d"]' in mermaid(drawn).splitlines()


def test_a_drawing_becomes_dot() -> None:
    lines = dot(EVERYTHING).splitlines()

    assert lines[0] == 'digraph "all.pbtxt" {'
    assert '    n1 [label="detect\\nDetector\\non gpu", style=dashed]' in lines
    assert '      n3 [label="x\\nInner", peripheries=2]' in lines
    assert '    label="face (FaceSubgraph)"' in lines
    assert '  n1 -> n0 [label="FINISHED:found", style=bold, constraint=false]' in lines
    assert '  n2 -> n1 [label="model", style=dashed]' in lines
    assert '  missing4 [label="?", shape=circle]' in lines
    assert '  given7 [label="given", style="rounded,dashed"]' in lines
    assert '  n0 -> unread2 [label="ALLOW:allow", arrowhead=none]' in lines
    assert lines[-1] == "}"


@settings(max_examples=40, deadline=None)
@given(DRAWINGS)
def test_any_drawing_becomes_text_with_a_line_for_each_connection(drawn) -> None:
    connections = sum(len(wire.readers) for wire in drawn.wires())

    for text, arrow in (
        (mermaid(drawn), r"^  \w+ (--|==|-\.) \".*\" (-->|==>|\.->) \w+$"),
        (dot(drawn), r"^  \w+ -> \w+ "),
    ):
        lines = text.split("\n")  # not splitlines(): names may hold what that takes for ends of lines
        arrows = [line for line in lines if re.match(arrow, line) and not re.match(r"  \w+ -> unread", line)]
        assert len(arrows) == connections
        assert text.endswith("\n")


@settings(max_examples=25, deadline=None)
@given(DRAWINGS)
def test_graphviz_reads_the_dot_of_any_drawing(drawn) -> None:
    graphviz = pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    if any("\0" in line for line in dot(drawn)):
        return  # no text of Graphviz may have it, and no name of a graph can

    read = graphviz.AGraph(string=dot(drawn))

    assert {f"n{i}" for i in range(len(drawn.nodes))} <= set(read.nodes())


def test_the_program_dot_reads_dot() -> None:
    program = shutil.which("dot")
    if program is None:
        pytest.skip("Graphviz's program dot is not installed")

    done = subprocess.run(
        [program, "-Tplain"], input=dot(EVERYTHING), capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert len(re.findall(r"^edge ", done.stdout, re.MULTILINE)) == 10


# --- SVG ------------------------------------------------------------------------------------------


@pytest.fixture
def _library():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")


def drawn_svg(drawn):
    """Return the root of a picture."""
    return ET.fromstring(svg(drawn))  # noqa: S314  # just written


def with_class(root, name):
    return [element for element in root.iter() if name in element.get("class", "").split()]


def rectangle(element):
    """Return left, top, right, bottom of the first rectangle of a group."""
    found = element if element.tag == f"{NAMESPACE}rect" else element.find(f"{NAMESPACE}rect")
    x, y, width, height = (float(found.get(key)) for key in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def texts(element):
    return [one.text for one in element.iter(f"{NAMESPACE}text")]


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def titled(root, kind, first_line):
    """Return the group of a class whose tooltip begins so."""
    (found,) = (
        one
        for one in with_class(root, kind)
        if one.find(f"{NAMESPACE}title").text.split("\n")[0] == first_line
    )
    return found


@pytest.mark.usefixtures("_library")
def test_each_node_is_in_the_drawing_with_its_ports_and_names() -> None:
    root = drawn_svg(EVERYTHING)

    assert [texts(node) for node in with_class(root, "pk-node")] == [
        ["FINISHED", "MAX", "Limiter", "ALLOW"],
        ["IMAGE", "detect", "Detector", "on gpu", "OUT"],
        ["load", "Loader"],
        ["x", "Inner"],
    ]
    assert "pk-unknown" in ET.tostring(titled(root, "pk-node", "face__detect"), encoding="unicode")
    detect = titled(root, "pk-node", "face__detect").find(f"{NAMESPACE}title").text
    assert detect.splitlines() == [
        "face__detect",
        "Detector: not installed",
        "executor gpu",
        "in IMAGE:some",
        "side in model",
        "side in given",
        "out OUT:found",
    ]


@pytest.mark.usefixtures("_library")
def test_each_stream_is_named_once() -> None:
    root = drawn_svg(EVERYTHING)

    names = [text for label in with_class(root, "pk-label") for text in texts(label)]
    pills = [text for label in with_class(root, "pk-graph-port") for text in texts(label)]
    assert sorted(names) == ["allow", "found", "model", "some"]
    assert sorted(pills) == ["? nobody", "FOUND:found", "VIDEO:video", "given", "max"]


def boxes(root):
    """Return everything that must not overlap: nodes, graph ports, and the middle of each stream's name."""
    found = [rectangle(one) for kind in ("pk-node", "pk-graph-port") for one in with_class(root, kind)]
    for label in with_class(root, "pk-label"):
        text = label.find(f"{NAMESPACE}text")
        x, y, half = float(text.get("x")), float(text.get("y")), text_width(text.text, 10.5) / 2
        found.append((x - half, y - 9, x + half, y + 2))
    return found


def assert_well_laid_out(root) -> None:
    found = boxes(root)
    _, _, width, height = (float(one) for one in root.get("viewBox").split())
    (content,) = (group for group in root.iter(f"{NAMESPACE}g") if group.get("transform"))
    right, down = map(float, re.findall(r"[-\d.]+", content.get("transform")))
    for i, one in enumerate(found):
        assert one[0] + right >= 0
        assert one[1] + down >= 0
        assert one[2] + right <= width
        assert one[3] + down <= height
        assert not [other for other in found[:i] if overlap(one, other)]


@pytest.mark.usefixtures("_library")
def test_nothing_overlaps_and_all_of_it_is_on_the_page() -> None:
    assert_well_laid_out(drawn_svg(EVERYTHING))


def many_nodes(count):
    nodes = [
        DrawnNode(
            f"node_{i}",
            "SomeCalculator",
            inputs=tuple(Port(f"IN:{k}", f"s{max(0, i - k * k)}") for k in range(1 + i % 3)),
            outputs=ports(f"s{i + 1}", f"EXTRA:x{i}"),
        )
        for i in range(count)
    ]
    return Drawing("many", tuple(nodes), inputs=ports("s0"))


@pytest.mark.usefixtures("_library")
def test_nothing_overlaps_among_sixty_nodes() -> None:
    root = drawn_svg(many_nodes(60))

    assert len(with_class(root, "pk-node")) == 60
    assert_well_laid_out(root)


def path_ends(edge):
    """Return where the line of an edge begins and ends, its arrow included."""
    points = [
        tuple(map(float, pair))
        for pair in re.findall(r"([-\d.]+) ([-\d.]+)", edge.find(f"{NAMESPACE}path").get("d"))
    ]
    tip = edge.find(f"{NAMESPACE}polygon")
    end = points[-1] if tip is None else tuple(map(float, tip.get("points").split()[0].split(",")))
    return points[0], end


def distance_to_border(point, box):
    """Return how far a point is from the border of a box."""
    (x, y), (left, top, right, bottom) = point, box
    outside = max(left - x, x - right, top - y, y - bottom)
    return outside if outside > 0 else min(x - left, right - x, y - top, bottom - y)


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize("drawn", [EVERYTHING, many_nodes(12)], ids=["everything", "many"])
def test_lines_begin_and_end_at_borders(drawn) -> None:
    root = drawn_svg(drawn)
    borders = boxes(root)

    edges = with_class(root, "pk-edge")
    assert len(edges) == sum(
        len(wire.readers) + (wire.writer is not None and wire.writer.node >= 0) for wire in drawn.wires()
    )
    for edge in edges:
        for point in path_ends(edge):
            assert min(distance_to_border(point, box) for box in borders) < 8, edge.find(
                f"{NAMESPACE}title"
            ).text


@pytest.mark.usefixtures("_library")
@pytest.mark.parametrize(
    ("line", "tag", "class_"),
    [("found, a back edge", "FINISHED", "pk-back"), ("max", "MAX", "pk-side"), ("allow", "ALLOW", "pk-line")],
)
def test_a_line_meets_the_port_that_it_belongs_to(line, tag, class_) -> None:
    root = drawn_svg(EVERYTHING)
    limiter = titled(root, "pk-node", "Limiter")
    (port,) = (text for text in limiter.iter(f"{NAMESPACE}text") if text.text == tag)
    (edge,) = (one for one in with_class(root, "pk-edge") if one.find(f"{NAMESPACE}title").text == line)

    begin, end = path_ends(edge)
    _, top, _, bottom = rectangle(limiter)

    x, y, border = (*begin, bottom) if tag == "ALLOW" else (*end, top)
    assert x == pytest.approx(float(port.get("x")), abs=2)
    assert y == pytest.approx(border, abs=2)
    assert class_ in edge.find(f"{NAMESPACE}path").get("class").split()


WITH_ERRORS = Drawing(
    "",
    (
        DrawnNode("model", "N", outputs=(Port("OUT", "found"), Port("", "lost", is_error=True))),
        DrawnNode("log", "N", inputs=ports("lost")),
    ),
)


@pytest.mark.usefixtures("_library")
def test_an_error_stream_has_lines_of_its_own_look() -> None:
    root = drawn_svg(WITH_ERRORS)

    lines = {
        edge.find(f"{NAMESPACE}path").get("class"): edge.find(f"{NAMESPACE}title").text
        for edge in with_class(root, "pk-edge")
    }
    assert lines == {"pk-line": "found", "pk-line pk-error": "lost"}
    assert [one.text for one in with_class(root, "pk-error") if one.text] == ["lost"]
    assert titled(root, "pk-label", "error stream 'lost'") is not None
    assert "errors out lost" in titled(root, "pk-node", "model").find(f"{NAMESPACE}title").text


def test_an_error_stream_is_dotted_in_dot() -> None:
    lines = dot(WITH_ERRORS).splitlines()

    assert '  n0 -> n1 [label="lost", style=dotted]' in lines
    assert '  n0 -> unread0 [label="OUT:found", arrowhead=none]' in lines


@pytest.mark.usefixtures("_library")
def test_a_back_edge_does_not_turn_the_drawing_upside_down() -> None:
    last = DrawnNode("last", "N", inputs=ports("x"), outputs=ports("found"))
    first = DrawnNode("first", "N", inputs=ports("!found"), outputs=ports("x"))

    root = drawn_svg(Drawing("", (last, first)))

    above, below = (rectangle(titled(root, "pk-node", name)) for name in ("first", "last"))
    assert above[3] < below[1]


@pytest.mark.usefixtures("_library")
def test_streams_lead_downwards_and_back_edges_upwards() -> None:
    root = drawn_svg(EVERYTHING)
    ups = {}
    for edge in with_class(root, "pk-edge"):
        (_, start), (_, end) = path_ends(edge)
        ups.setdefault(end < start, []).append(edge.find(f"{NAMESPACE}title").text)

    assert ups[True] == ["found, a back edge"]


@pytest.mark.usefixtures("_library")
def test_groups_are_frames_around_their_nodes() -> None:
    root = drawn_svg(EVERYTHING)
    face = rectangle(titled(root, "pk-group", "group 'face (FaceSubgraph)'"))
    deep = rectangle(titled(root, "pk-group", "group 'deep'"))

    def is_inside(inner, outer):
        return outer[0] < inner[0] and outer[1] < inner[1] and inner[2] < outer[2] and inner[3] < outer[3]

    nodes = {
        name: rectangle(titled(root, "pk-node", name)) for name in ("face__load", "face__deep__x", "Limiter")
    }
    assert is_inside(deep, face)
    assert is_inside(nodes["face__load"], face)
    assert not overlap(nodes["face__load"], deep)
    assert is_inside(nodes["face__deep__x"], deep)
    assert not overlap(nodes["Limiter"], face)


@pytest.mark.usefixtures("_library")
def test_ports_are_side_by_side_inside_of_their_node() -> None:
    tags = tuple(Port(f"A_LONG_TAG_{i}", f"s{i}") for i in range(5))
    root = drawn_svg(Drawing("", (DrawnNode("n", "n", inputs=tags, outputs=tags),)))

    (node,) = with_class(root, "pk-node")
    left, _, right, _ = rectangle(node)
    for row in (with_class(node, "pk-port")[:5], with_class(node, "pk-port")[5:]):
        spans = [(float(t.get("x")), text_width(t.text, 9) / 2) for t in row]
        assert left < spans[0][0] - spans[0][1]
        assert spans[-1][0] + spans[-1][1] < right
        assert all(x + half < other - more for (x, half), (other, more) in pairwise(spans))


@pytest.mark.usefixtures("_library")
def test_equal_drawings_give_equal_svg() -> None:
    assert svg(EVERYTHING) == svg(EVERYTHING)


@pytest.mark.usefixtures("_library")
def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    root = drawn_svg(Drawing("a\x00b", (DrawnNode("bell\x07", "<&>"),)))

    (node,) = with_class(root, "pk-node")
    assert texts(node) == ["bell\N{REPLACEMENT CHARACTER}", "<&>"]
    assert root.get("aria-label") == "graph a\N{REPLACEMENT CHARACTER}b: 1 nodes"


@pytest.mark.usefixtures("_library")
def test_long_names_are_shortened_and_have_a_title_in_full() -> None:
    long = "AnExceedinglyLongNameOfACalculatorThatNobodyWouldEverWantToReadInABoxOnAPage"
    root = drawn_svg(Drawing("", (DrawnNode(long, long),)))

    (node,) = with_class(root, "pk-node")
    left, _, right, _ = rectangle(node)
    assert right - left < 300
    assert "…" in texts(node)[0]
    assert node.find(f"{NAMESPACE}title").text == long


@pytest.mark.usefixtures("_library")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DRAWINGS)
def test_any_drawing_becomes_a_well_laid_out_svg(drawn) -> None:
    root = drawn_svg(drawn)

    assert len(with_class(root, "pk-node")) == len(drawn.nodes)
    assert_well_laid_out(root)


def test_without_the_library_the_error_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pygraphviz", None)

    with pytest.raises(
        UnavailableError, match=r'which is not there .*; pip install "penstock-views\[draw\]"'
    ):
        svg(EVERYTHING)


# --- words in pictures ----------------------------------------------------------------------------


@given(st.text(max_size=60), st.floats(30, 300))
def test_shortened_words_fit(text, widest) -> None:
    short = shortened(text, 12, widest)

    assert text_width(short, 12) <= widest
    assert "…" in short or len(short) == len(text)


def test_both_ends_of_a_long_name_are_kept() -> None:
    assert shortened("left__color_convert_gray_out", 10, 110) == "left__col…_gray_out"


def test_long_names_are_shortened_soon() -> None:
    started = time.process_time()

    short = shortened("ab" * 50_000, 9.0, 110.0)

    assert short.startswith("abab")
    assert "…" in short
    assert text_width(short, 9.0) <= 110.0
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize("text", ["i" * 500, "." * 500, "i" * 40 + "W" * 40, "W" * 500])
def test_shortened_names_are_as_long_as_they_can_be(text) -> None:
    short = shortened(text, 9.0, 110.0)
    head, tail = short.split("…")
    longer = f"{text[: len(head) + 1]}…{text[len(text) - len(tail) :]}"

    assert text_width(short, 9.0) <= 110.0
    assert text_width(longer, 9.0) > 110.0


def test_groups_with_short_names_are_drawn_without_warnings(capfd) -> None:
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")

    svg(Drawing("", tuple(DrawnNode(name, "A") for name in ("a__b", "__c", "a__i__d"))))

    assert capfd.readouterr().err == ""


def test_backticks_are_no_markdown_in_mermaid() -> None:
    assert 'n0["#96;x#96;"]' in mermaid(Drawing("", (DrawnNode("`x`", "`x`"),)))


def _parsed(picture):
    return ET.fromstring(picture)  # noqa: S314  # our own picture


def marks(picture, attribute):
    """Return class and value of each element with an attribute, in their order."""
    found = [(element.get("class"), element.get(attribute)) for element in _parsed(picture).iter()]
    return [(kind, value) for kind, value in found if value is not None]


def test_a_marked_picture_names_its_nodes_and_streams_and_no_side_packet():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    picture = svg(EVERYTHING, marked=True)

    assert [name for _, name in marks(picture, "data-node")] == [node.name for node in EVERYTHING.nodes]
    streams = marks(picture, "data-stream")
    assert [name for kind, name in streams if kind == "pk-label"] == ["some", "allow", "found"]
    assert [name for kind, name in streams if kind == "pk-graph-port"] == ["video", "found", "nobody"]
    assert {name for kind, name in streams if kind == "pk-edge"} == {
        "video",
        "some",
        "found",
        "allow",
        "nobody",
    }
    assert [name for _, name in marks(picture, "data-writer")] == ["Limiter", "Limiter", "face__detect"]
    assert "face__detect" in [name for _, name in marks(picture, "data-reader")]
    assert "data-" not in svg(EVERYTHING)


def test_notes_of_streams_are_lines_under_their_names_once_for_each():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    noted = evolve(
        EVERYTHING, stream_notes={"video": ("30/s",), "found": ("1/s", "0 of 100"), "max": ("no",)}
    )
    picture = svg(noted, marked=True)

    root = _parsed(picture)
    groups = [one for one in root.iter(f"{NAMESPACE}g") if one.get("data-stream") in {"video", "found"}]
    said = {
        (group.get("class"), group.get("data-stream")): [
            text.text for text in group.iter(f"{NAMESPACE}text") if text.get("class") == "pk-small pk-note"
        ]
        for group in groups
        if group.get("class") != "pk-edge"
    }
    assert said == {
        ("pk-graph-port", "video"): ["30/s"],
        ("pk-label", "found"): ["1/s", "0 of 100"],
        ("pk-graph-port", "found"): [],
    }
    assert ">no<" not in picture
    assert len(picture) > len(svg(EVERYTHING, marked=True))


def test_notes_of_a_node_are_told_apart_from_its_calculator():
    pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
    noted = evolve(EVERYTHING, nodes=(evolve(EVERYTHING.nodes[1], notes=("5 ms", "2 calls")),))
    root = _parsed(svg(noted))
    lines = [
        (text.text, text.get("class"))
        for text in root.iter(f"{NAMESPACE}text")
        if text.get("class", "").startswith("pk-small")
    ]
    assert lines == [
        ("Detector", "pk-small"),
        ("on gpu", "pk-small"),
        ("5 ms", "pk-small pk-note"),
        ("2 calls", "pk-small pk-note"),
    ]
