"""Each rule finds its trap in one graph, and nothing in the same graph without it."""

from __future__ import annotations

import pytest

from penstock_lint import RULES, lint_graph


@pytest.mark.parametrize("code", RULES)
def test_the_graph_with_the_trap_has_that_finding_alone(code):
    findings = lint_graph(RULES[code].bad)
    assert [one.code for one in findings] == [code], [str(one) for one in findings]
    assert findings[0].line > 0


@pytest.mark.parametrize("code", RULES)
def test_the_mended_graph_has_none(code):
    assert [str(one) for one in lint_graph(RULES[code].good)] == []
