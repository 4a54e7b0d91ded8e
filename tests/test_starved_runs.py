"""The short form of `starved_runs.py`: runs in processes without descriptors, threads or memory."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "trials" / "starved_runs.py"

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(sys.platform != "linux", reason="limits its processes as Linux does"),
]


def starved(*arguments):
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_runs_end_with_typed_errors_where_a_process_gets_no_more_of_something():
    done = starved("--count", 15, "--seed", 3)

    assert done.returncode == 0, done.stdout + done.stderr
    kinds = dict(re.findall(r"^(no .*?) +(\d+) +\d+ +\d* *$", done.stdout, re.MULTILINE))
    assert kinds == dict.fromkeys(
        ("no descriptor is left", "no thread can be started", "no memory is left"), "5"
    )


def test_one_run_tells_from_where_on_its_process_gets_no_more():
    done = starved("--one", 3, "--kind", "descriptor")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "from here on: no descriptor is left" in done.stdout


def test_a_process_that_is_ended_is_a_finding(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    script = importlib.import_module("starved_runs")
    killing = script.KINDS[0]._replace(begin=lambda _: os.kill(os.getpid(), signal.SIGKILL))

    found = script.in_child(1, killing, is_verbose=False)

    assert [one.split("\n")[0] for one in found] == ["ended by SIGKILL"]
