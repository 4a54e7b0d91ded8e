"""Modules whose names are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys
import types
from importlib import import_module

import pytest

from penstock.late_names import late_names


@pytest.fixture
def home(monkeypatch):
    """Return a module that has the names of another."""
    module = types.ModuleType("late_home")
    module.One, module.Two, module.Hidden = object(), object(), object()
    monkeypatch.setitem(sys.modules, "late_home", module)
    return module


@pytest.fixture
def late(monkeypatch, home, tmp_path):
    """Return a module with three late names and a submodule."""
    folder = tmp_path / "late"
    folder.mkdir()
    (folder / "__init__.py").write_text("here = 1\n", encoding="utf-8")
    (folder / "below.py").write_text("", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    module = import_module("late")
    module.__all__, module.__getattr__, module.__dir__ = late_names(
        "late", {"late_home": "One Two Hidden"}, ("below",)
    )
    yield module
    for name in ("late", "late.below"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["One", "Two", "Hidden"])
def test_a_name_is_looked_up_once_and_is_the_modules_own_from_then_on(late, home, name) -> None:
    assert name not in vars(late)
    first = getattr(late, name)
    assert first is getattr(home, name)
    setattr(home, name, None)

    assert getattr(late, name) is first


def test_a_submodule_is_imported_when_it_is_asked_for(late) -> None:
    assert "late.below" not in sys.modules

    assert late.below is sys.modules["late.below"]


def test_all_names_are_listed_though_none_was_loaded(late) -> None:
    names = dir(late)

    assert {"here", "One", "Two", "Hidden", "below"} <= set(names)
    assert not {"One", "Two", "Hidden", "below"} & set(vars(late))


def test_the_public_names_are_those_that_load_late_without_submodules(late) -> None:
    assert late.__all__ == ["Hidden", "One", "Two"]


@pytest.mark.parametrize("name", ["penstock.lowlevel", "penstock.explain"])
def test_a_star_import_brings_every_public_name(name) -> None:
    code = f"import {name}; from {name} import *; print(*sorted(set({name}.__all__) - set(globals())))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.split() == []
