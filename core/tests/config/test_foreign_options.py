"""Options of another calculator are refused where they stand on a node that does not read them."""

from __future__ import annotations

import sys
import types

import pytest

import penstock
from penstock.config import build_plan
from penstock.errors import GraphConfigError

EXTENSION = "options { [penstock.OwnerCalculatorOptions.ext] { size: 1 } }"
PACKED = "node_options { [type.googleapis.com/penstock.OwnerCalculatorOptions] { size: 2 } }"
NODE = 'node { calculator: "%s" input_stream: "a" output_stream: "b" %s }'
BOTH = pytest.mark.parametrize("given", [EXTENSION, PACKED])


@pytest.fixture
def owner(declare, make_options):
    """Register a calculator and its options; return the class."""
    make_options("OwnerCalculatorOptions", 500020900).load()
    return declare("OwnerCalculator")


@pytest.fixture
def load(registry):
    return lambda calculator, given: build_plan(f'input_stream: "a" {NODE % (calculator, given)}', registry)


def stranger(declare, monkeypatch, source):
    """Register a calculator whose module has this source."""
    made = declare("StrangerCalculator")
    made.__module__ = "penstock_strange"
    module = types.ModuleType("penstock_strange")
    monkeypatch.setitem(sys.modules, "penstock_strange", module)
    monkeypatch.setattr("inspect.getsource", lambda _: source)
    return made


@BOTH
def test_options_of_another_calculator_are_a_fault_with_their_place(owner, declare, load, monkeypatch, given):
    stranger(declare, monkeypatch, "class StrangerCalculator: pass")

    with pytest.raises(GraphConfigError) as caught:
        load("StrangerCalculator", f"\n{given}")

    (fault,) = caught.value.faults
    assert (
        "node 'StrangerCalculator': 'penstock.OwnerCalculatorOptions' are options of OwnerCalculator"
        in str(fault)
    )
    assert "StrangerCalculator does not read them; take them out" in str(fault)
    assert (fault.node, fault.line) == ("StrangerCalculator", 2)


@BOTH
def test_a_calculator_that_names_them_in_its_source_may_have_them(owner, declare, load, monkeypatch, given):
    stranger(declare, monkeypatch, "cc.options(OwnerCalculatorOptions)")

    load("StrangerCalculator", given)


@BOTH
def test_their_owner_and_what_is_derived_from_it_may_have_them(owner, registry, load, monkeypatch, given):
    monkeypatch.setattr("inspect.getsource", lambda _: "")
    registry.add("calculator", "DerivedCalculator", type("DerivedCalculator", (owner,), {}))

    load("OwnerCalculator", given)
    load("DerivedCalculator", given)


@BOTH
def test_a_calculator_without_source_may_have_them(owner, declare, load, monkeypatch, given):
    stranger(declare, monkeypatch, "")

    def no_source(_):
        raise OSError

    monkeypatch.setattr("inspect.getsource", no_source)
    load("StrangerCalculator", given)


def test_options_that_no_calculator_is_named_after_may_stand_anywhere(
    declare, make_options, load, monkeypatch
):
    make_options("SharedOptions", 500020901).load()
    stranger(declare, monkeypatch, "")

    load("StrangerCalculator", EXTENSION.replace("OwnerCalculatorOptions", "SharedOptions"))


SCRIPT = """
import penstock
from penstock_strange import Other

GRAPH = 'node { options { [penstock.OwnerCalculatorOptions.ext] { size: 1 } } }'  # OwnerCalculatorOptions
"""


@BOTH
def test_graph_text_of_a_script_does_not_count_as_its_source(owner, declare, load, monkeypatch, given):
    stranger(declare, monkeypatch, SCRIPT)

    with pytest.raises(GraphConfigError, match="StrangerCalculator does not read them; take them out"):
        load("StrangerCalculator", given)


@pytest.mark.parametrize(
    "line",
    [
        "from penstock_owner import OwnerCalculatorOptions",
        "READ = penstock_owner.OwnerCalculatorOptions",
        "READ = message('penstock.OwnerCalculatorOptions')",
    ],
)
def test_code_of_a_script_that_names_them_does(owner, declare, load, monkeypatch, line):
    stranger(declare, monkeypatch, SCRIPT + line)

    load("StrangerCalculator", EXTENSION)
    load("StrangerCalculator", PACKED)


@BOTH
def test_a_calculator_from_a_function_reads_no_others(owner, registry, load, monkeypatch, given):
    monkeypatch.setattr("inspect.getsource", lambda _: "cc.options(OwnerCalculatorOptions)")

    @penstock.calculator
    def doubled(number: int) -> int:
        return 2 * number

    @penstock.calculator
    def scaled(number: int, *, factor: int = 2) -> int:
        return factor * number

    registry.add("calculator", "Doubled", doubled.calculator)
    registry.add("calculator", "Scaled", scaled.calculator)
    for name in ("Doubled", "Scaled"):
        with pytest.raises(GraphConfigError, match=f"{name} does not read them; take them out"):
            load(name, given)
