"""A copy of the tree in which one mutant at a time is tested."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from compileall import compile_dir
from py_compile import PycInvalidationMode
from typing import TYPE_CHECKING, Final

from mutation.mutant import ROOT
from mutation.tests_of import FOLDERS, stages

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mutation.mutant import Mutant
    from mutation.report import Result

_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
#: Plugins of pytest that the tests use; to look for all that are installed takes half of a short test's time.
_PLUGINS: Final = tuple(
    f"-p{name}" for name in ("pytest_timeout", "xdist.plugin", "penstock_testing.pytest_plugin")
)
_PYTEST: Final = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-rfE")
_NO_SUCH_TEST: Final = re.compile(r"^ERROR: not found: ", re.MULTILINE)
#: Exit status of pytest where there was nothing to run.
_NO_TESTS: Final = 5
#: What a copy has: all that the tests read.
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
#: What is compiled once for all tests: a test starts by importing it.
_COMPILED: Final = (
    "core/src",
    *(
        f"plugins/{name}/src"
        for name in (
            "calculators",
            "executors",
            "failures",
            "formats",
            "remote",
            "stream-handlers",
            "testing",
        )
    ),
)
#: What the tests of a mutant may take of the memory: no test needs as much.
_MOST_BYTES: Final = 8 * 2**30
#: How long a test may take by itself before it is held for a hang.
_TEST_S: Final = 40


class Bench:
    """A copy of the tree in which one mutant at a time is tested.

    Args:
        folder: where the copy is made; must not exist.
        timeout_s: how long one call of pytest may take.
        quick: whether to ask only the tests of each module, not of its layer.
        killers: key of a mutant → the test that killed it before, which is asked first.
    """

    def __init__(
        self, folder: Path, timeout_s: float, *, quick: bool = False, killers: Mapping[str, str] | None = None
    ) -> None:
        self._root: Final = folder
        self._timeout_s: Final = timeout_s
        self._stages: Final = 1 if quick else None
        self._killers: Final = killers or {}
        _copy_tree(folder)
        # Checked by hash: modules of one size that change within a second would be taken from an older .pyc.
        for name in _COMPILED:
            compile_dir(folder / name, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        sources = sorted(folder.glob("*/src")) + sorted(folder.glob("*/*/src"))
        self._environment: Final = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        self._check()
        found = [path for one in FOLDERS for path in (folder / one).rglob("test_*.py")]
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
        place = self._root / mutant.path
        began = time.monotonic()
        asked = stages(mutant.path, self._files)[: self._stages]
        killer = self._killers.get(mutant.key, "")
        if killer.partition("::")[0] in self._files:
            asked.insert(0, [killer])
        place.write_text(mutant.change.apply(mutant.source), encoding="utf-8")
        try:
            for arguments in asked:
                outcome, by = self._run(arguments, stopped)
                if outcome != "survived" or stopped.is_set():
                    break
        finally:
            place.write_text(mutant.source, encoding="utf-8")
        return None if stopped.is_set() else mutant.result(outcome, by, round(time.monotonic() - began, 1))

    def failing(self, tests: Sequence[str]) -> list[str]:
        """Run tests on the code as it is; return the ids of the tests that fail."""
        command = [sys.executable, "-m", "pytest", *_PLUGINS, *_PYTEST[1:], *tests]
        said = subprocess.run(  # noqa: S603  # pytest
            command, cwd=self._root, env=self._environment, capture_output=True, text=True, check=False
        )
        found = _FAILED.findall(said.stdout)
        if said.returncode and not found:
            raise RuntimeError(f"the tests that killed mutants cannot run:\n{said.stdout[-2000:]}")
        return found

    def _run(self, arguments: Sequence[str], stopped: threading.Event) -> tuple[str, str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            *_PLUGINS,
            *_PYTEST,
            "-o",
            f"timeout={_TEST_S}",
            *arguments,
        ]
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
            _limit_memory(process.pid)
            status = _wait(process, self._timeout_s, stopped)
            said.seek(0)
            text = said.read()
        if status is None:
            return "killed", f"hang: ended after {self._timeout_s:.0f} s"
        if status == 0:
            return "survived", ""
        if _NO_SUCH_TEST.search(text):  # a test that killed before, and has another name now
            return "survived", ""
        if status == _NO_TESTS or "ERROR: file or directory not found" in text:
            raise RuntimeError(f"no test ran: {' '.join(command)}")
        failed = _FAILED.search(text)
        if failed is not None:
            return "killed", failed[1]
        if "Timeout" in text:
            return "killed", f"hang: a test took more than {_TEST_S} s"
        last = text.strip().splitlines()
        return "killed", f"no import: {last[-1][:120]}" if last else f"exit status {status}"


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


def _limit_memory(process: int) -> None:
    """Let a mutant that fills a list without end fail, before the machine has no memory left."""
    if sys.platform == "linux":
        import resource  # other systems lack it, or `prlimit`

        resource.prlimit(process, resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))


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
