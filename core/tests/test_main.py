from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_COMMAND = """
import importlib.metadata, runpy, sys

found = importlib.metadata.entry_points

def without_the_command(**selected):
    return () if selected.get("group") == "console_scripts" else found(**selected)

importlib.metadata.entry_points = without_the_command
sys.argv = ["penstock", "list"]
runpy.run_module("penstock", run_name="__main__")
"""

COMMAND = """
import sys

def main():
    print("called with", *sys.argv[1:])
    return {returned}
"""


def run(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)} if path else None
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


def test_without_a_command_line_the_module_says_what_to_install() -> None:
    done = run("-c", WITHOUT_COMMAND)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the command 'penstock' is not installed; install it: pip install penstock-cli\n"


@pytest.mark.parametrize(("returned", "status"), [("None", 0), ("3", 3)])
def test_the_module_runs_the_command_that_is_installed_and_exits_as_it(
    tmp_path: Path, returned: str, status: int
) -> None:
    info = tmp_path / "a_command-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-command\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[console_scripts]\npenstock = a_command:main\n")
    (tmp_path / "a_command.py").write_text(COMMAND.format(returned=returned))

    done = run("-m", "penstock", "one", "--two", path=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (status, "called with one --two\n", "")
