"""Graphs of standard calculators that get stuck, run with the `penstock` command: what it says and uses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

STUCK = Path(__file__).parent / "stuck_graphs"
TIMEOUT_S = 120
CULPRIT = "culprit: the wait goes in a circle: 'Join', which waits for 'Join'"


#: Runs the command line, then writes this process's largest resident memory, in KiB, into a file. The
#: system's own count (`ru_maxrss`) would begin with that of the process which started this one.
COMMAND = """
import atexit, pathlib, runpy, sys

def note(target=pathlib.Path(sys.argv.pop(1))):
    status = pathlib.Path("/proc/self/status").read_text()
    target.write_text(status.partition("VmHWM:")[2].split()[0])

atexit.register(note)
runpy.run_module("penstock_cli", run_name="__main__", alter_sys=True)
"""


@pytest.fixture
def penstock(tmp_path):
    """Runs the command; returns its exit code, stdout, stderr and largest resident memory in bytes."""

    def run(*arguments: object) -> tuple[int, str, str, int]:
        note = tmp_path / "memory"
        command = [sys.executable, "-c", COMMAND, note, *arguments]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        return done.returncode, done.stdout, done.stderr, int(note.read_text()) * 1024

    return run


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc on this system")


@needs_proc
def test_a_source_before_a_loop_that_nothing_feeds_fails_a_strict_run_and_the_loop_is_named(penstock):
    code, _, said, _ = penstock("run", STUCK / "unfed.pbtxt", "--strict", "--no-progress")

    assert code == 1
    assert "Error: --strict: 3 notes on the run" in said
    assert (
        "2,000 packets waited at node 'Join' when the sources had ended: node 'Join' waits for stream 'loop'"
        in said
    )
    assert "node 'Join' (PassThroughCalculator) never ran; 2,000 packets came to it" in said
    assert "2,000 of 2,000 packets on 'in' dropped at node 'Join' input 0: the reader had closed" in said
    assert said.count(CULPRIT) == 6
    raised = [line.partition("raised ")[2].partition(" packets")[0] for line in said.splitlines()]
    assert [limits for limits in raised if limits] == [
        "from 100 to 101", "from 100 to 202", "from 100 to 404", "from 100 to 808", "from 100 to 1616",
    ]  # fmt: skip


@needs_proc
def test_the_same_run_as_json_has_stream_place_reason_and_count_of_what_was_dropped(penstock):
    code, said, _, _ = penstock("run", STUCK / "unfed.pbtxt", "--json", "--quiet")

    streams = {stream["name"]: stream for stream in json.loads(said)["streams"]}
    assert code == 1, "every packet was dropped"
    assert streams["in"] == {
        "name": "in",
        "packets": 2000,
        "dropped": 2000,
        "drops": [{"place": "node 'Join' input 0", "reason": "the reader had closed", "count": 2000}],
    }


@needs_proc
def test_an_endless_source_before_such_a_loop_fails_at_the_limit_of_memory_and_stays_small(penstock):
    code, _, said, memory = penstock("run", STUCK / "endless.pbtxt", "--max-memory", "64MB", "--no-progress")

    assert code == 1
    assert "max_queued_bytes is 64,000,000; most of them" in said
    assert "on stream 'in' at node 'Join'" in said
    assert CULPRIT in said[said.index("Error: ") :]
    assert memory < 500_000_000  # about 130 MB; more where a busy machine lets the weighing thread wait
