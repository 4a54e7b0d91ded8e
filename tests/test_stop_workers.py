"""The short form of `stop_workers.py`: workers that are stopped from outside at random moments."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "trials" / "stop_workers.py"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.heavy,
]


def test_runs_end_whether_a_worker_is_stopped_for_ever_or_for_a_moment():
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--count", "4", "--seed", "3"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"4 runs \(.*\d for ever.*\), 0 findings", done.stdout), done.stdout
