"""Calculators for the tests of the command, and fixtures that run it in this or a separate process."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

import penstock
from penstock.plugins.default_registry import default_registry
from penstock_cli.machine import environment
from penstock_cli.main import penstock_command


@penstock.register_calculator
class CliNumbers(penstock.Calculator):
    """Sends 1, 2, ... up to the side packet COUNT."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.outputs[0].set(int)
        cc.input_side_packets["COUNT"].set(int)

    def open(self, cc):
        self._number = 0

    def process(self, cc):
        if self._number == cc.input_side_packets["COUNT"].payload:
            return penstock.STOP
        self._number += 1
        cc.output.add(self._number, self._number)
        return None


@penstock.register_calculator
class CliFailsAtThree(penstock.Calculator):
    """Fails at the number 3."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)

    def process(self, cc):
        if cc.input.payload == 3:
            raise ArithmeticError("three is too much")


@penstock.register_calculator
class CliNeverReturns(penstock.Calculator):
    """Takes a packet and never returns, unless it is cancelled."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set_any()

    async def process(self, cc):
        await asyncio.Event().wait()


@penstock.register_calculator
class CliWrites(penstock.Calculator):
    """Writes each number as a line to the file TARGET."""

    @classmethod
    def get_contract(cls, cc) -> None:
        cc.inputs[0].set(int)
        cc.input_side_packets["TARGET"].set(str)

    def open(self, cc):
        self._lines = []

    def process(self, cc):
        self._lines.append(f"{cc.input.payload}\n")

    def close(self, cc):
        Path(cc.input_side_packets["TARGET"].payload).write_text("".join(self._lines), encoding="utf-8")


class CliTwoReaders(penstock.Subgraph):
    """Two nodes that read one stream."""

    @classmethod
    def get_config(cls, sc):
        node = 'node { calculator: "CliNeverReturns" input_stream: "in" }'
        return f'input_stream: "IN:in"\n{node}\n{node}\n'


default_registry().add("subgraph", "CliTwoReaders", CliTwoReaders)


@pytest.fixture
def graph(tmp_path):
    """Return a function that writes a graph file: a source of numbers and the given nodes."""

    def make(behind="", name="graph.pbtxt"):
        path = tmp_path / name
        source = 'node { calculator: "CliNumbers" input_side_packet: "COUNT:count" output_stream: "n" }'
        path.write_text(f"{source}\n{behind}", encoding="utf-8")
        return path

    return make


@pytest.fixture
def with_pip(monkeypatch, tmp_path_factory):
    """Let the environment have pip, and the shell find it; an environment that uv has made has no pip."""
    programs = tmp_path_factory.mktemp("programs")
    pip = programs / ("pip.exe" if sys.platform == "win32" else "pip")
    pip.touch(0o755)
    monkeypatch.setattr(environment, "_scripts", lambda: str(programs))
    monkeypatch.setattr(environment, "find_spec", lambda name: name)
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    monkeypatch.delenv("UV_RUN_RECURSION_DEPTH", raising=False)


@pytest.fixture
def invoke():
    """Return the command as a function of its arguments, in this process."""

    def call(*arguments):
        return CliRunner().invoke(penstock_command, [str(each) for each in arguments])

    return call


@pytest.fixture
def command(tmp_path):
    """Return the command as a function of its arguments, in a separate process, in `tmp_path`."""

    def call(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "penstock_cli", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


#: The command, in a process that may make files of at most so many bytes.
LIMITED = """
import resource, sys
sys.path.insert(0, {tests!r})
import conftest
from penstock_cli.machine import environment
from penstock_cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
main()
"""


@pytest.fixture
def with_a_full_disk(tmp_path):
    """Return the command as a function of the bytes that a file may have and of its arguments.

    It runs in a separate process, in `tmp_path`. The calculators of this file are known there.
    """
    if sys.platform == "win32":
        pytest.skip("a process has no limit of file sizes there")

    def call(limit, *arguments):
        program = LIMITED.format(tests=str(Path(__file__).parent), limit=limit)
        return subprocess.run(
            [sys.executable, "-B", "-c", program, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


class Terminal(io.StringIO):
    """Text in memory that is written as to a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def terminal():
    """Return a terminal, as a context manager inside which it is stdout."""
    return contextlib.redirect_stdout(Terminal())


@pytest.fixture(scope="session")
def gl():
    """Return a closed GL context; without OpenGL skip the test, or fail it if PENSTOCK_REQUIRE_GL is 1."""
    penstock_gpu = pytest.importorskip("penstock_gpu")
    try:
        context = penstock_gpu.GlContext.create(name="is there one?")
    except penstock_gpu.GpuUnavailableError as error:
        if os.environ.get("PENSTOCK_REQUIRE_GL") == "1":
            pytest.fail(f"PENSTOCK_REQUIRE_GL=1, but {error}")
        pytest.skip(f"no OpenGL: {error}")
    context.close()
    return context


@pytest.fixture
def installed(tmp_path):
    """Return a function that installs a distribution with one plugin, and returns its directory.

    The plugin and its module are named after the distribution.
    """
    site = tmp_path / "site"

    def install(name, source, requires=()):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        wants = "".join(f"Requires-Dist: {one}\n" for one in requires)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{wants}")
        (info / "entry_points.txt").write_text(f"[penstock]\n{name} = {name}_module\n")
        (site / f"{name}_module.py").write_text(textwrap.dedent(source))
        return site

    return install
