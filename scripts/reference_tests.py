"""Count how many of MediaPipe's own unit tests agree with ours, from the marks on our tests.

    python scripts/reference_tests.py              write docs/reference-tests.md
    python scripts/reference_tests.py --check      say what is not current or contradicts itself, and exit 1
    python scripts/reference_tests.py --open       print the tests that nobody has looked at, by file
    python scripts/reference_tests.py --read DIR   write tests/reference/tests.tsv from a clone of MediaPipe

A test of ours that has the inputs, the options and the expected values of some of MediaPipe's tests says so:

    @pytest.mark.reference("calculators/core/gate_calculator_test.cc", "GateCalculatorTest.InvalidInputs")

The file is relative to MediaPipe's directory `mediapipe`; several names may follow it. What we do not test so
stands in a file of `tests/reference/exceptions/`, one line for each test or `*` for a whole file: file, test,
`deviates` or `not applicable`, reason. The reason of a deviation begins with the number of a difference in
docs/mediapipe.md, as in "difference 12: ...".

The marks are read from the source, so no pack has to be installed. That the marked tests pass is what the
test run shows.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).resolve().parents[1]
LISTED: Final = ROOT / "tests/reference/tests.tsv"
EXCEPTIONS: Final = ROOT / "tests/reference/exceptions"
PAGE: Final = ROOT / "docs/reference-tests.md"
#: Numbers what Penstock does otherwise than MediaPipe, on purpose.
DIFFERENCES: Final = ROOT / "docs/mediapipe.md"
#: Where our tests are, relative to the root.
TESTS: Final = ("core/tests", "plugins/*/tests", "subgraphs/*/tests", "tests")
#: Directories of MediaPipe whose tests are listed, and the ends of the files' names.
READ: Final = {
    "calculators": "_test.cc",
    "framework": "_test.cc",
    "python": "_test.py",
}
STATES: Final = ("deviates", "not applicable")
_CPP_TEST: Final = re.compile(r"^\s*(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
_CPP_COMMENT: Final = re.compile(r"//[^\n]*")
_DIFFERENCE: Final = re.compile(r"difference (\d+): ")
_NUMBERED: Final = re.compile(r"^(\d+)\. ", re.MULTILINE)


@dataclass
class Ledger:
    """What is known of each of MediaPipe's tests, and what contradicts itself."""

    #: File → its tests, in the order of the file.
    tests: dict[str, list[str]]
    #: (file, test) → our tests that have its facts, as `path::name`.
    agreeing: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    #: (file, test) → state and reason.
    excepted: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def state(self, file: str, test: str) -> str:
        """Return "agrees", "deviates", "not applicable" or "open"."""
        if (file, test) in self.excepted:
            return self.excepted[file, test][0]
        return "agrees" if (file, test) in self.agreeing else "open"

    def reason(self, file: str, test: str) -> str:
        """Return why a test is excepted; "" where it is not."""
        return self.excepted.get((file, test), ("", ""))[1]


def read_ledger() -> Ledger:
    """Read the list, the marks and the exceptions."""
    ledger = Ledger(defaultdict(list))
    for line in LISTED.read_text().splitlines()[1:]:
        file, test = line.split("\t")
        ledger.tests[file].append(test)
    for place, file, names in _marks():
        if not names:
            ledger.problems.append(f"{place}: the mark names no test of {file}")
        for name in names:
            if name not in ledger.tests.get(file, ()):
                ledger.problems.append(f"{place}: MediaPipe has no test {name} in {file}")
            ledger.agreeing[file, name].append(place)
    for path in sorted(EXCEPTIONS.glob("*.tsv")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            _read_exception(ledger, f"{path.relative_to(ROOT)}:{number}", line)
    return ledger


def _read_exception(ledger: Ledger, place: str, line: str) -> None:
    """Take in one line of a file of exceptions."""
    try:
        file, test, state, reason = line.split("\t")
    except ValueError:
        ledger.problems.append(f"{place}: expected file, test, state and reason, with tabs between them")
        return
    if state not in STATES:
        ledger.problems.append(f"{place}: the state is {state!r}; expected {' or '.join(map(repr, STATES))}")
    difference = _DIFFERENCE.match(reason)
    if state == "deviates" and not (
        difference and difference[1] in _NUMBERED.findall(DIFFERENCES.read_text())
    ):
        ledger.problems.append(
            f"{place}: a deviation's reason begins with its number in {DIFFERENCES.name}: 'difference 12: '"
        )
    listed = ledger.tests.get(file, [])
    names = [name for name in listed if not ledger.agreeing.get((file, name))] if test == "*" else [test]
    if test != "*" and test not in listed:
        ledger.problems.append(f"{place}: MediaPipe has no test {test} in {file}")
    if not names:
        ledger.problems.append(f"{place}: no test of {file} is left to be excepted")
    for name in names:
        if (file, name) in ledger.agreeing:
            ledger.problems.append(
                f"{place}: {name} is marked by {ledger.agreeing[file, name][0]}, and excepted"
            )
        if test != "*" or (file, name) not in ledger.excepted:
            ledger.excepted[file, name] = (state, reason)


def _marks() -> Iterator[tuple[str, str, list[str]]]:
    """Yield the place, MediaPipe's file and the names of each mark of our tests."""
    for pattern in TESTS:
        for folder in sorted(ROOT.glob(pattern)):
            for path in sorted(folder.rglob("test_*.py")):
                text = path.read_text()
                if "mark.reference(" in text:
                    yield from _marks_of(path.relative_to(ROOT), text)


def _marks_of(path: Path, text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the marks of one file; what is no constant string ends the script with an error."""
    for node in ast.walk(ast.parse(text)):
        marks: list[ast.expr] = []
        name = ""
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.param":
            marks = [word.value for word in node.keywords if word.arg == "marks"]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            marks, name = node.decorator_list, f"::{node.name}"
        for mark in marks:
            for call in mark.elts if isinstance(mark, ast.List | ast.Tuple) else [mark]:
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.reference":
                    file, *names = (str(ast.literal_eval(argument)) for argument in call.args)
                    yield f"{path}{name or f':{call.lineno}'}", file, names


def read_clone(clone: Path) -> str:
    """Return the list of MediaPipe's tests, as text."""
    lines = ["file\ttest"]
    base = clone / "mediapipe"
    for folder, ending in READ.items():
        for path in sorted((base / folder).rglob(f"*{ending}")):
            file = path.relative_to(base).as_posix()
            lines += [f"{file}\t{name}" for name in _names(path.read_text(), ending)]
    return "\n".join(lines) + "\n"


def _names(text: str, ending: str) -> list[str]:
    """Return the names of the tests of one file."""
    if ending.endswith(".cc"):
        return [f"{suite}.{name}" for suite, name in _CPP_TEST.findall(_CPP_COMMENT.sub("", text))]
    return [
        f"{suite.name}.{test.name}"
        for suite in ast.parse(text).body
        if isinstance(suite, ast.ClassDef)
        for test in suite.body
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test")
    ]


def page(ledger: Ledger) -> str:
    """Return the page with the counts of each file."""
    counts = {
        file: Counter(ledger.state(file, test) for test in tests) for file, tests in ledger.tests.items()
    }
    total = sum(counts.values(), Counter())
    apply = total["agrees"] + total["deviates"]
    lines = [
        "# MediaPipe's own tests, one by one",
        "",
        "<!-- Written by scripts/reference_tests.py; what it counts are the marks on our tests. -->",
        "",
        f"MediaPipe's authors have written {total.total()} unit tests for its calculators, its framework",
        f"and its Python interface. {total['agrees']} of them have a test here with the same inputs, options",
        f"and expected values. {total['deviates']} expect something else than Penstock does on purpose, so",
        f"{_share(total['agrees'], apply)} of the tests that apply agree. {total['not applicable']} are",
        f"about parts that Penstock does not have, and {total['open']} have not been looked at. Differences",
        "have the numbers of [what is different, on purpose](mediapipe.md#what-is-different-on-purpose).",
        "",
        "MediaPipe's repository does not have the photographs and videos of its Python tests. The tests here",
        "take other pictures, and the expected values are MediaPipe's results for them. Of the models of",
        "poses, its wheel has only the full one; the cases with the lite and the heavy one are left out.",
        "Where a graph of its tests has a packet generator beside the tested part, a calculator makes the",
        "side packet here.",
        "",
        "| tests of MediaPipe | tests | agree | deviate | not applicable | open |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for file, count in counts.items():
        numbers = [count["agrees"], count["deviates"], count["not applicable"], count["open"]]
        lines.append(
            f"| {file} | {count.total()} | " + " | ".join(str(n) if n else "" for n in numbers) + " |"
        )
    for state, title in (
        ("deviates", "What deviates"),
        ("not applicable", "What does not apply, and why"),
    ):
        lines += ["", f"## {title}", "", "| tests of MediaPipe | reason |", "|---|---|"]
        for file, tests in ledger.tests.items():
            by_reason: dict[str, list[str]] = defaultdict(list)
            for test in tests:
                if ledger.state(file, test) == state:
                    by_reason[ledger.reason(file, test)].append(test)
            for reason, names in by_reason.items():
                whole = (
                    "all" if len(names) == len(tests) else ", ".join(name.partition(".")[2] for name in names)
                )
                lines.append(f"| {file}: {whole} | {reason} |")
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    """Return a share in per cent."""
    return f"{100 * part / whole:.1f} %" if whole else "none"


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    does = parser.add_mutually_exclusive_group()
    does.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if something is not current"
    )
    does.add_argument("--open", action="store_true", help="print the tests that nobody has looked at")
    does.add_argument("--read", type=Path, metavar="DIR", help="list the tests of this clone of MediaPipe")
    arguments = parser.parse_args()
    if arguments.read:
        LISTED.write_text(read_clone(arguments.read))
        return 0
    ledger = read_ledger()
    if arguments.open:
        for file, tests in ledger.tests.items():
            for test in tests:
                if ledger.state(file, test) == "open":
                    print(f"{file}\t{test}")
        return 0
    problems = list(ledger.problems)
    if not arguments.check:
        PAGE.write_text(page(ledger))
    elif not PAGE.exists() or PAGE.read_text() != page(ledger):
        problems.append(f"{PAGE.relative_to(ROOT)} is not current; run python scripts/reference_tests.py")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
