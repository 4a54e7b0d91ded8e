"""Each rule finds its trap in one graph, and nothing in the same graph without it."""

from __future__ import annotations

import pytest

from penstock_lint import RULES, Measured, lint_graph
from penstock_lint.finding import examples

#: What a run of the graph for PS208 shows.
LONG = Measured(longest={("in", "JoinCalculator"): 6})


@pytest.mark.parametrize("code", RULES)
def test_the_graph_with_the_trap_has_that_finding_alone(code, registry):
    findings = lint_graph(examples(RULES[code])[0], registry=registry, measured=LONG)
    assert {one.code for one in findings} == {code}, [str(one) for one in findings]
    assert findings[0].line > 0
    assert findings[0].what
    assert findings[0].cure


@pytest.mark.parametrize("code", RULES)
def test_the_mended_graph_has_none(code, registry):
    assert [str(one) for one in lint_graph(examples(RULES[code])[1], registry=registry, measured=LONG)] == []


def test_there_are_the_rules_of_the_design():
    numbers = [(1, 11), (2, 8), (3, 6), (4, 7)]
    assert list(RULES) == [f"PS{group}{one:02}" for group, count in numbers for one in range(1, count + 1)]
