"""`scripts/mutants.py`: which changes it makes, and the list of mutants that tests kill."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
try:
    from mutants import DRAWN_FROM, EQUIVALENT, KEPT, PAGE
    from mutation.changes import changes
    from mutation.mutant import PACKAGE, in_source
    from mutation.report import page, read_kept
    from mutation.tests_of import FOLDERS, stages
finally:
    sys.path.remove(str(ROOT / "scripts"))


def made(source):
    return [one.apply(source).removesuffix("\n") for one in changes(source)]


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("x = a < b\n", ["x = (a <= b)"]),
        ("x = a and b\n", ["x = (a or b)", "x = (b)", "x = (a)"]),
        ("x = not a\n", ["x = (a)"]),
        ("x = 4\n", ["x = 5"]),
        ("x = True\n", ["x = False"]),
        ("a.x = y\n", ["pass"]),
        ("a.x += y\n", ["a.x -= y", "pass"]),
        ("f(y)\n", ["pass"]),
        ("def f():\n    return y\n", ["def f():\n    return None"]),
        ("if a:\n    b = c\n", ["if (not (a)):\n    b = c"]),
        ("'''Text.'''\nx: int = y\n", []),
        ("assert x == 1\n", []),
        ("if TYPE_CHECKING:\n    f(1)\n", []),
        ("raise ValueError(f'{x + 1}')\n", ["pass"]),
    ],
)
def test_each_kind_of_change(source, mutants):
    assert sorted(made(source)) == sorted(mutants)


def test_lines_stay_where_they_are():
    source = "x = [\n  'ä', a ==\n  b,\n]\ny = 1\n"
    for one in changes(source):
        mutant = one.apply(source)
        ast.parse(mutant)
        assert mutant.count("\n") == source.count("\n")
    assert "x = [\n  'ä', (a != b),\n\n]\ny = 1\n" in [one.apply(source) for one in changes(source)]


def test_equal_changes_of_one_function_are_numbered_and_change_with_their_function_only():
    source = "def f():\n    return 1\n\n\nclass A:\n    def g(self):\n        h(2)\n        h(2)\n"

    found = [one for one in in_source("a.py", source) if one.change.kind == "off by one"]

    assert [(one.where, one.before, one.number) for one in found] == [
        ("f", "1", 0),
        ("A.g", "2", 0),
        ("A.g", "2", 1),
    ]
    assert found[2].place == "a.py: A.g: off by one: 2 -> 3 (2)"
    other = in_source("a.py", source.replace("return 1", "return  1"))
    assert {one.key for one in found} - {one.key for one in other} == {found[0].key}


def test_every_module_that_mutants_are_drawn_from_has_tests():
    files = {path.relative_to(ROOT).as_posix() for one in FOLDERS for path in (ROOT / one).rglob("test_*.py")}
    for name in DRAWN_FROM:
        folder = PACKAGE / name if (PACKAGE / name).is_dir() else ROOT / name
        for path in folder.rglob("*.py"):
            if path.name != "__init__.py":
                for stage in stages(path.relative_to(ROOT).as_posix(), files):
                    assert all(
                        (ROOT / one).exists() for one in stage if one.startswith(("core/", "plugins/"))
                    )
                    assert any(one.startswith(("core/", "plugins/", "tests/")) for one in stage)
    with pytest.raises(ValueError, match="no tests are known for 'config/places'"):
        stages("core/src/penstock/config/places.py", files)


def test_the_page_shows_the_kept_mutants_and_each_survivor_has_a_reason():
    kept = read_kept(KEPT)
    reasons = json.loads(EQUIVALENT.read_text(encoding="utf-8"))

    assert PAGE.read_text(encoding="utf-8") == page(kept, reasons), "run python scripts/mutants.py --page"
    survivors = {one.place for one in kept.results if one.outcome != "killed"}
    assert survivors == set(reasons)
    assert sum("core/" in one.path for one in kept.results) >= 100


def test_the_tests_that_killed_mutants_are_there_and_most_of_the_code():
    """Where a test has another name now, write it into kept.json; where much code is gone, draw others."""
    kept = read_kept(KEPT).results
    for file, _, name in {tuple(one.by.partition("::")) for one in kept if "::" in one.by}:
        function = name.rpartition("::")[2].partition("[")[0]
        assert f"def {function}(" in (ROOT / file).read_text(encoding="utf-8"), f"{file} has no {function}"
    there = 0
    for path in {one.path for one in kept if (ROOT / one.path).is_file()}:
        source = (ROOT / path).read_text(encoding="utf-8")
        texts = {(one.kind, one.old(source), one.new) for one in changes(source)}
        there += sum((one.kind, one.before, one.after) in texts for one in kept if one.path == path)
    assert there >= 0.75 * len(kept), "run python scripts/mutants.py --kept --fresh --keep, then draw others"
