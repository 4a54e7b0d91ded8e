"""Text in every state of typing: nothing fails, completion stays useful, and a key costs little."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from pygls.workspace import PositionCodec

from penstock.packs import default_registry
from penstock_editor import graph_text
from penstock_editor.completion import proposals
from penstock_editor.diagnosis import quick
from penstock_editor.graph_text import GraphText
from penstock_editor.hover import hover
from penstock_editor.knowledge import Knowledge
from penstock_editor.outline import folds, outline
from penstock_editor.positions import Positions

ROOT = Path(__file__).resolve().parents[3]

ALL = """\
# Everything that text format has. é
type: "All"
input_stream: ["a", 'TAG:b']  # a list
max_queue_size: 0x10;
node: <
  calculator: "GateCalculator"
  input_stream: "a" input_stream: "ALLOW:b"
  output_stream: "c"
  options { [ mediapipe . GateCalculatorOptions . ext ] { allow: true, initial_gate_state: GATE_ALLOW } }
>
% for (i : range(2)) %
node {
  name: % "pass" + i %
  calculator: "Pass" "ThroughCalculator"
  input_stream: "c"
  node_options { [type.googleapis.com/penstock.GateCalculatorOptions] {} }
}
% end %
executor { name: "e" type: "ThreadPoolExecutor" }
node [{ calculator: "PassThroughCalculator" executor: "e" }, {}]
"""
GRAPHS = {
    "all": ALL,
    **{
        path.name: path.read_text(encoding="utf-8")
        for path in sorted((ROOT / "plugins/cli/src/penstock_lint/rules/examples").glob("PS10*.bad.pbtxt"))[
            :4
        ]
    },
}


@pytest.fixture(scope="module")
def knowledge():
    return Knowledge(default_registry())


def every_name(graph):
    kinds = ("calculator", "stream", "side packet", "executor")
    return [one for kind in kinds for name in graph.named(kind) for one in graph.places(kind, name)]


def everything(graph, offset, knowledge):
    """Ask for all that an editor may ask for."""
    places = Positions(graph, PositionCodec())
    quick(graph, knowledge)
    hover(graph, offset, knowledge)
    outline(graph, places)
    folds(graph, places)
    assert places.offset(places.position(offset)) == offset
    return [one.label for one in proposals(graph, offset, knowledge)]


@pytest.mark.parametrize("name", GRAPHS)
def test_text_that_is_cut_at_each_character_is_answered(name, knowledge):
    text, graph = GRAPHS[name], None

    for end in range(len(text) + 1):
        graph = GraphText(text[:end], graph)
        everything(graph, end, knowledge)


def test_text_of_which_pieces_are_missing_is_answered(knowledge):
    chance = random.Random(5)  # noqa: S311  # not for secrets
    for _ in range(300):
        text = chance.choice(list(GRAPHS.values()))
        start = chance.randrange(len(text))
        broken = (
            text[:start]
            + chance.choice(["", '"', "{", "}", "[", "%", ":", "#"])
            + text[start + chance.randrange(9) :]
        )

        everything(GraphText(broken), min(start, len(broken)), knowledge)


@pytest.mark.parametrize("name", [name for name in GRAPHS if name != "all"])
def test_each_name_is_proposed_from_its_first_letter_on_while_the_text_behind_is_missing(name, knowledge):
    text = GRAPHS[name]
    whole = GraphText(text)
    missing, asked = [], 0
    for one in every_name(whole):
        made_before = any(
            other.is_origin and other.end < one.start for other in whole.places(one.kind, one.name)
        )
        if (one.kind == "calculator" and knowledge.is_known(one.name, "")) or (
            not one.is_origin and made_before
        ):
            for end in range(one.start, one.end + 1):
                asked += 1
                found = proposals(GraphText(text[:end]), end, knowledge)
                if one.name not in [each.label for each in found]:
                    missing.append((one.name, end))

    assert asked > 3
    assert missing == []


def test_an_open_bracket_leaves_the_other_nodes_alone(knowledge):
    broken = 'node {\n  calculator: "A"\n  options { [x.\n'
    text = broken + 'node {\n  calculator: "GateCalculator"\n  input_stream: "\n'

    found = everything(GraphText(text), text.rindex('"') + 1, knowledge)

    assert "ALLOW:" in found


def large(count=5000):
    nodes = (
        'node {\n  calculator: "PassThroughCalculator"\n'
        f'  input_stream: "s{i}"\n  output_stream: "s{i + 1}"\n}}\n'
        for i in range(count)
    )
    return f'input_stream: "s0"\noutput_stream: "s{count}"\n' + "".join(nodes)


def test_a_key_costs_the_reading_of_one_node(monkeypatch):
    text = large(50)
    graph = GraphText(text)
    read = []
    original = graph_text.Part
    monkeypatch.setattr(graph_text, "Part", lambda piece, tree: read.append(piece) or original(piece, tree))

    after = GraphText(text.replace('"s7"\n  output', '"s77"\n  output'), graph)

    assert len(read) == 1
    assert '"s77"' in read[0]
    assert after.places("stream", "s77")[0].start == text.index('"s7"\n  output') + 1


@pytest.mark.timing
def test_5000_nodes_have_diagnostics_within_300_ms_of_a_key(started):
    text = large()
    client = started()
    uri = client.open(text)
    client.diagnostics()
    line = 2 + 2500 * 5 + 1  # of the calculator of a node in the middle
    taken = []
    for written, old, is_wrong in (("Throu", "Through", True), ("Through", "Throu", False)) * 3:
        column = len('  calculator: "Pass')
        before = time.perf_counter()
        client.replace(uri, line, column, column + len(old), written)
        client.diagnostics(lambda found, is_wrong=is_wrong: bool(found) == is_wrong)
        taken.append(time.perf_counter() - before)

    assert max(taken) < 0.3, taken


def test_a_node_that_begins_a_line_inside_of_a_message_is_no_mistake():
    text = 'node {\n  calculator: "A"\n  options { [a.b.ext] {\nnode { name: "inner" }\n} }\n}\n'

    assert GraphText(text).mistakes == []
    broken = GraphText(text.replace("} }", "}")).mistakes
    assert "this bracket is never closed" in [one.words for one in broken]
