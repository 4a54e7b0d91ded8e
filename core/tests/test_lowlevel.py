"""`penstock.lowlevel`: what packs may use of the core."""

from __future__ import annotations

import subprocess
import sys

import pytest

import penstock
import penstock.lowlevel


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
