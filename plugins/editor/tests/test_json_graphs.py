"""JSON graphs in the editor: the same faults, completion and names as in graph text."""

from __future__ import annotations

import json
import time

import pytest

from penstock.packs import default_registry
from penstock_editor.completion import proposals
from penstock_editor.diagnosis import quick
from penstock_editor.forms import JSON
from penstock_editor.graph_text import GraphText
from penstock_editor.knowledge import Knowledge

GRAPH = """\
{
  "input_stream": ["frames"],
  "output_stream": ["kept"],
  "executor": [{"name": "slow", "type": "ThreadPoolExecutor"}],
  "node": [
    {
      "calculator": "GateCalculator",
      "input_stream": ["frames", "ALLOW:is_open"],
      "output_stream": ["kept"],
      "executor": "slow",
      "options": {"[penstock.GateCalculatorOptions.ext]": {"allow": true}}
    },
    {
      "calculator": "PassThroughCalculator",
      "input_stream": ["frames"],
      "output_stream": ["is_open"]
    }
  ],
  "num_threads": 2
}
"""
URI = "file:///nowhere/json/graph.json"


def texts_at(text, locations):
    lines = text.split("\n")
    return [lines[one["range"]["start"]["line"]].strip() for one in locations]


def test_a_good_graph_has_no_diagnostics(client):
    client.open(GRAPH, URI)

    assert client.diagnostics() == []


def test_faults_stand_where_they_are(client):
    text = GRAPH.replace('"GateCalculator"', '"GateCalcualtor"')
    uri = client.open(text, URI)

    [fault] = client.diagnostics(lambda found: found)

    assert fault["message"].startswith("node 'GateCalcualtor': no calculator 'GateCalcualtor' is registered")
    assert fault["range"]["start"] == {"line": 6, "character": 21}
    asked = {"textDocument": {"uri": uri}, "range": fault["range"], "context": {"diagnostics": [fault]}}
    [cure, *_] = client.ask("textDocument/codeAction", asked)
    assert cure["edit"]["changes"][uri] == [{"range": fault["range"], "newText": "GateCalculator"}]


def test_findings_of_rules_have_no_cures_in_graph_text(client):
    text = GRAPH.replace('"executor": "slow",\n', "\n")
    uri = client.open(text, URI)

    [idle] = client.diagnostics(lambda found: found)

    assert idle["code"] == "PS301"
    asked = {"textDocument": {"uri": uri}, "range": idle["range"], "context": {"diagnostics": [idle]}}
    assert client.ask("textDocument/codeAction", asked) == []


def test_a_mistake_of_the_text_has_its_place(client):
    client.open(
        GRAPH.replace('"output_stream": ["kept"],\n  "exec', '"output_stream": ["kept"]\n  "exec'), URI
    )

    found = client.diagnostics(lambda found: found)

    assert [(one["message"], one["range"]["start"]) for one in found] == [
        ("expecting ',' delimiter", {"line": 3, "character": 2})
    ]


def test_json_that_is_no_graph_is_left_alone(client):
    uri = client.open('{"name": "other", "version": ]', "file:///nowhere/json/package.json")

    assert client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}}) == []
    assert client.diagnostics() == []


def test_names_are_found_and_renamed(client):
    uri = client.open(GRAPH, URI)

    made = client.ask("textDocument/definition", client.at(uri, GRAPH, "ALLOW:is"))
    edit = client.ask("textDocument/rename", client.at(uri, GRAPH, "ALLOW:is", newName="may_pass"))
    symbols = client.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})

    assert texts_at(GRAPH, made) == ['"output_stream": ["is_open"]']
    assert [one["range"]["start"] for one in edit["changes"][uri]] == [
        {"line": 7, "character": 40},
        {"line": 15, "character": 25},
    ]
    assert [one["name"] for one in symbols] == [
        "frames",
        "kept",
        "slow",
        "GateCalculator",
        "PassThroughCalculator",
    ]


def test_an_option_is_explained(client):
    uri = client.open(GRAPH, URI)

    said = client.ask("textDocument/hover", client.at(uri, GRAPH, '{"allo'))["contents"]["value"]

    assert said.startswith("`allow`: bool, default false")


START = '{"input_stream": ["frames"], "node": ['
NODE = '{"calculator": "PassThroughCalculator", "output_stream": ["x"]}, '
GATE = START + NODE + '{"calculator": "GateCalculator", '


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (START + '{"', ["calculator", "input_stream"]),
        (START + "{", ["calculator"]),
        (START + '{"calculator": "Ga', ["GateCalculator"]),
        (GATE + '"input_stream": ["', ["ALLOW:", "frames", "x"]),
        (GATE + '"input_stream": ["frames", "ALLOW:', ["x"]),
        (GATE + '"options": {"', ["[penstock.GateCalculatorOptions.ext]"]),
        (GATE + '"options": {"[penstock.GateCalculatorOptions.ext]": {"', ["allow"]),
        (
            GATE + '"options": {"[penstock.GateCalculatorOptions.ext]": {"initial_gate_state": "',
            ["GATE_ALLOW"],
        ),
        (GATE + '"options": {"[penstock.GateCalculatorOptions.ext]": {"allow": ', ["true"]),
        (GATE + '"node_options": [{"', ["@type"]),
        (GATE + '"node_options": [{"@type": "', ["type.googleapis.com/penstock.GateCalculatorOptions"]),
        (
            GATE + '"node_options": [{"@type": "type.googleapis.com/penstock.GateCalculatorOptions", "',
            ["allow"],
        ),
        (START + NODE + '{"input_stream_handler": {"input_stream_handler": "', ["DefaultInputStreamHandler"]),
        (START + NODE[:-2] + '], "num', ["num_threads"]),
        ('{"inputStream": [], "node": [{"', ["inputStream"]),
    ],
)
def test_what_may_be_written_is_proposed(written, expected):
    graph = GraphText(written, form=JSON)

    labels = [one.label for one in proposals(graph, len(written), Knowledge(default_registry()))]

    assert [one for one in expected if one not in labels] == [], labels


def test_a_member_is_proposed_with_the_quotes_that_are_missing():
    knowledge = Knowledge(default_registry())
    texts = {}
    for written in (START + "{", START + '{"'):
        found = proposals(GraphText(written, form=JSON), len(written), knowledge)
        [texts[written]] = [one.text for one in found if one.label == "calculator"]

    assert list(texts.values()) == ['"calculator": ', "calculator"]


def test_what_stands_behind_the_nodes_belongs_to_the_graph():
    text = (
        '{"node": [{"calculator": "PassThroughCalculator", "input_stream": ["late"],'
        ' "output_stream": ["out"]}],'
        ' "input_stream": ["late"], "package": "mine"}'
    )

    graph = GraphText(text, form=JSON)

    assert quick(graph, Knowledge(default_registry())) == []
    assert graph.package == "mine"
    assert [one.is_origin for one in graph.places("stream", "late")] == [False, True]
    assert graph.name_at(text.rindex("late")).node == -1


def large(count=5000):
    nodes = [
        {"calculator": "PassThroughCalculator", "input_stream": [f"s{i}"], "output_stream": [f"s{i + 1}"]}
        for i in range(count)
    ]
    return json.dumps({"input_stream": ["s0"], "output_stream": [f"s{count}"], "node": nodes}, indent=1)


def test_a_key_costs_the_reading_of_one_node():
    text = large(50)
    before = GraphText(text, form=JSON)

    after = GraphText(text.replace('"s7"\n   ],\n   "output', '"s77"\n   ],\n   "output'), before, JSON)

    new = [one for one in after.known if one not in before.known]
    assert [role for role, _ in new] == ["node"]
    assert after.places("stream", "s77")[0].start == text.index('"s7"\n   ],\n   "output') + 1
    assert [one.root.fields("num_threads", "node") != [] for one in after.parts].count(True) == 50


@pytest.mark.timing
def test_5000_nodes_have_diagnostics_within_300_ms_of_a_key(started):
    text = large()
    client = started()
    uri = client.open(text, URI)
    client.diagnostics()
    line = next(number for number, one in enumerate(text.split("\n")) if number > 30000 and "Pass" in one)
    column = text.split("\n")[line].index("Pass")
    taken = []
    for written, old, is_wrong in (("Pas", "Pass", True), ("Pass", "Pas", False)) * 3:
        before = time.perf_counter()
        client.replace(uri, line, column, column + len(old), written)
        client.diagnostics(lambda found, is_wrong=is_wrong: bool(found) == is_wrong)
        taken.append(time.perf_counter() - before)

    assert max(taken) < 0.3, taken
