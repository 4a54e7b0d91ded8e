"""Each calculator of the official packs declares may_skip and stateless in its contract."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from penstock.config import build_plan
from penstock.packs import default_registry, official_packs
from penstock_views.describe import describe

ROOT = Path(__file__).resolve().parents[1]
#: Of functions: the core declares what their annotations say.
FUNCTIONS = "penstock.functions"


def contracts():
    """Yield (name, contract) of each calculator that is a class, in a graph of a node of it alone."""
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        alone = runpy.run_path(str(ROOT / "scripts" / "reference_pages.py"))["alone"]
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    registry = default_registry()
    for name in sorted(official_packs()["calculator"]):
        made = registry.find("calculator", name)
        if not made.get_contract.__func__.__module__.startswith(FUNCTIONS):
            yield name, build_plan(alone(describe(name, registry), registry), registry).nodes[0].contract


def test_calculators_declare_how_they_behave():
    declared = {name: contract.declared for name, contract in contracts()}
    undeclared = [name for name, said in declared.items() if None in {said.may_skip, said.stateless}]

    assert undeclared == [], "get_contract has no cc.declare(may_skip=..., stateless=...)"
    assert len(declared) > 150
