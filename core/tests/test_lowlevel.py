"""`penstock.lowlevel` and its neighbours: what packs may use of the core."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from itertools import combinations

import pytest

import penstock

MODULES = ("error_text", "lowlevel", "packs", "ports", "readers", "runs", "types")
each_module = pytest.mark.parametrize("name", MODULES)


def module(name):
    return import_module(f"penstock.{name}")


@each_module
def test_every_name_is_listed_described_and_there(name) -> None:
    found = module(name)

    assert set(found.__all__) <= set(dir(found))
    assert [one for one in found.__all__ if f"`{one}`" not in str(found.__doc__)] == []
    for one in found.__all__:
        assert getattr(found, one) is not None


def test_no_name_is_a_public_one_of_another_module() -> None:
    names = [set(penstock.__all__), *(set(module(name).__all__) for name in MODULES)]

    assert [first & second for first, second in combinations(names, 2) if first & second] == []


@each_module
def test_an_unknown_name_is_an_attribute_error(name) -> None:
    with pytest.raises(AttributeError, match=rf"module 'penstock\.{name}' has no attribute 'Streams'"):
        module(name).Streams  # noqa: B018  # the look-up raises


@each_module
def test_importing_it_loads_no_other_module_of_penstock(name) -> None:
    code = f"import sys, penstock.{name}; print(*sorted(m for m in sys.modules if m.startswith('penstock')))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.split() == sorted(
        ["penstock", "penstock.collector", "penstock.late_names", f"penstock.{name}"]
    )


def test_what_writes_policies_and_executors_is_not_among_the_names_of_tools() -> None:
    assert len(module("lowlevel").__all__) <= 41
