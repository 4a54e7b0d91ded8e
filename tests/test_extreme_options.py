"""scripts/trials/extreme_options.py gives options extreme numbers, and tells what that costs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/trials/extreme_options.py"

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(sys.platform != "linux", reason="limits processes as Linux does"),
]


def tried(*arguments):
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def test_options_with_limits_have_no_finding():
    done = tried("--only", "SsdAnchors", "--field", "num_layers")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 cases, 0 findings; not fed: \n" in done.stdout


def test_a_case_that_takes_more_than_it_may_is_a_finding():
    done = tried("--only", "SsdAnchors", "--field", "num_layers", "--most", "-1")

    assert done.returncode == 1
    assert "SsdAnchorsCalculator: num_layers = 2147483647: " in done.stdout
    assert "3 cases, 3 findings" in done.stdout
