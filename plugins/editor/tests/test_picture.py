"""The picture beside the text."""

from __future__ import annotations

import http.client
import json
import re
from urllib.parse import urlsplit

import pytest

from penstock.packs import default_registry
from penstock_editor.forms import JSON
from penstock_editor.graph_text import GraphText
from penstock_editor.knowledge import Knowledge
from penstock_editor.picture import pictured
from penstock_views.draw import NodeKind, drawing

pytestmark = pytest.mark.heavy

pytest.importorskip("pygraphviz", reason="pygraphviz is not installed")
pytest.importorskip("uvicorn", reason="uvicorn is not installed")

GRAPH = """\
type: "Loop"
input_stream: "IN:frames"
output_stream: "kept"
input_side_packet: "model"
executor { name: "slow" type: "ThreadPoolExecutor" }
node {
  calculator: "GateCalculator"
  input_stream: "frames"
  input_stream: "ALLOW:back"
  output_stream: "kept"
  executor: "slow"
  input_stream_info { tag_index: "ALLOW" back_edge: true }
}
node { name: "pass" calculator: "PassThroughCalculator" input_stream: "kept" output_stream: "back" }
node { calculator: "Nobody" input_stream: "kept" input_side_packet: "MODEL:model" }
"""
WAIT = 30


@pytest.fixture(scope="module")
def knowledge():
    return Knowledge(default_registry())


def test_the_drawing_is_the_one_that_show_makes(knowledge):
    found = pictured(GraphText(GRAPH), knowledge).drawing

    expected = drawing(GRAPH, knowledge.registry)
    assert found.nodes == expected.nodes
    assert found.wires() == expected.wires()
    assert found.name == expected.name
    assert [one.kind for one in found.nodes][-1] is NodeKind.UNKNOWN


def test_an_error_stream_is_drawn(knowledge):
    failing = 'node { name: "pass" failure { on_error: SKIP error_stream: "lost" }'
    text = GRAPH.replace('node { name: "pass"', failing)

    found = pictured(GraphText(text), knowledge).drawing

    assert found.wires() == drawing(text, knowledge.registry).wires()
    assert [one.name for one in found.wires() if one.is_error] == ["lost"]


def test_a_graph_in_json_has_the_same_drawing(knowledge):
    text = """{"node": [
      {"calculator": "GateCalculator", "input_stream": ["a", "ALLOW:b"], "output_stream": "c",
       "input_stream_info": [{"tag_index": "ALLOW:0", "back_edge": true}]},
      {"calculator": "GateCalculator"}]}"""

    found = pictured(GraphText(text, form=JSON), knowledge)

    assert [one.name for one in found.drawing.nodes] == ["GateCalculator_1", "GateCalculator_2"]
    assert [(port.entry, port.back_edge) for port in found.drawing.nodes[0].inputs] == [
        ("a", False),
        ("ALLOW:b", True),
    ]


def test_each_node_has_its_place_in_text_that_is_broken(knowledge):
    text = GRAPH.replace('executor: "slow"\n', 'executor: "slow\n', 1)

    found = pictured(GraphText(text), knowledge)

    assert found.node_at(text.index('"pass"')) == "pass"
    assert found.node_at(text.index('"ALLOW:back"')) == "GateCalculator"
    assert found.node_at(0) == ""


def test_every_beginning_of_a_graph_can_be_drawn(knowledge):
    before = None
    for end in range(len(GRAPH) + 1):
        before = GraphText(GRAPH[:end], before)
        pictured(before, knowledge).drawing.wires()


def test_the_picture_comes_with_the_places_of_its_nodes(client):
    uri = client.open(GRAPH)

    found = client.ask("penstock/picture", {"textDocument": {"uri": uri}, "across": True})
    node = client.ask("penstock/nodeAt", client.at(uri, GRAPH, 'name: "pa'))

    assert re.findall(r'data-node="(\w+)"', found["svg"]) == ["GateCalculator", "pass", "Nobody"]
    assert [one["name"] for one in found["nodes"]] == ["GateCalculator", "pass", "Nobody"]
    assert found["nodes"][1]["range"]["start"]["line"] == 13
    assert node == {"name": "pass"}
    assert client.ask("penstock/nodeAt", client.at(uri, GRAPH, "type")) is None


def test_a_file_without_a_graph_is_refused(client):
    uri = client.open("{}", "file:///nowhere/picture/a.json")

    with pytest.raises(RuntimeError, match=r"a\.json has no graph"):
        client.ask("penstock/picture", {"textDocument": {"uri": uri}})


def event(answer):
    """Return the next event of a page: its name and its data."""
    name = ""
    while (line := answer.readline().decode().rstrip("\n")) or not name:
        kind, _, value = line.partition(": ")
        if kind == "event":
            name = value
        elif kind == "data":
            data = json.loads(value)
    return name, data


def next_event(answer, wanted, is_wanted=lambda data: True):
    while True:
        name, data = event(answer)
        if name == wanted and is_wanted(data):
            return data


def test_a_page_follows_the_text_and_the_cursor(started):
    client = started()
    uri = client.open(GRAPH)
    client.diagnostics()

    url = client.ask("workspace/executeCommand", {"command": "penstock.openPicture", "arguments": [uri]})

    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=WAIT)
    connection.request("GET", f"/events?{parts.query}")
    answer = connection.getresponse()
    first = next_event(answer, "picture", lambda data: data["svg"])
    client.change(uri, GRAPH.replace('"pass"', '"other"'))
    second = next_event(answer, "picture", lambda data: 'data-node="other"' in data["svg"])
    client.ask("textDocument/documentHighlight", client.at(uri, GRAPH, "ALLOW:ba"))
    marked = next_event(answer, "mark")
    client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    ended = next_event(answer, "end")
    connection.close()
    assert 'data-node="pass"' in first["svg"]
    assert "no calculator 'Nobody' is registered" in second["notes"][0]
    assert marked == {"node": "GateCalculator"}
    assert ended == {}
    assert client.close()[0] == 0


def post(url, path):
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=WAIT)
    connection.request("POST", f"/choice?{parts.query}&{path}")
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_click_on_a_node_of_the_page_leads_to_its_text(started):
    client = started(capabilities={"window": {"showDocument": {"support": True}}})
    uri = client.open(f"# before\n{GRAPH}")
    client.diagnostics()
    url = client.ask("workspace/executeCommand", {"command": "penstock.openPicture", "arguments": [uri]})
    assert client.asked("window/showDocument") == {"uri": url, "external": True}

    assert post(url, "node=nobody") == 204
    assert post(url, "node=pass") == 204

    shown = client.asked("window/showDocument")
    assert (shown["uri"], shown["takeFocus"]) == (uri, True)
    assert shown["selection"]["start"] == {"line": 14, "character": 0}
    assert client.close()[0] == 0


def test_without_an_editor_that_can_show_a_text_clicks_are_refused(started):
    client = started()
    uri = client.open(GRAPH)
    url = client.ask("workspace/executeCommand", {"command": "penstock.openPicture", "arguments": [uri]})

    assert post(url, "node=pass") == 405
