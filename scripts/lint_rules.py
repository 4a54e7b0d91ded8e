"""Write the table of rules into the page of `penstock lint`: `python scripts/lint_rules.py`."""

from __future__ import annotations

from pathlib import Path

from penstock_lint import RULES

PAGE = Path(__file__).parents[1] / "plugins" / "cli" / "lint.md"
BEGIN, END = "<!-- rules -->\n", "<!-- /rules -->"


def written(text: str) -> str:
    """Return the page with the table of the rules that there are."""
    rows = [
        "| code | what goes wrong | what to do |\n|---|---|---|\n",
        *(f"| {rule.code} {rule.name} | {rule.summary} | {rule.cure} |\n" for rule in RULES.values()),
    ]
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + "".join(rows) + END + rest.partition(END)[2]


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
