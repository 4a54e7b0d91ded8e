"""The wheels of the workspace, built once, and an environment that has them and nothing else of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def call():
    """Return a function that runs a command without the tester's Python path, and returns what it printed."""

    def run(*command, cwd, code=0, **variables):
        left_out = {"PYTHONPATH", "VIRTUAL_ENV"}
        environment = {name: value for name, value in os.environ.items() if name not in left_out}
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env={**environment, **{name: str(value) for name, value in variables.items()}},
            capture_output=True,
            text=True,
            check=False,
        )
        said = f"{command} exited with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        assert done.returncode == code, said
        return done.stdout if code == 0 else done.stderr

    return run


@pytest.fixture(scope="session")
def uv():
    """Return where uv is."""
    found = os.environ.get("UV") or shutil.which("uv")
    if found is None:
        pytest.skip("uv is not installed; pip install uv")
    return found


@pytest.fixture(scope="session")
def built(uv, call, tmp_path_factory):
    """Build the sdist of every distribution and from it the wheel; return the directory of both."""
    out = tmp_path_factory.mktemp("dist")
    call(uv, "build", "--all-packages", "--out-dir", out, "--python", sys.executable, cwd=ROOT)
    return out


@pytest.fixture(scope="session")
def environment_of(uv, call, tmp_path_factory):
    """Return a function that makes an environment with wheels or requirements; it returns its programs."""

    def make(name, *wanted):
        environment = tmp_path_factory.mktemp(name) / "venv"
        call(uv, "venv", "--python", sys.executable, environment, cwd=environment.parent)
        call(uv, "pip", "install", "--python", environment, *wanted, cwd=environment.parent)
        return environment / ("Scripts" if os.name == "nt" else "bin")

    return make


@pytest.fixture(scope="session")
def timed_installation(built, environment_of):
    """Install `penstock` and nothing of the workspace by hand; return the programs, and seconds it took.

    Every wheel is given by path, so that none of ours is taken from an index by its name.
    """
    began = monotonic()
    return environment_of("empty", *sorted(built.glob("*.whl"))), monotonic() - began


@pytest.fixture(scope="session")
def installed(timed_installation):
    """Return the programs of an environment that has every wheel."""
    return timed_installation[0]
