"""Count what the tests compare Penstock with, for docs/how-we-know.md.

    python scripts/how_we_know.py            write the numbers into the page
    python scripts/how_we_know.py --check    say what is not current, and exit 1

The numbers of MediaPipe's own tests come from the marks (`scripts/reference_tests.py`), the numbers of
recorded runs from their folder. Where it is not beside the repository, its numbers stay as the page has them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import reference_tests

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parents[1]
CASES: Final = ROOT.parent / "shared" / "cases"
PAGE: Final = ROOT / "docs/how-we-know.md"
BEGIN: Final = "<!-- {}: begin (written by scripts/how_we_know.py) -->"
END: Final = "<!-- {}: end -->"
#: First part of a file of MediaPipe → how the page calls it.
AREAS: Final = {"calculators": "calculators", "framework": "the framework", "python": "the Python package"}
#: What was recorded of MediaPipe 0.10.21 → the files, below `CASES`.
RECORDED: Final = {
    "runs of small graphs, every packet and every error": "recorded/*.json",
    "runs of MediaPipe's shipped graphs with their models, every stream": "door/reference/*.json.gz",
    "shipped graphs after the expansion of their subgraphs": "door/expanded/*.pbtxt",
}


def of_reference_tests() -> list[str]:
    """Return the table of MediaPipe's own tests."""
    ledger = reference_tests.read_ledger()
    lines = [
        "| MediaPipe's tests of | tests | agree | deviate on purpose | not applicable |",
        "|---|--:|--:|--:|--:|",
    ]
    total: Counter[str] = Counter()
    for area, title in AREAS.items():
        files = [(file, tests) for file, tests in ledger.tests.items() if file.startswith(f"{area}/")]
        count = Counter(ledger.state(file, test) for file, tests in files for test in tests)
        total += count
        lines.append(_row(title, count))
    return [*lines, _row("all", total)]


def _row(title: str, count: Counter[str]) -> str:
    numbers = (count.total(), count["agrees"], count["deviates"], count["not applicable"])
    return f"| {title} | {' | '.join(f'{number:,}' for number in numbers)} |"


def of_recorded_runs() -> list[str] | None:
    """Return the table of recorded runs; None where they are not here."""
    if not CASES.is_dir():
        return None
    lines = ["| recorded of MediaPipe 0.10.21 | |", "|---|--:|"]
    return lines + [f"| {title} | {len(list(CASES.glob(files)))} |" for title, files in RECORDED.items()]


TABLES: Final[dict[str, Callable[[], list[str] | None]]] = {
    "reference tests": of_reference_tests,
    "recorded runs": of_recorded_runs,
}


def current(page: str) -> str:
    """Return the page with the tables of today.

    Raises:
        ValueError: the page lacks a mark.
    """
    for name, table in TABLES.items():
        lines = table()
        if lines is None:
            continue
        begin, end = BEGIN.format(name), END.format(name)
        head, _, rest = page.partition(begin)
        _, _, tail = rest.partition(end)
        if not tail:
            raise ValueError(f"{PAGE.name} lacks {begin!r} or {end!r}")
        page = "\n".join((f"{head}{begin}\n", *lines, f"\n{end}{tail}"))
    return page


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if the page is not current"
    )
    arguments = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    new = current(page)
    if not arguments.check:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        print(f"{PAGE.relative_to(ROOT)} is not current; run python scripts/how_we_know.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
