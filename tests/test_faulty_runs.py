"""The short form of `faulty_runs.py`: every kind of fault, three times, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "trials" / "faulty_runs.py"
TIMEOUT_S = 100
LEAST_KINDS = 25

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc on this system")


def faulty_runs(*arguments: object) -> tuple[int, dict[str, tuple[int, int]], str]:
    """Return the exit status, (number of runs, number of faults) by kind, and all that was printed."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    rows = re.findall(r"^(\S.*?) +(\d+) +(\d+) +(?:\d+)? *$", done.stdout, re.MULTILINE)
    kinds = {name: (int(runs), int(faults)) for name, runs, faults in rows if name != "all"}
    return done.returncode, kinds, done.stdout + done.stderr


@needs_proc
def test_faults_of_all_kinds_end_their_runs_with_typed_errors_and_leave_nothing():
    code, kinds, said = faulty_runs("--runs", 291, "--seed", 7)

    assert (code, said.count("FINDING")) == (0, 0), said
    assert len(kinds) > 2 * LEAST_KINDS
    assert all(runs >= 3 for runs, _ in kinds.values()), said
    happened = [name for name, (_, faults) in kinds.items() if faults]
    assert len(happened) > 0.9 * len(kinds), said
    assert {
        "an executor dies in silence",
        "an interrupt at a random bytecode",
        "a fork during the run",
    } <= set(happened)


@needs_proc
def test_one_run_is_told_with_its_graph_and_what_happened():
    code, kinds, said = faulty_runs("--one", 3, "--kind", "abandon at a random moment")

    assert (code, kinds) == (0, {"abandon at a random moment": (1, 1)}), said
    assert 'executor { name: "own" }' in said
    assert "abandon raised GraphRunError: the graph run failed" in said


@needs_proc
def test_a_kind_that_does_not_exist_is_refused_with_those_that_do():
    code, _, said = faulty_runs("--kind", "nothing of that kind")

    assert code == 2
    assert "an executor dies in silence" in said
