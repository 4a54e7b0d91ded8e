"""The limit of processor time that trials set before each input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TRIALS = Path(__file__).resolve().parent.parent / "scripts" / "trials"
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="clocks are numbered as Linux does"),
    pytest.mark.heavy,
]

#: Uses processor time, sets a limit of one second more, and goes on for as long as the argument says.
PROGRAM = """
import sys, time
from processor_limit import limit_processor, used
def work(seconds):
    until = used() + seconds
    while used() < until:
        pass
work(1.5)
limit_processor(1)
work(float(sys.argv[1]))
print("done")
"""


@pytest.mark.parametrize(("seconds", "said"), [(0.5, "done\n"), (30, "")])
def test_what_a_process_has_used_before_does_not_count(seconds, said):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(seconds)],
        cwd=TRIALS, capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip

    assert (done.stdout, done.returncode < 0) == (said, not said)
