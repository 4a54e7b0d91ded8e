"""The short form of `full_disks.py`: disks that fill up while graphs write files."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "trials" / "full_disks.py"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="limits its processes as Linux does"),
    pytest.mark.heavy,
]


def test_runs_whose_disk_fills_up_fail_with_the_name_of_their_file():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--count", "14", "--seed", "2"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "14 runs, 0 findings" in done.stdout
    assert "GraphRunError" in done.stdout


def test_an_error_that_names_no_file_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    script = importlib.import_module("full_disks")

    def write(path):
        path.write_bytes(b"x" * 100)
        raise script.PenstockError("the disk is full")

    outcome, findings, size = script.in_child(script.Writer("a.bin", write), None)

    assert (outcome, size) == ("PenstockError", 100)
    assert findings == ["the error names no file: the disk is full"]
