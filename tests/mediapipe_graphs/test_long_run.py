"""Hands that come and go, frame after frame: trials/beside/hands_beside_reference.py in its short form."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/trials/beside/hands_beside_reference.py"
#: An interpreter with mediapipe==0.10.21, whose results are compared; without it the other checks are made.
REFERENCE = os.environ.get("PENSTOCK_REFERENCE_PYTHON")


@pytest.mark.usefixtures("models")
def test_hundred_frames_of_hands_that_come_and_go(pictures):
    command = [sys.executable, str(SCRIPT), "--pictures", str(pictures), "--frames", "100"]
    if REFERENCE:
        command += ["--reference", REFERENCE]

    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    changes = re.search(r"number changed (\d+) times", done.stdout)
    assert int(changes[1]) >= 3, done.stdout
    if REFERENCE:
        assert "100 frames compared" in done.stdout
