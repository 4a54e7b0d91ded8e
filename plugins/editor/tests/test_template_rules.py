"""Templates in the editor: what may be written in a rule, and what is said of the whole."""

from __future__ import annotations

import pytest

from penstock.packs import default_registry
from penstock_editor.completion import proposals
from penstock_editor.diagnosis import quick
from penstock_editor.graph_text import GraphText
from penstock_editor.knowledge import Knowledge

HEAD = """\
% param length : 2 %
input_stream: "link_0"
% for (i : range(length)) %
"""
NODE = """\
node {
  calculator: "PassThroughCalculator"
  input_stream: % "link_" + i %
  output_stream: % "link_" + (i + 1) %
}
% end %
"""


def labels(text, knowledge=None):
    return [
        one.label for one in proposals(GraphText(text), len(text), knowledge or Knowledge(default_registry()))
    ]


@pytest.mark.parametrize(
    ("written", "expected", "missing"),
    [
        ("% ", {"for", "if", "end", "param"}, {"length"}),
        ("% f", {"for"}, {"length", "calculator"}),
        ('node {\n  input_stream: % "link_" + ', {"length", "i", "range"}, {"for", "link_0"}),
        ("node {\n  input_stream: % l", {"length"}, {"end"}),
        ("% if (", {"length", "size"}, {"end"}),
        ('% if (true) % node { calculator: "Pass', {"PassThroughCalculator"}, {"length"}),
        ("# 5 % of\nno", {"node"}, {"length"}),
    ],
)
def test_what_may_be_written_in_a_rule(written, expected, missing):
    found = set(labels(HEAD + written))

    assert (expected - found, missing & found) == (set(), set())


def test_a_word_replaces_what_is_written_of_it():
    text = HEAD + "node {\n  input_stream: % le"

    [one] = [
        each
        for each in proposals(GraphText(text), len(text), Knowledge(default_registry()))
        if each.label == "length"
    ]

    assert (one.start, one.text) == (len(text) - 2, "length")


def test_streams_of_rules_are_not_said_to_be_missing_but_a_percent_sign_in_a_comment_is_no_rule():
    knowledge = Knowledge(default_registry())
    graph = 'node { calculator: "PassThroughCalculator" input_stream: "nobody" output_stream: "x" }\n'

    assert quick(GraphText(HEAD + NODE + graph), knowledge) == []
    assert [one.words for one in quick(GraphText("# 5 % of it\n" + graph), knowledge)] == [
        "nothing writes stream 'nobody'"
    ]


def test_the_template_is_checked_with_its_defaults(client):
    uri = client.open(HEAD + NODE + 'output_stream: "link_2"\n')
    assert client.diagnostics() == []

    client.change(uri, HEAD + NODE.replace("PassThrough", "PassThrouhg"))

    faults = client.diagnostics(lambda found: found)
    assert [one["range"]["start"] for one in faults] == [{"line": 4, "character": 15}] * 2
    assert "node 'PassThrouhgCalculator_1'" in faults[0]["message"]


def test_findings_of_rules_stand_at_the_node_and_are_silenced_there_but_not_mended(client):
    text = (HEAD + NODE).replace('input_stream: "link_0"\n', 'input_stream: "link_0"\ninput_stream: "more"\n')
    uri = client.open(text + 'output_stream: "link_1"\n')

    more, unused = client.diagnostics(lambda found: found)

    assert (more["code"], more["range"]["start"]) == ("PS403", {"line": 2, "character": 0})
    assert (unused["code"], unused["range"]["start"]) == ("PS401", {"line": 4, "character": 0})
    assert "'link_2'" in unused["message"]
    asked = {"textDocument": {"uri": uri}, "range": more["range"], "context": {"diagnostics": [more]}}
    [cure] = client.ask("textDocument/codeAction", asked)
    assert cure["title"] == "ignore PS403 here, and say why"
    [edit] = cure["edit"]["changes"][uri]
    lines = (text + 'output_stream: "link_1"\n').split("\n")
    lines.insert(edit["range"]["start"]["line"], edit["newText"].rstrip("\n"))
    client.change(uri, "\n".join(lines))
    client.diagnostics(lambda found: [one["code"] for one in found] == ["PS401"])
