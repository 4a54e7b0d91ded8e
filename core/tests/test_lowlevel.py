"""`penstock.lowlevel`: what packs may use of the core."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import penstock
import penstock.lowlevel


@pytest.mark.parametrize("name", penstock.lowlevel.__all__)
def test_every_name_is_that_of_the_module_which_types_are_read_from(name: str) -> None:
    homes = {
        alias.name: node.module
        for node in ast.walk(ast.parse(Path(penstock.lowlevel.__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert getattr(penstock.lowlevel, name) is getattr(import_module(str(homes[name])), name)


def test_every_name_is_listed_and_described() -> None:
    assert set(penstock.lowlevel.__all__) <= set(dir(penstock.lowlevel))
    assert [
        name for name in penstock.lowlevel.__all__ if f"`{name}`" not in str(penstock.lowlevel.__doc__)
    ] == []


def test_no_name_is_a_public_one_of_another_module() -> None:
    assert not set(penstock.lowlevel.__all__) & set(penstock.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'penstock\.lowlevel' has no attribute 'Streams'"):
        penstock.lowlevel.Streams  # noqa: B018  # the look-up raises


def test_importing_it_loads_no_other_module_of_penstock() -> None:
    code = "import sys, penstock.lowlevel; print(*sorted(m for m in sys.modules if m.startswith('penstock')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.split() == ["penstock", "penstock.late_names", "penstock.lowlevel"]
