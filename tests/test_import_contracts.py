"""The contract between packs finds what is not public; see `scripts/import_contracts.py`."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

grimp = pytest.importorskip("grimp", reason="import-linter is not installed: uv sync --group lint")

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "import_contracts.py"


@pytest.fixture(scope="module")
def contract():
    made = runpy.run_path(str(SCRIPT))["PublicPartsContract"]
    return made("", {}, {"also_public": ["penstock_one.shown"]})


def graph_of(*imports):
    graph = grimp.ImportGraph()
    for importer, imported in imports:
        for name in (importer, imported):
            graph.add_module(name)
        graph.add_import(importer=importer, imported=imported)
    return graph


@pytest.mark.parametrize(
    ("importer", "imported", "is_kept"),
    [
        ("penstock_two.part", "penstock_one", True),
        ("penstock_two.part", "penstock_one.api", True),
        ("penstock_two.part", "penstock_one.shown", True),
        ("penstock_two.part", "penstock_one.shown.inner", False),
        ("penstock_two.part", "penstock_one.inner", False),
        ("penstock_two.part", "penstock_one.api.inner", False),
        ("penstock_two.options_pb2", "penstock_one.options_pb2", True),
        ("penstock_two.part", "penstock_one.options_pb2", False),
        ("penstock_one.part", "penstock_one.inner", True),
        ("penstock_two.part", "penstock.lowlevel", True),
    ],
)
def test_a_pack_imports_what_is_public_alone(contract, importer, imported, is_kept):
    found = contract.check(graph_of((importer, imported)), verbose=False)

    assert found.kept == is_kept
    assert found.metadata["wrong"] == ([] if is_kept else [(importer, imported)])


def test_a_breach_names_both_modules_and_where_to_import_from(contract, capsys):
    found = contract.check(graph_of(("penstock_two.part", "penstock_one.inner")), verbose=False)

    contract.render_broken_contract(found)

    said = " ".join(capsys.readouterr().out.split())
    assert "penstock_two.part imports penstock_one.inner, which is not public" in said
    assert "import from penstock_one or penstock_one.api" in said
