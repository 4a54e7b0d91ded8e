"""The units of systemd in the documentation: systemd finds no fault in them, and they know the exit codes."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from penstock_cli.api import INTERRUPTED, TERMINATED, FileMissing, GraphInvalid, RunFailed, WrongUsage
from penstock_cli.main import penstock_command

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "a-graph-as-a-service.md"
_BLOCK = re.compile(r"```text\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def units() -> dict[str, str]:
    """Return name → text of each unit on the page."""
    texts = [
        text for text in _BLOCK.findall(PAGE.read_text("utf-8")) if text.startswith(("[Unit]", "# /etc"))
    ]
    assert len(texts) == 3
    service = next(text for text in texts if text.startswith("[Unit]"))
    named = {text.splitlines()[0].rpartition("/")[2]: text for text in texts if text != service}
    return {"watch.service": service, **named}


def verified(units: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    for name, text in units.items():
        # The program of the page is not installed here.
        (folder / name).write_text(text.replace("/opt/watch/.venv/bin/penstock", sys.executable))
    return subprocess.run(
        [str(shutil.which("systemd-analyze")), "verify", "--man=no", *(str(folder / name) for name in units)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_units(units, tmp_path) -> None:
    assert set(units) == {"watch.service", "watch-health.service", "watch-health.timer"}
    done = verified(units, tmp_path)
    said = [line for line in done.stderr.splitlines() if "watch" in line]
    assert (done.returncode, said) == (0, [])

    wrong = {**units, "watch.service": units["watch.service"].replace("KillMode=mixed", "KillMode=some")}
    assert "kill mode" in verified(wrong, tmp_path).stderr.lower()


def test_the_service_starts_again_after_what_another_start_can_help(units) -> None:
    settings = dict(line.split("=", 1) for line in units["watch.service"].splitlines() if "=" in line)
    never = {int(code) for code in settings["RestartPreventExitStatus"].split()}

    assert settings["Restart"] == "on-failure"
    assert never == {WrongUsage.exit_code, GraphInvalid.exit_code, FileMissing.exit_code}
    assert RunFailed.exit_code not in never
    assert int(settings["SuccessExitStatus"]) == TERMINATED
    assert INTERRUPTED not in never


def test_the_command_line_has_the_options_of_units_and_images(units) -> None:
    images = [text for text in _BLOCK.findall(PAGE.read_text("utf-8")) if text.startswith("FROM ")]
    entries = [json.loads(line) for line in re.findall(r"^ENTRYPOINT (.*)", "\n".join(images), re.MULTILINE)]
    commands = re.findall(
        r"^ExecStart(?:Pre)?=/opt/watch/.venv/bin/(.*)", units["watch.service"], re.MULTILINE
    )
    assert (len(entries), len(commands)) == (2, 2)

    for words in [*map(shlex.split, commands), *entries]:
        name, *given = words
        arguments = (
            ["run", "watch.pbtxt", *given[1:]] if name == "python" else given
        )  # a bundle takes the options of `run`
        result = CliRunner().invoke(penstock_command, [*arguments, "--help"])
        assert (result.exit_code, result.output.startswith("Usage: ")) == (0, True), result.output
