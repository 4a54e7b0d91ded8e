"""The page of `penstock lint` has the rules that there are."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_table_of_rules_is_current():
    script = runpy.run_path(str(ROOT / "scripts" / "lint_rules.py"))
    text = script["PAGE"].read_text(encoding="utf-8")
    assert script["written"](text) == text, "stale; run: python scripts/lint_rules.py"
    assert text.count("\n| PS") == 33
