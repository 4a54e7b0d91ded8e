"""Change the engine and the runtime in small ways, and look whether a test notices each change.

    python scripts/mutants.py                        100 mutants of engine/ and runtime/, of seed 1
    python scripts/mutants.py --sample 500 --seed 2  others, and more
    python scripts/mutants.py engine/flow --all      all mutants of one module
    python scripts/mutants.py --list                 print the mutants, and test none
    python scripts/mutants.py --report docs/mutants.md --equivalent scripts/mutation/equivalent.json

A mutant is the code with one small change (`mutation/changes.py`). The tests of its module run in a copy of
the core, then the tests of its layer (`mutation/tests_of.py`), until one fails: the mutant is killed. It
is too where the tests hang, which is ended after a time-out. Results are kept in the file of `--state`, so
a run that was interrupted goes on where it was; a module that has changed since is tested again.

mutmut and cosmic-ray were looked at: docs/decisions/112-mutants.md says why neither is used.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from compileall import compile_dir
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import TYPE_CHECKING, Final, NamedTuple

from mutation.changes import Change, changes
from mutation.report import Result, page
from mutation.tests_of import stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "core/src/penstock"
STATE: Final = ROOT / ".mutants.jsonl"
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_PYTEST: Final = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE")
#: Exit status of pytest where there was nothing to run.
_NO_TESTS: Final = 5
#: What a copy has: all that the tests of the core read.
_COPIED: Final = (
    "core",
    "plugins",
    "subgraphs",
    "tests",
    "contrib",
    "conftest.py",
    "pyproject.toml",
    "toxfile.py",
)
#: How long a test may take by itself before it is held for a hang.
_TEST_S: Final = 40


class Mutant(NamedTuple):
    """A change of a module; `module` is its path below the package, without ".py"."""

    module: str
    change: Change
    #: The source that is changed.
    source: str

    @property
    def path(self) -> Path:
        """The file of the module."""
        return PACKAGE / f"{self.module}.py"

    @property
    def key(self) -> str:
        """A name that stays while the source of the module stays."""
        told = "\0".join([self.module, self.source, *map(str, self.change)])
        return hashlib.sha256(told.encode()).hexdigest()[:16]

    def result(self, outcome: str, by: str, seconds: float) -> Result:
        """Return what is written into the state and the report."""
        change, path = self.change, self.path.relative_to(ROOT).as_posix()
        return Result(
            self.key,
            path,
            change.line,
            change.kind,
            change.old(self.source),
            change.new,
            outcome,
            by,
            seconds,
        )


def mutants_of(modules: Iterable[str]) -> list[Mutant]:
    """Return all mutants of modules, or of folders of modules, below the package.

    Raises:
        SystemExit: there is no such module.
    """
    found = []
    for name in modules:
        paths = [PACKAGE / f"{name}.py"] if (PACKAGE / f"{name}.py").is_file() else _sources(PACKAGE / name)
        if not paths:
            raise SystemExit(f"there is no module {name!r} below {PACKAGE.relative_to(ROOT)}")
        for path in paths:
            source = path.read_text(encoding="utf-8")
            module = path.relative_to(PACKAGE).with_suffix("").as_posix()
            found += [Mutant(module, one, source) for one in changes(source) if _compiles(one, source)]
    return found


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def _compiles(change: Change, source: str) -> bool:
    try:
        ast.parse(change.apply(source))
    except SyntaxError:
        return False
    return True


def _copy_tree(folder: Path) -> None:
    """Copy the files that git knows or would take, as they are now."""
    listed = subprocess.run(  # noqa: S603  # git, with names from this module
        ["git", "ls-files", "-z", "-co", "--exclude-standard", *_COPIED],  # noqa: S607  # whichever git is installed
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Bench:
    """A copy of the tree in which one mutant at a time is tested."""

    def __init__(self, folder: Path, timeout_s: float, *, quick: bool = False) -> None:
        self._root: Final = folder
        self._timeout_s: Final = timeout_s
        self._stages: Final = 1 if quick else None
        _copy_tree(folder)
        # Checked by hash: modules of one size that change within a second would be taken from an older .pyc.
        for name in ("core/src", "plugins/testing/src"):
            compile_dir(folder / name, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        sources = sorted(folder.glob("*/src")) + sorted(folder.glob("*/*/src"))
        self._environment: Final = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }
        self._check()
        found = (folder / "core/tests").rglob("test_*.py")
        self._files: Final = {path.relative_to(folder).as_posix() for path in found}

    def _check(self) -> None:
        code = "import penstock, penstock_testing; print(penstock.__file__, penstock_testing.__file__)"
        command = [sys.executable, "-c", code]
        said = subprocess.run(  # noqa: S603  # this Python
            command, cwd=self._root, env=self._environment, stdout=subprocess.PIPE, text=True, check=True
        )
        if not all(path.startswith(str(self._root)) for path in said.stdout.split()):
            raise SystemExit(f"the tests would not see the copy: they import {said.stdout.strip()}")

    def test(self, mutant: Mutant, stopped: threading.Event) -> Result | None:
        """Test a mutant; None where it was stopped meanwhile."""
        place = self._root / mutant.path.relative_to(ROOT)
        began = time.monotonic()
        place.write_text(mutant.change.apply(mutant.source), encoding="utf-8")
        try:
            for arguments in stages(mutant.module, self._files)[: self._stages]:
                outcome, by = self._run(arguments, stopped)
                if outcome != "survived" or stopped.is_set():
                    break
        finally:
            place.write_text(mutant.source, encoding="utf-8")
        return None if stopped.is_set() else mutant.result(outcome, by, round(time.monotonic() - began, 1))

    def failing(self, tests: Sequence[str]) -> list[str]:
        """Run tests on the code as it is; return the ids of the tests that fail."""
        command = [sys.executable, "-m", "pytest", *_PYTEST[1:], *tests]
        said = subprocess.run(  # noqa: S603  # pytest
            command, cwd=self._root, env=self._environment, capture_output=True, text=True, check=False
        )
        found = _FAILED.findall(said.stdout)
        if said.returncode and not found:
            raise RuntimeError(f"the tests that killed mutants cannot run:\n{said.stdout[-2000:]}")
        return found

    def _run(self, arguments: Sequence[str], stopped: threading.Event) -> tuple[str, str]:
        command = [sys.executable, "-m", "pytest", *_PYTEST, "-o", f"timeout={_TEST_S}", *arguments]
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(  # noqa: S603  # pytest
                command,
                cwd=self._root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            status = _wait(process, self._timeout_s, stopped)
            said.seek(0)
            text = said.read()
        if status is None:
            return "killed", f"hang: ended after {self._timeout_s:.0f} s"
        if status == 0:
            return "survived", ""
        if status == _NO_TESTS or "file or directory not found" in text:
            raise RuntimeError(f"no test ran: {' '.join(command)}")
        failed = _FAILED.search(text)
        if failed is not None:
            return "killed", failed[1]
        if "Timeout" in text:
            return "killed", f"hang: a test took more than {_TEST_S} s"
        last = text.strip().splitlines()
        return "killed", f"no import: {last[-1][:120]}" if last else f"exit status {status}"


def _wait(process: subprocess.Popen[bytes], timeout_s: float, stopped: threading.Event) -> int | None:
    """Wait for the end, and end what is left of its session; None where it took too long or was stopped."""
    deadline = time.monotonic() + timeout_s
    try:
        while time.monotonic() < deadline and not stopped.is_set():
            try:
                return process.wait(0.25)
            except subprocess.TimeoutExpired:
                continue
        return None
    finally:
        with contextlib.suppress(ProcessLookupError):  # nothing is left
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def read_state(path: Path) -> dict[str, Result]:
    """Return the results that are kept, by the key of the mutant."""
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
    return {row["key"]: Result(**row) for row in rows}


def false_kills(results: Iterable[Result], timeout_s: float) -> list[Result]:
    """Return the mutants that were killed by a test that fails on the code as it is, too."""
    killed = [one for one in results if one.outcome == "killed" and "::" in one.by]
    if not killed:
        return []
    with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as folder:
        failing = set(Bench(Path(folder), timeout_s).failing(sorted({one.by for one in killed})))
    return [one for one in killed if one.by in failing]


class Hunt:
    """Tests mutants on several benches at a time, and keeps the results."""

    def __init__(
        self, mutants: Sequence[Mutant], state: Path, processes: int, timeout_s: float, *, quick: bool
    ) -> None:
        self._quick: Final = quick
        self._todo: Final[queue.SimpleQueue[Mutant]] = queue.SimpleQueue()
        self._state: Final = state
        self._processes: Final = processes
        self._timeout_s: Final = timeout_s
        self._lock: Final = threading.Lock()
        self._stopped: Final = threading.Event()
        self._left = len(mutants)
        for mutant in mutants:
            self._todo.put(mutant)

    def run(self) -> None:
        """Test all; Ctrl-C ends the tests that run, and keeps what is known."""
        threads = []
        with tempfile.TemporaryDirectory(prefix="penstock-mutants-") as folder:
            for number in range(min(self._processes, self._left)):
                bench = Bench(Path(folder) / str(number), self._timeout_s, quick=self._quick)
                threads.append(threading.Thread(target=self._serve, args=(bench,), name=f"bench-{number}"))
            try:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            finally:
                self._stopped.set()
                for thread in threads:
                    thread.join(self._timeout_s)

    def _serve(self, bench: Bench) -> None:
        while not self._stopped.is_set():
            try:
                mutant = self._todo.get_nowait()
            except queue.Empty:
                return
            result = bench.test(mutant, self._stopped)
            if result is None:
                return
            with self._lock:
                self._left -= 1
                with self._state.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(result._asdict())}\n")
                print(f"{self._left} left  {result.seconds:6.1f} s  {result.told()}", flush=True)


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """Return the mutants that the command line asks for, in the order of their places."""
    mutants = mutants_of(arguments.modules)
    if arguments.all or arguments.sample >= len(mutants):
        return mutants
    picked = random.Random(arguments.seed).sample(range(len(mutants)), arguments.sample)  # noqa: S311
    return [mutants[number] for number in sorted(picked)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "modules", nargs="*", default=["engine", "runtime"], help="modules or folders below core/src/penstock"
    )
    parser.add_argument("--sample", type=int, default=100, help="how many mutants; 100")
    parser.add_argument("--seed", type=int, default=1, help="which ones; 1")
    parser.add_argument("--all", action="store_true", help="all mutants of the modules")
    parser.add_argument("--list", action="store_true", help="print the mutants, and test none")
    parser.add_argument("--state", type=Path, default=STATE, help="where results are kept; .mutants.jsonl")
    parser.add_argument("--again", action="store_true", help="test survivors of the state again")
    parser.add_argument(
        "--quick", action="store_true", help="ask only the tests of each module, not of its layer"
    )
    parser.add_argument("--processes", type=int, default=2, help="how many mutants are tested at a time; 2")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one call of pytest; 300")
    parser.add_argument("--equivalent", type=Path, help="a file of reasons why survivors are equivalent")
    parser.add_argument("--report", type=Path, help="the page to write, in Markdown")
    return parser.parse_args()


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Carry out what the command line asks for; return 1 where a mutant survived without a reason."""
    arguments = _arguments()
    mutants = chosen(arguments)
    if arguments.list:
        for mutant in mutants:
            print(mutant.result("untested", "", 0.0).told())
        return 0
    known = read_state(arguments.state)
    todo = [
        one
        for one in mutants
        if one.key not in known or (arguments.again and known[one.key].outcome == "survived")
    ]
    random.Random(arguments.seed).shuffle(todo)  # noqa: S311  # so that a part of them is a sample too
    print(f"{len(mutants)} mutants, {len(mutants) - len(todo)} of them known")
    for number in (signal.SIGINT, signal.SIGTERM):  # shells let background jobs ignore Ctrl-C
        signal.signal(number, _interrupt)
    try:
        Hunt(todo, arguments.state, arguments.processes, arguments.timeout, quick=arguments.quick).run()
    except KeyboardInterrupt:
        print(f"interrupted; the same command goes on, from {arguments.state}", file=sys.stderr)
        return 130
    known = read_state(arguments.state)
    results = [known[mutant.key] for mutant in mutants if mutant.key in known]
    false = false_kills(results, arguments.timeout)
    for one in false:
        print(f"not killed, since the test fails without the change too: {one.told()}", file=sys.stderr)
    if false:
        return 2
    reasons = json.loads(arguments.equivalent.read_text(encoding="utf-8")) if arguments.equivalent else {}
    if arguments.report is not None:
        command = " ".join(["python scripts/mutants.py", *sys.argv[1:]])
        arguments.report.write_text(page(results, reasons, command, len(mutants_of(arguments.modules))))
    survivors = [one for one in results if one.outcome == "survived" and one.place not in reasons]
    for one in survivors:
        print(one.told())
    killed = sum(one.outcome == "killed" for one in results)
    print(f"{killed} of {len(results)} killed, {len(survivors)} survived without a reason")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
