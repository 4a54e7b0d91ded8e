"""Packages whose public names load when they are first used say the same to type checkers."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NAMES = [
    "penstock",
    "penstock_formats",
    "penstock_gpu",
]


@pytest.mark.parametrize("name", NAMES)
def test_type_checkers_find_every_public_name_where_it_is_loaded_from(name) -> None:
    module = import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    imports = {
        alias.name: (each.module, alias.asname)
        for each in ast.walk(tree)
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
        if (alias.asname or each not in tree.body) and each.module != "penstock"  # not its modules
    }

    loaded = {name: home for home, names in module._HOMES.items() for name in names.split()}

    assert set(imports) == set(module.__all__) == set(loaded)
    for public, (home, shown_as) in imports.items():
        assert shown_as == public, "without `as` the name is private to type checkers"
        assert home == loaded[public]


@pytest.mark.parametrize("name", NAMES)
def test_type_checkers_do_not_see_the_function_that_answers_for_any_name(name) -> None:
    tree = ast.parse(Path(str(import_module(name).__file__)).read_text(encoding="utf-8"))

    hidden = [
        each
        for each in tree.body
        if isinstance(each, ast.If) and ast.unparse(each.test) == "not TYPE_CHECKING"
    ]
    seen = [each for each in tree.body if each not in hidden]
    assert any("__getattr__" in ast.unparse(each) for each in hidden)
    assert not any("__getattr__" in ast.unparse(each) for each in seen)


def test_the_stubs_of_the_other_modules_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/stubs.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (0, "")


def test_a_stale_stub_is_reported_and_written(tmp_path, monkeypatch, capsys) -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "stubs.py"))
    module = tmp_path / "late.py"
    module.write_text('_HOMES: Final = {"a.home": "One Two"}\n', encoding="utf-8")
    main = script["main"]
    monkeypatch.setitem(main.__globals__, "MODULES", (module,))
    monkeypatch.setitem(main.__globals__, "ROOT", tmp_path)

    assert [main(["--check"]), main([]), main(["--check"])] == [1, 0, 0]
    assert (
        "from a.home import One as One\nfrom a.home import Two as Two\n"
        in module.with_suffix(".pyi").read_text()
    )
    assert capsys.readouterr().out == "late.pyi: stale; run python scripts/stubs.py\nlate.pyi: written\n"
