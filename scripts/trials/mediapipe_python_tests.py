"""Run MediaPipe's own Python tests with Penstock: only their imports are changed.

    python scripts/trials/mediapipe_python_tests.py CLONE [--pictures FOLDER]

CLONE is a clone of MediaPipe (the folder with mediapipe/python). The tests are copied into a temporary
directory, `from mediapipe` becomes `from penstock_mediapipe`, and pytest runs them. One of them forgets to
import tempfile, which is added. They need absl-py, which nothing else here does: pip install absl-py. The
solutions need `pip install "penstock-mediapipe[litert]"` and MediaPipe's wheel, which
PENSTOCK_MEDIAPIPE_MODELS names.

The clone does not have the pictures and videos that some tests want; files of FOLDER with their names are
given to them. A test that fails because such a file or a model is not here is counted for itself. Exits with
1 if a test fails for another reason, with 2 if the tests cannot run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Where the tests are in a clone, and where those of the solutions look for pictures.
TESTS: Final = Path("mediapipe/python")
PICTURES: Final = Path("solutions/testdata")
_IMPORT: Final = re.compile(r"^(\s*)(from|import) mediapipe\b", re.MULTILINE)
#: What tells of a file that is not here: OpenCV, NumPy and Penstock write these.
_MISSING: Final = (
    re.compile(r"imread_\('([^']+)'\): can't open/read file"),
    re.compile(r"FileNotFoundError: \[Errno 2\] No such file or directory: '([^']+)'"),
    re.compile(r"can't fopen\): (\S+)"),
    re.compile(r"FileNotFoundError: the model '([^']+)' was not found"),
    re.compile(r"'?(mediapipe/modules/[\w/.]+)'? .*not found"),
)
_LIMIT_S: Final = 1200
_LONGEST_REASON: Final = 160


@attrs.frozen
class Outcome:
    """What became of one test."""

    #: The file of the test, relative to `mediapipe/python`.
    file: str
    name: str
    #: "pass", "fail" or "want".
    state: str
    #: The name of the file that is not here, or what the failure says.
    why: str = ""


def changed(text: str) -> str:
    """Return a test with its imports changed, and nothing else."""
    text = _IMPORT.sub(r"\1\2 penstock_mediapipe", text)
    if "tempfile." in text and not re.search(r"^import tempfile\b", text, re.MULTILINE):
        text = re.sub(r"^import os$", "import os, tempfile", text, count=1, flags=re.MULTILINE)
    return text


def copy_tests(clone: Path, pictures: Path | None, target: Path) -> list[str]:
    """Copy the tests of a clone, changed, and the files that they name.

    Args:
        clone: has mediapipe/python.
        pictures: has files of the names that the tests want; or None.
        target: an empty directory.

    Returns:
        The tests, relative to `target`.
    """
    source = clone / TESTS
    tests = sorted(path.relative_to(source).as_posix() for path in source.rglob("*_test.py"))
    texts = {name: changed((source / name).read_text()) for name in tests}
    for name, text in texts.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
    (target / "pytest.ini").write_text("[pytest]\npython_files = *_test.py\n")
    all_text = "\n".join(texts.values())
    for folder in (source / PICTURES, pictures):
        for path in sorted(folder.iterdir()) if folder is not None and folder.is_dir() else ():
            if path.is_file() and path.name in all_text:
                (target / PICTURES).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / PICTURES / path.name)
    return tests


def run_tests(target: Path) -> tuple[str, str]:
    """Run the tests in a directory; return pytest's report as XML, "" without one, and what it printed."""
    report = target / "report.xml"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "--continue-on-collection-errors", "-p", "no:cacheprovider"),
        *("-W", "ignore", "--import-mode=importlib", "-o", "junit_logging=all", f"--junitxml={report}"),
        str(target),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    try:
        done = subprocess.run(  # noqa: S603  # pytest, with the tests that the user names
            command,
            cwd=target,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return "", f"the tests took more than {_LIMIT_S} s"
    return report.read_text() if report.exists() else "", done.stdout + done.stderr


def outcomes_of(report: str, tests: Iterable[str]) -> list[Outcome]:
    """Return what became of each test, from pytest's report.

    Args:
        report: XML as pytest writes it.
        tests: the files that were run, as `copy_tests` returns them.
    """
    files = {name.removesuffix(".py").replace("/", "."): name for name in tests}
    found = []
    for case in ET.fromstring(report).iter("testcase"):  # noqa: S314  # written by pytest just now
        module = next((one for one in files if f"{case.get('classname')}.".startswith(f"{one}.")), None)
        name = case.get("name", "")
        # A module that cannot be imported has no class name, and its case has the name of the module.
        file = files.get(module or name, module or name)
        found.append(_outcome(file, name, case))
    return found


def _outcome(file: str, name: str, case: ET.Element) -> Outcome:
    """Return what became of one test."""
    failures = [one for tag in ("failure", "error", "skipped") for one in case.iter(tag)]
    if not failures:
        return Outcome(file, name, "pass")
    text = "\n".join([failures[0].get("message", ""), failures[0].text or ""])
    missing = missing_file(text + "\n".join(one.text or "" for one in case.iter("system-err")))
    if missing is not None:
        return Outcome(file, name, "want", missing)
    lines = [line.strip() for line in failures[0].get("message", "").splitlines() if line.strip()]
    return Outcome(file, name, "fail", " ".join(lines)[:_LONGEST_REASON])


def missing_file(text: str) -> str | None:
    """Return the name of the file that a failure says is not here, or None if it tells of something else."""
    for pattern in _MISSING:
        for path in pattern.findall(text):
            if not Path(path).exists():
                return str(path).rpartition("/")[2]
    return None


def table(outcomes: Iterable[Outcome], tests: Iterable[str]) -> str:
    """Return a line for each file: tests, and how many pass, fail, and want files that are not here."""
    counts = Counter((one.file, one.state) for one in outcomes)
    rows: list[tuple[str, ...]] = [("file", "tests", "pass", "fail", "want files that are not here")]
    states = ("pass", "fail", "want")
    numbers = {file: [counts[file, state] for state in states] for file in tests}
    numbers["all"] = [sum(column) for column in zip(*numbers.values(), strict=True)]
    rows += [(file, str(sum(row)), *map(str, row)) for file, row in numbers.items()]
    width = max(len(row[0]) for row in rows)
    return "\n".join(f"{row[0]:{width}} | " + " | ".join(f"{cell:>5}" for cell in row[1:]) for row in rows)


def lacking() -> list[str]:
    """Return what has to be installed before the tests can run."""
    needed = {"absl": "absl-py", "pytest": "pytest", "penstock_mediapipe": '"penstock-mediapipe[litert]"'}
    needed |= {"ai_edge_litert": '"penstock-mediapipe[litert]"', "PIL": "pillow"}
    return list(dict.fromkeys(name for module, name in needed.items() if find_spec(module) is None))


def report_on(outcomes: list[Outcome], tests: list[str]) -> int:
    """Print what became of the tests, and return the exit code."""
    print(table(outcomes, tests))
    wanted = Counter(one.why for one in outcomes if one.state == "want")
    for name, count in sorted(wanted.items()):
        print(f"not here: {name} (tests that want it: {count})")
    failed = [one for one in outcomes if one.state == "fail"]
    for one in failed:
        print(f"FAILED {one.file} {one.name}: {one.why}")
    return 1 if failed else 0


def main() -> int:
    """Carry out what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("clone", type=Path, help="a clone of MediaPipe: the folder with mediapipe/python")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="has pictures that the tests want")
    arguments = parser.parse_args()
    if not (arguments.clone / TESTS).is_dir():
        parser.error(f"{arguments.clone} is no clone of MediaPipe: it has no folder {TESTS}")
    if arguments.pictures is not None and not arguments.pictures.is_dir():
        parser.error(f"{arguments.pictures} is no folder")
    if lacking():
        parser.error(f"the tests need more: pip install {' '.join(lacking())}")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder).resolve()
        tests = copy_tests(arguments.clone, arguments.pictures, target)
        report, printed = run_tests(target)
        if not report:
            parser.error(f"pytest gave no report:\n{printed}")
        return report_on(outcomes_of(report, tests), tests)


if __name__ == "__main__":
    raise SystemExit(main())
