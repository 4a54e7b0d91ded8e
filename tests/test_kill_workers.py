"""scripts/trials/kill_workers.py lets workers die, and tells what is wrong and what is left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/trials/kill_workers.py"

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]


def killed(*arguments):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_workers_that_die_are_counted_and_leave_nothing():
    done = killed("--kind", "exit 3", "--deaths", "4", "--jobs", "4")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 deaths of 1 kinds, 0 findings" in done.stdout


def test_a_run_that_does_not_end_in_time_is_a_finding():
    done = killed("--kind", "stopped", "--one", "3", "--patience", "0.01")

    assert done.returncode == 1
    assert "Death(number=3, kind='stopped'" in done.stdout
    assert "WaitTimeoutError" in done.stdout
