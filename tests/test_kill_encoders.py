"""`scripts/trials/kill_encoders.py`: a process that is killed while it encodes loses two seconds at most."""

from __future__ import annotations

import multiprocessing
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/trials/kill_encoders.py"

pytestmark = [
    pytest.mark.skipif(
        "forkserver" not in multiprocessing.get_all_start_methods(), reason="processes from a fork server"
    ),
    pytest.mark.heavy,
]


def kill(*words):
    command = [sys.executable, str(SCRIPT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("container", ["mp4", "mkv", "avi", "webm"])
def test_a_killed_encoder_leaves_a_file_that_plays_up_to_two_seconds_before(container):
    done = kill("--kills", "3", "--container", container, "--seed", "16")

    assert done.returncode == 0, done.stdout + done.stderr
    found = re.fullmatch(rf"{container}: 3 kills, .* lost: at most ([\d.]+) s, .*; wrong: 0\n", done.stdout)
    assert found, done.stdout
    assert float(found[1]) <= 2


def test_more_loss_than_is_allowed_is_a_failure():
    done = kill("--kills", "2", "--container", "mp4", "--most", "-1")

    assert done.returncode == 1
