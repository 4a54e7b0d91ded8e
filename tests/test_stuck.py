"""Graphs of standard calculators that get stuck, run with the `penstock` command: what it says and uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

STUCK = Path(__file__).parent / "stuck"
CULPRIT = "culprit: the wait goes in a circle: 'Join', which waits for 'Join'"


def penstock(*arguments: object) -> tuple[int, str, str, int]:
    """Run the command; return its exit code, stdout, stderr and largest resident memory in bytes."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        command = [sys.executable, "-m", "penstock_cli", *map(str, arguments)]
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        scale = 1 if sys.platform == "darwin" else 1024
        return child.returncode, out.read(), err.read(), used.ru_maxrss * scale


needs_wait4 = pytest.mark.skipif(not hasattr(os, "wait4"), reason="no os.wait4 on this system")


@needs_wait4
def test_a_source_before_a_loop_that_nothing_feeds_fails_a_strict_run_and_the_loop_is_named():
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


@needs_wait4
def test_the_same_run_as_json_has_stream_place_reason_and_count_of_what_was_dropped():
    code, said, _, _ = penstock("run", STUCK / "unfed.pbtxt", "--json", "--quiet")

    streams = {stream["name"]: stream for stream in json.loads(said)["streams"]}
    assert code == 0
    assert streams["in"] == {
        "name": "in",
        "packets": 2000,
        "dropped": 2000,
        "drops": [{"place": "node 'Join' input 0", "reason": "the reader had closed", "count": 2000}],
    }


@needs_wait4
def test_an_endless_source_before_such_a_loop_fails_at_the_limit_of_memory_and_stays_small():
    code, _, said, memory = penstock("run", STUCK / "endless.pbtxt", "--max-memory", "64MB", "--no-progress")

    assert code == 1
    assert "max_queued_bytes is 64,000,000; most of them" in said
    assert "on stream 'in' at node 'Join'" in said
    assert CULPRIT in said[said.index("Error: ") :]
    assert memory < 200_000_000
