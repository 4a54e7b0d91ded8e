"""Each rule finds its trap in one graph, and nothing in the same graph without it."""

from __future__ import annotations

import importlib
import re
import sys

import pytest

from penstock_lint import RULES, Measured, lint_graph
from penstock_lint.rule import examples

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


BUDGET = """
  node_options { [type.googleapis.com/penstock_calculators.BudgetCalculatorOptions] { latency_ms: 80 %s } }
"""


def _with_budget(text, prefer=""):
    """Return an example of limiters with BudgetCalculators in their place."""
    without = re.sub(r"  node_options .*FlowLimiter.*\n", "", text)
    return without.replace(
        '  calculator: "FlowLimiterCalculator"', f'  calculator: "BudgetCalculator"{BUDGET % prefer}'
    )


@pytest.mark.parametrize("code", ["PS201", "PS202", "PS204", "PS205", "PS206"])
def test_a_budget_is_a_limiter_too(code, registry):
    bad, good = (_with_budget(one) for one in examples(RULES[code]))

    assert {one.code for one in lint_graph(bad, registry=registry)} == {code}
    assert [str(one) for one in lint_graph(good, registry=registry)] == []


@pytest.mark.parametrize("code", ["PS201", "PS205", "PS206"])
def test_a_budget_that_drops_nothing_is_no_limiter(code, registry):
    bad = _with_budget(examples(RULES[code])[0], "prefer: COMPLETE")

    assert [str(one) for one in lint_graph(bad, registry=registry)] == []


def test_a_budget_cannot_close(registry):
    assert [
        str(one) for one in lint_graph(_with_budget(examples(RULES["PS203"])[0]), registry=registry)
    ] == []


def test_queues_behind_a_budget_that_drops_nothing_are_not_limited(registry):
    good = _with_budget(examples(RULES["PS201"])[1]) + "max_queue_size: -1\n"

    assert [one.code for one in lint_graph(good, registry=registry)] == []
    complete = good.replace("latency_ms: 80", "latency_ms: 80 prefer: COMPLETE")
    assert {one.code for one in lint_graph(complete, registry=registry)} == {"PS207"}


def test_the_limiter_of_a_shadow_is_for_the_candidate_alone(registry):
    text = """
        input_stream: "in"
        output_stream: "out"
        output_stream: "differences"
        executor { name: "shadow" type: "LowPriorityThreadPoolExecutor" }
        node {
          calculator: "Shadow"
          input_stream: "in"
          output_stream: "out"
          output_stream: "DIFF:differences"
          node_options {
            [type.googleapis.com/penstock.ShadowOptions] {
              primary { calculator: "ModelCalculator" }
              candidate { calculator: "ModelCalculator" }
              executor: "shadow"
            }
          }
        }
    """

    assert [str(one) for one in lint_graph(text, registry=registry) if one.code.startswith("PS2")] == []


def test_there_are_the_rules_of_the_design():
    numbers = [(1, 12), (2, 8), (3, 6), (4, 7)]
    assert list(RULES) == [f"PS{group}{one:02}" for group, count in numbers for one in range(1, count + 1)]


SETTLED_ELSEWHERE = '''
import penstock
from penstock import Calculator


class Odd(Calculator):
    """Forwards odd timestamps; a comment that says set_next_timestamp_bound settles nothing."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.declare(may_skip=True, stateless=True)

    def process(self, cc):
        if int(cc.input_timestamp) % 2:
            cc.outputs[0].add_packet(cc.inputs[0].packet)


class Settling(Calculator):
    def process(self, cc):
        cc.outputs[0].set_next_timestamp_bound(cc.input_timestamp + 1)


def settle(cc):
    Settling.process(None, cc)


class ByHelper(Odd):
    def process(self, cc):
        super().process(cc)
        settle(cc)


class Homeless(Odd):
    def process(self, cc):
        super().process(cc)
        made(cc)


def made(cc):
    cc.outputs[0].set_next_timestamp_bound(cc.input_timestamp + 1)


made.__module__ = None


class ByName(Odd):
    def process(self, cc):
        super().process(cc)
        getattr(cc.outputs[0], "set_next_timestamp_bound")(cc.input_timestamp + 1)
'''


@pytest.mark.parametrize(
    ("name", "expected"), [("Odd", True), ("ByHelper", False), ("Homeless", False), ("ByName", False)]
)
def test_a_bound_is_forgotten_whatever_other_classes_of_the_module_do(
    name, expected, registry, tmp_path, monkeypatch
):
    (tmp_path / "settled_elsewhere.py").write_text(SETTLED_ELSEWHERE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("settled_elsewhere")
    monkeypatch.delitem(sys.modules, "settled_elsewhere")
    registry.add("calculator", name, getattr(module, name))
    text = examples(RULES["PS103"])[0].replace('"OddCalculator"', f'"{name}"')

    assert ("PS103" in [one.code for one in lint_graph(text, registry=registry)]) is expected
