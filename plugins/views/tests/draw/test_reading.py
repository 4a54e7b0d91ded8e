from __future__ import annotations

from pathlib import Path

import pytest

import penstock_builder as builder
from penstock import Calculator, CalculatorGraph
from penstock.errors import GraphConfigError, GraphParseError, NotFoundError
from penstock_testing import testing_registry
from penstock_views.draw import DrawnNode, End, NodeKind, Port, Wire, drawing

INNER = """
type: "Inner"
input_stream: "IN:x"
output_stream: "OUT:y"
node { calculator: "Hands" input_stream: "x" output_stream: "between" }
node { name: "second" calculator: "Hands" input_stream: "between" output_stream: "y" }
"""
OUTER = """
input_stream: "VIDEO:a"
output_stream: "b"
output_stream: "c"
input_side_packet: "SIZE:size"
executor { name: "slow" type: "SomePool" }
node { calculator: "Hands" input_stream: "a" output_stream: "b" executor: "slow" }
node { calculator: "Hands" name: "late" input_stream: "b" input_stream: "LOOP:1:c" input_side_packet: "size"
  input_stream_info { tag_index: "LOOP:1" back_edge: true } }
node { calculator: "Hands" input_stream: "nobody" input_side_packet: "given" output_stream: "c" }
"""


class Hands(Calculator):
    """Does nothing; it is only drawn."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()

    def process(self, cc) -> None:
        """Takes what comes."""


@pytest.fixture
def registry():
    found = testing_registry(Hands)
    found.add("subgraph", "Inner", _Text(INNER))
    return found


class _Text:
    def __init__(self, text) -> None:
        self._text = text

    def to_config(self):
        return self._text


def test_an_error_stream_is_an_output_of_its_node(registry) -> None:
    text = """
    input_stream: "a"
    node { calculator: "Hands" input_stream: "a" output_stream: "B:b"
      failure { on_error: SKIP error_stream: "lost" } }
    node { calculator: "Hands" input_stream: "lost" }
    """

    found = drawing(text, registry)

    assert found.nodes[0].outputs == (Port("B", "b"), Port("", "lost", is_error=True))
    [wire] = [one for one in found.wires() if one.name == "lost"]
    assert wire.is_error
    assert wire == Wire("lost", False, End(0, 1, "lost", is_error=True), (End(1, 0, "lost"),))
    assert [one.name for one in found.wires() if one.is_error] == ["lost"]


def test_a_graph_is_drawn_unchanged(registry) -> None:
    drawn = drawing(OUTER, registry)

    assert [node.name for node in drawn.nodes] == ["Hands_1", "late", "Hands_2"]
    assert drawn.nodes[0] == DrawnNode(
        "Hands_1", "Hands", executor="slow", inputs=(Port("", "a"),), outputs=(Port("", "b"),)
    )
    assert drawn.nodes[1].inputs == (Port("", "b"), Port("LOOP:1", "c", back_edge=True))
    assert drawn.inputs == (Port("VIDEO", "a"),)
    assert drawn.executors == (("slow", "SomePool"),)
    assert drawn.notes == ()


def test_wires_name_their_writer_and_their_readers(registry) -> None:
    wires = drawing(OUTER, registry).wires()

    assert wires == [
        Wire("a", False, End(-1, 0, "VIDEO:a"), (End(0, 0, "a"),)),
        Wire("b", False, End(0, 0, "b"), (End(1, 0, "b"), End(-1, 0, "b"))),
        Wire("c", False, End(2, 0, "c"), (End(1, 1, "LOOP:1:c", back_edge=True), End(-1, 1, "c"))),
        Wire("nobody", False, None, (End(2, 0, "nobody"),)),
        Wire("size", True, End(-1, 0, "SIZE:size"), (End(1, 0, "size"),)),
        Wire("given", True, None, (End(2, 0, "given"),)),
    ]


@pytest.mark.parametrize(
    ("inputs", "info", "marked"),
    [
        (["a", "b"], ":1", [False, True]),
        (["a", "b"], "", [True, False]),
        (["T:a", "T:b"], "T:1", [False, True]),
        (["T:1:a", "T:0:b"], "T", [False, True]),
        (["T:a", "b"], "T", [True, False]),
    ],
)
def test_back_edges_are_found_by_tag_and_index(registry, inputs, info, marked) -> None:
    entries = " ".join(f'input_stream: "{entry}"' for entry in inputs)
    marks = f'input_stream_info {{ tag_index: "{info}" back_edge: true }}'
    text = f'node {{ calculator: "Hands" {entries} {marks} }}'

    assert [port.back_edge for port in drawing(text, registry).nodes[0].inputs] == marked


USES = """
input_stream: "a"
node { calculator: "Inner" input_stream: "IN:a" output_stream: "OUT:b" }
node { calculator: "Nowhere" input_stream: "b" }
"""


def test_nodes_have_their_kinds(registry) -> None:
    kinds = [node.kind for node in drawing(USES, registry).nodes]

    assert kinds == [NodeKind.SUBGRAPH, NodeKind.UNKNOWN]


def test_subgraphs_are_opened_and_their_nodes_grouped(registry) -> None:
    drawn = drawing(USES, registry, expand=True)

    assert [node.name for node in drawn.nodes] == ["Nowhere", "inner__Hands", "inner__second"]
    assert [node.groups for node in drawn.nodes] == [(), ("inner",), ("inner",)]
    assert [node.lines for node in drawn.nodes] == [("Nowhere",), ("Hands",), ("second", "Hands")]
    assert drawn.group_title(("inner",)) == "Inner"


def test_a_group_says_which_subgraph_it_is_a_use_of(registry) -> None:
    drawn = drawing(USES.replace('"Inner"', '"Inner" name: "eyes"'), registry, expand=True)

    assert drawn.group_title(("eyes",)) == "eyes (Inner)"


def test_a_subgraph_that_cannot_be_opened_is_drawn_and_noted(registry) -> None:
    drawn = drawing(USES.replace("IN:a", "WRONG:a"), registry, expand=True)

    (note,) = drawn.notes
    assert "input 'WRONG' of the subgraph: it has no such port" in note
    assert "inner__second" in [node.name for node in drawn.nodes]


def test_a_checked_graph_is_drawn_with_its_subgraphs_opened(registry) -> None:
    graph = CalculatorGraph(USES.replace("Nowhere", "Hands"), registry=registry)

    assert [node.groups for node in drawing(graph).nodes] == [("inner",), ("inner",), ()]


def test_a_graph_of_the_builder_is_drawn(registry) -> None:
    g = builder.Graph(registry)
    g.output(g.node("Hands", g.input("a"), outputs={0: "b"}).output)

    assert [wire.name for wire in drawing(g, registry).wires()] == ["a", "b"]


OPTIONS = """
# options { in a comment }
node { calculator: "Hands" name: "options { in a string }" input_stream: "a"
  node_options: { [type.googleapis.com/nobody.Has] { inner { text: "}" } } }
  options { [nobody.Has.ext] < x: 1 > }
  input_stream_handler { input_stream_handler: "Some" options { [nobody.Has.ext] { } } }
  node_options: [ { [type.googleapis.com/nobody.Has] { } }, { [type.googleapis.com/nobody.Has] { } } ]
  output_stream: "b" }
executor { name: "e" options { [nobody.Has.ext] { } } }
"""
JSON = {
    "node": [
        {
            "calculator": "Hands",
            "name": "options { in a string }",
            "inputStream": ["a"],
            "output_stream": ["b"],
            "nodeOptions": [{"@type": "type.googleapis.com/nobody.Has", "x": 1}],
            "options": {"[nobody.Has.ext]": {}},
        }
    ],
    "executor": [{"name": "e", "options": {"[nobody.Has.ext]": {}}}],
}


@pytest.mark.parametrize("source", [OPTIONS, JSON])
def test_unknown_options_are_left_out_and_noted(registry, source) -> None:
    drawn = drawing(source, registry)

    assert drawn.nodes == (
        DrawnNode("options { in a string }", "Hands", inputs=(Port("", "a"),), outputs=(Port("", "b"),)),
    )
    assert drawn.executors == (("e", ""),)
    assert len(drawn.notes) == (1 if source is JSON else 6)
    assert all(note.startswith("drawn without options: ") and "nobody.Has" in note for note in drawn.notes)


def test_without_its_options_no_subgraph_is_opened(registry) -> None:
    text = f"{USES} {OPTIONS}"

    drawn = drawing(text, registry, expand=True)

    assert drawn.nodes[0].kind is NodeKind.SUBGRAPH
    assert drawn.notes[-1] == "subgraphs are not expanded: they may depend on options"


@pytest.mark.parametrize("text", ["node {", "nodes { }", OPTIONS + "node {", 'node { options: 3 x: "'])
def test_a_thing_that_is_no_graph_is_refused(registry, text) -> None:
    with pytest.raises((GraphParseError, GraphConfigError), match=r"line \d+, column \d+: "):
        drawing(text, registry)


def test_a_file_is_named_and_a_missing_one_refused(registry, tmp_path) -> None:
    path = tmp_path / "some.pbtxt"
    path.write_text(OPTIONS, encoding="utf-8")

    assert drawing(path, registry).name == "some.pbtxt"
    assert str(path) in drawing(path, registry).notes[0]
    with pytest.raises(NotFoundError, match="there is no graph file"):
        drawing(Path("nowhere.pbtxt"), registry)


def test_a_graph_with_a_type_is_called_by_it(registry) -> None:
    assert drawing(INNER, registry).name == "Inner"


def test_a_binary_graph_with_unknown_options_is_drawn_without_them(registry, tmp_path) -> None:
    from google.protobuf.any_pb2 import Any  # as a file would hold it

    from penstock.config import CalculatorGraphConfig

    packed = Any(type_url="type.googleapis.com/nobody.Has", value=b"\x08\x01")
    node = CalculatorGraphConfig.Node(calculator="Hands", input_stream=["a"], node_options=[packed])
    path = tmp_path / "some.binarypb"
    path.write_bytes(CalculatorGraphConfig(node=[node]).SerializeToString())

    drawn = drawing(path, registry)

    assert drawn.nodes[0].inputs == (Port("", "a"),)
    assert len(drawn.notes) == 1
