"""Templates: findings stand where the node stands in the text, comments silence them, nothing is edited."""

from __future__ import annotations

import pytest

from penstock_lint import lint_graph
from penstock_lint.files import mend

TEMPLATE = """\
% param count : 2 %
input_stream: "in"
input_stream: "more"
output_stream: "s0"
% for (i : range(count)) %
node {
  calculator: "PassThroughCalculator"
  input_stream: "in"
  output_stream: % "s" + i %
}
% end %
"""
LOOP = TEMPLATE.index("% for")


def places(text):
    return [(one.code, one.line, one.column, one.node) for one in lint_graph(text)]


def test_a_finding_stands_at_the_node_in_the_loop_and_at_the_field_of_the_graph():
    assert places(TEMPLATE) == [
        ("PS403", 3, 1, ""),
        ("PS401", 6, 1, "PassThroughCalculator_2"),
    ]


def test_each_turn_of_a_loop_has_findings_of_its_own():
    found = places(TEMPLATE.replace("count : 2", "count : 4").replace('input_stream: "more"\n', ""))

    assert found == [("PS401", 5, 1, f"PassThroughCalculator_{number}") for number in (2, 3, 4)]


@pytest.mark.parametrize("comment", ["# penstock: ignore[PS401] a test reads it\n", ""])
def test_a_comment_in_the_loop_silences_them(comment):
    text = TEMPLATE.replace("node {", f"{comment}node {{").replace('input_stream: "more"\n', "")

    assert bool(places(text)) == (not comment)


def test_a_needless_comment_has_its_place():
    text = TEMPLATE[:LOOP] + "# penstock: ignore[PS404] no more\n" + TEMPLATE[LOOP:]

    assert ("PS001", 5, 1, "") in places(text)


def test_a_template_is_not_edited(tmp_path):
    path = tmp_path / "graph.pbtxt"
    path.write_text(TEMPLATE, encoding="utf-8")

    assert mend(path, None, None) == 0
    assert path.read_text(encoding="utf-8") == TEMPLATE
