from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from click.shell_completion import ShellComplete

from penstock_cli.completion import SHELLS
from penstock_cli.main import penstock_command


def completed(*arguments):
    """Return the completions of the last argument, as (type, value)."""
    *before, incomplete = arguments
    complete = ShellComplete(penstock_command, {}, "penstock", "_PENSTOCK_COMPLETE")
    return [(item.type, item.value) for item in complete.get_completions(before, incomplete)]


def test_commands_and_options_are_completed():
    assert ("plain", "validate") in completed("va")
    assert ("plain", "--timeout") in completed("run", "--ti")


def test_names_of_components_are_completed_in_upper_or_lower_case():
    assert completed("show", "cannyedge") == [("plain", "CannyEdgeCalculator")]
    assert completed("show", "ThreadPool") == [("plain", "ThreadPoolExecutor")]


def test_other_names_than_components_are_completed_as_files():
    assert completed("show", "./gra") == [("file", "./gra")]


@pytest.mark.parametrize("command", ["run", "validate", "demo"])
def test_graphs_and_videos_are_completed_as_files(command):
    assert completed(command, "./gra") == [("file", "./gra")]


def test_kinds_and_packs_of_the_list_are_completed():
    assert completed("list", "--kind", "ex") == [("plain", "executor")]
    assert ("plain", "video") in completed("list", "--pack", "vi")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script_that_calls_the_command(shell, invoke):
    done = invoke("completion", shell)

    assert done.exit_code == 0
    assert "_PENSTOCK_COMPLETE" in done.stdout
    assert f"{shell}_complete" in done.stdout


def test_the_shell_is_that_of_the_session(invoke, monkeypatch):
    monkeypatch.setenv("SHELL", "/usr/local/bin/fish")

    assert invoke("completion").stdout == invoke("completion", "fish").stdout


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("/bin/tcsh", "completion script: there is none for the shell 'tcsh'; name one of bash, zsh"),
        ("", "completion script: SHELL is not set"),
    ],
)
def test_a_shell_without_a_script_is_wrong_usage(invoke, monkeypatch, shell, words):
    monkeypatch.setenv("SHELL", shell)

    done = invoke("completion")

    assert done.exit_code == 2
    assert words in done.output


def test_broken_commands_of_plugins_are_not_reported_while_a_shell_completes(command, installed):
    source = """
        from penstock import hookimpl

        @hookimpl
        def penstock_cli(group):
            raise RuntimeError("no command today")
    """
    asked = {"_PENSTOCK_COMPLETE": "bash_complete", "COMP_WORDS": "penstock valid", "COMP_CWORD": "1"}

    done = command(PYTHONPATH=installed("sulker", source), **asked)

    assert "plain,validate\n" in done.stdout
    assert done.stderr == ""


BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_bash_completes_a_name(tmp_path):
    command = tmp_path / "penstock"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m penstock_cli "$@"\n')
    command.chmod(0o755)
    program = """
        eval "$(penstock completion bash)"
        COMP_WORDS=(penstock show CannyE) COMP_CWORD=2
        _penstock_completion penstock
        echo "${COMPREPLY[@]}"
    """

    done = subprocess.run(
        [BASH, "--norc", "-c", program],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.stdout, done.returncode) == ("CannyEdgeCalculator\n", 0), done.stderr
