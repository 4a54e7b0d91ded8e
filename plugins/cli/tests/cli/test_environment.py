"""Commands that are printed work in the environment of the process that prints them."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from penstock import Registry
from penstock_cli.failures import FileMissing, GraphInvalid, RunFailed, WrongUsage
from penstock_cli.machine import environment
from penstock_cli.saying import say

PYTHON = sys.executable


@pytest.fixture
def surroundings(monkeypatch, tmp_path):
    """Return a function that sets what the process finds: modules, the shell's path, what `uv run` sets.

    Programs are made in directories; the environment's own is "own".
    """
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path / "own"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))

    def surround(*, path=(), modules=(), programs=(), uv_run=False, uv=None):
        monkeypatch.setattr(environment, "find_spec", lambda name: name if name in modules else None)
        for folder in {"own", *path}:
            (tmp_path / folder).mkdir(exist_ok=True)
        for program in programs:
            file = tmp_path / (f"{program}.exe" if sys.platform == "win32" else program)
            file.write_text("")
            file.chmod(0o755)
        monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / folder) for folder in path))
        for name, value in {
            "VIRTUAL_ENV": str(tmp_path) if uv_run else None,
            "UV_RUN_RECURSION_DEPTH": "1" if uv_run else None,
            "UV": uv,
        }.items():
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)

    return surround


def printed():
    return environment.in_this_environment("no calculator 'A'; install it: pip install river-pack")


def test_pip_is_pip_where_the_shell_finds_that_of_the_environment(surroundings):
    surroundings(modules=["pip"], path=["own", "other"], programs=["own/pip", "other/pip"])

    assert printed() == "no calculator 'A'; install it: pip install river-pack"


def test_pip_runs_as_a_module_where_the_shell_finds_another_one_or_none(surroundings):
    wanted = f"no calculator 'A'; install it: {PYTHON} -m pip install river-pack"

    surroundings(modules=["pip"], path=["other", "own"], programs=["own/pip", "other/pip"])
    assert printed() == wanted
    surroundings(modules=["pip"], path=["other"])
    assert printed() == wanted


def test_pip_runs_as_a_module_where_the_environment_has_it_without_its_program(surroundings):
    surroundings(modules=["pip"], path=["own", "other"], programs=["other/pip"])  # as ensurepip leaves it

    assert printed().endswith(f"install it: {PYTHON} -m pip install river-pack")


def test_uv_installs_where_the_environment_has_no_pip(surroundings):
    surroundings(modules=["ensurepip"], path=["own", "tools"], programs=["tools/uv"])

    assert printed() == f"no calculator 'A'; install it: uv pip install --python {PYTHON} river-pack"


def test_uv_is_named_by_its_path_where_the_shell_does_not_find_it(surroundings, tmp_path):
    surroundings(path=["other"], programs=["own/uv"])
    assert printed().endswith(f"{tmp_path / 'own' / 'uv'} pip install --python {PYTHON} river-pack")

    (tmp_path / "own" / "uv").unlink()
    surroundings(path=["own"], uv_run=True, uv="/opt/uv tools/uv")
    assert printed().endswith(f"'/opt/uv tools/uv' pip install --python {PYTHON} river-pack")


def test_uv_of_an_environment_that_only_uv_run_has_put_on_the_path_is_named_by_its_path(
    surroundings, tmp_path
):
    surroundings(path=["own"], programs=["own/uv"], uv_run=True)

    assert printed().endswith(f"{tmp_path / 'own' / 'uv'} pip install --python {PYTHON} river-pack")


def test_without_pip_and_uv_python_brings_its_own_pip(surroundings):
    surroundings(modules=["ensurepip"], path=["own"])

    assert printed() == (
        f"no calculator 'A'; install it: {PYTHON} -m ensurepip && {PYTHON} -m pip install river-pack"
    )


def test_without_any_of_them_uv_is_named(surroundings):
    surroundings(path=["own"])

    assert printed().endswith(f"install it: uv pip install --python {PYTHON} river-pack")


def test_a_path_with_blanks_is_quoted(surroundings, monkeypatch):
    surroundings(modules=["pip"])
    monkeypatch.setattr(sys, "executable", "/opt/my venv/bin/python")

    assert environment.pip_command("uninstall", "a b") == "'/opt/my venv/bin/python' -m pip uninstall 'a b'"


@pytest.mark.parametrize(
    "text",
    [
        "uv pip install river-pack",
        "/venv/bin/python -m pip install river-pack",
        "the pip of this environment",
        "/venv/bin/pip install x",
        "no-pip install",
    ],
)
def test_text_that_says_which_pip_is_meant_stays_as_it_is(surroundings, text):
    surroundings(path=["own"])

    assert environment.in_this_environment(text) == text


def test_a_text_may_hold_several_commands(surroundings):
    surroundings(modules=["pip"])

    assert environment.in_this_environment("pip uninstall a b; pip install 'c<2'") == (
        f"{PYTHON} -m pip uninstall a b; {PYTHON} -m pip install 'c<2'"
    )


def test_a_program_is_named_alone_only_where_the_shell_will_find_that_of_the_environment(surroundings):
    surroundings(path=["own", "other"], programs=["other/pytest"])
    assert environment.program("pytest") == "pytest"

    surroundings(path=["other", "own"], programs=["other/pytest", "own/pytest"])
    assert environment.program("pytest") == f"{PYTHON} -m pytest"


def test_within_uv_run_programs_are_run_by_uv_run(surroundings):
    surroundings(path=["own", "tools"], programs=["own/pytest", "tools/uv"], uv_run=True)

    assert environment.program("pytest") == "uv run pytest"


def test_a_process_of_another_environment_that_uv_run_started_is_not_within_it(surroundings, monkeypatch):
    surroundings(path=["own"], uv_run=True)
    assert environment.is_in_uv_run()

    monkeypatch.setattr(sys, "prefix", str(Path(sys.prefix) / "another"))
    assert not environment.is_in_uv_run()


def test_a_wheel_is_built_by_pip_or_by_uv(surroundings):
    surroundings(modules=["pip"], path=["own"], programs=["own/pip"])
    assert environment.build_command("./my pack") == (
        "pip wheel --no-deps --wheel-dir './my pack/dist' './my pack'"
    )

    surroundings(path=["own", "tools"], programs=["tools/uv"])
    assert environment.build_command("my pack") == "uv build --wheel 'my pack'"


@pytest.mark.parametrize("kind", [RunFailed, WrongUsage, GraphInvalid, FileMissing])
def test_errors_and_notes_of_commands_name_the_pip_of_the_environment(surroundings, capsys, kind):
    surroundings(modules=["pip"])

    kind("missing; pip install x").show()
    say("note: pip install y")

    assert capsys.readouterr().err == (
        f"Error: missing; {PYTHON} -m pip install x\nnote: {PYTHON} -m pip install y\n"
    )


def test_faults_of_graphs_name_the_pip_of_the_environment(surroundings, invoke, tmp_path, monkeypatch):
    surroundings(modules=["pip"])
    monkeypatch.setattr(Registry, "install_hint", lambda *_: "penstock-far")
    path = tmp_path / "graph.pbtxt"
    path.write_text('node { calculator: "FarCalculator" }', encoding="utf-8")

    done = invoke("validate", path)

    assert f"install it: {PYTHON} -m pip install penstock-far\n" in done.stdout


def test_findings_on_a_pack_name_the_pip_of_the_environment(surroundings, invoke):
    surroundings(modules=["pip"])

    done = invoke("validate-pack", "no-such-pack")

    assert done.stderr.endswith(f"; install the pack first: {PYTHON} -m pip install -e DIRECTORY\n")
