"""What the words of a graph are."""

from __future__ import annotations

import random

import pytest
from pygls.workspace import PositionCodec

from penstock_editor.colours import encoded
from penstock_editor.forms import JSON, TEXT
from penstock_editor.graph_text import GraphText
from penstock_editor.positions import Positions

GRAPH = """\
# é 𝒳 a graph
input_stream: "IN:frames"  # of the camera
% param size : 3 %
node {
  calculator: "GateCalculator"
  input_stream: "ALLOW:frames"
  input_side_packet: "model"
  executor: "slow"
  max_in_flight: 4
  options { [penstock.GateCalculatorOptions.ext] { allow: true initial_gate_state: GATE_ALLOW } }
  name: % "gate" + size %
}
executor { name: "slow" type: "ThreadPoolExecutor" }
"""


def decoded(client, text, data):
    legend = client.capabilities["semanticTokensProvider"]["legend"]
    lines, line, column, found = text.split("\n"), 0, 0, []
    for step, move, length, kind, modifiers in zip(*(iter(data),) * 5, strict=True):
        column = column + move if step == 0 else move
        line += step
        units = lines[line].encode("utf-16-le")[2 * column : 2 * (column + length)]
        words = [one for bit, one in enumerate(legend["tokenModifiers"]) if modifiers >> bit & 1]
        found.append((units.decode("utf-16-le"), legend["tokenTypes"][kind], *words))
    return found


def test_each_word_has_its_kind(client):
    uri = client.open(GRAPH)

    data = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"]

    found = decoded(client, GRAPH, data)
    assert found[:5] == [
        ("# é 𝒳 a graph", "comment"),
        ("input_stream", "property"),
        ("IN", "parameter"),
        ("frames", "variable", "declaration"),
        ("# of the camera", "comment"),
    ]
    assert [one for one in found if one[1] != "property"][4:] == [
        ("% param size : 3 %", "macro"),
        ("GateCalculator", "class"),
        ("ALLOW", "parameter"),
        ("frames", "variable"),
        ("model", "variable", "readonly"),
        ("slow", "namespace"),
        ("4", "number"),
        ("[penstock.GateCalculatorOptions.ext]", "type"),
        ("true", "keyword"),
        ("GATE_ALLOW", "enumMember"),
        ('% "gate" + size %', "macro"),
        ("slow", "namespace", "declaration"),
        ('"ThreadPoolExecutor"', "string"),
    ]


def test_a_range_has_the_words_of_its_nodes(client):
    text = "".join(f'node {{\n  calculator: "C{i}"\n}}\n' for i in range(9))
    uri = client.open(text)
    part = {"start": {"line": 10, "character": 0}, "end": {"line": 11, "character": 0}}

    asked = {"textDocument": {"uri": uri}, "range": part}
    data = client.ask("textDocument/semanticTokens/range", asked)["data"]

    assert [one[0] for one in decoded(client, text, data) if one[1] == "class"] == ["C3"]


def test_broken_text_is_coloured_as_far_as_it_goes(client):
    text = 'node {\n  calculator: "Gate\n  input_stream: "a"\nnode {\n  calculator: "B"\n}\n'
    uri = client.open(text)

    data = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"]

    assert [one for one in decoded(client, text, data) if one[1] == "class"] == [
        ("Gate", "class"),
        ("B", "class"),
    ]


def test_names_in_json_and_in_python_are_coloured(client):
    text = 'GRAPH = """\nnode { calculator: "A" }\n"""\nx = """node { calculator: \\"B\\" }"""\n'
    uri = client.open(text, "file:///nowhere/colours/a.py")
    data = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": uri}})["data"]
    json = '{"node": [{"calculator": "A"}, {"calculator": "B"}]}'
    other = client.open(json, "file:///nowhere/colours/a.json")
    json_data = client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": other}})["data"]

    for found in (decoded(client, text, data), decoded(client, json, json_data)):
        assert [one[0] for one in found if one[1] == "class"] == ["A", "B"]


def test_the_places_of_a_name_are_marked(client):
    uri = client.open(GRAPH)

    found = client.ask("textDocument/documentHighlight", client.at(uri, GRAPH, '"ALLOW:fra'))

    assert [(one["range"]["start"]["line"], one["kind"]) for one in found] == [(1, 3), (5, 2)]


@pytest.mark.parametrize("form", [TEXT, JSON])
def test_parts_that_are_kept_are_coloured_as_if_they_were_read_again(form):
    chance = random.Random(3)  # noqa: S311  # not for secrets
    text = GRAPH + 'node {\n  calculator: "é𝒳"  # é\n}\n' * 3
    if form is JSON:
        text = '{"node": [{"calculator": "é𝒳"}, {"calculator": "B"},\n {\n"calculator": "C"}, {"name": "D"}]}'
    first = GraphText(text, None, form)
    encoded([(first, Positions(first, PositionCodec()))])
    for _ in range(150):
        start = chance.randrange(len(text))
        piece = chance.choice(["\n", " ", "é", '"', "{", "}", "node {\n", ""])
        changed = text[:start] + piece + text[start + chance.randrange(3) :]
        after = GraphText(changed, first, form)
        kept = encoded([(after, Positions(after, PositionCodec()))])
        new = GraphText(changed, None, form)

        assert kept == encoded([(new, Positions(new, PositionCodec()))])
