"""`scripts/mutants.py`: which changes it makes, and that each leaves Python with as many lines."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
try:
    from mutation.changes import changes
    from mutation.tests_of import stages
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


def test_every_module_of_the_engine_and_the_runtime_has_tests():
    package = ROOT / "core/src/penstock"
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "core/tests").rglob("test_*.py")}
    for folder in ("engine", "runtime"):
        for path in (package / folder).rglob("*.py"):
            if path.name != "__init__.py":
                module = path.relative_to(package).with_suffix("").as_posix()
                for stage in stages(module, files):
                    assert stage
                    assert all((ROOT / one).exists() for one in stage if not one.startswith("--"))
    with pytest.raises(ValueError, match="no tests are known for 'config/places'"):
        stages("config/places", files)
